/**
 * The next step for an agent that is stuck: which rung, what is said or done, and how long nothing follows. One step at
 * a time, never two for one cause, and none while the last one has not had its time. Which rungs there are and what each
 * may cost is ladder-state.ts; splitting the work is replan.ts, what a model says about a stall diagnosis.ts; whether an
 * agent is stuck is liveness.ts.
 */

import {
  adviceText,
  HUNG_TOOL_TEXT,
  nudgeHash,
  nudgeText,
  RESUMED_TEXT,
  statusRequestText,
} from "#domain/briefing/nudge-text.ts";
import { deriveId, textHash } from "#domain/core/derived-id.ts";
import { hasPassed, isDue } from "#domain/core/elapsed.ts";
import { mayMove } from "#domain/core/moves.ts";
import type { Advice } from "#domain/model/advice.ts";
import { LONGEST_WAIT_MINUTES } from "#domain/model/advice.ts";
import type { Assignment, RecoveryPolicy } from "#domain/model/assignment.ts";
import { ASSIGNMENT_MOVES, subject } from "#domain/model/assignment.ts";
import type { LadderLimits, Nudge, Recovery, Rung, RungBars } from "#domain/model/ladder-state.ts";
import {
  backoffUntil,
  isSayable,
  mostBrokenWorktrees,
  nextRung,
  nextStepAt,
  stepsFor,
  WORKTREE_BROKEN,
} from "#domain/model/ladder-state.ts";
import { isSpared } from "#domain/model/supervision.ts";
import { nodeKey } from "#domain/model/work.ts";
import { consultModel, refuseAdvice } from "./diagnosis.ts";
import { NO_STEPS, type Outbox, recordEvent, type TickStep } from "./draft.ts";
import { ASKED_IN_WORDS, LOOPING, TOOL_HANGS } from "./liveness.ts";
import { isReplanAwaited, replan, whyNotSplit } from "./replan.ts";
import type { Scene } from "./scene.ts";
import type { AgentSeen } from "./snapshot.ts";
import { about, type Stuck, stepOf } from "./stuck.ts";

export type MayIntervene =
  | { readonly may: true }
  | { readonly may: false; readonly until: number; readonly because: string };

/**
 * One hand on the wheel: a steering by the reflex counts as the hint for its cause, and the next step waits until the
 * promised pause has ended and the agent had its time to react.
 */
export function mayIntervene(
  recovery: Pick<Recovery, "lastStepAt" | "backoffUntil" | "cause"> | undefined,
  cause: string,
  now: number,
  limits: Pick<LadderLimits, "patienceMs">,
): MayIntervene {
  if (!recovery || recovery.lastStepAt === null) return { may: true };
  const until = nextStepAt(recovery, limits.patienceMs) ?? now;
  if (isDue(until, recovery.lastStepAt, now)) return { may: true };
  const because = recovery.cause === cause ? "same-cause-was-just-handled" : "another-step-was-just-taken";
  return { may: false, until, because };
}

export function climb(scene: Scene, outbox: Outbox, stuck: Stuck): readonly TickStep[] {
  const { seen, assignment, cause } = stuck;
  const { now } = scene;
  const { ladder } = scene.limits;
  const recovery = stepsFor(stuck.recovery, assignment.assignmentId);
  const own = scene.limitsFor(seen.attempt);
  if (!mayIntervene(recovery, cause, now, own).may) return NO_STEPS;
  // Whatever was last done to it had to have its time too: a resume, a new leg.
  if (recovery.lastStepAt !== null && !hasPassed(seen.attempt.updatedAt, own.patienceMs, now)) return NO_STEPS;
  if (isReplanAwaited(scene, recovery)) return NO_STEPS;
  const choice = { recovery, cause, policy: assignment.recoveryPolicy, bars: barsFor(scene, seen) };
  const rung = chooseRung(choice, ladder);
  const current = { ...stuck, recovery };
  const consulted = consultModel(scene, outbox, current, rung);
  switch (consulted.kind) {
    case "awaited":
      return NO_STEPS;
    case "asked":
      return consulted.steps;
    case "said":
      return followAdvice(scene, outbox, current, consulted.diagnosis.left, rung);
    default:
      return takeRung(scene, outbox, current, rung);
  }
}

