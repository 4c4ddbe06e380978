/**
 * Who takes one of the places that `agents.maxConcurrent` counts: agents that are at work. One whose work is finished, or
 * that waits for a person, for quota or for its provider, takes none, so that whoever reviews late holds up nothing but the landing. What
 * its process takes of the machine is counted by the machine's own limits; those that wait longest are ended when there
 * are too many, and continue by their session (domain/tick/dispatch.ts). Pure.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen } from "#domain/model/work.ts";

/** A living agent, and what it works on. */
export interface Placed {
  readonly attempt: Pick<Attempt, "attempt" | "status">;
  readonly node: Pick<WorkNode, "status" | "claim"> | undefined;
  /** Its last turn was given up for want of quota or by its provider, and its account is closed still. */
  readonly cutOff: boolean;
}

export function takesPlace({ attempt, node, cutOff }: Placed): boolean {
  if (cutOff || attempt.status === "paused") return false;
  if (!node) return true;
  // An agent whose work has ended is being ended.
  if (!isOpen(node)) return false;
  return node.status !== "blocked" && node.claim?.attempt !== attempt.attempt;
}
