/**
 * Who may be started now: names, scopes, depth, caps and the pace of starts, judged together on one state of the
 * fleet, inside the transaction that makes the claim. The answer is yes, no with the next step, or not yet.
 */

import type { Moment } from "#domain/core/actor.ts";
import { type Backoff, backoffMs } from "#domain/core/backoff.ts";
import { hasPassed, waitLeft } from "#domain/core/elapsed.ts";
import { type Refusal, refuse } from "#domain/core/refusal.ts";
import { overlap } from "#domain/core/scope.ts";
import { inherit } from "#domain/inbox/mailing.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { assign } from "#domain/model/assignment.ts";
import type { Attempt, AttemptPlan } from "#domain/model/attempt.ts";
import { AGENT_NAME, attemptEvent, attemptLabel, findSession, isLiving } from "#domain/model/attempt.ts";
import { isPlaceName, type Worker } from "#domain/model/auto.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Message } from "#domain/model/message.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { PromisedName } from "./promised-names.ts";
import { isPromised } from "./promised-names.ts";
import { endReservation } from "./stop-agent.ts";

export interface FleetLimits {
  readonly maxConcurrent: number;
  readonly maxDepth: number;
  readonly startsPerMinute: number;
  readonly staggerMs: number;
}

/** What the machine has left, and what must stay free. */
export interface Room {
  readonly load: number;
  readonly maxLoad: number;
  readonly memoryBytes: number;
  readonly minMemoryBytes: number;
  readonly diskBytes: number;
  readonly minDiskBytes: number;
}

export interface Wanted {
  readonly plan: Omit<AttemptPlan, "branch" | "worktree" | "logDir">;
  readonly assignmentId: string;
  readonly dispatchId: string;
  readonly messageId: string;
  readonly instruction: string;
  readonly instructionHash: string;
  readonly idleAfterMs: number;
  /** How often it is expected to say how it gets on. */
  readonly dueEveryMs?: number;
  /** What the attempt it continues with was told and never saw, under new ids; given after the instruction. */
  readonly carried?: readonly Pick<Message, "messageId" | "kind" | "from" | "body">[];
  /** It continues with an agent that was stopped for it, and whose place is its own. */
  readonly keepsPlace?: boolean;
}

export interface FleetSeen {
  readonly node: WorkNode;
  readonly history: readonly Assignment[];
  readonly living: readonly Attempt[];
  /** Places of auto mode, beside those of everybody else. */
  readonly workers: readonly Worker[];
  /** How many of the others take a place; see places.ts. */
  readonly atWork: number;
  /** Names whose restart is decided and not carried out. */
  readonly promised: readonly PromisedName[];
  /** Attempts created within the last minute, living or not. */
  readonly recent: readonly Attempt[];
  /** The highest number ever assigned. */
  readonly lastAttempt: number;
  /** Earlier attempts at this node, and those whose branch has the same name; oldest first. */
  readonly earlier: readonly Attempt[];
  /** Attempts of its goal after the one whose session it was given, living or not; none where it was given none. */
  readonly later: readonly Attempt[];
  /** Messages for earlier attempts at this node that nobody saw. */
  readonly unseen: readonly Message[];
}

/** Where the parts of an attempt lie, which needs its number. */
export type Places = (attempt: number, earlier: number) => Pick<AttemptPlan, "branch" | "worktree" | "logDir">;

export type Admission =
  | { readonly admitted: true; readonly attempt: number }
  /** Not yet: ask again after so long. */
  | { readonly admitted: false; readonly waitMs: number; readonly because: string };

export function admit(
  seen: FleetSeen,
  wanted: Wanted,
  limits: FleetLimits,
  room: Room,
  places: Places,
  moment: Moment,
): Decision<Admission> {
  const no = refusal(seen, wanted, limits, room);
  if (no) return { ok: false, refusal: no };
  const wait = pace(seen.recent, limits, moment.now) ?? backoff(seen, moment.now);
  if (wait) return accept([], { admitted: false, ...wait });
  const target = {
    agentId: wanted.plan.agent,
    sessionKey: null,
    deliveryContext: null,
    spawnedBy: findSpawner(wanted),
  };
  const freed = endReservation(seen.node, moment);
  const given = assign(
    freed.node,
    seen.history,
    {
      assignmentId: wanted.assignmentId,
      target,
      recoveryPolicy: seen.node.hints.recoveryPolicy ?? "nudge",
      idleAfterMs: wanted.idleAfterMs,
      ...(wanted.dueEveryMs === undefined ? {} : { dueEveryMs: wanted.dueEveryMs }),
    },
    moment,
  );
  if (!given.ok) return given;
  const attempt = seen.lastAttempt + 1;
  const events = [...freed.events, ...given.events, ...claim(seen, wanted, attempt, places, moment)];
  return accept(events, { admitted: true, attempt });
}

