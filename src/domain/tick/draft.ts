/**
 * What rules have decided so far within one tick: events, and actions for the outbox. An action that is in the outbox
 * already is not asked for again, whoever asks. Local to one call of `decide`; nothing outlives it.
 */

import type { Moment } from "#domain/core/actor.ts";
import type { ActionKind, ActionRequest } from "#domain/model/action.ts";
import { actionDecided } from "#domain/model/action.ts";
import type { EventSubject, NewEvent } from "#domain/model/event.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { WorkNodeRef } from "./scene.ts";

interface OpenAction {
  readonly actionId: string;
  readonly kind: ActionKind;
  readonly attempt: number | null;
  readonly goalId: string | null;
  readonly workNodeId: string | null;
}

export class Draft {
  readonly events: NewEvent[] = [];
  readonly actions: ActionRequest[] = [];
  private readonly ids = new Set<string>();
  private readonly ofAttempt = new Set<string>();
  private readonly ofNode = new Set<string>();
  private readonly attempts = new Set<number>();
  private readonly kinds = new Set<ActionKind>();
  readonly moment: Moment;

  constructor(
    readonly now: number,
    open: readonly OpenAction[],
    lately: readonly string[],
  ) {
    this.moment = { now, actor: "overseer" };
    for (const id of lately) this.ids.add(id);
    for (const action of open) this.note(action);
  }

  event<T extends NewEvent["type"]>(
    type: T,
    about: EventSubject,
    because: string,
    data: Extract<NewEvent, { type: T }>["data"],
  ): void {
    const { goalId, nodeId, assignmentId, agent, attempt } = about;
    const subject = { goalId, nodeId, assignmentId, agent, attempt };
    this.events.push({ type, actor: "overseer", ...subject, because, data } as NewEvent);
  }

  /** False when it is in the outbox already, or was lately. */
  request(request: ActionRequest): boolean {
    if (this.ids.has(request.actionId)) return false;
    this.actions.push(request);
    this.events.push(actionDecided(request, this.moment));
    const { actionId, kind, attempt = null, goalId = null, nodeId = null } = request;
    this.note({ actionId, kind, attempt, goalId, workNodeId: nodeId });
    return true;
  }

  /** An action of that kind for that attempt is in the outbox. */
  has(kind: ActionKind, attempt: number): boolean {
    return this.attempts.has(attempt) && this.ofAttempt.has(`${kind} ${attempt}`);
  }

  /** Something for that attempt is in the outbox. */
  expects(attempt: number): boolean {
    return this.attempts.has(attempt);
  }

  hasForNode(kind: ActionKind, { goalId, workNodeId }: WorkNodeRef): boolean {
    return this.kinds.has(kind) && this.ofNode.has(`${kind} ${nodeKey(goalId, workNodeId)}`);
  }

  /** The node is about to be dispatched. */
  givesOut(node: WorkNodeRef): boolean {
    return this.hasForNode("spawn", node) || this.hasForNode("restart", node) || this.hasForNode("reassign", node);
  }

  private note({ actionId, kind, attempt, goalId, workNodeId }: OpenAction): void {
    this.ids.add(actionId);
    this.kinds.add(kind);
    if (attempt !== null) {
      this.ofAttempt.add(`${kind} ${attempt}`);
      this.attempts.add(attempt);
    }
    if (goalId !== null && workNodeId !== null) this.ofNode.add(`${kind} ${nodeKey(goalId, workNodeId)}`);
  }
}
