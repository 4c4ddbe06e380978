/**
 * An attempt: one life of one agent on one node, numbered for ever. Names are labels for people and come back; the
 * number is identity and never does. It travels in the agent's environment, and whatever carries an older number is
 * refused. This file knows what an attempt is, the moves it can make and how events change it; who may be started is
 * decided in admission.ts.
 */

import type { Moment } from "#domain/core/actor.ts";
import type { Moves } from "#domain/core/moves.ts";
import { mayMove } from "#domain/core/moves.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "./decision.ts";
import type { EventOf, NewEvent } from "./event.ts";
import type { PaceLevel } from "./role.ts";
import type { Exemptions } from "./supervision.ts";

export const ATTEMPT_STATUSES = ["preparing", "starting", "running", "paused", "ended"] as const;
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

/**
 * Every move an attempt can make. `preparing`: its worktree and files are being made. `starting`: its runner was
 * launched and has not spoken. `paused`: it finishes its turn and gets no new one.
 */
export const ATTEMPT_MOVES: Moves<AttemptStatus> = {
  preparing: ["starting", "ended"],
  starting: ["running", "ended"],
  running: ["paused", "ended"],
  paused: ["running", "ended"],
  ended: [],
};

/** Why an attempt has ended. `died`: a process was lost that nobody had asked to stop. */
export const END_CAUSES = ["finished", "failed", "died", "stopped", "failed_to_start"] as const;
export type EndCause = (typeof END_CAUSES)[number];

/** What of a worktree is broken, so that nobody can work in it any more. */
export const WORKTREE_PARTS = ["directory", "git-file", "index", "objects"] as const;
export type WorktreePart = (typeof WORKTREE_PARTS)[number];

/** The steps of starting an agent, in order; each is undone in reverse when a later one fails. */
export const SLING_STEPS = ["worktree", "setup", "files", "terminal"] as const;
export type SlingStep = (typeof SLING_STEPS)[number];
export type StepState = "begun" | "done" | "undone";

export interface ProcessMark {
  readonly pid: number;
  /** The kernel's start stamp; a pid alone is reused. */
  readonly start: string;
}

/**
 * By what its words are known, as hashes (FENCE-1): the secret that its agent holds, and the one with which its runner
 * vouches for what it starts on the agent's behalf. They are in the log because every file beside it can be rewritten by
 * an agent, which is no more than a process of the same user.
 */
export interface AttemptSeals {
  readonly agent: string;
  readonly runner: string;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number;
  readonly turns: number;
  readonly toolCalls: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  turns: 0,
  toolCalls: 0,
};

/** What is settled about an attempt when it is created, and never changes. */
export interface AttemptPlan {
  readonly agent: string;
  readonly capability: string;
  /** Whose doctrine it follows; the capability unless told otherwise. */
  readonly role: string;
  readonly runtime: string;
  readonly model: string | null;
  readonly permissionMode: string;
  readonly parent: { readonly agent: string; readonly attempt: number } | null;
  readonly depth: number;
  readonly tags: readonly string[];
  /** Paths that are its alone; null means free inside its worktree, and not exclusive. */
  readonly scope: readonly string[] | null;
  readonly branch: string;
  readonly base: string;
  readonly worktree: string;
  readonly logDir: string;
  readonly interactive: boolean;
  /** Its worktree stays after it has landed. */
  readonly keep: boolean;
  /** What of its supervision is switched off; absent where nothing is. */
  readonly exempt?: Exemptions;
  /** The attempt whose worktree, branch and, where it was still there, session it continues with. */
  readonly continues?: number;
  /** The finished attempt whose session it was given with this piece of work, in a worktree and branch of its own. */
  readonly follows?: { readonly agent: string; readonly attempt: number; readonly session: string };
  /** The process that prepares it; if that dies half-way, whoever comes next undoes what it left. */
  readonly slinger: ProcessMark;
}

export interface AttemptEnd {
  readonly cause: EndCause;
  /** One sentence for people. */
  readonly detail: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly usage: Usage;
  /** The hidden ref that keeps what was not committed. */
  readonly wip: string | null;
}

