import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import { relayLearnings } from "#domain/learnings/relay.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { learningIdOf } from "#domain/model/learning.ts";
import type { Signal } from "#domain/signals/signal.ts";
import {
  learningById,
  learningsBefore,
  learningsByIds,
  learningsOffered,
  learningsSince,
  learningsWithPrefix,
  listForgottenInBox,
  listLearnings,
  listSeenSyncs,
  listUnjudgedLearnings,
  syncsBeforeLiving,
  syncsSince,
  syncsUnjudged,
} from "#store/learnings.ts";
import { memoryStore } from "#store/memory.ts";
import { messagesLike } from "#store/messages.ts";
import { openForWriting, openSignalLog, prepareStore } from "#store/open.ts";
import type { Query } from "#store/query.ts";
import { lastPlace, signalsOfAll } from "#store/signals.ts";
import { tablesAgainstLog } from "#store/sqlite/store.ts";
import type { Store } from "#store/store.ts";
import { addRunning } from "../support/attempts.ts";
import { partyWith } from "../support/learnings.ts";
import { ADA, T0 } from "../support/samples.ts";
import { scaled } from "../support/scale.ts";
import { tempDir } from "../support/temp.ts";
import { forget, say, searchSuite, write } from "./search.suite.ts";

async function sqlite() {
  const address = `${tempDir("search-")}/overseer.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  return { address, store: await openForWriting({ address }) };
}

searchSuite("memory", async () => memoryStore());
searchSuite("SQLite", async () => (await sqlite()).store);

const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

test("SYNC-3: a rebuild brings an index back that was spoiled, and a copy of the file finds the same", async () => {
  const { address, store } = await sqlite();
  opened.push(store);
  await write(store, say("a", "Alpha wants beta."), say("b", "Beta wants gamma."));
  const db = new Database(address);
  db.run("delete from learnings");
  expect(await store.search.find("beta", 10)).toEqual([]);
  await store.rebuild();
  const found = await store.search.find("beta", 10);
  expect(found).toHaveLength(2);
  const copy = `${tempDir("search-")}/overseer.db`;
  db.query("vacuum into ?1").run(copy);
  db.close();
  const other = await openForWriting({ address: copy });
  opened.push(other);
  expect(await other.search.find("beta", 10)).toEqual(found);
});

const SPOILED: [what: string, sql: string][] = [
  ["emptied", "delete from learnings_text"],
  ["doubled", "insert into learnings_text (id, text, words) select id, text, words from learnings"],
  ["of other words", "update learnings_text set text = 'nothing'"],
];
test.each(SPOILED)(
  "SYNC-3: an index that is %s is named by the check and made anew by a rebuild",
  async (_what, sql) => {
    const { address, store } = await sqlite();
    opened.push(store);
    await write(
      store,
      say("a", "Alpha wants beta."),
      say("b", "Beta wants gamma."),
      say("c", "Beta is gone."),
      forget("c"),
    );
    const found = await store.search.find("beta", 10);
    const db = new Database(address);
    db.run(sql);
    expect(tablesAgainstLog(db, address).differing).toEqual([
      expect.stringMatching(/^the full text of learnings \(\d+\)$/),
    ]);
    await store.rebuild();
    expect(tablesAgainstLog(db, address).differing).toEqual([]);
    db.close();
    expect(await store.search.find("beta", 10)).toEqual(found);
    expect(found).toHaveLength(2);
  },
);

const KEYS = ["a", "b", "c", "d"];
interface Move {
  readonly do: "find" | "forget" | "tell" | "hand" | "see" | "offer" | "judge";
  readonly key: string;
  readonly score: number;
  readonly attempt: number;
}
const move: fc.Arbitrary<Move> = fc.record({
  do: fc.constantFrom("find", "forget", "tell", "tell", "hand", "see", "hand", "offer", "judge"),
  key: fc.constantFrom(...KEYS),
  score: fc.constantFrom(0.5, 0.7, 0.9),
  attempt: fc.integer({ min: 1, max: 3 }),
});

async function eventsOf(store: Store, { do: what, key, score, attempt }: Move): Promise<NewEvent[]> {
  const learningId = learningIdOf(key);
  const { learning } = await store.read({ learning: learningById(learningId) });
  if (what === "find") return [say(key, `About ${key}`, { score, tags: ["x"] })];
  if (!learning) return [];
  if (what === "forget") return [forget(key)];
  if (what === "offer") {
    const about = { goalId: "goal_A", nodeId: `T${attempt}`, agent: `a-${attempt}`, attempt };
    return [{ type: "learning.offered", actor: "overseer", ...about, because: "x", data: { learningId } }];
  }
  if (what === "hand") {
    const { found } = await store.read({
      found: messagesLike({ kind: "sync", thread: learningId, unread: true, limit: 1 }),
    });
    return found.map(({ agent, attempt: to, messageId }) => ({
      ...{ type: "message.handed", actor: "overseer", agent, attempt: to, because: "boundary" },
      data: { messageId, handedAs: "h" },
    }));
  }
  if (what === "see") {
    const { found } = await store.read({
      found: messagesLike({ kind: "sync", thread: learningId, unread: true, limit: 1 }),
    });
    return found.map(({ agent, attempt: to, messageId }) => ({
      ...{ type: "message.seen", actor: "overseer", agent, attempt: to, because: "echoed" },
      data: { messageId },
    }));
  }
  if (what === "judge") {
    const verdicts = [{ attempt, outcome: "used" as const, seen: true, saved: true }];
    return [{ type: "learning.judged", actor: "overseer", because: "seen", data: { learningId, verdicts } }];
  }
  const scene = {
    learnings: [learning],
    parties: [partyWith(attempt + 10, { tags: ["x"] })],
    told: new Map(),
    failing: () => [],
  };
  return relayLearnings(scene, { minScore: 0, most: 9, perMs: 1, expiryMs: 1, withinMs: 1 }, T0);
}

test("SYNC-3: both stores answer every question about learnings the same, whatever was found, told and forgotten", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 12 }), async (moves) => {
      const stores = [memoryStore(), (await sqlite()).store];
      try {
        for (const store of stores) await addRunning(store, 12, { pid: 7, start: "7" });
        for (const one of moves) for (const store of stores) await write(store, ...(await eventsOf(store, one)));
        const questions: Query<unknown>[] = [
          ...KEYS.map((key) => learningById(learningIdOf(key))),
          learningsByIds(KEYS.map(learningIdOf)),
          learningsWithPrefix("L_", 3),
          listLearnings({ all: true, limit: 3 }),
          listLearnings({ all: false, limit: 10 }),
          learningsSince(T0),
          learningsSince(T0 + 1),
          learningsBefore(T0 + 1, 2),
          listUnjudgedLearnings(),
          syncsUnjudged(),
          listSeenSyncs(),
          listSeenSyncs(KEYS.slice(0, 2).map(learningIdOf)),
          syncsBeforeLiving(),
          listForgottenInBox(11),
          listForgottenInBox(12),
          learningsOffered(),
          syncsSince(T0 - 1),
          syncsSince(T0),
        ];
        for (const question of questions) {
          const [memory, sqlite] = await Promise.all(
            stores.map(async (store) => (await store.read({ question })).question),
          );
          expect(sqlite).toEqual(memory);
        }
        const [one, other] = await Promise.all(stores.map((store) => store.dump()));
        expect(other).toEqual(one as never);
      } finally {
        for (const store of stores) await store.close();
      }
    }),
    { numRuns: scaled(15) },
  );
});

test("SYNC-1: signals of all attempts are read on from a place, the same by both logs", async () => {
  const said = (source: string, kind: "said" | "noise" = "said"): Signal =>
    ({ kind, source, phase: kind, at: ADA.now, data: { text: source } }) as Signal;
  const memory = memoryStore();
  const { address, store } = await sqlite();
  opened.push(memory, store);
  const real = openSignalLog(address);
  const answers = [];
  for (const { at, log } of [
    { at: memory as Store, log: memory.signals },
    { at: store, log: real },
  ]) {
    const [one = 0, two = 0] = await addRunning(at, 2, { pid: 7, start: "7" });
    await log.record(one, "a", [said("1"), said("2", "noise")]);
    await log.record(two, "b", [said("3"), said("3")]);
    await log.record(one, "a", [said("4")]);
    const look = async (place: number, limit: number) => {
      const { found } = await at.read({ found: signalsOfAll(place, limit, ["said"]) });
      return { seen: found.map(({ attempt, signal }) => [attempt, signal.source]), last: found.at(-1)?.place ?? 0 };
    };
    const first = await look(0, 2);
    answers.push([first.seen, (await look(first.last, 9)).seen, (await look(0, 9)).last]);
    expect((await at.read({ last: lastPlace() })).last).toBe((await look(0, 9)).last);
  }
  real.close();
  expect(answers[1]).toEqual(answers[0] as never);
  expect(answers[0]).toEqual([
    [
      [1, "1"],
      [2, "3"],
    ],
    [[1, "4"]],
    4,
  ]);
});

test("SYNC-1: a signal whose data are spoiled hides none of those behind it", async () => {
  const { address, store } = await sqlite();
  opened.push(store);
  const [one = 0] = await addRunning(store, 1, { pid: 7, start: "7" });
  const log = openSignalLog(address);
  const said = (source: string) =>
    ({ kind: "said", source, phase: "said", at: ADA.now, data: { text: source } }) as Signal;
  await log.record(one, "a", [said("1"), said("2")]);
  log.close();
  const db = new Database(address);
  db.run("update signals set data = '{\"text' where source = '1'");
  db.close();
  const { found } = await store.read({ found: signalsOfAll(0, 9) });
  expect(found.map(({ signal }) => signal.data as unknown)).toEqual([null, { text: "2" }]);
});
