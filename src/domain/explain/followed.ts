/**
 * Whether there is more to see of a piece of work that somebody follows: it has landed, waits for a person, has ended
 * without, or goes on. What waits for time or for other work goes on.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Standstill } from "./standstill.ts";

export interface FollowedFacts {
  readonly node: WorkNode;
  /** The last that worked on it. */
  readonly attempt: Attempt | undefined;
  readonly standstills: readonly Standstill[];
  readonly isDaemonUp: boolean;
}

export type Followed =
  | { readonly kind: "goes-on" }
  | { readonly kind: "landed"; readonly text: string }
  | { readonly kind: "waits" | "failed"; readonly text: string; readonly command: string };

export function judgeFollowed({ node, attempt, standstills, isDaemonUp }: FollowedFacts): Followed {
  const key = nodeKey(node.goalId, node.workNodeId);
  if (node.status === "done") return { kind: "landed", text: `${key} has landed.` };
  if (node.status === "cancelled") {
    const why = node.statusReason ? `: ${node.statusReason}` : "";
    return { kind: "failed", text: `${key} was cancelled${why}.`, command: `overseer why ${key}` };
  }
  const mine = new Set([key, ...(attempt ? [attempt.agent, attemptLabel(attempt)] : [])]);
  const held = standstills.find(
    ({ kind, turn, about }) => turn === "person" && kind !== "no-daemon" && about.some((one) => mine.has(one)),
  );
  if (held) return { kind: "waits", text: held.text, command: held.command ?? `overseer why ${key}` };
  if (node.status === "blocked") {
    const text = `${key} is blocked: ${node.blockedReason?.detail ?? "no reason kept"}.`;
    return { kind: "waits", text, command: `overseer why ${key}` };
  }
  if (isDaemonUp) return { kind: "goes-on" };
  if (node.claim) {
    const text = `${key} is reported done. No daemon runs, so nothing checks or lands it.`;
    return { kind: "waits", text, command: "overseer up" };
  }
  if (attempt?.status !== "ended") return { kind: "goes-on" };
  const how = attempt.end?.detail ? ` (${attempt.end.detail})` : "";
  const text = `${attemptLabel(attempt)} has ended${how} and ${key} is not done. No daemon runs, so nobody goes on with it.`;
  return { kind: "failed", text, command: "overseer up" };
}
