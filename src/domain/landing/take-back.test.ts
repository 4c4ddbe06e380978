import { expect, test } from "bun:test";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { findWhoDepends, judgeTakeBack, takeBackMessage } from "./take-back.ts";

const BACK = { by: "human:ada", at: 1, reason: null, target: "main", landed: "b".repeat(40), commit: "c".repeat(40) };
const landed = { mergeId: "M_1", target: "main", status: "landed", from: "a".repeat(40), to: "b".repeat(40) } as Merge;

function leaf(
  id: string,
  status: WorkStatus,
  dependsOn: readonly string[] = [],
  more: Partial<WorkNode> = {},
): WorkNode {
  const path = more.path ?? id;
  return { ...nodeWith(status), workNodeId: id, leaf: true, dependsOn, ...more, path };
}

const done = leaf("T1", "done");
test.each<[string, Partial<{ node: WorkNode; merges: Merge[]; nodes: WorkNode[] }>, string | null]>([
  ["it landed and nobody depends on it", {}, null],
  ["it was taken back before", { node: { ...done, takenBack: BACK } }, "TAKEN_BACK_ALREADY"],
  ["it is at work", { node: leaf("T1", "in_progress"), merges: [] }, "NOT_LANDED_YET"],
  ["it was done by hand", { merges: [] }, "NOT_LANDED_YET"],
  ["it was in the target already", { merges: [{ ...landed, from: landed.to } as Merge] }, "NOTHING_TO_TAKE_BACK"],
  ["only its landing failed", { merges: [{ ...landed, status: "refused" } as Merge] }, "NOT_LANDED_YET"],
  ["landed work depends on it", { nodes: [done, leaf("T2", "done", ["T1"])] }, "LANDED_WORK_DEPENDS"],
  ["open work depends on it", { nodes: [done, leaf("T2", "queued", ["T1"])] }, null],
  ["what depends on it was taken back", { nodes: [done, leaf("T2", "done", ["T1"], { takenBack: BACK })] }, null],
])("REV-1: a landing may be taken back: %s", (_what, { node = done, merges = [landed], nodes = [done] }, code) => {
  const judged = judgeTakeBack({ node, nodes, merges }, false);
  expect(judged.ok ? null : judged.refusal.code).toBe(code);
  if (code === "LANDED_WORK_DEPENDS") expect(judgeTakeBack({ node, nodes, merges }, true).ok).toBe(true);
});

test("REV-1: who depends on a landing is found through parents and through one another", () => {
  const first = leaf("T1", "done", [], { path: "P1/T1" });
  const nodes = [
    leaf("P1", "done", [], { leaf: false }),
    leaf("P2", "done", ["P1"], { leaf: false }),
    first,
    leaf("T2", "done", [], { path: "P2/T2" }),
    leaf("T3", "queued", ["T2"], { path: "P3/T3" }),
    leaf("T4", "done", [], { path: "P1/T4" }),
  ];
  expect(findWhoDepends(first, nodes)).toEqual({ landed: ["T2"], open: ["T3"] });
});

test("REV-1: a revert says what it reverts in git's own words, and why", () => {
  const node = { goalId: "goal_1", workNodeId: "T1", name: "Dates" };
  expect(takeBackMessage(node, { to: "b".repeat(40), subject: "Merge Dates" }, "it breaks the import")).toBe(
    `Revert "Merge Dates"\n\nit breaks the import\n\nThis reverts commit ${"b".repeat(40)}.\n\nOverseer-Reverts: goal_1/T1\n`,
  );
});
