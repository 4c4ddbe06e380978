/**
 * From the words a person types to the things they mean, in every form in which a screen prints them: `builder-1#4`,
 * `goal_7ZK3/T1.1`, `M_3FA…`, a question's number. Ids may be shortened to a beginning that only one of them has and that
 * says more than what all of them begin with; a node may be named without its goal as long as only one goal has it, and an
 * agent by the task it works on.
 */

import { nearest } from "#domain/core/nearest.ts";
import { isShortFor, listSome } from "#domain/core/short-name.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { type Attempt, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { EVENT_TYPES } from "#domain/model/event.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { Question } from "#domain/model/question.ts";
import { nodeKey, type WorkNode } from "#domain/model/work.ts";
import { OverseerError } from "#errors.ts";
import { assignmentsWithPrefix, openQuestions, questionByPlace, questionsWithPrefix } from "#store/assignments.ts";
import { attemptByNumber, attemptsOfNode, latestAttempts, livingAttempts } from "#store/attempts.ts";
import { type GoalName, goalsWithPrefix } from "#store/goals.ts";
import { mergesWithPrefix } from "#store/merges.ts";
import type { Store } from "#store/store.ts";
import { nodeById, nodesInStatus, nodesNamed, nodesOfGoal, nodesWithPrefix } from "#store/work.ts";
import { clipWord, type IdKind, resolveId } from "./id-word.ts";

/** The full id of the goal that begins with `word`; the `goal_` in front may be left out. */
export async function resolveGoal(store: Store, word: string): Promise<string> {
  const kind: IdKind<GoalName> = {
    noun: "goal",
    fixed: "goal_",
    code: "GOAL",
    list: "'overseer goal list --all' shows them all.",
    read: async (beginning, limit) => (await store.read({ found: goalsWithPrefix(beginning, limit) })).found,
    idOf: ({ goalId }) => goalId,
    tell: ({ title }) => clipTitle(title),
  };
  return (await resolveId(word, kind)).goalId;
}

function clipTitle(title: string): string {
  return title.length > 40 ? `${title.slice(0, 39)}…` : title;
}

export interface NodeName {
  readonly goalId: string;
  readonly nodeId: string;
}

/** What whoever names a node wants of it: of several with that name, the only one that fits is meant. */
export type IsMeant = (node: WorkNode) => boolean;

/** `goal_x/T1.1`, or `T1.1` with `--goal`, or `T1.1` alone when only one goal has it, or only one that `isMeant`. */
export async function resolveNode(
  store: Store,
  word: string,
  goalWord?: string,
  isMeant: IsMeant = () => false,
): Promise<NodeName> {
  const slash = word.indexOf("/");
  const goalPart = slash > 0 ? word.slice(0, slash) : goalWord;
  const nodeId = slash > 0 ? word.slice(slash + 1) : word;
  if (nodeId.trim() === "") {
    throw new OverseerError("usage", "NODE_MISSING", "No work node was named.", "'overseer work list' shows them.");
  }
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
  const { named } = await store.read({ named: nodesNamed(nodeId.slice(0, 100)) });
  const found = named.length > 0 ? named : await listShortened(store, nodeId);
  const meant = found.filter(isMeant);
  const [first, second] = meant.length > 0 ? meant : found;
  if (first && !second) return { goalId: first.goalId, nodeId: first.workNodeId };
  if (first) throw nodeAmbiguous(word, meant.length > 0 ? meant : found);
  const { queued, started, todo } = await store.read({
    queued: nodesInStatus("queued", 200),
    started: nodesInStatus("in_progress", 200),
    todo: nodesInStatus("todo", 200),
  });
  const like = nearest(
    nodeId,
    [...started, ...queued, ...todo].map((node) => node.workNodeId),
  );
  throw new OverseerError(
    "not-found",
    "NODE_UNKNOWN",
    `There is no work node ${clipWord(word)}.`,
    `${like === undefined ? "" : `Did you mean ${like}? `}'overseer work list' shows them.`,
  );
}

/** Those of all goals for whose id the word is short. */
async function listShortened(store: Store, word: string): Promise<readonly WorkNode[]> {
  const { found } = await store.read({ found: nodesWithPrefix(word.slice(0, 100)) });
  return found.filter(({ workNodeId }) => isShortFor(word, workNodeId, workNodeId.slice(0, 1)));
}

