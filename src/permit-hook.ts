/** Entry of the permit's bundle: `permit.js <policy file> [dialect]`, the command before every writing tool. */
import { permitByCommand } from "#hook/permit.ts";

// The single binary is started with the name of this part in front.
const [policy = "", dialect] = Bun.argv.slice(Bun.argv[2]?.startsWith("__") ? 3 : 2);
void permitByCommand(policy, dialect, process.env).then((refusal) => {
  if (refusal !== undefined) console.log(refusal);
  process.exit(0);
});
