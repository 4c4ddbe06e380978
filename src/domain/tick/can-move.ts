/**
 * Whether a tick finds work that should move by itself: something ready, or somebody at work, and nothing that only time, a
 * provider or a person can end in the way of it. Where that is so and nothing moves for long, the daemon itself is
 * suspected (GUARD-9); where it is not, a restart could only do harm. Pure.
 */
import type { Judgement } from "./liveness.ts";
import type { Snapshot } from "./snapshot.ts";

export function canMove(
  {
    frozen,
    safeMode,
    held,
    watching,
    conditions,
    nodes,
    goals,
  }: Pick<Snapshot, "frozen" | "safeMode" | "held" | "watching" | "conditions" | "nodes" | "goals">,
  judged: ReadonlyMap<number, Judgement>,
): boolean {
  if (frozen || safeMode || held !== null || watching || conditions.some(isLimiting)) return false;
  const isAtWork = [...judged.values()].some(({ state }) => !state.startsWith("waiting"));
  const active = new Set(goals.filter(({ status }) => status === "active").map(({ goalId }) => goalId));
  return isAtWork || nodes.some((node) => node.status === "queued" && node.kind !== "phase" && active.has(node.goalId));
}

function isLimiting(condition: Snapshot["conditions"][number]): boolean {
  if (!condition.active) return false;
  switch (condition.kind) {
    case "quota":
    case "provider":
    case "mass-death":
    case "start":
      return true;
    case "budget":
      return condition.phase !== "warned";
    case "dispatch":
      return condition.cap !== "agents" && condition.cap !== "workers" && condition.cap !== "starts";
    default:
      return false;
  }
}
