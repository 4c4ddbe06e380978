/** Writes down that an attempt has ended, with everything that follows from it, in one commit. Doing it twice changes nothing. */

import { wakeRunner } from "#act/attempt-files.ts";
import type { ActParts } from "#act/parts.ts";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import type { Attempt, AttemptEnd, EndCause } from "#domain/model/attempt.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import { assignmentById } from "#store/assignments.ts";
import { attemptByNumber, parentAttemptOf } from "#store/attempts.ts";
import { waitingMessages } from "#store/messages.ts";
import { pulseOf } from "#store/signals.ts";
import { nodeById } from "#store/work.ts";

export async function recordEnd(
  parts: Pick<ActParts, "writer" | "clock" | "socketDir" | "wakeSocket">,
  attempt: Attempt,
  cause: EndCause,
  detail: string,
  wip: string | null,
): Promise<void> {
  const store = await parts.writer();
  const { pulse } = await store.read({ pulse: pulseOf(attempt.attempt) });
  const end: AttemptEnd = { cause, detail, exitCode: null, signal: null, usage: pulse?.usage ?? NO_USAGE, wip };
  await store.commit({
    at: parts.clock.now(),
    reads: {
      now: attemptByNumber(attempt.attempt),
      node: nodeById(attempt.goalId, attempt.workNodeId),
      assignment: assignmentById(attempt.assignmentId),
      waiting: waitingMessages(attempt.attempt),
      parent: parentAttemptOf(attempt.attempt),
    },
    decide: ({ now, ...around }) => endAttempt(now, around, end, { now: parts.clock.now(), actor: "overseer" }),
  });
  // Whoever asked for the work has been told (TELL-1); its runner is given a hint to look.
  if (attempt.parent) await wakeRunner(parts, attempt.parent.attempt);
}
