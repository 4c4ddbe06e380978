/** Questions about assignments, crystallizations and questions to people. */
import type { Assignment } from "#domain/model/assignment.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { Question } from "#domain/model/question.ts";
import type { Query } from "./query.ts";
import { afterPrefix, compareText, docs, firstDoc } from "./query.ts";

export function assignmentById(id: string): Query<Assignment | undefined> {
  return {
    sql: "select doc from assignments where id = ?1",
    args: [id],
    read: (rows) => firstDoc<Assignment>(rows),
    memory: (tables) => tables.entities.assignment.get(id),
  };
}

export function assignmentsWithPrefix(prefix: string, limit = 10): Query<Assignment[]> {
  return {
    sql: "select doc from assignments where id >= ?1 and id < ?2 order by id limit ?3",
    args: [prefix, afterPrefix(prefix), limit],
    read: (rows) => docs<Assignment>(rows),
    memory: (tables) =>
      [...tables.entities.assignment.values()]
        .filter((assignment) => assignment.assignmentId.startsWith(prefix))
        .sort((a, b) => compareText(a.assignmentId, b.assignmentId))
        .slice(0, limit),
  };
}

/** A node's assignments, oldest first: the history that reassigning never rewrites. */
export function assignmentsOfNode(goalId: string, nodeId: string): Query<Assignment[]> {
  return {
    sql: "select doc from assignments where goal_id = ?1 and node_id = ?2 order by id",
    args: [goalId, nodeId],
    read: (rows) => docs<Assignment>(rows).sort(oldestFirst),
    memory: (tables) =>
      [...tables.entities.assignment.values()]
        .filter((assignment) => assignment.goalId === goalId && assignment.workNodeId === nodeId)
        .sort(oldestFirst),
  };
}

export function liveAssignmentsOfGoal(goalId: string): Query<Assignment[]> {
  return {
    sql: "select doc from assignments where goal_id = ?1 and status not in ('done', 'cancelled') order by id",
    args: [goalId],
    read: (rows) => docs<Assignment>(rows),
    memory: (tables) =>
      [...tables.entities.assignment.values()]
        .filter((item) => item.goalId === goalId && item.status !== "done" && item.status !== "cancelled")
        .sort((a, b) => compareText(a.assignmentId, b.assignmentId)),
  };
}

function oldestFirst(a: Assignment, b: Assignment): number {
  return a.createdAt - b.createdAt || compareText(a.assignmentId, b.assignmentId);
}

export function crystallizationById(id: string): Query<Crystallization | undefined> {
  return {
    sql: "select doc from crystallizations where id = ?1",
    args: [id],
    read: (rows) => firstDoc<Crystallization>(rows),
    memory: (tables) => tables.entities.crystallization.get(id),
  };
}

/** The newest crystallization of a goal, of whatever level. */
export function latestCrystallization(goalId: string): Query<Crystallization | undefined> {
  return {
    sql: "select doc from crystallizations where goal_id = ?1 order by created_at desc, id desc limit 1",
    args: [goalId],
    read: (rows) => firstDoc<Crystallization>(rows),
    memory: (tables) =>
      [...tables.entities.crystallization.values()]
        .filter((item) => item.goalId === goalId)
        .sort((a, b) => b.createdAt - a.createdAt || compareText(b.crystallizationId, a.crystallizationId))[0],
  };
}

/** Handoffs of a goal and its nodes, the newest first; a node names the one that holds now. */
export function crystallizationsOfGoal(goalId: string, limit = 500): Query<Crystallization[]> {
  return {
    sql: "select doc from crystallizations where goal_id = ?1 order by created_at desc, id desc limit ?2",
    args: [goalId, limit],
    read: (rows) => docs<Crystallization>(rows),
    memory: (tables) =>
      [...tables.entities.crystallization.values()]
        .filter((item) => item.goalId === goalId)
        .sort((a, b) => b.createdAt - a.createdAt || compareText(b.crystallizationId, a.crystallizationId))
        .slice(0, limit),
  };
}

export function questionById(id: string): Query<Question | undefined> {
  return {
    sql: "select doc from questions where id = ?1",
    args: [id],
    read: (rows) => firstDoc<Question>(rows),
    memory: (tables) => tables.entities.question.get(id),
  };
}

export function openQuestions(): Query<Question[]> {
  return {
    sql: "select doc from questions where status = 'open' order by asked_at, id",
    args: [],
    read: (rows) => docs<Question>(rows),
    memory: (tables) =>
      [...tables.entities.question.values()]
        .filter((question) => question.status === "open")
        .sort((a, b) => a.askedAt - b.askedAt || compareText(a.questionId, b.questionId)),
  };
}

/** Questions of every status, the newest first. */
export function latestQuestions(limit: number): Query<Question[]> {
  return {
    sql: "select doc from questions order by asked_at desc, id desc limit ?1",
    args: [limit],
    read: (rows) => docs<Question>(rows),
    memory: (tables) =>
      [...tables.entities.question.values()]
        .sort((a, b) => b.askedAt - a.askedAt || compareText(b.questionId, a.questionId))
        .slice(0, limit),
  };
}

export function questionsWithPrefix(prefix: string, limit = 10): Query<Question[]> {
  return {
    sql: "select doc from questions where id >= ?1 and id < ?2 order by id limit ?3",
    args: [prefix, afterPrefix(prefix), limit],
    read: (rows) => docs<Question>(rows),
    memory: (tables) =>
      [...tables.entities.question.values()]
        .filter((question) => question.questionId.startsWith(prefix))
        .sort((a, b) => compareText(a.questionId, b.questionId))
        .slice(0, limit),
  };
}