export interface StopRequest {
  readonly by: string;
  readonly reason: string | null;
  readonly at: number;
  /** Its work is put aside: the same agent continues with it. */
  readonly resume?: boolean;
}

export interface Attempt extends AttemptPlan {
  readonly attempt: number;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly assignmentId: string;
  readonly status: AttemptStatus;
  readonly steps: Readonly<Partial<Record<SlingStep, StepState>>>;
  /** The terminal's handle, as the terminals room wrote it. */
  readonly terminal: unknown;
  readonly runner: ProcessMark | null;
  /** Absent for one whose runner answers no agent: an older version started it, and it speaks for itself. */
  readonly seals?: AttemptSeals;
  /** Of the files its runner was to be started with; a runner that read others does not come up. */
  readonly launchHash?: string;
  /** The agent's own process, and the session it can be resumed by. */
  readonly process: ProcessMark | null;
  readonly session: string | null;
  /** How often its CLI was started; ending and resuming it inside one attempt makes another leg. */
  readonly legs: number;
  readonly stopRequested: StopRequest | null;
  readonly pausedNow: boolean;
  /** It ended its turn to wait for these, or for anybody when the list is empty; null when it waits for nothing. */
  readonly waiting: { readonly on: readonly string[]; readonly since: number } | null;
  /** The place in the log up to which it knows that messages wait for it; see injection.ts. */
  readonly announced: number;
  /** Why it is paused, as the pause said; null while it is not. */
  readonly pausedBecause: string | null;
  /** When it was last let continue after a pause: its silence counts from there. */
  readonly resumedAt?: number;
  /** When somebody last asked to interrupt its running turn. */
  readonly interruptRequestedAt: number | null;
  /** How far it is from its plan, once that changed, and since when. */
  readonly pace?: { readonly level: PaceLevel; readonly at: number; readonly seq?: number };
  /** What it has met that only a person can solve, and since when; absent when there is nothing. */
  readonly blocker?: { readonly what: string; readonly fact: string; readonly at: number; readonly seq?: number };
  readonly end: AttemptEnd | null;
  /** Nobody can work in its worktree any more; what could be read of it is under `wip`. Absent while it is whole. */
  readonly brokenWorktree?: { readonly part: WorktreePart; readonly detail: string; readonly wip: string | null };
  /** Why its worktree stayed when it was to go; absent when that did not happen. */
  readonly worktreeKept?: string;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly updatedAt: number;
  readonly endedAt: number | null;
}

export const AGENT_NAME = /^[a-z][a-z0-9-]{0,30}$/;

export function isLiving(attempt: Attempt): boolean {
  return attempt.status !== "ended";
}

/** As people see it: `scout-1#47`. */
export function attemptLabel(attempt: { readonly agent: string; readonly attempt: number }): string {
  return `${attempt.agent}#${attempt.attempt}`;
}

/** The session it has, or was told to continue; null before it has one. */
export function findSession({ session, follows }: Pick<Attempt, "session" | "follows">): string | null {
  return session ?? follows?.session ?? null;
}

/** What several attempts took together. */
export function sumOfUsage(all: readonly Usage[]): Usage {
  return all.reduce(
    (sum, one) => ({
      inputTokens: sum.inputTokens + one.inputTokens,
      outputTokens: sum.outputTokens + one.outputTokens,
      cacheReadTokens: sum.cacheReadTokens + one.cacheReadTokens,
      cacheWriteTokens: sum.cacheWriteTokens + one.cacheWriteTokens,
      costUsd: sum.costUsd + one.costUsd,
      turns: sum.turns + one.turns,
      toolCalls: sum.toolCalls + one.toolCalls,
    }),
    NO_USAGE,
  );
}

type AboutAttempt = Pick<Attempt, "agent" | "attempt" | "goalId" | "workNodeId" | "assignmentId">;

/** What was found out about its worktree, once: the first word stands, also after the attempt has ended. */
export function recordBrokenWorktree(
  attempt: Attempt | undefined,
  broken: NonNullable<Attempt["brokenWorktree"]>,
): Decision<null> {
  if (!attempt || attempt.brokenWorktree) return accept([], null);
  return accept([attemptEvent(attempt, "overseer", "agent.worktree_broken", "cannot-be-worked-in", broken)], null);
}

