/**
 * The outbox: what was decided and has to be done to the world. An action is committed with the events that decided it,
 * under an id that follows from what decided it, so that deciding twice asks for it once; taken under a lease, done, and
 * its outcome committed. After a crash it is simply taken again: whoever carries it out looks first whether the world is
 * already so. This file knows what an action is and how it moves, not how it is done (engine/outbox.ts).
 */

import type { Moment } from "#domain/core/actor.ts";
import type { Backoff } from "#domain/core/backoff.ts";
import { backoffMs } from "#domain/core/backoff.ts";
import { isDue } from "#domain/core/elapsed.ts";
import type { Moves } from "#domain/core/moves.ts";
import { isFinal } from "#domain/core/moves.ts";
import { accept, type Decision } from "./decision.ts";
import type { EventOf, EventSubject, NewEvent } from "./event.ts";

/** Words for an agent, on the way to its inbox. */
export interface Words {
  readonly messageId: string;
  readonly dispatchId: string | null;
  readonly body: string;
}

/** What each kind of action needs to be told. */
export interface ActionPayloads {
  /** Puts an agent to work on a node that is ready; `follows`: in the session of that attempt, where it can be resumed. */
  spawn: {
    readonly dispatchId: string;
    readonly capability: string;
    readonly name: string | null;
    readonly follows?: number;
  };
  /** The same agent, worktree and branch again, after attempt `after` ended by itself. */
  restart: { readonly dispatchId: string; readonly after: number; readonly reason: string };
  deliver: Words & { readonly kind: "nudge" | "status" | "instruction" | "outcome"; readonly severity: string | null };
  /** Interrupts the running turn. */
  /** Interrupts the running turn and sends the instruction again; under the same dispatch id where it was never seen. */
  resend: Words & { readonly rerun: boolean };
  /** Ends attempt `from`, if it lives, and gives the node to a fresh agent with the last handoff. */
  reassign: { readonly dispatchId: string; readonly from: number; readonly reason: string; readonly model?: string };
  /** Asks a model how the node that attempt `from` is stuck on can be split, and splits it. */
  replan: { readonly from: number; readonly cause: string };
  /** Asks a model what is the matter with attempt `from`, which is stuck; with `failure`, of what it died. */
  diagnose: { readonly from: number; readonly cause: string; readonly failure?: true };
  pause: { readonly now: boolean; readonly reason: string; readonly cause: PauseCause };
  resume: { readonly reason: string; readonly messageId: string };
  /** `died`: nothing is left to ask; what it left is cleaned up after. `resume`: the same agent continues later. */
  stop: { readonly reason: string; readonly cause: "asked" | "died"; readonly resume?: boolean };
  check: { readonly commit: string | null };
  land: { readonly commit: string | null };
  /** Sends the target branch to the remote; `commit` is what has landed. */
  push: { readonly target: string; readonly commit: string };
  /** Runs the command that the user wants run on the target after that landing. */
  afterLand: { readonly target: string; readonly commit: string; readonly landing: string };
  ask: { readonly questionId: string; readonly text: string; readonly options: readonly string[] };
  notify: { readonly to: string; readonly outcome: string; readonly text: string };
  clean: { readonly reason: string };
  /** Asks a model for the plan of a goal; `number` says which asking it is. */
  plan: { readonly number: number };
}

export type ActionKind = keyof ActionPayloads;
export type PauseCause = "goal-paused" | "recovery" | "budget";

export const ACTION_KINDS = Object.keys({
  spawn: 0,
  restart: 0,
  deliver: 0,
  resend: 0,
  reassign: 0,
  replan: 0,
  diagnose: 0,
  pause: 0,
  resume: 0,
  stop: 0,
  check: 0,
  land: 0,
  push: 0,
  afterLand: 0,
  ask: 0,
  notify: 0,
  clean: 0,
  plan: 0,
} satisfies Record<ActionKind, 0>) as readonly ActionKind[];

export const ACTION_STATUSES = ["pending", "taken", "done", "failed", "dropped"] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

/** `failed` waits for its next try; `dropped` was given up, or is not wanted any more. */
export const ACTION_MOVES: Moves<ActionStatus> = {
  pending: ["taken", "dropped"],
  taken: ["done", "failed", "dropped"],
  failed: ["taken", "dropped"],
  done: [],
  dropped: [],
};

