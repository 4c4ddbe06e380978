/** When there is no more to follow of a goal, and which of its steps are told on the way. */
import { expect, test } from "bun:test";
import type { EventOf, EventType } from "#domain/model/event.ts";
import type { Goal, Planning } from "#domain/model/goal.ts";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { planned } from "../../../test/support/samples.ts";
import { nodeIn, treeOf } from "../../../test/support/tree.ts";
import { type FollowedGoalFacts, isGoalMilestone, judgeFollowedGoal } from "./followed-goal.ts";
import type { Standstill } from "./standstill.ts";

const { goal, nodes } = treeOf([planned("P1", { children: [planned("T1"), planned("T2"), planned("T3")] })]);
const id = goal.goalId;

/** P1 with its three tasks, each in its status. */
function work(...statuses: readonly [WorkStatus, WorkStatus, WorkStatus]): WorkNode[] {
  const blockedReason = { kind: "other" as const, detail: "no network" };
  const leaves = ["T1", "T2", "T3"].map((name, at) => {
    const status = statuses[at] ?? "todo";
    return { ...nodeIn({ goal, nodes }, name), status, blockedReason: status === "blocked" ? blockedReason : null };
  });
  return [...nodes.filter(({ leaf }) => !leaf), ...leaves];
}

const standing = (parts: Partial<Standstill>): Standstill => ({
  kind: "review",
  turn: "person",
  text: "REVIEW",
  command: "overseer review x",
  about: [`${id}/T1`],
  sinceAt: null,
  nextAt: null,
  ...parts,
});

const planning = (parts: Partial<Planning>): Partial<Goal> => ({
  planning: {
    ...{ number: 1, status: "wanted", since: 0, remark: null, scout: false, accept: "person" },
    ...{ detail: null, until: null, proposal: null },
    ...parts,
  },
});

const AT_WORK = work("in_progress", "queued", "todo");
const REVIEW = "overseer review x";

test.each<
  [
    why: string,
    facts: Partial<Omit<FollowedGoalFacts, "goal">> & { goal?: Partial<Goal> },
    kind: string,
    command: string | null,
  ]
>([
  ["it is at work", {}, "goes-on", null],
  ["it is reached", { goal: { status: "completed" }, nodes: work("done", "done", "done") }, "landed", null],
  [
    "it is reached in part",
    { goal: { status: "completed" }, nodes: work("done", "cancelled", "done") },
    "landed",
    null,
  ],
  [
    "it was reached, and put away",
    { goal: { status: "archived" }, nodes: work("done", "done", "done") },
    "landed",
    null,
  ],
  ["it was cancelled", { goal: { status: "cancelled" } }, "failed", `overseer why ${id}`],
  ["nothing of it is left", { nodes: work("cancelled", "cancelled", "cancelled") }, "failed", `overseer why ${id}`],
  ["somebody paused it", { goal: { status: "paused" } }, "waits", `overseer goal resume ${id}`],
  ["one waits for a person, another is at work", { standstills: [standing({ about: [`${id}/T2`] })] }, "goes-on", null],
  ["one waits for a person, another is ready", { standstills: [standing({})] }, "goes-on", null],
  [
    "all that is begun waits for a person",
    { nodes: work("in_progress", "todo", "todo"), standstills: [standing({})] },
    "waits",
    REVIEW,
  ],
  [
    "a person's turn, said of its agent too",
    { nodes: work("in_progress", "todo", "todo"), standstills: [standing({ about: ["b-1#3", `${id}/T1`] })] },
    "waits",
    REVIEW,
  ],
  [
    "it ends by itself",
    { nodes: work("in_progress", "todo", "todo"), standstills: [standing({ turn: "itself" })] },
    "goes-on",
    null,
  ],
  [
    "somebody else's goal waits",
    { nodes: work("in_progress", "todo", "todo"), standstills: [standing({ about: ["goal_x/T1"] })] },
    "goes-on",
    null,
  ],
  [
    "a goal whose name begins the same waits, and this one for something else",
    { nodes: work("blocked", "todo", "todo"), standstills: [standing({ about: [`${id}-2/T1`] })] },
    "waits",
    `overseer why ${id}/T1`,
  ],
  [
    "the fleet is frozen",
    { standstills: [standing({ kind: "frozen", about: [], command: "overseer thaw" })] },
    "waits",
    "overseer thaw",
  ],
  ["its budget is spent", { standstills: [standing({ kind: "budget", about: [`goal:${id}`] })] }, "waits", REVIEW],
  [
    "the budget of the day is spent",
    { standstills: [standing({ kind: "budget", about: ["day:2026-01-01"] })] },
    "waits",
    REVIEW,
  ],
  [
    "another goal's budget is spent",
    { standstills: [standing({ kind: "budget", about: ["goal:goal_x"] })] },
    "goes-on",
    null,
  ],
  [
    "no login, and what is ready waits for it",
    { nodes: work("in_progress", "queued", "queued"), standstills: [standing({ kind: "provider" })] },
    "waits",
    REVIEW,
  ],
  [
    "a way to people does not work",
    { standstills: [standing({ kind: "channel", about: ["slack"] })] },
    "goes-on",
    null,
  ],
  ["blocked, and nothing else moves", { nodes: work("blocked", "todo", "todo") }, "waits", `overseer why ${id}/T1`],
  ["blocked, and another is at work", { nodes: work("blocked", "in_progress", "todo") }, "goes-on", null],
  [
    "nobody runs it, one agent is at work",
    { isDaemonUp: false, living: new Set([`${id}/T1`]), standstills: [standing({ kind: "no-daemon", about: [] })] },
    "goes-on",
    null,
  ],
  [
    "nobody runs it, and nobody is at work",
    { isDaemonUp: false, standstills: [standing({ kind: "no-daemon", about: [] })] },
    "waits",
    "overseer up",
  ],
  ["a model is asked", { goal: planning({}), nodes: [] }, "goes-on", null],
  [
    "a model is to be asked, and nobody runs",
    { goal: planning({}), nodes: [], isDaemonUp: false },
    "waits",
    "overseer do",
  ],
  [
    "no model can be asked yet",
    { goal: planning({ status: "waits", detail: "no quota", until: 9 }), nodes: [] },
    "goes-on",
    null,
  ],
  [
    "a plan waits for a person",
    { goal: planning({ status: "proposed" }), nodes: [] },
    "waits",
    `overseer goal plan ${id} --accept`,
  ],
  ["a revision waits, and the work goes on", { goal: planning({ status: "proposed" }) }, "goes-on", null],
  [
    "no plan came of it",
    { goal: planning({ status: "failed", detail: "a cycle" }), nodes: [] },
    "waits",
    `overseer goal plan ${id} --file plan.yaml`,
  ],
  ["it has no plan", { nodes: [] }, "waits", `overseer goal plan ${id} --file plan.yaml`],
])("DO-1: what is followed of a goal: %s", (_why, { goal: own, ...facts }, kind, command) => {
  const known = { nodes: AT_WORK, standstills: [], isDaemonUp: true, living: new Set<string>(), ...facts };
  const judged = judgeFollowedGoal({ ...known, goal: { ...goal, ...own } });
  expect(judged.kind).toBe(kind as typeof judged.kind);
  expect("command" in judged ? judged.command : null).toBe(command);
});

