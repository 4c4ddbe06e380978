/**
 * The one ladder: hint, warnings, critical nudges, interrupt and resend, replan, reassign, pause, ask a person. Each
 * rung has its own budget; every step waits longer than the one before; budgets come back only with evidence of
 * progress or a person's word. What was done is kept per node, because a node outlives its assignments: giving it to a
 * fresh agent must not give the ladder its budgets back. Nudges and resends count per assignment, the rest per node.
 */

import type { Backoff } from "#domain/core/backoff.ts";
import { backoffMs } from "#domain/core/backoff.ts";
import { hasPassed, isDue, SKEW_MS } from "#domain/core/elapsed.ts";
import type { Diagnosis } from "./advice.ts";
import type { RecoveryPolicy } from "./assignment.ts";
import type { EventOf } from "./event.ts";
import { nodeKey } from "./work.ts";

export const RUNGS = ["hint", "warning", "critical", "resend", "replan", "reassign", "pause", "ask"] as const;
export type Rung = (typeof RUNGS)[number];
export type Nudge = "hint" | "warning" | "critical";

/** The one name that each of them has for people. */
export const NUDGE_NAMES: Readonly<Record<Nudge, string>> = {
  hint: "hint",
  warning: "warning",
  critical: "last warning",
};

/** Those that speak to the agent of one assignment; a new one starts with them afresh. */
const OF_ASSIGNMENT: readonly Rung[] = ["hint", "warning", "critical", "resend"];

/** Those after which somebody else does the work. */
const NEEDS_ANOTHER: readonly Rung[] = ["replan", "reassign"];

export type Steps = Readonly<Record<Rung, number>>;
const NO_STEPS: Steps = { hint: 0, warning: 0, critical: 0, resend: 0, replan: 0, reassign: 0, pause: 0, ask: 0 };

export interface Recovery {
  readonly goalId: string;
  readonly workNodeId: string;
  /** Whom the nudges and resends among the steps were for. */
  readonly assignmentId: string | null;
  readonly steps: Steps;
  readonly restarts: number;
  /** Steps since the last progress, of whatever kind; the wait grows with it. */
  readonly level: number;
  /** Steps ever; never goes back, so that nothing decided later has the name of something earlier. */
  readonly total: number;
  /** When a person was last asked about it, and last answered. */
  readonly askedAt: number | null;
  readonly answeredAt: number | null;
  /** Where in the log the later of the two stands; missing where neither was, and in rows that older programs wrote. */
  readonly askedSeq?: number;
  readonly cause: string | null;
  readonly lastStepAt: number | null;
  readonly backoffUntil: number | null;
  /** What was said lately, to notice the same again. */
  readonly sent: readonly { readonly hash: string; readonly at: number }[];
  readonly doubt: { readonly key: string; readonly since: number } | null;
  /** The due time a status request was made for. */
  readonly askedForDue: number | null;
  /** How often the node was dispatched. */
  readonly dispatches: number;
  /** Why the last giving-out was given up. */
  readonly givenUp: string | null;
  readonly progressAt: number | null;
  readonly updatedAt: number;
  /** How often its agent's worktree broke, until a person speaks; progress does not change it. Missing where none did. */
  readonly brokenWorktrees?: number;
  /** It was given to an agent with the stronger model of its role; missing where it was not. */
  readonly strengthened?: boolean;
  /** What a model was asked about its last stall; missing and null where none was. */
  readonly diagnosis?: Diagnosis | null;
}

export interface LadderLimits {
  readonly hint: number;
  readonly warning: number;
  readonly critical: number;
  readonly resend: number;
  readonly replan: number;
  readonly reassign: number;
  readonly pause: number;
  readonly restarts: number;
  readonly patienceMs: number;
  readonly backoff: Backoff;
  readonly minResendIntervalMs: number;
}

export function newRecovery(goalId: string, workNodeId: string): Recovery {
  return {
    goalId,
    workNodeId,
    assignmentId: null,
    steps: NO_STEPS,
    restarts: 0,
    level: 0,
    total: 0,
    askedAt: null,
    answeredAt: null,
    cause: null,
    lastStepAt: null,
    backoffUntil: null,
    sent: [],
    doubt: null,
    askedForDue: null,
    dispatches: 0,
    givenUp: null,
    progressAt: null,
    updatedAt: 0,
  };
}

const FIRST_RUNG: Readonly<Record<RecoveryPolicy, Rung>> = {
  nudge: "hint",
  resend_last: "resend",
  replan: "replan",
  reassign: "reassign",
  escalate: "ask",
};

/** What makes rungs impossible, whatever their budgets. */
export interface RungBars {
  /** Nothing is to be said to the agent. */
  readonly isSpared?: boolean;
  /** The daemon only watches: nobody is started. */
  readonly isWatching?: boolean;
}

/** Why a rung is passed over, as a clause; undefined where it is not. */
export function reasonAgainstRung(rung: Rung, { isSpared = false, isWatching = false }: RungBars): string | undefined {
  if (isSpared && OF_ASSIGNMENT.includes(rung)) return "nothing is to be said to its agent";
  if (isWatching && NEEDS_ANOTHER.includes(rung)) return "nobody is started while the daemon only watches";
  return undefined;
}