function nodeAmbiguous(word: string, found: readonly WorkNode[]): OverseerError {
  const keys = found.map((node) => `${nodeKey(node.goalId, node.workNodeId)} (${clipTitle(node.name)})`);
  const message = `${clipWord(word)} could be ${listSome(keys)}.`;
  return new OverseerError("conflict", "NODE_AMBIGUOUS", message, "Name the goal too: --goal <id>, or <goal>/<node>.");
}

async function nodeInGoal(store: Store, goalId: string, nodeId: string): Promise<NodeName> {
  const { node, all } = await store.read({ node: nodeById(goalId, nodeId), all: nodesOfGoal(goalId) });
  if (node) return { goalId, nodeId };
  const short = all.filter(({ workNodeId }) => isShortFor(nodeId, workNodeId, workNodeId.slice(0, 1)));
  const [first, second] = short;
  if (first && !second) return { goalId, nodeId: first.workNodeId };
  if (first) throw nodeAmbiguous(nodeId, short);
  const like = nearest(
    nodeId,
    all.map((other) => other.workNodeId),
  );
  throw new OverseerError(
    "not-found",
    "NODE_UNKNOWN",
    `Goal ${goalId} has no node ${clipWord(nodeId)}.`,
    `${like ? `Did you mean ${like}? ` : ""}'overseer work list --goal ${goalId}' shows its nodes.`,
  );
}

/**
 * Whom a word means: `builder-1#4` that very life; `builder-1` the agent at work under that name, else the last that was;
 * `T1` or `goal_x/T1` whoever works on it, else who did last; and a beginning of one living agent's name.
 */
export async function resolveAgent(store: Store, word: string): Promise<Attempt> {
  if (word.trim() === "") {
    throw new OverseerError("usage", "AGENT_MISSING", "No agent was named.", "'overseer agents --all' lists them.");
  }
  const found = (await findExactAgent(store, word)) ?? (await findAgentOfTask(store, word));
  if (found) return found;
  const { living } = await store.read({ living: livingAttempts() });
  const short = living.filter((one) => isShortForAgent(word, one));
  const [first, second] = short;
  if (first && !second) return first;
  if (first) throw agentAmbiguous(word, short);
  throw unknownAgent(word, living);
}

/** By its label or its whole name; undefined where it has neither form, or nobody has that name. */
async function findExactAgent(store: Store, word: string): Promise<Attempt | undefined> {
  const label = /^([^#/]*)#(\d{1,15})$/.exec(word);
  if (!label) return (await store.read({ newest: latestAttempts(1, word) })).newest[0];
  const [name = "", number] = [label[1], Number(label[2])];
  const { one, newest } = await store.read({ one: attemptByNumber(number), newest: latestAttempts(1, name) });
  if (one && (name === "" || name === one.agent)) return one;
  const [last] = newest;
  const hint = last ? `The last of that name is ${attemptLabel(last)}.` : "'overseer agents --all' lists them.";
  const message = one ? `#${number} is ${one.agent}, not ${clipWord(name)}.` : `There is no agent ${clipWord(word)}.`;
  throw new OverseerError("not-found", "AGENT_UNKNOWN", message, hint);
}

/** Undefined where the word names no task. */
async function findAgentOfTask(store: Store, word: string): Promise<Attempt | undefined> {
  const { living } = await store.read({ living: livingAttempts() });
  const onIt = living.filter(({ workNodeId }) => workNodeId === word);
  if (onIt.length > 1) throw agentAmbiguous(word, onIt);
  if (onIt[0]) return onIt[0];
  const place = await resolveNode(store, word).catch(orUndefinedFor("NODE_UNKNOWN", "GOAL_UNKNOWN", "GOAL_MISSING"));
  if (!place) return undefined;
  const { of } = await store.read({ of: attemptsOfNode(place.goalId, place.nodeId) });
  const last = of.findLast(isLiving) ?? of.at(-1);
  if (last) return last;
  const key = nodeKey(place.goalId, place.nodeId);
  const hint = `'overseer why ${key}' says what it waits for; 'overseer sling ${key}' starts one.`;
  throw new OverseerError("not-found", "AGENT_UNKNOWN", `Nobody works on ${key}, and nobody has.`, hint);
}

/** `builder-` is how all builders are called that were given no name of their own. */
function isShortForAgent(word: string, { agent, capability }: Attempt): boolean {
  return isShortFor(word, agent, agent.startsWith(`${capability}-`) ? `${capability}-` : "");
}

function agentAmbiguous(word: string, found: readonly Attempt[]): OverseerError {
  const message = `${clipWord(word)} could be ${listSome(found.map(attemptLabel))}.`;
  return new OverseerError("conflict", "AGENT_AMBIGUOUS", message, "Name the agent.");
}

function unknownAgent(word: string, living: readonly Attempt[]): OverseerError {
  const like = nearest(
    word,
    living.map((attempt) => attempt.agent),
  );
  const hint = `${like ? `Did you mean ${like}? ` : ""}'overseer agents --all' lists them.`;
  return new OverseerError("not-found", "AGENT_UNKNOWN", `There is no agent called ${clipWord(word)}.`, hint);
}

/** Turns refusals with these codes into undefined; anything else is thrown on. */
function orUndefinedFor(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof OverseerError && codes.includes(error.code)) return undefined;
    throw error;
  };
}

