/** Fleets in any state a store could hold, for the properties of the tick: goals, nodes, agents and what is said of them. */

import fc from "fast-check";
import type { Action } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { END_CAUSES, NO_USAGE } from "#domain/model/attempt.ts";
import type { OpenClaim } from "#domain/model/claim.ts";
import type { Condition } from "#domain/model/condition.ts";
import { quotaId } from "#domain/model/condition.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import { PRIORITIES } from "#domain/model/goal.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { newRecovery } from "#domain/model/ladder-state.ts";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import type { AgentSeen, LivenessEvidence, Snapshot } from "#domain/tick/snapshot.ts";
import { EVIDENCE_CLAIMS, EVIDENCE_SOURCES } from "#domain/tick/snapshot.ts";
import { attemptWith, endedWith, LIMITS, MINUTE, NOW, pulseWith, snapshotOf } from "../support/snapshots.ts";
import { assignmentWith, goalOf, nodeWith } from "../support/tree.ts";

const moment = fc.integer({ min: NOW - 180 * MINUTE, max: NOW });
const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: null });
/** What is rare in life is rare here too, or it would hide everything that happens only without it. */
const rarely = <T>(arb: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: arb });
const seldom = fc.integer({ min: 0, max: 7 }).map((number) => number === 7);

export const anyEvidence: fc.Arbitrary<LivenessEvidence> = fc.record({
  source: fc.constantFrom(...EVIDENCE_SOURCES),
  says: fc.constantFrom(...EVIDENCE_CLAIMS),
  at: moment,
  reliability: fc.constantFrom(...(["strong", "weak", "strong", "weak", "weak", "proof"] as const)),
});

const anyPulse = fc
  .record({
    acted: maybe(moment),
    inTurn: fc.boolean(),
    turns: fc.nat({ max: 5 }),
    quotaAt: rarely(moment),
    quotaUntil: maybe(fc.integer({ min: NOW - MINUTE, max: NOW + 60 * MINUTE })),
    calls: fc.array(
      fc.record({
        tool: fc.constantFrom("Bash", "Edit"),
        argsHash: fc.constantFrom("a", "b"),
        ok: fc.constantFrom(true, false, null),
        errorClass: fc.constant(null),
        ms: fc.constant(1),
        id: fc.string({ maxLength: 3 }),
      }),
      { maxLength: 5 },
    ),
    lastKind: fc.constantFrom("said", "said", "said", "permission.asked", "turn.ended", "turn.ended"),
  })
  .map(({ acted, ...rest }) => pulseWith({ ...rest, lastAt: acted, lastActAt: acted, firstAt: acted }));

const anyLife = fc.record({
  status: fc.constantFrom(
    ...(["preparing", "starting", "running", "running", "running", "running", "paused"] as const),
  ),
  pausedBecause: fc.constantFrom(null, "goal-paused", "recovery", "budget", "asked-for"),
  stopping: fc.integer({ min: 0, max: 9 }),
  startedAt: moment,
  evidence: fc.oneof(fc.constant([]), fc.array(anyEvidence, { maxLength: 4 })),
  pulse: maybe(anyPulse),
  quietMs: maybe(fc.nat({ max: 180 * MINUTE })),
  account: fc.constantFrom("scripted/default", "claude-code/default"),
  unseen: fc.boolean(),
  parent: fc.boolean(),
});

/** A ladder as it is climbed: every rung below is used up, and none above. */
const climbed = fc.nat({ max: 8 }).map((rungs) => Array.from({ length: 8 }, (_, at) => (at < rungs ? 2 : 0)));

