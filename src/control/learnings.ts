/**
 * What was learned, for whoever asks: listed, searched, shown with what came of it, added and dropped by hand; and what
 * of it was told to whom. An agent may look and add; what it adds says so, and how much it may add is limited.
 */
import { commandOfFailure } from "#domain/learnings/extract.ts";
import { type AddedLearning, addLearning, forgetLearning, keyOfAdded } from "#domain/learnings/keep.ts";
import { keysOfLearning, partyOf } from "#domain/learnings/relate.ts";
import { wordsOf } from "#domain/learnings/relay.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Learning, LearningCounts, LearningRecipient } from "#domain/model/learning.ts";
import { countOutcomes, learningIdOf } from "#domain/model/learning.ts";
import type { Message } from "#domain/model/message.ts";
import { orThrow } from "#errors.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import { goalById } from "#store/goals.ts";
import { learningById, learningsByIds, learningsWithPrefix, listLearnings, listSeenSyncs } from "#store/learnings.ts";
import { messagesLike } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import { nodeById } from "#store/work.ts";
import { resolveId } from "./id-word.ts";
import { speaker } from "./mail/speaker.ts";
import { resolveAgent } from "./names.ts";
import { assertFits, type World } from "./world.ts";

/** A learning and what came of telling it. */
export interface LearningView extends Omit<Learning, "recipients" | "key" | "failing" | "fix"> {
  /** What fails, and what to run about it; null where it is no command. */
  readonly failingCommand: string | null;
  readonly fixCommand: string | null;
  readonly counts: LearningCounts;
}

export interface LearningDetail extends LearningView {
  readonly recipients: readonly LearningRecipient[];
}

const ALL = 1_000_000;

export async function learnings(
  world: World,
  filter: { readonly all: boolean; readonly limit: number },
): Promise<LearningView[]> {
  return viewAll(await world.reader(), (await (await world.reader()).read({ all: listLearnings(filter) })).all);
}

/** Kept ones in which every word begins a word; the best first. */
export async function searchLearnings(world: World, words: string, limit: number): Promise<LearningView[]> {
  const store = await world.reader();
  const ids = await store.search.find(words, limit);
  const { all } = await store.read({ all: learningsByIds(ids) });
  const byId = new Map(all.map((one) => [one.learningId, one]));
  return viewAll(
    store,
    ids.flatMap((id) => byId.get(id) ?? []),
  );
}

export async function showLearning(world: World, word: string): Promise<LearningDetail> {
  const store = await world.reader();
  const learning = await learningNamed(store, word);
  const { seen } = await store.read({ seen: listSeenSyncs([learning.learningId]) });
  const now = withSeen(learning, seen);
  return { ...viewOf(now), recipients: now.recipients };
}

async function learningNamed(store: Store, word: string): Promise<Learning> {
  return resolveId(word, {
    noun: "learning",
    fixed: "L_",
    code: "LEARNING",
    list: "'overseer learnings list --all' shows them.",
    read: async (beginning, limit) => (await store.read({ found: learningsWithPrefix(beginning, limit) })).found,
    idOf: ({ learningId }) => learningId,
  });
}

const HOUR_MS = 60 * 60_000;
/** More than an agent may add in an hour, and may have found besides. */
const RECENT_FINDS = 50;

/** Returns its id; the same words are the same learning. */
export async function addByHand(world: World, wish: AddedLearning): Promise<string> {
  await assertFits(world, wish);
  const store = await world.writer();
  const { attempt: number } = speaker(world);
  const now = world.clock.now();
  const { attempt } = await store.read({ attempt: attemptByNumber(number) });
  const { node, goal, recent } = await store.read({
    node: nodeById(attempt?.goalId ?? "", attempt?.workNodeId ?? ""),
    goal: goalById(attempt?.goalId ?? ""),
    recent: eventsMatching({ agent: attempt?.agent ?? "", type: "learning.found", limit: RECENT_FINDS, newest: true }),
  });
  const isAdded = (event: EventOf) => event.attempt === number && event.because === "said" && event.at > now - HOUR_MS;
  const by = attempt && partyOf(attempt, node, goal);
  const who = { by, added: recent.filter(isAdded).length, id: world.ids.next("call_") };
  return orThrow(
    await store.commit({
      at: now,
      reads: { known: learningById(learningIdOf(keyOfAdded(wish))) },
      decide: ({ known }) => addLearning(known, wish, who, { now, actor: world.actor }),
    }),
  );
}

