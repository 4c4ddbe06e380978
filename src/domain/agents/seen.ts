/** The word people read for an agent's state: judged whenever somebody looks, never stored. */
import type { AttemptStatus } from "#domain/model/attempt.ts";

export type SeenStatus =
  | "preparing"
  | "starting"
  | "working"
  | "idle"
  | "waiting"
  | "paused"
  | "not-answering"
  | "dead"
  | "ended";

/** Whoever runs it, asked only where it matters: looking at processes costs. */
export interface SeenOwner {
  lives(): boolean;
  /** Held by a signal: it hears and records nothing until somebody lets it continue. */
  isStopped(): boolean;
}

export function judgeSeenStatus(
  attempt: { readonly status: AttemptStatus; readonly inTurn: boolean; readonly waits?: boolean },
  owner: SeenOwner,
): SeenStatus {
  if (attempt.status === "ended") return "ended";
  // Between launch and hello the runner is nobody's yet; its starter may have left already.
  if (attempt.status !== "starting") {
    if (!owner.lives()) return "dead";
    if (owner.isStopped()) return "not-answering";
  }
  if (attempt.status === "running") return attempt.inTurn ? "working" : attempt.waits ? "waiting" : "idle";
  return attempt.status;
}
