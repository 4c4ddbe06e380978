/** When there is no more to follow. */
import { expect, test } from "bun:test";
import type { WorkNode } from "#domain/model/work.ts";
import { attemptWith } from "../../../test/support/claims.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { type FollowedFacts, judgeFollowed } from "./followed.ts";
import type { Standstill } from "./standstill.ts";

const node = nodeWith("in_progress");
const key = `${node.goalId}/${node.workNodeId}`;
const { goalId, workNodeId } = node;
const running = attemptWith({ goalId, workNodeId, agent: "b-1", attempt: 3, status: "running" });
const ended = { ...running, status: "ended" as const };
const claimed = { ...node, claim: attemptClaim() } as WorkNode;
const standing = (parts: Partial<Standstill>): Standstill => ({
  kind: "review",
  turn: "person",
  text: "REVIEW",
  command: "overseer review x",
  about: [key],
  sinceAt: null,
  nextAt: null,
  ...parts,
});

function attemptClaim(): unknown {
  return { commit: "abc", verdict: null, waiting: null };
}

test.each<[why: string, facts: Partial<FollowedFacts>, kind: string, command: string | null]>([
  ["it is at work", {}, "goes-on", null],
  ["it is done", { node: nodeWith("done") }, "landed", null],
  ["it was cancelled", { node: nodeWith("cancelled") }, "failed", `overseer why ${key}`],
  ["a person's turn", { standstills: [standing({})] }, "waits", "overseer review x"],
  [
    "a person's turn, said of its agent",
    { standstills: [standing({ about: ["b-1#3"] })] },
    "waits",
    "overseer review x",
  ],
  ["somebody else's turn", { standstills: [standing({ about: ["goal_x/T9"] })] }, "goes-on", null],
  ["a quota that ends by itself", { standstills: [standing({ turn: "itself" })] }, "goes-on", null],
  ["blocked", { node: nodeWith("blocked") }, "waits", `overseer why ${key}`],
  ["it ended, and the daemon decides", { attempt: ended }, "goes-on", null],
  ["it ended, and nobody is there", { attempt: ended, isDaemonUp: false }, "failed", "overseer up"],
  ["at work with nobody there", { isDaemonUp: false, standstills: [standing({ kind: "no-daemon" })] }, "goes-on", null],
  ["reported done with nobody there", { node: claimed, attempt: ended, isDaemonUp: false }, "waits", "overseer up"],
  ["reported done, and the daemon checks it", { node: claimed, attempt: ended }, "goes-on", null],
])("SLING-4: what is followed: %s", (_why, facts, kind, command) => {
  const judged = judgeFollowed({ node, attempt: running, standstills: [], isDaemonUp: true, ...facts });
  expect(judged.kind).toBe(kind as typeof judged.kind);
  expect("command" in judged ? judged.command : null).toBe(command);
});
