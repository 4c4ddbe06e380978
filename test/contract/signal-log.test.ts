import { expect, test } from "bun:test";
import { memoryStore } from "#store/memory.ts";
import { openForWriting, openSignalLog, prepareStore } from "#store/open.ts";
import { connect } from "#store/sqlite/file.ts";
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
