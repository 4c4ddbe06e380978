/** What other limits would have changed: how often, then where and when, then what cannot be known. */
import type { Call } from "#cli/command.ts";
import { inert, moment, plural } from "#cli/text.ts";
import type { SaidSentence } from "#control/replay.ts";
import type { ConfigComparison } from "#control/replay-config.ts";
import type { SteeringDifference } from "#domain/signals/replay-difference.ts";
import type { LivenessChange } from "#domain/tick/liveness-replay.ts";
import { printUnread } from "./said-text.ts";

const SHOWN = 10;

export function printDifference(call: Call, result: ConfigComparison): void {
  const { out } = call;
  const all = call.has("all");
  const { said, differences, liveness, sessions } = result;
  const count = differences.reduce((sum, { steerings }) => sum + steerings.length, 0);
  out.line(
    `${plural(sessions, "session")}: ${plural(said.before, "sentence")} as it is, ${said.after} under the other limits; ${plural(count, "difference")} in ${plural(differences.length, "session")}.`,
  );
  for (const { name, runtime, steerings } of all ? differences : differences.slice(0, SHOWN)) {
    out.line(`${inert(name)} (${runtime})`);
    for (const one of steerings) out.line(`  ${inert(describe(one))}`);
  }
  if (!all && differences.length > SHOWN)
    out.line(`… ${plural(differences.length - SHOWN, "more session")}; --all shows them.`);
  if (liveness !== null) {
    out.line();
    out.line(
      liveness.length === 0
        ? "Every agent would have been judged alike."
        : `${plural(liveness.length, "agent")} would have been judged differently:`,
    );
    for (const { agent, before, after } of all ? liveness : liveness.slice(0, SHOWN)) {
      out.line(`${inert(agent)}`);
      out.line(`  as it is: ${tellChanges(before)}`);
      out.line(`  under the other limits: ${tellChanges(after)}`);
    }
    if (!all && liveness.length > SHOWN)
      out.line(`… ${plural(liveness.length - SHOWN, "more agent")}; --all shows them.`);
  }
  if (result.read) printUnread(call, result.read, all);
  out.line();
  out.line("What this cannot know:");
  for (const text of result.unknown) out.line(`  ${text}`);
}

function describe(one: SteeringDifference<SaidSentence>): string {
  if (one.what === "gone") return `step ${one.before.step}${timeOf(one.before)}  no longer: ${one.before.text}`;
  if (one.what === "new") return `step ${one.after.step}${timeOf(one.after)}  newly: ${one.after.text}`;
  const steps = Math.abs(one.after.step - one.before.step);
  return `step ${one.before.step}${timeOf(one.before)}  ${plural(steps, "step")} ${one.what}, at step ${one.after.step}${timeOf(one.after)}: ${one.after.text}`;
}

function timeOf({ at }: SaidSentence): string {
  return at > 0 ? ` (${moment(at)} UTC)` : "";
}

function tellChanges(changes: readonly LivenessChange[]): string {
  if (changes.length === 0) return "never silent nor looping";
  return changes.map(({ at, state, because }) => `${state} (${because}) from ${moment(at)} UTC`).join("; ");
}
