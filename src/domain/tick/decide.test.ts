/** What a tick decides, situation by situation; what holds for every fleet is in test/properties/decide.test.ts. */
import { describe, expect, test } from "bun:test";
import type { ActionKind, ActionRequest } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { type Condition, quotaId } from "#domain/model/condition.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Question } from "#domain/model/question.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { claimWith } from "../../../test/support/claims.ts";
import { T0 } from "../../../test/support/samples.ts";
import {
  applied,
  attemptWith,
  endedWith,
  LIMITS,
  MINUTE,
  NOW,
  pulseWith,
  recoveryWith,
  seenWith,
  silentFor,
  snapshotOf,
  working,
} from "../../../test/support/snapshots.ts";
import { assignmentWith, goalOf, nodeWith } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";
import type { AgentSeen, Limits, Snapshot } from "./snapshot.ts";

const QUEUED = nodeWith("queued");
const ready = (parts: Partial<Snapshot> = {}) => snapshotOf({ nodes: [QUEUED], ...parts });

function asked(snapshot: Snapshot): string[] {
  return decide(snapshot).actions.map((action) => `${action.kind} ${action.because}`);
}

function types(snapshot: Snapshot): string[] {
  return decide(snapshot)
    .events.map((event) => event.type)
    .filter((type) => type !== "overseer.tick" && type !== "action.decided");
}

