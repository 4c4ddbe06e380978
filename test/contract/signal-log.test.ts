import { describe, expect, test } from "bun:test";
import type { Signal } from "#domain/signals/signal.ts";
import { memoryStore } from "#store/memory.ts";
import { openForWriting, openSignalLog, prepareStore } from "#store/open.ts";
import { latestPulses, pulseOf, pulsesOfLiving, seePulsesOfLiving } from "#store/signals.ts";
import { connect } from "#store/sqlite/file.ts";
import { WATCHED_PULSES } from "#store/watch.ts";
import { addRunning } from "../support/attempts.ts";
import { tempDir } from "../support/temp.ts";
import { signalLogSuite } from "./signal-log.suite.ts";

async function sqlite() {
  const address = `${tempDir("signals-")}/overseer.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  return { address, store: await openForWriting({ address }), signals: openSignalLog(address, { busyMs: 20 }) };
}

signalLogSuite("memory", async () => {
  const store = memoryStore();
  return { store, signals: store.signals };
});
signalLogSuite("SQLite", sqlite);

test("while somebody else writes for long, recording is refused and keeps nothing", async () => {
  const { address, store, signals } = await sqlite();
  const other = connect(address, false);
  other.run("begin immediate");
  expect(signals.record(1, "a", [])).rejects.toThrow("The database stayed busy");
  other.close();
  expect(await signals.record(1, "a", [])).toBeUndefined();
  signals.close();
  await store.close();
});

test("STORE-3: an address of a kind nobody knows says which there are, and nothing of what follows", async () => {
  const opening = openForWriting({ address: "postgres://ada:secret@db/overseer" });
  expect(opening).rejects.toThrow('Overseer cannot keep its store in "postgres:".');
  const words = await opening.catch((error) => `${error.message} ${error.hint}`);
  expect(words).toContain("sqlite:<path>");
  expect(words).not.toContain("secret");
  expect(await opening.catch((error) => [error.kind, error.code])).toEqual(["config", "STORE_KIND_UNKNOWN"]);
});

test("STORE-3: a path, sqlite:<path> and sqlite://<path> are one store", async () => {
  const { address, store, signals } = await sqlite();
  const others = await Promise.all(
    [`sqlite:${address}`, `sqlite://${address}`].map((one) => openForWriting({ address: one })),
  );
  const identities = await Promise.all([store, ...others].map((one) => one.identity()));
  expect(new Set(identities).size).toBe(1);
  signals.close();
  for (const one of [store, ...others]) await one.close();
});

describe("DEGR-1: a pulse that a disk, a bug or a hand has spoiled", () => {
  const at = 1_000;
  const heard: Signal[] = [
    { kind: "turn.started", source: "t1", phase: "", at, data: { by: "message" } },
    { kind: "meter", source: "m1", phase: "", at, data: { costUsd: 2, contextWindow: null } },
    {
      ...{ kind: "tool.started", source: "c1", phase: "start", at },
      data: { tool: "Bash", argsHash: "h", args: "{}", sub: null },
    },
  ];
  const next: Signal = { kind: "said", source: "s9", phase: "", at: at + 1, data: { text: "On I go." } };

  test.each([
    ["has lost its calls", "json_remove(doc, '$.calls')"],
    ["has null for calls", "json_set(doc, '$.calls', null)"],
    ["has a call that is none", "json_set(doc, '$.calls[0]', 7)"],
    ["has lost what it used", "json_remove(doc, '$.usage')"],
    ["has a course that is none", "json_set(doc, '$.course.calls', 'x')"],
    ["is null", "'null'"],
    ["is a bare fragment", `'{"attempt":5,"calls":null}'`],
    ["is another's", "json_set(doc, '$.attempt', 99)"],
  ])("one that %s is left out by readers, and begun again by the next signal", async (_what, how) => {
    const { address, store, signals } = await sqlite();
    const [spoiled = 0, whole = 0] = await addRunning(store, 2, { pid: 7, start: "7" });
    for (const one of [spoiled, whole]) await signals.record(one, `agent-${one}`, heard);
    const db = connect(address, false);
    db.run(`update pulses set doc = ${how}, beats = beats + 1 where attempt = ?1`, [spoiled]);
    const seen = await store.read({
      ...{ one: pulseOf(spoiled), living: pulsesOfLiving(), latest: latestPulses(9), both: seePulsesOfLiving() },
      some: WATCHED_PULSES.some([String(spoiled), String(whole)]),
    });
    const attempts = (pulses: readonly { readonly attempt: number }[]) => pulses.map(({ attempt }) => attempt);
    expect(seen.one).toBeUndefined();
    for (const pulses of [seen.living, seen.latest, seen.some, seen.both.pulses]) {
      expect(attempts(pulses)).toEqual([whole]);
    }
    expect(seen.both.unusable).toEqual([{ attempt: spoiled, agent: "agent-0" }]);
    expect(await signals.steer(spoiled, at, () => undefined)).toBeUndefined();
    const healed = await signals.record(spoiled, "agent-0", [next]);
    // Nothing that was heard is lost, and what counts never counts backwards.
    expect(healed).toMatchObject({ beats: 5, inTurn: true, lastText: "On I go.", usage: { costUsd: 2, toolCalls: 1 } });
    expect(healed?.calls.map(({ id, ok }) => [id, ok])).toEqual([["c1", null]]);
    const after = await store.read({ one: pulseOf(spoiled), both: seePulsesOfLiving() });
    expect([after.one, after.both.unusable]).toEqual([healed, []]);
    db.close();
    signals.close();
    await store.close();
  });

  test("a signal that cannot be read any more either is left out of what is begun again", async () => {
    const { address, store, signals } = await sqlite();
    const [attempt = 0] = await addRunning(store, 1, { pid: 7, start: "7" });
    await signals.record(attempt, "agent-0", heard);
    const db = connect(address, false);
    db.run("update pulses set doc = 'null'");
    db.run("update signals set data = 'null' where source = 'm1'");
    db.run("update signals set data = '{' where source = 'c1'");
    // What it has cost is a column beside.
    expect(await signals.record(attempt, "agent-0", [next])).toMatchObject({
      beats: 4,
      usage: { costUsd: 2 },
      calls: [],
    });
    db.close();
    signals.close();
    await store.close();
  });
});
