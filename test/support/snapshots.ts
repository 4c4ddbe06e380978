/** Snapshots for the tick's rules: one agent or ten thousand, in any state, and what applying a decision makes of them. */
import type { Action } from "#domain/model/action.ts";
import { isOpenAction } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { isLive } from "#domain/model/assignment.ts";
import type { Attempt, AttemptEnd } from "#domain/model/attempt.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Entities, Entity, EntityKind } from "#domain/model/fold.ts";
import { apply, illegalMove, listTouched } from "#domain/model/fold.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { newRecovery, recoveryKey } from "#domain/model/ladder-state.ts";
import type { Question } from "#domain/model/question.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { newPulse } from "#domain/signals/pulse.ts";
import type { Decided } from "#domain/tick/decide.ts";
import type { AgentSeen, Limits, Snapshot } from "#domain/tick/snapshot.ts";
import { NO_MESSAGES } from "#domain/tick/snapshot.ts";
import { T0 } from "./samples.ts";
import { assignmentWith, goalOf, nodeWith } from "./tree.ts";

export const MINUTE = 60_000;
/** When the tick looks; everything in a sample world happened before. */
export const NOW = T0 + 24 * 60 * MINUTE;

export const LIMITS: Limits = {
  enabled: true,
  idleAfterMs: 10 * MINUTE,
  startingLimitMs: 2 * MINUTE,
  toolLimitMs: 20 * MINUTE,
  minimumAgeMs: 5_000,
  zombieAfterMs: 30 * MINUTE,
  loopRepeats: 3,
  ladder: {
    hint: 1,
    warning: 2,
    critical: 2,
    resend: 2,
    replan: 2,
    reassign: 2,
    pause: 2,
    restarts: 2,
    patienceMs: 2 * MINUTE,
    backoff: { baseMs: 2 * MINUTE, maxMs: 30 * MINUTE },
    minResendIntervalMs: 5 * MINUTE,
  },
  fleet: { maxConcurrent: 5, maxDepth: 2, startsPerMinute: 10, staggerMs: 2_000 },
  quotaBackoff: { baseMs: 5 * MINUTE, maxMs: 60 * MINUTE },
  provider: { patienceMs: MINUTE, backoff: { baseMs: MINUTE, maxMs: 10 * MINUTE } },
  massDeath: { count: 3, withinMs: 30_000 },
  budgets: {
    warnAt: 0.8,
    agent: { tokens: null, cost: null, timeMs: null },
    goal: { tokens: null, cost: null, timeMs: null },
    day: { tokens: null, cost: null, timeMs: null },
  },
  defaultAccount: "scripted/default",
  roleAccounts: {},
  continuing: [],
  crossAgent: false,
  defaultCapability: "builder",
  readOnly: ["scout"],
  strongerModels: {},
  auto: null,
  triage: null,
  planner: {
    ...{ off: "model calls are off", replansPerNode: 2, splitWithinMs: 16 * MINUTE },
    ...{ diagnoseStalls: false, diagnosesPerHour: 6, diagnoseWithinMs: 6 * MINUTE },
  },
  roles: {},
};

const NOTHING_SPENT = { ...NO_USAGE, workingMs: 0 };

export function snapshotOf(parts: Partial<Snapshot> = {}): Snapshot {
  return {
    now: NOW,
    reason: "test",
    limits: LIMITS,
    goals: [goalOf()],
    nodes: [],
    assignments: [],
    agents: [],
    ended: [],
    sessions: [],
    recoveries: [],
    conditions: [],
    actions: [],
    lately: [],
    givenUp: [],
    questions: [],
    claims: [],
    usage: { agents: {}, goals: {}, day: NOTHING_SPENT, today: "2026-01-06" },
    room: { load: 0, maxLoad: 8, memoryBytes: 8, minMemoryBytes: 1, diskBytes: 8, minDiskBytes: 1 },
    frozen: false,
    thawedAt: 0,
    safeMode: false,
    held: null,
    watching: false,
    skippedMs: 0,
    recentStarts: [],
    news: [],
    newsUpTo: 0,
    ...parts,
  };
}

export function attemptWith(parts: Partial<Attempt> = {}): Attempt {
  const attempt = parts.attempt ?? 1;
  return {
    attempt,
    agent: `builder-${attempt}`,
    capability: "builder",
    role: "builder",
    runtime: "scripted",
    model: null,
    permissionMode: "acceptEdits",
    parent: null,
    depth: 0,
    tags: [],
    scope: null,
    branch: "b",
    base: "0",
    worktree: "/w",
    logDir: "/l",
    interactive: false,
    keep: false,
    slinger: { pid: 1, start: "1" },
    goalId: "goal_A",
    workNodeId: "T1",
    assignmentId: "A_1",
    status: "running",
    steps: {},
    terminal: null,
    runner: { pid: 2, start: "2" },
    process: { pid: 3, start: "3" },
    session: "s",
    legs: 1,
    stopRequested: null,
    pausedNow: false,
    pausedBecause: null,
    interruptRequestedAt: null,
    waiting: null,
    announced: 0,
    end: null,
    createdAt: T0,
    startedAt: T0,
    updatedAt: T0,
    endedAt: null,
    ...parts,
  };
}

