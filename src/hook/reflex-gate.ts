/**
 * May the reflex have something to say at this event? Asked at every one of them, so it looks at a few bytes and loads
 * nothing: without a role, and while the runner sees no trouble near, the answer is no and nothing else happens.
 */
import type { HookEventName } from "#domain/permit/hook-settings.ts";
import { ALERT_FILE, REFLEX_FILE } from "#domain/signals/reflex-file.ts";
import type { HookPayload } from "#runtimes/claude-code/hook-signals.ts";
import { readNow } from "#sys/read-now.ts";

export function mayBeSteered(
  event: HookEventName,
  { tool_calls: calls, agent_id: sub }: HookPayload,
  directory: string,
  interactive: boolean,
): boolean {
  // It speaks at the end of a step, and before a turn begins; a sub-agent's steps are not the agent's.
  if ((event !== "PostToolBatch" && event !== "UserPromptSubmit") || sub !== undefined) return false;
  // Several calls at once may be trouble that nobody saw coming; one more call is foreseen by the runner. Of an agent on
  // its own screen the runner sees too little, and one with a shared directory may have a word waiting there.
  const alone = !Array.isArray(calls) || calls.length < 2;
  if (!interactive && alone && readNow(`${directory}/${ALERT_FILE}`) === undefined) return false;
  return readNow(`${directory}/${REFLEX_FILE}`) !== undefined;
}
