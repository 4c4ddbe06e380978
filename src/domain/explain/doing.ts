/**
 * What an agent does, in a few words for its row, and all of them in one line. An agent between two turns is idle only
 * where nothing is known that it waits for: a review, its landing, an answer.
 */
import type { WorkNode } from "#domain/model/work.ts";
import type { AgentFact } from "./standstill.ts";

export type DoingAgent = Pick<AgentFact, "seen" | "waitingOn"> & {
  readonly turns: number;
  /** Nothing moves: what stands still names the step that follows. */
  readonly isStalled?: boolean;
};

/** `node`: what it works on, where that is in progress or blocked. */
export function tellDoing({ seen, waitingOn, turns, isStalled }: DoingAgent, node: WorkNode | undefined): string {
  if (seen === "waiting") return waitingOn === null ? seen : `waiting(on ${waitingOn})`;
  if (seen !== "idle") return seen === "working" && isStalled ? "stalled" : seen;
  const { claim } = node ?? {};
  if (claim?.waiting?.for === "review" && claim.approvedBy === null) return "waiting for review";
  if (claim) return claim.verdict === null ? "waiting for its checks" : "waiting to land";
  if (node?.status === "blocked") return "waiting for an answer";
  if (isStalled) return "stalled";
  return turns === 0 ? "waiting for its first answer" : seen;
}

/** "5: 2 working, 3 waiting for review"; whoever waits on others is counted together. `all`: where these are some of more. */
export function countDoing(agents: readonly { readonly doing: string }[], all = agents.length): string {
  const counts = new Map<string, number>();
  for (const { doing } of agents) {
    const group = doing.startsWith("waiting(") ? "waiting for others" : doing;
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const first = counts.get("working") ?? 0;
  const rest = [...counts].filter(([group]) => group !== "working").toSorted(([, a], [, b]) => b - a);
  const groups = [...(first > 0 ? [["working", first] as const] : []), ...rest];
  const of = all > agents.length ? ` of ${all}` : "";
  return `${agents.length}${of}: ${groups.map(([group, count]) => `${count} ${group}`).join(", ")}`;
}