function theOne<K extends ActionKind>(snapshot: Snapshot, kind: K): Extract<ActionRequest, { kind: K }> {
  const found = decide(snapshot).actions.filter((action) => action.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as Extract<ActionRequest, { kind: K }>;
}

describe("ANOM-6: an agent in an emergency", () => {
  const emergency = { level: "emergency", at: NOW - 1_000 } as const;
  const lost = working({ attempt: attemptWith({ pace: emergency }) });

  test("a person is asked at once, and once", () => {
    expect(asked(lost)).toEqual(["ask pace-emergency"]);
    expect(theOne(lost, "ask").payload.text).toContain("makes call after call and gets nowhere");
    expect(types(lost)).toEqual(["assignment.escalated", "assignment.blocked"]);
    expect(asked(applied(lost, decide(lost)))).toEqual([]);
  });

  test("not again after the answer, and not for one that found its way back", () => {
    const recoveries = [recoveryWith({ askedAt: NOW - 900, answeredAt: NOW - 500 })];
    expect(asked({ ...lost, recoveries })).toEqual([]);
    const back = attemptWith({ pace: { level: "primary", at: NOW } });
    expect(asked(working({ attempt: back }))).toEqual([]);
  });
});

describe("ANOM-6: an agent that has met what only a person can solve", () => {
  const blocker = { what: "signing", fact: "signing its commits was refused", at: NOW - 1_000 };
  const blocked = working({ attempt: attemptWith({ blocker }) });

  test("a person is asked at once, and once, and the agent is not told", () => {
    expect(asked(blocked)).toEqual(["ask needs-a-person"]);
    expect(types(blocked)).toEqual(["assignment.escalated", "assignment.blocked"]);
    expect(theOne(blocked, "ask").payload.text).toContain("signing its commits was refused");
    expect(asked(applied(blocked, decide(blocked)))).toEqual([]);
  });

  test("what was asked and answered before the clock was set back was about something else", () => {
    const recoveries = [recoveryWith({ askedAt: NOW + 60 * MINUTE, answeredAt: NOW + 61 * MINUTE })];
    expect(asked({ ...blocked, recoveries })).toEqual(["ask needs-a-person"]);
    const later = working({ attempt: attemptWith({ blocker: { ...blocker, at: NOW + 59 * MINUTE } }) });
    expect(asked({ ...later, recoveries })).toEqual([]);
    // It was met before the clock was set back, and a person asked after.
    expect(asked({ ...later, recoveries: [recoveryWith({ askedAt: NOW - 900, answeredAt: NOW - 500 })] })).toEqual([]);
    expect(asked({ ...later, recoveries: [] })).toEqual(["ask needs-a-person"]);
  });

  test("EDGE-10: what was answered with a clock set back is answered, also when that clock has caught up", () => {
    const met = attemptWith({ blocker: { ...blocker, at: NOW - 1_000, seq: 20 } });
    const answered = { askedAt: NOW - 2_000, answeredAt: NOW - 60 * MINUTE };
    const asks = (askedSeq: number) =>
      asked(working({ attempt: met }, { recoveries: [recoveryWith({ ...answered, askedSeq })] }));
    expect(asks(30)).toEqual([]);
    expect(asks(10)).toHaveLength(1);
  });

  test("not again after the answer, and not for one that is paused", () => {
    const recoveries = [recoveryWith({ askedAt: NOW - 900, answeredAt: NOW - 500 })];
    expect(asked({ ...blocked, recoveries })).toEqual([]);
    expect(asked(working({ attempt: attemptWith({ blocker, status: "paused" }) }))).toEqual([]);
  });
});

describe("HEALTH-4: an agent that is exempt", () => {
  const NUDGES = { exempt: { nudges: "role" } } as const;
  const SUPERVISION = { exempt: { supervision: "sling" } } as const;
  const stuckAs = (exempt: Partial<Attempt>, more: Partial<Snapshot> = {}) =>
    working({ attempt: attemptWith(exempt), pulse: silentFor(60 * MINUTE) }, more);
  const hung = { calls: [{ tool: "Bash", argsHash: "a", ok: null, errorClass: null, ms: null, id: "1" }] };

  test.each<[string, Snapshot, string[]]>([
    ["nobody is: it gets a hint", stuckAs({}), ["deliver no-activity"]],
    ["from nudges: everything that speaks is passed over", stuckAs(NUDGES), ["reassign no-activity"]],
    [
      "from nudges, and it is to be told again first",
      stuckAs(NUDGES, { assignments: [assignmentWith({ recoveryPolicy: "resend_last", lastDispatchAt: T0 })] }),
      ["reassign no-activity"],
    ],
    [
      "from nudges, and its command hangs",
      working({
        attempt: attemptWith(NUDGES),
        pulse: { ...silentFor(60 * MINUTE), ...hung },
        toolsStillMs: 60 * MINUTE,
      }),
      ["reassign tool-hangs"],
    ],
    ["from supervision: nothing at all", stuckAs(SUPERVISION), []],
    [
      "from supervision, and its worktree is broken",
      stuckAs({ ...SUPERVISION, brokenWorktree: { part: "index", detail: "gone", wip: null } }),
      [],
    ],
    [
      "from supervision, and its process is gone",
      working({
        attempt: attemptWith(SUPERVISION),
        evidence: [{ source: "process", says: "gone", at: NOW, reliability: "proof" }],
      }),
      ["stop proven-by-process"],
    ],
  ])("%s", (_what, snapshot, expected) => {
    expect(asked(snapshot)).toEqual(expected);
  });

  test("is not asked for an update that is late", () => {
    const late = { assignments: [assignmentWith({ expectedNextUpdateAt: NOW - MINUTE })] };
    const busy = { pulse: pulseWith({ inTurn: true }) };
    expect(asked(working(busy, late))).toEqual(["deliver update-overdue"]);
    expect(asked(working({ ...busy, attempt: attemptWith(NUDGES) }, late))).toEqual([]);
    expect(asked(working({ ...busy, attempt: attemptWith(SUPERVISION) }, late))).toEqual([]);
  });

  test("is not told what a model advises to say", () => {
    const diagnosis = {
      ...{ assignmentId: "A_1", askedAt: NOW - 1_000, said: "It lost its way.", failed: null },
      left: [{ do: "nudge", message: "Read it again." }, { do: "resend" }],
    } as const;
    const limits = { ...LIMITS, planner: { ...LIMITS.planner, off: null, diagnoseStalls: true } };
    const recoveries = [recoveryWith({ diagnosis })];
    expect(asked(stuckAs(NUDGES, { limits, recoveries }))).not.toContain("deliver no-activity");
    const refused = decide(stuckAs(NUDGES, { limits, recoveries })).events.flatMap((event) =>
      event.type === "assignment.advised" ? [event.data.refused] : [],
    );
    expect(refused).toEqual(["nothing is to be said to its agent", "nothing is to be said to its agent"]);
  });
});

describe("WATCH-1: a daemon that only watches", () => {
  const watching = { watching: true };
  const spent = recoveryWith({ steps: { ...recoveryWith().steps, hint: 9, warning: 9, critical: 9, resend: 9 } });
  const broken = { brokenWorktree: { part: "index", detail: "gone", wip: null } } as const;
  const place = { goalId: "goal_A", workNodeId: "T1" };
  const CLAIMED = { ...claimWith(), ...place, state: "claimed", mayLand: true } as const;
  const gone = { evidence: [{ source: "process", says: "gone", at: NOW, reliability: "proof" }] } as const;

  test.each<[string, Snapshot, string[]]>([
    ["nudges who is silent", working({ pulse: silentFor(60 * MINUTE) }, watching), ["deliver no-activity"]],
    ["ends who is dead", working(gone, watching), ["stop proven-by-process"]],
    ["starts nobody for what is ready", ready(watching), []],
    [
      "gives the work of nobody to another: the next step is a pause",
      working({ pulse: silentFor(60 * MINUTE) }, { ...watching, recoveries: [spent] }),
      ["pause no-activity"],
    ],
    ["nor that of one whose worktree is broken", working({ attempt: attemptWith(broken) }, watching), []],
    ["restarts nobody", snapshotOf({ nodes: [QUEUED], ended: [endedWith({ cause: "died" })], ...watching }), []],
    ["checks nothing", working({}, { ...watching, claims: [CLAIMED] }), []],
  ])("%s", (_what, snapshot, expected) => {
    expect(asked(snapshot)).toEqual(expected);
    expect(asked({ ...snapshot, watching: false })).not.toEqual([]);
  });

  test("says why ready work waits", () => {
    const deferred = decide(ready(watching)).events.find(({ type }) => type === "dispatch.deferred");
    expect(deferred?.data).toMatchObject({ cap: "watching", reason: "the daemon only watches", waiting: 1 });
  });
});

const ACCOUNT = "scripted/default";
const outOf = (account: string): Condition => ({
  ...{ conditionId: quotaId(account), active: true, since: NOW, updatedAt: NOW },
  ...{ kind: "quota", account, phase: "tripped", until: NOW + MINUTE, trips: 1, probe: null },
});
const onRuntime = (runtime?: string) => [{ ...nodeWith("queued"), hints: runtime === undefined ? {} : { runtime } }];
const byRole = { ...LIMITS, roleAccounts: { builder: "claude/default" } };

test.each<[string, Partial<Snapshot>, ActionKind[]]>([
  ["the default, which is out of quota", { nodes: onRuntime(), conditions: [outOf(ACCOUNT)] }, []],
  [
    "its own, while the default is out of quota",
    { nodes: onRuntime("claude"), conditions: [outOf(ACCOUNT)] },
    ["spawn"],
  ],
  ["its own, which is out of quota", { nodes: onRuntime("claude"), conditions: [outOf("claude/default")] }, []],
  ["the default, while another is out", { nodes: onRuntime(), conditions: [outOf("claude/default")] }, ["spawn"]],
  ["its role's, which is out", { nodes: onRuntime(), limits: byRole, conditions: [outOf("claude/default")] }, []],
  [
    "its role's, while the default is out",
    { nodes: onRuntime(), limits: byRole, conditions: [outOf(ACCOUNT)] },
    ["spawn"],
  ],
])(
  "FAIL-18, FAIL-19: whether work is given out depends on the account that its agent will use: %s",
  (_what, parts, kinds) => {
    expect(decide(snapshotOf(parts)).actions.map(({ kind }) => kind)).toEqual(kinds);
  },
);

describe("the tick itself", () => {
  test("TICK-5: it records its reason and whether it did something", () => {
    const { events, didWork } = decide(ready({ reason: "asked-for" }));
    expect(didWork).toBe(true);
    expect(events.at(-1)).toMatchObject({
      type: "overseer.tick",
      data: { reason: "asked-for", didWork: true, actions: 1 },
    });
    expect(decide(snapshotOf())).toMatchObject({ didWork: false, actions: [] });
  });

  test("TICK-5: of ticks that find nothing to do, the first of a stretch is recorded, and one that reads outcomes", () => {
    const kinds = (snapshot: Snapshot) => decide(snapshot).events.map(({ type, because }) => `${type} ${because}`);
    const first = snapshotOf();
    expect(kinds(first)).toEqual(["overseer.tick reconciled"]);
    const idle = applied(first, decide(first));
    expect(kinds(idle)).toEqual([]);
    expect(kinds({ ...idle, frozen: true })).toEqual(["overseer.tick frozen"]);
    const frozen = applied(idle, decide({ ...idle, frozen: true }));
    expect(kinds({ ...frozen, frozen: true })).toEqual([]);
    expect(kinds(frozen)).toEqual(["overseer.tick reconciled"]);
    const news = [{ type: "agent.ended", seq: 7, data: { cause: "stopped" } } as unknown as EventOf];
    expect(kinds({ ...idle, news, newsUpTo: 7 })).toEqual(["overseer.tick reconciled"]);
    expect(kinds({ ...idle, newsUpTo: 7 })).toEqual([]);
    expect(kinds({ ...idle, newsUpTo: 5_000 })).toEqual(["overseer.tick reconciled"]);
  });

  test("a machine that slept for eight hours nudges nobody, then or in the next cycle", () => {
    const slept = working({ pulse: silentFor(480 * MINUTE) }, { skippedMs: 480 * MINUTE });
    expect(types(slept)).toEqual(["time.skipped"]);
    const next = { ...applied(slept, decide(slept)), skippedMs: 0, now: NOW + 2 * MINUTE };
    expect(types(next)).toEqual([]);
    expect(decide(next).judged.get(1)?.state).toBe("working");
  });
});

test("LADDER-1: a file written again and again with the same result gives no budget back", () => {
  const call = { tool: "Write", argsHash: "same", ok: true, errorClass: null, ms: 1, id: "t" };
  const looping = working(
    {
      pulse: pulseWith({ inTurn: true, calls: [call, call, call] }),
      evidence: [{ source: "tree", says: "progress", at: NOW, reliability: "strong" }],
    },
    { recoveries: [recoveryWith({ level: 3, total: 3, lastStepAt: NOW - 60 * MINUTE, backoffUntil: NOW + MINUTE })] },
  );
  expect(decide(looping).judged.get(1)?.state).toBe("looping");
  expect(types(looping)).not.toContain("assignment.progressed");
});

describe("LADDER-1: an agent about which a person was asked", () => {
  const call = { tool: "Bash", argsHash: "same", ok: false, errorClass: "exit-2", ms: 1, id: "t" };
  const asking = (calls: readonly (typeof call)[], exempt?: Attempt["exempt"]) =>
    working(
      {
        pulse: pulseWith({ inTurn: true, calls }),
        ...(exempt ? { attempt: attemptWith({ status: "running", exempt }) } : {}),
      },
      {
        questions: [{ goalId: goalOf().goalId, workNodeId: "T1", status: "open" } as Question],
        assignments: [assignmentWith({ status: "blocked" })],
      },
    );

  test("is paused until the answer, where it goes on in circles", () => {
    const { events, actions } = decide(asking([call, call, call]));
    expect(events.map(({ type }) => type)).toContain("assignment.parked");
    expect(actions.map(({ kind }) => kind)).toEqual(["pause"]);
  });

  test("is left to its work otherwise, and where nobody supervises it", () => {
    expect(types(asking([call, { ...call, argsHash: "other" }]))).toEqual([]);
    expect(types(asking([call, call, call], { supervision: "sling" }))).toEqual([]);
  });
});

describe("a node that waits for what was cancelled", () => {
  const orphan = nodeWith("todo", { workNodeId: "T2", dependsOn: ["T1"] });
  const world = snapshotOf({ nodes: [nodeWith("cancelled"), orphan] });

  test("WORK-3, ESC-1: is put before a person, once, and nothing moves by itself", () => {
    expect(theOne(world, "ask")).toMatchObject({
      nodeId: "T2",
      because: "dependency-cancelled",
      payload: { options: ["go on without it", "cancel it", "leave it to me"] },
    });
    expect(asked(applied(world, decide(world)))).toEqual([]);
  });

  test("GOAL-5: is nobody's business while its goal is paused", () => {
    expect(asked({ ...world, goals: [goalOf({ status: "paused" })] })).toEqual([]);
  });
});

describe("dispatch", () => {
  test("DISP-3: a ready task is given to an agent of its own", () => {
    expect(theOne(ready(), "spawn")).toMatchObject({
      actionId: "spawn:goal_A/T1:1",
      nodeId: "T1",
      payload: { capability: "builder", name: null },
    });
  });

  test("WORK-7: hints say which agent; a phase is never dispatched, a subtask only by hint", () => {
    const hinted = nodeWith("queued", { hints: { suggestedAgentType: "scout", suggestedAgentId: "eve" } });
    expect(theOne(ready({ nodes: [hinted] }), "spawn").payload).toMatchObject({ capability: "scout", name: "eve" });
    const phase = nodeWith("queued", { kind: "phase", workNodeId: "P1", parentId: null });
    const inside = nodeWith("queued", { kind: "subtask", workNodeId: "S1", parentId: "T1" });
    expect(asked(ready({ nodes: [phase, inside] }))).toEqual([]);
    const task = nodeWith("in_progress", { leaf: false });
    const own = { ...inside, hints: { ownAgent: true } };
    const held = { assignments: [assignmentWith()] };
    expect(asked(ready({ nodes: [task, own], ...held }))).toEqual(["spawn ready"]);
    expect(asked(ready({ nodes: [{ ...task, status: "queued" }, own] }))).toEqual(["spawn ready"]);
  });

  test("DISP-1: the most important goal first, then the oldest node, each start a moment after the last", () => {
    const of = (goalId: string, workNodeId: string, createdAt: number) =>
      nodeWith("queued", { goalId, workNodeId, createdAt });
    const world = snapshotOf({
      goals: [goalOf({ goalId: "goal_A" }), goalOf({ goalId: "goal_B", priority: "urgent" })],
      nodes: [of("goal_A", "T1", 5), of("goal_A", "T2", 3), of("goal_B", "T1", 9)],
    });
    const order = decide(world).actions.map((one) => [`${one.goalId}/${one.nodeId}`, one.notBefore - NOW]);
    expect(order).toEqual([
      ["goal_B/T1", 0],
      ["goal_A/T2", 2_000],
      ["goal_A/T1", 4_000],
    ]);
  });

  const full = Array.from({ length: 5 }, (_, index) =>
    seenWith({ attempt: attemptWith({ attempt: index + 1, workNodeId: `X${index}` }) }),
  );
  const soon = { nextDueAt: NOW + 5_000 };
  const caps: [cap: string, parts: Partial<Snapshot>, said: object, next: object][] = [
    ["agents", { agents: full }, { reason: "5 agents is the limit" }, { nextDueAt: null }],
    [
      "starts",
      { recentStarts: Array.from({ length: 10 }, () => NOW - 1) },
      { reason: "10 starts in a minute is the limit", until: NOW - 1 + MINUTE },
      { nextDueAt: NOW - 1 + MINUTE },
    ],
    [
      "load",
      { room: { ...snapshotOf().room, load: 9 } },
      { reason: "the machine is busy: its load is 9.0, and 8.0 is the limit" },
      soon,
    ],
    [
      "memory",
      { room: { ...snapshotOf().room, memoryBytes: 0, minMemoryBytes: 2 * 1024 ** 3 } },
      { reason: "memory is short: 0 MB free, 2.0 GB needed" },
      soon,
    ],
    [
      "disk",
      { room: { ...snapshotOf().room, diskBytes: 0, minDiskBytes: 1.5 * 1024 ** 3 } },
      { reason: "the disk is nearly full: 0 MB free, 1.5 GB needed" },
      soon,
    ],
  ];
  test.each(caps)(
    "CAP-1, TICK-5: the cap on %s defers, says so once, and is looked at again",
    (cap, parts, said, next) => {
      const world = ready(parts);
      const first = decide(world);
      expect(first.actions.filter((action) => action.kind === "spawn")).toEqual([]);
      expect(first.events).toContainEqual(
        expect.objectContaining({ type: "dispatch.deferred", data: { cap, ...said, waiting: 1 } }),
      );
      expect(first).toMatchObject(next);
      const after = applied(world, first);
      expect(types(after)).toEqual([]);
      // A full disk has a question beside it, which disk.test.ts is about.
      const ended = types({ ...after, agents: [], recentStarts: [], room: snapshotOf().room });
      expect(ended.filter((type) => type.startsWith("dispatch."))).toEqual(["dispatch.resumed"]);
    },
  );

  test("CAP-1: a load that only changes its figure is not said again", () => {
    const busy = (load: number) => ready({ room: { ...snapshotOf().room, load } });
    const after = applied(busy(9), decide(busy(9)));
    expect(types({ ...after, room: busy(12).room })).toEqual([]);
  });

  describe("CAP-1: whoever waits for something else takes no place", () => {
    const claimed = (workNodeId: string, attempt: number, more: Partial<WorkNode> = {}) =>
      nodeWith("in_progress", { workNodeId, path: workNodeId, claim: claimWith({ attempt }), ...more });
    const quota: Partial<Snapshot> = {
      conditions: [
        ...snapshotOf().conditions,
        {
          ...{ conditionId: "quota:other/default", active: true, since: NOW, updatedAt: NOW },
          ...{ kind: "quota", account: "other/default", phase: "tripped", until: NOW + MINUTE, trips: 1, probe: null },
        },
      ],
    };
    const waits: [what: string, node: WorkNode | undefined, seen: Partial<AgentSeen>, parts: Partial<Snapshot>][] = [
      ["finished work", claimed("X0", 1), {}, {}],
      ["work that has landed", nodeWith("done", { workNodeId: "X0", path: "X0" }), {}, {}],
      ["a question", nodeWith("blocked", { workNodeId: "X0", path: "X0" }), {}, {}],
      ["a pause", undefined, { attempt: attemptWith({ attempt: 1, workNodeId: "X0", status: "paused" }) }, {}],
      ["quota", undefined, { account: "other/default", pulse: pulseWith({ quotaAt: NOW }) }, quota],
    ];
    test.each(waits)("%s", (_what, node, seen, parts) => {
      const agents = full.map((one, index) => (index === 0 ? { ...one, ...seen } : one));
      const world = ready({ agents, ...parts });
      const nodes = node ? [...world.nodes, node] : world.nodes;
      expect(asked({ ...world, nodes }).filter((one) => one.startsWith("spawn"))).toEqual(["spawn ready"]);
      expect(asked(ready({ agents: full })).filter((one) => one.startsWith("spawn"))).toEqual([]);
    });

    test("its process is ended beyond as many as may be at work, the one that waits longest first", () => {
      const agents = [1, 2, 3].map((attempt) =>
        seenWith({
          attempt: attemptWith({ attempt, workNodeId: `X${attempt}`, assignmentId: `A_${attempt}` }),
          pulse: pulseWith({ lastActAt: NOW, inTurn: false }),
        }),
      );
      const claims = agents.map(({ attempt }) => ({
        ...{ assignmentId: attempt.assignmentId, goalId: "goal_A", workNodeId: attempt.workNodeId, commit: "abc" },
        ...{ state: "landing", mayLand: false, claimedAt: 5 },
      })) as Snapshot["claims"];
      const nodes = agents.map(({ attempt }) => claimed(attempt.workNodeId, attempt.attempt));
      const limits = { ...snapshotOf().limits, fleet: { ...snapshotOf().limits.fleet, maxConcurrent: 2 } };
      const { actions } = decide(snapshotOf({ agents, claims, nodes, limits }));
      expect(actions).toMatchObject([{ kind: "stop", attempt: 1, payload: { cause: "asked", resume: true } }]);
    });

    test("the same agent continues when it is needed again, at no cost", () => {
      const aside = endedWith(
        { cause: "stopped" },
        { stopRequested: { by: "overseer", reason: null, at: 1, resume: true } },
      );
      const decided = decide(ready({ ended: [aside] }));
      expect(decided.actions).toMatchObject([
        { kind: "restart", because: "put-aside", payload: { after: aside.attempt } },
      ]);
      expect(decided.events.map(({ type }) => type)).not.toContain("assignment.restarting");
    });
  });

  test("SCOPE-1: of two tasks with files in common one is dispatched, and the other when the first is no longer under way", () => {
    const task = (id: string, files: string[], status: WorkNode["status"] = "queued") =>
      nodeWith(status, { workNodeId: id, path: `P1/${id}`, position: Number(id.slice(1)), hints: { files } });
    const [first, second, third] = [task("T1", ["src"]), task("T2", ["src/a.ts"]), task("T3", ["docs"])];
    const world = snapshotOf({ nodes: [first, second, third] });
    const given = (snapshot: Snapshot) =>
      decide(snapshot).events.flatMap((one) => (one.type === "action.decided" ? [one.nodeId] : []));
    expect(given(world)).toEqual(["T1", "T3"]);
    expect(decide(world).events).toContainEqual(
      expect.objectContaining({
        type: "dispatch.deferred",
        data: {
          reason: "goal_A/T2 has src/a.ts in common with goal_A/T1; one follows the other",
          cap: "files",
          waiting: 1,
        },
      }),
    );
    expect(given(applied(world, decide(world)))).toEqual([]);
    // Also while its work is claimed and has not landed, with no agent any more; not once it has ended.
    expect(given(snapshotOf({ nodes: [task("T1", ["src"], "in_progress"), second] }))).toEqual([]);
    expect(given(snapshotOf({ nodes: [task("T1", ["src"], "blocked"), second] }))).toContain("T2");
    const scoped = seenWith({ attempt: { ...attemptWith(), scope: ["src/*"] } });
    expect(given(snapshotOf({ nodes: [second], agents: [scoped] }))).not.toContain("T2");
  });

  test("GOAL-3: a paused or cancelled goal gives nothing out, and what waits in the outbox is dropped", () => {
    const decided = applied(ready(), decide(ready()));
    for (const status of ["paused", "cancelled"] as const) {
      expect(asked(ready({ goals: [goalOf({ status })] }))).toEqual([]);
      expect(types({ ...decided, goals: [goalOf({ status })] })).toEqual(["action.dropped"]);
    }
  });

  test("WORK-3: what has become ready is dispatched in the same tick", () => {
    const world = snapshotOf({ nodes: [nodeWith("todo")] });
    expect(types(world)).toEqual(["work.queued"]);
    expect(asked(world)).toEqual(["spawn ready"]);
  });

  test("DISP-3: what only a person has is asked of a person, once per block", () => {
    const blocked = (kind: "credential" | "dependency") =>
      snapshotOf({ nodes: [nodeWith("blocked", { blockedReason: { kind, detail: "a key is missing" } })] });
    expect(asked(blocked("dependency"))).toEqual([]);
    const world = blocked("credential");
    expect(theOne(world, "ask").payload.text).toContain("a key is missing");
    const after = { ...applied(world, decide(world)), actions: [] };
    expect(asked(after)).toEqual([]);
  });
});

describe("agents that ended by themselves", () => {
  const died = endedWith({ cause: "died" });
  const fallen = (parts: Partial<Snapshot> = {}) => ready({ ended: [died], ...parts });

  test("LADDER-1: a proven death is restarted at once, the first time", () => {
    expect(asked(fallen())).toEqual(["restart died"]);
    expect(theOne(fallen(), "restart").payload).toMatchObject({ after: 1 });
  });

  test("LADDER-1: a clock that was set back does not hold up a restart", () => {
    const tried = recoveryWith({ restarts: 1, level: 1, lastStepAt: NOW - 1_000 });
    const endsAhead = { ...died, endedAt: NOW + 45 * MINUTE };
    expect(asked(fallen({ recoveries: [tried], ended: [endsAhead] }))).toEqual(["restart died"]);
  });

  test("LADDER-1, LADDER-2, FAIL-6: then after a pause, then a fresh agent, then a person", () => {
    const tried = (restarts: number, reassigned = 0) =>
      recoveryWith({
        restarts,
        level: restarts,
        lastStepAt: NOW - 1_000,
        backoffUntil: NOW - 1,
        steps: { ...recoveryWith().steps, reassign: reassigned },
      });
    const early = { ...died, endedAt: NOW - MINUTE };
    const late = { ...died, endedAt: NOW - 2 * MINUTE };
    expect(asked(fallen({ recoveries: [tried(1)], ended: [early] }))).toEqual([]);
    expect(asked(fallen({ recoveries: [tried(1)], ended: [late] }))).toEqual(["restart died"]);
    expect(asked(fallen({ recoveries: [tried(2)] }))).toEqual(["reassign died"]);
    const hopeless = fallen({ recoveries: [tried(2, 2)] });
    expect(asked(hopeless)).toEqual(["ask tried-too-often"]);
    expect(types(hopeless)).toEqual(["work.blocked", "assignment.escalated"]);
  });

  test("FAIL-8: one that ended in an error of its own is treated as one that died", () => {
    const failed = endedWith({ cause: "failed" });
    expect(asked(ready({ ended: [failed] }))).toEqual(["restart failed"]);
    const spent = recoveryWith({ restarts: 2, level: 2, lastStepAt: NOW - 1_000, backoffUntil: NOW - 1 });
    expect(asked(ready({ ended: [failed], recoveries: [spent] }))).toEqual(["reassign failed"]);
  });

  test("whoever was stopped on purpose is simply replaced", () => {
    expect(asked(fallen({ ended: [endedWith({ cause: "stopped" })] }))).toEqual(["spawn ready"]);
  });

  test("DISP-4: a start that was given up goes to a person", () => {
    expect(asked(ready({ recoveries: [recoveryWith({ givenUp: "no such role" })] }))).toEqual(["ask tried-too-often"]);
  });

  test("LIVE-1: one that asked in plain words is not nudged; a person is asked once, with its words", () => {
    const idle = { inTurn: false, lastActAt: NOW - 20 * MINUTE, lastAt: NOW - 20 * MINUTE };
    const asking = working({
      pulse: pulseWith(idle),
      fingerprint: { class: "waiting-on-human", words: "Which of the two should it be?" },
    });
    const decided = decide(asking);
    expect(decided.actions.map(({ kind }) => kind)).toEqual(["ask"]);
    expect(decided.actions[0]?.payload).toMatchObject({ text: expect.stringContaining("Which of the two") });
    expect(decided.events.map(({ type }) => type)).toContain("assignment.blocked");
    expect(decide({ ...applied(asking, decided), now: NOW + 20 * MINUTE }).actions).toEqual([]);
  });

  const eightMinutes = (limits: Partial<Limits>, hints: WorkNode["hints"] = {}) =>
    working(
      { pulse: silentFor(8 * MINUTE) },
      { limits: { ...LIMITS, ...limits }, nodes: [nodeWith("in_progress", { hints })] },
    );
  const limited: [why: string, world: Snapshot, expected: string[]][] = [
    ["the fleet's 10 minutes", eightMinutes({}), []],
    ["the 7 of its role", eightMinutes({ roles: { builder: { idleAfterMs: 7 * MINUTE } } }), ["deliver no-activity"]],
    ["not those of another role", eightMinutes({ roles: { scout: { idleAfterMs: 7 * MINUTE } } }), []],
    ["the 7 of its node", eightMinutes({}, { limits: { idleAfterMs: 7 * MINUTE } }), ["deliver no-activity"]],
    [
      "its node's 9, and not its role's 7",
      eightMinutes({ roles: { builder: { idleAfterMs: 7 * MINUTE } } }, { limits: { idleAfterMs: 9 * MINUTE } }),
      [],
    ],
  ];
  test.each(limited)("LIVE-2, ROLE-2: silent for 8 minutes, an agent is judged by %s", (_why, world, expected) => {
    expect(asked(world)).toEqual(expected);
  });

  test("BUDGET-1: a role's budget holds for its agents alone", () => {
    const roles = { builder: { budget: { tokens: 10 } } };
    const usage = { ...snapshotOf().usage, agents: { "1": { ...snapshotOf().usage.day, outputTokens: 10 } } };
    const spent = (limits: Partial<Limits>) => types(working({}, { usage, limits: { ...LIMITS, ...limits } }));
    expect(spent({ roles })).toContain("budget.exceeded");
    expect(spent({ roles: { scout: roles.builder } })).not.toContain("budget.exceeded");
  });

  test("TICK-3: progress does not make an old doubt a new one", () => {
    const evidence = [
      { source: "tree", says: "progress", at: NOW - MINUTE, reliability: "strong" },
      { source: "terminal", says: "gone", at: NOW - 2 * MINUTE, reliability: "strong" },
    ] as const;
    const doubt = { key: "terminal", since: NOW - 60 * MINUTE };
    const recoveries = [recoveryWith({ restarts: 1, lastStepAt: NOW - 90 * MINUTE, doubt })];
    const doubted = working({ evidence, pulse: pulseWith({ lastActAt: NOW - 3 * MINUTE }) }, { recoveries });
    const first = decide(doubted);
    expect(first.events.map(({ type }) => type)).toContain("assignment.progressed");
    const second = decide(applied(doubted, first));
    expect(second.events.filter(({ type }) => type !== "overseer.tick")).toEqual([]);
  });

  test("LIVE-1: an agent whose runner is gone is cleaned up after, and nothing else is done to it", () => {
    const gone = { source: "process", says: "gone", at: NOW, reliability: "proof" } as const;
    expect(asked(working({ evidence: [gone] }))).toEqual(["stop proven-by-process"]);
  });
});

describe("agents that are stuck", () => {
  const stuck = (parts: Partial<Snapshot> = {}) => working({ pulse: silentFor(20 * MINUTE) }, parts);

  test("FREEZE-1: silence while the fleet was frozen is no stall", () => {
    expect(types(stuck())).toContain("assignment.nudged");
    expect(asked(stuck({ thawedAt: NOW - 1_000 }))).toEqual([]);
  });

  test("NUDGE-2: the first step is a hint that asks for status, next, blockers, and what if finished", () => {
    expect(types(stuck())).toEqual(["assignment.stalled", "assignment.nudged"]);
    const { payload } = theOne(stuck(), "deliver");
    expect(payload).toMatchObject({ kind: "nudge", severity: "hint" });
    for (const word of ["Status:", "Next:", "Blockers:", "If finished:", "overseerUpdate"]) {
      expect(payload.body).toContain(word);
    }
  });

  const spent = { hint: 1, warning: 2, critical: 2 };
  const after = (steps: object, more = {}) =>
    stuck({
      recoveries: [
        recoveryWith({
          steps: { ...recoveryWith().steps, ...steps },
          level: 3,
          lastStepAt: NOW - 40 * MINUTE,
          backoffUntil: NOW - 1,
          ...more,
        }),
      ],
    });

  const rungs: [why: string, steps: object, expected: string[]][] = [
    ["a warning after the hint", { hint: 1 }, ["deliver no-activity"]],
    ["interrupt and resend after the nudges", spent, ["resend no-activity"]],
    ["a fresh agent after the resends", { ...spent, resend: 2 }, ["reassign no-activity"]],
    ["a pause after the fresh agents", { ...spent, resend: 2, replan: 9, reassign: 2 }, ["pause no-activity"]],
    ["a person at last", { ...spent, resend: 2, replan: 9, reassign: 2, pause: 2 }, ["ask no-activity"]],
  ];
  test.each(rungs)("LADDER-1: %s", (_why, steps, expected) => {
    expect(asked(after(steps))).toEqual(expected);
  });

  test("CAP-1, TICK-3: who takes over from a living agent takes its slot, so that the last free one is dispatched at once", () => {
    const world = after({ ...spent, resend: 2 });
    const limits = { ...LIMITS, fleet: { ...LIMITS.fleet, maxConcurrent: 2 } };
    const busy = { ...world, limits, nodes: [...world.nodes, nodeWith("queued", { workNodeId: "T2" })] };
    expect(asked(busy)).toEqual(["reassign no-activity", "spawn ready"]);
    expect(asked(applied(busy, decide(busy)))).toEqual([]);
  });

  test("LADDER-1: splitting the work is skipped, with an event, until there is a planner", () => {
    expect(types(after({ ...spent, resend: 2 }))).toEqual([
      "assignment.stalled",
      "assignment.replan_skipped",
      "assignment.reassigning",
    ]);
  });

  test("LADDER-2: nothing follows before the promised pause has ended", () => {
    expect(asked(after({ hint: 1 }, { backoffUntil: NOW + 1 }))).toEqual([]);
    expect(asked(after({ hint: 1 }, { lastStepAt: NOW - MINUTE, backoffUntil: null }))).toEqual([]);
  });

  test("LADDER-2: the same words are not said twice within the interval", () => {
    const said = applied(stuck(), decide(stuck())).recoveries[0]?.sent ?? [];
    expect(asked(after({}, { sent: said.map((one) => ({ ...one, at: NOW - 4 * MINUTE })) }))).toEqual([]);
    expect(asked(after({}, { sent: said.map((one) => ({ ...one, at: NOW - 5 * MINUTE })) }))).toHaveLength(1);
  });

  test("DISP-1: what was not seen is sent again under its own id, what was seen is done once more under a new one", () => {
    const dispatch = {
      dispatchId: "D_1",
      at: T0,
      mode: "spawn",
      target: "b",
      instructionHash: "h",
      result: null,
      runId: null,
      notes: "",
    } as const;
    const assignments = [
      assignmentWith({ lastInstruction: "Do it.", instructionHash: "h", lastDispatchAt: T0, dispatches: [dispatch] }),
    ];
    const world = { ...after(spent), assignments };
    expect(theOne(world, "resend").payload).toMatchObject({ rerun: true, body: "Do it." });
    expect(theOne(world, "resend").payload.dispatchId).not.toBe("D_1");
    const unseen = world.agents.map((seen) => ({
      ...seen,
      waiting: { queued: 1, handed: 0, unseen: ["D_1"], since: null },
    }));
    expect(theOne({ ...world, agents: unseen }, "resend").payload).toMatchObject({ rerun: false, dispatchId: "D_1" });
  });

  test("LADDER-1: the policy of an assignment is the first rung to try", () => {
    const policies = { resend_last: "resend", reassign: "reassign", escalate: "ask" } as const;
    for (const [recoveryPolicy, kind] of Object.entries(policies)) {
      const assignments = [assignmentWith({ recoveryPolicy: recoveryPolicy as "escalate", lastDispatchAt: T0 })];
      expect(asked(stuck({ assignments }))).toEqual([`${kind} no-activity`]);
    }
  });

  test("LIVE-2: overdue in the middle of a turn is one status request per due time", () => {
    const assignments = [assignmentWith({ expectedNextUpdateAt: NOW - 1, lastDispatchAt: T0 })];
    const world = working({ pulse: pulseWith({ inTurn: true }) }, { assignments });
    expect(types(world)).toEqual(["assignment.status_requested"]);
    expect(theOne(world, "deliver").payload.kind).toBe("status");
    const next = { ...applied(world, decide(world)), actions: [] };
    expect(asked(next)).toEqual([]);
    expect(
      asked({ ...next, assignments: [assignmentWith({ expectedNextUpdateAt: NOW, lastDispatchAt: T0 })] }),
    ).toHaveLength(1);
  });

  test.each([
    ["promised for a time to come, it waits", NOW - 1, []],
    ["promised before the clock was set back, it is asked for", NOW + 60 * MINUTE, ["assignment.status_requested"]],
  ])("EDGE-10 LIVE-2: an update: %s", (_what, lastDispatchAt, expected) => {
    const assignments = [
      assignmentWith({ expectedNextUpdateAt: lastDispatchAt + MINUTE, lastDispatchAt, status: "active" }),
    ];
    expect(types(working({ pulse: pulseWith({ inTurn: true }) }, { assignments }))).toEqual(expected);
  });

  test("LIVE-2: active again as soon as it is seen to do something", () => {
    const assignments = [assignmentWith({ status: "stalled", lastDispatchAt: T0 })];
    expect(types(working({ pulse: pulseWith({ inTurn: true }) }, { assignments }))).toEqual(["assignment.active"]);
  });

  test("LIVE-2: a stalled one that only was thawed, or has a new daemon, has done nothing and stays stalled", () => {
    const since = (updatedAt: number) => [assignmentWith({ status: "stalled", lastDispatchAt: T0, updatedAt })];
    const seen = { pulse: pulseWith({ inTurn: true, lastActAt: NOW - MINUTE }) };
    expect(types(working(seen, { assignments: since(NOW - 1) }))).toEqual([]);
    expect(types(working(seen, { assignments: since(NOW - 2 * MINUTE) }))).toEqual(["assignment.active"]);
    expect(types(working(seen, { assignments: since(NOW + 9 * MINUTE) }))).toEqual(["assignment.active"]);
  });

  test("a paused agent is let continue when its pause has ended, and never where a person paused it", () => {
    const paused = (because: string) =>
      working(
        { attempt: attemptWith({ status: "paused", pausedBecause: because }) },
        { recoveries: [recoveryWith({ backoffUntil: NOW })] },
      );
    expect(asked(paused("recovery"))).toEqual(["resume pause-over"]);
    expect(asked({ ...paused("recovery"), recoveries: [recoveryWith({ backoffUntil: NOW + 1 })] })).toEqual([]);
    expect(asked(paused("asked-for"))).toEqual([]);
    const year = 365 * 1_440 * MINUTE;
    const before = recoveryWith({ lastStepAt: NOW + year, backoffUntil: NOW + year + MINUTE });
    expect(asked({ ...paused("recovery"), recoveries: [before] })).toEqual(["resume pause-over"]);
  });
});

describe("goals that are held or ended", () => {
  test("GOAL-5: agents of a paused goal finish their turn and wait; they continue with it", () => {
    const goals = [goalOf({ status: "paused" })];
    const world = working({}, { goals });
    expect(theOne(world, "pause").payload).toMatchObject({ now: false, cause: "goal-paused" });
    const attempt = attemptWith({ status: "paused", pausedBecause: "goal-paused" });
    expect(asked(working({ attempt }, { goals }))).toEqual([]);
    expect(asked(working({ attempt }))).toEqual(["resume goal-resumed"]);
  });

  test("GOAL-5: agents of a cancelled goal, or of a node that ended, are stopped", () => {
    expect(asked(working({}, { goals: [goalOf({ status: "cancelled" })] }))).toEqual(["stop goal-cancelled"]);
    const done = working({}, { nodes: [nodeWith("cancelled"), nodeWith("queued", { workNodeId: "T2" })] });
    expect(asked(done)).toContain("stop node-cancelled");
  });

  test("one that was asked to stop and does not is ended from outside", () => {
    const stopping = (ms: number) =>
      working({ attempt: attemptWith({ stopRequested: { by: "human:ada", reason: null, at: NOW - ms } }) });
    expect(asked(stopping(MINUTE))).toEqual([]);
    expect(asked(stopping(2 * MINUTE))).toEqual(["stop stop-ignored"]);
  });
});

describe("QUOTA-1, FAIL-18", () => {
  const hit = (attempt: number, until: number | null = null) =>
    seenWith({
      attempt: attemptWith({ attempt, workNodeId: `T${attempt}`, assignmentId: `A_${attempt}` }),
      pulse: pulseWith({ quotaAt: NOW - 1_000, quotaUntil: until, lastActAt: NOW - 60 * MINUTE }),
    });
  const three = [hit(1), hit(2), hit(3)];

  test("a turn given up for a limit trips the account: nobody is nudged, nothing is started", () => {
    const world = ready({ nodes: [nodeWith("queued", { workNodeId: "T9" })], agents: three });
    const { events, actions, judged } = decide(world);
    expect(actions).toEqual([]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "quota.tripped", data: { account: ACCOUNT, until: NOW + 5 * MINUTE, trips: 1 } }),
    );
    expect([...judged.values()].map((one) => one.state)).toEqual(["waiting-quota", "waiting-quota", "waiting-quota"]);
  });

  test("the time the limit named counts, where it named one", () => {
    const { events } = decide(snapshotOf({ agents: [hit(1, NOW + 90 * MINUTE)] }));
    expect(events[0]).toMatchObject({ data: { until: NOW + 90 * MINUTE } });
  });

  test("then one tries, and when its turn works the others follow one after the other", () => {
    const tripped = applied(snapshotOf({ agents: three }), decide(snapshotOf({ agents: three })));
    const later = { ...tripped, now: NOW + 5 * MINUTE };
    const probe = decide(later);
    expect(probe.actions.map((action) => action.attempt)).toEqual([1]);
    const probing = { ...applied(later, probe, later.now), actions: [], now: later.now + MINUTE };
    const fine = { ...hit(1), pulse: pulseWith({ quotaAt: null }) };
    const restored = decide({ ...probing, agents: [fine, hit(2), hit(3)] });
    expect(restored.actions.map((action) => [action.attempt, action.notBefore - probing.now])).toEqual([
      [2, 2_000],
      [3, 4_000],
    ]);
  });

  test("EDGE-10: one tries at once when the clock was set back, instead of waiting for it to catch up", () => {
    const tripped = applied(snapshotOf({ agents: three }), decide(snapshotOf({ agents: three })));
    const back = { ...tripped, now: NOW - 60 * MINUTE };
    expect(decide(back).actions.map((action) => action.attempt)).toEqual([1]);
  });

  test("EDGE-10: a limit that is hit after the clock was set back is noticed, though an earlier one was restored later", () => {
    const restored: Condition = {
      ...{ conditionId: quotaId(hit(1).account), kind: "quota", account: hit(1).account, active: false },
      ...{ phase: "restored", until: NOW, trips: 0, probe: null, since: NOW, updatedAt: NOW + 60 * MINUTE },
    };
    expect(types(snapshotOf({ agents: [hit(1)], conditions: [restored] }))).toContain("quota.tripped");
  });

  test("EDGE-10: so is one that was hit while the clock was set back, and is seen only when it was set forward again", () => {
    const { attempt, account } = hit(1);
    const restored: Condition = {
      ...{ conditionId: quotaId(account), kind: "quota", account, active: false },
      ...{ phase: "restored", until: NOW, trips: 0, probe: null, since: NOW, updatedAt: NOW + 60 * MINUTE },
    };
    const seenAt = (createdAt: number) => ({ ...hit(1), attempt: { ...attempt, createdAt } });
    const later = (createdAt: number) =>
      types(snapshotOf({ now: NOW + 600 * MINUTE, agents: [seenAt(createdAt)], conditions: [restored] }));
    expect(later(NOW + 61 * MINUTE)).toContain("quota.tripped");
    expect(later(NOW - MINUTE)).not.toContain("quota.tripped");
  });

  test("a probe that fails waits twice as long", () => {
    const tripped = applied(snapshotOf({ agents: three }), decide(snapshotOf({ agents: three })));
    const later = { ...tripped, now: NOW + 5 * MINUTE };
    const probing = { ...applied(later, decide(later), later.now), actions: [], now: later.now + MINUTE };
    const again = { ...hit(1), pulse: pulseWith({ quotaAt: later.now + 1 }) };
    const { events } = decide({ ...probing, agents: [again, hit(2), hit(3)] });
    expect(events[0]).toMatchObject({ type: "quota.tripped", data: { trips: 2, until: probing.now + 10 * MINUTE } });
  });
});

