/**
 * The health of one agent, as people and programs are told of it (HEALTH-2): the word by which the tick judges it, the
 * older word beside it, how fresh its last act is, how sure that is, one plain sentence, and what the ladder would do
 * next. Pure, and no second opinion: the judgement is the tick's (domain/tick/judge.ts), the next step is the ladder's.
 * Nothing is decided here; whoever acts asks `mayIntervene`, as the tick does.
 */

import type { Assignment } from "#domain/model/assignment.ts";
import type { LadderLimits, Nudge, Recovery, Rung, RungBars } from "#domain/model/ladder-state.ts";
import { NUDGE_NAMES, newRecovery, nextStepAt, stepsFor } from "#domain/model/ladder-state.ts";
import { chooseRung, mayIntervene } from "#domain/tick/ladder.ts";
import type { Judgement } from "#domain/tick/liveness.ts";
import { ASKED_IN_WORDS, PULSE_UNUSABLE } from "#domain/tick/liveness.ts";
import type { AgentSeen } from "#domain/tick/snapshot.ts";
import type { Freshness, Quiet } from "./freshness.ts";

/** The words of older programs for how an agent's life goes; they stand beside ours where people look. */
export const LIFE_PHASES = ["booting", "working", "stalled", "zombie", "terminated"] as const;
export type LifePhase = (typeof LIFE_PHASES)[number];

/** `abort` is to end an agent with what it has kept: only where a pause was ignored and its budget is spent. */
export const RECOMMENDATIONS = ["continue", "nudge", "escalate", "pause", "abort"] as const;
export type Recommendation = (typeof RECOMMENDATIONS)[number];

export interface AgentHealth {
  readonly attempt: number;
  readonly agent: string;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly status: Judgement["state"];
  /** Why it is judged so, as the rule names it. */
  readonly because: string;
  readonly phase: LifePhase;
  readonly freshness: Freshness;
  /** From 0 to 1: how much of what was seen speaks for it. */
  readonly confidence: number;
  /** One sentence. */
  readonly diagnosis: string;
  readonly recommendation: Recommendation;
  /** The next rung of the ladder where it is stuck; null where nothing is due. */
  readonly next: Rung | null;
  /** Wall clock, ms: the earliest moment of that; null where it may come now, or nothing is due. */
  readonly nextAt: number | null;
  /** How many of the five it was sent, and how urgent the next would be; null where the next step is no words. */
  readonly nudges: number;
  readonly nextNudge: Nudge | null;
  /** Wall clock, ms: since when status, cause and recommendation are these. */
  readonly since: number;
  /** For whoever watches next: since when its acts stand still. */
  readonly quiet: Quiet | null;
}

/** What changed in the health of an agent, as it is kept for `diagnoses`. */
export interface HealthChange extends Omit<AgentHealth, "quiet" | "since"> {
  /** Wall clock, ms. */
  readonly at: number;
  /** What it was before; null where it was judged for the first time. */
  readonly was: Judgement["state"] | null;
}

export interface HealthCase {
  readonly seen: AgentSeen;
  readonly judgement: Judgement;
  readonly assignment: Assignment | undefined;
  readonly recovery: Recovery | undefined;
  readonly freshness: Freshness;
  readonly quiet: Quiet | null;
  /** Its own budget is spent. */
  readonly budgetSpent: boolean;
  /** How it was judged before; undefined where it was not. */
  readonly before: AgentHealth | undefined;
}

export interface ClimbLimits {
  readonly ladder: LadderLimits;
  readonly bars: RungBars;
  readonly patienceMs: number;
}

export function evaluateHealth(about: HealthCase, now: number, limits: ClimbLimits): AgentHealth {
  const { seen, judgement, freshness, before } = about;
  const { attempt, agent, goalId, workNodeId } = seen.attempt;
  const ladder = readLadder(about, now, limits);
  const { state: status, because } = judgement;
  const isSame =
    before?.status === status && before.because === because && before.recommendation === ladder.recommendation;
  return {
    ...{ attempt, agent, goalId, workNodeId, status, because },
    phase: phaseOf(judgement),
    freshness,
    confidence: weighEvidence(about),
    diagnosis: diagnose(about, ladder.next) + tellStall(about, limits),
    ...ladder,
    since: isSame ? before.since : now,
    quiet: about.quiet,
  };
}

/**
 * Whether somebody who keeps a history of it writes a line: its status, its cause or what is recommended is another. From one
 * call to the next an agent at work goes to and fro between words that all mean it is well; that is no news.
 */
