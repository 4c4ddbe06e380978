import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Action } from "#domain/model/action.ts";
import { WORKERS, type Worker } from "#domain/model/auto.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { workerWith } from "../../../test/support/auto.ts";
import { T0 } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import {
  attemptWith,
  endedWith,
  LIMITS,
  NOW,
  pulseWith,
  recoveryWith,
  seenWith,
  snapshotOf,
} from "../../../test/support/snapshots.ts";
import { assignmentWith, nodeWith } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";
import { Scene } from "./scene.ts";
import type { AgentSeen, Snapshot } from "./snapshot.ts";
import { isForWorkers, isWorker, WorkerPlaces } from "./worker-places.ts";

const TASK = nodeWith("queued");
const ready = (workNodeId: string, parts: Partial<WorkNode> = {}): WorkNode => ({
  ...{ ...TASK, workNodeId, path: `P1/${workNodeId}` },
  ...parts,
});
const atWork = (agent: string, workNodeId: string, parts: Partial<AgentSeen> = {}): AgentSeen => {
  const attempt = Number(workNodeId.slice(1));
  return seenWith({
    attempt: attemptWith({ attempt, agent, workNodeId, assignmentId: `A_${attempt}` }),
    pulse: pulseWith({ attempt }),
    ...parts,
  });
};
const held = (workNodeId: string) => ready(workNodeId, { status: "in_progress" });
const assigned = (workNodeId: string) =>
  assignmentWith({ assignmentId: `A_${workNodeId.slice(1)}`, workNodeId, lastDispatchAt: NOW - 1_000 });
const workers = (...known: Worker[]): Condition => ({
  ...{ kind: "workers", conditionId: WORKERS, active: true, since: T0, updatedAt: T0 },
  workers: known,
});
const under = (concurrency: number, parts: Partial<Snapshot>): Snapshot =>
  snapshotOf({ limits: { ...LIMITS, auto: { concurrency } }, ...parts });

/** What is started, as `kind node name`. */
function started(snapshot: Snapshot): string[] {
  return decide(snapshot).actions.flatMap((action) => {
    if (action.kind !== "spawn" && action.kind !== "restart" && action.kind !== "reassign") return [];
    const name = action.kind === "spawn" ? action.payload.name : action.agent;
    return [`${action.kind} ${action.nodeId} ${name}`];
  });
}

describe("AUTO-3: whatever is dispatched under auto mode is done by its workers", () => {
  const rows: readonly [string, Snapshot, readonly string[]][] = [
    ["without auto mode nobody is one", snapshotOf({ nodes: [ready("T1")] }), ["spawn T1 null"]],
    [
      "as many as there are",
      under(2, { nodes: [ready("T1"), ready("T2"), ready("T3")] }),
      ["spawn T1 auto-1", "spawn T2 auto-2"],
    ],
    [
      "the next free one",
      under(2, {
        nodes: [held("T1"), ready("T2"), ready("T3")],
        agents: [atWork("auto-1", "T1")],
        assignments: [assigned("T1")],
      }),
      ["spawn T2 auto-2"],
    ],
    [
      "others are not in their way",
      under(1, {
        nodes: [held("T1"), ready("T2")],
        agents: [atWork("builder-1", "T1")],
        assignments: [assigned("T1")],
      }),
      ["spawn T2 auto-1"],
    ],
    [
      "one that auto mode had more of before takes a place until it is done",
      under(1, { nodes: [held("T1"), ready("T2")], agents: [atWork("auto-3", "T1")], assignments: [assigned("T1")] }),
      [],
    ],
    [
      "a standing worker is one of them",
      under(1, { nodes: [ready("T1"), ready("T2"), ready("T3")], conditions: [workers(workerWith("ben"))] }),
      ["spawn T1 auto-1", "spawn T2 ben"],
    ],
    [
      "one that is excluded is not",
      under(1, { nodes: [ready("T1"), ready("T2")], conditions: [workers(workerWith("ben", { excluded: true }))] }),
      ["spawn T1 auto-1"],
    ],
    [
      "a node that names its agent gets that one, beside all of them",
      under(1, { nodes: [ready("T1", { hints: { suggestedAgentId: "cleo" } }), ready("T2"), ready("T3")] }),
      ["spawn T1 cleo", "spawn T2 auto-1"],
    ],
    [
      "who is about to be started has its place and its name",
      under(2, { nodes: [ready("T1"), ready("T2"), ready("T3")], actions: [spawning("T1", "auto-1")] }),
      ["spawn T2 auto-2"],
    ],
  ];
  test.each(rows)("%s", (_name, snapshot, expected) => {
    expect(started(snapshot)).toEqual([...expected]);
  });

  test("AUTO-3: what has to wait says for what", () => {
    const { events } = decide(under(1, { nodes: [ready("T1"), ready("T2")] }));
    const deferred = events.find(({ type }) => type === "dispatch.deferred");
    expect(deferred?.data).toMatchObject({ cap: "workers", reason: "all 1 workers have a task", waiting: 1 });
  });

  test("AUTO-3: the role of a standing worker is its own", () => {
    const conditions = [workers(workerWith("ben", { capability: "reviewer" }))];
    const { actions } = decide(under(1, { nodes: [ready("T1"), ready("T2")], conditions }));
    const roles = actions.flatMap((one) => (one.kind === "spawn" ? [[one.payload.name, one.payload.capability]] : []));
    expect(roles).toEqual([
      ["auto-1", "builder"],
      ["ben", "reviewer"],
    ]);
  });
});