/** The hidden ref with what it had not committed, whoever kept it; null when there is none. */
export function findKeptWork({ end, brokenWorktree }: Pick<Attempt, "end" | "brokenWorktree">): string | null {
  return end?.wip ?? brokenWorktree?.wip ?? null;
}

export function attemptEvent<T extends NewEvent["type"]>(
  attempt: AboutAttempt,
  actor: Moment["actor"],
  type: T,
  because: string,
  data: Extract<NewEvent, { type: T }>["data"],
): NewEvent {
  return {
    type,
    actor,
    goalId: attempt.goalId,
    nodeId: attempt.workNodeId,
    assignmentId: attempt.assignmentId,
    agent: attempt.agent,
    attempt: attempt.attempt,
    because,
    data,
  } as NewEvent;
}

/** A step of its preparation was begun, done or undone. Refused once the attempt is no longer being prepared. */
export function recordStep(
  attempt: Attempt | undefined,
  number: number,
  step: SlingStep,
  state: StepState,
  moment: Moment,
  terminal?: unknown,
): Decision<null> {
  if (!attempt || attempt.status === "ended") return refuseFenced(number, attempt);
  if (state === "undone" && attempt.runner) return cameUp(attempt);
  const data = terminal === undefined ? { step, state } : { step, state, terminal };
  return accept([attemptEvent(attempt, moment.actor, "agent.step", `${step}-${state}`, data)], null);
}

/** Its runner is being launched. */
export function beginStart(
  attempt: Attempt | undefined,
  number: number,
  moment: Moment,
  launchHash?: string,
): Decision<null> {
  if (attempt?.status !== "preparing") return refuseFenced(number, attempt);
  const data = launchHash === undefined ? {} : { launchHash };
  return accept([attemptEvent(attempt, moment.actor, "agent.starting", "prepared", data)], null);
}

/** Its runner was given files by somebody else. */
export const LAUNCH_CHANGED = "LAUNCH_CHANGED";

export interface StartedRunner {
  readonly runner: ProcessMark;
  readonly seals?: AttemptSeals;
  /** Of the files that it was started with, as it read them. */
  readonly launchHash?: string | undefined;
}

/** The runner speaks for the first time: it is up. */
export function confirmStart(
  attempt: Attempt | undefined,
  number: number,
  { launchHash, ...hello }: StartedRunner,
  moment: Moment,
): Decision<null> {
  // Whoever takes a start back says so first, and ends the runner then: of the two, only one can win.
  if (attempt?.status !== "starting" || attempt.steps.terminal === "undone") return refuseFenced(number, attempt);
  if (attempt.launchHash !== undefined && attempt.launchHash !== launchHash) return refuseLaunch(number);
  return accept([attemptEvent(attempt, moment.actor, "agent.started", "runner-is-up", hello)], null);
}

/** The repository was moved and these worktrees with it; from where each was to where it is. */
export function relocateAttempts(
  attempts: readonly Attempt[],
  found: ReadonlyMap<string, string>,
  move: { readonly from: string; readonly to: string },
): Decision<null> {
  const relocated = attempts.flatMap((attempt) => {
    const worktree = found.get(attempt.worktree);
    if (worktree === undefined) return [];
    return [attemptEvent(attempt, "overseer", "agent.relocated", "repository-moved", { worktree })];
  });
  return accept(
    [{ type: "overseer.moved", actor: "overseer", because: "found-elsewhere", data: move }, ...relocated],
    null,
  );
}

/** Its CLI was started or resumed. */
export function recordLeg(
  attempt: Attempt | undefined,
  number: number,
  leg: { readonly process: ProcessMark; readonly session: string },
  moment: Moment,
): Decision<null> {
  if (!attempt || (attempt.status !== "running" && attempt.status !== "paused")) return refuseFenced(number, attempt);
  const because = attempt.legs === 0 ? "first-leg" : "resumed-session";
  return accept([attemptEvent(attempt, moment.actor, "agent.leg", because, leg)], null);
}

