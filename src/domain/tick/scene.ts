/**
 * A snapshot in an order that does not depend on how it was gathered, and found by name. Rules walk the lists and look
 * things up in constant time, so that a tick over ten thousand agents stays linear.
 */

import type { Action } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { OpenClaim } from "#domain/model/claim.ts";
import type { Condition } from "#domain/model/condition.ts";
import { CLOCK, TICK } from "#domain/model/condition.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { newRecovery } from "#domain/model/ladder-state.ts";
import type { AgentLimits } from "#domain/model/limits.ts";
import { resolveLimits } from "#domain/model/limits.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { type AgentSeen, agentLimits, type Limits, type Snapshot } from "./snapshot.ts";

/** Where something belongs: a node of a goal. */
export interface WorkNodeRef {
  readonly goalId: string;
  readonly workNodeId: string;
}

/** Things by their node. Two maps deep, because gluing the ids together costs more than looking twice. */
class ByNode<T> {
  private readonly goals = new Map<string, Map<string, T>>();

  set({ goalId, workNodeId }: WorkNodeRef, value: T): void {
    const nodes = this.goals.get(goalId);
    if (nodes) nodes.set(workNodeId, value);
    else this.goals.set(goalId, new Map([[workNodeId, value]]));
  }

  get({ goalId, workNodeId }: WorkNodeRef): T | undefined {
    if (this.goals.size === 0) return undefined;
    return this.goals.get(goalId)?.get(workNodeId);
  }
}

export class Scene {
  readonly now: number;
  readonly limits: Limits;
  readonly goals: readonly Goal[];
  readonly nodes: readonly WorkNode[];
  readonly agents: readonly AgentSeen[];
  readonly ended: readonly Attempt[];
  readonly actions: readonly Action[];
  readonly claims: readonly OpenClaim[];
  private readonly goalsById: ReadonlyMap<string, Goal>;
  private readonly nodesByPlace = new ByNode<WorkNode>();
  private readonly assignmentsById = new Map<string, Assignment>();
  private readonly held = new ByNode<true>();
  private readonly agentsByPlace = new ByNode<AgentSeen>();
  private readonly agentsByNumber = new Map<number, AgentSeen>();
  private readonly lastEndedByPlace = new ByNode<Attempt>();
  private readonly recoveries = new ByNode<Recovery>();
  private readonly conditionsById: ReadonlyMap<string, Condition>;
  private readonly asked = new ByNode<true>();
  private readonly claimsByPlace = new ByNode<OpenClaim>();
  private overLately: ReadonlySet<string> | undefined;
  private readonly fleetLimits: AgentLimits;
  private readonly limitsByRole = new Map<string, AgentLimits>();

  constructor(readonly snapshot: Snapshot) {
    const { goals, nodes, agents, ended, actions, claims } = snapshot;
    this.now = snapshot.now;
    this.limits = snapshot.limits;
    this.fleetLimits = agentLimits(snapshot.limits);
    this.goals = ensureSorted(goals, (a, b) => byText(a.goalId, b.goalId));
    this.nodes = ensureSorted(nodes, inPlan);
    this.agents = ensureSorted(agents, (a, b) => a.attempt.attempt - b.attempt.attempt);
    this.ended = ensureSorted(ended, (a, b) => a.attempt - b.attempt);
    this.actions = ensureSorted(actions, (a, b) => byText(a.actionId, b.actionId));
    this.claims = ensureSorted(claims, (a, b) => byText(a.assignmentId, b.assignmentId));
    this.goalsById = new Map(this.goals.map((goal) => [goal.goalId, goal]));
    this.conditionsById = new Map(snapshot.conditions.map((one) => [one.conditionId, one]));
    for (const node of this.nodes) this.nodesByPlace.set(node, node);
    for (const one of snapshot.assignments) {
      this.assignmentsById.set(one.assignmentId, one);
      this.held.set(one, true);
    }
    for (const seen of this.agents) {
      this.agentsByPlace.set(seen.attempt, seen);
      this.agentsByNumber.set(seen.attempt.attempt, seen);
    }
    for (const one of this.ended) this.lastEndedByPlace.set(one, one);
    for (const one of snapshot.recoveries) this.recoveries.set(one, one);
    for (const { goalId, workNodeId, status } of snapshot.questions) {
      if (status === "open" && goalId !== null && workNodeId !== null) this.asked.set({ goalId, workNodeId }, true);
    }
    for (const claim of this.claims) this.claimsByPlace.set(claim, claim);
  }

