/**
 * Log records as one JSON object per line (LOG-1, LOG-2), and a file that turns over by size. A line is redacted,
 * then clipped, then written; there is no way to write an unredacted one.
 *
 * Level error is reserved for faults of the daemon itself: a failed check or a dead agent is news, not an error. It
 * keeps no handle open, so a file that was moved or deleted under it simply begins again.
 */
import { type Bounds, clip, clipDeep } from "./bounds.ts";
import { redactDeep } from "./redact.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogRecord {
  /** Epoch milliseconds; written as ISO time. */
  readonly at: number;
  readonly level: LogLevel;
  readonly event: string;
  readonly agent?: string;
  readonly data?: unknown;
}

const LINE_BOUNDS: Bounds = { maxStringBytes: 4096, maxItems: 100, maxDepth: 8 };
const MAX_DATA_BYTES = 32 * 1024;

/**
 * One line with its newline. `redact` comes on top, for secrets only the caller knows (values from a config); the
 * built-in redaction runs in any case.
 */
export function ndjsonLine(record: LogRecord, options: { redact?: <T>(value: T) => T } = {}): string {
  const own = options.redact === undefined ? record : options.redact(record);
  const { at, level, event, agent, data } = redactDeep(own);
  const head = clipDeep({ time: timeOf(at), level, event, agent }, { ...LINE_BOUNDS, maxStringBytes: 512 });
  return `${JSON.stringify({ ...head, data: limitData(data) })}\n`;
}

/** What the log needs of the file port; `Files` of sys fits. Imports point down, so the shape is said here again. */
export interface LogFiles {
  append(path: string, text: string, options?: { mode?: number }): Promise<void>;
  facts(path: string): Promise<{ readonly size: number } | undefined>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
}

export interface RotatingLog {
  /** Adds the line, turning the file over first when it would grow past its size. Rejects when the disk refuses;
   *  later lines are still tried. Calls are written in the order they were made. */
  append(line: string): Promise<void>;
}

/** `path` is the current file, `path.1` the one before, up to `path.<keep>`. One writer per path. */
export function rotatingLog(log: { files: LogFiles; path: string; maxBytes: number; keep: number }): RotatingLog {
  let last: Promise<unknown> = Promise.resolve();
  const write = async (line: string): Promise<void> => {
    const size = (await log.files.facts(log.path))?.size ?? 0;
    if (size > 0 && size + Buffer.byteLength(line) > log.maxBytes) await turnOver(log);
    await log.files.append(log.path, line, { mode: 0o600 });
  };
  return {
    append(line) {
      const written = last.then(() => write(line));
      // The caller hears of the failure through `written`; here it only must not stop the lines behind it.
      last = written.catch(() => undefined);
      return written;
    },
  };
}

async function turnOver({ files, path, keep }: { files: LogFiles; path: string; keep: number }): Promise<void> {
  const nameOf = (age: number) => (age === 0 ? path : `${path}.${age}`);
  await files.remove(nameOf(Math.max(0, keep)));
  // Oldest first: a crash in between leaves a gap in the numbers, never two files fighting for one name.
  for (let age = keep - 1; age >= 0; age -= 1) {
    if ((await files.facts(nameOf(age))) !== undefined) await files.rename(nameOf(age), nameOf(age + 1));
  }
}

function limitData(data: unknown): unknown {
  if (data === undefined) return undefined;
  const small = clipDeep(plain(data), LINE_BOUNDS);
  const text = JSON.stringify(small) ?? "";
  return Buffer.byteLength(text) <= MAX_DATA_BYTES ? small : { clipped: clip(text, MAX_DATA_BYTES / 2) };
}

/** What JSON cannot say (a bigint, a function) must cost a word, not the line. */
function plain(data: unknown): unknown {
  const text = JSON.stringify(data, (_key, value: unknown) =>
    typeof value === "bigint" || typeof value === "function" || typeof value === "symbol" ? String(value) : value,
  );
  return text === undefined ? undefined : JSON.parse(text);
}

function timeOf(at: number): string {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at);
}
