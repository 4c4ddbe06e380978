/**
 * What is kept of what was found (SYNC-1), and what is let go. The same discovery is kept once; found by somebody who had
 * not been told of it, it is confirmed. One that a person dropped, or that never helped, does not come back by being found
 * again; one that was only too old does. Everything below is in reads and events of one commit.
 */
import type { Actor, Moment } from "#domain/core/actor.ts";
import { cleanText, inline } from "#domain/core/quote.ts";
import { refuse } from "#domain/core/refusal.ts";
import { withdrawSyncs } from "#domain/inbox/mailing.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Learning, LearningBody, LearningSource, LearningWitness } from "#domain/model/learning.ts";
import { hasHelped, learningIdOf } from "#domain/model/learning.ts";
import type { Message } from "#domain/model/message.ts";
import { commandKey, type Discovery } from "./extract.ts";
import type { Party } from "./relate.ts";
import { isWitness, placeOf, wasTold } from "./relate.ts";

/** A learning is a sentence or two. */
export const LONGEST_LEARNING = 600;
const MOST_TAGS = 20;
const MOST_PLACES = 20;

export interface FoundDiscovery {
  readonly discovery: Discovery;
  readonly by: Party;
  /** When it was heard, which may be long before it is kept. */
  readonly at: number;
}

/** The events that keep what was found; `known`: the learnings with these ids that are there already. */
export function keepDiscoveries(known: ReadonlyMap<string, Learning>, all: readonly FoundDiscovery[]): NewEvent[] {
  const events: NewEvent[] = [];
  /** What this very commit has kept: its words, and who found it in it. */
  const fresh = new Map<string, { readonly text: string; readonly finders: readonly Party[] }>();
  for (const { discovery: heard, by, at } of all) {
    const first = fresh.get(learningIdOf(heard.key)) ?? known.get(learningIdOf(heard.key));
    const discovery = first && saysOther(heard, first.text) ? { ...heard, key: keyByWords(heard) } : heard;
    const learningId = learningIdOf(discovery.key);
    const learning = known.get(learningId);
    const isNew = learning === undefined || isRevived(learning, at);
    const { text = discovery.text, finders = [] } = fresh.get(learningId) ?? {};
    if (finders.some(({ node }) => node === by.node)) continue;
    if (isNew && finders.length === 0)
      events.push(aboutParty(by, "learning.found", "heard", bodyOf(discovery, by, at)));
    else if (isNew || (learning.status === "kept" && !isWitness(learning, by) && !wasTold(learning, by))) {
      const { via, id: source } = discovery;
      events.push(aboutParty(by, "learning.confirmed", "found-too", { learningId, via, source }));
    } else continue;
    fresh.set(learningId, { text, finders: [...finders, by] });
  }
  return events;
}

/** The ids under which a discovery may be known. */
export function idsOfDiscovery(discovery: Discovery): string[] {
  return [learningIdOf(discovery.key), learningIdOf(keyByWords(discovery))];
}

/** Two may speak of the same and not say the same: by its words the second is a learning of its own. */
function keyByWords({ key, text }: Discovery): string {
  return `${key} as ${wordsIn(text).toSorted().join(" ")}`;
}

/** Statements agree where they share most of their words and both say that something is so, or both that it is not. */
function saysOther({ kind, text }: Discovery, known: string): boolean {
  if (kind !== "fact") return false;
  const [ours, theirs] = [wordsIn(text), wordsIn(known)];
  const shared = ours.filter((word) => theirs.includes(word)).length;
  const isOtherWay = ours.some(isNegation) !== theirs.some(isNegation);
  return isOtherWay || shared < ALIKE * Math.min(ours.length, theirs.length);
}

/** The share of the words of the shorter one. */
const ALIKE = 0.6;

function isNegation(word: string): boolean {
  return /^(?:never|not|no|don't|doesn't|cannot|can't|mustn't)$/.test(word);
}

function wordsIn(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_=]+(?:'t)?/gu) ?? [])];
}

