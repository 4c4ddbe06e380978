/**
 * Writes down what a hook was told: signals and pulse in one short transaction, or, when the database will not have it
 * at once, a file in the spool. Loaded only for events that are the hook's to record.
 */
import type { AttemptLife } from "#domain/permit/permit.ts";
import type { MeterFact } from "#runtimes/hook-dialect.ts";
import { type HookEvent, hookSignals, meterSignal } from "#runtimes/hook-signals.ts";
import type { HookTold } from "./answer-moment.ts";
import type { HookDesk } from "./desk.ts";

/** What the store said of the attempt. Rejects only when not even the spool can be written. */
export async function record({ dialect, moment, payload }: HookTold, desk: HookDesk): Promise<AttemptLife> {
  const { state, attempt, agent, interactive } = desk;
  const at = Date.now();
  const event: HookEvent = { moment, payload, interactive, at, id: callId(at) };
  try {
    const pulse = await desk.withLog((log) => log.record(attempt, agent, hookSignals(dialect, event)));
    return pulse ? "living" : "over";
  } catch {
    // Busy, locked, missing, damaged or newer: all the same from here. The runner folds it in when it can be.
    const { spool } = require("#act/hooks/spool.ts") as typeof import("./spool.ts");
    spool(state, attempt, event, dialect.name);
    return "unknown";
  }
}

/** A reading that cannot be kept is lost: the next one says the same and more. */
export async function recordMeter(fact: MeterFact, desk: HookDesk): Promise<void> {
  const signal = meterSignal(fact, Date.now(), desk.policy?.meterUsd);
  await desk.withLog((log) => log.record(desk.attempt, desk.agent, [signal]));
}

/** Unlike any other call's, also from processes that start in the same millisecond. */
function callId(at: number): string {
  return `h${at.toString(36)}.${process.pid.toString(36)}.${Math.floor(Math.random() * 1e9).toString(36)}`;
}
