/** Entry of the guard's bundle: `permit.js <policy file>`, the command before every writing tool. */
import { answerGuard } from "#hook/permit.ts";

void answerGuard(Bun.argv[Bun.argv.length - 1] ?? "", process.env).then((refusal) => {
  if (refusal !== undefined) console.log(refusal);
  process.exit(0);
});
