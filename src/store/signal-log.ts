/**
 * What agents are seen to do, beside the domain: signals, each kept once, and the pulse folded from them. Written by
 * runners and hooks in short steps that need not be durable to the last millisecond. Two implementations pass the same
 * suite (test/contract/signal-log.suite.ts): memory.ts and sqlite/signal-log.ts. Queries about them are in signals.ts.
 */
import type { Config } from "#config/schema.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Steering } from "#domain/signals/reflex.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { clip, clipDeep } from "#telemetry/bounds.ts";
import { redactDeep } from "#telemetry/redact.ts";

export interface SignalLog {
  /**
   * Keeps the signals, sealed, and folds those that are new. Returns the pulse after them; undefined when the attempt has
   * ended or nobody knows it, and then nothing was kept. Safe to call twice with the same signals. Rejects with
   * OverseerError `environment` when the store cannot be written now, and then nothing of this call was kept. A pulse that
   * cannot be used any more is begun again from the signals that are kept, also where none is new.
   */
  record(attempt: number, agent: string, signals: readonly Signal[]): Promise<Pulse | undefined>;
  /**
   * Judges an agent by its pulse and remembers in it what was said, in one step: of several that ask at once only one
   * speaks. Undefined when there is nothing to say, when the attempt has ended, and when the store is of a later version.
   * Rejects as `record` does, and then nothing was said.
   */
  steer(attempt: number, at: number, judge: (pulse: Pulse) => Steering | undefined): Promise<Steering | undefined>;
  /**
   * STORE-6: of what was seen before that moment only milestones stay: of each attempt and kind the first and the last; what
   * they added up to stands in the pulse. At most so many in one call; answers with how many went.
   */
  compact(before: number, most: number): Promise<number>;
  close(): void;
}

export interface SignalLogOptions {
  readonly caps?: SignalCaps;
  /** How long it waits for others who write; a hook cannot wait as long as a runner. */
  readonly busyMs?: number;
}

export interface SignalCaps {
  /** One text inside a signal, in bytes. */
  readonly textBytes: number;
  /** What an agent says, in bytes: its last words are part of the pulse, which is read at every step. */
  readonly saidBytes: number;
}

export const DEFAULT_SIGNAL_CAPS: SignalCaps = { textBytes: 16 * 1024, saidBytes: 2 * 1024 };

export function signalCapsOf({ caps }: Pick<Config["store"], "caps">): SignalCaps {
  return { textBytes: caps.payload, saidBytes: caps.assistantText };
}

/** A signal as it is kept: without secrets, and small. */
export function sealSignal(raw: Signal, caps: SignalCaps): Signal {
  const bounds = { maxStringBytes: caps.textBytes, maxItems: 100, maxDepth: 6 };
  const signal = clipDeep(redactDeep(raw), bounds);
  if (signal.kind !== "said" && signal.kind !== "turn.ended") return signal;
  return { ...signal, data: { ...signal.data, text: clip(signal.data.text, caps.saidBytes) } } as Signal;
}