/**
 * For verbs that change something: a name that an agent and a task have, of which the agent does another task, could act on
 * either, and which one was typed for is the person's to say. What only looks may choose; it shows what it chose.
 */
export async function assertOneMeaning(store: Store, word: string, goalWord?: string): Promise<void> {
  if (goalWord !== undefined || word.trim() === "" || /[#/]/.test(word)) return;
  const { newest, named } = await store.read({
    newest: latestAttempts(1, word),
    named: nodesNamed(word.slice(0, 100)),
  });
  const [agent] = newest;
  const [task] = named.filter((node) => node.goalId !== agent?.goalId || node.workNodeId !== agent.workNodeId);
  if (!agent || !task) return;
  const [label, key] = [attemptLabel(agent), nodeKey(task.goalId, task.workNodeId)];
  const message = `${clipWord(word)} is an agent (${label}) and a task (${key}).`;
  throw new OverseerError("conflict", "NAME_AMBIGUOUS", message, `Say which: ${label} or ${key}.`);
}

/** The work somebody means: by its agent, by itself, or by its landing. With a goal, a task of it is meant first. */
export async function resolveWork(store: Store, word: string, goalWord?: string, isMeant?: IsMeant): Promise<NodeName> {
  if (word.startsWith("M_")) return placeOfLanding(await resolveLanding(store, word));
  const agent = word.includes("/") || word === "" ? undefined : await findExactAgent(store, word);
  if (agent) {
    const unknown = orUndefinedFor("NODE_UNKNOWN");
    const inGoal = goalWord === undefined ? undefined : await resolveNode(store, word, goalWord).catch(unknown);
    return inGoal ?? { goalId: agent.goalId, nodeId: agent.workNodeId };
  }
  const { living } = await store.read({ living: livingAttempts() });
  const [short, second] = living.filter((one) => isShortForAgent(word, one));
  const nodeOrShort = short && !second && goalWord === undefined ? orUndefinedFor("NODE_UNKNOWN") : undefined;
  const place = await resolveNode(store, word, goalWord, isMeant).catch(nodeOrShort ?? sayAgentOrTask(word));
  if (place) return place;
  return { goalId: short?.goalId ?? "", nodeId: short?.workNodeId ?? "" };
}

/** Whoever typed a name meant an agent as well as a task. */
function sayAgentOrTask(word: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof OverseerError) || error.code !== "NODE_UNKNOWN" || word.includes("/")) throw error;
    const hint = `${error.hint} 'overseer agents --all' lists agents.`;
    throw new OverseerError("not-found", "NODE_UNKNOWN", `There is no agent or task ${clipWord(word)}.`, hint);
  };
}

/** A type of events as the log knows it, or the noun that several begin with; throws for what no event is called. */
export function resolveEventType(word: string): string {
  const known: readonly string[] = EVENT_TYPES;
  if (known.some((type) => type === word || type.startsWith(`${word}.`))) return word;
  const like = nearest(word, [...known, ...new Set(known.map((type) => type.split(".")[0] ?? ""))]);
  const hint = `${like === undefined ? "" : `Did you mean ${like}? `}docs/events.md lists them, such as work.done or work.`;
  throw new OverseerError("usage", "EVENT_TYPE_UNKNOWN", `No event is of the type ${clipWord(word)}.`, hint);
}

