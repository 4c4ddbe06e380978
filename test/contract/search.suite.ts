/**
 * What every search over learnings keeps to: right after each commit and after a rebuild, the best first, and deaf to the
 * query languages of databases. Memory and SQLite run it; another one joins by adding a line to search.test.ts.
 */
import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { LearningBody } from "#domain/model/learning.ts";
import { learningIdOf } from "#domain/model/learning.ts";
import type { Store } from "#store/store.ts";
import { anyText } from "../support/any-text.ts";
import { bodyWith, foundEvent } from "../support/learnings.ts";
import { T0 } from "../support/samples.ts";
import { scaled } from "../support/scale.ts";

/** The id of the learning with that key. */
const idOf = learningIdOf;

export async function write(store: Store, ...events: readonly NewEvent[]): Promise<void> {
  await store.commit({ at: T0, reads: {}, decide: () => accept(events, null) });
}

export function say(key: string, text: string, parts: Partial<LearningBody> = {}): NewEvent {
  return foundEvent(bodyWith({ key, text, ...parts }));
}

export function forget(key: string): NewEvent {
  const data = { learningId: idOf(key), reason: null };
  return { type: "learning.forgotten", actor: "human:ada", because: "asked-for", data };
}

export function searchSuite(name: string, open: () => Promise<Store>): void {
  describe(`search contract: ${name}`, () => {
    const opened: Store[] = [];
    const fresh = async () => {
      const store = await open();
      opened.push(store);
      await write(
        store,
        say("tests", "The tests need the database: run `make db` first.", { score: 0.6 }),
        say("build", "The build wants Node 22; tests run on 20 too.", { score: 0.9 }),
        say("umlaut", "Prüfung schlägt fehl ohne LC_ALL=C.", { tags: ["größe"], score: 0.7 }),
        say("path", "Generated, do not edit.", { paths: ["src/gen/api_client.ts"], score: 0.5 }),
      );
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    const FOUND: [query: string, keys: string[]][] = [
      ["tests", ["build", "tests"]],
      ["TEST", ["build", "tests"]],
      ["tests database", ["tests"]],
      ["database tests", ["tests"]],
      ["data", ["tests"]],
      ["atabase", []],
      ["make db", ["tests"]],
      ["node 22", ["build"]],
      ["prufung", ["umlaut"]],
      ["PRÜFUNG", ["umlaut"]],
      ["grosse", []],
      ["größe", ["umlaut"]],
      ["api client", ["path"]],
      ["src/gen", ["path"]],
      ["nothing like it", []],
      ["", []],
      [" \n\t", []],
      ['"', []],
      ["*", []],
    ];
    test.each(FOUND)("SYNC-3: %j is found in %j", async (query, keys) => {
      const store = await fresh();
      expect(await store.search.find(query, 10)).toEqual(keys.map(idOf));
    });

    const HOSTILE = [
      'tests" OR "build',
      "tests OR nothing",
      "tests NOT database",
      "NEAR(tests database)",
      "text:tests",
      "tests*",
      "^tests",
      "{text words}: tests",
      "tests -database",
      "tests'); drop table learnings; --",
      "(((((",
      "tests\u0000database",
      '"'.repeat(1_000),
      "tests ".repeat(10_000),
    ];
    test.each(HOSTILE)("SYNC-3: signs of a query language mean nothing: %j", async (query) => {
      const store = await fresh();
      const found = await store.search.find(query, 10);
      const all = new Set(["tests", "build", "umlaut", "path"].map(idOf));
      expect(found.filter((id) => !all.has(id))).toEqual([]);
      // OR, NOT and NEAR are words like any other, and no learning has them.
      if (/ OR | NOT |NEAR|drop/.test(query)) expect(found).toEqual([]);
      expect(await store.search.find("tests", 10)).toHaveLength(2);
    });

    test("SYNC-3: whatever is typed is answered", async () => {
      const store = await fresh();
      const query = fc.oneof(anyText({ maxLength: 40 }), fc.string({ maxLength: 40 }));
      await fc.assert(
        fc.asyncProperty(query, async (words) => {
          expect(Array.isArray(await store.search.find(words, 5))).toBe(true);
        }),
        { numRuns: scaled(200) },
      );
    });

    test("SYNC-3: no more than asked for, the highest rank first", async () => {
      const store = await fresh();
      expect(await store.search.find("tests", 1)).toEqual([idOf("build")]);
      expect(await store.search.find("tests", 0)).toEqual([]);
    });

    test("SYNC-3: what is forgotten is not found, and what comes back is; what changes is found by what it says now", async () => {
      const store = await fresh();
      await write(store, forget("build"));
      expect(await store.search.find("tests", 10)).toEqual([idOf("tests")]);
      await write(store, say("build", "The linter wants Node 22."));
      expect(await store.search.find("tests", 10)).toEqual([idOf("tests")]);
      expect(await store.search.find("linter", 10)).toEqual([idOf("build")]);
    });

    test("SYNC-3: after a rebuild it finds the same", async () => {
      const store = await fresh();
      await write(store, forget("path"));
      const asked = async () => [await store.search.find("tests", 10), await store.search.find("edit", 10)];
      const before = await asked();
      await store.rebuild();
      expect(await asked()).toEqual(before);
      expect(before[1]).toEqual([]);
    });
  });
}
