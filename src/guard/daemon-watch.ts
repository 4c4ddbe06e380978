/**
 * Looks at the daemon from outside: reads the files it leaves and its pid, and measures by the machine's own clock how long
 * each of them has stood still. Judges nothing (domain/guard/health.ts does). A look that comes much later than it should,
 * because the machine slept or this process was stopped, begins all of it anew.
 */
import type { DaemonSeen, Fault } from "#domain/guard/health.ts";
import {
  type Heartbeat,
  parseEnding,
  parseHeartbeat,
  parseIntent,
  parseRegistration,
} from "#domain/health/daemon-life.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import type { Processes } from "#sys/processes.ts";
import { readNow } from "#sys/read-now.ts";
import { readTail } from "#sys/read-tail.ts";
import { runFiles } from "#sys/run-files.ts";

export interface WatchParts {
  readonly state: string;
  readonly clock: Clock;
  readonly files: Files;
  readonly processes: Processes;
}

/** A gap of more than so many periods is time in which nobody could look. */
const LOST_AFTER_PERIODS = 3;
const LOG_BYTES = 256 * 1024;
/** With less than this left, neither a heartbeat nor a commit can be counted on. */
const FULL_BELOW_BYTES = 1024 * 1024;

interface Moved {
  readonly value: string;
  /** Since when it has this value, by the machine's clock. */
  readonly since: number;
}

export class DaemonWatch {
  private lastLook: number | null = null;
  /** Nothing before this moment counts as stillness. */
  private from: number;
  private logOffset: number | null = null;
  private tick: Moved | null = null;
  private progress: Moved | null = null;

  constructor(private readonly parts: WatchParts) {
    this.from = Number.NEGATIVE_INFINITY;
  }

  /** Another daemon is watched from now on: what is in the log so far was about the one before. */
  begin(): void {
    this.logOffset = null;
    this.tick = null;
    this.progress = null;
    this.from = this.parts.clock.monotonic();
  }

  async look(periodMs: number, strict: boolean): Promise<DaemonSeen> {
    const { clock, processes, state } = this.parts;
    const now = clock.monotonic();
    if (this.lastLook !== null && now - this.lastLook > LOST_AFTER_PERIODS * periodMs) this.from = now;
    this.lastLook = now;
    const files = runFiles(state);
    const registration = parseRegistration(readNow(files.registration), files.log);
    const beat = parseHeartbeat(readNow(files.heartbeat));
    const heartbeat = beat?.instance === registration?.instance ? beat : undefined;
    return {
      registration,
      alive: registration !== undefined && processes.alive(registration),
      heartbeat,
      ending: parseEnding(readNow(files.ending)),
      intent: parseIntent(readNow(files.intent)),
      faults: this.readFaults(files.log, strict),
      still: this.measure(heartbeat, now),
      isDiskFull: (await this.parts.files.freeBytes(state)) < FULL_BELOW_BYTES,
    };
  }

  private measure(beat: Heartbeat | undefined, now: number): DaemonSeen["still"] {
    const since = (at: number) => Math.max(0, now - Math.max(at, this.from));
    if (!beat) return { beatMs: since(Number.NEGATIVE_INFINITY), tickMs: 0, progressMs: 0 };
    // How old they were when they were written, by the daemon's own clock; from then on by the machine's.
    this.tick = move(this.tick, String(beat.ticks), beat.bootMs - Math.max(0, beat.at - beat.tickedAt));
    const progressAt = beat.work?.progressAt ?? beat.at;
    this.progress = move(this.progress, String(progressAt), beat.bootMs - Math.max(0, beat.at - progressAt));
    return { beatMs: since(beat.bootMs), tickMs: since(this.tick.since), progressMs: since(this.progress.since) };
  }

  /** Records of level error, and of level warn where that is wanted; never a text. */
  private readFaults(path: string, strict: boolean): Fault[] {
    if (this.logOffset === null) {
      this.logOffset = readTail(path, Number.MAX_SAFE_INTEGER, 0).next;
      this.logOffset = sizeOf(path);
      return [];
    }
    const { text, next } = readTail(path, this.logOffset, LOG_BYTES);
    this.logOffset = next;
    return text.split("\n").flatMap((line) => readFault(line, strict) ?? []);
  }
}

function sizeOf(path: string): number {
  return readTail(path, 0, Number.MAX_SAFE_INTEGER).next;
}

/** The first value that is seen may be old already; one that changes is as old as the look that finds it. */
function move(known: Moved | null, value: string, since: number): Moved {
  return known?.value === value ? known : { value, since };
}

export function readFault(line: string, strict: boolean): Fault | undefined {
  const record = parseLine(line);
  if (record?.level !== "error" && !(strict && record?.level === "warn")) return undefined;
  const data = (record.data ?? {}) as Record<string, unknown>;
  const { problem = "", failures = 0 } = data;
  return { event: String(record.event ?? "?"), detail: String(problem), failures: Number(failures) || 0 };
}

function parseLine(line: string): { level?: unknown; event?: unknown; data?: unknown } | undefined {
  if (line.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // cut off by a crash; the next one is whole
    throw error;
  }
}