describe("MASS-1", () => {
  const dead = (attempt: number, endedAt: number, parts = {}) =>
    endedWith(
      { cause: "died" },
      { attempt, workNodeId: `T${attempt}`, assignmentId: `A_${attempt}`, endedAt, ...parts },
    );
  const nodes = [1, 2, 3, 4].map((number) => nodeWith("queued", { workNodeId: `T${number}`, position: number }));
  const world = (ended: Snapshot["ended"]) => snapshotOf({ nodes, ended });

  test("three deaths within half a minute are one event, and nothing is started", () => {
    const together = world([dead(1, NOW - 29_000), dead(2, NOW - 10_000), dead(3, NOW)]);
    expect(types(together)).toEqual(["fleet.mass_death", "dispatch.deferred"]);
    expect(asked(together)).toEqual([]);
  });

  test("two deaths, a longer time, or ends that somebody asked for are not", () => {
    const stopped = { stopRequested: { by: "human:ada", reason: null, at: NOW } };
    expect(types(world([dead(1, NOW), dead(2, NOW)]))).not.toContain("fleet.mass_death");
    expect(types(world([dead(1, NOW - 31_000), dead(2, NOW - 10_000), dead(3, NOW)]))).not.toContain(
      "fleet.mass_death",
    );
    expect(types(world([dead(1, NOW), dead(2, NOW), dead(3, NOW, stopped)]))).not.toContain("fleet.mass_death");
  });

  test("a loss that has ended does not count again when the next one comes", () => {
    const first = world([dead(1, NOW), dead(2, NOW), dead(3, NOW)]);
    const data = { stages: 1 };
    const restored = { type: "fleet.restored", actor: "overseer", because: "all-live-again", data } as const;
    const calm = applied(applied(first, decide(first)), { events: [restored] });
    const next = { ...calm, ended: [...calm.ended, dead(4, NOW + 1), dead(5, NOW + 1), dead(6, NOW + 1)] };
    const decided = decide(next);
    expect(decided.events[0]).toMatchObject({ type: "fleet.mass_death", data: { attempts: [4, 5, 6] } });
    expect(types({ ...applied(next, decided), ended: next.ended })).not.toContain("fleet.mass_death");
  });

  test("when the first that is tried dies too, another is tried later; when it is alone, its death is its own", () => {
    const lost = world([dead(1, NOW), dead(2, NOW), dead(3, NOW)]);
    const mourning = { ...applied(lost, decide(lost)), ended: lost.ended, now: NOW + 31_000 };
    const probing = applied(mourning, decide(mourning));
    const dies = (snapshot: Snapshot, parts = {}) => ({
      ...snapshot,
      ...{ now: NOW + 40_000, actions: [] },
      ended: [dead(11, NOW + 35_000, { workNodeId: "T1" }), ...snapshot.ended.slice(1)],
      ...parts,
    });
    expect(decide(dies(probing)).events[0]).toMatchObject({ because: "died-again-while-restoring" });
    const alone = nodes.map((node) => (node.workNodeId === "T1" ? node : { ...node, status: "blocked" as const }));
    const decided = decide(dies(probing, { nodes: alone }));
    expect(decided.events.map((event) => event.type)).not.toContain("fleet.mass_death");
    expect(decided.actions.map((action) => [action.kind, action.because])).toEqual([["restart", "died"]]);
  });

  test("however many died, the first is tried after one pause", () => {
    const many = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => dead(number, NOW));
    const lost = { ...world(many), nodes: nodes.slice(0, 4) };
    const later = { ...applied(lost, decide(lost)), ended: many, now: NOW + 31_000 };
    expect(types(later)).toContain("fleet.restoring");
  });

  test("after a pause one is tried; the others follow in growing stages, and it costs nobody a restart", () => {
    let now = NOW;
    let scene = world([dead(1, NOW), dead(2, NOW), dead(3, NOW), dead(4, NOW)]);
    const stages: number[][] = [];
    for (let round = 0; round < 20 && scene.agents.length < 4; round += 1) {
      const decided = decide(scene);
      const starts = decided.actions
        .filter((action) => action.kind === "restart")
        .map((action) => Number(action.nodeId?.slice(1)));
      if (starts.length > 0) stages.push(starts);
      const begun = starts.map((number) =>
        seenWith({
          attempt: attemptWith({
            attempt: number + 10,
            workNodeId: `T${number}`,
            assignmentId: `B_${number}`,
            startedAt: now,
            createdAt: now,
            updatedAt: now,
          }),
        }),
      );
      const next = applied(scene, decided, now);
      now += 31_000;
      scene = {
        ...next,
        now,
        actions: [],
        agents: [...scene.agents, ...begun],
        nodes: next.nodes.map((node) =>
          starts.includes(Number(node.workNodeId.slice(1))) ? { ...node, status: "in_progress" } : node,
        ),
      };
    }
    expect(stages).toEqual([[1], [2, 3], [4]]);
    expect(scene.recoveries.map((recovery) => recovery.restarts)).toEqual([0, 0, 0, 0]);
    expect(types(scene)).toContain("fleet.restored");
  });
});

