/**
 * Gathers what the agent does and writes it down: signals into the store a few at a time, a line each into the session's
 * logs and onto the view. An agent that floods costs a count instead of a million rows, a store that is busy keeps its
 * signals waiting in memory, and one that says the attempt has ended is believed (`fenced`). What hooks wrote into the
 * store themselves is read back from there, so that the logs hold everything.
 */
import { beat, newPulse, type Pulse } from "#domain/signals/pulse.ts";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import { messageOf } from "#errors.ts";
import { type SignalCaps, type SignalLog, sealSignal } from "#store/signal-log.ts";
import type { PlacedSignal } from "#store/signals.ts";
import type { Clock } from "#sys/clock.ts";
import { FloodGate } from "./flood-gate.ts";
import type { SessionLogs } from "./logs.ts";
import { harmless, renderSignal } from "./view.ts";

export interface RecorderParts {
  readonly signals: Pick<SignalLog, "record">;
  readonly logs: SessionLogs;
  readonly clock: Clock;
  /** Shows a line to whoever looks; a lost terminal makes it do nothing. */
  readonly show: (line: string) => void;
}

/** Signals are written together, this long after the first from which something may follow at once. */
const GATHER_MS = 50;
/** Steps like many others are written together, this long after the first: a transaction costs more than their signals. */
const GATHER_ROUTINE_MS = 500;
/** What could not be written is tried again after this long, also when the agent does nothing more. */
const RETRY_MS = 500;
/** How often the log is told that signals still wait. */
const TELL_EVERY_MS = 60_000;
/** Lines that are no protocol are counted beyond this many and no longer kept one by one. */
const NOISE_KEPT = 200;
/** While the store takes nothing, this many are remembered, the newest. */
const MOST_WAITING = 10_000;

/** An agent at work makes these by the dozen, and nothing that cannot wait follows from one of them alone. */
const ROUTINE: ReadonlySet<SignalKind> = new Set<SignalKind>([
  "tool.started",
  "tool.ended",
  "file.changed",
  "git.ran",
  "committed",
  "said",
  "usage",
  "noise",
]);

export class Recorder {
  private gathered: Signal[] = [];
  private gathering: { readonly timer: Timer; readonly due: number } | undefined;
  /** Calls that have begun and not ended. */
  private readonly underWay = new Set<string>();
  /** There were several under way at once, and some still are. */
  private manyAtOnce = false;
  private writing: Promise<void> = Promise.resolve();
  private noise = 0;
  private readonly gate = new FloodGate();
  private known: Pulse | undefined;
  /** The pulse with so many of those that were gathered. */
  private ahead: { readonly pulse: Pulse; readonly count: number } | undefined;
  /** What this recorder has written and not yet met again among everybody's signals. */
  private readonly own = new Set<string>();
  /** Something was gathered from which something may follow at once. */
  private unheeded = false;
  private lastPlace = 0;
  private told = Number.NEGATIVE_INFINITY;
  /** Signals that the store refused because this attempt has ended. */
  private refusedSoFar = 0;

  constructor(
    private readonly parts: RecorderParts,
    private readonly who: { readonly attempt: number; readonly agent: string; readonly signalCaps: SignalCaps },
    /** Called after signals were written, because what they say may have made something due: at once, or in a while. */
    private readonly written: (atOnce: boolean) => void,
  ) {}

  /** The pulse as the last writing left it. */
  get pulse(): Pulse | undefined {
    return this.known;
  }

  /** The pulse as it will be when everything gathered is written: trouble is to be foreseen, and not in a while. */
  get pulseAhead(): Pulse {
    const { attempt, agent, signalCaps } = this.who;
    let { pulse, count } = this.ahead ?? { pulse: this.known ?? newPulse(attempt, agent), count: 0 };
    for (; count < this.gathered.length; count += 1) {
      pulse = beat(pulse, sealSignal(this.gathered[count] as Signal, signalCaps));
    }
    this.ahead = { pulse, count };
    return pulse;
  }

  /** How many signals the store refused; more than none means that this attempt has ended. */
  get refused(): number {
    return this.refusedSoFar;
  }

