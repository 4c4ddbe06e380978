/** Entry of the hook's bundle: `hook.js <event>`, also as `overseer hook <event>` and `overseer log <event>`. */
import { answerHook } from "#hook/door.ts";

const words = Bun.argv.slice(2).filter((word) => word !== "hook" && word !== "log" && word !== "__hook");
void answerHook(words[0] ?? "", process.env).then((answer) => {
  if (answer !== undefined) console.log(answer);
  process.exit(0);
});
