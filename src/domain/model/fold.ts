/**
 * The fold: which entities an event touches, and what it makes of each. Both stores, the rebuild and the importer
 * use these two functions and nothing else, so a table can never say what the log does not.
 */
import type { Action } from "./action.ts";
import { ACTION_MOVES, applyToAction } from "./action.ts";
import type { Assignment } from "./assignment.ts";
import { ASSIGNMENT_MOVES, applyToAssignment } from "./assignment.ts";
import type { Attempt } from "./attempt.ts";
import { ATTEMPT_MOVES, applyToAttempt } from "./attempt.ts";
import { SENT_BACK_UNCHANGED } from "./claim.ts";
import type { Condition } from "./condition.ts";
import { applyToCondition, conditionOf } from "./condition.ts";
import type { Crystallization } from "./crystallization.ts";
import { applyToCrystallization } from "./crystallization.ts";
import type { EventOf } from "./event.ts";
import type { Fleet } from "./fleet.ts";
import { applyToFleet, FLEET_ID, FLEET_MOVES } from "./fleet.ts";
import type { Goal } from "./goal.ts";
import { applyToGoal, GOAL_MOVES } from "./goal.ts";
import type { Recovery } from "./ladder-state.ts";
import { applyToRecovery, isDispatch } from "./ladder-state.ts";
import type { Learning } from "./learning.ts";
import { applyToLearning, LEARNING_MOVES } from "./learning.ts";
import type { Merge } from "./merge.ts";
import { applyToMerge, MERGE_MOVES } from "./merge.ts";
import type { Message } from "./message.ts";
import { applyToMessage, MESSAGE_MOVES } from "./message.ts";
import type { Question } from "./question.ts";
import { applyToQuestion, QUESTION_MOVES } from "./question.ts";
import type { RecordedResolution } from "./resolution.ts";
import { applyToResolution, resolutionIdOf } from "./resolution.ts";
import type { Verdict } from "./verdict.ts";
import { applyToVerdict, verdictIdOf } from "./verdict.ts";
import type { WorkNode } from "./work.ts";
import { applyToNode, nodeKey, WORK_MOVES } from "./work.ts";

export interface Entities {
  goal: Goal;
  node: WorkNode;
  assignment: Assignment;
  crystallization: Crystallization;
  question: Question;
  attempt: Attempt;
  message: Message;
  action: Action;
  recovery: Recovery;
  condition: Condition;
  fleet: Fleet;
  merge: Merge;
  verdict: Verdict;
  resolution: RecordedResolution;
  learning: Learning;
}
export type EntityKind = keyof Entities;
export type Entity = Entities[EntityKind];

export interface EntityRef {
  readonly kind: EntityKind;
  readonly id: string;
}

/** What an event touches. A goal is touched only by events about itself, so that work on nodes never contends for it. */
export function listTouched(event: EventOf): EntityRef[] {
  const condition = conditionOf(event);
  if (condition !== undefined) return [{ kind: "condition", id: condition }];
  const noun = event.type.slice(0, event.type.indexOf("."));
  switch (noun) {
    case "goal":
    case "plan":
      return event.goalId ? [{ kind: "goal", id: event.goalId }] : [];
    case "work":
      return event.type === "work.unblocked" ? [...nodeRef(event), ...recoveryRef(event)] : nodeRef(event);
    case "assignment": {
      const own: EntityRef[] = event.assignmentId ? [{ kind: "assignment", id: event.assignmentId }] : [];
      return RECOVERY_STEPS.has(event.type) ? [...own, ...recoveryRef(event)] : own;
    }
    case "update":
      if (event.type === "update.refused" && event.data.code === SENT_BACK_UNCHANGED) return nodeRef(event);
      return event.type === "update.taken" && event.assignmentId
        ? [{ kind: "assignment", id: event.assignmentId }]
        : [];
    case "action":
      return "actionId" in event.data ? [{ kind: "action", id: event.data.actionId }, ...dispatchRef(event)] : [];
    case "check":
      return [...nodeRef(event), ...verdictRef(event)];
    case "landing":
      return nodeRef(event);
    case "merge":
      if (event.type === "merge.resolved") return [{ kind: "resolution", id: resolutionIdOf(event.data) }];
      return "mergeId" in event.data ? [{ kind: "merge", id: event.data.mergeId }] : [];
    case "crystallization":
      return event.type === "crystallization.recorded"
        ? [{ kind: "crystallization", id: event.data.crystallizationId }, ...nodeRef(event)]
        : [];
    case "question":
      return "questionId" in event.data && typeof event.data.questionId === "string"
        ? [
            { kind: "question", id: event.data.questionId },
            ...(event.type === "question.answered" ? recoveryRef(event) : []),
          ]
        : [];
    case "agent": {
      const own: EntityRef[] = event.attempt === undefined ? [] : [{ kind: "attempt", id: String(event.attempt) }];
      return event.type === "agent.steered" ? [...own, ...recoveryRef(event)] : own;
    }
    case "message":
      return "messageId" in event.data ? [{ kind: "message", id: event.data.messageId }] : [];
    case "learning":
      return "learningId" in event.data ? [{ kind: "learning", id: event.data.learningId }] : [];
    case "fleet":
      return [{ kind: "fleet", id: FLEET_ID }];
    default:
      return [];
  }
}

