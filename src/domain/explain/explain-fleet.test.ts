/** HOLD-1: every reason for which something does not move has a sentence, alone and beside others. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Action } from "#domain/model/action.ts";
import type { Condition } from "#domain/model/condition.ts";
import { newRecovery } from "#domain/model/ladder-state.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { LIMITS, MINUTE, NOW } from "../../../test/support/snapshots.ts";
import { assignmentWith, nodeWith } from "../../../test/support/tree.ts";
import { explainFleet } from "./explain-fleet.ts";
import type { FleetFacts, StandstillKind } from "./standstill.ts";
import { STANDSTILL_KINDS } from "./standstill.ts";

const QUIET: FleetFacts = {
  now: NOW,
  daemon: { state: "running", sinceAt: NOW - MINUTE, nextTickAt: NOW + MINUTE },
  ...{ isCopy: false, frozen: null, safeMode: null, configProblem: null, hold: null, off: [] },
  goals: [{ goalId: "goal_A", title: "Dates", status: "active", nodes: 2, queued: 0, inProgress: 1 }],
  ...{
    nodes: [],
    agents: [],
    questions: [],
    stalled: [],
    recoveries: [],
    patienceMs: new Map(),
    ladder: LIMITS.ladder,
  },
  ...{ conditions: [], actions: [], notStarted: [], merges: [], channels: [] },
};
const node = (id: string, change: Partial<WorkNode>) => ({
  ...nodeWith("queued"),
  goalId: "goal_A",
  workNodeId: id,
  ...change,
});
const claimOf = (waiting: object | null) =>
  ({ agent: "ada", attempt: 1, commit: "c0ffee", waiting, approvedBy: null }) as unknown as WorkNode["claim"];
const waits = (why: string) =>
  claimOf({ for: why, detail: "it is not clean.", files: ["a.txt"], looks: 1, since: NOW, lastAt: NOW });
const agent = {
  ...{ agent: "ada", attempt: 1, goalId: "goal_A", workNodeId: "T1", seen: "working", waitingOn: null, lastAt: NOW },
};
const holds = (condition: object) =>
  [{ active: true, since: NOW - MINUTE, updatedAt: NOW, conditionId: "x", ...condition }] as unknown as Condition[];
const question = {
  questionId: "q_1",
  goalId: "goal_A",
  workNodeId: "T1",
  text: "Which?",
  askedAt: NOW,
  unreached: null,
};
const stalled = {
  ...assignmentWith({ status: "stalled" }),
  ...{ assignmentId: "A_1", goalId: "goal_A", workNodeId: "T1", statusReason: "no-activity", updatedAt: NOW - MINUTE },
};

const failing = {
  ...{
    kind: "provider",
    account: "a/default",
    cause: "auth",
    detail: "401",
    phase: "failing",
    until: NOW,
    probe: null,
  },
};

const CASES: [kind: StandstillKind, facts: Partial<FleetFacts>, says: RegExp, turn: "person" | "itself"][] = [
  [
    "safe-mode",
    { safeMode: { since: "then", problem: "It is damaged." } },
    /SAFE MODE since then.*overseer thaw/,
    "person",
  ],
  [
    "frozen",
    { frozen: { since: NOW, by: "human:ada", reason: "lunch" } },
    /FROZEN since .*ada: lunch \(overseer thaw/,
    "person",
  ],
  ["configuration", { configProblem: "no such key" }, /cannot be used: no such key/, "person"],
  [
    "settings",
    { hold: { message: "It is missing.", hint: "overseer config accept" } },
    /WAITING: .*config accept/,
    "person",
  ],
  ["switched-off", { off: ["supervision"] }, /without supervision/, "person"],
  ["switched-off", { off: ["reconcile"] }, /reconcile\.enabled is false/, "person"],
  [
    "no-daemon",
    { daemon: { state: "stopped", sinceAt: null, nextTickAt: null } },
    /not running.*overseer up/,
    "person",
  ],
  ["no-daemon", { daemon: { state: "died", sinceAt: NOW, nextTickAt: null } }, /died.*overseer up/, "person"],
  ["no-daemon", { daemon: { state: "not-ticking", sinceAt: NOW, nextTickAt: null } }, /does not tick/, "person"],
  [
    "quota",
    { conditions: holds({ kind: "quota", account: "claude-code/default", phase: "tripped", until: NOW, probe: null }) },
    /claude-code\/default is used up until \d{4}-.*one agent tries/,
    "itself",
  ],
  [
    "quota",
    { conditions: holds({ kind: "quota", account: "x/default", phase: "probing", until: NOW, probe: 7 }) },
    /#7 tries/,
    "itself",
  ],
  [
    "provider",
    { conditions: holds({ ...failing, questionId: "q_1" }) },
    /PROVIDER: the provider of a\/default fails: its login does not work \("401"\); at \S+ one agent tries/,
    "person",
  ],
  [
    "provider",
    { conditions: holds({ ...failing, cause: "network", phase: "probing", probe: 3, questionId: null }) },
    /cannot be reached.*#3 tries/,
    "itself",
  ],
  [
    "mass-death",
    { conditions: holds({ kind: "mass-death", attempts: [1, 2, 3], waiting: ["a", "b"], released: ["c"], stage: 1 }) },
    /3 agents died at once; 1 is tried again \(stage 1\), and 2 wait for it/,
    "itself",
  ],
  [
    "budget",
    { conditions: holds({ kind: "budget", scope: "goal:goal_A", phase: "paused", turns: {} }) },
    /budget of goal:goal_A is spent, and its agents are paused \(raise budgets/,
    "person",
  ],
  [
    "dispatch",
    {
      conditions: holds({ kind: "dispatch", reason: "the disk is nearly full", cap: "disk" }),
      goals: [{ ...QUIET.goals[0], queued: 3 }] as never,
    },
    /HELD BACK: 3 ready tasks wait since .*the disk is nearly full \(free some, or lower capacity\.minDisk\)/,
    "person",
  ],
  [
    "dispatch",
    { conditions: holds({ kind: "dispatch", reason: "5 agents is the limit", cap: "agents", until: NOW + 1 }) },
    /HELD BACK: Ready work waits since .*5 agents is the limit \(it continues when one ends or waits/,
    "itself",
  ],
  [
    "blocked",
    {
      nodes: [
        node("T1", {
          status: "blocked",
          blockedReason: {
            kind: "other",
            detail: "human:ada stopped ada#1",
            needs: "'overseer restart ada'",
            stopped: 1,
          },
        }),
      ],
    },
    /YOURS: goal_A\/T1 since .*human:ada stopped ada#1\. 'overseer restart ada'/,
    "person",
  ],
  [
    "not-started",
    { notStarted: [{ problem: "No key.", nodes: ["goal_A/T1"] }] },
    /NOT STARTED \(1, .*No key/,
    "itself",
  ],
  ["question", { questions: [question] }, /ASKED since .* about goal_A\/T1.*Which\? \(overseer answer q_1 /, "person"],
  [
    "question",
    { questions: [{ ...question, unreached: "no channel is configured" }] },
    /NOBODY WAS REACHED \(no channel/,
    "person",
  ],
  [
    "review",
    { nodes: [node("T1", { status: "in_progress", claim: waits("review") })] },
    /YOUR REVIEW: goal_A\/T1 is done.*overseer review goal_A\/T1; then overseer accept goal_A\/T1 or reject/,
    "person",
  ],
  [
    "landing",
    {
      nodes: [node("T1", { status: "in_progress", claim: waits("checkout") })],
      merges: [{ goalId: "goal_A", workNodeId: "T1", status: "waiting", notBefore: NOW + 1 } as Merge],
    },
    /NOT LANDED: goal_A\/T1 waits since .*it is not clean \(a\.txt\); looked at again at /,
    "person",
  ],
  [
    "landing",
    { nodes: [node("T1", { status: "in_progress", claim: waits("remote") })] },
    /NOT LANDED.*txt\)$/,
    "itself",
  ],
  [
    "landing",
    { merges: [{ status: "parked", branch: "mine", goalId: null, workNodeId: null, detail: "a conflict" } as Merge] },
    /mine cannot land without you: a conflict \(overseer merge\)/,
    "person",
  ],
  [
    "blocked",
    {
      nodes: [
        node("T1", { status: "blocked", blockedReason: { kind: "credential", detail: "no key", needs: "a key" } }),
      ],
    },
    /BLOCKED: goal_A\/T1 since .*no key\. What would help: a key\. \(overseer work unblock goal_A\/T1\)/,
    "person",
  ],
  [
    "never-ready",
    {
      nodes: [
        node("T1", { status: "cancelled" }),
        node("T2", { status: "todo", dependsOn: ["T1"] }),
        node("T3", { status: "todo", dependsOn: ["T2"] }),
        node("T4", { status: "todo", dependsOn: ["T9"] }),
      ],
    },
    /NEVER READY: goal_A\/T2, goal_A\/T3 depend on goal_A\/T1, which was cancelled \(overseer work cancel goal_A\/T2/,
    "person",
  ],
  ["no-plan", { goals: [{ ...QUIET.goals[0], nodes: 0 }] as never }, /NO PLAN: goal_A .*overseer goal plan/, "person"],
  [
    "no-plan",
    { goals: [{ ...QUIET.goals[0], nodes: 1, inProgress: 0, progress: { total: 0 } }] as never },
    /NOTHING LEFT: every task of goal_A .*overseer goal cancel goal_A, or overseer goal plan/,
    "person",
  ],
  [
    "goal-paused",
    { goals: [{ ...QUIET.goals[0], status: "paused" }] as never },
    /PAUSED: goal_A .*goal resume/,
    "person",
  ],
  [
    "stalled",
    { stalled: [stalled], agents: [agent] },
    /STALLED: .* on goal_A\/T1 since .*\(no activity\); at \d{4}-.*it gets a hint/,
    "itself",
  ],
  [
    "stalled",
    {
      stalled: [stalled],
      recoveries: [
        {
          ...newRecovery("goal_A", "T1"),
          ...{ assignmentId: "A_1", lastStepAt: NOW, backoffUntil: NOW + 30 * MINUTE, level: 8 },
          steps: { hint: 1, warning: 2, critical: 2, resend: 2, replan: 0, reassign: 0, pause: 0, ask: 0 },
        },
      ],
    },
    new RegExp(`; at ${new Date(NOW + 30 * MINUTE).toISOString()} its work is given to a fresh agent`),
    "itself",
  ],
  [
    "agent-waits",
    { agents: [{ ...agent, seen: "waiting", waitingOn: "bob" }] },
    /WAITS: ada#1 .* for bob since/,
    "itself",
  ],
  [
    "agent-paused",
    { agents: [{ ...agent, seen: "paused", pausedBecause: "asked-for" }] },
    /overseer resume ada/,
    "person",
  ],
  [
    "agent-paused",
    { agents: [{ ...agent, seen: "paused", pausedBecause: "recovery" }] },
    /nothing has helped/,
    "itself",
  ],
  [
    "channel",
    { channels: [{ channel: "webhook", sinceAt: NOW, problem: "refused" }] },
    /NOT TOLD: .*webhook.*refused/,
    "person",
  ],
];

describe("HOLD-1: each standstill by itself", () => {
  test.each(CASES)("%s: %#", (kind, facts, says, turn) => {
    const { standstills } = explainFleet({ ...QUIET, ...facts });
    expect(standstills).toEqual([expect.objectContaining({ kind, turn, text: expect.stringMatching(says) })]);
  });

  test("the table has every kind", () => {
    const told = new Set(CASES.map(([kind]) => kind));
    expect(STANDSTILL_KINDS.filter((kind) => !told.has(kind))).toEqual([]);
  });
});

test("HOLD-1: any number at once are all told, and nothing is told twice", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(CASES.length - 1), { minLength: 2, maxLength: 6 }), (picks) => {
      const chosen = picks.map((at) => CASES[at]).filter((one) => one !== undefined);
      // Two that say something of the same field are one fleet or the other.
      const fields = chosen.flatMap(([, facts]) => Object.keys(facts));
      fc.pre(new Set(fields).size === fields.length);
      const facts: FleetFacts = Object.assign({ ...QUIET }, ...chosen.map(([, one]) => one));
      const { standstills } = explainFleet(facts);
      const texts = standstills.map(({ text }) => text);
      expect(new Set(texts).size).toBe(texts.length);
      const hasWork =
        facts.agents.length > 0 || facts.goals.some(({ status, nodes }) => status === "active" && nodes > 0);
      for (const [kind] of chosen) {
        if (kind === "no-daemon" && !hasWork) continue;
        // What is blocked or parked and asked about is told by the question; who dispatches is told by the daemon.
        if (kind === "dispatch" && facts.daemon.state !== "running") continue;
        // What cannot start has the places, and tells why by itself.
        if (kind === "dispatch" && facts.notStarted.length > 0 && facts.agents.length === 0) continue;
        const asked =
          facts.questions.length > 0 && (kind === "blocked" || kind === "landing" || kind === "never-ready");
        expect(standstills.map((one) => one.kind)).toContain(asked ? "question" : kind);
      }
    }),
    { numRuns: 200 },
  );
});

const NEXT: [why: string, facts: Partial<FleetFacts>, says: string, at: number | null][] = [
  ["somebody works", { agents: [agent] }, "ada#1 at work; all are looked at again", NOW + MINUTE],
  [
    "work is ready",
    { goals: [{ ...QUIET.goals[0], queued: 2 }] as never },
    "2 ready tasks are dispatched",
    NOW + MINUTE,
  ],
  [
    "something is due",
    { actions: [{ kind: "spawn", status: "pending", dueAt: NOW + 5, goalId: "goal_A", workNodeId: "T1" } as Action] },
    "an agent is started for goal_A/T1",
    NOW + 5,
  ],
  [
    "nobody runs it and no goal has a plan's work",
    { goals: [], daemon: { state: "stopped", sinceAt: null, nextTickAt: null } },
    "nothing; no goal is open",
    null,
  ],
  ["nothing is open", { goals: [] }, "nothing; no goal is open", null],
];
test.each(NEXT)("HOLD-1: with nothing to explain it says what happens next: %s", (_why, facts, text, nextAt) => {
  expect(explainFleet({ ...QUIET, ...facts })).toEqual({ standstills: [], next: { text, nextAt } });
});

test("HOLD-1: a cap that has a sentence of its own is not told twice, and one of an older version still is", () => {
  const quota = { kind: "quota", account: "a", phase: "tripped", until: NOW, probe: null, conditionId: "quota:a" };
  const both = (cap: object) => [
    ...holds(quota),
    ...holds({ kind: "dispatch", reason: "the quota of a is used up", ...cap }),
  ];
  const kinds = (cap: object) => explainFleet({ ...QUIET, conditions: both(cap) }).standstills.map(({ kind }) => kind);
  expect(kinds({ cap: "quota" })).toEqual(["quota"]);
  expect(kinds({})).toEqual(["quota", "dispatch"]);
});

test("HOLD-1: work that is held back is not promised, and what cannot start is not told as too many at work", () => {
  const full = {
    conditions: holds({ kind: "dispatch", reason: "5 agents is the limit", cap: "agents", until: NOW + 5 }),
    goals: [{ ...QUIET.goals[0], queued: 3 }] as never,
  };
  const { next } = explainFleet({ ...QUIET, ...full });
  expect(next).toEqual({ text: "it is looked at whether ready work can be dispatched", nextAt: NOW + 5 });
  const broken = { ...full, notStarted: [{ problem: "No claude.", nodes: ["goal_A/T1"] }] };
  const [only, ...more] = explainFleet({ ...QUIET, ...broken }).standstills;
  expect(more).toEqual([]);
  expect(only?.text).toMatch(/^NOT STARTED \(1, tried again by itself\): No claude\. .*overseer doctor\)$/);
  const frozen = explainFleet({ ...QUIET, ...broken, frozen: { since: NOW, by: "human:ada", reason: null } });
  expect(frozen.standstills.map(({ text }) => text).join()).not.toContain("by itself");
  const clean = {
    kind: "clean",
    status: "pending",
    dueAt: NOW,
    goalId: "goal_A",
    workNodeId: "T1",
  } as unknown as Action;
  expect(explainFleet({ ...QUIET, actions: [clean] }).next?.text).toBe(
    "what its agent left is tidied away for goal_A/T1",
  );
});

test("HOLD-1: while everything is held, nothing is promised; near a budget nothing stands still yet", () => {
  expect(explainFleet({ ...QUIET, frozen: { since: NOW, by: "human:ada", reason: null } }).next).toBeNull();
  const warned = holds({ kind: "budget", scope: "day:x", phase: "warned", turns: {} });
  expect(explainFleet({ ...QUIET, conditions: warned }).standstills).toEqual([]);
});
