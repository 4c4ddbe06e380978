/**
 * From the words a person types to the things they mean. Ids may be shortened to any unique beginning; a node may be
 * named without its goal as long as only one goal has it.
 */

import { nearest } from "#domain/core/nearest.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { OverseerError } from "#errors.ts";
import { assignmentsWithPrefix, questionById } from "#store/assignments.ts";
import { goalsWithPrefix } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { nodeById, nodesNamed, nodesOfGoal } from "#store/work.ts";

/** The full id of the goal that begins with `word`; the `goal_` in front may be left out. */
export async function resolveGoal(store: Store, word: string): Promise<string> {
  if (word === "") throw new OverseerError("usage", "GOAL_MISSING", "No goal was named.", "Give its id.");
  const prefix = word.startsWith("goal_") ? word : `goal_${word}`;
  const { found } = await store.read({ found: goalsWithPrefix(prefix.slice(0, 100)) });
  const [first, second] = found;
  if (first && (!second || first.goalId === prefix)) return first.goalId;
  if (first) {
    throw new OverseerError(
      "conflict",
      "GOAL_AMBIGUOUS",
      `${clipWord(word)} could be any of these goals:\n${found.map((goal) => `  ${goal.goalId}  ${goal.title}`).join("\n")}`,
      "Type more of the id.",
    );
  }
  throw new OverseerError(
    "not-found",
    "GOAL_UNKNOWN",
    `There is no goal ${clipWord(word)}.`,
    "'overseer goal list --all' shows them all.",
  );
}

export interface NodeName {
  readonly goalId: string;
  readonly nodeId: string;
}

/** `goal_x/T1.1`, or `T1.1` with `--goal`, or `T1.1` alone when only one goal has it. */
export async function resolveNode(store: Store, word: string, goalWord?: string): Promise<NodeName> {
  const slash = word.indexOf("/");
  const goalPart = slash > 0 ? word.slice(0, slash) : goalWord;
  const nodeId = slash > 0 ? word.slice(slash + 1) : word;
  if (goalPart !== undefined) {
    const goalId = await resolveGoal(store, goalPart);
    if (slash > 0 && goalWord !== undefined && (await resolveGoal(store, goalWord)) !== goalId) {
      throw new OverseerError(
        "usage",
        "TWO_GOALS",
        `${clipWord(word)} and --goal ${clipWord(goalWord)} name different goals.`,
        "Leave one of them out.",
      );
    }
    return nodeInGoal(store, goalId, nodeId);
  }
  const { found } = await store.read({ found: nodesNamed(nodeId.slice(0, 100)) });
  const [first, second] = found;
  if (first && !second) return { goalId: first.goalId, nodeId: first.workNodeId };
  if (first) {
    throw new OverseerError(
      "conflict",
      "NODE_AMBIGUOUS",
      `${clipWord(word)} is in ${found.length} goals:\n${found.map((node) => `  ${node.goalId}/${node.workNodeId}  ${node.name}`).join("\n")}`,
      "Name the goal too: --goal <id>, or <goal>/<node>.",
    );
  }
  throw new OverseerError(
    "not-found",
    "NODE_UNKNOWN",
    `There is no work node ${clipWord(word)}.`,
    "'overseer work list' shows them.",
  );
}

async function nodeInGoal(store: Store, goalId: string, nodeId: string): Promise<NodeName> {
  const { node, all } = await store.read({ node: nodeById(goalId, nodeId), all: nodesOfGoal(goalId) });
  if (node) return { goalId, nodeId };
  const like = nearest(
    nodeId,
    all.map((other) => other.workNodeId),
  );
  throw new OverseerError(
    "not-found",
    "NODE_UNKNOWN",
    `Goal ${goalId} has no node ${clipWord(nodeId)}.`,
    like ? `Did you mean ${like}?` : `'overseer work list --goal ${goalId}' shows its nodes.`,
  );
}

export type ResolvedName =
  | { readonly kind: "goal"; readonly goalId: string }
  | ({ readonly kind: "node" } & NodeName)
  | { readonly kind: "assignment"; readonly assignment: Assignment }
  | { readonly kind: "question"; readonly questionId: string };

/** Anything that has a history: a goal, a node, an assignment or a question, told apart by the form of its id. */
export async function resolveAny(store: Store, word: string, goalWord?: string): Promise<ResolvedName> {
  if (word.startsWith("A_")) return { kind: "assignment", assignment: await resolveAssignment(store, word) };
  if (word.startsWith("q_")) {
    const { question } = await store.read({ question: questionById(word.slice(0, 100)) });
    if (question) return { kind: "question", questionId: question.questionId };
    throw new OverseerError(
      "not-found",
      "QUESTION_UNKNOWN",
      `There is no question ${clipWord(word)}.`,
      "Check the id.",
    );
  }
  if (word.startsWith("goal_") && !word.includes("/")) {
    return { kind: "goal", goalId: await resolveGoal(store, word) };
  }
  try {
    return { kind: "node", ...(await resolveNode(store, word, goalWord)) };
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "NODE_UNKNOWN" || word.includes("/")) throw error;
    const { found } = await store.read({ found: goalsWithPrefix(`goal_${word.slice(0, 100)}`) });
    if (found.length === 0) throw error;
    return { kind: "goal", goalId: await resolveGoal(store, word) };
  }
}

async function resolveAssignment(store: Store, word: string): Promise<Assignment> {
  const { found } = await store.read({ found: assignmentsWithPrefix(word.slice(0, 100)) });
  const [first, second] = found;
  if (first && (!second || first.assignmentId === word)) return first;
  if (first) {
    throw new OverseerError(
      "conflict",
      "ASSIGNMENT_AMBIGUOUS",
      `${clipWord(word)} could be ${found.map((item) => item.assignmentId).join(", ")}.`,
      "Type more of the id.",
    );
  }
  throw new OverseerError(
    "not-found",
    "ASSIGNMENT_UNKNOWN",
    `There is no assignment ${clipWord(word)}.`,
    "'overseer work show <node>' lists a node's assignments.",
  );
}

/** What was typed, short enough to stand in a sentence and free of control characters. */
export function clipWord(word: string): string {
  const plain = JSON.stringify(word).slice(1, -1);
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}
