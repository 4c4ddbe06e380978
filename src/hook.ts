/** Entry of the hook's bundle: `hook.js <moment> [dialect]`, also as `overseer hook <event>` and `overseer log <event>`. */
import { answerHook } from "#hook/door.ts";

// Here and in what it calls, plain loops: each array method that takes a function costs 0.1 ms on its first use.
const [, , first = ""] = Bun.argv;
const at = first === "hook" || first === "log" || first === "__hook" ? 3 : 2;
void answerHook(Bun.argv[at] ?? "", Bun.argv[at + 1], process.env).then((answer) => {
  if (answer !== undefined) console.log(answer);
  process.exit(0);
});
