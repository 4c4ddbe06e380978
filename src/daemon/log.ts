/**
 * The daemon's own log (LOG-2): one record per line in logs/daemon.ndjson, redacted and turned over by size. Level
 * error is for faults of the daemon itself; a dead agent or a failed check is news. Writing never holds anybody up and
 * never throws: a disk that refuses is counted, and said on standard error once.
 */
import type { Config } from "#config/schema.ts";
import { messageOf } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import { type LogLevel, ndjsonLine, type RotatingLog, rotatingLog } from "#telemetry/log.ts";

export type LogSettings = Config["logs"];

const RANKS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export class DaemonLog {
  private settings: LogSettings;
  private file: RotatingLog;
  private last: Promise<unknown> = Promise.resolve();
  private lost = 0;

  constructor(
    private readonly parts: { readonly files: Files; readonly clock: Clock; readonly path: string },
    settings: LogSettings,
  ) {
    this.settings = settings;
    this.file = this.open(settings);
  }

  /** From now on by these settings. */
  follow(settings: LogSettings): void {
    this.settings = settings;
    const before = this.last;
    const next = this.open(settings);
    // The one before may still be turning the file over; two at once would fight for the names.
    this.file = { append: (line) => before.then(() => next.append(line)) };
  }

  record(level: LogLevel, event: string, data?: unknown, agent?: string): void {
    const least = this.settings.level === "warning" ? "warn" : this.settings.level;
    if (RANKS.indexOf(level) < RANKS.indexOf(least)) return;
    const at = this.parts.clock.now();
    const line = ndjsonLine({ at, level, event, ...(agent === undefined ? {} : { agent }), data });
    this.last = this.file.append(line).catch((error: unknown) => {
      this.lost += 1;
      if (this.lost === 1) console.error(`daemon: its log cannot be written: ${messageOf(error)}`);
    });
  }

  /** Everything recorded so far is on the disk, or was refused by it. */
  async flush(): Promise<void> {
    await this.last;
  }

  private open({ maxSize, keep }: LogSettings): RotatingLog {
    return rotatingLog({ files: this.parts.files, path: this.parts.path, maxBytes: maxSize, keep });
  }
}