/** The rung whose turn it is; asking a person is always left. */
export function nextRung(recovery: Recovery, policy: RecoveryPolicy, limits: LadderLimits, bars: RungBars = {}): Rung {
  const rungs = RUNGS.slice(RUNGS.indexOf(FIRST_RUNG[policy]));
  const isLeft = (rung: Rung) =>
    rung === "ask" || (recovery.steps[rung] < limits[rung] && reasonAgainstRung(rung, bars) === undefined);
  return rungs.find(isLeft) ?? "ask";
}

/** What was done so far, as this assignment sees it. */
export function stepsFor(recovery: Recovery, assignmentId: string): Recovery {
  if (recovery.assignmentId === assignmentId) return recovery;
  const steps = { ...recovery.steps };
  for (const rung of OF_ASSIGNMENT) steps[rung] = 0;
  return { ...recovery, assignmentId, steps };
}

/** Until when the next step waits: longer each time, never earlier than what was promised before. */
export function backoffUntil(recovery: Recovery, limits: LadderLimits, now: number): number {
  const { backoffUntil: promised, lastStepAt } = recovery;
  const before = promised === null || isDue(promised, lastStepAt ?? 0, now) ? 0 : promised;
  return Math.max(before, now + backoffMs(recovery.level + 1, limits.backoff));
}

/** When the next step may come: the last one has had its time, and the promised pause is over. Null before the first. */
export function nextStepAt(recovery: Pick<Recovery, "lastStepAt" | "backoffUntil">, patienceMs: number): number | null {
  if (recovery.lastStepAt === null) return null;
  return Math.max(recovery.lastStepAt + patienceMs, recovery.backoffUntil ?? 0);
}

/** Whether these words may be said again; the same ones not within the interval. */
export function isSayable(recovery: Recovery, hash: string, limits: LadderLimits, now: number): boolean {
  const last = recovery.sent.findLast((one) => one.hash === hash);
  return !last || hasPassed(last.at, limits.minResendIntervalMs, now);
}

/** From when on `isSayable` says so; null where they were not said lately. */
export function sayableFrom(
  recovery: Pick<Recovery, "sent">,
  hash: string,
  { minResendIntervalMs }: LadderLimits,
): number | null {
  const last = recovery.sent.findLast((one) => one.hash === hash);
  return last ? last.at + minResendIntervalMs : null;
}

/** How many things said are remembered. */
const SENT_KEPT = 8;

/** How an event changes what is known about a node's recovery. Total. */
export function applyToRecovery(known: Recovery | undefined, event: EventOf): Recovery | undefined {
  if (event.goalId === undefined || event.nodeId === undefined) return known;
  const before = known ?? newRecovery(event.goalId, event.nodeId);
  switch (event.type) {
    case "assignment.nudged":
      return noteSent(countStep(before, event.data.severity, event), event.data.instructionHash, event.at);
    // The reflex has given the hint; whoever speaks next continues from there.
    case "agent.steered":
      return countHint(before, event);
    case "assignment.resent":
      return noteSent(countStep(before, "resend", event), event.data.instructionHash, event.at);
    case "assignment.reassigning":
      // What became of its worktree is no fault of the agent's, and costs none of its budgets.
      return event.data.cause === WORKTREE_BROKEN
        ? { ...before, brokenWorktrees: event.data.number, total: before.total + 1, updatedAt: event.at }
        : countStep(before, "reassign", event);
    case "assignment.parked":
      return countStep(before, "pause", event);
    case "assignment.escalated":
      return { ...countStep(before, "ask", event), askedAt: event.at, askedSeq: event.seq };
    // No step that has to have its time: when a model has nothing to say, the next one follows at once.
    case "assignment.replanning":
      return {
        ...before,
        steps: { ...before.steps, replan: before.steps.replan + 1 },
        total: before.total + 1,
        cause: event.data.cause,
        updatedAt: event.at,
      };
    case "assignment.strengthened":
      return { ...countStep(before, "replan", event), strengthened: true };
    case "assignment.diagnosed": {
      const { diagnosis: said, actions: left, triage } = event.data;
      const found = { said, left, failed: null, ...(triage ? { triage } : {}) };
      return before.diagnosis
        ? { ...before, diagnosis: { ...before.diagnosis, ...found }, updatedAt: event.at }
        : before;
    }
    case "assignment.diagnosis_failed":
      return before.diagnosis
        ? { ...before, diagnosis: { ...before.diagnosis, failed: event.data.reason }, updatedAt: event.at }
        : before;
    case "assignment.advised":
      return takeAdvice(before, event);
    case "assignment.replan_skipped":
      return { ...before, steps: { ...before.steps, replan: Number.MAX_SAFE_INTEGER }, updatedAt: event.at };
    case "assignment.restarting":
      return { ...countStep(before, null, event), restarts: event.data.number };
    case "assignment.status_requested":
      return { ...noteSent(before, event.data.instructionHash, event.at), askedForDue: event.data.dueAt };
    case "assignment.doubted":
      return {
        ...before,
        doubt: event.data.key === "" ? null : { key: event.data.key, since: event.at },
        updatedAt: event.at,
      };
    case "assignment.progressed":
      return { ...resetLadder(before, event.at), progressAt: event.data.seenAt };
    // A person has decided something: what failed before is tried again, under their eyes.
    case "work.unblocked":
      return (
        known && { ...resetLadder(known, event.at), ...forgetBroken(known), answeredAt: event.at, askedSeq: event.seq }
      );
    case "question.answered":
      return { ...resetLadder(before, event.at), ...forgetBroken(before), answeredAt: event.at, askedSeq: event.seq };
    case "action.decided":
      if (event.data.kind === "diagnose") {
        const asked = { askedAt: event.at, said: null, left: [], failed: null };
        return { ...before, diagnosis: { assignmentId: event.assignmentId ?? "", ...asked }, updatedAt: event.at };
      }
      return isDispatch(event.data.kind)
        ? { ...before, dispatches: before.dispatches + 1, givenUp: null, updatedAt: event.at }
        : known;
    case "action.dropped":
      // What is dropped because nobody wants it any more was not given up.
      return isDispatch(event.data.kind) && event.because !== NOT_WANTED
        ? { ...before, givenUp: event.data.reason, updatedAt: event.at }
        : known;
    default:
      return known;
  }
}

