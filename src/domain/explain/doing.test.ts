/** STATUS-1: whoever waits for somebody is not shown as at work, nor as idle. */
import { expect, test } from "bun:test";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { countDoing, type DoingAgent, tellDoing } from "./doing.ts";

const idle: DoingAgent = { seen: "idle", waitingOn: null, turns: 2 };
const claimed = (claim: object) =>
  ({ ...nodeWith("in_progress"), claim: { verdict: "pass", approvedBy: null, waiting: null, ...claim } }) as WorkNode;

const ROWS: [why: string, agent: DoingAgent, node: WorkNode | undefined, says: string][] = [
  ["in a turn", { ...idle, seen: "working" }, nodeWith("in_progress"), "working"],
  [
    "in a turn in which nothing moves",
    { ...idle, seen: "working", isStalled: true },
    nodeWith("in_progress"),
    "stalled",
  ],
  ["between turns, and nothing comes", { ...idle, isStalled: true }, nodeWith("in_progress"), "stalled"],
  ["dead, and was stalled", { ...idle, seen: "dead", isStalled: true }, nodeWith("in_progress"), "dead"],
  [
    "reviewed, and was stalled",
    { ...idle, isStalled: true },
    claimed({ waiting: { for: "review" } }),
    "waiting for review",
  ],
  ["between turns", idle, nodeWith("in_progress"), "idle"],
  ["told what to do, and silent", { ...idle, turns: 0 }, nodeWith("in_progress"), "waiting for its first answer"],
  ["its work is reviewed", idle, claimed({ waiting: { for: "review" } }), "waiting for review"],
  ["its work was accepted", idle, claimed({ waiting: { for: "review" }, approvedBy: "human:a" }), "waiting to land"],
  ["its work is checked", idle, claimed({ verdict: null }), "waiting for its checks"],
  ["a file is in the way", idle, claimed({ waiting: { for: "checkout" } }), "waiting to land"],
  ["it asked", idle, nodeWith("blocked"), "waiting for an answer"],
  [
    "it waits on others",
    { ...idle, seen: "waiting", waitingOn: "w1, w2" },
    nodeWith("in_progress"),
    "waiting(on w1, w2)",
  ],
  ["its work is over", idle, undefined, "idle"],
];
test.each(ROWS)("STATUS-1: what an agent does: %s", (_why, agent, node, says) => {
  expect(tellDoing(agent, node)).toBe(says);
});

test("STATUS-1: all of them in one line, those at work first", () => {
  const all = ["waiting for review", "working", "waiting(on a)", "waiting for review", "working", "waiting(on b)"];
  expect(countDoing([...all, "waiting for review"].map((doing) => ({ doing })))).toBe(
    "7: 2 working, 3 waiting for review, 2 waiting for others",
  );
  expect(countDoing([{ doing: "dead" }])).toBe("1: 1 dead");
});
