/** Entry of the runner's bundle; the program behind it is runner/main.ts. */
import { messageOf } from "#errors.ts";
import { runnerMain } from "#runner/main.ts";

void runnerMain(Bun.argv.at(-1) ?? "").then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(`runner: ${messageOf(error)}`);
    process.exit(1);
  },
);
