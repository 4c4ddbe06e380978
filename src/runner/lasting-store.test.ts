/** A store that goes away and comes back: waited for, opened again when it was replaced, given up only when told to. */
import { describe, expect, test } from "bun:test";
import { accept } from "#domain/model/decision.ts";
import { OverseerError } from "#errors.ts";
import { memoryStore } from "#store/memory.ts";
import type { Store } from "#store/store.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { lastingSignals, lastingStore } from "./lasting-store.ts";

const trouble = (code: string) => new OverseerError("environment", code, "Away.", "Wait.");

/** Each opening, and each read of what was opened, fails or answers as listed. */
function staged(openings: readonly (string | readonly (string | null)[])[]) {
  const clock = virtualClock();
  const problems: string[] = [];
  let opened = 0;
  const open = async (): Promise<Store> => {
    const next = openings[opened++] ?? [null];
    if (typeof next === "string") throw trouble(next);
    const answers = [...next];
    const read = async () => {
      const answer = answers.shift();
      if (typeof answer === "string") throw trouble(answer);
      return { opened };
    };
    return { read } as unknown as Store;
  };
  const problem = async (text: string) => void problems.push(text);
  return { clock, problems, open, problem, isHopeless: () => false };
}

describe("lastingStore", () => {
  test("a store that is busy is asked again, through the same connection, and told about once", async () => {
    const stage = staged([["STORE_BUSY", "STORE_BUSY", null]]);
    const store = await lastingStore(stage);
    const asked = store.read({});
    await stage.clock.advance(10_000);
    expect((await asked) as unknown).toEqual({ opened: 1 });
    expect(stage.problems).toHaveLength(1);
  });

  test("one that was replaced is opened again, as soon as that can be", async () => {
    const stage = staged([["STORE_REPLACED"], "STORE_MISSING", "STORE_CORRUPT", [null]]);
    const store = await lastingStore(stage);
    const asked = store.read({});
    await stage.clock.advance(60_000);
    expect((await asked) as unknown).toEqual({ opened: 4 });
  });

  test("IDLE-1: its mark changes with what others write, with what it writes itself, and with another file", async () => {
    const inner = memoryStore();
    let gone = false;
    const open = async (): Promise<Store> => ({
      ...inner,
      read: async (reads) => {
        if (!gone) return inner.read(reads);
        gone = false;
        throw trouble("STORE_REPLACED");
      },
      changeMark: async () => 7, // SQLite does not tell a connection of its own writes
    });
    const stage = { ...staged([]), open };
    const store = await lastingStore(stage);
    const first = await store.changeMark();
    expect(await store.changeMark()).toBe(first);
    await store.commit({ at: 1, reads: {}, decide: () => accept([], null) });
    const second = await store.changeMark();
    expect(second).not.toBe(first);
    gone = true;
    const asked = store.read({});
    await stage.clock.advance(10_000);
    await asked;
    expect([first, second]).not.toContain(await store.changeMark());
  });

  test("what is not a trouble of the store, or one that never passes, is thrown at once", async () => {
    const store = await lastingStore(staged([["STORE_NEWER"]]));
    expect(store.read({})).rejects.toThrow("Away.");
    expect(lastingStore(staged(["STORE_MISSING"]))).rejects.toThrow("Away.");
  });

  test("with the whole repository gone nothing is waited for", async () => {
    const store = await lastingStore({ ...staged([["STORE_MISSING"]]), isHopeless: () => true });
    expect(store.read({})).rejects.toThrow("Away.");
  });

  test("told to be impatient, it waits no longer", async () => {
    const store = await lastingStore(staged([["STORE_BUSY"]]));
    store.impatient();
    expect(store.read({})).rejects.toThrow("Away.");
  });
});

test("signals go to the database that has the name, and are refused while none has", async () => {
  let file: number | undefined = 1;
  const written: (number | undefined)[] = [];
  const open = () => {
    if (file === undefined) throw trouble("STORE_MISSING");
    const own = file;
    return {
      async record() {
        written.push(own);
        return undefined;
      },
      close() {},
    };
  };
  const log = lastingSignals(open, () => file, virtualClock());
  await log.record(1, "a", []);
  file = undefined;
  expect(log.record(1, "a", [])).rejects.toThrow("Away.");
  expect(log.record(1, "a", [])).rejects.toThrow("Away.");
  file = 2;
  await log.record(1, "a", []);
  file = 1;
  await log.record(1, "a", []);
  expect(written).toEqual([1, 2, 1]);
});

test("signals wait for a busy database, and not for ever", async () => {
  let busy = 3;
  const record = async () => {
    if (busy-- > 0) throw trouble("STORE_BUSY");
    return undefined;
  };
  const clock = virtualClock();
  const open = () => ({ record, close() {} });
  const log = lastingSignals(open, () => 1, clock);
  const kept = log.record(1, "a", []);
  await clock.advance(10_000);
  await kept;
  busy = Number.POSITIVE_INFINITY;
  const lost = log.record(1, "a", []).catch(String);
  await clock.advance(60_000);
  expect(await lost).toContain("Away.");
});
