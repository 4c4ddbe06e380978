/** Entry of the hook's bundle: `hook.js <event>`, also as `overseer hook <event>` and `overseer log <event>`. */
import { answerHook } from "#hook/door.ts";

// Here and in what it calls, plain loops: each array method that takes a function costs 0.1 ms on its first use.
const [, , first = "", second = ""] = Bun.argv;
const called = first === "hook" || first === "log" || first === "__hook";
void answerHook(called ? second : first, process.env).then((answer) => {
  if (answer !== undefined) console.log(answer);
  process.exit(0);
});
