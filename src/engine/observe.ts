/**
 * What a tick sees of the machine: whether the processes of each attempt live, which files its tools changed, how long
 * its pulse has stood still, and whether the watcher itself stood still. It remembers between ticks, by a clock that
 * never jumps; a fresh one has nothing to compare with and says so. It reads and changes nothing.
 */

import type { World } from "#control/world.ts";
import { type Look, measureSkip } from "#domain/core/elapsed.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { LivenessEvidence } from "#domain/tick/snapshot.ts";
import type { Observer } from "./tick.ts";

export interface ObserverOptions {
  /** How often it is meant to look; null for somebody who looks once. */
  readonly periodMs: number | null;
}

export function machineObserver(world: World, options: ObserverOptions): Observer {
  const met = new Map<number, { readonly mark: string; readonly since: number }>();
  let lastLook: Look | null = null;
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
    measureSkippedMs() {
      const now = { monotonic: world.clock.monotonic(), wall: world.clock.now() };
      const last = lastLook;
      lastLook = now;
      if (last === null || options.periodMs === null) return 0;
      const skipped = measureSkip(last, now, options.periodMs);
      if (skipped?.by === "watcher") {
        for (const [attempt, { mark }] of met) met.set(attempt, { mark, since: now.monotonic });
      }
      return skipped?.ms ?? 0;
    },
  };
}

/**
 * A runner that is gone is proof. One that is there is not proof of its agent: it may hang, and then a turn goes on whose
 * own process is gone. Between turns that process may come and go, and says nothing.
 */
function evidenceOf(world: World, attempt: Attempt, pulse: Pulse | undefined): LivenessEvidence[] {
  const at = world.clock.now();
  const { processes } = world;
  const evidence: LivenessEvidence[] = [];
  const { runner, process, slinger, status } = attempt;
  if (runner && processes.alive(runner)) {
    evidence.push({ source: "process", says: "alive", at, reliability: "strong" });
    if (process && pulse?.inTurn && !processes.alive(process)) {
      evidence.push({ source: "agent", says: "gone", at, reliability: "weak" });
    }
  } else if (runner || (status === "preparing" && !processes.alive(slinger))) {
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
