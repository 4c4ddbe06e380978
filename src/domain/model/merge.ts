/**
 * The queue of branches on their way into a target branch. One row per branch and commit, folded from events, so that
 * it outlives every restart; whoever works it off looks again at git and at the claim before each step. The order is:
 * first come first served within a priority, and waiting makes a branch more urgent, so that none is passed for ever.
 * How a branch is merged is git/landing.ts; what follows for the work behind it, landing.ts.
 */

import type { Moment } from "#domain/core/actor.ts";
import { backoffMs } from "#domain/core/backoff.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { waitLeft } from "#domain/core/elapsed.ts";
import type { Moves } from "#domain/core/moves.ts";
import { isFinal } from "#domain/core/moves.ts";
import type { Claim } from "./claim.ts";
import type { EventOf, EventSubject, NewEvent } from "./event.ts";
import type { Priority } from "./goal.ts";
import type { WorkNode } from "./work.ts";

export const MERGE_STATUSES = ["waiting", "testing", "parked", "landed", "refused", "withdrawn"] as const;
export type MergeStatus = (typeof MERGE_STATUSES)[number];

/** `testing`: its gate runs, alone or in a batch. `parked`: a person is asked. */
export const MERGE_MOVES: Moves<MergeStatus> = {
  waiting: ["testing", "parked", "landed", "refused", "withdrawn"],
  testing: ["waiting", "parked", "landed", "refused", "withdrawn"],
  parked: ["waiting", "testing", "landed", "refused", "withdrawn"],
  landed: [],
  refused: [],
  withdrawn: [],
};

/** By which means the two sides came together. */
export const MERGE_TIERS = ["clean-merge", "auto-resolve", "author", "ai-resolve", "reimagine", "person"] as const;
export type MergeTier = (typeof MERGE_TIERS)[number];

/** A landing that a person wants out of the target again. */
export interface TakesBack {
  /** The entry that landed. */
  readonly mergeId: string;
  /** What the target had become by it. */
  readonly landed: string;
  readonly reason: string | null;
}

export interface Merge {
  readonly mergeId: string;
  readonly target: string;
  readonly branch: string;
  readonly commit: string;
  /** The work behind it; null for a branch that a person brought. */
  readonly goalId: string | null;
  readonly workNodeId: string | null;
  readonly assignmentId: string | null;
  readonly agent: string | null;
  readonly attempt: number | null;
  readonly priority: Priority;
  readonly by: string;
  /** Set where it is a revert: then `commit` is the state before that landing, on top of it. */
  readonly takesBack?: TakesBack;
  readonly status: MergeStatus;
  readonly detail: string | null;
  /** The batch it was tested in last. */
  readonly batch: string | null;
  /** How often something was in the way so far. */
  readonly looks: number;
  /** Not looked at again before this moment. */
  readonly notBefore: number;
  readonly tier: MergeTier | null;
  readonly from: string | null;
  readonly to: string | null;
  /** Since when it could have landed. */
  readonly queuedAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
}

export function applyToMerge(merge: Merge | undefined, event: EventOf): Merge | undefined {
  if (event.type === "merge.queued") {
    const { since, ...wanted } = event.data;
    return {
      ...wanted,
      goalId: event.goalId ?? null,
      workNodeId: event.nodeId ?? null,
      assignmentId: event.assignmentId ?? null,
      agent: event.agent ?? null,
      attempt: event.attempt ?? null,
      by: event.actor,
      status: "waiting",
      detail: null,
      batch: null,
      looks: 0,
      notBefore: 0,
      tier: null,
      from: null,
      to: null,
      queuedAt: since,
      updatedAt: event.at,
      endedAt: null,
    };
  }
  if (!merge) return undefined;
  const at = { updatedAt: event.at };
  switch (event.type) {
    case "merge.testing":
      return { ...merge, ...at, status: "testing", batch: event.data.batch, detail: null };
    case "merge.waiting": {
      const { detail, notBefore, looks = detail === null ? 0 : merge.looks + 1 } = event.data;
      return { ...merge, ...at, status: "waiting", detail, notBefore, looks };
    }
    case "merge.parked":
      return { ...merge, ...at, status: "parked", detail: event.data.detail };
    case "merge.landed": {
      const { from, to, tier } = event.data;
      return { ...merge, ...at, status: "landed", from, to, tier, detail: null, endedAt: event.at };
    }
    case "merge.ended":
      return { ...merge, ...at, status: event.data.to, detail: event.data.detail, endedAt: event.at };
    default:
      return merge;
  }
}

export function isQueued(merge: Merge): boolean {
  return !isFinal(MERGE_MOVES, merge.status);
}

const RANKS: Readonly<Record<Priority, number>> = { urgent: 0, high: 1, normal: 2, low: 3 };

/** Whom to land next: by priority, one step higher for every `boostMs` waited, then first come first served. */
export function inQueueOrder(merges: readonly Merge[], now: number, boostMs: number): Merge[] {
  const rank = (merge: Merge) =>
    RANKS[merge.priority] - (boostMs > 0 ? Math.floor(Math.max(0, now - merge.queuedAt) / boostMs) : 0);
  return [...merges].sort(
    (one, other) => rank(one) - rank(other) || one.queuedAt - other.queuedAt || (one.mergeId < other.mergeId ? -1 : 1),
  );
}

