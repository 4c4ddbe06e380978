/** What a plan would cancel is said before it does, and only what was agreed to is lost. */
import { expect, test } from "bun:test";
import { attemptWith } from "../../../test/support/claims.ts";
import { planned } from "../../../test/support/samples.ts";
import { finish, treeOf } from "../../../test/support/tree.ts";
import type { Pruned } from "./left-out.ts";
import { listLeftOut, refuseLeavingOut } from "./left-out.ts";

const PLAN = [planned("P1", { children: ["T1", "T2", "T3"].map((id) => planned(id)) })];
const tree = finish(treeOf(PLAN), "T1");
const shorter = [planned("P1", { children: [planned("T3")] })];

const CASES: [why: string, plan: typeof PLAN, pruned: Pruned, lost: string[]][] = [
  ["the same plan leaves nothing out", PLAN, [], []],
  ["what is done is not lost", shorter, [], ["T2"]],
  ["all was agreed to", shorter, "all", []],
  ["just that was agreed to", shorter, ["T2"], []],
  ["something else was agreed to", shorter, ["T3"], ["T2"]],
  ["a phase with everything in it", [planned("P9", { children: [planned("T9")] })], ["T2"], ["P1", "T3"]],
];
test.each(CASES)("PLAN-5: a revision that cancels open work says so: %s", (_why, phases, pruned, lost) => {
  const refused = refuseLeavingOut(tree.goal, listLeftOut(tree.nodes, phases), pruned, []);
  const named = refused?.refusal.message
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(" ")[0]);
  expect(named ?? []).toEqual(lost);
});

test("PLAN-5: work in flight is named as such, and the way to say that one means it", () => {
  const { goalId } = tree.goal;
  const agent = attemptWith({ goalId, workNodeId: "T2", agent: "builder-1", attempt: 4, status: "running" });
  const refused = refuseLeavingOut(tree.goal, listLeftOut(tree.nodes, shorter), [], [agent]);
  expect(refused?.refusal).toMatchObject({ kind: "conflict", code: "PLAN_LEAVES_OUT" });
  expect(refused?.refusal.message).toContain("in flight: builder-1#4 would be stopped, its work kept");
  expect(refused?.refusal.hint).toContain("--prune");
});