/** Found anew, and not only heard again by a daemon that begins a little before its time. */
function isRevived(learning: Learning, at: number): boolean {
  return learning.status === "forgotten" && learning.forgottenBecause === TOO_OLD && at > lastFound(learning);
}

function bodyOf(discovery: Discovery, by: Party, heardAt: number): LearningBody {
  const { kind, text, key, failing, fix, paths, score, via, id } = discovery;
  return {
    ...{ learningId: learningIdOf(key), kind, text: cutText(text), key, failing, fix },
    tags: by.tags.slice(0, MOST_TAGS),
    paths: paths.slice(0, MOST_PLACES),
    near: by.near.slice(0, MOST_PLACES),
    ...{ score: Math.min(1, Math.max(0, score)), via, source: id, parent: by.parent, parentNode: by.parentNode },
    heardAt,
  };
}

function cutText(text: string): string {
  const line = cleanText(text).replace(/\s+/g, " ").trim();
  return line.length <= LONGEST_LEARNING ? line : `${line.slice(0, LONGEST_LEARNING - 1).toWellFormed()}…`;
}

function aboutParty<T extends NewEvent["type"]>(
  party: Party,
  type: T,
  because: string,
  data: Extract<NewEvent, { type: T }>["data"],
): NewEvent {
  const { goalId, workNodeId, assignmentId, agent, attempt } = party;
  return {
    type,
    actor: "overseer",
    goalId,
    nodeId: workNodeId,
    assignmentId,
    agent,
    attempt,
    because,
    data,
  } as NewEvent;
}

export interface AddedLearning {
  readonly text: string;
  readonly tags: readonly string[];
  readonly paths: readonly string[];
  /** The command that fails, and what to run instead. */
  readonly fails?: string;
  readonly fix?: string;
}

/** An agent may add so many in an hour; people are not counted. */
export const MOST_ADDED = 5;

/**
 * Somebody says it. `by`: the agent that does; undefined for a person. `added`: how many this agent has added in the
 * last hour. The same words are the same learning; said by a person, what was forgotten is kept again.
 */
export function addLearning(
  known: Learning | undefined,
  wish: AddedLearning,
  who: { readonly by: Party | undefined; readonly added: number; readonly id: string },
  moment: Moment,
): Decision<string> {
  const said = oneLine(wish.text);
  if (said === "")
    return refuse("usage", "LEARNING_EMPTY", "The learning has no text.", "Say it in a sentence or two.");
  if (!said.includes(" ")) {
    return refuse(
      "usage",
      "LEARNING_SHORT",
      `"${said.slice(0, 80)}" is one word, and says nothing to others.`,
      "Say it in a sentence or two.",
    );
  }
  if (wish.tags.some((tag) => tag.trim() === "")) {
    return refuse("usage", "TAG_EMPTY", "A tag is empty.", "Name whom it concerns, e.g. --tag backend.");
  }
  const text = wordsOfAdded(wish);
  if (text.length > LONGEST_LEARNING) {
    return refuse(
      "usage",
      "LEARNING_TOO_LONG",
      `The learning has ${text.length} characters; ${LONGEST_LEARNING} is the limit.`,
      "Say it in a sentence or two, and keep the rest in a file of the repository that it names.",
    );
  }
  const { by, added, id } = who;
  if (by && added >= MOST_ADDED) {
    return refuse(
      "conflict",
      "LEARNINGS_TOO_MANY",
      `You have added ${added} learnings within an hour; ${MOST_ADDED} is the limit.`,
      "Keep to what others will need; say the rest in your report.",
    );
  }
  const badPath = wish.paths.find((path) => placeOf(path) === undefined);
  if (badPath !== undefined) {
    return refuse(
      "usage",
      "PATH_INVALID",
      `"${badPath.slice(0, 80)}" is not a path inside the repository.`,
      "Give paths relative to the top of the repository, e.g. --path src/parser.",
    );
  }
  const key = keyOfAdded(wish);
  const learningId = learningIdOf(key);
  if (known?.status === "kept" || (known && by)) return accept([], learningId);
  const via: LearningSource = by ? "agent" : "person";
  const body: LearningBody = {
    ...{ learningId, kind: wish.fix === undefined ? "fact" : "failure-fix", text, key },
    failing: wish.fails === undefined ? null : `${commandKey(wish.fails)}${ANY_FAILURE}`,
    fix: wish.fix === undefined ? null : commandKey(wish.fix),
    tags: [...new Set([...wish.tags, ...(by?.tags ?? [])])].slice(0, MOST_TAGS),
    paths: wish.paths.slice(0, MOST_PLACES),
    near: (by?.near ?? wish.paths.flatMap((path) => placeOf(path) ?? [])).slice(0, MOST_PLACES),
    score: by ? ADDED_SCORE : 1,
    ...{ via, source: id, parent: by?.parent ?? null, parentNode: by?.parentNode ?? null },
  };
  const about = by
    ? { goalId: by.goalId, nodeId: by.workNodeId, assignmentId: by.assignmentId, agent: by.agent, attempt: by.attempt }
    : {};
  return accept(
    [{ type: "learning.found", actor: moment.actor, ...about, because: "said", data: body } as NewEvent],
    learningId,
  );
}

