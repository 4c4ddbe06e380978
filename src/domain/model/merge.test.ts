import { expect, test } from "bun:test";
import { claimWith } from "../../../test/support/claims.ts";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { nodeWith, placed } from "../../../test/support/tree.ts";
import type { Merge } from "./merge.ts";
import { applyToMerge, dueInQueue, inQueueOrder, mergeEvent, mergeIdOf, queueClaim, queueWaitMs } from "./merge.ts";

const HOUR = 3_600_000;

function mergeWith(parts: Partial<Merge> = {}): Merge {
  const node = nodeWith("in_progress", { claim: claimWith({ verdict: "pass", checkedAt: T0 }) });
  const [event] = queueClaim(undefined, node, { target: "main", priority: "normal" }, ADA);
  const merge = event && applyToMerge(undefined, placed(event));
  if (!merge) throw new Error("nothing was queued");
  return { ...merge, ...parts };
}

const names = (merges: readonly Merge[]) => merges.map(({ mergeId }) => mergeId);

test("MERGE-1: first come first served within a priority, the urgent before the rest", () => {
  const queue = [
    mergeWith({ mergeId: "late", queuedAt: T0 + 2 }),
    mergeWith({ mergeId: "low", priority: "low", queuedAt: T0 }),
    mergeWith({ mergeId: "urgent", priority: "urgent", queuedAt: T0 + 9 }),
    mergeWith({ mergeId: "early", queuedAt: T0 + 1 }),
  ];
  expect(names(inQueueOrder(queue, T0 + 10, HOUR))).toEqual(["urgent", "early", "late", "low"]);
});

test("MERGE-1: who has waited for an hour counts as one priority higher, so nobody is passed for ever", () => {
  const old = mergeWith({ mergeId: "old", priority: "low", queuedAt: T0 });
  const fresh = (now: number) => mergeWith({ mergeId: "fresh", priority: "high", queuedAt: now });
  expect(names(inQueueOrder([old, fresh(T0 + HOUR)], T0 + HOUR, HOUR))).toEqual(["fresh", "old"]);
  expect(names(inQueueOrder([old, fresh(T0 + 2 * HOUR)], T0 + 2 * HOUR, HOUR))).toEqual(["old", "fresh"]);
  expect(names(inQueueOrder([old, fresh(T0 + 9 * HOUR)], T0 + 9 * HOUR, 0))).toEqual(["fresh", "old"]);
});

test("MERGE-1: due is what waits or was left in the middle of a test; not what is parked, over, or to be looked at later", () => {
  const now = T0 + 10;
  const queue = [
    mergeWith({ mergeId: "waiting" }),
    mergeWith({ mergeId: "testing", status: "testing" }),
    mergeWith({ mergeId: "parked", status: "parked" }),
    mergeWith({ mergeId: "later", notBefore: now + 1 }),
    mergeWith({ mergeId: "landed", status: "landed" }),
  ];
  expect(names(dueInQueue(queue, now, HOUR))).toEqual(["testing", "waiting"]);
});

test("EDGE-10 MERGE-1: left in the middle of a test after the clock was set back by a year, it is due all the same", () => {
  const back = T0 - 365 * 24 * HOUR;
  const waited = mergeWith({ notBefore: T0 + 60_000, updatedAt: T0 });
  const testing = mergeEvent(waited, "merge.testing", "test", { batch: "B_1", size: 1 }, ADA);
  const left = applyToMerge(waited, placed(testing, back));
  if (!left) throw new Error("it is gone");
  expect(names(dueInQueue([left], back + 1, HOUR))).toEqual([left.mergeId]);
  expect(queueWaitMs(left, back + 1)).toBe(0);
  expect(queueWaitMs(waited, T0 + 20_000)).toBe(40_000);
});

test("MERGE-1: a claim is queued once; parked, it comes back when it may continue; made again, it is another entry", () => {
  const claim = claimWith({ verdict: "pass", checkedAt: T0 + 5 });
  const node = nodeWith("in_progress", { claim });
  const into = { target: "main", priority: "high" } as const;
  const merge = mergeWith();
  expect(merge).toMatchObject({ mergeId: mergeIdOf(claim), status: "waiting", workNodeId: "T1", branch: claim.branch });
  expect(queueClaim(merge, node, into, ADA)).toEqual([]);
  const [again] = queueClaim({ ...merge, status: "parked" }, node, into, ADA);
  expect(again?.type).toBe("merge.waiting");
  expect(mergeIdOf({ ...claim, claimedAt: claim.claimedAt + 1 })).not.toBe(merge.mergeId);
  expect(queueClaim(undefined, nodeWith("in_progress", { claim: claimWith({ branch: null }) }), into, ADA)).toEqual([]);
});

test("MERGE-1: what happens to an entry can be read from it", () => {
  const steps = [
    ["merge.testing", { batch: "B_1", size: 2 }, { status: "testing", batch: "B_1" }],
    ["merge.waiting", { detail: "dirty", notBefore: 7 }, { status: "waiting", detail: "dirty", notBefore: 7 }],
    ["merge.parked", { detail: "asked" }, { status: "parked", detail: "asked" }],
    ["merge.landed", { from: "a", to: "b", tier: "clean-merge" }, { status: "landed", to: "b", tier: "clean-merge" }],
    ["merge.ended", { to: "refused", detail: "no" }, { status: "refused", detail: "no" }],
  ] as const;
  for (const [type, data, then] of steps) {
    const event = mergeEvent(mergeWith(), type, "test", data as never, ADA);
    expect(applyToMerge(mergeWith(), placed(event))).toMatchObject(then);
    expect(applyToMerge(undefined, placed(event))).toBe(undefined);
  }
});
