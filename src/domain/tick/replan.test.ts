import { describe, expect, test } from "bun:test";
import type { Recovery } from "#domain/model/ladder-state.ts";
import type { WorkNode } from "#domain/model/work.ts";
import {
  applied,
  attemptWith,
  LIMITS,
  MINUTE,
  NOW,
  recoveryWith,
  seenWith,
  silentFor,
  snapshotOf,
  working,
} from "../../../test/support/snapshots.ts";
import { goalOf, nodeWith } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";
import type { Limits, Snapshot } from "./snapshot.ts";

const ABLE: Limits = { ...LIMITS, planner: { ...LIMITS.planner, off: null } };
const SPENT = { hint: 1, warning: 2, critical: 2, resend: 2 };

function stuck(parts: Partial<Snapshot> = {}, recovery: Partial<Recovery> = {}): Snapshot {
  const steps = { ...recoveryWith().steps, ...SPENT, ...recovery.steps };
  const waited = { level: 3, lastStepAt: NOW - 40 * MINUTE, backoffUntil: NOW - 1 };
  const recoveries = [recoveryWith({ ...waited, ...recovery, steps })];
  return working({ pulse: silentFor(90 * MINUTE) }, { limits: ABLE, recoveries, ...parts });
}

const types = (world: Snapshot) => decide(world).events.map(({ type }) => type);
const kinds = (world: Snapshot) => decide(world).actions.map(({ kind }) => kind);
function skipped(world: Snapshot): string[] {
  return decide(world).events.flatMap((event) =>
    event.type === "assignment.replan_skipped" ? [event.data.reason] : [],
  );
}

describe("PLAN-3: the rung on which work is split", () => {
  test("a model is asked after the resends, and the ladder waits for it", () => {
    const world = stuck();
    const [action] = decide(world).actions;
    expect(action).toMatchObject({ kind: "replan", payload: { from: 1, cause: "no-activity" } });
    expect(types(world)).toContain("assignment.replanning");
    const asked = applied(world, decide(world));
    expect(kinds(asked)).toEqual([]);
    expect(kinds({ ...asked, now: NOW + 15 * MINUTE })).toEqual([]);
  });

  test("no longer than it may: then it is passed, and a fresh agent takes over", () => {
    const asked = applied(stuck(), decide(stuck()));
    const late = { ...asked, now: NOW + 16 * MINUTE };
    expect(skipped(late)).toEqual(["no model has answered in time"]);
    expect(kinds(late)).toEqual(["reassign"]);
    expect(kinds(applied(late, decide(late)))).toEqual([]);
  });

  test("what could not be split is given to a fresh agent at once, with no wait of its own", () => {
    const asked = applied(stuck(), decide(stuck()));
    const [recovery] = asked.recoveries;
    const steps = { ...recoveryWith().steps, ...SPENT, replan: Number.MAX_SAFE_INTEGER };
    const passed = { ...asked, actions: [], recoveries: recovery ? [{ ...recovery, steps }] : [], now: NOW + MINUTE };
    expect(kinds(passed)).toEqual(["reassign"]);
  });

  const family: WorkNode[] = ["a", "b"].map((letter) =>
    nodeWith("queued", { workNodeId: `T1.${letter}`, path: `P1/T1.${letter}`, splitFrom: ["T1"] }),
  );
  const reasons: [why: string, world: Snapshot, said: string][] = [
    ["planning is off", stuck({ limits: LIMITS }), "model calls are off"],
    ["it has parts", stuck({ nodes: [nodeWith("in_progress", { leaf: false })] }), "it has parts of its own already"],
    [
      "it was split as often as it may",
      stuck({ nodes: [nodeWith("in_progress"), ...family], limits: withBound(1) }),
      "its work was split once, and planner.replansPerNode allows no more",
    ],
    [
      "nothing may be split",
      stuck({ limits: withBound(0) }),
      "its work is not split, and planner.replansPerNode allows no more",
    ],
    [
      "another plan is under way",
      stuck({ goals: [goalOf({ planning: { status: "wanted" } as never })] }),
      "another plan for its goal is under way",
    ],
  ];
  test.each(reasons)("SAFE-1: it is passed with its reason where %s", (_why, world, said) => {
    expect(skipped(world)).toEqual([said]);
    expect(kinds(world)).toContain("reassign");
  });

  test("with a policy to split first, that is the first step", () => {
    const world = stuck({}, { steps: recoveryWith().steps });
    const assignments = world.assignments.map((one) => ({ ...one, recoveryPolicy: "replan" as const }));
    expect(kinds({ ...world, assignments })).toEqual(["replan"]);
  });

  test("what waits in the outbox for an agent that has ended is not wanted any more", () => {
    const asked = applied(stuck(), decide(stuck()));
    const gone = { ...asked, agents: [seenWith({ attempt: attemptWith({ attempt: 2, assignmentId: "A_2" }) })] };
    expect(decide(gone).events).toContainEqual(
      expect.objectContaining({ type: "action.dropped", because: "not-wanted-any-more" }),
    );
  });

  test("parts wait until the agent on the whole has ended", () => {
    const nodes = [nodeWith("cancelled", { statusReason: "split into T1.a, T1.b" }), ...family];
    const world = snapshotOf({
      nodes,
      agents: [seenWith({ attempt: attemptWith({ stopRequested: { at: NOW, by: "overseer", reason: null } }) })],
    });
    expect(kinds(world)).toEqual([]);
    expect(kinds({ ...world, agents: [] })).toEqual(["spawn", "spawn"]);
  });
});

function withBound(replansPerNode: number): Limits {
  return { ...ABLE, planner: { ...ABLE.planner, replansPerNode } };
}

describe("PLAN-3: a stronger model where the role allows one", () => {
  const limits: Limits = { ...ABLE, strongerModels: { builder: "opus" } };

  test("a fresh agent tries with it before the work is split, and without a planner too", () => {
    for (const one of [limits, { ...limits, planner: LIMITS.planner }]) {
      const [action] = decide(stuck({ limits: one })).actions;
      expect(action).toMatchObject({ kind: "reassign", payload: { from: 1, model: "opus" } });
    }
    expect(types(stuck({ limits }))).toContain("assignment.strengthened");
  });

  test("once for each node, also when its steps begin again", () => {
    const world = stuck({ limits });
    const [recovery] = applied(world, decide(world)).recoveries;
    expect(recovery).toMatchObject({ strengthened: true, level: 4 });
    expect(kinds(stuck({ limits }, { strengthened: true }))).toEqual(["replan"]);
    const attempt = attemptWith({ model: "opus" });
    const same = stuck({ limits });
    expect(kinds({ ...same, agents: same.agents.map((seen) => ({ ...seen, attempt })) })).toEqual(["replan"]);
  });
});