/**
 * The same ladder for whoever can judge by thresholds only (domain/watch/degraded.ts): a hint or a pause, within their
 * budgets, and never before the last step has had its time.
 */
export function stepBlindly(scene: Scene, outbox: Outbox, stuck: Stuck, rung: "hint" | "pause"): readonly TickStep[] {
  const recovery = stepsFor(stuck.recovery, stuck.assignment.assignmentId);
  if (!mayIntervene(recovery, stuck.cause, scene.now, scene.limitsFor(stuck.seen.attempt)).may) return NO_STEPS;
  if (recovery.steps[rung] >= scene.limits.ladder[rung]) return NO_STEPS;
  return stepOn(scene, outbox, { ...stuck, recovery }, rung);
}

/** Where splitting is passed over, the next one at once. */
function takeRung(scene: Scene, outbox: Outbox, stuck: Stuck, rung: Rung): readonly TickStep[] {
  if (rung !== "replan") return stepOn(scene, outbox, stuck, rung);
  const tried = replan(scene, outbox, stuck);
  if (tried.kind === "taken") return tried.steps;
  const { recovery } = tried;
  const { assignment, seen } = stuck;
  const next = nextRung(recovery, assignment.recoveryPolicy, scene.limits.ladder, barsFor(scene, seen));
  return [...tried.steps, ...stepOn(scene, outbox, { ...stuck, recovery }, next)];
}

/** The first piece of it that may be done now; those before it are refused. Without any, the rules act as they would. */
function followAdvice(
  scene: Scene,
  outbox: Outbox,
  stuck: Stuck,
  left: readonly Advice[],
  rung: Rung,
): readonly TickStep[] {
  const { recovery } = stuck;
  const at = {
    recovery,
    ladder: scene.limits.ladder,
    isAsked: scene.isAsked(recovery) || outbox.hasForNode("ask", recovery),
    againstSplit: whyNotSplit(scene, recovery),
    bars: barsFor(scene, stuck.seen),
  };
  const refused: TickStep[] = [];
  for (const advice of left) {
    const why = refuseAdvice(advice, [], at);
    if (why === undefined) return [...refused, ...takeAdvice(scene, outbox, stuck, advice)];
    const data = { advice, refused: why, backoffUntil: null };
    refused.push(recordEvent("assignment.advised", about(stuck), stuck.cause, data));
  }
  return [...refused, ...takeRung(scene, outbox, stuck, rung)];
}

function takeAdvice(scene: Scene, outbox: Outbox, stuck: Stuck, advice: Advice): readonly TickStep[] {
  const { recovery, assignment, seen, cause } = stuck;
  const noteTaken = (backoffUntil: number | null) =>
    recordEvent("assignment.advised", about(stuck), cause, { advice, refused: null, backoffUntil });
  switch (advice.do) {
    case "nudge":
      return [
        noteTaken(backoffUntil(recovery, scene.limits.ladder, scene.now)),
        {
          ...about(stuck),
          actionId: `deliver:${assignment.assignmentId}:advice:${recovery.total}`,
          kind: "deliver",
          because: cause,
          notBefore: scene.now,
          payload: {
            messageId: deriveId("m_", assignment.assignmentId, "advice", recovery.total, seen.attempt.attempt),
            dispatchId: null,
            body: adviceText(advice.message),
            kind: "nudge",
            severity: "warning",
          },
        },
      ];
    case "wait":
      return [noteTaken(scene.now + Math.min(advice.minutes, LONGEST_WAIT_MINUTES) * 60_000)];
    case "escalate":
      return [noteTaken(null), ...askAdvised(scene, outbox, stuck, advice)];
    default:
      return [noteTaken(null), ...takeRung(scene, outbox, stuck, advice.do)];
  }
}

