/** HOLD-1: every reason for which something does not move has a sentence, alone and beside others. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { nudgeHash } from "#domain/briefing/nudge-text.ts";
import type { Action } from "#domain/model/action.ts";
import { HELD_BACK } from "#domain/model/action.ts";
import type { Condition } from "#domain/model/condition.ts";
import { newRecovery } from "#domain/model/ladder-state.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { LIMITS, MINUTE, NOW } from "../../../test/support/snapshots.ts";
import { assignmentWith, nodeWith } from "../../../test/support/tree.ts";
import { explainFleet } from "./explain-fleet.ts";
import type { FleetFacts, GoalFact, PlanningFact, StandstillKind } from "./standstill.ts";
import { STANDSTILL_KINDS, tellAnswer } from "./standstill.ts";

const QUIET: FleetFacts = {
  now: NOW,
  daemon: { state: "running", sinceAt: NOW - MINUTE, nextTickAt: NOW + MINUTE },
  ...{
    isCopy: false,
    isDiskFull: false,
    asksPool: false,
    frozen: null,
    safeMode: null,
    configProblem: null,
    hold: null,
    off: [],
  },
  goals: [{ goalId: "goal_A", title: "Dates", status: "active", nodes: 2, queued: 0, inProgress: 1 }],
  ...{
    nodes: [],
    agents: [],
    questions: [],
    stalled: [],
    recoveries: [],
    patienceMs: new Map(),
    spared: new Set(),
    quietSince: new Map(),
    splits: new Map(),
    waitForAccount: new Set(),
    ladder: LIMITS.ladder,
    fixRounds: 3,
  },
  ...{ conditions: [], actions: [], notStarted: [], merges: [], channels: [], plannings: [] },
};
const planning = (change: Partial<PlanningFact>): Partial<FleetFacts> => ({
  goals: [{ ...(QUIET.goals[0] as GoalFact), nodes: 0 }],
  plannings: [
    {
      ...{ goalId: "goal_A", title: "Dates", status: "wanted", since: NOW, detail: null, until: null, nodeCount: null },
      ...change,
    },
  ],
});
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
  options: [] as string[],
  askedAt: NOW,
  unreached: null,
};
const stalled = {
  ...assignmentWith({ status: "stalled" }),
  ...{ assignmentId: "A_1", goalId: "goal_A", workNodeId: "T1", statusReason: "no-activity", updatedAt: NOW - MINUTE },
};

const failed = (kind: Action["kind"], change: Partial<Action> = {}) =>
  ({
    ...{ kind, status: "failed", goalId: "goal_A", workNodeId: "T1", problem: "no room", tries: 2 },
    ...{ decidedAt: NOW - MINUTE, dueAt: NOW + MINUTE, agent: null },
    ...change,
  }) as Action;

const failing = {
  ...{
    kind: "provider",
    account: "a/default",
    cause: "auth",
    detail: "401",
    phase: "failing",
    until: NOW + MINUTE,
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
    /FROZEN since \S+ by ada: lunch \(overseer thaw/,
    "person",
  ],
  [
    "configuration",
    { configProblem: "config.yaml:3:1: no such key" },
    /cannot be used: config\.yaml:3:1: no such key\. The daemon stays under the last good settings; correct the file and it takes effect by itself \(overseer config show/,
    "person",
  ],
  [
    "settings",
    { hold: { message: "It is missing.", hint: "'overseer config accept' takes it." } },
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
  [
    "disk-full",
    { isDiskFull: true, daemon: { state: "not-beating", sinceAt: NOW, nextTickAt: null } },
    /DISK FULL: .*the daemon lives and can write nothing .*free some, and it goes on by itself/,
    "person",
  ],
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
    { conditions: holds({ ...failing, until: NOW - 5 * MINUTE, questionId: null }) },
    /its login does not work \("401"\); its agents try now, and whoever is answered first ends it/,
    "itself",
  ],
  [
    "provider",
    { conditions: holds({ ...failing, questionId: "q_1" }) },
    /PROVIDER: the provider of a\/default fails: its login does not work \("401"\); at \S+ one agent tries.*\(overseer answer q_1 /,
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
    "mass-death",
    {
      conditions: holds({
        ...{ kind: "mass-death", attempts: [1, 2, 3], waiting: ["a", "b", "c"], released: [], stage: 0, probeAt: NOW },
      }),
    },
    /3 agents died at once; one is tried again at \d{4}-\S+, and 2 wait for it/,
    "itself",
  ],
  [
    "auto-failed",
    {
      conditions: holds({
        kind: "auto",
        failure: {
          code: "POOL_FAILED",
          problem: "It ended with 1.",
          hint: "Fix it, then 'overseer up --auto'.",
          at: NOW,
        },
      }),
    },
    /AUTO MODE ENDED by itself since .*It ended with 1\. Fix it, then 'overseer up --auto'/,
    "person",
  ],
  [
    "auto-paused",
    { conditions: holds({ kind: "auto", failure: null, paused: { at: NOW, by: "human:ada", reason: "a release" } }) },
    /AUTO MODE PAUSED since .*\(a release\): no more tasks are taken \(overseer auto resume\)/,
    "person",
  ],
  [
    "budget",
    { conditions: holds({ kind: "budget", scope: "goal:goal_A", phase: "paused", turns: {} }) },
    /budget of goal_A is spent, and its agents are paused; the limit is budgets\.goal.* \(overseer goal budget goal_A --/,
    "person",
  ],
  [
    "dispatch",
    {
      conditions: holds({ kind: "dispatch", reason: "the disk is nearly full", cap: "disk" }),
      goals: [{ ...QUIET.goals[0], queued: 3 }] as never,
    },
    /HELD BACK: 3 ready tasks wait since .*the disk is nearly full \(free some, or lower capacity\.minDisk; overseer doctor\)/,
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
            detail: "ada stopped ada#1",
            needs: "'overseer restart ada'",
            stopped: 1,
          },
        }),
      ],
    },
    /YOURS: goal_A\/T1 since .*: ada stopped ada#1\. 'overseer restart ada'/,
    "person",
  ],
  [
    "not-started",
    { notStarted: [{ problem: "No key.", nodes: ["goal_A/T1"] }] },
    /NOT STARTED \(1, .*No key/,
    "itself",
  ],
  [
    "landing",
    { actions: [failed("land", { problem: "Unable to create 'main.lock': File exists." })] },
    /NOT LANDED: goal_A\/T1 since .*: Unable to create 'main.lock': File exists; tried again at .*overseer doctor/,
    "itself",
  ],
  [
    "not-done",
    { actions: [failed("check"), failed("check", { workNodeId: "T2" })] },
    /NOT CHECKED: goal_A\/T1, goal_A\/T2 since .*: no room/,
    "itself",
  ],
  [
    "not-done",
    { actions: [failed("push", { goalId: null, workNodeId: null })] },
    /NOT PUSHED since .*no room/,
    "itself",
  ],
  [
    "not-done",
    { actions: [failed("clean", { tries: 0, decidedAt: NOW - 2 * MINUTE })] },
    /NOT TIDIED AWAY: goal_A\/T1/,
    "itself",
  ],
  ["not-done", { actions: [failed("deliver", { agent: "ada" })] }, /NOT HANDED OVER: goal_A\/T1/, "itself"],
  ["question", { questions: [question] }, /ASKED since .* about goal_A\/T1.*Which\? \(overseer answer q_1 /, "person"],
  [
    "question",
    { questions: [{ ...question, unreached: "no channel is configured" }] },
    /NOBODY WAS REACHED \(no channel/,
    "person",
  ],
  [
    "review",
    {
      nodes: [
        node("T1", {
          status: "in_progress",
          claim: { ...waits("review"), unchanged: { words: "Add an accent", by: "human:ada", at: 1 } } as never,
        }),
      ],
    },
    /YOUR REVIEW: goal_A\/T1 is done.*; it is unchanged since ada sent it back \("Add an accent"\) \(overseer review/,
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
    /NOT LANDED.*txt\) \(what waits: overseer merge\)$/,
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
  // One broken check is one line, and the command stands in it once.
  [
    "blocked",
    {
      nodes: ["T1", "T2"].map((id) =>
        node(id, {
          status: "blocked",
          blockedReason: { kind: "environment", detail: "the check x did not run", needs: `make it run for ${id}` },
        }),
      ),
    },
    /^BLOCKED: goal_A\/T1, goal_A\/T2 since \S+ the check x did not run\. .* \(overseer work unblock goal_A\/T1, and so for each\)$/,
    "person",
  ],
  [
    "blocked",
    {
      nodes: [
        node("T1", {
          status: "blocked",
          blockedReason: { kind: "environment", detail: "x", needs: "fix it, then 'overseer work unblock goal_A/T1'" },
        }),
      ],
    },
    /^BLOCKED: goal_A\/T1 since \S+ x\. What would help: fix it, then 'overseer work unblock goal_A\/T1'\.$/,
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
  [
    "plan-proposed",
    planning({ status: "proposed", nodeCount: 3 }),
    /PLAN: the plan of goal_A Dates waits for you, 3 nodes \(overseer goal plan goal_A --show, then --accept\)/,
    "person",
  ],
  [
    "plan-waits",
    planning({ status: "waits", detail: "the quota of x is used up", until: NOW + MINUTE }),
    /NOT PLANNED: planning of goal_A Dates waits: the quota of x is used up, until \d{4}-\S+ \(overseer goal plan goal_A --show\)/,
    "itself",
  ],
  [
    "plan-failed",
    planning({ status: "failed", detail: "It is not one JSON object." }),
    /PLANNING FAILED: goal_A Dates: It is not one JSON object \(overseer goal plan goal_A --with-model, or by hand: overseer goal plan goal_A --file plan.yaml\)/,
    "person",
  ],
  ["no-plan", { goals: [{ ...QUIET.goals[0], nodes: 0 }] as never }, /NO PLAN: goal_A .*overseer goal plan/, "person"],
  [
    "no-plan",
    { goals: [{ ...QUIET.goals[0], nodes: 1, inProgress: 0, progress: { total: 0 } }] as never },
    /NOTHING LEFT: every task of goal_A .* was cancelled \(overseer goal cancel goal_A, or under a new id: overseer goal plan/,
    "person",
  ],
  [
    "no-plan",
    { goals: [{ ...QUIET.goals[0], nodes: 3, inProgress: 0, unchanged: 2, progress: { total: 0 } }] as never },
    /NOTHING LEFT: no task of goal_A .* is open, 2 ended without changes: nothing had to be changed \(overseer goal cancel goal_A, or under a new id: overseer goal plan/,
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
    /STALLED: .* on goal_A\/T1 since .*\(no activity\); at \d{4}-.*it gets a hint \(overseer peek /,
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
    new RegExp(
      `; at the first look after ${new Date(NOW + 30 * MINUTE).toISOString()} its work is given to a fresh agent`,
    ),
    "itself",
  ],
  ...(["split", "stronger-model"] as const).map((by): (typeof CASES)[number] => [
    "stalled",
    {
      stalled: [stalled],
      splits: new Map([["A_1", by === "split" ? { by } : { by, model: "opus" }]]),
      recoveries: [
        {
          ...newRecovery("goal_A", "T1"),
          ...{ assignmentId: "A_1", lastStepAt: NOW, backoffUntil: NOW + 30 * MINUTE, level: 8 },
          steps: { hint: 1, warning: 2, critical: 2, resend: 2, replan: 0, reassign: 0, pause: 0, ask: 0 },
          diagnosis: { assignmentId: "A_1", askedAt: NOW, said: "It waits for a lock.", left: [], failed: null },
        },
      ],
    },
    by === "split"
      ? /its work is split into smaller pieces by a model, or else given to a fresh agent; a model says: "It waits for a lock\."/
      : /its work is given to a fresh agent with a stronger model \(opus\)/,
    "itself",
  ]),
  // It was hinted and moved a little: the steps begin again, and the same words wait for their time.
  [
    "stalled",
    {
      stalled: [stalled],
      recoveries: [
        { ...newRecovery("goal_A", "T1"), sent: [{ hash: nudgeHash("hint", "no-activity"), at: NOW - 2 * MINUTE }] },
      ],
    },
    new RegExp(`; at the first look after ${new Date(NOW + 3 * MINUTE).toISOString()} it gets a hint`),
    "itself",
  ],
  // What is due comes with the watch's next look, which is sooner than the next tick.
  [
    "stalled",
    {
      stalled: [stalled],
      daemon: { state: "running", sinceAt: NOW - MINUTE, nextTickAt: NOW + 9 * MINUTE, nextLookAt: NOW + MINUTE },
      recoveries: [
        {
          ...newRecovery("goal_A", "T1"),
          ...{ assignmentId: "A_1", lastStepAt: NOW - 9 * MINUTE, backoffUntil: NOW - MINUTE, level: 1 },
          steps: { hint: 1, warning: 2, critical: 0, resend: 0, replan: 0, reassign: 0, pause: 0, ask: 0 },
        },
      ],
    },
    new RegExp(`; at ${new Date(NOW + MINUTE).toISOString()} it gets a last warning`),
    "itself",
  ],
  // Looks that come earlier than planned do not move what is promised.
  [
    "stalled",
    {
      stalled: [stalled],
      daemon: { state: "running", sinceAt: NOW - MINUTE, nextTickAt: NOW + 9 * MINUTE },
      recoveries: [
        {
          ...newRecovery("goal_A", "T1"),
          ...{ assignmentId: "A_1", lastStepAt: NOW, backoffUntil: NOW + 3 * MINUTE, level: 1 },
          steps: { hint: 1, warning: 0, critical: 0, resend: 0, replan: 0, reassign: 0, pause: 0, ask: 0 },
        },
      ],
    },
    new RegExp(`; at the first look after ${new Date(NOW + 3 * MINUTE).toISOString()} it gets a warning`),
    "itself",
  ],
  [
    "stalled",
    {
      stalled: [stalled, { ...stalled, assignmentId: "A_2", workNodeId: "T2" }],
      waitForAccount: new Set([stalled.assignmentId]),
    },
    /^STALLED: .* on goal_A\/T2 /,
    "itself",
  ],
  [
    "returned",
    {
      agents: [agent],
      nodes: [node("T1", { status: "in_progress", rounds: 2, statusReason: "the check 'unit' fails." })],
    },
    /SENT BACK: goal_A\/T1 since \S+, round 2 of 3: the check 'unit' fails; ada#1 is at it again \(overseer why goal_A\/T1\)/,
    "itself",
  ],
  [
    "agent-dead",
    {
      agents: [
        { ...agent, seen: "dead" },
        { ...agent, attempt: 2, workNodeId: "T2", seen: "dead" },
        { ...agent, attempt: 3, workNodeId: "DONE", seen: "dead" },
        { ...agent, attempt: 4, workNodeId: "T4", seen: "dead" },
      ],
      nodes: [
        node("T1", { status: "in_progress" }),
        node("T2", { status: "in_progress" }),
        node("T4", { status: "cancelled" }),
      ],
    },
    /DEAD: ada#1 on goal_A\/T1, ada#2 on goal_A\/T2: their processes are gone; they are started again after the next look/,
    "itself",
  ],
  [
    "not-answering",
    { agents: [{ ...agent, seen: "not-answering" }] },
    /NOT ANSWERING: the runner of ada#1 on goal_A\/T1 is held by a signal .*overseer restart ada\)/,
    "person",
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

  test("each has the command that comes next in its sentence", () => {
    const told = CASES.flatMap(([, facts]) => explainFleet({ ...QUIET, ...facts }).standstills);
    const silent = told.filter(({ text, command }) => !text.includes(command));
    expect(silent.map(({ text }) => text)).toEqual([]);
  });

  test("without a daemon a dead agent waits for a person", () => {
    const daemon = { state: "died", sinceAt: NOW, nextTickAt: null } as const;
    const nodes = [node("T1", { status: "in_progress" })];
    const { standstills } = explainFleet({ ...QUIET, daemon, nodes, agents: [{ ...agent, seen: "dead" }] });
    expect(standstills.map(({ kind, turn, command }) => [kind, turn, command])).toEqual([
      ["no-daemon", "person", "overseer up"],
      ["agent-dead", "person", "overseer up"],
    ]);
  });

  test("the word that each begins with is explained in the docs", () => {
    const docs = readFileSync(join(import.meta.dir, "../../../docs/troubleshooting.md"), "utf8");
    const words = CASES.flatMap(([, facts]) => explainFleet({ ...QUIET, ...facts }).standstills)
      .map(({ text }) => /^[A-Z]{2}[A-Z ]*(?=:| since| \()/.exec(text)?.[0])
      .filter((word) => word !== undefined);
    expect(new Set(words).size).toBeGreaterThan(15);
    expect([...new Set(words)].filter((word) => !docs.includes(`\`${word}\``))).toEqual([]);
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
        // A landing that was tried in vain and waits for somebody is told as what it waits for.
        if (kind === "landing" && facts.actions.length > 0 && facts.nodes.some(({ claim }) => claim?.waiting)) continue;
        const asked =
          facts.questions.length > 0 && (kind === "blocked" || kind === "landing" || kind === "never-ready");
        expect(standstills.map((one) => one.kind)).toContain(asked ? "question" : kind);
      }
    }),
    { numRuns: 200 },
  );
});

const due = { kind: "spawn", status: "pending", problem: null, dueAt: NOW + 5, goalId: "goal_A", workNodeId: "T1" };
const NEXT: [why: string, facts: Partial<FleetFacts>, says: string, at: number | null][] = [
  ["somebody works", { agents: [agent] }, "ada#1 at work; all are looked at again", NOW + MINUTE],
  [
    "work is ready: its dispatch waits for no clock",
    { goals: [{ ...QUIET.goals[0], queued: 2 }] as never },
    "2 ready tasks are dispatched",
    NOW,
  ],
  [
    "what is due later than the next look",
    { agents: [agent], actions: [{ ...due, kind: "check", dueAt: NOW + 2 * MINUTE } as Action] },
    "ada#1 at work; all are looked at again",
    NOW + MINUTE,
  ],
  ["something is due", { actions: [due as Action] }, "an agent is started for goal_A/T1", NOW + 5],
  [
    "nobody runs it and no goal has a plan's work",
    { goals: [], daemon: { state: "stopped", sinceAt: null, nextTickAt: null } },
    "nothing; no goal is open",
    null,
  ],
  ["nothing is open", { goals: [] }, "nothing; no goal is open", null],
  ["a plan is asked for", planning({}), "a model is asked for the plan of goal_A", null],
  [
    "a plan is to be asked for: that is told once",
    { ...planning({}), actions: [{ ...due, kind: "plan", workNodeId: null } as Action] },
    "a model is asked for the plan of goal_A",
    null,
  ],
  [
    "a plan is asked for while somebody works",
    { ...planning({}), agents: [agent] },
    "a model is asked for the plan of goal_A; ada#1 at work; all are looked at again",
    NOW + MINUTE,
  ],
];
test.each(NEXT)("HOLD-1: with nothing to explain it says what happens next: %s", (_why, facts, text, nextAt) => {
  expect(explainFleet({ ...QUIET, ...facts })).toEqual({ standstills: [], next: { text, nextAt } });
});

// Not its fault, so the try did not count.
const heldBack = `${HELD_BACK} main until q_1 is answered`;
const heldLanding = { ...due, kind: "land", status: "failed", tries: 0, problem: heldBack };
const LIKELY: [why: string, facts: Partial<FleetFacts>, says: string, at: number | null][] = [
  [
    "a landing that is held until a person answers is not promised",
    { actions: [heldLanding as Action], questions: [{ ...question, workNodeId: null }] },
    "nothing by itself: it waits for you (overseer answer q_1 <choice or text>)",
    null,
  ],
  [
    "a landing that waits for the command after another: that command",
    {
      actions: [heldLanding, { ...due, kind: "afterLand", dueAt: NOW, goalId: null, workNodeId: null }] as Action[],
    },
    "the command after landing is run",
    NOW,
  ],
  [
    "a provider is tried before the next look",
    { conditions: holds({ ...failing, cause: "network", until: NOW + 5, questionId: null }), agents: [agent] },
    "one agent tries whether a/default works again",
    NOW + 5,
  ],
  [
    "a quota that lasts longer than the next look, and somebody works",
    {
      conditions: holds({ kind: "quota", account: "x", phase: "tripped", until: NOW + 2 * MINUTE, probe: null }),
      agents: [agent],
    },
    "ada#1 at work; all are looked at again",
    NOW + MINUTE,
  ],
  [
    "ready work under a budget that is spent",
    {
      conditions: [
        ...holds({ kind: "budget", scope: "goal:goal_A", phase: "paused", turns: {} }),
        ...holds({ kind: "dispatch", reason: "the budget is spent", cap: "budget" }),
      ],
      goals: [{ ...QUIET.goals[0], queued: 2 }] as never,
    },
    "nothing by itself: it waits for you (overseer goal budget goal_A --tokens <n>)",
    null,
  ],
  [
    "finished work waits for a review and its agent rests",
    {
      nodes: [node("T1", { status: "in_progress", claim: waits("review") })],
      agents: [{ ...agent, seen: "idle" }],
    },
    "nothing by itself: it waits for you (overseer accept goal_A/T1)",
    null,
  ],
  [
    "one agent is held, and another rests after its turn",
    {
      nodes: [node("T1", { status: "in_progress" }), node("T2", { status: "in_progress" })],
      agents: [
        { ...agent, seen: "not-answering" },
        { ...agent, agent: "bob", attempt: 2, workNodeId: "T2", seen: "idle" },
      ],
    },
    "bob#2 is looked at again; the rest waits for you",
    NOW + MINUTE,
  ],
  [
    "ready work whose agent cannot be started is not promised",
    {
      notStarted: [{ problem: "claude is not installed.", nodes: ["goal_A/T1", "goal_A/T2"] }],
      goals: [{ ...QUIET.goals[0], queued: 2 }] as never,
    },
    "it is looked at whether ready work can be dispatched",
    NOW + MINUTE,
  ],
  [
    "a plan is asked for without a daemon: by whoever waits for it",
    { ...planning({}), daemon: { state: "stopped", sinceAt: null, nextTickAt: null } },
    "a model is asked for the plan of goal_A while somebody waits for it, else by the daemon (overseer up)",
    null,
  ],
];
test.each(LIKELY)("HOLD-1: next is what really happens first: %s", (_why, facts, text, nextAt) => {
  expect(explainFleet({ ...QUIET, ...facts }).next).toEqual({ text, nextAt });
});

test("HOLD-1: a stall counts from the beginning of the silence, not from the last nudge", () => {
  const quietSince = new Map([["A_1", NOW - 40 * MINUTE]]);
  const [told] = explainFleet({ ...QUIET, stalled: [stalled], quietSince }).standstills;
  expect(told?.sinceAt).toBe(NOW - 40 * MINUTE);
  expect(told?.text).toContain(`since ${new Date(NOW - 40 * MINUTE).toISOString()} (no activity)`);
  // Whoever repeats itself is not silent: there the last look at it is what is known.
  const loops = { ...stalled, statusReason: "looping" };
  const [looping] = explainFleet({ ...QUIET, stalled: [loops], quietSince }).standstills;
  expect(looping?.sinceAt).toBe(stalled.updatedAt);
});

test("HOLD-1: a question shows its choices and its fix, however far back that stands", () => {
  const text = `${"It failed with a long story. ".repeat(20)}Name another model in the role or the configuration`;
  const asked = { ...question, text, options: ["try again", "leave it to me"] };
  const [told] = explainFleet({ ...QUIET, questions: [asked] }).standstills;
  expect(told?.text).toContain("Name another model in the role or the configuration. (overseer answer q_1 ");
  expect(told?.text).toEndWith("(overseer answer q_1 <choice or text>: 1. try again / 2. leave it to me)");
  expect(tellAnswer({ questionId: "q_1", number: 3, options: ["yes"] })).toBe(
    "q_1: overseer answer 3 <choice or text>: 1. yes",
  );
});

test("HOLD-1: a budget and the question about it are one line", () => {
  const spent = { kind: "budget", scope: "goal:goal_A", phase: "paused", turns: {}, questionId: "q_1" };
  const asked = { ...question, options: ["continue with as much again", "leave it paused"] };
  const { standstills } = explainFleet({ ...QUIET, conditions: holds(spent), questions: [asked] });
  expect(standstills.map(({ kind }) => kind)).toEqual(["budget"]);
  expect(standstills[0]?.text).toEndWith(
    "(overseer answer q_1 <choice or text>: 1. continue with as much again / 2. leave it paused)",
  );
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
    problem: null,
    dueAt: NOW,
    goalId: "goal_A",
    workNodeId: "T1",
  } as unknown as Action;
  expect(explainFleet({ ...QUIET, actions: [clean] }).next?.text).toBe(
    "what its agent left is tidied away for goal_A/T1",
  );
});

test("CONF-2: under a broken configuration the last good settings stay in effect: what comes next is told, without a daemon it is not", () => {
  const broken = { configProblem: "config.yaml:3:1: no such key", agents: [agent] };
  expect(explainFleet({ ...QUIET, ...broken }).next?.text).toContain("ada#1 at work");
  const down = { ...QUIET, ...broken, daemon: { state: "stopped", sinceAt: null, nextTickAt: null } } as const;
  const { standstills, next } = explainFleet(down);
  expect(next).toBeNull();
  expect(standstills.map(({ text }) => text).join("\n")).toContain("Nothing is started until the file is corrected");
});

test("HOLD-1: while everything is held, nothing is promised; near a budget nothing stands still yet", () => {
  expect(explainFleet({ ...QUIET, frozen: { since: NOW, by: "human:ada", reason: null } }).next).toBeNull();
  const warned = holds({ kind: "budget", scope: "day:x", phase: "warned", turns: {} });
  expect(explainFleet({ ...QUIET, conditions: warned }).standstills).toEqual([]);
});

describe("HOLD-1: an action that did not work", () => {
  const texts = (facts: Partial<FleetFacts>) =>
    explainFleet({ ...QUIET, ...facts }).standstills.map(({ text }) => text);

  test("is not told while only its turn has not come", () => {
    expect(texts({ actions: [failed("land", { tries: 0, problem: "the queue is being worked off" })] })).toEqual([]);
    expect(texts({ actions: [failed("land", { tries: 1, status: "taken" })] })).toEqual([]);
    expect(texts({ actions: [failed("clean", { tries: 0, decidedAt: NOW })] })).toEqual([]);
    expect(texts({ actions: [failed("check", { problem: null })] })).toEqual([]);
  });

  test("is told once: what cannot start, and what waits for a checkout, says it itself", () => {
    const nodes = [node("T1", { status: "in_progress", claim: waits("checkout") })];
    expect(texts({ actions: [failed("land")], nodes })).toHaveLength(1);
    // Its review is over: what it waits for now is the landing.
    const reviewed = { ...waits("review"), approvedBy: "human:ada" } as unknown as WorkNode["claim"];
    expect(
      texts({ actions: [failed("land")], nodes: [node("T1", { status: "in_progress", claim: reviewed })] }),
    ).toEqual([expect.stringContaining("NOT LANDED")]);
    expect(texts({ actions: [failed("spawn")], notStarted: [{ problem: "no room", nodes: ["goal_A/T1"] }] })).toEqual([
      expect.stringContaining("NOT STARTED"),
    ]);
  });

  test("promises no next try while everything is held", () => {
    const [, said] = texts({ actions: [failed("land")], frozen: { since: NOW, by: "ada", reason: null } });
    expect(said).toContain("NOT LANDED");
    expect(said).not.toContain("tried again");
  });
});