const anyTask = fc.record({
  status: fc.constantFrom<WorkStatus>("todo", "queued", "queued", "in_progress", "blocked", "done", "cancelled"),
  life: maybe(anyLife),
  ended: maybe(fc.record({ cause: fc.constantFrom(...END_CAUSES), endedAt: moment })),
  assignmentStatus: fc.constantFrom("dispatched" as const, "active" as const, "stalled" as const, "blocked" as const),
  expectedNextUpdateAt: maybe(moment),
  asked: fc.integer({ min: 0, max: 9 }),
  claim: rarely(fc.constantFrom("claimed" as const, "checked" as const, "landing" as const)),
  blocked: fc.constantFrom("human" as const, "credential" as const, "other" as const),
  capability: fc.constantFrom(undefined, "scout"),
  recovery: maybe(
    fc.record({
      level: fc.nat({ max: 12 }),
      restarts: fc.nat({ max: 3 }),
      lastStepAt: moment,
      wait: fc.nat({ max: 30 * MINUTE }),
      steps: fc.oneof(fc.array(fc.nat({ max: 2 }), { minLength: 8, maxLength: 8 }), climbed),
      dispatches: fc.nat({ max: 4 }),
      givenUp: rarely(fc.constant("did not work")),
      doubt: fc.constantFrom(null, "terminal", "process+terminal!"),
    }),
  ),
  action: rarely(fc.constantFrom("spawn" as const, "deliver" as const, "stop" as const)),
});

const anyGoal = fc.record({
  status: fc.constantFrom(...(["active", "active", "active", "active", "paused", "cancelled"] as const)),
  priority: fc.constantFrom(...PRIORITIES),
  tasks: fc.array(anyTask, { maxLength: 4 }),
});

export const anyFleet: fc.Arbitrary<Snapshot> = fc
  .record({
    goals: fc.array(anyGoal, { maxLength: 4 }),
    maxConcurrent: fc.nat({ max: 20 }),
    // Where slots run out is where counting them wrongly shows.
    spare: maybe(fc.nat({ max: 3 })),
    starts: fc.oneof(fc.constant([]), fc.array(fc.integer({ min: NOW - 90_000, max: NOW }), { maxLength: 11 })),
    budget: rarely(fc.nat({ max: 100 })),
    spent: fc.nat({ max: 120 }),
    tripped: rarely(fc.constantFrom("tripped" as const, "probing" as const)),
    massDeath: seldom,
    busy: seldom,
    frozen: seldom,
    skipped: seldom.map((skipped) => (skipped ? 5 * MINUTE : 0)),
    news: fc.boolean(),
  })
  .map((wish) => fleetOf(wish));

type Wish<T> = T extends fc.Arbitrary<infer U> ? U : never;
type GoalWish = Wish<typeof anyGoal>;
type TaskWish = Wish<typeof anyTask>;

interface FleetWish {
  readonly goals: readonly GoalWish[];
  readonly maxConcurrent: number;
  readonly spare: number | null;
  readonly starts: readonly number[];
  readonly budget: number | null;
  readonly spent: number;
  readonly tripped: "tripped" | "probing" | null;
  readonly massDeath: boolean;
  readonly busy: boolean;
  readonly frozen: boolean;
  readonly skipped: number;
  readonly news: boolean;
}

interface Building {
  goals: Goal[];
  nodes: WorkNode[];
  assignments: Assignment[];
  agents: AgentSeen[];
  ended: Attempt[];
  recoveries: Recovery[];
  actions: Action[];
  claims: OpenClaim[];
  questions: Snapshot["questions"][number][];
}