/** Why work goes to a fresh agent whose worktree can be worked in (FAIL-11). */
export const WORKTREE_BROKEN = "worktree-broken";

/** Why an action is dropped that was overtaken by events. */
export const NOT_WANTED = "not-wanted-any-more";

/** Kinds of action that put an agent to work on a node. */
export function isDispatch(kind: string): boolean {
  return kind === "spawn" || kind === "restart" || kind === "reassign";
}

type StepEvent = EventOf<
  | "assignment.strengthened"
  | "assignment.nudged"
  | "assignment.resent"
  | "assignment.reassigning"
  | "assignment.parked"
  | "assignment.escalated"
  | "assignment.restarting"
>;

function countStep(known: Recovery, rung: Rung | null, event: StepEvent): Recovery {
  const before = event.assignmentId === undefined ? known : stepsFor(known, event.assignmentId);
  return {
    ...before,
    steps: rung ? { ...before.steps, [rung]: before.steps[rung] + 1 } : before.steps,
    level: before.level + 1,
    total: before.total + 1,
    cause: event.data.cause,
    lastStepAt: event.at,
    backoffUntil: event.data.backoffUntil,
    updatedAt: event.at,
  };
}

/** One hint is all the reflex counts as, however often it speaks; the ladder waits from its last word on. */
function countHint(known: Recovery, event: EventOf<"agent.steered">): Recovery {
  const before = event.assignmentId === undefined ? known : stepsFor(known, event.assignmentId);
  return {
    ...before,
    steps: { ...before.steps, hint: Math.max(1, before.steps.hint) },
    // So that progress gives the hint back.
    level: Math.max(1, before.level),
    cause: event.data.anomaly,
    lastStepAt: event.at,
    // A pause that was promised before the clock was set back would last from now until the clock has caught up.
    backoffUntil: (before.lastStepAt ?? 0) > event.at + SKEW_MS ? null : before.backoffUntil,
    updatedAt: event.at,
  };
}

/** Whatever becomes of it, it is not considered again; what waits for something waits from here on. */
function takeAdvice(known: Recovery, { data, at }: EventOf<"assignment.advised">): Recovery {
  const { diagnosis } = known;
  const after = diagnosis
    ? { ...known, diagnosis: { ...diagnosis, left: diagnosis.left.slice(1) }, updatedAt: at }
    : known;
  if (data.refused !== null || data.backoffUntil === null) return after;
  return { ...after, total: known.total + 1, lastStepAt: at, backoffUntil: data.backoffUntil };
}

function noteSent(known: Recovery, hash: string, at: number): Recovery {
  return { ...known, sent: [...known.sent, { hash, at }].slice(-SENT_KEPT), updatedAt: at };
}

function forgetBroken({ brokenWorktrees }: Recovery): Partial<Recovery> {
  return brokenWorktrees === undefined ? {} : { brokenWorktrees: 0 };
}

/** So often a task gets a fresh worktree in place of a broken one; what breaks them all is for a person to see. */
export function mostBrokenWorktrees({ reassign }: Pick<LadderLimits, "reassign">): number {
  return Math.max(1, reassign);
}

/** As after progress: everything may be tried again. Signs of death stand or fall by themselves, so a doubt stays. */
export function resetLadder(known: Recovery, at: number): Recovery {
  const cause = { cause: null, lastStepAt: null, backoffUntil: null, givenUp: null };
  const forgotten = known.diagnosis ? { diagnosis: null } : {};
  return { ...known, ...cause, ...forgotten, steps: NO_STEPS, restarts: 0, level: 0, updatedAt: at };
}

export function recoveryKey(recovery: Pick<Recovery, "goalId" | "workNodeId">): string {
  return nodeKey(recovery.goalId, recovery.workNodeId);
}
