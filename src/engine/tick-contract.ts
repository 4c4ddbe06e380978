/**
 * What a tick is to whoever has it run: the daemon, again and again, and `tick --now` where there is none. Only one runs
 * at a time, across processes: it is run by the holder of run/lock.db. What it decides and does is not known here.
 */
import { listHalts } from "#control/halted.ts";
import type { World } from "#control/world.ts";

export interface TickReason {
  /** What woke it, each once: events, lost runners, people. Empty when its time had come. */
  readonly causes: readonly string[];
  /** How long this process did not run (a machine asleep): nobody's silence during that time means anything. */
  readonly skippedMs: number;
}

export interface TickResult {
  /** False when something it wanted to do failed; it is tried again next time. */
  readonly ok: boolean;
  readonly didWork: boolean;
  /** Wall clock, ms: when there is something to do that is not due yet; the next tick comes no later. */
  readonly nextDueAt?: number | null;
  /** There is work that could be dispatched or is being done, and nothing that only time or a person can end holds it. */
  readonly open?: boolean;
  /** In numbers, for the log: dispatched, nudged … */
  readonly summary?: Readonly<Record<string, number>>;
}

/** Looks, decides, persists and acts once. The world speaks as Overseer. */
export type Tick = (world: World, reason: TickReason) => Promise<TickResult>;

/** One tick, unless the fleet is halted. */
export async function tickUnlessHalted(
  world: World,
  reason: TickReason,
  run: Tick,
): Promise<TickResult & { readonly halted: readonly string[] }> {
  const halted = await listHalts(world);
  if (halted.length > 0) return { ok: true, didWork: false, halted };
  return { ...(await run(world, reason)), halted };
}
