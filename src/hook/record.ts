/**
 * Writes down what a hook was told: signals and pulse in one short transaction, or, when the database will not have it
 * at once, a file in the spool. Loaded only for events that are the hook's to record.
 */
import type { AttemptLife } from "#domain/permit/permit.ts";
import type { HookDialect, MeterFact } from "#runtimes/hook-dialect.ts";
import { type HookEvent, hookSignals, meterSignal } from "#runtimes/hook-signals.ts";
import { addressIn, openSignalLog } from "#store/open.ts";
import type { SignalCaps } from "#store/signal-log.ts";

/** How long a hook waits for the database before it spools. */
const BUSY_MS = 100;

export interface HookInput extends Omit<HookEvent, "at" | "id"> {
  readonly dialect: HookDialect;
  readonly state: string;
  readonly attempt: number;
  readonly agent: string;
  readonly caps: SignalCaps | undefined;
}

/** What the store said of the attempt. Throws only when not even the spool can be written. */
export async function record(input: HookInput): Promise<AttemptLife> {
  const { dialect, moment, payload, interactive, state, attempt, agent, caps } = input;
  const at = Date.now();
  const event: HookEvent = { moment, payload, interactive, at, id: callId(at) };
  try {
    const log = openSignalLog(addressIn(state), { busyMs: BUSY_MS, caps });
    try {
      return (await log.record(attempt, agent, hookSignals(dialect, event))) ? "living" : "over";
    } finally {
      // Left open, Bun would write the whole log back into the file at exit, which costs ten times the recording.
      log.close();
    }
  } catch {
    // Busy, locked, missing, damaged or newer: all the same from here. The runner folds it in when it can be.
    const { spool } = require("#hook/spool.ts") as typeof import("./spool.ts");
    spool(state, attempt, event, dialect.name);
    return "unknown";
  }
}

/** A reading that cannot be kept is lost: the next one says the same and more. */
export async function recordMeter(
  fact: MeterFact,
  heard: Pick<HookInput, "state" | "attempt" | "agent" | "caps"> & { readonly before: number | undefined },
): Promise<void> {
  const { state, attempt, agent, caps, before } = heard;
  const log = openSignalLog(addressIn(state), { busyMs: BUSY_MS, caps });
  try {
    await log.record(attempt, agent, [meterSignal(fact, Date.now(), before)]);
  } finally {
    log.close();
  }
}

/** Unlike any other call's, also from processes that start in the same millisecond. */
function callId(at: number): string {
  return `h${at.toString(36)}.${process.pid.toString(36)}.${Math.floor(Math.random() * 1e9).toString(36)}`;
}
