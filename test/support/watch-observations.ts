/** What a user can see of the watch because of a configuration key; see config-observations.ts. */
import type { Config } from "#config/schema.ts";
import { Loops } from "#daemon/loops.ts";
import { WatchLoop } from "#daemon/watch-loop.ts";
import type { Observer } from "#engine/tick.ts";
import { Watch } from "#engine/watch.ts";
import { healthOf } from "#store/health.ts";
import type { MemoryStore } from "#store/memory.ts";
import { memoryStore } from "#store/memory.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { addRunning } from "./attempts.ts";
import { type TestWorld, worldOn } from "./world.ts";

/** An observer that sees no processes, so that nobody is proven dead. */
export const BLIND: Observer = {
  evidence: async () => new Map(),
  glance: () => ({ evidence: new Map(), toolsStill: new Map(), quiet: new Map() }),
  quiet: () => new Map(),
  toolsStill: () => new Map(),
  measureSkippedMs: () => 0,
};

export interface Watched {
  readonly world: TestWorld;
  readonly store: MemoryStore;
  readonly watch: Watch;
  readonly attempts: readonly number[];
  /** Each of them is seen to say something. */
  speak(...who: readonly number[]): Promise<void>;
}

/** So many agents at work, and a watch that looks at them. */
export async function watchOver(count: number, config?: Config): Promise<Watched> {
  const store = memoryStore();
  const attempts = await addRunning(store, count, { pid: 7, start: "7" });
  const plain = worldOn(store);
  const world: TestWorld = config ? { ...plain, config: async () => config } : plain;
  const watch = new Watch({ observer: async () => BLIND, openHealth: () => store.health });
  let said = 0;
  const speak = async (...who: readonly number[]) => {
    for (const attempt of who) {
      said += 1;
      const at = world.clock.now();
      await store.signals.record(attempt, `agent-${attempts.indexOf(attempt)}`, [
        { kind: "said", source: `s${said}`, phase: "", at, data: { text: "I go on." } },
      ]);
    }
  };
  return { world, store, watch, attempts, speak };
}

/** How fresh an agent is taken for that was last heard of so long ago. */
export function freshnessAfter(ms: number): (config: Config) => Promise<unknown> {
  return async (config) => {
    const { world, watch, attempts, speak } = await watchOver(1, config);
    await watch.look(world);
    await speak(...attempts);
    await watch.look(world);
    // Looked at all the while: what nobody sees counts for nobody.
    for (let left = ms; left > 0; left -= config.watch.every) {
      await world.clock.advance(Math.min(left, config.watch.every));
      await watch.look(world);
    }
    const { health } = await world.reader().then((store) => store.read({ health: healthOf(attempts[0] ?? 0) }));
    return health?.freshness;
  };
}

/** How often agents are looked at within a minute. */
export async function cyclesInAMinute(config: Config): Promise<number> {
  const clock = virtualClock();
  let looks = 0;
  const loops = new Loops({ clock, onFailure: () => {} });
  const loop = new WatchLoop({
    ...{ clock, log: { record: () => {} } },
    settings: () => config.watch,
    look: async () => {
      looks += 1;
      return { agents: 0, changed: [], causes: [], unjudged: [] };
    },
    lookBlindly: async () => ({ agents: 0, stepped: [], problems: [] }),
    tickProblem: () => undefined,
    retryTick: () => {},
    wakeTick: () => {},
    tell: () => {},
    record: async () => {},
  });
  loops.start(loop.asLoop((work) => work()));
  await clock.advance(60_000);
  void loops.stop();
  return looks;
}