function claim(seen: FleetSeen, wanted: Wanted, attempt: number, places: Places, moment: Moment): NewEvent[] {
  const { plan, assignmentId } = wanted;
  const about = {
    agent: plan.agent,
    attempt,
    goalId: seen.node.goalId,
    workNodeId: seen.node.workNodeId,
    assignmentId,
  };
  const because = plan.follows ? "next-piece" : plan.continues === undefined ? "given-out" : "restarted";
  return [
    attemptEvent(about, moment.actor, "agent.slung", because, { ...plan, ...places(attempt, seen.earlier.length) }),
    attemptEvent(about, moment.actor, "assignment.dispatched", because, {
      dispatchId: wanted.dispatchId,
      ...(plan.follows ? { mode: "send", target: attemptLabel(plan.follows) } : { mode: "spawn" }),
      instruction: wanted.instruction,
      instructionHash: wanted.instructionHash,
      expectedNextUpdateAt: wanted.dueEveryMs === undefined ? null : moment.now + wanted.dueEveryMs,
    }),
    attemptEvent(about, moment.actor, "message.queued", because, {
      messageId: wanted.messageId,
      kind: "instruction",
      from: moment.actor,
      body: wanted.instruction,
      dispatchId: wanted.dispatchId,
    }),
    ...(wanted.carried ?? []).map((message) =>
      attemptEvent(about, moment.actor, "message.queued", "carried-over", { ...message, dispatchId: null }),
    ),
    ...inherit(about, seen.unseen, "overseer"),
  ];
}

function findSpawner(wanted: Wanted): string | null {
  return wanted.plan.parent ? attemptLabel(wanted.plan.parent) : null;
}

function refusal(seen: FleetSeen, wanted: Wanted, limits: FleetLimits, room: Room): Refusal | undefined {
  const { plan } = wanted;
  const no = (decision: Decision<never>): Refusal | undefined => (decision.ok ? undefined : decision.refusal);
  if (!AGENT_NAME.test(plan.agent)) {
    return no(
      refuse(
        "usage",
        "NAME_INVALID",
        `"${plan.agent.slice(0, 40)}" is not a valid agent name.`,
        "Use lowercase letters, digits and dashes, starting with a letter, at most 31 characters.",
      ),
    );
  }
  const namesake = seen.living.find((other) => other.agent === plan.agent);
  if (namesake) {
    return no(
      refuse(
        "conflict",
        "NAME_TAKEN",
        `${attemptLabel(namesake)} already runs under that name.`,
        `Choose another --name, or stop it first: overseer stop ${plan.agent}`,
      ),
    );
  }
  const isPlace = isPlaceName(plan.agent, seen.workers);
  if (!isPlace && isPromised(plan.agent, seen.promised, seen.node)) {
    return no(
      refuse(
        "conflict",
        "NAME_TAKEN",
        `${plan.agent} is about to be started again under that name.`,
        `Choose another --name; 'overseer agent ${plan.agent}' shows it.`,
      ),
    );
  }
  if (plan.depth >= limits.maxDepth) {
    return no(
      refuse(
        "conflict",
        "TOO_DEEP",
        `An agent at depth ${plan.depth} would exceed the limit of ${limits.maxDepth} levels.`,
        "Let the agent above it do the work, or raise agents.maxDepth in .overseer/config.yaml.",
      ),
    );
  }
  if (seen.atWork >= limits.maxConcurrent && wanted.keepsPlace !== true && !isPlace) {
    return no(
      refuse(
        "conflict",
        "FLEET_FULL",
        `${seen.atWork} agents are at work, and ${limits.maxConcurrent} is the limit.`,
        "Wait until one has finished, stop one, or raise agents.maxConcurrent in .overseer/config.yaml.",
      ),
    );
  }
  return sessionRefusal(seen, plan.follows) ?? scopeRefusal(seen, plan.scope) ?? roomRefusal(room);
}

/** A session that somebody else was given. */
export const SESSION_TAKEN = "SESSION_TAKEN";

