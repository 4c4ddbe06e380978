/**
 * One turn of the sync: hears what agents did since the last one, keeps what they found out, tells it to those whom it
 * concerns, and judges what came of what was told before. What is heard lies in memory and begins a little before the
 * daemon did: ids follow from what was found, so hearing something twice changes nothing. Everything that is decided, is
 * decided by rules (domain/learnings) in one commit; where there is nothing to decide, nothing is written. No model is
 * asked and no process started.
 */
import { wakeRunnersFor } from "#act/attempt-files.ts";
import type { Config } from "#config/schema.ts";
import { listHalts } from "#control/halted.ts";
import type { World } from "#control/world.ts";
import { withdrawSyncs } from "#domain/inbox/mailing.ts";
import type { AfterHearing, Hearing } from "#domain/learnings/hear.ts";
import { HEARD_KINDS, hearReport, hearSignal, hearTold, NEW_HEARING } from "#domain/learnings/hear.ts";
import type { FoundDiscovery } from "#domain/learnings/keep.ts";
import { forgetUseless, idsOfDiscovery, keepDiscoveries } from "#domain/learnings/keep.ts";
import { judgeRecipients } from "#domain/learnings/outcome.ts";
import type { Party } from "#domain/learnings/relate.ts";
import { partyNear, partyOf } from "#domain/learnings/relate.ts";
import { rateLooksBack, relayLearnings } from "#domain/learnings/relay.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { Learning } from "#domain/model/learning.ts";
import { applyToLearning, listUnjudged } from "#domain/model/learning.ts";
import { orThrow } from "#errors.ts";
import { attemptByNumber, listLivingBriefly } from "#store/attempts.ts";
import { logSize } from "#store/events.ts";
import { goalById } from "#store/goals.ts";
import {
  learningsBefore,
  learningsByIds,
  learningsOffered,
  learningsSince,
  listUnjudgedLearnings,
  syncsBeforeLiving,
  syncsSince,
  syncsUnjudged,
} from "#store/learnings.ts";
import { messagesByIds } from "#store/messages.ts";
import { lastPlace, signalsOfAll } from "#store/signals.ts";
import type { ReadResults, Store } from "#store/store.ts";
import { nodeById } from "#store/work.ts";

/** What one daemon remembers from turn to turn. */
export class SyncMemory {
  /** How far signals and the log were read; null before the first turn. */
  place: number | null = null;
  seq = 0;
  readonly hearings = new Map<number, Hearing>();
  readonly parties = new Map<number, { readonly party: Party; readonly worktree: string }>();
  /** What was found and is not in the log yet: a commit that fails loses nothing. */
  found: readonly FoundDiscovery[] = [];
  /** Turns that failed since the last one that did not. */
  failures = 0;
}

export interface SyncTurn {
  readonly found: number;
  readonly relayed: number;
  /** Signals and reports that could not be heard: spoiled ones. They are passed over. */
  readonly unheard: number;
  /** There is more to hear at once. */
  readonly more: boolean;
}

/** Begins so far before the present, so that what an agent had begun when the last daemon ended is heard whole. */
const LOOKBACK_SIGNALS = 2_000;
const LOOKBACK_EVENTS = 500;
/** Heard in one turn; the rest in the next, at once. */
const PAGE = 5_000;
/** Looked up by their ids at once. */
const MOST_ASKED_FOR = 5_000;
/** Old ones let go in one turn. */
const MOST_LET_GO = 50;

/** So much is kept for a commit that succeeds, and so often it is tried: one that no commit takes holds up nothing for good. */
const MOST_KEPT_FOR_LATER = 1_000;
const MOST_FAILURES = 20;

const NOTHING: SyncTurn = { found: 0, relayed: 0, unheard: 0, more: false };

export async function turnSync(world: World, memory: SyncMemory): Promise<SyncTurn> {
  const config = await world.config();
  if (!config.sync.enabled || (await listHalts(world)).length > 0) return NOTHING;
  const store = await world.writer();
  const { found, unheard, more } = await hearNews(store, memory);
  memory.found = [...(memory.failures < MOST_FAILURES ? memory.found : []), ...found].slice(-MOST_KEPT_FOR_LATER);
  memory.failures += 1;
  const events = await decideAndCommit(store, memory, { found: memory.found, config, now: world.clock.now() });
  memory.found = [];
  memory.failures = 0;
  await wakeRunnersFor(world, events);
  return {
    found: events.filter(({ type }) => type === "learning.found").length,
    relayed: events.filter(({ type }) => type === "message.queued").length,
    ...{ unheard, more },
  };
}

interface News {
  readonly found: readonly FoundDiscovery[];
  readonly unheard: number;
  readonly more: boolean;
}

