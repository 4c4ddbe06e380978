/**
 * Reads the log and the signals from where it was, makes spans and measures of them, and sends them. The log is its
 * queue: in memory is never more than one page, and while nothing gets through the page waits and is tried again, longer
 * and longer after. Only when the target has been away for a day are spans given up, and counted. It writes nothing but
 * its own file, and whatever it does not survive is begun again by the daemon.
 */
import { statSync } from "node:fs";
import { backoffMs } from "#domain/core/backoff.ts";
import { type Traced, traceEvent } from "#domain/trace/fold-event.ts";
import { traceSignal } from "#domain/trace/fold-signal.ts";
import type { Measure, ProviderOf, TraceSpan } from "#domain/trace/span.ts";
import { openAt, type TracedAttempt, type TraceState, toTracedAttempt, withOpen } from "#domain/trace/trace-state.ts";
import { OverseerError } from "#errors.ts";
import { attemptByNumber, livingAttempts } from "#store/attempts.ts";
import { logSize } from "#store/events.ts";
import { listOpenGoals } from "#store/goals.ts";
import type { RecordedSignal } from "#store/query.ts";
import { lastPlace, signalsOfAll } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import { redact } from "#telemetry/redact.ts";
import { type ExportCursor, type ExportFile, parseExportFile } from "./export-file.ts";
import type { Sink } from "./sink.ts";

export interface ExporterOptions {
  readonly store: Store;
  /** The store's file: another one under its name is another store. */
  readonly database: string;
  readonly clock: Clock;
  readonly files: Pick<Files, "read" | "write">;
  readonly sink: Sink;
  /** Where its own file lies. */
  readonly path: string;
  readonly self: { readonly pid: number; readonly start: string };
  readonly endpoint: string;
  readonly providerOf: ProviderOf;
}

/** So much is read at once, and is in memory while nothing gets through. */
const EVENTS_AT_ONCE = 500;
const SIGNALS_AT_ONCE = 1_000;
const SPANS_AT_ONCE = 256;
const LOOK_EVERY_MS = 1_000;
const BACKOFF = { baseMs: 1_000, maxMs: 60_000 };
/** A target that was away for longer gets what is newer than this. */
const TOO_OLD_MS = 24 * 3_600_000;

export class Exporter {
  private cursor: ExportCursor = { store: "", seq: 0, place: 0 };
  private open: TraceState = openAt([], []);
  private sent = 0;
  private dropped = 0;
  private failing: ExportFile["failing"] = null;
  private refused: ExportFile["refused"] = null;
  private nudge = new AbortController();

  constructor(private readonly options: ExporterOptions) {}

  /** Somebody has written. */
  wake(): void {
    this.nudge.abort();
  }

  /** Resolves when it was told to stop, with what had happened by then sent if it gets through at once. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.options;
    await this.begin();
    const inode = inodeOf(this.options.database);
    stop.addEventListener("abort", () => this.wake());
    while (!stop.aborted) {
      if (inodeOf(this.options.database) !== inode) throw storeReplaced();
      this.nudge = new AbortController();
      if (await this.turn(stop)) continue;
      if (!stop.aborted) await clock.sleep(LOOK_EVERY_MS, this.nudge.signal);
    }
    while (this.failing === null && (await this.turn(stop))) {}
  }

  /** Where it was; at the present end of the log where nothing is known of that. */
  private async begin(): Promise<void> {
    const { store, files, path } = this.options;
    const identity = await store.identity();
    const { size, place, goals, living } = await store.read({
      size: logSize(),
      place: lastPlace(),
      goals: listOpenGoals(),
      living: livingAttempts(),
    });
    const before = parseExportFile(await files.read(path));
    if (before) [this.sent, this.dropped] = [before.sent, before.dropped];
    if (before?.endpoint === this.options.endpoint) this.refused = before.refused;
    if (before?.cursor.store === identity && before.cursor.seq <= size.last) {
      // Signals are not brought back with a store that was rescued.
      this.cursor = { ...before.cursor, place: Math.min(before.cursor.place, place) };
      this.open = before.open;
    } else {
      this.cursor = { store: identity, seq: size.last, place };
      this.open = openAt(goals, living);
    }
    await this.save();
  }

