/** Which session is given its next piece, and which is not; that the claim settles it is in admission.test.ts. */
import { describe, expect, test } from "bun:test";
import type { Attempt } from "#domain/model/attempt.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import {
  applied,
  attemptWith,
  endedWith,
  LIMITS,
  NOW,
  pulseWith,
  recoveryWith,
  seenWith,
  snapshotOf,
} from "../../../test/support/snapshots.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";
import type { SessionSeen, Snapshot } from "./snapshot.ts";

const ON = { ...LIMITS, continuing: ["builder"] };
const DONE = nodeWith("done");
const NEXT = nodeWith("queued", { workNodeId: "T2", dependsOn: ["T1"] });
const ROOMY = pulseWith({ contextTokens: 60_000, contextWindow: 200_000 });
const STOPPED = endedWith({ cause: "stopped" });

function world(parts: Partial<Snapshot> = {}, attempt: Attempt = STOPPED, pulse: Pulse | null = ROOMY): Snapshot {
  return snapshotOf({ limits: ON, nodes: [DONE, NEXT], sessions: [{ attempt, pulse }], ...parts });
}

/** Whose session each node is given; a node that begins in a new one is null. */
function given(snapshot: Snapshot): Record<string, number | null> {
  return Object.fromEntries(
    decide(snapshot).actions.flatMap((one) =>
      one.kind === "spawn" ? [[one.nodeId ?? "", one.payload.follows ?? null]] : [],
    ),
  );
}

function stopped(attempt: number, parts: Partial<Attempt> = {}): SessionSeen {
  return { attempt: endedWith({ cause: "stopped" }, { attempt, session: `s${attempt}`, ...parts }), pulse: ROOMY };
}

describe("DISP-3: the next piece of the same goal and role", () => {
  test("is given to the session whose work has landed, once", () => {
    expect(given(world())).toEqual({ T2: 1 });
    const decided = applied(world(), decide(world()));
    expect(given(decided)).toEqual({});
    const T3 = nodeWith("queued", { workNodeId: "T3" });
    expect(given({ ...decided, nodes: [...decided.nodes, T3] })).toEqual({ T3: null });
    expect(given(world({ nodes: [DONE, NEXT, T3] }))).toEqual({ T2: 1, T3: null });
  });

  test("POL-1: names its agent: it is given to the session of that one, or of another where people allow it", () => {
    const named = (name: string) => ({ nodes: [DONE, { ...NEXT, hints: { suggestedAgentId: name } }] });
    expect(given(world(named("ann")))).toEqual({ T2: null });
    expect(given(world(named(STOPPED.agent)))).toEqual({ T2: 1 });
    expect(given(world({ ...named("ann"), limits: { ...ON, crossAgent: true } }))).toEqual({ T2: 1 });
  });

  test("is given to nobody's session where no role asks for it, or another one does", () => {
    expect(given(world({ limits: LIMITS }))).toEqual({ T2: null });
    expect(given(world({ limits: { ...LIMITS, continuing: ["scout"] } }))).toEqual({ T2: null });
  });

  const living = (pulse: Partial<Pulse>, parts: Partial<Attempt> = {}): Partial<Snapshot> => {
    const attempt = attemptWith(parts);
    const own = { ...ROOMY, ...pulse };
    return { agents: [seenWith({ attempt, pulse: own })], sessions: [{ attempt, pulse: own }] };
  };
  const byPerson = { by: "human:ada", reason: null, at: NOW };
  const other = nodeWith("done", { hints: { model: "large" } });
  test.each<[why: string, snapshot: Snapshot]>([
    ["its work has not landed", world({ nodes: [nodeWith("in_progress"), { ...NEXT, dependsOn: [] }] })],
    ["the task names another agent", world({ nodes: [DONE, { ...NEXT, hints: { suggestedAgentId: "ann" } }] })],
    ["it failed", world({}, endedWith({ cause: "failed" }))],
    ["it died", world({}, endedWith({ cause: "died" }))],
    ["a person stopped it", world({}, endedWith({ cause: "stopped" }, { stopRequested: byPerson }))],
    ["it was in an emergency", world({}, endedWith({ cause: "stopped" }, { pace: { level: "emergency", at: NOW } }))],
    ["it is half full", world({}, STOPPED, { ...ROOMY, contextTokens: 100_000 })],
    ["nobody knows how full it is", world({}, STOPPED, { ...ROOMY, contextWindow: null })],
    ["it was never heard of", world({}, STOPPED, null)],
    ["its last turn was given up", world({}, STOPPED, { ...ROOMY, quotaAt: NOW })],
    ["it never had one", world({}, endedWith({ cause: "stopped" }, { session: null }))],
    ["it is on a person's screen", world({}, endedWith({ cause: "stopped" }, { interactive: true }))],
    ["it is of another goal", world({}, endedWith({ cause: "stopped" }, { goalId: "goal_B" }))],
    ["it is of another role", world({}, endedWith({ cause: "stopped" }, { capability: "scout", role: "scout" }))],
    ["it follows another doctrine", world({}, endedWith({ cause: "stopped" }, { role: "none" }))],
    ["it is of another runtime", world({}, endedWith({ cause: "stopped" }, { runtime: "claude-code" }))],
    ["it was begun with another model", world({ nodes: [other, NEXT] })],
    [
      "a lead asked for it",
      world({}, endedWith({ cause: "stopped" }, { parent: { agent: "lead-1", attempt: 9 }, depth: 1 })),
    ],
    ["it is at work still", world(living({ inTurn: true }))],
    ["it does not run", world(living({}, { status: "paused" }))],
    ["the node was tried before", world({ recoveries: [recoveryWith({ workNodeId: "T2", dispatches: 1 })] })],
  ])("begins in a new session where %s", (_why, snapshot) => {
    expect(given(snapshot)).toEqual({ T2: null });
  });

  test("is given to one that is idle and about to be ended, and to one that was put aside before its work landed", () => {
    expect(given(world(living({ inTurn: false })))).toEqual({ T2: 1 });
    const aside = { by: "overseer", reason: null, at: NOW, resume: true };
    expect(given(world({}, endedWith({ cause: "stopped" }, { stopRequested: aside })))).toEqual({ T2: 1 });
  });

  test("comes from what it builds on, else from the newest", () => {
    const nodes = [DONE, nodeWith("done", { workNodeId: "T3" }), NEXT];
    const sessions = [stopped(1), stopped(2, { workNodeId: "T3" })];
    expect(given(world({ nodes, sessions }))).toEqual({ T2: 1 });
    const alone = [...nodes.slice(0, 2), { ...NEXT, dependsOn: [] } satisfies WorkNode];
    expect(given(world({ nodes: alone, sessions }))).toEqual({ T2: 2 });
  });

  test("a session goes on only from whoever had it last", () => {
    const follows = { agent: "builder-1", attempt: 1, session: "s1" };
    const nodes = [DONE, nodeWith("done", { workNodeId: "T3" }), NEXT];
    const passedOn = [stopped(1), stopped(2, { workNodeId: "T3", session: "s1", follows })];
    expect(given(world({ nodes, sessions: passedOn }))).toEqual({ T2: 2 });
    const begun = [stopped(1), stopped(2, { workNodeId: "T3", session: null, follows })];
    expect(given(world({ nodes, sessions: begun }))).toEqual({ T2: null });
    const fell = { ...stopped(2, { session: "s1", follows }), attempt: endedWith({}, { attempt: 2, follows }) };
    expect(given(world({ sessions: [stopped(1), fell] }))).toEqual({ T2: null });
  });
});