describe("BUDGET-1", () => {
  const spent = (tokens: number) => {
    const usage = { ...snapshotOf().usage.day, outputTokens: tokens };
    return { agents: { "1": usage }, goals: {}, day: usage, today: "2026-01-06" };
  };
  const budgets = { ...LIMITS.budgets, agent: { tokens: 100, cost: null, timeMs: null } };
  const limits = { ...LIMITS, budgets };

  test("a warning at the share, once", () => {
    const world = working({}, { limits, usage: spent(80) });
    expect(types(world)).toEqual(["budget.warned"]);
    expect(types(applied(world, decide(world)))).toEqual([]);
  });

  test("at the limit one turn to hand over, then a pause and a question; a raised limit lets it continue", () => {
    const world = working({ pulse: pulseWith({ turns: 3 }) }, { limits, usage: spent(100) });
    expect(asked(world)).toEqual(["deliver budget-spent"]);
    const told = { ...applied(world, decide(world)), actions: [] };
    expect(asked(told)).toEqual([]);
    const over = { ...told, agents: [seenWith({ pulse: pulseWith({ turns: 4 }) })] };
    expect(asked(over)).toEqual(["pause budget-spent", "ask budget-spent"]);
    const paused = {
      ...applied(over, decide(over)),
      actions: [],
      agents: [seenWith({ attempt: attemptWith({ status: "paused", pausedBecause: "budget" }) })],
    };
    expect(asked(paused)).toEqual([]);
    const raised = { ...paused, limits: LIMITS };
    expect(types(raised)).toEqual(["budget.cleared"]);
    expect(asked(raised)).toEqual(["resume budget-cleared"]);
  });

  test("nothing of a goal whose budget is spent is dispatched", () => {
    const usage = { ...spent(0), goals: { goal_A: spent(100).day } };
    const goal = { tokens: 100, cost: null, timeMs: null };
    const world = ready({ usage, limits: { ...LIMITS, budgets: { ...LIMITS.budgets, goal } } });
    expect(decide(world).actions.filter((action) => action.kind === "spawn")).toEqual([]);
  });
});