/** Once it hears, it moves on: what cannot be heard is counted, and a hearing changes only by what was heard whole. */
async function hearNews(store: Store, memory: SyncMemory): Promise<News> {
  if (memory.place === null) {
    const { last, size } = await store.read({ last: lastPlace(), size: logSize() });
    memory.place = Math.max(0, last - LOOKBACK_SIGNALS);
    memory.seq = Math.max(0, size.last - LOOKBACK_EVENTS);
    const { syncs, offered, atWork } = await store.read({
      ...{ syncs: syncsBeforeLiving(), offered: learningsOffered() },
      atWork: listLivingBriefly(),
    });
    const living = new Set(atWork.map(({ attempt }) => attempt));
    for (const { attempt, body } of syncs) tell(memory, attempt, body);
    for (const { recipients, text } of offered)
      for (const { attempt } of recipients) if (living.has(attempt)) tell(memory, attempt, text);
  }
  const log = await store.log({ after: memory.seq, limit: PAGE });
  const { signals, living } = await store.read({
    signals: signalsOfAll(memory.place, PAGE, HEARD_KINDS),
    living: listLivingBriefly(),
  });
  // Tags of a goal or a node may have changed.
  if (log.some(({ type }) => type === "goal.updated" || type === "work.redefined")) memory.parties.clear();
  await rememberTellings(store, memory, log);
  const reports = log.filter((event): event is EventOf<"crystallization.recorded"> => {
    return event.type === "crystallization.recorded" && event.attempt !== undefined;
  });
  const speaking = [...signals, ...reports].map(({ attempt }) => attempt ?? 0);
  await knowParties(store, memory, [...living.map(({ attempt }) => attempt), ...speaking]);
  const found: FoundDiscovery[] = [];
  let unheard = 0;
  const hear = (attempt: number, at: number, listen: (hearing: Hearing) => AfterHearing) => {
    try {
      const after = listen(memory.hearings.get(attempt) ?? NEW_HEARING);
      memory.hearings.set(attempt, after.hearing);
      const by = partyNow(memory, attempt);
      if (by) for (const discovery of after.found) found.push({ discovery, by, at });
    } catch {
      unheard += 1;
    }
  };
  for (const { attempt, signal } of signals) hear(attempt, signal.at, (hearing) => hearSignal(hearing, signal));
  for (const event of reports) hear(event.attempt ?? 0, event.at, (hearing) => hearReport(hearing, event));
  memory.place = signals.at(-1)?.place ?? memory.place;
  memory.seq = log.at(-1)?.seq ?? memory.seq;
  return { found, unheard, more: signals.length === PAGE || log.length === PAGE };
}

/** What was put before agents since the last turn is not theirs: before anything they said since is heard. */
async function rememberTellings(store: Store, memory: SyncMemory, log: readonly EventOf[]): Promise<void> {
  const handed = log.flatMap((event) => (event.type === "message.handed" ? [event.data.messageId] : []));
  const offers = log.filter((event): event is EventOf<"learning.offered"> => event.type === "learning.offered");
  if (handed.length + offers.length === 0) return;
  const { messages, learnings } = await store.read({
    messages: messagesByIds([...new Set(handed)].slice(-MOST_ASKED_FOR)),
    learnings: learningsByIds([...new Set(offers.map(({ data }) => data.learningId))].slice(-MOST_ASKED_FOR)),
  });
  for (const { kind, attempt, body } of messages) if (kind === "sync") tell(memory, attempt, body);
  const texts = new Map(learnings.map(({ learningId, text }) => [learningId, text]));
  for (const { attempt = 0, data } of offers) tell(memory, attempt, texts.get(data.learningId) ?? "");
}

function tell(memory: SyncMemory, attempt: number, text: string): void {
  memory.hearings.set(attempt, hearTold(memory.hearings.get(attempt) ?? NEW_HEARING, text));
}

/** What never changes about an attempt is read once. */
async function knowParties(store: Store, memory: SyncMemory, attempts: readonly number[]): Promise<void> {
  for (const number of new Set(attempts)) {
    if (memory.parties.has(number)) continue;
    const { attempt } = await store.read({ attempt: attemptByNumber(number) });
    if (!attempt) continue;
    const { goalId, workNodeId, worktree } = attempt;
    const { node, goal } = await store.read({ node: nodeById(goalId, workNodeId), goal: goalById(goalId) });
    memory.parties.set(number, { party: partyOf(attempt, node, goal), worktree });
  }
}

function partyNow(memory: SyncMemory, attempt: number): Party | undefined {
  const known = memory.parties.get(attempt);
  return known && partyNear(known.party, memory.hearings.get(attempt)?.touched ?? [], known.worktree);
}

interface Turn {
  readonly found: readonly FoundDiscovery[];
  readonly config: Config;
  readonly now: number;
}

