/**
 * What a tick sees of the machine: whether the processes of each attempt live, which files its tools changed, how long
 * its pulse has stood still, and whether the watcher itself stood still. It remembers between ticks, by a clock that
 * never jumps; a fresh one has nothing to compare with and says so. It reads and changes nothing.
 */
import type { Attempt } from "#domain/attempt.ts";
import type { Pulse } from "#domain/pulse.ts";
import type { Evidence } from "#domain/snapshot.ts";
import type { Observer } from "./tick.ts";
import type { World } from "./world.ts";

/** So many periods may pass between two looks before time counts as skipped. */
const PATIENT_PERIODS = 3;

export interface ObserverOptions {
  /** How often it is meant to look; null for somebody who looks once. */
  readonly periodMs: number | null;
  readonly claims?: Observer["claims"];
}

export function machineObserver(world: World, options: ObserverOptions): Observer {
  const met = new Map<number, { readonly mark: string; readonly since: number }>();
  let lastLook: { readonly now: number; readonly wall: number } | null = null;
  return {
    async evidence(living, pulses) {
      return new Map(living.map((one) => [one.attempt, evidenceOf(world, one, pulses.get(one.attempt))]));
    },
    quiet(pulses) {
      const now = world.clock.monotonic();
      const quiet = new Map<number, number>();
      for (const [attempt, pulse] of pulses) {
        // Counted and not dated: an agent at work is at work whatever the wall clock says.
        const mark = `${pulse.acts ?? 0} ${pulse.lastActAt}`;
        const known = met.get(attempt);
        if (known?.mark === mark) quiet.set(attempt, now - known.since);
        else {
          // Only a change that was seen happening says when it happened.
          if (known) quiet.set(attempt, 0);
          met.set(attempt, { mark, since: now });
        }
      }
      for (const attempt of met.keys()) if (!pulses.has(attempt)) met.delete(attempt);
      return quiet;
    },
    skippedMs() {
      const now = world.clock.monotonic();
      const wall = world.clock.now();
      const last = lastLook;
      lastLook = { now, wall };
      if (last === null || options.periodMs === null) return 0;
      const gap = now - last.now;
      if (gap > options.periodMs * PATIENT_PERIODS) {
        for (const [attempt, { mark }] of met) met.set(attempt, { mark, since: now });
        return gap;
      }
      // Somebody set the wall clock between two looks; times that were written down before cannot be held against it.
      const setBy = Math.abs(wall - last.wall - gap);
      return setBy > options.periodMs ? setBy : 0;
    },
    claims: options.claims ?? (async () => []),
  };
}

/** The kernel's word about its runner is proof; its own process may come and go between turns, and proves nothing. */
function evidenceOf(world: World, attempt: Attempt, pulse: Pulse | undefined): Evidence[] {
  const at = world.clock.now();
  const evidence: Evidence[] = [];
  if (attempt.runner) {
    const says = world.processes.alive(attempt.runner) ? "alive" : "gone";
    evidence.push({ source: "process", says, at, reliability: "proof" });
  } else if (attempt.status === "preparing" && !world.processes.alive(attempt.slinger)) {
    evidence.push({ source: "process", says: "gone", at, reliability: "proof" });
  }
  if (pulse?.lastChangeAt != null) {
    evidence.push({ source: "tree", says: "progress", at: pulse.lastChangeAt, reliability: "strong" });
  }
  if (pulse?.lastCommitAt !== undefined) {
    evidence.push({ source: "commit", says: "progress", at: pulse.lastCommitAt, reliability: "strong" });
  }
  return evidence;
}