function fleetOf(wish: FleetWish): Snapshot {
  const made: Building = {
    goals: [],
    nodes: [],
    assignments: [],
    agents: [],
    ended: [],
    recoveries: [],
    actions: [],
    claims: [],
    questions: [],
  };
  wish.goals.forEach((goal, index) => {
    addGoal(made, goal, `goal_${index}`);
  });
  const spent = { ...NO_USAGE, outputTokens: wish.spent, workingMs: 0 };
  const allowance = { tokens: wish.budget, cost: null, timeMs: null };
  const maxConcurrent = wish.spare === null ? wish.maxConcurrent : made.agents.length + wish.spare;
  return snapshotOf({
    ...made,
    recentStarts: wish.starts,
    limits: {
      ...LIMITS,
      fleet: { ...LIMITS.fleet, maxConcurrent },
      budgets: { warnAt: 0.8, agent: allowance, goal: allowance, day: allowance },
    },
    usage: {
      agents: Object.fromEntries(made.agents.map((seen) => [String(seen.attempt.attempt), spent])),
      goals: Object.fromEntries(made.goals.map((goal) => [goal.goalId, spent])),
      day: spent,
      today: "2026-01-06",
    },
    conditions: conditionsOf(wish, made),
    room: { ...snapshotOf().room, load: wish.busy ? 9 : 0 },
    frozen: wish.frozen,
    skippedMs: wish.skipped,
    news: wish.news ? newsOf(made) : [],
    newsUpTo: wish.news ? 10_000 : 0,
  });
}

function addGoal(made: Building, wish: GoalWish, goalId: string): void {
  made.goals.push(goalOf({ goalId, status: wish.status, priority: wish.priority }));
  made.nodes.push(
    nodeWith("in_progress", { goalId, workNodeId: "P1", path: "P1", kind: "phase", parentId: null, leaf: false }),
  );
  wish.tasks.forEach((task, index) => {
    addTask(made, task, goalId, `T${index}`);
  });
}

function addTask(made: Building, wish: TaskWish, goalId: string, workNodeId: string): void {
  const number = made.nodes.length;
  const status = wish.life ? "in_progress" : wish.status;
  const hints = wish.capability === undefined ? {} : { suggestedAgentType: wish.capability };
  const blockedReason = status === "blocked" ? { kind: wish.blocked, detail: "waits" } : null;
  made.nodes.push(
    nodeWith(status, {
      goalId,
      workNodeId,
      path: `P1/${workNodeId}`,
      parentId: "P1",
      position: number,
      hints,
      blockedReason,
    }),
  );
  const about = { goalId, workNodeId, assignmentId: `A_${number}` };
  if (wish.life) addAgent(made, wish, about, number);
  if (wish.ended) {
    const { cause, endedAt } = wish.ended;
    made.ended.push(
      endedWith({ cause }, { ...about, assignmentId: `A_old${number}`, attempt: number + 1_000, endedAt }),
    );
  }
  if (wish.recovery) made.recoveries.push(recoveryOf(wish.recovery, about));
  if (wish.claim) {
    made.claims.push({ ...about, commit: "abc", state: wish.claim, mayLand: number % 2 === 0, claimedAt: 1 });
  }
  if (wish.asked === 0) {
    const ids = { questionId: `q_${number}`, ...about };
    const open = {
      text: "Which?",
      options: [],
      status: "open",
      answer: null,
      askedBy: "x",
      askedAt: NOW,
      notices: [],
      round: 0,
      roundAt: 0,
      acknowledgedBy: null,
      acknowledgedAt: null,
      endedAt: null,
    };
    made.questions.push({ ...ids, ...open } as Building["questions"][number]);
  }
  if (wish.action) made.actions.push(actionOf(wish.action, about, wish.life ? number : null));
}

type About = { readonly goalId: string; readonly workNodeId: string; readonly assignmentId: string };

