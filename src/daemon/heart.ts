/**
 * The daemon's heartbeat: a timer of its own that replaces run/auto.heartbeat every few seconds, whatever ticks and
 * loops are doing, with how many ticks have ended and when. It does not judge; status and the guard do. It writes at
 * once and without a thread, so that a disk that hangs is seen as a heart that stands still. It is also where the
 * daemon notices that time was lost: a machine that slept, a process that was stopped.
 */
import { renameSync, writeFileSync } from "node:fs";
import { type Heartbeat, withSeedBeat } from "#domain/health/daemon-life.ts";
import type { Clock } from "#sys/clock.ts";

/** A gap of more than so many periods is lost time. */
const LOST_AFTER_PERIODS = 3;

export interface HeartOptions {
  readonly clock: Clock;
  readonly path: string;
  everyMs(): number;
  /** What to write, without the times. */
  state(): Omit<Heartbeat, "at" | "bootMs">;
  /** Told when this process did not run for a while, and for how long. */
  onTimeLost(ms: number): void;
  onFailure(error: unknown): void;
  /** Told when it can be written again: a disk that was full has room. */
  onRecovery(): void;
}

export class Heart {
  private readonly over = new AbortController();
  private lastBeat: number;
  private isFailing = false;

  constructor(private readonly options: HeartOptions) {
    this.lastBeat = options.clock.monotonic();
  }

  /** Throws when the first beat cannot be written: nobody could ever see this daemon alive. */
  start(): void {
    this.write();
    void this.live();
  }

  stop(): void {
    this.over.abort();
  }

  /** News that should not wait for the next beat. */
  beat(): void {
    const { clock, everyMs, onTimeLost, onFailure, onRecovery } = this.options;
    const now = clock.monotonic();
    const gap = now - this.lastBeat;
    this.lastBeat = now;
    if (gap > LOST_AFTER_PERIODS * everyMs()) onTimeLost(gap);
    try {
      this.write();
    } catch (error) {
      this.isFailing = true;
      onFailure(error);
      return;
    }
    if (!this.isFailing) return;
    this.isFailing = false;
    onRecovery();
  }

  private async live(): Promise<void> {
    const { clock, everyMs } = this.options;
    for (;;) {
      await clock.sleep(everyMs(), this.over.signal);
      if (this.over.signal.aborted) return;
      this.beat();
    }
  }

  /** Without waiting for the disk: a heartbeat that a crash of the machine loses has said enough. */
  private write(): void {
    const { clock, path, state } = this.options;
    const beat: Heartbeat = { ...state(), at: clock.now(), bootMs: clock.monotonic() };
    const neighbour = `${path}.new`;
    writeFileSync(neighbour, `${JSON.stringify(withSeedBeat(beat))}\n`, { mode: 0o600 });
    renameSync(neighbour, path);
  }
}