export function hasChanged(before: AgentHealth | undefined, now: AgentHealth): boolean {
  if (before === undefined) return true;
  return before.since !== now.since && !(isWell(before) && isWell(now));
}

function isWell({ status, recommendation }: AgentHealth): boolean {
  return recommendation === "continue" && WELL.has(status);
}

const WELL: ReadonlySet<AgentHealth["status"]> = new Set(["starting", "working", "tool-running", "idle"]);

/** Whether what was kept of it says the same to whoever reads it. */
export function isSameHealth(before: AgentHealth | undefined, now: AgentHealth): boolean {
  if (!before || before.since !== now.since || before.freshness !== now.freshness) return false;
  if (before.diagnosis !== now.diagnosis) return false;
  if (before.nudges !== now.nudges || before.nextAt !== now.nextAt || before.confidence !== now.confidence)
    return false;
  // While it acts its mark moves all the time; once it is quiet, since when must outlive the watcher.
  return now.freshness === "fresh" || before.quiet?.mark === now.quiet?.mark;
}

export function noteChange({ quiet: _, since, ...health }: AgentHealth, before: AgentHealth | undefined): HealthChange {
  return { ...health, at: since, was: before?.status ?? null };
}

export function phaseOf({ state }: Pick<Judgement, "state">): LifePhase {
  switch (state) {
    case "starting":
      return "booting";
    case "silent":
    case "looping":
    case "detecting":
      return "stalled";
    case "dead":
      return "zombie";
    default:
      return "working";
  }
}

type LadderView = Pick<AgentHealth, "recommendation" | "next" | "nextAt" | "nudges" | "nextNudge">;

/** What the one ladder would do next, and from when on. */
function readLadder(about: HealthCase, now: number, limits: ClimbLimits): LadderView {
  const { ladder, patienceMs } = limits;
  const { seen, judgement, assignment } = about;
  const known = about.recovery ?? newRecovery(seen.attempt.goalId, seen.attempt.workNodeId);
  const recovery = stepsFor(known, seen.attempt.assignmentId);
  const { steps } = recovery;
  const nudges = steps.hint + steps.warning + steps.critical;
  const nothing: LadderView = { recommendation: "continue", next: null, nextAt: null, nudges, nextNudge: null };
  // It is ended, and its work goes to another: nothing that is said to it helps.
  if (judgement.state === "dead") return { ...nothing, recommendation: "escalate", next: "reassign" };
  if (judgement.state === "waiting-human" && judgement.because === ASKED_IN_WORDS) {
    return { ...nothing, recommendation: "escalate", next: "ask" };
  }
  if (!isStuck(judgement) || !assignment) return nothing;
  const next = chooseRung(
    { recovery, cause: judgement.because, policy: assignment.recoveryPolicy, bars: limits.bars },
    limits.ladder,
  );
  const may = mayIntervene(recovery, judgement.because, now, { patienceMs });
  return {
    recommendation: recommend(next, recovery, ladder, about.budgetSpent),
    next,
    nextAt: may.may ? null : (nextStepAt(recovery, patienceMs) ?? null),
    nudges,
    nextNudge: isNudge(next) ? next : null,
  };
}

export function isStuck({ state }: Pick<Judgement, "state">): boolean {
  return state === "silent" || state === "looping";
}

function isNudge(rung: Rung): rung is Nudge {
  return rung === "hint" || rung === "warning" || rung === "critical";
}

function recommend(next: Rung, recovery: Recovery, ladder: LadderLimits, budgetSpent: boolean): Recommendation {
  if (isNudge(next) || next === "resend") return "nudge";
  if (next === "pause") return "pause";
  const pauseIgnored = recovery.steps.pause > 0 && recovery.steps.pause >= ladder.pause;
  return next === "ask" && pauseIgnored && budgetSpent ? "abort" : "escalate";
}

/** Proof weighs most; then how many agree, and whether anything was seen lately at all. */
const BY_FRESHNESS: Readonly<Record<Freshness, number>> = { fresh: 0.95, stale: 0.75, "very-stale": 0.6, unknown: 0.5 };