function addAgent(made: Building, wish: TaskWish, about: About, number: number): void {
  const { life } = wish;
  if (!life) return;
  const blockedReason = wish.assignmentStatus === "blocked" ? { on: "human" as const, detail: "waits" } : null;
  made.assignments.push(
    assignmentWith({
      ...about,
      status: wish.assignmentStatus,
      blockedReason,
      expectedNextUpdateAt: wish.expectedNextUpdateAt,
      lastInstruction: "Do it.",
      instructionHash: "h",
      lastDispatchAt: life.startedAt,
      dispatches: [
        {
          dispatchId: `D_${number}`,
          at: life.startedAt,
          mode: "spawn",
          target: "b",
          instructionHash: "h",
          result: null,
          runId: null,
          notes: "",
        },
      ],
    }),
  );
  made.agents.push({
    attempt: attemptWith({
      ...about,
      attempt: number,
      status: life.status,
      pausedBecause: life.status === "paused" ? life.pausedBecause : null,
      stopRequested: life.stopping === 0 ? { by: "human:ada", reason: null, at: NOW } : null,
      startedAt: life.status === "running" || life.status === "paused" ? life.startedAt : null,
      createdAt: life.startedAt,
      updatedAt: life.startedAt,
      parent: life.parent ? { agent: "lead-1", attempt: 9_999 } : null,
    }),
    pulse: life.pulse && { ...life.pulse, attempt: number },
    evidence: life.evidence,
    quietMs: life.quietMs,
    waiting: {
      queued: 0,
      handed: 0,
      unseen: life.unseen ? [`D_${number}`] : [],
      since: life.unseen ? NOW - 60_000 : null,
    },
    account: life.account,
  });
}

function recoveryOf(wish: NonNullable<TaskWish["recovery"]>, about: About): Recovery {
  const [hint = 0, warning = 0, critical = 0, resend = 0, replan = 0, reassign = 0, pause = 0, ask = 0] = wish.steps;
  const { level, restarts, lastStepAt, wait, dispatches, givenUp, doubt } = wish;
  return {
    ...newRecovery(about.goalId, about.workNodeId),
    assignmentId: about.assignmentId,
    ...{ level, restarts, lastStepAt, dispatches, givenUp },
    total: level + 3,
    backoffUntil: lastStepAt + wait,
    steps: { hint, warning, critical, resend, replan, reassign, pause, ask },
    doubt: doubt === null ? null : { key: doubt, since: lastStepAt },
  };
}

function actionOf(kind: "spawn" | "deliver" | "stop", about: About, attempt: number | null): Action {
  const { goalId, workNodeId, assignmentId } = about;
  return {
    actionId: `${kind}:${goalId}/${workNodeId}:7`,
    kind,
    payload: {},
    ...{ goalId, workNodeId, assignmentId, attempt },
    agent: null,
    because: "x",
    status: "pending",
    dueAt: NOW,
    tries: 0,
    lease: null,
    problem: null,
    result: null,
    decidedAt: NOW,
    updatedAt: NOW,
    endedAt: null,
  } as unknown as Action;
}

function conditionsOf(wish: FleetWish, made: Building): Condition[] {
  const since = { since: NOW - 10 * MINUTE, updatedAt: NOW - 10 * MINUTE, active: true };
  const conditions: Condition[] = [];
  if (wish.tripped) {
    const account = "scripted/default";
    const probe = wish.tripped === "probing" ? (made.agents[0]?.attempt.attempt ?? 1) : null;
    conditions.push({
      conditionId: quotaId(account),
      kind: "quota",
      account,
      phase: wish.tripped,
      until: NOW,
      trips: 1,
      probe,
      ...since,
    });
  }
  if (wish.massDeath) {
    const waiting = made.nodes
      .filter((node) => node.kind === "task")
      .map((node) => `${node.goalId}/${node.workNodeId}`);
    const attempts = made.ended.map((attempt) => attempt.attempt);
    conditions.push({
      conditionId: "mass-death",
      kind: "mass-death",
      attempts,
      earlier: [],
      failedProbes: 0,
      waiting,
      released: [],
      stage: 1,
      stageAt: NOW - MINUTE,
      ...since,
    });
  }
  return conditions;
}

function newsOf(made: Building): EventOf[] {
  return made.nodes.map(
    (node, index) =>
      ({
        type: "work.done",
        actor: "overseer",
        goalId: node.goalId,
        nodeId: node.workNodeId,
        because: "x",
        data: { summary: "ok", evidence: null, crystallizationId: null, unverified: false },
        seq: index + 1,
        at: NOW,
        v: 1,
      }) as unknown as EventOf,
  );
}
