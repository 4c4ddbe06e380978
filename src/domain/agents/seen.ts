/** The word people read for an agent's state: judged whenever somebody looks, never stored. */
import type { AttemptStatus } from "#domain/model/attempt.ts";

export type SeenStatus = "preparing" | "starting" | "working" | "idle" | "waiting" | "paused" | "dead" | "ended";

/** `ownerLives` is asked only where it matters: looking at processes costs. */
export function judgeSeenStatus(
  attempt: { readonly status: AttemptStatus; readonly inTurn: boolean; readonly waits?: boolean },
  ownerLives: () => boolean,
): SeenStatus {
  if (attempt.status === "ended") return "ended";
  // Between launch and hello the runner is nobody's yet; its starter may have left already.
  if (attempt.status !== "starting" && !ownerLives()) return "dead";
  if (attempt.status === "running") return attempt.inTurn ? "working" : attempt.waits ? "waiting" : "idle";
  return attempt.status;
}
