/**
 * An assignment binds a work node to whoever works on it. It is kept apart from the node, so that the same work can
 * be given to another without the plan changing; the old assignment stays in history. Dispatches are its append-only
 * record of what was said to the agent and what became of it.
 */
import type { Moment } from "#domain/core/actor.ts";
import type { Moves } from "#domain/core/moves.ts";
import { isFinal, mayMove } from "#domain/core/moves.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "./decision.ts";
import type { EventOf, NewEvent } from "./event.ts";
import type { WorkNode } from "./work.ts";
import { nodeKey } from "./work.ts";

export const ASSIGNMENT_STATUSES = [
  "queued",
  "dispatched",
  "active",
  "stalled",
  "blocked",
  "done",
  "cancelled",
] as const;
export type AssignmentStatus = (typeof ASSIGNMENT_STATUSES)[number];

/** Every move an assignment can make. */
export const ASSIGNMENT_MOVES: Moves<AssignmentStatus> = {
  queued: ["dispatched", "cancelled"],
  dispatched: ["active", "stalled", "cancelled"],
  active: ["stalled", "blocked", "done", "cancelled"],
  stalled: ["active", "blocked", "done", "cancelled"],
  blocked: ["active", "done", "cancelled"],
  done: [],
  cancelled: [],
};

export const RECOVERY_POLICIES = ["nudge", "resend_last", "replan", "reassign", "escalate"] as const;
/** The first rung of the ladder to try when it stalls. */
export type RecoveryPolicy = (typeof RECOVERY_POLICIES)[number];
export type DispatchMode = "send" | "spawn" | "escalate";
export type DispatchResult = "accepted" | "ok" | "timeout" | "error";

export interface AssignmentTarget {
  readonly agentId: string;
  readonly sessionKey: string | null;
  readonly deliveryContext: Readonly<Record<string, string>> | null;
  /** Who asked for the spawn, where an agent did. */
  readonly spawnedBy: string | null;
}

export interface BlockedAssignment {
  readonly on: "human" | "external";
  readonly detail: string;
}

export interface Dispatch {
  readonly dispatchId: string;
  readonly at: number;
  readonly mode: DispatchMode;
  readonly target: string;
  readonly instructionHash: string;
  readonly result: DispatchResult | null;
  readonly runId: string | null;
  readonly notes: string;
}

export interface Assignment {
  readonly assignmentId: string;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly target: AssignmentTarget;
  readonly status: AssignmentStatus;
  readonly statusReason: string | null;
  readonly blockedReason: BlockedAssignment | null;
  readonly lastInstruction: string | null;
  readonly instructionHash: string | null;
  readonly dispatches: readonly Dispatch[];
  readonly runId: string | null;
  readonly recoveryPolicy: RecoveryPolicy;
  readonly idleAfterMs: number;
  readonly retryCount: number;
  readonly lastRetryAt: number | null;
  readonly backoffUntil: number | null;
  readonly lastDispatchAt: number | null;
  readonly lastObservedActivityAt: number | null;
  readonly expectedNextUpdateAt: number | null;
  /** How often an update is expected; absent where none is. */
  readonly dueEveryMs?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
}

export interface NewAssignment {
  readonly assignmentId: string;
  readonly target: AssignmentTarget;
  readonly recoveryPolicy: RecoveryPolicy;
  readonly idleAfterMs: number;
  readonly dueEveryMs?: number;
}

export function isLive(assignment: Assignment): boolean {
  return !isFinal(ASSIGNMENT_MOVES, assignment.status);
}

/**
 * Gives a ready node to an agent: the assignment is made and the node starts, in one decision. A node has at most
 * one live assignment; giving it to another means ending the old one first (`reassign`).
 */
export function assign(
  node: WorkNode,
  history: readonly Assignment[],
  wanted: NewAssignment,
  moment: Moment,
): Decision<string> {
  const label = nodeKey(node.goalId, node.workNodeId);
  const holder = history.find(isLive);
  if (holder) {
    return refuse(
      "conflict",
      "NODE_TAKEN",
      `${label} is with ${holder.target.agentId} (${holder.assignmentId}).`,
      "Wait for its outcome, or stop that agent first.",
    );
  }
  if (node.status !== "queued") {
    return refuse(
      "conflict",
      "NODE_NOT_READY",
      `${label} is ${node.status}; only a queued node can be dispatched.`,
      `Run 'overseer why ${label}' to see what it waits for.`,
    );
  }
  const { assignmentId, ...rest } = wanted;
  const about = { actor: moment.actor, goalId: node.goalId, nodeId: node.workNodeId };
  return accept(
    [
      {
        type: "assignment.created",
        ...about,
        assignmentId,
        agent: wanted.target.agentId,
        because: "given-out",
        data: rest,
      },
      { type: "work.started", ...about, assignmentId, because: "given-out", data: { reason: null } },
    ],
    assignmentId,
  );
}