/** The id follows from what is said, whoever says it. */
export function keyOfAdded(wish: Pick<AddedLearning, "text" | "fails" | "fix">): string {
  return `said ${wordsOfAdded(wish).toLowerCase()}`;
}

/** What is told: the words, and the commands that were named beside them. */
function wordsOfAdded({ text, fails, fix }: Pick<AddedLearning, "text" | "fails" | "fix">): string {
  const said = oneLine(text);
  const quote = (command: string) => inline(command, Number.POSITIVE_INFINITY);
  if (fails === undefined && fix === undefined) return said;
  const run = fix === undefined ? "" : `${fails === undefined ? "Run" : "; run"} ${quote(fix)}`;
  return `${said}${/[.!?:;]$/.test(said) ? "" : "."} ${fails === undefined ? "" : `${quote(fails)} fails`}${run}.`;
}

function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, " ").trim();
}

/** What an agent says on purpose is worth telling, and less than what a person says. */
const ADDED_SCORE = 0.8;
/** Somebody who says that a command fails need not say how. */
const ANY_FAILURE = " ! *";

/** A person, or an agent about what it added itself, drops one. `messages`: by which it is told; those that wait end. */
export function forgetLearning(
  learning: Learning | undefined,
  id: string,
  wish: { readonly reason: string | null; readonly actor: Actor; readonly messages: readonly Message[] },
): Decision<string> {
  if (!learning) {
    return refuse(
      "not-found",
      "LEARNING_UNKNOWN",
      `There is no learning ${id}.`,
      "'overseer learnings list' shows them.",
    );
  }
  if (learning.status === "forgotten") return accept([], learning.learningId);
  const { learningId } = learning;
  const data = { learningId, reason: wish.reason };
  return accept(
    [
      { type: "learning.forgotten", actor: wish.actor, because: "asked-for", data },
      ...withdrawSyncs(wish.messages, wish.actor),
    ],
    learningId,
  );
}

const TOO_OLD = "too-old";
const NEVER_HELPED = "never-helped";
/** Seen so often and of no use to anybody, it is let go. */
export const SEEN_IN_VAIN = 4;

/** The event that lets a learning go by itself; a person's own word stays until a person drops it. */
export function forgetUseless(
  learning: Learning,
  { now, keptForMs }: { readonly now: number; readonly keptForMs: number },
): NewEvent[] {
  if (learning.status !== "kept" || learning.via === "person" || learning.recipients.some(hasHelped)) return [];
  const inVain = learning.recipients.filter(({ outcome }) => outcome === "repeated" || outcome === "unused").length;
  const because = inVain >= SEEN_IN_VAIN ? NEVER_HELPED : now - lastFound(learning) > keptForMs ? TOO_OLD : undefined;
  if (because === undefined) return [];
  const { learningId } = learning;
  return [{ type: "learning.forgotten", actor: "overseer", because, data: { learningId, reason: null } }];
}

function lastFound({ foundAt, confirmations }: Learning): number {
  return Math.max(foundAt, ...confirmations.map(({ at }: LearningWitness) => at));
}