/** Those that may be tried now. One in the middle of a test was left there by somebody who died: it is tried again. */
export function dueInQueue(merges: readonly Merge[], now: number, boostMs: number): Merge[] {
  const due = merges.filter((merge) => merge.status !== "parked" && queueWaitMs(merge, now) === 0);
  return inQueueOrder(due.filter(isQueued), now, boostMs);
}

/** How long it is not looked at yet. The moment was set when it began to wait: once it is tried, it says nothing more. */
export function queueWaitMs(merge: Pick<Merge, "status" | "notBefore" | "updatedAt">, now: number): number {
  const { status, notBefore, updatedAt } = merge;
  return status === "waiting" ? Math.max(0, waitLeft(updatedAt, notBefore - updatedAt, now)) : 0;
}

/** A claim made again is another entry; asking twice about the same one is not. */
export function mergeIdOf(claim: Pick<Claim, "assignmentId" | "commit" | "claimedAt">): string {
  return deriveId("M_", claim.assignmentId, claim.commit, claim.claimedAt);
}

/** Puts a checked claim into the queue, or back into it after a person has let it continue. */
export function queueClaim(
  known: Merge | undefined,
  node: WorkNode,
  into: { readonly target: string; readonly priority: Priority },
  moment: Moment,
): NewEvent[] {
  const { claim } = node;
  if (!claim || claim.branch === null) return [];
  const mergeId = mergeIdOf(claim);
  if (known && known.status !== "parked") return [];
  const about: EventSubject = {
    goalId: node.goalId,
    nodeId: node.workNodeId,
    assignmentId: claim.assignmentId,
    agent: claim.agent,
    attempt: claim.attempt,
  };
  const head = { actor: moment.actor, ...about };
  if (known) {
    const data = { mergeId, detail: null, notBefore: 0 };
    return [{ type: "merge.waiting", ...head, because: "goes-on", data }];
  }
  const { commit, branch } = claim;
  const data = { mergeId, ...into, branch, commit, since: claim.checkedAt ?? moment.now };
  return [{ type: "merge.queued", ...head, because: "may-land", data }];
}

/** An event about an entry of the queue, with the work behind it. */
export function mergeEvent<T extends NewEvent["type"]>(
  merge: Merge,
  type: T,
  because: string,
  data: Omit<Extract<NewEvent, { type: T }>["data"], "mergeId">,
  moment: Moment,
): NewEvent {
  const { mergeId, goalId, workNodeId, assignmentId, agent, attempt } = merge;
  const about = {
    ...(goalId === null ? {} : { goalId }),
    ...(workNodeId === null ? {} : { nodeId: workNodeId }),
    ...(assignmentId === null ? {} : { assignmentId }),
    ...(agent === null ? {} : { agent }),
    ...(attempt === null ? {} : { attempt }),
  };
  return { type, actor: moment.actor, ...about, because, data: { mergeId, ...data } } as NewEvent;
}

/** How long to wait for what is in the way, and how often. */
export interface LookAgain {
  readonly base: number;
  readonly max: number;
  readonly tries: number;
}

/** What became of a try to land it. */
export type Fate =
  | { readonly kind: "landed"; readonly from: string; readonly to: string; readonly tier?: MergeTier }
  /** `until`: it is known when it is worth another look, and this one does not count. */
  | { readonly kind: "waiting"; readonly detail: string; readonly until?: number }
  | { readonly kind: "parked" | "refused"; readonly because: string; readonly detail: string };

/** The entry alone knows when it is looked at again; its claim says what for, and its action asks here. */
export function recordFate(entry: Merge, fate: Fate, wait: LookAgain, now: number): NewEvent {
  const moment: Moment = { now, actor: "overseer" };
  switch (fate.kind) {
    case "landed": {
      const { from, to, tier = "clean-merge" } = fate;
      return mergeEvent(entry, "merge.landed", "landed", { from, to, tier }, moment);
    }
    case "waiting": {
      const { detail, until } = fate;
      const { looks } = entry;
      const data = until ? { detail, notBefore: until, looks } : { detail, notBefore: now + waitMs(wait, looks + 1) };
      return mergeEvent(entry, "merge.waiting", "not-yet", data, moment);
    }
    case "parked":
      return mergeEvent(entry, "merge.parked", fate.because, { detail: fate.detail }, moment);
    case "refused":
      return mergeEvent(entry, "merge.ended", fate.because, { to: "refused", detail: fate.detail }, moment);
  }
}

/** ACC-2: the second look after `base`, each later one after twice as long, never longer than `max`. */
function waitMs({ base, max }: LookAgain, looks: number): number {
  return Math.min(max, backoffMs(Math.max(1, looks), { baseMs: base, maxMs: max }));
}

/** What has landed and is on its way to the remote. */
export interface PushWish {
  readonly remote: string;
  readonly target: string;
  readonly commit: string;
}