export function pauseAttempt(
  attempt: Attempt | undefined,
  name: string,
  order: { readonly now: boolean; readonly reason: string | null; readonly because?: string },
  moment: Moment,
): Decision<number> {
  if (!attempt || !isLiving(attempt)) return nobody(name);
  if (!mayMove(ATTEMPT_MOVES, attempt.status, "paused")) return cannot(attempt, "paused");
  const { because = "asked-for", now, reason } = order;
  return accept([attemptEvent(attempt, moment.actor, "agent.paused", because, { now, reason })], attempt.attempt);
}

/** Its running turn is to be interrupted; the runner does it. Without a turn there is nothing to interrupt. */
export function requestInterrupt(
  attempt: Attempt | undefined,
  name: string,
  reason: string | null,
  moment: Moment,
): Decision<number> {
  if (!attempt || !isLiving(attempt)) return nobody(name);
  return accept(
    [attemptEvent(attempt, moment.actor, "agent.interrupt_requested", "asked-for", { reason })],
    attempt.attempt,
  );
}

/** It continues, and is told so: a turn that was interrupted would otherwise wait for somebody to speak. */
export function resumeAttempt(
  attempt: Attempt | undefined,
  name: string,
  order: { readonly reason: string | null; readonly messageId: string },
  moment: Moment,
): Decision<number> {
  if (!attempt || !isLiving(attempt)) return nobody(name);
  if (attempt.status !== "paused") return cannot(attempt, "running");
  // Nothing happens to a paused attempt but its pause, so its last change is when that began.
  const minutes = Math.max(0, Math.round((moment.now - attempt.updatedAt) / 60_000));
  const body = [
    `You were paused${minutes > 0 ? ` for ${minutes} min` : ""}; continue with your task where you were.`,
    ...(order.reason ? [order.reason] : []),
  ].join("\n");
  const { messageId, reason } = order;
  return accept(
    [
      attemptEvent(attempt, moment.actor, "agent.resumed", "asked-for", { reason }),
      attemptEvent(attempt, moment.actor, "message.queued", "resumed", {
        messageId,
        kind: "pause",
        from: moment.actor,
        body,
        dispatchId: null,
      }),
    ],
    attempt.attempt,
  );
}

/** Its worktree was to go and stays; said once for the same reason. */
export function noteWorktreeKept(attempt: Attempt | undefined, detail: string, moment: Moment): Decision<null> {
  if (!attempt || attempt.worktreeKept === detail) return accept([], null);
  return accept([attemptEvent(attempt, moment.actor, "agent.worktree_kept", "nothing-may-be-lost", { detail })], null);
}

/** Somebody wants it to end. The runner ends it and says so; asking twice changes nothing. */
export function requestStop(
  attempt: Attempt | undefined,
  name: string,
  reason: string | null,
  moment: Moment,
  resume = false,
): Decision<number> {
  if (!attempt || !isLiving(attempt)) return nobody(name);
  if (attempt.stopRequested) return accept([], attempt.attempt);
  const data = resume ? { reason, resume } : { reason };
  return accept([attemptEvent(attempt, moment.actor, "agent.stop_requested", "asked-for", data)], attempt.attempt);
}

function cameUp(attempt: Attempt): Decision<never> {
  return refuse(
    "conflict",
    "ATTEMPT_STARTED",
    `${attemptLabel(attempt)} started after all.`,
    `Use it, or stop it: overseer stop ${attempt.agent}`,
  );
}

function nobody(name: string): Decision<never> {
  return refuse("not-found", "AGENT_UNKNOWN", `No agent called ${name} is running.`, "'overseer agents' lists them.");
}

function cannot(attempt: Attempt, to: AttemptStatus): Decision<never> {
  return refuse(
    "conflict",
    "ATTEMPT_MOVE_FORBIDDEN",
    `${attemptLabel(attempt)} is ${attempt.status}; it cannot become ${to}.`,
    `From ${attempt.status} it can become ${ATTEMPT_MOVES[attempt.status].join(" or ") || "nothing else"}.`,
  );
}

