/** Entry of the permit's bundle: `permit.js <policy file>`, the command before every writing tool. */
import { answerPermit } from "#hook/permit.ts";

void answerPermit(Bun.argv[Bun.argv.length - 1] ?? "", process.env).then((refusal) => {
  if (refusal !== undefined) console.log(refusal);
  process.exit(0);
});