test("DO-1: who decides while they follow is asked at once, about each task in turn, and not about what they put off", () => {
  const both = [standing({ about: [`${id}/T1`, `${id}/T2`] })];
  const facts = { goal, nodes: work("in_progress", "in_progress", "in_progress"), standstills: both };
  const judge = (...putOff: string[]) =>
    judgeFollowedGoal({ ...facts, isDaemonUp: true, living: new Set(), putOff: new Set(putOff) });
  expect(judge()).toMatchObject({ kind: "waits", review: `${id}/T1` });
  expect(judge(`${id}/T1`)).toMatchObject({ kind: "waits", review: `${id}/T2` });
  expect(judge(`${id}/T1`, `${id}/T2`)).toEqual({ kind: "goes-on" });
});

test("DO-1: what else waits is counted", () => {
  const two = [standing({}), standing({ text: "ASKED", about: [`${id}/T2`] })];
  const facts = { nodes: work("in_progress", "in_progress", "todo"), standstills: two, isDaemonUp: true };
  expect(judgeFollowedGoal({ goal, living: new Set(), ...facts })).toMatchObject({
    ...{ text: "REVIEW", more: 1, review: `${id}/T1` },
  });
});

test.each<[EventType, object, string, boolean]>([
  ["agent.slung", {}, "dispatched", true],
  ["work.claimed", {}, "reported", true],
  ["work.returned", {}, "checks-failed", true],
  ["landing.landed", {}, "landed", true],
  ["question.asked", {}, "asked", true],
  ["assignment.stalled", {}, "no-activity", true],
  ["assignment.restarting", {}, "died", true],
  ["assignment.created", {}, "given-out", false],
  ["assignment.cancelled", {}, "reassigned", false],
  ["work.cancelled", {}, "cancelled-by-hand", true],
  ["work.done", {}, "landed", false],
  ["work.done", {}, "all-children-done", false],
  ["work.done", {}, "no-changes", true],
  ["check.finished", { verdict: "pass" }, "checked", false],
  ["check.finished", { verdict: "fail" }, "checked", true],
  ["agent.ended", { cause: "finished" }, "ended", false],
  ["agent.ended", { cause: "stopped" }, "ended", false],
  ["agent.ended", { cause: "died" }, "ended", true],
  ["agent.steered", {}, "looping", false],
  ["message.queued", {}, "sent", false],
  ["update.taken", {}, "reported", false],
  ["overseer.tick", {}, "reconciled", false],
])("DO-1: steps that are told to whoever follows a goal: %s %j %s", (type, data, because, told) => {
  expect(isGoalMilestone({ type, data, because } as unknown as EventOf)).toBe(told);
});