  goal(goalId: string): Goal | undefined {
    return this.goalsById.get(goalId);
  }

  node(place: WorkNodeRef): WorkNode | undefined {
    return this.nodesByPlace.get(place);
  }

  /** What this agent is judged by: its node's limits over its role's over the fleet's. Equal ones are one object. */
  limitsFor(attempt: Attempt): AgentLimits {
    const { role } = attempt;
    const own = this.node(attempt)?.hints.limits;
    if (own) return resolveLimits(this.fleetLimits, this.limits.roles[role], own);
    let known = this.limitsByRole.get(role);
    if (!known) {
      known = resolveLimits(this.fleetLimits, this.limits.roles[role]);
      this.limitsByRole.set(role, known);
    }
    return known;
  }

  assignment(assignmentId: string): Assignment | undefined {
    return this.assignmentsById.get(assignmentId);
  }

  /** Somebody holds it, or works on it. */
  isHeld(place: WorkNodeRef): boolean {
    return this.held.get(place) === true || this.agentsByPlace.get(place) !== undefined;
  }

  agentOn(place: WorkNodeRef): AgentSeen | undefined {
    return this.agentsByPlace.get(place);
  }

  agent(attempt: number): AgentSeen | undefined {
    return this.agentsByNumber.get(attempt);
  }

  lastEnded(place: WorkNodeRef): Attempt | undefined {
    return this.lastEndedByPlace.get(place);
  }

  recovery(place: WorkNodeRef): Recovery {
    return this.recoveries.get(place) ?? newRecovery(place.goalId, place.workNodeId);
  }

  /** Undefined while nothing was ever tried, which is so for most. */
  findRecovery(place: WorkNodeRef): Recovery | undefined {
    return this.recoveries.get(place);
  }

  condition<K extends Condition["kind"]>(kind: K, id: string): Extract<Condition, { kind: K }> | undefined {
    const found = this.conditionsById.get(id);
    return found?.kind === kind ? (found as Extract<Condition, { kind: K }>) : undefined;
  }

  isAsked(place: WorkNodeRef): boolean {
    return this.asked.get(place) === true;
  }

  claim(place: WorkNodeRef): OpenClaim | undefined {
    return this.claimsByPlace.get(place);
  }

  /** That action was done or given up within the last day. */
  wasCarriedOut(actionId: string): boolean {
    this.overLately ??= new Set(this.snapshot.lately);
    return this.overLately.has(actionId);
  }

  /** Why it was given up; undefined where it was carried out. */
  whyGivenUp(actionId: string): string | undefined {
    return this.snapshot.givenUp.find((one) => one.actionId === actionId)?.problem ?? undefined;
  }

  /** Nothing before this moment counts as silence: the machine slept, or nobody was told anything. */
  get rebasedAt(): number {
    return Math.max(this.condition("clock", CLOCK)?.since ?? 0, this.snapshot.thawedAt);
  }

  get cursor(): number {
    return this.condition("tick", TICK)?.cursor ?? 0;
  }
}

export function byText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

export function inPlan(a: WorkNode, b: WorkNode): number {
  return byText(a.goalId, b.goalId) || a.position - b.position || byText(a.workNodeId, b.workNodeId);
}

/** Sorted; a list that is in order already, as those of the store are, is only looked through. */
export function ensureSorted<T>(list: readonly T[], compare: (a: T, b: T) => number): readonly T[] {
  for (let index = 1; index < list.length; index += 1) {
    const before = list[index - 1];
    const after = list[index];
    if (before !== undefined && after !== undefined && compare(before, after) > 0) return list.toSorted(compare);
  }
  return list;
}