/** The model's words as a question; a person sees who is stuck where, and may say something else. */
function askAdvised(
  scene: Scene,
  outbox: Outbox,
  { assignment, recovery, cause }: Stuck,
  { question, options }: Extract<Advice, { do: "escalate" }>,
): readonly TickStep[] {
  const node = nodeKey(recovery.goalId, recovery.workNodeId);
  return askPerson(scene, outbox, assignment, recovery, {
    cause,
    detail: "A model that looked at the stall advised to ask a person.",
    text: `${assignment.target.agentId} is stuck on ${node} (${cause.replaceAll("-", " ")}). A model that looked at it wants you to decide: ${question}`,
    options,
  });
}

export interface RungChoice {
  readonly recovery: Recovery;
  readonly cause: string;
  readonly policy: RecoveryPolicy;
  readonly bars: RungBars;
}

/**
 * The rung that is next for that cause. About a call that hangs the agent is asked once; words reach it only when its call
 * has ended, so the next step ends it.
 */
export function chooseRung({ recovery, cause, policy, bars }: RungChoice, limits: LadderLimits): Rung {
  if (cause !== TOOL_HANGS) return nextRung(recovery, policy, limits, bars);
  return bars.isSpared || recovery.cause === TOOL_HANGS ? nextRung(recovery, "resend_last", limits, bars) : "hint";
}

/** What the ladder may not do with that agent, or may not do now. */
export function barsFor({ snapshot }: Scene, { attempt }: AgentSeen): RungBars {
  return { isSpared: isSpared(attempt), isWatching: snapshot.watching };
}

function stepOn(scene: Scene, outbox: Outbox, stuck: Stuck, rung: Rung): readonly TickStep[] {
  switch (rung) {
    case "hint":
    case "warning":
    case "critical":
      return nudge(scene, stuck, rung);
    case "resend":
      return resend(scene, stuck);
    case "reassign":
      return reassign(scene, outbox, stuck);
    case "pause":
      return park(scene, outbox, stuck);
    default:
      return escalate(scene, outbox, stuck.assignment, stuck.recovery, stuck.cause);
  }
}

function nudge(scene: Scene, stuck: Stuck, severity: Nudge): readonly TickStep[] {
  const { seen, assignment, recovery, cause } = stuck;
  const instructionHash = nudgeHash(severity, cause);
  if (!isSayable(recovery, instructionHash, scene.limits.ladder, scene.now)) return NO_STEPS;
  const dispatchId = deriveId("D_", assignment.assignmentId, "nudge", recovery.total);
  const step = stepOf(scene, stuck, recovery.steps[severity]);
  return [
    recordEvent("assignment.nudged", about(stuck), cause, { dispatchId, severity, instructionHash, ...step }),
    {
      ...about(stuck),
      actionId: `deliver:${dispatchId}`,
      kind: "deliver",
      because: cause,
      notBefore: scene.now,
      payload: {
        messageId: messageFor(dispatchId, seen),
        dispatchId,
        body: nudgeText(severity, cause),
        kind: "nudge",
        severity,
      },
    },
  ];
}

/** In delivery doubt the same dispatch again; what was seen is done once more, under a new id (DISP-1). */
function resend(scene: Scene, stuck: Stuck): readonly TickStep[] {
  const { seen, assignment, recovery, cause } = stuck;
  const hangs = cause === TOOL_HANGS;
  const body = hangs ? HUNG_TOOL_TEXT : (assignment.lastInstruction ?? RESUMED_TEXT);
  const instructionHash = hangs ? textHash(body) : (assignment.instructionHash ?? textHash(body));
  const { ladder } = scene.limits;
  if (!isSayable(recovery, instructionHash, ladder, scene.now)) return NO_STEPS;
  if (!hasPassed(assignment.lastDispatchAt ?? 0, ladder.minResendIntervalMs, scene.now)) return NO_STEPS;
  const last = assignment.dispatches.findLast((dispatch) => dispatch.instructionHash === instructionHash);
  const unseen = last !== undefined && seen.waiting.unseen.includes(last.dispatchId);
  const dispatchId = unseen ? last.dispatchId : deriveId("D_", assignment.assignmentId, "rerun", recovery.total);
  const step = stepOf(scene, stuck, recovery.steps.resend);
  return [
    recordEvent("assignment.resent", about(stuck), cause, { dispatchId, rerun: !unseen, instructionHash, ...step }),
    {
      ...about(stuck),
      actionId: `resend:${dispatchId}:${recovery.total}`,
      kind: "resend",
      because: cause,
      notBefore: scene.now,
      payload: {
        messageId: deriveId("m_", dispatchId, seen.attempt.attempt, recovery.total),
        dispatchId,
        body,
        rerun: !unseen,
      },
    },
  ];
}

