/**
 * Keeps a hook's payload in a file when the database would not take it. Written beside and renamed, so that a reader
 * never sees half of one. Only this path loads node:fs, which costs half of Bun's own start.
 */
import type { HookEvent } from "#runtimes/hook-signals.ts";
import type { SpooledHook } from "#runtimes/hook-spool.ts";
import { spoolDir, spoolName } from "#runtimes/hook-spool.ts";
import { clipDeep } from "#telemetry/bounds.ts";
import { redactDeep } from "#telemetry/redact.ts";

/** First cut generously, so that a whole secret is recognised, then redacted, then cut to what is kept. */
const LOOKED_AT = { maxStringBytes: 256 * 1024, maxItems: 1_000, maxDepth: 12 };
const KEPT = { maxStringBytes: 8 * 1024, maxItems: 100, maxDepth: 8 };

/** Throws when the file cannot be written, e.g. on a full disk. */
export function spool(state: string, attempt: number, told: HookEvent, dialect: string): void {
  const fs: typeof import("node:fs") = require("node:fs");
  const { moment: event, id, at } = told;
  const payload = clipDeep(redactDeep(clipDeep(told.payload, LOOKED_AT)), KEPT);
  const kept: SpooledHook = { v: 1, event, dialect, id, at, payload };
  const directory = spoolDir(state, attempt);
  // Below a run directory that is there: of a repository that was moved away, nothing is made again at the old place.
  fs.statSync(`${state}/run`);
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = `${directory}/${spoolName(at, id)}`;
  fs.writeFileSync(`${path}.new`, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  fs.renameSync(`${path}.new`, path);
}
