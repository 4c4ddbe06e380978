/**
 * What a tick sees of the machine: whether the processes of each attempt live and do anything, whether its terminal is
 * there, which files its tools changed, how long its pulse has stood still, and whether the watcher itself stood still. It remembers between ticks, by a clock that
 * never jumps; a fresh one has nothing to compare with and says so. It reads and changes nothing.
 */

import type { World } from "#control/world.ts";
import { type Look, measureSkip } from "#domain/core/elapsed.ts";
import type { Attempt, ProcessMark } from "#domain/model/attempt.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { listPulseProgress } from "#domain/tick/progress.ts";
import type { LivenessEvidence } from "#domain/tick/snapshot.ts";
import { OverseerError } from "#errors.ts";
import type { Processes } from "#sys/processes.ts";
import type { TerminalHandle } from "#terminals/terminal.ts";
import { sessionName } from "#terminals/terminal-name.ts";
import { EffortWatch } from "./effort-watch.ts";
import type { Observer } from "./tick.ts";

export interface ObserverOptions {
  /** How often it is meant to look; null for somebody who looks once. */
  readonly periodMs: number | null;
}

export function machineObserver(world: World, options: ObserverOptions): Observer {
  const met = new Map<number, { readonly mark: string; readonly since: number }>();
  const efforts = new EffortWatch(world.processes);
  let lastLook: Look | null = null;
  /** The last look or glance, and when a standstill ended that only a glance has noticed so far. */
  let lastSeen: Look | null = null;
  let stoodStillUntil = 0;
  /** What took a while to find out, for those who look in between. */
  let signs: ReadonlyMap<number, readonly LivenessEvidence[]> = new Map();
  let stillTools: ReadonlyMap<number, number> = new Map();
  const glanced = new GlancedProcesses(world.processes);
  return {
    async evidence(living, pulses) {
      const inTurn = living.filter(({ attempt }) => pulses.get(attempt)?.inTurn);
      if (inTurn.length > 0) efforts.look();
      const open = await listTerminals(world, inTurn);
      signs = new Map(
        living.flatMap((one) => {
          const pulse = pulses.get(one.attempt);
          return pulse?.inTurn ? [[one.attempt, signsOfTurn(world, efforts, one, pulse, open)]] : [];
        }),
      );
      return evidenceWith(world, { living, pulses, signs, isAlive: (process) => world.processes.alive(process) });
    },
    glance(living, pulses) {
      const now = { monotonic: world.clock.monotonic(), wall: world.clock.now() };
      const skipped = lastSeen && options.periodMs !== null && measureSkip(lastSeen, now, options.periodMs);
      if (skipped && skipped.by === "watcher") stoodStillUntil = now.monotonic;
      lastSeen = now;
      const quiet = new Map<number, number>();
      for (const [attempt, pulse] of pulses) {
        const known = met.get(attempt);
        if (!known) continue;
        const since = known.mark === markOf(pulse) ? Math.max(known.since, stoodStillUntil) : now.monotonic;
        quiet.set(attempt, now.monotonic - since);
      }
      const toolsStill = new Map(
        living.flatMap(({ attempt }) => {
          const ms = stillTools.get(attempt);
          return ms !== undefined && hasOpenCall(pulses.get(attempt)) ? [[attempt, ms]] : [];
        }),
      );
      const isAlive = glanced.turn(living.length);
      return { evidence: evidenceWith(world, { living, pulses, signs, isAlive }), toolsStill, quiet };
    },
    toolsStill(living, pulses) {
      const now = world.clock.monotonic();
      const still = new Map<number, number>();
      const looked = new Set<string>();
      for (const one of living) {
        const root = one.process ?? one.runner;
        if (!root || !hasOpenCall(pulses.get(one.attempt))) continue;
        const key = `tools ${one.attempt}`;
        looked.add(key);
        const ms = efforts.measureStill(key, root, false, now);
        if (ms !== null) still.set(one.attempt, ms);
      }
      for (const { attempt } of living) looked.add(`all ${attempt}`);
      efforts.keep(looked);
      stillTools = still;
      return still;
    },
    quiet(pulses) {
      const now = world.clock.monotonic();
      const quiet = new Map<number, number>();
      for (const [attempt, pulse] of pulses) {
        const mark = markOf(pulse);
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
      lastSeen = now;
      if (last === null || options.periodMs === null) return 0;
      const skipped = measureSkip(last, now, options.periodMs);
      if (skipped?.by === "watcher") {
        for (const [attempt, { mark }] of met) met.set(attempt, { mark, since: now.monotonic });
        efforts.forgetTime(now.monotonic);
      }
      return skipped?.ms ?? 0;
    },
  };
}

/** Counted and not dated: an agent at work is at work whatever the wall clock says. */
function markOf({ acts, lastActAt }: Pulse): string {
  return `${acts ?? 0} ${lastActAt}`;
}

/** Up to so many agents are all looked at in every glance; of more, a part of them each time. */
const ALL_AT_A_GLANCE = 500;
const PARTS = 8;

/**
 * Whether processes live, for whoever looks often at many: asking the kernel costs more than judging. One that lived at the
 * last look is asked about in every eighth glance only; that it is gone the daemon hears within a second anyway, by its line.
 */
class GlancedProcesses {
  private lived = new Set<string>();
  private turns = 0;

  constructor(private readonly processes: Processes) {}

  turn(agents: number): (process: ProcessMark) => boolean {
    const before = agents > ALL_AT_A_GLANCE ? this.lived : new Set<string>();
    this.lived = new Set();
    this.turns += 1;
    let asked = this.turns;
    return (process) => {
      const key = `${process.pid} ${process.start}`;
      asked += 1;
      const isDue = asked % PARTS === 0;
      const lives = (!isDue && before.has(key)) || this.processes.alive(process);
      if (lives) this.lived.add(key);
      return lives;
    };
  }
}

interface Sight {
  readonly living: readonly Attempt[];
  readonly pulses: ReadonlyMap<number, Pulse>;
  readonly signs: ReadonlyMap<number, readonly LivenessEvidence[]>;
  isAlive(process: ProcessMark): boolean;
}

function evidenceWith(world: World, sight: Sight): Map<number, readonly LivenessEvidence[]> {
  const at = world.clock.now();
  return new Map(
    sight.living.map((one) => {
      const own = evidenceOf(at, sight, one, sight.pulses.get(one.attempt));
      const more = sight.signs.get(one.attempt);
      return [one.attempt, more === undefined || more.length === 0 ? own : [...own, ...more]];
    }),
  );
}

/**
 * A runner that is gone is proof. One that is there is not proof of its agent: it may hang, and then a turn goes on whose
 * own process is gone. Between turns that process may come and go, and says nothing.
 */
function evidenceOf(at: number, { isAlive }: Sight, attempt: Attempt, pulse: Pulse | undefined): LivenessEvidence[] {
  const evidence: LivenessEvidence[] = [];
  const { runner, process, slinger, status } = attempt;
  if (runner && isAlive(runner)) {
    evidence.push({ source: "process", says: "alive", at, reliability: "strong" });
    if (process && pulse?.inTurn && !isAlive(process)) {
      evidence.push({ source: "agent", says: "gone", at, reliability: "weak" });
    }
  } else if (runner || (status === "preparing" && !isAlive(slinger))) {
    evidence.push({ source: "process", says: "gone", at, reliability: "proof" });
  }
  evidence.push(...listPulseProgress(pulse));
  return evidence;
}

function hasOpenCall(pulse: Pulse | undefined): boolean {
  return pulse?.inTurn === true && pulse.calls.some(({ ok }) => ok === null);
}

/** One that is detached has no terminal to lose. */
function isInTmux({ terminal }: Attempt): boolean {
  return (terminal as TerminalHandle | null)?.kind === "tmux";
}

/** The terminals that are open, or undefined where nobody needs to know, or it cannot be known now. */
async function listTerminals(world: World, inTurn: readonly Attempt[]): Promise<ReadonlySet<string> | undefined> {
  if (!inTurn.some(isInTmux)) return undefined;
  try {
    return new Set((await (await world.terminal()).list()).map(({ name }) => name));
  } catch (error) {
    // A terminal server that hangs or is missing says nothing about anybody.
    if (error instanceof OverseerError && error.kind === "environment") return undefined;
    throw error;
  }
}

/** Without a sign of its processes for this long, an agent in a turn is not merely waiting for its model. */
const STILL_MS = 15 * 60_000;

/**
 * What speaks against an agent in the middle of a turn. Each sign is weak: a terminal may be lost while its agent works,
 * a process may be held and let go, and one that waits for its model computes little. While a tool runs, or the CLI
 * tries again by itself, its stillness is explained.
 */
function signsOfTurn(
  world: World,
  efforts: EffortWatch,
  attempt: Attempt,
  pulse: Pulse,
  open: ReadonlySet<string> | undefined,
): LivenessEvidence[] {
  const at = world.clock.now();
  const sign = (source: "agent" | "terminal" | "effort"): LivenessEvidence => ({
    ...{ source, at },
    says: "gone",
    reliability: "weak",
  });
  const { process, runner } = attempt;
  const stopped = process !== null && efforts.isStopped(process);
  const root = process ?? runner;
  const stillMs = root && efforts.measureStill(`all ${attempt.attempt}`, root, true, world.clock.monotonic());
  // What waits for a command or for its model is silent for a reason, unless somebody holds it.
  if (!stopped && (hasOpenCall(pulse) || pulse.retrying != null)) return [];
  const signs: LivenessEvidence[] = stopped ? [sign("agent")] : [];
  if (open && isInTmux(attempt) && !open.has(sessionName(attempt.attempt))) signs.push(sign("terminal"));
  if (stillMs !== null && stillMs >= STILL_MS) signs.push(sign("effort"));
  return signs;
}