describe("TELL-1", () => {
  const news = (event: Partial<EventOf>, seq: number) =>
    ({ actor: "overseer", goalId: "goal_A", because: "x", data: {}, at: NOW, v: 1, seq, ...event }) as EventOf;
  const parent = { agent: "lead-1", attempt: 9 };
  const done = news({ type: "work.done", nodeId: "T1", data: { summary: "works" } } as Partial<EventOf>, 7);

  test("whoever had it started hears of it exactly once", () => {
    const world = working({ attempt: attemptWith({ parent }) }, { news: [done], newsUpTo: 8 });
    const first = decide(world);
    expect(first.actions.find((action) => action.kind === "notify")).toMatchObject({
      actionId: "notify:7",
      payload: { to: "agent:lead-1", outcome: "done" },
    });
    const again = decide({ ...applied(world, first), actions: [], news: [done] });
    expect(again.actions.filter((action) => action.kind === "notify")).toEqual([]);
  });

  test("a goal's end goes to the session it came from, or to a person", () => {
    const reached = news({ type: "goal.completed", data: { reason: null } }, 3);
    const to = (origin: { kind: string; session?: string }) =>
      theOne(snapshotOf({ goals: [goalOf({ status: "completed", origin })], news: [reached] }), "notify").payload.to;
    expect(to({ kind: "agent", session: "s-1" })).toBe("origin:s-1");
    expect(to({ kind: "cli" })).toBe("human");
  });

  test("GOAL-5: the session that wanted a cancelled goal hears of it once, and of its nodes not one by one", () => {
    const goals = [goalOf({ status: "cancelled", origin: { kind: "agent", session: "lead-1" } })];
    const cancelled = news({ type: "goal.cancelled", data: { reason: null } }, 3);
    const node = news({ type: "work.cancelled", nodeId: "T1", because: "goal-cancelled", data: { reason: null } }, 2);
    const world = working({ attempt: attemptWith({ parent }) }, { goals, news: [node, cancelled] });
    const lead = seenWith({ attempt: attemptWith({ attempt: 9, agent: "lead-1", goalId: "goal_B" }) });
    const told = (agents: Snapshot["agents"]) =>
      decide({ ...world, agents }).actions.filter((action) => action.kind === "notify");
    for (const agents of [[...world.agents, lead], world.agents]) {
      expect(told(agents)).toMatchObject([{ actionId: "notify:3", payload: { to: "origin:lead-1" } }]);
    }
  });

  test("while the fleet is frozen nothing is told, and nothing is lost", () => {
    const frozen = working({ attempt: attemptWith({ parent }) }, { news: [done], newsUpTo: 8, frozen: true });
    const thawed = { ...applied(frozen, decide(frozen)), news: [done], frozen: false };
    expect(decide(thawed).actions.map((action) => action.kind)).toContain("notify");
  });
});