/** Events about an assignment that its node's recovery remembers too. */
const RECOVERY_STEPS: ReadonlySet<string> = new Set<EventOf["type"]>([
  "assignment.nudged",
  "assignment.status_requested",
  "assignment.resent",
  "assignment.replanning",
  "assignment.replan_skipped",
  "assignment.strengthened",
  "assignment.diagnosed",
  "assignment.diagnosis_failed",
  "assignment.advised",
  "assignment.reassigning",
  "assignment.parked",
  "assignment.escalated",
  "assignment.restarting",
  "assignment.doubted",
  "assignment.progressed",
]);

function recoveryRef(event: EventOf): EntityRef[] {
  return event.goalId && event.nodeId ? [{ kind: "recovery", id: nodeKey(event.goalId, event.nodeId) }] : [];
}

function dispatchRef(event: EventOf): EntityRef[] {
  if (event.type !== "action.decided" && event.type !== "action.dropped") return [];
  const counts = isDispatch(event.data.kind) || (event.type === "action.decided" && event.data.kind === "diagnose");
  return counts ? recoveryRef(event) : [];
}

function verdictRef(event: EventOf): EntityRef[] {
  return event.type === "check.finished" ? [{ kind: "verdict", id: verdictIdOf(event.data) }] : [];
}

function nodeRef(event: EventOf): EntityRef[] {
  return event.goalId && event.nodeId ? [{ kind: "node", id: nodeKey(event.goalId, event.nodeId) }] : [];
}

type Apply = { [K in EntityKind]: (entity: Entities[K] | undefined, event: EventOf) => Entities[K] | undefined };

const APPLY: Apply = {
  goal: applyToGoal,
  node: applyToNode,
  assignment: applyToAssignment,
  crystallization: applyToCrystallization,
  question: applyToQuestion,
  attempt: applyToAttempt,
  message: applyToMessage,
  action: applyToAction,
  recovery: applyToRecovery,
  condition: applyToCondition,
  fleet: applyToFleet,
  merge: applyToMerge,
  verdict: applyToVerdict,
  resolution: applyToResolution,
  learning: applyToLearning,
};

/** What the event makes of the entity. Never fails; an event about something unknown changes nothing. */
export function apply<K extends EntityKind>(
  kind: K,
  entity: Entities[K] | undefined,
  event: EventOf,
): Entities[K] | undefined {
  return APPLY[kind](entity, event);
}

const MOVES: Readonly<Record<EntityKind, Readonly<Record<string, readonly string[]>> | undefined>> = {
  goal: GOAL_MOVES,
  node: WORK_MOVES,
  assignment: ASSIGNMENT_MOVES,
  question: QUESTION_MOVES,
  attempt: ATTEMPT_MOVES,
  message: MESSAGE_MOVES,
  action: ACTION_MOVES,
  recovery: undefined,
  condition: undefined,
  fleet: FLEET_MOVES,
  merge: MERGE_MOVES,
  verdict: undefined,
  resolution: undefined,
  crystallization: undefined,
  learning: LEARNING_MOVES,
};

/** The sentence for a move that its table does not have, or undefined when the change is legal. */
export function illegalMove(
  kind: EntityKind,
  before: Entity | undefined,
  after: Entity | undefined,
): string | undefined {
  if (!before || !after || !("status" in before) || !("status" in after) || before.status === after.status) {
    return undefined;
  }
  if (MOVES[kind]?.[before.status]?.includes(after.status)) return undefined;
  return `${kind === "assignment" ? "an" : "a"} ${kind} cannot go from ${before.status} to ${after.status}`;
}
