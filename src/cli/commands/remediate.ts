/** `overseer remediate <context file>`: what the guard starts when the daemon has failed. For programs, not for people. */
import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { presentRemedy } from "#control/present.ts";
import type { RemedyResult } from "#domain/guard/remedy-context.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "remediate",
  summary: "Have an agent repair what keeps the daemon down; for the guard.",
  details:
    "Reads what failed from the file that the guard has written, starts an agent in this checkout that may change the settings and little else, and ends with 0 when the agent has ended its turn. Whether the daemon runs again is for the guard to see. The transcript stays in the logs as remediation_<timestamp>.txt.",
  args: [{ name: "context", summary: "The file that says what failed." }],
  async run(call, parts) {
    const result = await parts.remediate(call.arg("context"));
    const { outcome, log, durationMs, tries } = result;
    if (call.json) call.out.json(presentRemedy(result));
    if (outcome !== "finished") throw toError(result);
    if (call.json) return;
    const seconds = (durationMs / 1_000).toFixed(1);
    call.out.line(
      `The remediating agent ended its turn after ${seconds} s${tries > 1 ? ", in its second try" : ""}: ${log}`,
    );
  },
};

export default command;

function toError({ outcome, why, log }: RemedyResult): OverseerError {
  const said = {
    crashed: ["REMEDIATION_CRASHED", "The remediating agent crashed twice"],
    unguarded: ["REMEDIATION_UNGUARDED", "The remediating agent was ended"],
    stopped: ["REMEDIATION_STOPPED", "The remediation was ended before its agent was done"],
    "not-started": ["REMEDIATION_NOT_STARTED", "No remediating agent could be started"],
    finished: ["", ""],
  } as const satisfies Readonly<Record<RemedyResult["outcome"], readonly [code: string, message: string]>>;
  const [code, message] = said[outcome];
  const because = (why ?? "nobody knows why").replace(/\.$/, "");
  return new OverseerError("environment", code, `${message}: ${because}.`, `Read its transcript: ${log}`);
}