  /** Takes one page; answers whether there may be more. */
  private async turn(stop: AbortSignal): Promise<boolean> {
    const { store } = this.options;
    const { seq, place } = this.cursor;
    // Events first: an attempt takes no signals after its end, so those of before are all there to be read.
    const events = await store.log({ after: seq, limit: EVENTS_AT_ONCE });
    const { signals } = await store.read({ signals: signalsOfAll(place, SIGNALS_AT_ONCE) });
    const isWhole = signals.length < SIGNALS_AT_ONCE;
    const heard = isWhole ? events : [];
    if (signals.length === 0 && heard.length === 0) return false;
    const page: { spans: TraceSpan[]; measures: Measure[] } = { spans: [], measures: [] };
    let state = this.open;
    const take = (traced: Traced) => {
      state = traced.state;
      page.spans.push(...traced.spans);
      page.measures.push(...traced.measures);
    };
    for (const one of signals) take(await this.traceOne(state, one));
    for (const event of heard) take(traceEvent(state, event, this.options.providerOf));
    if (!(await this.send(page.spans, stop))) return false;
    this.options.sink.record(page.measures);
    this.open = state;
    this.cursor = {
      ...this.cursor,
      seq: heard.at(-1)?.seq ?? seq,
      place: signals.at(-1)?.place ?? place,
    };
    await this.save();
    return !isWhole || events.length === EVENTS_AT_ONCE;
  }

  private async traceOne(state: TraceState, { attempt, signal }: RecordedSignal): Promise<Traced> {
    const key = String(attempt);
    const speaker = state.attempts[key] ?? (await this.lookUp(attempt));
    if (speaker === undefined) return { state, spans: [], measures: [] };
    const { talk, spans, measures } = traceSignal(state.talks[key], speaker, signal, this.options.providerOf);
    return { state: { ...state, talks: withOpen(state.talks, key, talk) }, spans, measures };
  }

  /** One whose beginning is later in the log than this page; one that has ended says nothing any more. */
  private async lookUp(attempt: number): Promise<TracedAttempt | undefined> {
    const { found } = await this.options.store.read({ found: attemptByNumber(attempt) });
    return found && toTracedAttempt(found);
  }

  /** False when it was told to stop before everything was sent or given up. */
  private async send(spans: readonly TraceSpan[], stop: AbortSignal): Promise<boolean> {
    const { clock, sink } = this.options;
    for (let at = 0; at < spans.length; ) {
      const batch = spans.slice(at, at + SPANS_AT_ONCE);
      if (this.failing !== null && batch.every(({ endAt }) => endAt < clock.now() - TOO_OLD_MS)) {
        this.dropped += batch.length;
        at += batch.length;
        continue;
      }
      const outcome = await sink.send(batch);
      if (outcome.kind === "failed") {
        const { since = clock.now(), times = 0 } = this.failing ?? {};
        this.failing = { since, times: times + 1, problem: redact(outcome.problem) };
        await this.save();
        if (stop.aborted) return false;
        await clock.sleep(backoffMs(this.failing.times, BACKOFF), stop);
        if (stop.aborted) return false;
        continue;
      }
      this.failing = null;
      if (outcome.kind === "sent") {
        this.sent += batch.length;
        this.refused = null;
      } else {
        this.dropped += batch.length;
        this.refused = { since: this.refused?.since ?? clock.now(), problem: redact(outcome.problem) };
      }
      at += batch.length;
    }
    return true;
  }

  private async save(): Promise<void> {
    const { files, path, self, endpoint } = this.options;
    const { sent, dropped, failing, refused, cursor, open } = this;
    const file: ExportFile = { ...self, endpoint, sent, dropped, failing, refused, cursor, open };
    await files.write(path, `${JSON.stringify(file)}\n`, { mode: 0o600 });
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function storeReplaced(): OverseerError {
  const hint = "Nothing has to be done: it begins again with the new one.";
  return new OverseerError("environment", "STORE_REPLACED", "Another database lies where the one it read was.", hint);
}
