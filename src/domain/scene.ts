/**
 * A snapshot in an order that does not depend on how it was gathered, and found by name. Rules walk the lists and look
 * things up in constant time, so that a tick over ten thousand agents stays linear.
 */
import type { Action } from "./action.ts";
import type { Assignment } from "./assignment.ts";
import type { Attempt } from "./attempt.ts";
import type { Condition } from "./condition.ts";
import { CLOCK, TICK } from "./condition.ts";
import type { Goal } from "./goal.ts";
import type { Recovery } from "./recovery.ts";
import { newRecovery } from "./recovery.ts";
import type { AgentSeen, Claim, Limits, Snapshot } from "./snapshot.ts";
import type { WorkNode } from "./work.ts";
import { nodeKey } from "./work.ts";

export class Scene {
  readonly now: number;
  readonly limits: Limits;
  readonly goals: readonly Goal[];
  readonly nodes: readonly WorkNode[];
  readonly agents: readonly AgentSeen[];
  readonly ended: readonly Attempt[];
  readonly actions: readonly Action[];
  private readonly goalsById: ReadonlyMap<string, Goal>;
  private readonly nodesByKey = new Map<string, WorkNode>();
  private readonly assignmentsById = new Map<string, Assignment>();
  private readonly heldNodes = new Set<string>();
  private readonly agentsByNode = new Map<string, AgentSeen>();
  private readonly agentsByNumber = new Map<number, AgentSeen>();
  private readonly lastEndedByNode = new Map<string, Attempt>();
  private readonly recoveriesByNode = new Map<string, Recovery>();
  private readonly conditionsById: ReadonlyMap<string, Condition>;
  private readonly asked = new Set<string>();
  private readonly claimsByNode = new Map<string, Claim>();

  constructor(readonly snapshot: Snapshot) {
    const { goals, nodes, agents, ended, actions } = snapshot;
    this.now = snapshot.now;
    this.limits = snapshot.limits;
    this.goals = goals.toSorted((a, b) => byText(a.goalId, b.goalId));
    this.nodes = nodes.toSorted(
      (a, b) => byText(a.goalId, b.goalId) || a.position - b.position || byText(a.workNodeId, b.workNodeId),
    );
    this.agents = agents.toSorted((a, b) => a.attempt.attempt - b.attempt.attempt);
    this.ended = ended.toSorted((a, b) => a.attempt - b.attempt);
    this.actions = actions.toSorted((a, b) => byText(a.actionId, b.actionId));
    this.goalsById = new Map(this.goals.map((goal) => [goal.goalId, goal]));
    for (const node of this.nodes) this.nodesByKey.set(nodeKey(node.goalId, node.workNodeId), node);
    for (const one of snapshot.assignments) {
      this.assignmentsById.set(one.assignmentId, one);
      this.heldNodes.add(nodeKey(one.goalId, one.workNodeId));
    }
    for (const seen of this.agents) {
      const { goalId, workNodeId, attempt } = seen.attempt;
      this.agentsByNode.set(nodeKey(goalId, workNodeId), seen);
      this.agentsByNumber.set(attempt, seen);
    }
    for (const one of this.ended) this.lastEndedByNode.set(nodeKey(one.goalId, one.workNodeId), one);
    for (const one of snapshot.recoveries) this.recoveriesByNode.set(nodeKey(one.goalId, one.workNodeId), one);
    this.conditionsById = new Map(snapshot.conditions.map((one) => [one.conditionId, one]));
    for (const { goalId, workNodeId, status } of snapshot.questions) {
      if (status === "open" && goalId !== null && workNodeId !== null) this.asked.add(nodeKey(goalId, workNodeId));
    }
    for (const claim of snapshot.claims.toSorted((a, b) => byText(a.assignmentId, b.assignmentId))) {
      this.claimsByNode.set(nodeKey(claim.goalId, claim.workNodeId), claim);
    }
  }

  goal(goalId: string): Goal | undefined {
    return this.goalsById.get(goalId);
  }

  node(goalId: string, nodeId: string): WorkNode | undefined {
    return this.nodesByKey.get(nodeKey(goalId, nodeId));
  }

  assignment(assignmentId: string): Assignment | undefined {
    return this.assignmentsById.get(assignmentId);
  }

  /** Somebody holds it, or works on it. */
  isHeld(node: string): boolean {
    return this.heldNodes.has(node) || this.agentsByNode.has(node);
  }

  agentOn(node: string): AgentSeen | undefined {
    return this.agentsByNode.get(node);
  }

  agent(attempt: number): AgentSeen | undefined {
    return this.agentsByNumber.get(attempt);
  }

  lastEnded(node: string): Attempt | undefined {
    return this.lastEndedByNode.get(node);
  }

  recovery(goalId: string, nodeId: string): Recovery {
    return this.recoveriesByNode.get(nodeKey(goalId, nodeId)) ?? newRecovery(goalId, nodeId);
  }

  condition<K extends Condition["kind"]>(kind: K, id: string): Extract<Condition, { kind: K }> | undefined {
    const found = this.conditionsById.get(id);
    return found?.kind === kind ? (found as Extract<Condition, { kind: K }>) : undefined;
  }

  isAsked(node: string): boolean {
    return this.asked.has(node);
  }

  claim(node: string): Claim | undefined {
    return this.claimsByNode.get(node);
  }

  /** Nothing before this moment counts as silence: the machine slept. */
  get rebasedAt(): number {
    return this.condition("clock", CLOCK)?.since ?? 0;
  }

  get cursor(): number {
    return this.condition("tick", TICK)?.cursor ?? 0;
  }
}

export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