async function decideAndCommit(store: Store, memory: SyncMemory, turn: Turn): Promise<readonly NewEvent[]> {
  const { sync } = turn.config;
  const reads = {
    known: learningsByIds([...new Set(turn.found.flatMap(({ discovery }) => idsOfDiscovery(discovery)))]),
    recent: learningsSince(turn.now - sync.relayWithin),
    unjudged: listUnjudgedLearnings(),
    messages: syncsUnjudged(),
    old: learningsBefore(turn.now - sync.keptFor, MOST_LET_GO),
    told: syncsSince(turn.now - rateLooksBack(sync.rate.per)),
    living: listLivingBriefly(),
  };
  const seen = await store.read(reads);
  forgetHearings(memory, seen);
  // Looked at without a lock first: mostly there is nothing to decide.
  if (decideTurn(seen, memory, turn).length === 0) return [];
  const decide = (now: typeof seen) => accept(decideTurn(now, memory, turn), null);
  const outcome = await store.commit({ at: turn.now, reads, decide });
  orThrow(outcome);
  return outcome.ok ? outcome.events : [];
}

type Seen = ReadResults<{
  known: ReturnType<typeof learningsByIds>;
  recent: ReturnType<typeof learningsSince>;
  unjudged: ReturnType<typeof listUnjudgedLearnings>;
  messages: ReturnType<typeof syncsUnjudged>;
  old: ReturnType<typeof learningsBefore>;
  told: ReturnType<typeof syncsSince>;
  living: ReturnType<typeof listLivingBriefly>;
}>;

function decideTurn(seen: Seen, memory: SyncMemory, { found, config, now }: Turn): NewEvent[] {
  const { sync, inbox } = config;
  const learnings = new Map<string, Learning>();
  for (const one of [...seen.known, ...seen.recent, ...seen.unjudged, ...seen.old]) learnings.set(one.learningId, one);
  const events: NewEvent[] = [];
  /** What follows from the one rule is what the next one sees. */
  const take = (more: readonly NewEvent[]) => {
    for (const event of more) foldInto(learnings, event, now);
    events.push(...more);
  };
  take(keepDiscoveries(learnings, found));
  const living = new Set(seen.living.map(({ attempt }) => attempt));
  const messages = new Map(seen.messages.map((message) => [message.messageId, message]));
  const scene = {
    message: (id: string) => messages.get(id),
    calls: (attempt: number) => memory.hearings.get(attempt)?.calls ?? [],
    hasEnded: (attempt: number) => !living.has(attempt),
  };
  for (const { learningId } of seen.unjudged) {
    const learning = learnings.get(learningId);
    const verdicts = learning ? judgeRecipients(learning, scene) : [];
    if (verdicts.length > 0)
      take([{ type: "learning.judged", actor: "overseer", because: "seen", data: { learningId, verdicts } }]);
  }
  for (const learning of [...learnings.values()]) {
    const gone = forgetUseless(learning, { now, keptForMs: sync.keptFor });
    const waiting = seen.messages.filter(({ threadId }) => threadId === learning.learningId);
    take(gone.length === 0 ? [] : [...gone, ...withdrawSyncs(waiting, "overseer")]);
  }
  const reachable = seen.living.filter(({ status }) => status !== "preparing");
  take(
    relayLearnings(
      {
        learnings: [...learnings.values()],
        parties: reachable.flatMap(({ attempt }) => partyNow(memory, attempt) ?? []),
        told: seen.told,
        failing: (attempt) => memory.hearings.get(attempt)?.failing ?? [],
      },
      {
        ...{ minScore: sync.minScore, most: sync.rate.max, perMs: sync.rate.per },
        ...{ expiryMs: inbox.syncExpiry, withinMs: sync.relayWithin },
      },
      now,
    ),
  );
  return events;
}

function foldInto(learnings: Map<string, Learning>, event: NewEvent, now: number): void {
  if (!("learningId" in event.data)) return;
  const { learningId } = event.data;
  const after = applyToLearning(learnings.get(learningId), { ...event, seq: 0, at: now, v: 1 } as EventOf);
  if (after) learnings.set(learningId, after);
}

/** Whoever has ended, and whose part in what was told is judged, is forgotten. */
function forgetHearings(memory: SyncMemory, { living, unjudged, messages }: Seen): void {
  const needed = new Set([
    ...living.map(({ attempt }) => attempt),
    ...unjudged.flatMap((learning) => listUnjudged(learning).map(({ attempt }) => attempt)),
    ...messages.map(({ attempt }) => attempt),
  ]);
  for (const attempt of [...memory.hearings.keys()]) if (!needed.has(attempt)) memory.hearings.delete(attempt);
  for (const attempt of [...memory.parties.keys()]) if (!needed.has(attempt)) memory.parties.delete(attempt);
}
