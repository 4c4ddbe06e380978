import { expect, test } from "bun:test";
import { attemptWith } from "../../../test/support/claims.ts";
import { livingDescendants } from "./lineage.ts";

const one = (attempt: number, parent: number | null, living: boolean) =>
  attemptWith({
    attempt,
    parent: parent === null ? null : { agent: `a${parent}`, attempt: parent },
    status: living ? "running" : "ended",
  });

test("WT-1: whoever lives below an attempt is found, however many ended in between, and nobody else", () => {
  const all = [one(1, null, false), one(2, 1, false), one(3, 2, true), one(4, null, true), one(5, 4, true)];
  const below = (...of: number[]) => livingDescendants(new Set(of), all).map(({ attempt }) => attempt);
  expect(below(1)).toEqual([3]);
  expect(below(2)).toEqual([3]);
  expect(below(3)).toEqual([]);
  expect(below(1, 4)).toEqual([3, 5]);
  // A circle, which no sling can make, is walked once.
  expect(livingDescendants(new Set([9]), [one(6, 7, true), one(7, 6, true)])).toEqual([]);
});