/** Ends the live assignment and gives the node to another, in one decision. The plan is not touched (ASG-2). */
export function reassign(
  node: WorkNode,
  history: readonly Assignment[],
  wanted: NewAssignment,
  reason: string,
  moment: Moment,
): Decision<string> {
  const holder = history.find(isLive);
  if (!holder || node.status !== "in_progress") {
    return refuse(
      "conflict",
      "NOTHING_TO_REASSIGN",
      `${nodeKey(node.goalId, node.workNodeId)} is with nobody.`,
      "Dispatch it instead.",
    );
  }
  const { assignmentId, ...rest } = wanted;
  const about = { actor: moment.actor, goalId: node.goalId, nodeId: node.workNodeId };
  return accept(
    [
      {
        type: "assignment.cancelled",
        ...about,
        assignmentId: holder.assignmentId,
        because: "reassigned",
        data: { reason },
      },
      { type: "work.requeued", ...about, because: "reassigned", data: { reason } },
      {
        type: "assignment.created",
        ...about,
        assignmentId,
        agent: wanted.target.agentId,
        because: "reassigned",
        data: rest,
      },
      { type: "work.started", ...about, assignmentId, because: "reassigned", data: { reason: null } },
    ],
    assignmentId,
  );
}

const MOVE_EVENTS = {
  active: "assignment.active",
  stalled: "assignment.stalled",
  done: "assignment.done",
  cancelled: "assignment.cancelled",
} as const;

export function moveAssignment(
  assignment: Assignment,
  to: keyof typeof MOVE_EVENTS,
  because: string,
  reason: string | null,
  moment: Moment,
): Decision<string> {
  if (!mayMove(ASSIGNMENT_MOVES, assignment.status, to)) return forbidden(assignment, to);
  return accept(
    [{ type: MOVE_EVENTS[to], ...subject(assignment), actor: moment.actor, because, data: { reason } }],
    assignment.assignmentId,
  );
}

export function blockAssignment(assignment: Assignment, blocked: BlockedAssignment, moment: Moment): Decision<string> {
  if (!mayMove(ASSIGNMENT_MOVES, assignment.status, "blocked")) return forbidden(assignment, "blocked");
  return accept(
    [
      {
        type: "assignment.blocked",
        ...subject(assignment),
        actor: moment.actor,
        because: `waiting-on-${blocked.on}`,
        data: { blocked },
      },
    ],
    assignment.assignmentId,
  );
}

function forbidden(assignment: Assignment, to: AssignmentStatus): Decision<never> {
  return refuse(
    "conflict",
    "ASSIGNMENT_MOVE_FORBIDDEN",
    `Assignment ${assignment.assignmentId} is ${assignment.status}; it cannot become ${to}.`,
    `Run 'overseer why ${assignment.assignmentId}' to see how it got there.`,
  );
}

export function subject(assignment: Assignment): Pick<NewEvent, "goalId" | "nodeId" | "assignmentId" | "agent"> {
  return {
    goalId: assignment.goalId,
    nodeId: assignment.workNodeId,
    assignmentId: assignment.assignmentId,
    agent: assignment.target.agentId,
  };
}