async function resolveLanding(store: Store, word: string): Promise<Merge> {
  return resolveId(word, {
    noun: "landing",
    fixed: "M_",
    code: "LANDING",
    list: "'overseer merge' shows the queue.",
    read: async (beginning, limit) => (await store.read({ found: mergesWithPrefix(beginning, limit) })).found,
    idOf: ({ mergeId }) => mergeId,
    tell: ({ branch }) => branch,
  });
}

function placeOfLanding({ mergeId, branch, goalId, workNodeId }: Merge): NodeName {
  if (goalId !== null && workNodeId !== null) return { goalId, nodeId: workNodeId };
  const message = `${mergeId} is your own branch ${branch}; no task stands behind it.`;
  throw new OverseerError("conflict", "LANDING_WITHOUT_TASK", message, `'overseer merge --branch ${branch}' lands it.`);
}

export type ResolvedName =
  | { readonly kind: "goal"; readonly goalId: string }
  | ({ readonly kind: "node" } & NodeName)
  | { readonly kind: "assignment"; readonly assignment: Assignment }
  | { readonly kind: "question"; readonly questionId: string };

/**
 * Anything that has a history: a goal, a node, an assignment, a question, told apart by the form of its id; an agent
 * stands for its assignment, a landing for its node.
 */
export async function resolveAny(store: Store, word: string, goalWord?: string): Promise<ResolvedName> {
  if (word.startsWith("A_")) return { kind: "assignment", assignment: await resolveAssignment(store, word) };
  if (word.startsWith("q_")) return { kind: "question", questionId: await resolveQuestion(store, word) };
  if (word.startsWith("M_")) return { kind: "node", ...placeOfLanding(await resolveLanding(store, word)) };
  if (word.startsWith("goal_") && !word.includes("/")) {
    return { kind: "goal", goalId: await resolveGoal(store, word) };
  }
  const agent = word.includes("/") || word === "" ? undefined : await findExactAgent(store, word);
  if (agent) return { kind: "assignment", assignment: await resolveAssignment(store, agent.assignmentId) };
  try {
    return { kind: "node", ...(await resolveNode(store, word, goalWord)) };
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "NODE_UNKNOWN" || word.includes("/")) throw error;
    const goalId = await resolveGoal(store, word).catch(orUndefinedFor("GOAL_UNKNOWN"));
    if (goalId !== undefined) return { kind: "goal", goalId };
    if (/^\d+$/.test(word)) return { kind: "question", questionId: await resolveQuestion(store, word) };
    const message = `There is no goal, task, agent or question ${clipWord(word)}.`;
    throw new OverseerError("not-found", error.code, message, error.hint);
  }
}

/**
 * `q_7ZK…`, or its number: questions are numbered as they are asked, for ever, so that a number never means another
 * question than the one somebody read it beside, whatever was answered meanwhile.
 */
export async function resolveQuestion(store: Store, word: string): Promise<string> {
  const kind: IdKind<Question> = {
    noun: "question",
    fixed: "q_",
    code: "QUESTION",
    list: "'overseer questions' lists the open ones.",
    read: async (beginning, limit) => (await store.read({ found: questionsWithPrefix(beginning, limit) })).found,
    idOf: ({ questionId }) => questionId,
  };
  const number = /^#?(\d{1,9})$/.exec(word.trim())?.[1];
  if (number === undefined) return (await resolveId(word, kind)).questionId;
  const { numbered, open } = await store.read({ numbered: questionByPlace(Number(number)), open: openQuestions() });
  if (numbered) return numbered.questionId;
  const begun = await resolveId(number, kind).catch(orUndefinedFor("QUESTION_UNKNOWN"));
  if (begun) return begun.questionId;
  const [only, second] = open;
  const hint = only && !second ? `Open is ${only.questionId}: ${clipTitle(only.text)}` : kind.list;
  throw new OverseerError("not-found", "QUESTION_UNKNOWN", `There is no question ${number}.`, hint);
}

async function resolveAssignment(store: Store, word: string): Promise<Assignment> {
  return resolveId(word, {
    noun: "assignment",
    fixed: "A_",
    code: "ASSIGNMENT",
    list: "'overseer work show <node>' lists a node's assignments.",
    read: async (beginning, limit) => (await store.read({ found: assignmentsWithPrefix(beginning, limit) })).found,
    idOf: ({ assignmentId }) => assignmentId,
  });
}