/** Of two that want the same session one is first, whoever decided what: two agents in one session would garble it. */
function sessionRefusal({ living, later }: FleetSeen, follows: AttemptPlan["follows"]): Refusal | undefined {
  if (!follows) return undefined;
  const other = [...living, ...later].find((one) => findSession(one) === follows.session);
  if (!other) return undefined;
  const decision = refuse(
    "conflict",
    SESSION_TAKEN,
    `The session of ${attemptLabel(follows)} is with ${attemptLabel(other)}.`,
    "Begin in a new session.",
  );
  return decision.ok ? undefined : decision.refusal;
}

function scopeRefusal(seen: FleetSeen, scope: readonly string[] | null): Refusal | undefined {
  if (!scope) return undefined;
  for (const other of seen.living) {
    const both = other.scope && overlap(scope, other.scope);
    if (!both || !isLiving(other)) continue;
    const decision = refuse(
      "conflict",
      "SCOPE_TAKEN",
      `${both[0]} overlaps ${both[1]}, which belongs to ${attemptLabel(other)}.`,
      "Give the agents different files, or wait until that one has ended.",
    );
    return decision.ok ? undefined : decision.refusal;
  }
  return undefined;
}

/** What of the machine is short, with its value and its limit; undefined where there is room. */
export function describeShortage(
  room: Room,
): { readonly cap: "load" | "memory" | "disk"; readonly text: string } | undefined {
  if (room.load > room.maxLoad) {
    const text = `the machine is busy: its load is ${room.load.toFixed(1)}, and ${room.maxLoad.toFixed(1)} is the limit`;
    return { cap: "load", text };
  }
  if (room.memoryBytes < room.minMemoryBytes) {
    return {
      cap: "memory",
      text: `memory is short: ${sizeOf(room.memoryBytes)} free, ${sizeOf(room.minMemoryBytes)} needed`,
    };
  }
  const text = describeFullDisk(room);
  return text === undefined ? undefined : { cap: "disk", text };
}

/** The same for the disk alone, whatever else is short beside it. */
export function describeFullDisk({ diskBytes, minDiskBytes }: Room): string | undefined {
  if (diskBytes >= minDiskBytes) return undefined;
  return `the disk is nearly full: ${sizeOf(diskBytes)} free, ${sizeOf(minDiskBytes)} needed`;
}

/** In megabytes where it is less than one gigabyte: what is nearly nothing is told too. */
function sizeOf(bytes: number): string {
  return bytes < 1024 ** 3 ? `${Math.floor(bytes / 1024 ** 2)} MB` : `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

function roomRefusal(room: Room): Refusal | undefined {
  const short = describeShortage(room)?.text;
  if (!short) return undefined;
  const decision = refuse(
    "conflict",
    "NO_ROOM",
    `${short.charAt(0).toUpperCase()}${short.slice(1)}.`,
    "Wait, free some, or change capacity.* in .overseer/config.yaml.",
  );
  return decision.ok ? undefined : decision.refusal;
}

const FAILED_STARTS: Backoff = { baseMs: 2_000, maxMs: 60_000 };

/** A task whose agents fail to start again and again is tried less and less often; one failure alone costs nothing. */
function backoff(seen: FleetSeen, now: number): { readonly waitMs: number; readonly because: string } | undefined {
  const { goalId, workNodeId } = seen.node;
  const own = seen.earlier.filter((one) => one.goalId === goalId && one.workNodeId === workNodeId).toReversed();
  const started = own.findIndex((one) => one.end?.cause !== "failed_to_start");
  const failures = started < 0 ? own.length : started;
  const last = own[0];
  if (failures < 2 || !last) return undefined;
  const pause = backoffMs(failures - 1, FAILED_STARTS);
  const waitMs = waitLeft(last.endedAt ?? last.createdAt, pause, now);
  return waitMs > 0 ? { waitMs, because: `the last ${failures} starts on this task failed` } : undefined;
}

/** The pace of starts: at least the stagger between two, at most so many in a minute. */
function pace(
  recent: readonly Attempt[],
  limits: FleetLimits,
  now: number,
): { readonly waitMs: number; readonly because: string } | undefined {
  const times = recent
    .map((attempt) => attempt.createdAt)
    .filter((at) => !hasPassed(at, 60_000, now))
    .sort((a, b) => b - a);
  const [last] = times;
  const stagger = last === undefined ? 0 : waitLeft(last, limits.staggerMs, now);
  if (stagger > 0) return { waitMs: stagger, because: "another agent was started a moment ago" };
  const crowded = times[limits.startsPerMinute - 1];
  if (crowded === undefined) return undefined;
  return {
    waitMs: waitLeft(crowded, 60_000, now),
    because: `${limits.startsPerMinute} agents were started within a minute`,
  };
}