export function endedWith(end: Partial<AttemptEnd>, parts: Partial<Attempt> = {}): Attempt {
  const whole = {
    cause: "died",
    detail: "It died.",
    exitCode: null,
    signal: null,
    usage: NO_USAGE,
    wip: null,
  } as const;
  return attemptWith({ status: "ended", end: { ...whole, ...end }, endedAt: NOW - 1_000, ...parts });
}

export function pulseWith(parts: Partial<Pulse> = {}): Pulse {
  const at = NOW - 1_000;
  return { ...newPulse(1, "builder-1"), beats: 5, firstAt: T0, lastAt: at, lastActAt: at, ...parts };
}

export function seenWith(parts: Partial<AgentSeen> = {}): AgentSeen {
  return {
    attempt: attemptWith(),
    pulse: pulseWith(),
    evidence: [],
    quietMs: null,
    waiting: NO_MESSAGES,
    account: "scripted/default",
    ...parts,
  };
}

/** A world of one agent at work on T1. */
export function working(seen: Partial<AgentSeen> = {}, parts: Partial<Snapshot> = {}): Snapshot {
  return snapshotOf({
    nodes: [nodeWith("in_progress")],
    assignments: [assignmentWith({ lastInstruction: "Do it.", instructionHash: "h", lastDispatchAt: T0 })],
    agents: [seenWith(seen)],
    ...parts,
  });
}

/** Nothing heard for so long, in the middle of a turn. */
export function silentFor(ms: number): Pulse {
  return pulseWith({ inTurn: true, lastAt: NOW - ms, lastActAt: NOW - ms });
}

export function recoveryWith(parts: Partial<Recovery> = {}): Recovery {
  return { ...newRecovery("goal_A", "T1"), assignmentId: "A_1", ...parts };
}

/** The world after a decision, as the store would fold it. Throws where an event makes an illegal move. */
export function applied(snapshot: Snapshot, { events }: Pick<Decided, "events">, at = snapshot.now): Snapshot {
  const tables = tablesOf(snapshot);
  events.forEach((event, index) => {
    const placed = { ...event, seq: snapshot.newsUpTo + index + 1, at, v: 1 } as EventOf;
    for (const { kind, id } of listTouched(placed)) {
      const before = tables[kind].get(id);
      const after = apply(kind, before as never, placed);
      const wrong = illegalMove(kind, before, after);
      if (wrong) throw new Error(`${event.type}: ${wrong} (${id})`);
      if (after) tables[kind].set(id, after);
    }
  });
  const all = <K extends EntityKind>(kind: K) => [...tables[kind].values()] as Entities[K][];
  const actions = all("action");
  return {
    ...snapshot,
    goals: all("goal"),
    nodes: all("node"),
    assignments: all("assignment").filter(isLive),
    questions: all("question"),
    recoveries: all("recovery"),
    conditions: all("condition"),
    actions: actions.filter(isOpenAction),
    lately: [...snapshot.lately, ...actions.filter((one) => !isOpenAction(one)).map((one) => one.actionId)],
    news: [],
  };
}

function tablesOf(snapshot: Snapshot): Record<EntityKind, Map<string, Entity>> {
  const table = <E extends Entity>(rows: readonly E[], id: (row: E) => string) => new Map(rows.map((r) => [id(r), r]));
  return {
    goal: table(snapshot.goals, (goal: Goal) => goal.goalId),
    node: table(snapshot.nodes, (node: WorkNode) => nodeKey(node.goalId, node.workNodeId)),
    assignment: table(snapshot.assignments, (one: Assignment) => one.assignmentId),
    question: table(snapshot.questions, (one: Question) => one.questionId),
    action: table(snapshot.actions, (one: Action) => one.actionId),
    recovery: table(snapshot.recoveries, recoveryKey),
    condition: table(snapshot.conditions, (one: Condition) => one.conditionId),
    attempt: table(
      snapshot.agents.map((seen) => seen.attempt),
      (one: Attempt) => String(one.attempt),
    ),
    message: new Map(),
    crystallization: new Map(),
  } as Record<EntityKind, Map<string, Entity>>;
}
