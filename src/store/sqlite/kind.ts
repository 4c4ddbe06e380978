/** SQLite as a kind of store. Each part is loaded by whoever needs it: a hook opens a signal log and nothing else. */
import type { StoreKind } from "#store/kind.ts";

export const sqlite: StoreKind = {
  openForReading: (path, options) => loadFile().openSqlite(path, options, { readonly: true }),
  openForWriting: (path, options) => loadFile().openSqlite(path, options, { readonly: false }),
  openSignalLog(path, options) {
    // By this name scripts/bundle.sh keeps it out of the bundles of commands that record no signals.
    const { openSqliteSignalLog } = require("#store/sqlite/signal-log.ts") as typeof import("./signal-log.ts");
    return openSqliteSignalLog(path, options);
  },
  openHealthLog(path, options) {
    const { openSqliteHealthLog } = require("#store/sqlite/health-log.ts") as typeof import("./health-log.ts");
    return openSqliteHealthLog(path, options);
  },
  askOnce(path, query, busyMs) {
    const { askSqliteOnce } = require("./ask-once.ts") as typeof import("./ask-once.ts");
    return askSqliteOnce(path, query, busyMs);
  },
  openAsker(path) {
    const { openSqliteAsker } = require("./ask-once.ts") as typeof import("./ask-once.ts");
    return openSqliteAsker(path);
  },
  inspect: (path) => loadFile().inspectFile(path),
  prepare: (path, options) => loadFile().prepareFile(path, options),
  identityAt: (path) => loadFile().identityOfFile(path),
  watch(path, onWrite) {
    const { watchSqlite } = require("./watch.ts") as typeof import("./watch.ts");
    return watchSqlite(path, onWrite);
  },
};

/** By this name scripts/bundle.sh keeps it out of the bundles of hooks. */
function loadFile(): typeof import("./file.ts") {
  return require("#store/sqlite/file.ts") as typeof import("./file.ts");
}
