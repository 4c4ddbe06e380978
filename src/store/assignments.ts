/** Questions about assignments, crystallizations and questions to people. */
import type { Assignment } from "#domain/model/assignment.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { Question } from "#domain/model/question.ts";
import { docById, docsWithPrefix } from "./by-id.ts";
import type { Query } from "./query.ts";
import { compareText, docs, findDoc, listDocs } from "./query.ts";

export function assignmentById(id: string): Query<Assignment | undefined> {
  return docById("assignment", id);
}

export function assignmentsWithPrefix(prefix: string, limit = 10): Query<Assignment[]> {
  return docsWithPrefix("assignment", prefix, limit);
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
  return listDocs(
    "select doc from assignments where goal_id = ?1 and status not in ('done', 'cancelled') order by id",
    [goalId],
    (tables) =>
      [...tables.entities.assignment.values()]
        .filter((item) => item.goalId === goalId && item.status !== "done" && item.status !== "cancelled")
        .sort((a, b) => compareText(a.assignmentId, b.assignmentId)),
  );
}

export function listStalledAssignments(): Query<Assignment[]> {
  return listDocs("select doc from assignments where status = 'stalled' order by id", [], (tables) =>
    [...tables.entities.assignment.values()]
      .filter(({ status }) => status === "stalled")
      .sort((a, b) => compareText(a.assignmentId, b.assignmentId)),
  );
}

function oldestFirst(a: Assignment, b: Assignment): number {
  return a.createdAt - b.createdAt || compareText(a.assignmentId, b.assignmentId);
}

export function crystallizationById(id: string): Query<Crystallization | undefined> {
  return docById("crystallization", id);
}

/** The newest crystallization of a goal, of whatever level. */
export function latestCrystallization(goalId: string): Query<Crystallization | undefined> {
  return findDoc(
    "select doc from crystallizations where goal_id = ?1 order by created_at desc, id desc limit 1",
    [goalId],
    (tables) =>
      [...tables.entities.crystallization.values()]
        .filter((item) => item.goalId === goalId)
        .sort((a, b) => b.createdAt - a.createdAt || compareText(b.crystallizationId, a.crystallizationId))[0],
  );
}

/** Handoffs of a goal and its nodes, the newest first; a node names the one that holds now. */
export function crystallizationsOfGoal(goalId: string, limit = 500): Query<Crystallization[]> {
  return listDocs(
    "select doc from crystallizations where goal_id = ?1 order by created_at desc, id desc limit ?2",
    [goalId, limit],
    (tables) =>
      [...tables.entities.crystallization.values()]
        .filter((item) => item.goalId === goalId)
        .sort((a, b) => b.createdAt - a.createdAt || compareText(b.crystallizationId, a.crystallizationId))
        .slice(0, limit),
  );
}

export function questionById(id: string): Query<Question | undefined> {
  return docById("question", id);
}

export function questionsByIds(ids: readonly string[]): Query<Question[]> {
  return {
    sql: `select doc from questions where id in (${ids.map((_, index) => `?${index + 1}`).join(", ")}) order by id`,
    args: [...ids],
    read: (rows) => docs<Question>(rows),
    memory: (tables) =>
      ids
        .flatMap((id) => tables.entities.question.get(id) ?? [])
        .sort((a, b) => compareText(a.questionId, b.questionId)),
  };
}

export function openQuestions(): Query<Question[]> {
  return listDocs("select doc from questions where status = 'open' order by asked_at, id", [], (tables) =>
    [...tables.entities.question.values()]
      .filter((question) => question.status === "open")
      .sort((a, b) => a.askedAt - b.askedAt || compareText(a.questionId, b.questionId)),
  );
}

/** Questions of every status, the newest first. */
export function latestQuestions(limit: number): Query<Question[]> {
  return listDocs("select doc from questions order by asked_at desc, id desc limit ?1", [limit], (tables) =>
    [...tables.entities.question.values()]
      .sort((a, b) => b.askedAt - a.askedAt || compareText(b.questionId, a.questionId))
      .slice(0, limit),
  );
}

/**
 * The number of a question: how many had been asked when it was. Questions are never deleted, so it is its own for ever.
 */
export function questionNumber({ askedAt, questionId }: Pick<Question, "askedAt" | "questionId">): Query<number> {
  return {
    sql: "select count(*) as number from questions where asked_at < ?1 or (asked_at = ?1 and id <= ?2)",
    args: [askedAt, questionId],
    read: (rows) => Number(rows[0]?.number ?? 0),
    memory: (tables) =>
      [...tables.entities.question.values()].filter(
        (one) => one.askedAt < askedAt || (one.askedAt === askedAt && one.questionId <= questionId),
      ).length,
  };
}

/** The question that has this number, beginning with 1. */
export function questionByPlace(number: number): Query<Question | undefined> {
  return findDoc(
    "select doc from questions order by asked_at, id limit 1 offset ?1",
    [Math.max(0, number - 1)],
    (tables) =>
      [...tables.entities.question.values()].sort(
        (a, b) => a.askedAt - b.askedAt || compareText(a.questionId, b.questionId),
      )[Math.max(0, number - 1)],
  );
}

export function questionsWithPrefix(prefix: string, limit = 10): Query<Question[]> {
  return docsWithPrefix("question", prefix, limit);
}