function reassign(scene: Scene, outbox: Outbox, stuck: Stuck): readonly TickStep[] {
  return handOver(scene, outbox, stuck, stuck.recovery.steps.reassign + 1);
}

/** To a fresh agent, for the so-manieth time because of that. */
function handOver(scene: Scene, outbox: Outbox, stuck: Stuck, number: number): readonly TickStep[] {
  const { seen, recovery, cause } = stuck;
  if (outbox.givesOut(recovery)) return NO_STEPS;
  const node = nodeKey(recovery.goalId, recovery.workNodeId);
  return [
    recordEvent("assignment.reassigning", about(stuck), cause, stepOf(scene, stuck, number - 1)),
    {
      ...about(stuck),
      actionId: `reassign:${node}:${recovery.dispatches + 1}`,
      kind: "reassign",
      because: cause,
      notBefore: scene.now,
      payload: {
        dispatchId: deriveId("D_", node, recovery.dispatches + 1),
        from: seen.attempt.attempt,
        reason: `stuck: ${cause}`,
      },
    },
  ];
}

/**
 * A living agent whose worktree is broken gets nothing done there, and no words help: a fresh one takes over at once, from
 * what is committed and what could be kept. Where they break again and again, a person is asked.
 */
export function leaveBroken(scene: Scene, outbox: Outbox, stuck: Omit<Stuck, "cause">): readonly TickStep[] {
  if (scene.snapshot.watching) return NO_STEPS;
  const { assignment, recovery } = stuck;
  const broken = recovery.brokenWorktrees ?? 0;
  if (broken >= mostBrokenWorktrees(scene.limits.ladder)) {
    return escalate(scene, outbox, assignment, recovery, WORKTREE_BROKEN);
  }
  return handOver(scene, outbox, { ...stuck, cause: WORKTREE_BROKEN }, broken + 1);
}

function park(scene: Scene, outbox: Outbox, stuck: Stuck): readonly TickStep[] {
  const { seen, recovery, cause } = stuck;
  const { attempt } = seen.attempt;
  if (seen.attempt.status !== "running" || outbox.has("pause", attempt)) return NO_STEPS;
  return [
    recordEvent("assignment.parked", about(stuck), cause, stepOf(scene, stuck, recovery.steps.pause)),
    {
      ...about(stuck),
      actionId: `pause:${attempt}:${recovery.total}`,
      kind: "pause",
      because: cause,
      notBefore: scene.now,
      payload: { now: true, reason: "It was stuck, and nothing helped.", cause: "recovery" },
    },
  ];
}

/**
 * A person was asked about it, and it goes on in circles meanwhile: it is paused until the answer, so that a night of waiting
 * costs nothing. One that asked and works on something else is left to it.
 */
export function parkWhileAsked(scene: Scene, outbox: Outbox, stuck: Omit<Stuck, "cause">): readonly TickStep[] {
  return park(scene, outbox, { ...stuck, cause: LOOPING });
}

/** The cause of a question about an agent whose reflex came to the last of its PACE levels (ANOM-6). */
export const PACE_EMERGENCY = "pace-emergency";

/** The last rung: a person is asked, once, and the assignment waits for them. */
export function escalate(
  scene: Scene,
  outbox: Outbox,
  assignment: Assignment,
  recovery: Recovery,
  cause: string,
): readonly TickStep[] {
  const node = nodeKey(recovery.goalId, recovery.workNodeId);
  return askPerson(scene, outbox, assignment, recovery, {
    cause,
    detail: "Everything was tried; a person is asked.",
    text:
      cause === PACE_EMERGENCY
        ? `${assignment.target.agentId} on ${node} makes call after call and gets nowhere; its own reflex has told it to stop, keep what is sound and report. What should be done?`
        : `${assignment.target.agentId} is stuck on ${node} (${cause.replaceAll("-", " ")}), and nothing has helped. What should be done?`,
    options: ["try again", "cancel it", "leave it to me"],
  });
}

