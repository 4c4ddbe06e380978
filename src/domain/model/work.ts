/**
 * A work node: one phase, task or subtask of a goal's plan. This file knows what a node is, the moves it can make,
 * and what a person may do to it by hand; what follows from a move for its neighbours (readiness, roll-ups) is
 * decided in settle.ts, so that no door can forget it.
 */
import type { Moment } from "#domain/core/actor.ts";
import type { Moves } from "#domain/core/moves.ts";
import { isFinal, mayMove, pathOfMoves } from "#domain/core/moves.ts";
import { refuse } from "#domain/core/refusal.ts";
import type { RecoveryPolicy } from "./assignment.ts";
import type { Claim, SentBack } from "./claim.ts";
import { applyToClaim, SENT_BACK_UNCHANGED } from "./claim.ts";
import type { CrystallizationBody, Evidence } from "./crystallization.ts";
import { crystallization, hasEvidence, NO_EVIDENCE } from "./crystallization.ts";
import { accept, type Decision } from "./decision.ts";
import type { EventOf, NewEvent } from "./event.ts";
import type { OwnLimits } from "./limits.ts";
import { waitsFor } from "./readiness.ts";
import type { OwnSupervision } from "./supervision.ts";

/** What a person answers when a node is to continue without what it waited for and what was cancelled. */
export const GO_ON_WITHOUT = "go on without it";

export const WORK_STATUSES = ["todo", "queued", "in_progress", "blocked", "done", "cancelled"] as const;
export type WorkStatus = (typeof WORK_STATUSES)[number];

/** Every move a node can make. `done` and `cancelled` are final: rework is a new node. */
export const WORK_MOVES: Moves<WorkStatus> = {
  todo: ["queued", "cancelled"],
  queued: ["in_progress", "blocked", "cancelled"],
  in_progress: ["done", "blocked", "queued", "cancelled"],
  blocked: ["queued", "cancelled"],
  done: [],
  cancelled: [],
};

export type NodeKind = "phase" | "task" | "subtask";

export const BLOCKED_KINDS = ["human", "credential", "environment", "dependency", "external", "other"] as const;
export interface BlockedReason {
  readonly kind: (typeof BLOCKED_KINDS)[number];
  readonly detail: string;
  /** What would unblock it, where that is known. */
  readonly needs?: string;
  /** The attempt that a person stopped: the work is theirs until they say otherwise. */
  readonly stopped?: number;
}

export interface ExecutionHints {
  readonly suggestedAgentId?: string;
  readonly suggestedAgentType?: string;
  readonly requiredTools?: readonly string[];
  readonly estimatedEffort?: string;
  readonly riskLevel?: "low" | "med" | "high";
  /** A subtask that gets an agent of its own instead of being done within its task. */
  readonly ownAgent?: boolean;
  /** Limits of whoever works on it, over those of its role and of the fleet. */
  readonly limits?: OwnLimits;
  /** Its files alone, normalised: nobody else is put to work on what overlaps them until it has landed. */
  readonly files?: readonly string[];
  /** The role that it is for; unlike a suggestion, one that has to be there. */
  readonly capability?: string;
  readonly runtime?: string;
  readonly model?: string;
  /** Names of the configured checks that judge it; all of them when absent. */
  readonly checks?: readonly string[];
  /** The first step to take when its agent is stuck. */
  readonly recoveryPolicy?: RecoveryPolicy;
  /** From what whoever works on it is exempt, over what its role says. */
  readonly supervision?: OwnSupervision;
}

export interface NodeDefinition {
  readonly kind: NodeKind;
  readonly parentId: string | null;
  /** Ids from the phase down, joined by `/`. */
  readonly path: string;
  /** Place in the plan as it was written. */
  readonly position: number;
  readonly leaf: boolean;
  readonly name: string;
  readonly objective: string;
  readonly expectedOutcome: string;
  readonly acceptanceCriteria: readonly string[];
  readonly definitionOfDone: string;
  readonly dependsOn: readonly string[];
  readonly hints: ExecutionHints;
  readonly tags: readonly string[];
  /** What it is a part of, since that was split: the first ancestor first, the one it was split from last. */
  readonly splitFrom?: readonly string[];
}

