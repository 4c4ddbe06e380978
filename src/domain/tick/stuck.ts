/** An agent that is stuck, as the rules about it hand it to each other. */
import type { Assignment } from "#domain/model/assignment.ts";
import { subject } from "#domain/model/assignment.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { backoffUntil } from "#domain/model/ladder-state.ts";
import type { Scene } from "./scene.ts";
import type { AgentSeen } from "./snapshot.ts";

/** An agent that is stuck, and everything its next step depends on. */
export interface Stuck {
  readonly seen: AgentSeen;
  readonly assignment: Assignment;
  readonly recovery: Recovery;
  readonly cause: string;
}

export function stepOf(scene: Scene, { recovery, cause }: Pick<Stuck, "recovery" | "cause">, done: number) {
  return { number: done + 1, cause, backoffUntil: backoffUntil(recovery, scene.limits.ladder, scene.now) };
}

export function about({ seen, assignment }: Omit<Stuck, "cause">) {
  return { ...subject(assignment), attempt: seen.attempt.attempt };
}
