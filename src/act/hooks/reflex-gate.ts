/**
 * May the reflex have something to say at this event? Asked at every one of them, so it looks at a few bytes and loads
 * nothing: without a role, and while the runner sees no trouble near, the answer is no and nothing else happens.
 */
import type { HookMoment } from "#domain/permit/hook-moments.ts";
import { ALERT_FILE, REFLEX_FILE } from "#domain/signals/reflex-file.ts";
import type { HookFact } from "#runtimes/hook-dialect.ts";
import { readNow } from "#sys/read-now.ts";

export function mayBeSteered(
  moment: HookMoment,
  { calls, sub }: HookFact,
  directory: string,
  interactive: boolean,
): boolean {
  // It speaks at the end of a step, and before a turn begins; a sub-agent's steps are not the agent's.
  if ((moment !== "PostToolBatch" && moment !== "UserPromptSubmit") || sub !== "") return false;
  // Several calls at once may be trouble that nobody saw coming; one more call is foreseen by the runner. Of an agent on
  // its own screen the runner sees too little, and one with a shared directory may have a word waiting there.
  if (!interactive && calls.length < 2 && readNow(`${directory}/${ALERT_FILE}`) === undefined) return false;
  return readNow(`${directory}/${REFLEX_FILE}`) !== undefined;
}
