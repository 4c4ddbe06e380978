import { memoryStore } from "#store/memory.ts";
import { openForWriting, openHealthLog, prepareStore } from "#store/open.ts";
import { tempDir } from "../support/temp.ts";
import { healthLogSuite } from "./health-log.suite.ts";

healthLogSuite("memory", async () => {
  const store = memoryStore();
  return { store, health: store.health };
});
healthLogSuite("SQLite", async () => {
  const address = `${tempDir("health-")}/overseer.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  return { store: await openForWriting({ address }), health: openHealthLog(address) };
});