/** How an event changes an assignment. Total: an event that is not about it returns it as it was. */
export function applyToAssignment(known: Assignment | undefined, event: EventOf): Assignment | undefined {
  if (event.type === "assignment.created") return toAssignment(event);
  if (!known) return undefined;
  const at = event.at;
  switch (event.type) {
    case "assignment.dispatched":
      return applyDispatch(known, event);
    case "assignment.delivered":
      return {
        ...known,
        dispatches: known.dispatches.map((dispatch) =>
          dispatch.dispatchId === event.data.dispatchId
            ? { ...dispatch, result: event.data.result, runId: event.data.runId, notes: event.data.notes }
            : dispatch,
        ),
        runId: event.data.runId ?? known.runId,
        updatedAt: at,
      };
    case "assignment.active":
      return {
        ...known,
        status: "active",
        blockedReason: null,
        statusReason: event.data.reason,
        lastObservedActivityAt: at,
        updatedAt: at,
      };
    case "assignment.stalled":
      return { ...known, status: "stalled", statusReason: event.data.reason, updatedAt: at };
    case "assignment.blocked":
      return {
        ...known,
        status: "blocked",
        blockedReason: event.data.blocked,
        statusReason: event.data.blocked.detail,
        updatedAt: at,
      };
    case "assignment.done":
    case "assignment.cancelled":
      return {
        ...known,
        status: event.type === "assignment.done" ? "done" : "cancelled",
        statusReason: event.data.reason,
        updatedAt: at,
        endedAt: at,
      };
    case "assignment.nudged":
    case "assignment.resent":
      return countRetry(withDispatch(known, event), event.data.backoffUntil, at);
    case "assignment.status_requested":
      return { ...expectNext(withDispatch(known, event), at), updatedAt: at };
    case "update.taken":
      return expectNext(known, at);
    case "assignment.reassigning":
    case "assignment.strengthened":
    case "assignment.parked":
    case "assignment.escalated":
      return countRetry(known, event.data.backoffUntil, at);
    case "assignment.progressed":
      return { ...known, retryCount: 0, backoffUntil: null, lastObservedActivityAt: event.data.seenAt, updatedAt: at };
    default:
      return known;
  }
}

function countRetry(known: Assignment, backoffUntil: number, at: number): Assignment {
  return { ...known, retryCount: known.retryCount + 1, lastRetryAt: at, backoffUntil, updatedAt: at };
}

/** Words beside the work itself: they are in the history, and the last instruction stays what it was. */
function withDispatch(
  known: Assignment,
  event: EventOf<"assignment.nudged" | "assignment.resent" | "assignment.status_requested">,
): Assignment {
  const { dispatchId, instructionHash } = event.data;
  if (known.dispatches.some((dispatch) => dispatch.dispatchId === dispatchId)) return known;
  const target = known.target.sessionKey ?? known.target.agentId;
  const entry = { dispatchId, at: event.at, mode: "send", target, instructionHash, result: null, runId: null } as const;
  return { ...known, dispatches: [...known.dispatches, { ...entry, notes: event.type.slice("assignment.".length) }] };
}

function toAssignment(event: EventOf<"assignment.created">): Assignment {
  return {
    assignmentId: event.assignmentId ?? "",
    goalId: event.goalId ?? "",
    workNodeId: event.nodeId ?? "",
    target: event.data.target,
    status: "queued",
    statusReason: null,
    blockedReason: null,
    lastInstruction: null,
    instructionHash: null,
    dispatches: [],
    runId: null,
    recoveryPolicy: event.data.recoveryPolicy,
    idleAfterMs: event.data.idleAfterMs,
    retryCount: 0,
    lastRetryAt: null,
    backoffUntil: null,
    lastDispatchAt: null,
    lastObservedActivityAt: null,
    expectedNextUpdateAt: null,
    ...(event.data.dueEveryMs === undefined ? {} : { dueEveryMs: event.data.dueEveryMs }),
    createdAt: event.at,
    updatedAt: event.at,
    endedAt: null,
  };
}

/** An update that came, or that was asked for, is not due again before its time. */
function expectNext(known: Assignment, at: number): Assignment {
  const { dueEveryMs } = known;
  return dueEveryMs === undefined ? known : { ...known, expectedNextUpdateAt: at + dueEveryMs };
}

/** A first dispatch makes it `dispatched`; a later one under way (nudge, resend) leaves the status as it is. */
function applyDispatch(known: Assignment, event: EventOf<"assignment.dispatched">): Assignment {
  const again = known.dispatches.find((dispatch) => dispatch.dispatchId === event.data.dispatchId);
  const entry: Dispatch = {
    dispatchId: event.data.dispatchId,
    at: event.at,
    mode: event.data.mode,
    target: event.data.target ?? known.target.sessionKey ?? known.target.agentId,
    instructionHash: event.data.instructionHash,
    result: null,
    runId: null,
    notes: "",
  };
  return {
    ...known,
    status: known.status === "queued" ? "dispatched" : known.status,
    lastInstruction: event.data.instruction,
    instructionHash: event.data.instructionHash,
    dispatches: again ? known.dispatches : [...known.dispatches, entry],
    lastDispatchAt: event.at,
    expectedNextUpdateAt: event.data.expectedNextUpdateAt,
    updatedAt: event.at,
  };
}
