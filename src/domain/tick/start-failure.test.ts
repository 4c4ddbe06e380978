/** Agents that cannot be started: one question for one cause, and everybody continues when it is gone. */
import { expect, test } from "bun:test";
import type { Action } from "#domain/model/action.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { applied, attemptWith, MINUTE, NOW, seenWith, snapshotOf } from "../../../test/support/snapshots.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";
import type { Snapshot } from "./snapshot.ts";

const PROBLEM = "Claude Code is not logged in.";
const ids = Array.from({ length: 20 }, (_, at) => `T${at + 1}`);
const failed = (workNodeId: string, parts: Partial<Action> = {}): Action =>
  ({
    ...{ actionId: `spawn:goal_A/${workNodeId}:1`, kind: "spawn", goalId: "goal_A", workNodeId, assignmentId: null },
    ...{ agent: null, attempt: null, because: "ready", status: "failed", dueAt: NOW + MINUTE, tries: 2, lease: null },
    ...{ problem: PROBLEM, cause: "RUNTIME_NOT_READY", result: null, decidedAt: NOW - MINUTE, updatedAt: NOW - 1_000 },
    ...{ endedAt: null, payload: { dispatchId: "D_1", capability: "builder", name: null } },
    ...parts,
  }) as Action;
const stuck = (parts: Partial<Snapshot> = {}, of: Partial<Action> = {}) =>
  snapshotOf({
    nodes: ids.map((workNodeId) => nodeWith("queued", { workNodeId })),
    actions: ids.map((id) => failed(id, of)),
    ...parts,
  });
const types = (events: readonly NewEvent[]): string[] =>
  events.map(({ type }) => type).filter((type) => type !== "overseer.tick");
const asksOf = (world: Snapshot) => decide(world).actions.flatMap((one) => (one.kind === "ask" ? [one.payload] : []));
const opened = (world: Snapshot): Snapshot => {
  const [asked] = asksOf(world);
  const after = applied(world, decide(world));
  const question = { questionId: asked?.questionId, goalId: null, workNodeId: null, status: "open" };
  const actions = after.actions.filter(({ kind }) => kind !== "ask");
  return { ...after, actions, questions: [question] as unknown as Snapshot["questions"], now: NOW + 2_000 };
};

test("ESC-1, HOLD-1: twenty tasks and one cause are one question, asked once", () => {
  const asks = asksOf(stuck());
  expect(asks).toHaveLength(1);
  expect(asks[0]?.text).toContain(
    `No agent can be started here: ${PROBLEM} 20 tasks wait (goal_A/T10, goal_A/T11, goal_A/T12, …)`,
  );
  expect(types(decide(opened(stuck())).events)).toEqual([]);
  expect(asksOf(stuck({}, { tries: 1 }))).toEqual([]);
  const two = stuck();
  const other = two.actions.map((one, at) => (at % 2 ? { ...one, cause: "TMUX_MISSING" } : one));
  expect(asksOf({ ...two, actions: other })).toHaveLength(2);
});

test("ESC-1: an answer lets all be tried at once; what fails again is asked about again", () => {
  const answered = { ...opened(stuck()), questions: [] };
  const { events } = decide(answered);
  expect(types(events)).toEqual(["dispatch.failing", ...ids.map(() => "action.hastened")]);
  const tried = applied(answered, { events });
  expect(tried.actions.every(({ dueAt }) => dueAt <= tried.now)).toBe(true);
  expect(asksOf(tried)).toEqual([]);
  const later = tried.now + 5_000;
  const again = tried.actions.map((one) => ({ ...one, tries: 3, dueAt: later + MINUTE, updatedAt: later }));
  expect(asksOf({ ...tried, actions: again, now: later + 1 })).toHaveLength(1);
  // One that was under way when the answer came fails a moment later, and says nothing about it.
  const running = answered.actions.map((one) => ({ ...one, status: "taken" as const }));
  const underWay = applied({ ...answered, actions: running }, decide({ ...answered, actions: running }));
  const fell = (at: number) => underWay.actions.map((one) => ({ ...one, status: "failed" as const, updatedAt: at }));
  expect(asksOf({ ...underWay, actions: fell(underWay.now + 500), now: underWay.now + 501 })).toEqual([]);
  const after = underWay.now + 2 * MINUTE;
  expect(asksOf({ ...underWay, actions: fell(after), now: after + 1 })).toHaveLength(1);
});

test("ESC-1: one that starts lets the others be tried at once; with the last the question is withdrawn", () => {
  const world = opened(stuck());
  const attempt = attemptWith({ workNodeId: "T1", startedAt: NOW + 1_500 });
  const nodes = world.nodes.map((node) =>
    node.workNodeId === "T1" ? { ...node, status: "in_progress" as const } : node,
  );
  const rest = world.actions.filter(({ workNodeId }) => workNodeId !== "T1");
  const { events } = decide({ ...world, nodes, actions: rest, agents: [seenWith({ attempt })] });
  expect(types(events).filter((type) => type === "action.hastened")).toHaveLength(19);
  const over = decide({ ...world, actions: [], nodes: [] });
  expect(types(over.events)).toEqual(["dispatch.works", "question.withdrawn"]);
});