function weighEvidence({ judgement, seen, freshness }: HealthCase): number {
  const { state, because } = judgement;
  switch (state) {
    case "dead":
      return because.startsWith("proven-by") ? 1 : 0.9;
    case "detecting":
      return judgement.signs.length > 1 ? 0.6 : 0.4;
    case "looping":
      return 0.9; // the calls themselves say so
    case "silent":
      // The longer it lasts, the surer; a fresh act speaks against it.
      return { fresh: 0.5, stale: 0.7, "very-stale": 0.9, unknown: 0.5 }[freshness];
    case "waiting":
    case "waiting-human":
    case "waiting-quota":
      return because === ASKED_IN_WORDS ? 0.7 : 0.95;
    case "starting":
      return seen.pulse === null ? 0.8 : 0.9;
    default:
      return BY_FRESHNESS[freshness];
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  "not-up-yet": "It is being started.",
  "has-not-spoken": "It has started and has not done anything yet.",
  "no-answer-yet": "It waits for its model's first answer, as others of its account do.",
  "never-spoke": "It has done nothing since it was started, for longer than a start may take.",
  "tool-in-flight": "A tool call of it is running.",
  "tool-hangs": "A tool call of it is running and has neither computed nor read or written anything for a long time.",
  "turn-in-flight": "It is in a turn.",
  "no-activity": "It is in a turn and has done nothing for longer than it may be silent.",
  "no-work": "It has nothing to do.",
  "between-turns": "It is between two turns.",
  "update-overdue": "The update it owes has not come.",
  "idle-with-open-work": "It has stopped, and its task is neither reported done nor blocked.",
  "waits-for-something-slow": "It said that it waits for something slow.",
  "last-turn-failed": "Its last turn failed, and it has done nothing since.",
  "not-supervised": "It is not supervised: nobody judges what it does.",
  looping: "It makes the same call with the same result again and again.",
  "waits-for-check-or-landing": "It reported done; its work is being checked or landed.",
  "words-on-the-way": "Something is on its way to it.",
  "question-open": "It waits for a person's answer to an open question.",
  "said-so": "It said itself what it waits for.",
  "dialog-open": "It waits for a person to answer a dialog.",
  [ASKED_IN_WORDS]: "It asked a person in its last words, and nobody has put that before one yet.",
  [PULSE_UNUSABLE]: "What was kept of it is spoiled, so nobody can judge it before its next signal begins that again.",
  "quota-used-up": "The quota of its account is used up.",
  "rate-limited": "Its CLI waits until a limit lets it continue.",
  "provider-fails": "Its provider fails its account.",
  "tries-again": "Its CLI is about to try again what its provider refused.",
  "signs-of-death": "There are signs that it is dead, and not enough of them yet.",
  "two-signs-of-death": "Two signs that have nothing to do with each other say that it is dead.",
  "silent-and-a-sign-of-death": "A sign says that it is dead, and it has been silent for very long.",
};

const STEPS: Readonly<Record<Rung, string>> = {
  hint: `a ${NUDGE_NAMES.hint} is next`,
  warning: `a ${NUDGE_NAMES.warning} is next`,
  critical: `a ${NUDGE_NAMES.critical} is next`,
  resend: "it is interrupted and told again next",
  replan: "splitting its work is next",
  reassign: "its work goes to a fresh agent next",
  pause: "a pause is next",
  ask: "a person is asked next",
};

function diagnose({ judgement, seen }: HealthCase, next: Rung | null): string {
  const { state, because } = judgement;
  const paused = seen.attempt.status === "paused" ? `It is paused (${because.replaceAll("-", " ")}).` : undefined;
  const proven = because.startsWith("proven-by-") ? `It is dead: its ${because.slice(10)} is gone.` : undefined;
  const known = (state === "waiting" ? paused : undefined) ?? proven ?? SENTENCES[because];
  const sentence = known ?? `It is judged ${state.replaceAll("-", " ")} (${because.replaceAll("-", " ")}).`;
  return next === null ? sentence : `${sentence.slice(0, -1)}; ${STEPS[next]}.`;
}

/** One that was stuck and has moved since: until a tick has seen that too, `status` says STALLED of it. */
function tellStall({ judgement, assignment, recovery }: HealthCase, { ladder, bars }: ClimbLimits): string {
  if (assignment?.status !== "stalled" || isStuck(judgement) || judgement.state === "dead") return "";
  const known = recovery ?? newRecovery(assignment.goalId, assignment.workNodeId);
  const steps = stepsFor(known, assignment.assignmentId);
  const cause = assignment.statusReason ?? judgement.because;
  const next = chooseRung({ recovery: steps, cause, policy: assignment.recoveryPolicy, bars }, ladder);
  return ` Its task counts as stalled until the next tick; ${STEPS[next]} if it falls silent again.`;
}

/** Why the tick should look at it now instead of when its time has come; undefined where it would find nothing to do. */
export function findCauseForTick(
  health: AgentHealth,
  doubtKey: string | null,
  judgement: Judgement,
): string | undefined {
  if (judgement.state === "detecting") return doubtKey === judgement.key ? undefined : judgement.because;
  if (health.recommendation === "continue" || health.nextAt !== null) return undefined;
  return health.because;
}