type RequestOf<K extends ActionKind> = EventSubject & {
  /** Follows from what decided it; the idempotency key end to end. */
  readonly actionId: string;
  readonly kind: K;
  readonly because: string;
  /** Not before this moment, wall clock ms. */
  readonly notBefore: number;
  readonly payload: ActionPayloads[K];
};

/** What a rule asks for. */
export type ActionRequest = { [K in ActionKind]: RequestOf<K> }[ActionKind];

export type Action<K extends ActionKind = ActionKind> = {
  [T in K]: {
    readonly actionId: string;
    readonly kind: T;
    readonly payload: ActionPayloads[T];
    readonly goalId: string | null;
    readonly workNodeId: string | null;
    readonly assignmentId: string | null;
    readonly agent: string | null;
    readonly attempt: number | null;
    readonly because: string;
    readonly status: ActionStatus;
    readonly dueAt: number;
    readonly tries: number;
    readonly lease: { readonly by: string; readonly until: number } | null;
    /** What was in the way at the last try, where it is in the way of others too. */
    readonly cause?: string;
    readonly problem: string | null;
    readonly result: string | null;
    readonly decidedAt: number;
    readonly updatedAt: number;
    readonly endedAt: number | null;
  };
}[K];

/** How whatever is said of landings that a failed command after one holds up begins, the problem of such an action too. */
export const HELD_BACK = "Nothing more lands on";

export function isOpenAction(action: Pick<Action, "status">): boolean {
  return !isFinal(ACTION_MOVES, action.status);
}

/**
 * Whether its time has come: the moment was set when it was decided, or when it last failed. For one that was taken it
 * has come, and only its lease counts: the clock may have been set back between its decision and its taking.
 */
export function isActionDue(action: Pick<Action, "status" | "dueAt" | "updatedAt">, now: number): boolean {
  return action.status === "taken" || isDue(action.dueAt, action.updatedAt, now);
}

/** The event that puts an action into the outbox. */
export function actionDecided(request: ActionRequest, moment: Moment): NewEvent {
  const { actionId, kind, payload, notBefore, because, goalId, nodeId, assignmentId, agent, attempt } = request;
  return {
    type: "action.decided",
    actor: moment.actor,
    ...{ goalId, nodeId, assignmentId, agent, attempt },
    because,
    data: { actionId, kind, payload, notBefore },
  };
}

/** Waits between the tries of one action, and how many there are; DISP-4. */
export const ACTION_BACKOFF: Backoff = { baseMs: 5_000, maxMs: 300_000 };
export const ACTION_TRIES = 8;
/** What a person may put right at any moment is looked at again soon. */
const PATIENT_BACKOFF: Backoff = { baseMs: 5_000, maxMs: 60_000 };

/** Takes it for `leaseMs`. Nothing when it has ended, not due, or in the hands of somebody who lives and whose lease runs. */
export function takeAction(
  action: Action | undefined,
  taker: { readonly by: string; readonly leaseMs: number; gone(by: string): boolean },
  moment: Moment,
): Decision<Action | undefined> {
  if (!action || !isOpenAction(action)) return accept([], undefined);
  const { lease } = action;
  const runs = action.status === "taken" && lease !== null && !isDue(lease.until, action.updatedAt, moment.now);
  const held = runs && !taker.gone(lease.by);
  if (held || !isActionDue(action, moment.now)) return accept([], undefined);
  const because = action.status === "taken" ? "lease-lapsed" : action.status === "failed" ? "tried-again" : "due";
  const data = { actionId: action.actionId, by: taker.by, until: moment.now + taker.leaseMs };
  return accept([about(action, "action.taken", because, data, moment)], action);
}

export type ActionOutcome =
  | { readonly ok: true; readonly result?: string }
  /**
   * `never`: trying again cannot help. `always`: it is never given up, since only the world around it can change that.
   * `afterMs`: not its fault; it waits so long and the try does not count.
   */
  | {
      readonly ok: false;
      readonly problem: string;
      readonly retry: "backoff" | "always" | "never" | { readonly afterMs: number };
      /** What is in the way of anything like it. */
      readonly cause?: string;
    };

const NOT_YET = "not-yet";