function spawning(workNodeId: string, name: string): Action {
  const action = {
    ...{ actionId: `spawn:goal_A/${workNodeId}:1`, kind: "spawn", status: "queued", goalId: "goal_A", workNodeId },
    ...{
      attempt: null,
      agent: null,
      assignmentId: null,
      tries: 0,
      problem: null,
      result: null,
      dueAt: NOW,
      notBefore: NOW,
    },
    ...{
      decidedAt: NOW,
      updatedAt: NOW,
      because: "ready",
      lease: null,
      payload: { dispatchId: "D_1", capability: "builder", name },
    },
  };
  return action as unknown as Action;
}

describe("AUTO-6: a worker that crashed comes back", () => {
  const crashed = (agent: string) => endedWith({ cause: "died" }, { attempt: 9, agent, workNodeId: "T1" });
  const recoveries = [recoveryWith({ dispatches: 1 })];

  test("the same again, in its place", () => {
    const snapshot = under(1, { nodes: [ready("T1")], ended: [crashed("auto-1")], recoveries });
    expect(started(snapshot)).toEqual(["restart T1 auto-1"]);
  });

  test("it waits where its place was given to somebody else", () => {
    const snapshot = under(1, {
      ...{ nodes: [ready("T1"), held("T2")], ended: [crashed("auto-1")], recoveries },
      ...{ agents: [atWork("auto-1", "T2")], assignments: [assigned("T2")] },
    });
    expect(started(snapshot)).toEqual([]);
  });

  test("others get a name first that nobody is to come back under", () => {
    const waits = { restarts: 1, dispatches: 2 };
    const fresh = endedWith({ cause: "died" }, { attempt: 9, agent: "auto-1", workNodeId: "T1", endedAt: NOW - 1 });
    const snapshot = under(2, { nodes: [ready("T1"), ready("T2")], ended: [fresh], recoveries: [recoveryWith(waits)] });
    expect(started(snapshot)).toEqual(["spawn T2 auto-2"]);
  });
});

describe("AUTO-5: a worker whose task waits for a person gives its place up", () => {
  const blocked = (agent: string, inTurn: boolean) => ({
    ...{ nodes: [ready("T1", { status: "blocked", blockedReason: { kind: "human", detail: "Which way?" } })] },
    ...{ agents: [atWork(agent, "T1", { pulse: pulseWith({ attempt: 1, inTurn }) })], assignments: [assigned("T1")] },
  });
  const rows: readonly [string, Snapshot, boolean][] = [
    ["a worker of auto mode", under(1, blocked("auto-1", false)), true],
    ["not in the middle of a turn", under(1, blocked("auto-1", true)), false],
    ["a standing worker", under(1, { ...blocked("ben", false), conditions: [workers(workerWith("ben"))] }), true],
    ["nobody else while there is room", under(1, blocked("builder-1", false)), false],
  ];
  test.each(rows)("%s", (_name, snapshot, isPutAside) => {
    const stops = decide(snapshot).actions.flatMap((one) => (one.kind === "stop" ? [one.payload] : []));
    expect(stops).toMatchObject(isPutAside ? [{ resume: true }] : []);
  });
});

test("AUTO-3: who works in a place, and what is for them", () => {
  const scene = new Scene(
    under(1, { conditions: [workers(workerWith("ben"), workerWith("cleo", { excluded: true }))] }),
  );
  expect(["auto-1", "auto-9", "ben", "cleo", "builder-1"].map((agent) => isWorker(scene, { agent }))).toEqual([
    ...[true, true, true, false, false],
  ]);
  expect([isForWorkers(LIMITS, TASK), isForWorkers(scene.limits, TASK)]).toEqual([false, true]);
});

test("AUTO-3: never more than there are places, each name once, whoever lives and whoever is coming", () => {
  const name = fc.constantFrom("auto-1", "auto-2", "auto-3", "auto-5", "ben", "builder-1");
  const drawn = fc.record({
    concurrency: fc.integer({ min: 1, max: 4 }),
    living: fc.uniqueArray(name, { maxLength: 5 }),
    coming: fc.uniqueArray(name, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(drawn, ({ concurrency, living, coming }) => {
      const nodes = [...living, ...coming].map((_, index) => ready(`T${index + 1}`));
      const agents = living.map((agent, index) => atWork(agent, `T${index + 1}`));
      const scene = new Scene(under(concurrency, { nodes, agents, conditions: [workers(workerWith("ben"))] }));
      const starting = coming.map((each, index) => ({
        goalId: "goal_A",
        workNodeId: `T${living.length + index + 1}`,
        name: each,
      }));
      const places = new WorkerPlaces(scene, starting);
      const taken: string[] = [];
      for (; places.free > 0; places.free -= 1) taken.push(places.take()?.name ?? "none");
      const atPlaces = living.filter((agent) => isWorker(scene, { agent }));
      expect(taken).not.toContain("none");
      expect(new Set([...taken, ...atPlaces]).size).toBe(taken.length + atPlaces.length);
      expect(taken.length).toBe(Math.max(0, concurrency + 1 - atPlaces.length - coming.length));
    }),
    { numRuns: scaled(150) },
  );
});