  take(signal: Signal): void {
    if (signal.kind === "noise" && ++this.noise > NOISE_KEPT) return;
    if (signal.kind === "said" && !this.gate.passes("said", signal.at)) return;
    this.gathered.push(signal);
    const routine = ROUTINE.has(signal.kind);
    if (!routine) this.unheeded = true;
    this.log(signal);
    this.keepLater(!this.isOneOfSeveral(signal) && routine ? GATHER_ROUTINE_MS : GATHER_MS);
  }

  /** After several calls at once the reflex looks at the pulse without being told that trouble is near. */
  private isOneOfSeveral({ kind, source }: Signal): boolean {
    if (kind === "turn.ended") this.underWay.clear();
    if (kind === "tool.started") this.underWay.add(source);
    const several = this.underWay.size > 1 || this.manyAtOnce;
    if (kind === "tool.ended") this.underWay.delete(source);
    this.manyAtOnce = several && this.underWay.size > 0;
    return several;
  }

  /** What waits for longer already is written with it. */
  private keepLater(ms: number): void {
    const due = this.parts.clock.monotonic() + ms;
    if (this.gathering && this.gathering.due <= due) return;
    clearTimeout(this.gathering?.timer);
    const timer = setTimeout(() => {
      this.gathering = undefined;
      const { unheeded, refusedSoFar } = this;
      this.unheeded = false;
      void this.keep().then(() => this.written(unheeded || this.refusedSoFar > refusedSoFar));
    }, ms);
    this.gathering = { timer, due };
  }

  /** Up to where everybody's signals are in the logs. */
  get place(): number {
    return this.lastPlace;
  }

  /** Signals as they are in the store, after `place`: what hooks recorded themselves is logged and shown here. */
  logOthers(signals: readonly PlacedSignal[]): void {
    for (const { place, signal } of signals) {
      this.lastPlace = place;
      if (this.own.delete(nameOf(signal))) continue;
      this.log(signal);
    }
  }

  /** A line of the agent's error output. */
  errorLine(text: string): void {
    const now = this.parts.clock.now();
    if (this.gate.passes("stderr", now)) this.parts.logs.error(text, now);
  }

  /** Something the runner itself has to say, in the view and in the log. */
  note(text: string): void {
    this.parts.show(harmless(`— ${text}`));
    this.parts.logs.note(`— ${text}`, this.parts.clock.now());
  }

  problem(text: string): void {
    this.parts.logs.error(text, this.parts.clock.now());
  }

  /** Writes what was gathered, one batch after the other; never rejects. */
  keep(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  /** A store that is busy for long keeps its signals in memory until the next try. */
  private async write(): Promise<void> {
    const batch = this.gathered;
    if (batch.length === 0) return;
    this.gathered = [];
    this.ahead = undefined;
    // Those that somebody else had written before are never met again.
    if (this.own.size > MOST_WAITING) this.own.clear();
    for (const signal of batch) this.own.add(nameOf(signal));
    try {
      const pulse = await this.parts.signals.record(this.who.attempt, this.who.agent, batch);
      this.ahead = undefined;
      if (pulse) this.known = pulse;
      else this.refusedSoFar += batch.length;
    } catch (error) {
      const now = this.parts.clock.monotonic();
      if (now - this.told >= TELL_EVERY_MS) {
        this.told = now;
        this.problem(`signals could not be written: ${messageOf(error)}`);
      }
      this.gathered = [...batch, ...this.gathered].slice(-MOST_WAITING);
      this.ahead = undefined;
      this.keepLater(RETRY_MS);
    }
  }

  private log(signal: Signal): void {
    const line = renderSignal(signal);
    if (line !== undefined) this.parts.show(line);
    this.parts.logs.signal(signal, line);
  }

  /** Writes what waits, without waiting for its moment. */
  keepNow(): Promise<void> {
    clearTimeout(this.gathering?.timer);
    this.gathering = undefined;
    return this.keep();
  }

  /** Says how much was left out since this was last asked, if anything was. */
  noteDropped(): void {
    const dropped = this.gate.takeDropped();
    if (dropped > 0) this.note(`${dropped} lines were left out: more than a person could read`);
  }
}

/** What makes a signal one of its kind within an attempt. */
function nameOf({ source, phase }: Signal): string {
  return `${phase}\0${source}`;
}
