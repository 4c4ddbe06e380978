/** What became of an agent that was to be stopped, as a person would say it. */
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";

/** `ways`: how its task continues, where it waits for a person. */
export function stopLine(attempt: Attempt, ways: string | null): string {
  const kept = attempt.end?.wip ? `; uncommitted work is kept in ${attempt.end.wip}` : "";
  const label = attemptLabel(attempt);
  const said = attempt.stopRequested === null ? `${label} had ended already` : `Stopped ${label}`;
  return `${said}${kept}.${ways === null ? "" : ` Its task waits for you: ${ways}.`}`;
}