/** An agent that asked in plain words instead of by `ask`: its words are put before a person, and it waits (LIVE-1). */
export function passOn(
  scene: Scene,
  outbox: Outbox,
  { assignment, recovery, words }: Pick<Stuck, "assignment" | "recovery"> & { readonly words: string },
): readonly TickStep[] {
  const node = nodeKey(recovery.goalId, recovery.workNodeId);
  return askPerson(scene, outbox, assignment, recovery, {
    cause: ASKED_IN_WORDS,
    detail: "It asked a person in its last words.",
    text: `${assignment.target.agentId} on ${node} waits for an answer: ${words}`,
    options: [],
  });
}

/** The cause of a question about what only a person can solve. */
const NEEDS_A_PERSON = "needs-a-person";

/** A signature that is refused, a password: more tries do not help, and words to the agent do not either. */
export function askAboutBlocker(
  scene: Scene,
  outbox: Outbox,
  { assignment, recovery, fact }: Pick<Stuck, "assignment" | "recovery"> & { readonly fact: string },
): readonly TickStep[] {
  const node = nodeKey(recovery.goalId, recovery.workNodeId);
  return askPerson(scene, outbox, assignment, recovery, {
    cause: NEEDS_A_PERSON,
    detail: `Only a person can solve it: ${fact}.`,
    text: `${assignment.target.agentId} on ${node} cannot solve this by itself: ${fact}. Solve it and say so, or say how to do without.`,
    options: [],
  });
}

interface Asking {
  readonly cause: string;
  readonly detail: string;
  readonly text: string;
  readonly options: readonly string[];
}

function askPerson(
  scene: Scene,
  outbox: Outbox,
  assignment: Assignment,
  recovery: Recovery,
  { cause, detail, text, options }: Asking,
): readonly TickStep[] {
  if (scene.isAsked(recovery) || outbox.hasForNode("ask", recovery)) return NO_STEPS;
  const questionId = deriveId("q_", nodeKey(recovery.goalId, recovery.workNodeId), "stuck", recovery.total);
  const step = stepOf(scene, { recovery, cause }, recovery.steps.ask);
  const blocked = { on: "human", detail } as const;
  return [
    recordEvent("assignment.escalated", subject(assignment), cause, { questionId, ...step }),
    ...(mayMove(ASSIGNMENT_MOVES, assignment.status, "blocked")
      ? [recordEvent("assignment.blocked", subject(assignment), "asked-a-person", { blocked })]
      : []),
    {
      ...subject(assignment),
      actionId: `ask:${questionId}`,
      kind: "ask",
      because: cause,
      notBefore: scene.now,
      payload: { questionId, text, options },
    },
  ];
}

/** One request per due time while a turn runs; an update that is late is no stall (LIVE-2). */
export function requestStatus(scene: Scene, stuck: Omit<Stuck, "cause">): readonly TickStep[] {
  const { seen, assignment, recovery } = stuck;
  const dueAt = assignment.expectedNextUpdateAt;
  if (dueAt === null || recovery.askedForDue === dueAt) return NO_STEPS;
  if (!isDue(dueAt, assignment.lastDispatchAt ?? assignment.createdAt, scene.now)) return NO_STEPS;
  const body = statusRequestText();
  const dispatchId = deriveId("D_", assignment.assignmentId, "status", dueAt);
  const instructionHash = textHash(body);
  return [
    recordEvent("assignment.status_requested", about(stuck), "update-overdue", { dispatchId, dueAt, instructionHash }),
    {
      ...about(stuck),
      actionId: `deliver:${dispatchId}`,
      kind: "deliver",
      because: "update-overdue",
      notBefore: scene.now,
      payload: { messageId: messageFor(dispatchId, seen), dispatchId, body, kind: "status", severity: null },
    },
  ];
}

function messageFor(dispatchId: string, seen: AgentSeen): string {
  return deriveId("m_", dispatchId, seen.attempt.attempt);
}