/** Whether a learning can reach anybody at work at all. */
export async function readReach(world: World, learningId: string): Promise<"agents" | "nobody" | "switched-off"> {
  if (!(await world.config()).sync.enabled) return "switched-off";
  const { learning } = await (await world.reader()).read({ learning: learningById(learningId) });
  return learning && keysOfLearning(learning).length > 0 ? "agents" : "nobody";
}

/** `wasKept`: false where it had been dropped before. */
export async function forgetByHand(
  world: World,
  word: string,
  reason: string | undefined,
): Promise<{ readonly learningId: string; readonly wasKept: boolean }> {
  const store = await world.writer();
  const { learningId, status } = await learningNamed(store, word);
  orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: {
        learning: learningById(learningId),
        messages: messagesLike({ kind: "sync", thread: learningId, unread: true, limit: ALL }),
      },
      decide: ({ learning, messages }) =>
        forgetLearning(learning, learningId, { reason: reason ?? null, actor: world.actor, messages }),
    }),
  );
  return { learningId, wasKept: status === "kept" };
}

/** A learning on its way to one agent. */
export interface SyncView {
  readonly messageId: string;
  readonly learningId: string;
  readonly from: string;
  readonly agent: string;
  readonly attempt: number;
  readonly urgency: string | null;
  readonly status: Message["status"];
  readonly text: string;
  readonly at: number;
  readonly endReason: string | null;
}

/** The newest first. */
export async function syncs(
  world: World,
  filter: { readonly agent?: string | undefined; readonly limit: number },
): Promise<SyncView[]> {
  const store = await world.reader();
  const to = filter.agent === undefined ? undefined : (await resolveAgent(store, filter.agent)).agent;
  const { found } = await store.read({
    found: messagesLike({ kind: "sync", to, limit: filter.limit }),
  });
  return found.map(({ messageId, threadId, from, agent, attempt, tone, status, body, createdAt, endReason }) => ({
    ...{ messageId, learningId: threadId ?? "", from, agent, attempt, urgency: tone, status },
    ...{ text: body.split("\n")[0] ?? "", at: createdAt, endReason },
  }));
}

export interface LearningStats extends LearningCounts {
  readonly kept: number;
  readonly forgotten: number;
  /** How often somebody found what another had found before. */
  readonly confirmed: number;
  readonly relayed: number;
  readonly offered: number;
}

/** What all of them together were worth. */
export async function learningStats(world: World): Promise<LearningStats> {
  const store = await world.reader();
  const { all, seen } = await store.read({ all: listLearnings({ all: true, limit: ALL }), seen: listSeenSyncs() });
  const told = all.flatMap((learning) => withSeen(learning, seen).recipients);
  const kept = all.filter(({ status }) => status === "kept").length;
  return {
    ...{ kept, forgotten: all.length - kept },
    confirmed: all.reduce((sum, one) => sum + one.confirmed, 0),
    relayed: told.filter(({ how }) => how === "relayed").length,
    offered: told.filter(({ how }) => how === "offered").length,
    ...countOutcomes(told),
  };
}

async function viewAll(store: Store, found: readonly Learning[]): Promise<LearningView[]> {
  const ids = found.map(({ learningId }) => learningId);
  const { seen } = await store.read({ seen: listSeenSyncs(ids.length <= MOST_NAMED ? ids : undefined) });
  return found.map((learning) => viewOf(withSeen(learning, seen)));
}

/** Asked for by name in one question; of more, all are looked at. */
const MOST_NAMED = 500;

/** By what a learning, its failure and its remedy are recognised again is nobody's business but ours. */
function viewOf({ recipients, key: _key, failing, fix, ...learning }: Learning): LearningView {
  const failingCommand = failing === null ? null : commandOfFailure(failing);
  return { ...learning, text: wordsOf(learning), failingCommand, fixCommand: fix, counts: countOutcomes(recipients) };
}

/** Whether somebody has seen it is known from its message before it is judged. */
function withSeen(learning: Learning, seen: ReadonlySet<string>): Learning {
  const recipients = learning.recipients.map((one) => ({ ...one, seen: one.seen || seen.has(one.messageId ?? "") }));
  return { ...learning, recipients };
}