describe("DONE-1", () => {
  const claim = { assignmentId: "A_1", goalId: "goal_A", workNodeId: "T1", commit: "abc", mayLand: true, claimedAt: 5 };

  test("a report of done is checked, what is checked lands, and nobody nudges meanwhile", () => {
    const claimed = working(
      { pulse: pulseWith({ lastActAt: NOW - 60 * MINUTE }) },
      { claims: [{ ...claim, state: "claimed" }] },
    );
    expect(asked(claimed)).toEqual(["check reported-done"]);
    expect(asked({ ...claimed, claims: [{ ...claim, state: "checked" }] })).toEqual(["land checked"]);
    expect(asked({ ...claimed, claims: [{ ...claim, state: "checked", mayLand: false }] })).toEqual([]);
  });

  describe("HOLD-1: what was tried and has led nowhere", () => {
    const claimed = working({}, { claims: [{ ...claim, state: "claimed" }] });
    const tried = { ...claimed, lately: decide(claimed).actions.map(({ actionId }) => actionId) };

    test("is tried again when the same commit is reported once more", () => {
      expect(asked({ ...tried, claims: [{ ...claim, state: "claimed", claimedAt: 6 }] })).toEqual([
        "check reported-done",
      ]);
    });

    test.each([
      ["claimed", "check"],
      ["checked", "land"],
    ] as const)("and left the claim %s blocks the node, and a person is asked", (state, kind) => {
      const before = working({}, { claims: [{ ...claim, state }] });
      const over = { ...before, lately: decide(before).actions.map(({ actionId }) => actionId) };
      const decided = decide(over);
      expect(decided.actions).toEqual([]);
      expect(decided.events).toContainEqual(
        expect.objectContaining({ type: "work.blocked", because: `${kind}-led-nowhere`, nodeId: "T1" }),
      );
      expect(asked({ ...applied(over, decided), claims: [] })).toContain("ask blocked");
    });

    test("REV-1, AUTO-5: what waited for a review under another daemon is landed when none is needed any more", () => {
      const free = working({}, { claims: [{ ...claim, state: "checked" as const }] });
      const [first] = decide(free).actions;
      const again = {
        ...free,
        lately: [first?.actionId ?? ""],
        claims: [{ ...claim, state: "checked" as const, reviewedSince: 7 }],
      };
      expect(decide(again).actions.map(({ kind }) => kind)).toContain("land");
      expect(decide(again).events.some(({ type }) => type === "work.blocked")).toBe(false);
    });

    test("and was given up says why", () => {
      const [given] = decide(claimed).actions;
      const problem = "Unable to create 'HEAD.lock': File exists.";
      const decided = decide({ ...tried, givenUp: [{ actionId: given?.actionId ?? "", problem }] });
      const detail = expect.stringContaining(`no verdict: ${problem.slice(0, -1)}`);
      expect(decided.events).toContainEqual(
        expect.objectContaining({
          type: "work.blocked",
          data: { blocked: expect.objectContaining({ detail }) },
        }),
      );
    });
  });

  test("REV-1: that a review is due is said, once", () => {
    const due = working({}, { claims: [{ ...claim, state: "landing", mayLand: false, reviewDue: true }] });
    expect(decide(due).events).toContainEqual(
      expect.objectContaining({ type: "landing.waiting", because: "review-due", nodeId: "T1" }),
    );
    expect(asked({ ...due, claims: [{ ...claim, state: "landing", mayLand: false }] })).toEqual([]);
  });

  test("a node whose report is being looked into is not dispatched again", () => {
    expect(asked(ready({ claims: [{ ...claim, state: "landing" }] }))).toEqual([]);
  });
});
