/**
 * What the rules of one tick decide. A rule returns its steps as values: events, and actions to be asked for; only
 * `decide` puts them together, so that each rule can be read, tested and moved by itself. What was asked for before, by
 * an earlier tick or by an earlier rule of this one, a rule reads from the outbox it is given. An action that is there
 * already is not asked for again, whoever asks.
 */

import type { ActionKind, ActionRequest } from "#domain/model/action.ts";
import { actionDecided } from "#domain/model/action.ts";
import type { EventSubject, NewEvent } from "#domain/model/event.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { WorkNodeRef } from "./scene.ts";

/** One thing that a rule decides. */
export type TickStep = NewEvent | ActionRequest;

/** What a rule decides, and what it found on the way, for the rules after it. */
export interface Ruled<T> {
  readonly value: T;
  readonly steps: readonly TickStep[];
}

export const NO_STEPS: readonly TickStep[] = [];

/** An event as a rule of the tick writes it. */
export function recordEvent<T extends NewEvent["type"]>(
  type: T,
  about: EventSubject,
  because: string,
  data: Extract<NewEvent, { type: T }>["data"],
): NewEvent {
  const { goalId, nodeId, assignmentId, agent, attempt } = about;
  return { type, actor: "overseer", goalId, nodeId, assignmentId, agent, attempt, because, data } as NewEvent;
}

/** What has been asked for and not done. */
export interface Outbox {
  /** An action of that kind for that attempt is in it. */
  has(kind: ActionKind, attempt: number): boolean;
  /** Something for that attempt is in it. */
  expects(attempt: number): boolean;
  hasForNode(kind: ActionKind, node: WorkNodeRef): boolean;
  /** The node is about to be dispatched. */
  givesOut(node: WorkNodeRef): boolean;
  /** What this tick has asked for so far. */
  readonly actions: readonly ActionRequest[];
}

interface OpenAction {
  readonly actionId: string;
  readonly kind: ActionKind;
  readonly attempt: number | null;
  readonly goalId: string | null;
  readonly workNodeId: string | null;
}

/** The steps of one tick, put together. Local to one call of `decide`; nothing outlives it. */
export class Draft implements Outbox {
  readonly events: NewEvent[] = [];
  readonly actions: ActionRequest[] = [];
  private readonly ids = new Set<string>();
  private readonly ofAttempt = new Set<string>();
  private readonly ofNode = new Set<string>();
  private readonly attempts = new Set<number>();
  private readonly kinds = new Set<ActionKind>();

  constructor(
    private readonly now: number,
    open: readonly OpenAction[],
    lately: readonly string[],
  ) {
    for (const id of lately) this.ids.add(id);
    for (const action of open) this.note(action);
  }

  /** An action that is in the outbox already, or was lately, is left out. */
  add(steps: readonly TickStep[]): void {
    for (const step of steps) {
      if ("actionId" in step) this.request(step);
      else this.events.push(step);
    }
  }

  /** The same, and what the rule found. */
  take<T>({ value, steps }: Ruled<T>): T {
    this.add(steps);
    return value;
  }

  has(kind: ActionKind, attempt: number): boolean {
    return this.attempts.has(attempt) && this.ofAttempt.has(`${kind} ${attempt}`);
  }

  expects(attempt: number): boolean {
    return this.attempts.has(attempt);
  }

  hasForNode(kind: ActionKind, { goalId, workNodeId }: WorkNodeRef): boolean {
    return this.kinds.has(kind) && this.ofNode.has(`${kind} ${nodeKey(goalId, workNodeId)}`);
  }

  givesOut(node: WorkNodeRef): boolean {
    return this.hasForNode("spawn", node) || this.hasForNode("restart", node) || this.hasForNode("reassign", node);
  }

  private request(request: ActionRequest): void {
    if (this.ids.has(request.actionId)) return;
    this.actions.push(request);
    this.events.push(actionDecided(request, { now: this.now, actor: "overseer" }));
    const { actionId, kind, attempt = null, goalId = null, nodeId = null } = request;
    this.note({ actionId, kind, attempt, goalId, workNodeId: nodeId });
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
