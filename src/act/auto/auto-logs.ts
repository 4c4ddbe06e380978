/**
 * The three logs of auto mode (LOG-3), beside the daemon's own: what was taken, accepted and went wrong (auto.log), every
 * run of the pool's command (task_pool.log) and of the one after a landing (post_accept.log). One JSON object a line with
 * the time, the worker where there is one, and everything that was printed; redacted, turned over by size.
 */
import type { ActParts } from "#act/parts.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { type RotatingLog, rotatingLog } from "#telemetry/log.ts";
import { redactDeep } from "#telemetry/redact.ts";

export type AutoLogName = "auto" | "task_pool" | "post_accept";

export interface AutoLogEntry {
  readonly event: string;
  readonly worker?: string | null;
  readonly [field: string]: unknown;
}

type LogParts = Pick<ActParts, "root" | "files" | "clock" | "config">;

type OpenLogs = Map<string, { readonly size: number; readonly log: RotatingLog }>;

/**
 * One writer per file and process: two that turn it over at once would fight for the names. A process is known by its files,
 * so that a simulated one never waits for what another had begun before it died.
 */
const OPEN = new WeakMap<LogParts["files"], OpenLogs>();

export function autoLogPath({ root }: Pick<ActParts, "root">, name: AutoLogName): string {
  return `${root.state}/logs/${name}.log`;
}

/** Rejects where the disk refuses. */
export async function recordAuto(
  parts: LogParts,
  name: AutoLogName,
  entry: AutoLogEntry,
  at = parts.clock.now(),
): Promise<void> {
  const { logs } = await parts.config();
  const path = autoLogPath(parts, name);
  const open: OpenLogs = OPEN.get(parts.files) ?? new Map();
  OPEN.set(parts.files, open);
  const known = open.get(path);
  const log =
    known?.size === logs.maxSize
      ? known.log
      : rotatingLog({ files: parts.files, path, maxBytes: logs.maxSize, keep: logs.keep });
  open.set(path, { size: logs.maxSize, log });
  await log.append(`${JSON.stringify(redactDeep({ time: isoTime(at), ...entry }))}\n`);
}