/** Whoever speaks for an attempt that has ended, or not at that point any more, is told so and changes nothing. */
function refuseFenced(number: number, attempt: Attempt | undefined): Decision<never> {
  return refuse(
    "conflict",
    "ATTEMPT_FENCED",
    attempt
      ? `Attempt #${number} is ${attempt.status}; what it says no longer counts.`
      : `There is no attempt #${number}.`,
    "Nothing to do: another attempt has taken over, or it was stopped.",
  );
}

function refuseLaunch(number: number): Decision<never> {
  return refuse(
    "conflict",
    LAUNCH_CHANGED,
    `The launch file or the policy of attempt #${number} is not the one that was written for it.`,
    "Somebody changed it in between; start the agent again.",
  );
}

/** How an event changes an attempt. Total: an event that is not about it returns it as it was. */
export function applyToAttempt(known: Attempt | undefined, event: EventOf): Attempt | undefined {
  if (event.type === "agent.slung") {
    return {
      ...event.data,
      attempt: event.attempt ?? 0,
      goalId: event.goalId ?? "",
      workNodeId: event.nodeId ?? "",
      assignmentId: event.assignmentId ?? "",
      status: "preparing",
      steps: {},
      terminal: null,
      runner: null,
      process: null,
      session: null,
      legs: 0,
      stopRequested: null,
      pausedNow: false,
      waiting: null,
      announced: 0,
      pausedBecause: null,
      interruptRequestedAt: null,
      end: null,
      createdAt: event.at,
      startedAt: null,
      updatedAt: event.at,
      endedAt: null,
    };
  }
  if (!known) return undefined;
  const at = event.at;
  switch (event.type) {
    case "agent.step":
      return {
        ...known,
        steps: { ...known.steps, [event.data.step]: event.data.state },
        terminal: event.data.terminal ?? known.terminal,
        updatedAt: at,
      };
    case "agent.terminal_regained":
      return { ...known, terminal: event.data.terminal, updatedAt: at };
    case "agent.pace":
      return { ...known, pace: { level: event.data.to, at, seq: event.seq } };
    case "agent.blocked": {
      const { what, fact } = event.data;
      const { blocker: _past, ...free } = known;
      return what === null ? free : { ...known, blocker: { what, fact, at, seq: event.seq } };
    }
    case "agent.starting":
      return { ...known, ...event.data, status: "starting", updatedAt: at };
    case "agent.started":
      return {
        ...known,
        status: "running",
        runner: event.data.runner,
        ...(event.data.seals ? { seals: event.data.seals } : {}),
        startedAt: at,
        updatedAt: at,
      };
    case "agent.leg":
      return {
        ...known,
        process: event.data.process,
        session: event.data.session,
        legs: known.legs + 1,
        updatedAt: at,
      };
    case "agent.relocated":
      return { ...known, worktree: event.data.worktree, updatedAt: at };
    case "agent.paused":
      return { ...known, status: "paused", pausedNow: event.data.now, pausedBecause: event.because, updatedAt: at };
    case "agent.resumed":
      return { ...known, status: "running", pausedNow: false, pausedBecause: null, resumedAt: at, updatedAt: at };
    case "agent.interrupt_requested":
      return { ...known, interruptRequestedAt: at, updatedAt: at };
    case "agent.waiting":
      return { ...known, waiting: { on: event.data.on, since: at }, updatedAt: at };
    case "agent.woken":
      return { ...known, waiting: null, updatedAt: at };
    case "agent.announced":
      return { ...known, announced: event.seq };
    case "agent.stop_requested":
      return { ...known, stopRequested: stopRequestOf(event), updatedAt: at };
    case "agent.worktree_broken":
      return { ...known, brokenWorktree: event.data, updatedAt: at };
    case "agent.worktree_kept":
      return { ...known, worktreeKept: event.data.detail, updatedAt: at };
    case "agent.ended":
      return { ...known, status: "ended", end: event.data, process: null, updatedAt: at, endedAt: at };
    default:
      return known;
  }
}

function stopRequestOf({ actor: by, at, data: { reason, resume } }: EventOf<"agent.stop_requested">): StopRequest {
  return resume ? { by, reason, at, resume } : { by, reason, at };
}
