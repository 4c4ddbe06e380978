/**
 * Looks at the daemon from outside: reads the files it leaves and its pid, and measures by the machine's own clock how long
 * each of them has stood still. Judges nothing (domain/guard/health.ts does). A look that comes much later than it should,
 * because the machine slept or this process was stopped, begins all of it anew.
 */
import type { DaemonSeen, Expected, Fault } from "#domain/guard/health.ts";
import {
  type Heartbeat,
  parseEnding,
  parseHeartbeat,
  parseIntent,
  parseRegistration,
  type Registration,
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

/** A gap of more than so many periods, and what a busy machine takes beside, is time in which nobody could look. */
const LOST_AFTER_PERIODS = 3;
const BUSY_MS = 1_000;
const LOG_BYTES = 256 * 1024;
/** With less than this left, neither a heartbeat nor a commit can be counted on. */
const FULL_BELOW_BYTES = 1024 * 1024;

export interface LookOptions {
  readonly periodMs: number;
  readonly strict: boolean;
  readonly expected: Expected | null;
}

interface Moved {
  readonly value: string;
  /** Since when it has this value, by the machine's clock. */
  readonly since: number;
}

export class DaemonWatch {
  private lastLook: number | null = null;
  /** Nothing before this moment counts as stillness. */
  private from: number;
  private logOffset: number;
  private tick: Moved | null = null;
  private progress: Moved | null = null;
  private stranger: Moved | null = null;
  /** As they were when it was doubted that they move. */
  private doubted: { readonly beatAt: number; readonly ticks: number } | null = null;

  constructor(private readonly parts: WatchParts) {
    this.from = Number.NEGATIVE_INFINITY;
    this.logOffset = endOf(runFiles(parts.state).log);
  }

  /** Another daemon is watched from now on: what is in the log so far was about the one before. */
  begin(): void {
    this.logOffset = endOf(runFiles(this.parts.state).log);
    this.tick = null;
    this.progress = null;
    this.stranger = null;
    this.from = this.parts.clock.monotonic();
  }

  /**
   * For whoever looks only now and then: what stood still may have slept with its machine. From now on it has as long as it
   * would have had under a guard that stays; `hasMoved` says that it needs no longer.
   */
  doubt({ heartbeat }: DaemonSeen): void {
    this.from = this.parts.clock.monotonic();
    this.doubted = { beatAt: heartbeat?.bootMs ?? 0, ticks: heartbeat?.ticks ?? 0 };
  }

  trust(): void {
    this.doubted = null;
  }

  get isInDoubt(): boolean {
    return this.doubted !== null;
  }

  hasMoved({ heartbeat }: DaemonSeen): boolean {
    if (this.doubted === null || !heartbeat) return false;
    return heartbeat.bootMs > this.doubted.beatAt && heartbeat.ticks !== this.doubted.ticks;
  }

  async look({ periodMs, strict, expected }: LookOptions): Promise<DaemonSeen> {
    const { clock, processes, state } = this.parts;
    const now = clock.monotonic();
    const lostAfterMs = LOST_AFTER_PERIODS * periodMs + BUSY_MS;
    if (this.lastLook !== null && now - this.lastLook > lostAfterMs) this.from = now;
    this.lastLook = now;
    const files = runFiles(state);
    const own = expected?.registration;
    // A daemon whose registration somebody took away puts it back; until then it is no less there.
    const registration =
      parseRegistration(readNow(files.registration), files.log) ?? (own && processes.alive(own) ? own : undefined);
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
      strangeMs: this.measureStranger(registration, own, now),
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

  private measureStranger(registration: Registration | undefined, own: Registration | undefined, now: number): number {
    if (!registration || !own || registration.instance === own.instance) {
      this.stranger = null;
      return 0;
    }
    this.stranger = move(this.stranger, registration.instance, now);
    return now - this.stranger.since;
  }

  /** Records of level error, and of level warn where that is wanted; never a text. */
  private readFaults(path: string, strict: boolean): Fault[] {
    const { text, next } = readTail(path, this.logOffset, LOG_BYTES);
    this.logOffset = next;
    return text.split("\n").flatMap((line) => readFault(line, strict) ?? []);
  }
}

/** Without reading it: a log may be large. */
function endOf(path: string): number {
  return readTail(path, 0, 0).next;
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