export interface WorkNode extends NodeDefinition {
  readonly goalId: string;
  readonly workNodeId: string;
  readonly revision: number;
  readonly status: WorkStatus;
  readonly blockedReason: BlockedReason | null;
  readonly statusReason: string | null;
  readonly override: { readonly by: string; readonly reason: string; readonly at: number } | null;
  readonly evidence: Evidence | null;
  readonly summary: string | null;
  readonly crystallizationId: string | null;
  readonly unverified: boolean;
  /** Somebody's word that it is done, until it has landed or did not hold. */
  readonly claim?: Claim | undefined;
  /** How often a claim of its present agent did not hold; none when absent. */
  readonly rounds?: number | undefined;
  /** What a person sent back last, and why; whoever gets the node is told. */
  readonly sentBack?: SentBack | undefined;
  /** Its landing is out of the target again; the node itself stays done. */
  readonly takenBack?: TakenBackWork | undefined;
  /** The last conflict of its work with the target: which commit met which, in which files. */
  readonly conflict?: WorkConflict | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface TakenBackWork {
  readonly by: string;
  readonly at: number;
  readonly reason: string | null;
  readonly target: string;
  readonly landed: string;
  readonly commit: string | null;
  /** The node as which it was given anew. */
  readonly again?: string;
}

export interface WorkConflict {
  readonly commit: string;
  readonly onto: string;
  readonly files: readonly string[];
}

/** A node's name outside its goal: goal and node together, since plans re-use ids. */
export function nodeKey(goalId: string, nodeId: string): string {
  return `${goalId}/${nodeId}`;
}

export const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function isOpen(node: Pick<WorkNode, "status">): boolean {
  return !isFinal(WORK_MOVES, node.status);
}

/** How the reason of a node begins that ended because nothing was changed (DONE-1). */
export const NO_CHANGES = "no_changes";

/** What its agent said of it, where a node ended because nothing was changed. */
export function readNoChanges(reason: string | null): string | undefined {
  return reason?.startsWith(`${NO_CHANGES}: `) ? reason.slice(NO_CHANGES.length + 2) : undefined;
}

/** How the reason of a node begins that ended because its work is done in smaller pieces (PLAN-3). */
export const SPLIT_INTO = "split into";

/** The ids of the pieces that do the work of a node now; undefined where it was not split. */
export function readSplit(reason: string | null): readonly string[] | undefined {
  return reason?.startsWith(`${SPLIT_INTO} `) ? reason.slice(SPLIT_INTO.length + 1).split(", ") : undefined;
}

/** What is cancelled stays so; the same work can be asked for again. */
export function tellHowAgain(goalId: string): string {
  return `If it has to be done after all, put it into the plan under a new id (overseer goal plan ${goalId} --file plan.yaml), or give it anew (overseer sling --prompt "...")`;
}

/** What the plan says of it, without what became of it. */
export function takeDefinition(node: WorkNode): NodeDefinition {
  const { kind, parentId, path, position, leaf, name, objective, expectedOutcome, acceptanceCriteria } = node;
  const { definitionOfDone, dependsOn, hints, tags, splitFrom } = node;
  return {
    ...{ kind, parentId, path, position, leaf, name, objective, expectedOutcome, acceptanceCriteria },
    ...{ definitionOfDone, dependsOn, hints, tags, ...(splitFrom === undefined ? {} : { splitFrom }) },
  };
}

/** The nodes below, in plan order. */
export function descendants(node: WorkNode, nodes: readonly WorkNode[]): WorkNode[] {
  return nodes.filter((other) => other.path.startsWith(`${node.path}/`));
}

export interface DoneByHand {
  readonly summary: string;
  readonly evidence?: Evidence;
  /** Set when the person insists although the rules say no. */
  readonly overrideReason?: string;
  /** The id under which the handoff is kept. */
  readonly crystallizationId: string;
}

/**
 * A person says it is done. A queued node is started on the way, since nobody else records the start of work done
 * by hand. Open subtasks, unmet dependencies and a block stand in the way unless the person overrides them; an
 * override walks the same legal moves, and closes what lies open below as cancelled, so that nothing is worked on
 * under a finished parent.
 */
export function finishByHand(
  node: WorkNode,
  nodes: readonly WorkNode[],
  done: DoneByHand,
  moment: Moment,
): Decision<string> {
  const label = nodeKey(node.goalId, node.workNodeId);
  if (!isOpen(node)) return refuseEnded(node);
  const evidence = done.evidence ?? NO_EVIDENCE;
  const overrideReason = done.overrideReason?.trim();
  if (overrideReason === "") {
    return refuse("usage", "REASON_MISSING", "An override needs a reason.", 'Say why you insist: --override "why".');
  }
  if (done.summary.trim() === "" && !hasEvidence(evidence) && !overrideReason) {
    return refuse(
      "usage",
      "EVIDENCE_MISSING",
      `${label} cannot be done without evidence.`,
      'Say what was achieved with --summary "…", name evidence with --commit, --file or --test, or override it with --override "why".',
    );
  }
  const open = descendants(node, nodes).filter(isOpen);
  if (!overrideReason) {
    const obstacle = obstacleToDone(node, nodes, open);
    if (obstacle) return obstacle;
  }
  const because = overrideReason ? "overridden-by-hand" : "finished-by-hand";
  const events: NewEvent[] = [];
  if (overrideReason) {
    events.push(nodeEvent(node, moment, "work.overridden", because, { to: "done", reason: overrideReason }));
    for (const below of open) {
      events.push(nodeEvent(below, moment, "work.cancelled", "parent-overridden", { reason: overrideReason }));
    }
  }
  for (const step of pathOfMoves(WORK_MOVES, node.status, "done") ?? []) {
    if (step === "queued") events.push(nodeEvent(node, moment, "work.queued", because, { reason: null }));
    if (step === "in_progress") events.push(nodeEvent(node, moment, "work.started", because, { reason: null }));
  }
  const summary = done.summary.trim() === "" ? (overrideReason ?? "") : done.summary;
  events.push(
    nodeEvent(node, moment, "crystallization.recorded", because, {
      crystallizationId: done.crystallizationId,
      ...handCrystallization(node.kind, summary, evidence),
    }),
    nodeEvent(node, moment, "work.done", because, {
      summary,
      evidence,
      crystallizationId: done.crystallizationId,
      unverified: true,
    }),
  );
  return accept(events, label);
}

function handCrystallization(kind: NodeKind, summary: string, evidence: Evidence): CrystallizationBody {
  return crystallization(kind, { summary, evidence });
}

function obstacleToDone(
  node: WorkNode,
  nodes: readonly WorkNode[],
  open: readonly WorkNode[],
): Decision<never> | undefined {
  const label = nodeKey(node.goalId, node.workNodeId);
  if (open.length > 0) {
    const names = open.map((below) => below.workNodeId).slice(0, 5);
    return refuse(
      "conflict",
      "CHILDREN_OPEN",
      `${label} has ${open.length} open ${open.length === 1 ? "node" : "nodes"} below it: ${names.join(", ")}${open.length > 5 ? ", …" : ""}.`,
      'Finish those first, or insist with --override "why".',
    );
  }
  if (node.status === "todo") {
    const waiting = waitsFor(node, new Map(nodes.map((one) => [one.workNodeId, one])));
    return refuse(
      "conflict",
      "NOT_READY",
      `${label} is todo: it waits for ${waiting.join(", ")}.`,
      'Finish what it depends on, or insist with --override "why".',
    );
  }
  if (node.status === "blocked") {
    return refuse(
      "conflict",
      "NODE_BLOCKED",
      `${label} is blocked: ${node.blockedReason?.detail ?? "no reason kept"}.`,
      `Run 'overseer work unblock ${label}' first, or insist with --override "why".`,
    );
  }
  return undefined;
}

export function blockNode(node: WorkNode, blocked: BlockedReason, moment: Moment): Decision<string> {
  if (blocked.detail.trim() === "") {
    return refuse(
      "usage",
      "REASON_MISSING",
      "A blocked node needs a reason.",
      'Say what stands in the way: --reason "…" (and --kind, --needs).',
    );
  }
  return moveIfAllowed(node, "blocked", () => [
    nodeEvent(node, moment, "work.blocked", "blocked-by-hand", { blocked }),
  ]);
}

export function unblockNode(node: WorkNode, reason: string | null, moment: Moment): Decision<string> {
  if (node.status !== "blocked") {
    return refuse(
      "conflict",
      "NODE_NOT_BLOCKED",
      `${nodeKey(node.goalId, node.workNodeId)} is ${node.status}, not blocked.`,
      "There is nothing to unblock.",
    );
  }
  return moveIfAllowed(node, "queued", () => liftBlock(node, "unblocked-by-hand", reason, moment));
}

/** Out of the block. A claim that still stands keeps being judged, instead of the work being dispatched once more. */
export function liftBlock(node: WorkNode, because: string, reason: string | null, moment: Moment): NewEvent[] {
  const events = [nodeEvent(node, moment, "work.unblocked", because, { reason })];
  if (!node.claim) return events;
  const { assignmentId, agent, attempt } = node.claim;
  const started = nodeEvent(node, moment, "work.started", "claim-stands", { reason: null });
  return [...events, { ...started, assignmentId, agent, attempt }];
}

/** Cancels a node and everything open below it; what is finished below stays finished. */
export function cancelNode(
  node: WorkNode,
  nodes: readonly WorkNode[],
  reason: string | null,
  moment: Moment,
): Decision<string> {
  return moveIfAllowed(node, "cancelled", () => [
    ...descendants(node, nodes)
      .filter(isOpen)
      .map((below) => nodeEvent(below, moment, "work.cancelled", "parent-cancelled", { reason })),
    nodeEvent(node, moment, "work.cancelled", "cancelled-by-hand", { reason }),
  ]);
}

function moveIfAllowed(node: WorkNode, to: WorkStatus, events: () => NewEvent[]): Decision<string> {
  if (!isOpen(node)) return refuseEnded(node);
  const label = nodeKey(node.goalId, node.workNodeId);
  if (!mayMove(WORK_MOVES, node.status, to)) {
    return refuse(
      "conflict",
      "WORK_MOVE_FORBIDDEN",
      `${label} is ${node.status}; it cannot become ${to}.`,
      `From ${node.status} it can become ${WORK_MOVES[node.status].join(" or ")}.`,
    );
  }
  return accept(events(), label);
}

function refuseEnded(node: WorkNode): Decision<never> {
  return refuse(
    "conflict",
    "NODE_ENDED",
    `${nodeKey(node.goalId, node.workNodeId)} is already ${node.status}, and that is final.`,
    "Rework is a new node: add one to the plan with 'overseer goal plan'.",
  );
}

/** An event about a node, with its ids filled in. */
export function nodeEvent<T extends NewEvent["type"]>(
  node: { readonly goalId: string; readonly workNodeId: string },
  moment: Moment,
  type: T,
  because: string,
  data: Extract<NewEvent, { type: T }>["data"],
): NewEvent {
  return { type, actor: moment.actor, goalId: node.goalId, nodeId: node.workNodeId, because, data } as NewEvent;
}

/** How an event changes a node. Total: an event that is not about the node returns it as it was. */
export function applyToNode(node: WorkNode | undefined, event: EventOf): WorkNode | undefined {
  const after = applyWorkEvent(node, event);
  if (!after || event.type === "work.added") return after;
  const claim = applyToClaim(after.claim, event);
  return claim === after.claim ? after : { ...after, claim, updatedAt: event.at };
}

/** They are the agent's, not the node's: whoever gets it next begins again. */
function roundsAfterStart(node: WorkNode, event: EventOf): number | undefined {
  return event.assignmentId !== undefined && event.assignmentId === node.claim?.assignmentId ? node.rounds : undefined;
}

function keepSentBack({ actor, at, data }: EventOf<"work.returned">): Pick<WorkNode, "sentBack"> {
  const { commit, tree, words } = data;
  if (words === undefined) return {};
  return { sentBack: { commit, ...(tree === undefined ? {} : { tree }), words, by: actor, at } };
}

function applyWorkEvent(node: WorkNode | undefined, event: EventOf): WorkNode | undefined {
  if (event.type === "work.added") {
    const { revision, ...definition } = event.data;
    return {
      goalId: event.goalId ?? "",
      workNodeId: event.nodeId ?? "",
      ...definition,
      revision,
      status: "todo",
      blockedReason: null,
      statusReason: null,
      override: null,
      evidence: null,
      summary: null,
      crystallizationId: null,
      unverified: false,
      createdAt: event.at,
      updatedAt: event.at,
      startedAt: null,
      endedAt: null,
    };
  }
  if (!node) return undefined;
  const at = event.at;
  switch (event.type) {
    case "work.redefined":
      return { ...node, ...event.data.definition, revision: event.data.revision, updatedAt: at };
    case "work.queued":
    case "work.requeued":
    case "work.unblocked":
      return { ...node, status: "queued", blockedReason: null, statusReason: event.data.reason, updatedAt: at };
    case "work.started":
      return {
        ...node,
        status: "in_progress",
        statusReason: event.data.reason,
        rounds: roundsAfterStart(node, event),
        startedAt: node.startedAt ?? at,
        updatedAt: at,
      };
    case "work.blocked":
      return {
        ...node,
        status: "blocked",
        blockedReason: event.data.blocked,
        statusReason: event.data.blocked.detail,
        updatedAt: at,
      };
    case "work.done":
      return {
        ...node,
        status: "done",
        statusReason: null,
        summary: event.data.summary,
        evidence: event.data.evidence,
        crystallizationId: event.data.crystallizationId ?? node.crystallizationId,
        unverified: event.data.unverified,
        updatedAt: at,
        endedAt: at,
      };
    case "work.cancelled":
      return {
        ...node,
        status: "cancelled",
        blockedReason: null,
        statusReason: event.data.reason,
        updatedAt: at,
        endedAt: at,
      };
    case "work.returned":
      return {
        ...node,
        rounds: event.data.round,
        statusReason: event.data.reason,
        ...keepSentBack(event),
        updatedAt: at,
      };
    case "update.refused":
      return event.data.code === SENT_BACK_UNCHANGED && node.sentBack && event.attempt !== undefined
        ? { ...node, sentBack: { ...node.sentBack, toldTo: event.attempt }, updatedAt: at }
        : node;
    case "work.taken_back":
      return node.takenBack ? node : { ...node, takenBack: { by: event.actor, at, ...event.data }, updatedAt: at };
    case "work.given_anew":
      return node.takenBack ? { ...node, takenBack: { ...node.takenBack, again: event.data.as }, updatedAt: at } : node;
    case "landing.refused": {
      const { commit, onto, files } = event.data;
      return onto === undefined ? node : { ...node, conflict: { commit, onto, files }, updatedAt: at };
    }
    case "work.overridden":
      return { ...node, override: { by: event.actor, reason: event.data.reason, at }, updatedAt: at };
    case "crystallization.recorded":
      return { ...node, crystallizationId: event.data.crystallizationId, updatedAt: at };
    default:
      return node;
  }
}
