/** Entry of the runner's bundle; the program behind it is runner/main.ts. */
import { messageOf } from "#errors.ts";
import { runnerMain } from "#runner/main.ts";
import { redact } from "#telemetry/redact.ts";

void runnerMain(Bun.argv.at(-1) ?? "").then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(`runner: ${redact(messageOf(error))}`); // into its terminal, or runner.log
    process.exit(1);
  },
);