/** What became of it. An outcome of somebody who lost the lease meanwhile changes nothing. */
export function closeAction(
  action: Action | undefined,
  by: string,
  outcome: ActionOutcome,
  moment: Moment,
): Decision<boolean> {
  if (action?.status !== "taken" || action.lease?.by !== by) return accept([], false);
  const { actionId } = action;
  if (outcome.ok) {
    const data = { actionId, result: outcome.result ?? null };
    return accept([about(action, "action.done", "carried-out", data, moment)], true);
  }
  const { problem, retry } = outcome;
  if (typeof retry === "object") {
    const data = { actionId, problem, tries: action.tries - 1, retryAt: moment.now + Math.max(0, retry.afterMs) };
    return accept([about(action, "action.failed", NOT_YET, data, moment)], true);
  }
  // What was in the way of everybody was not tried for its own sake.
  const tries = outcome.cause === undefined && action.cause !== undefined ? 1 : action.tries;
  if (retry === "never" || (retry === "backoff" && tries >= ACTION_TRIES)) {
    const because = retry === "never" ? "cannot-be-done" : "tried-too-often";
    return accept([about(action, "action.dropped", because, toDropData(action, problem), moment)], true);
  }
  const data = {
    actionId,
    problem,
    tries,
    retryAt: moment.now + backoffMs(tries, retry === "always" ? PATIENT_BACKOFF : ACTION_BACKOFF),
    ...(outcome.cause === undefined ? {} : { cause: outcome.cause }),
  };
  return accept([about(action, "action.failed", "did-not-work", data, moment)], true);
}

/** What it waits for is there: it is due now. Nothing when it has ended, is being done, or is due anyway. */
export function hastenAction(action: Action | undefined, because: string, moment: Moment): Decision<boolean> {
  if (!action || !isOpenAction(action) || isActionDue(action, moment.now)) return accept([], false);
  const data = { actionId: action.actionId, dueAt: moment.now };
  return accept([about(action, "action.hastened", because, data, moment)], true);
}

export function dropEvent(action: Action, because: string, reason: string, moment: Moment): NewEvent {
  return about(action, "action.dropped", because, toDropData(action, reason), moment);
}

function toDropData(
  { actionId, kind }: Action,
  reason: string,
): { actionId: string; kind: ActionKind; reason: string } {
  return { actionId, kind, reason };
}

function about<T extends NewEvent["type"]>(
  action: Action,
  type: T,
  because: string,
  data: Extract<NewEvent, { type: T }>["data"],
  moment: Moment,
): NewEvent {
  return {
    type,
    actor: moment.actor,
    goalId: action.goalId ?? undefined,
    nodeId: action.workNodeId ?? undefined,
    assignmentId: action.assignmentId ?? undefined,
    agent: action.agent ?? undefined,
    attempt: action.attempt ?? undefined,
    because,
    data,
  } as NewEvent;
}

/** How an event changes an action. Total; deciding an action that is known already changes nothing. */
export function applyToAction(known: Action | undefined, event: EventOf): Action | undefined {
  if (event.type === "action.decided") return known ?? toAction(event);
  if (!known) return undefined;
  const at = event.at;
  switch (event.type) {
    case "action.taken": {
      const { by, until } = event.data;
      return { ...known, status: "taken", tries: known.tries + 1, lease: { by, until }, updatedAt: at };
    }
    case "action.done":
      return { ...known, status: "done", lease: null, result: event.data.result, updatedAt: at, endedAt: at };
    case "action.failed": {
      const { problem, retryAt, tries, cause } = event.data;
      const { cause: before, ...plain } = known;
      const failed = {
        ...plain,
        status: "failed" as const,
        lease: null,
        problem,
        tries,
        dueAt: retryAt,
        updatedAt: at,
      };
      // One that was only put off was not tried.
      const inTheWay = cause ?? (event.because === NOT_YET ? before : undefined);
      return inTheWay === undefined ? failed : { ...failed, cause: inTheWay };
    }
    case "action.hastened":
      return { ...known, dueAt: event.data.dueAt, updatedAt: at };
    case "action.dropped":
      return { ...known, status: "dropped", lease: null, problem: event.data.reason, updatedAt: at, endedAt: at };
    default:
      return known;
  }
}

function toAction(event: EventOf<"action.decided">): Action {
  const { actionId, kind, payload, notBefore } = event.data;
  return {
    actionId,
    kind,
    payload,
    goalId: event.goalId ?? null,
    workNodeId: event.nodeId ?? null,
    assignmentId: event.assignmentId ?? null,
    agent: event.agent ?? null,
    attempt: event.attempt ?? null,
    because: event.because,
    status: "pending",
    dueAt: notBefore,
    tries: 0,
    lease: null,
    problem: null,
    result: null,
    decidedAt: event.at,
    updatedAt: event.at,
    endedAt: null,
  } as Action;
}
