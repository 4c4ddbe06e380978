/** The watch of one simulated life of Overseer: the real one, with its turns as the daemon gives them to it. */
import type { World } from "#control/world.ts";
import { WATCH } from "#domain/model/condition.ts";
import { accept } from "#domain/model/decision.ts";
import type { AgentHealth } from "#domain/watch/health.ts";
import { DegradedWatch } from "#engine/degraded-watch.ts";
import type { Observer } from "#engine/tick.ts";
import { Watch } from "#engine/watch.ts";
import type { WatchRounds } from "#engine/watch-rounds.ts";
import { WatchTurns } from "#engine/watch-turns.ts";
import { conditionById } from "#store/actions.ts";
import { healthOfLiving } from "#store/health.ts";
import type { Life } from "./machine.ts";

/** As in the daemon. */
const FAILED_TICKS = 2;

export interface WatcherParts {
  readonly life: Life;
  /** The tick's own. */
  readonly observer: Observer;
  readonly rounds: (real: WatchRounds) => WatchRounds;
  /** Does what was decided to be said. */
  readonly speak: (world: World) => Promise<void>;
  /** Everybody who was judged, each as it is told. */
  readonly onTold: (health: readonly AgentHealth[]) => void;
  readonly say: (what: string) => void;
}

export class Watcher {
  private readonly turns: WatchTurns;
  private causes: string[] = [];
  private failedTicks: string[] = [];
  private hasResumed = false;

  constructor(private readonly parts: WatcherParts) {
    const { life, observer, speak, say } = parts;
    const { world } = life;
    const watch = new Watch({ observer: async () => observer, openHealth: () => life.health });
    const blind = new DegradedWatch((attempt, beats) => watch.readQuiet(attempt, beats));
    const rounds = parts.rounds({
      look: (through) => watch.look(through),
      async lookBlindly(through, only) {
        const cycle = await blind.look(through, only);
        await speak(through);
        return cycle;
      },
    });
    this.turns = new WatchTurns({
      clock: world.clock,
      log: { record: (_level, event, data) => say(`${event} ${JSON.stringify(data)}`) },
      look: async () => {
        const cycle = await rounds.look(world);
        await this.tell();
        return cycle;
      },
      lookBlindly: (only) => rounds.lookBlindly(world, only),
      tickProblem: () => (this.failedTicks.length >= FAILED_TICKS ? this.failedTicks.at(-1) : undefined),
      // Nothing rests here: a tick is tried at every step.
      retryTick: () => {},
      wakeTick: (cause) => void this.causes.push(cause),
      tell: () => {},
      record: async (event) => {
        const store = await world.writer();
        await store.commit({ at: world.clock.now(), reads: {}, decide: () => accept([event], null) });
      },
    });
  }

  /** Why the tick should run now; empty where it would find nothing to do. */
  async turn(): Promise<readonly string[]> {
    this.causes = [];
    if (!this.hasResumed) await this.resume();
    await this.turns.turn();
    return this.causes;
  }

  /** Null where it came to its end. */
  noteTick(problem: string | null): void {
    this.failedTicks = problem === null ? [] : [...this.failedTicks, problem];
  }

  private async resume(): Promise<void> {
    const { known } = await (await this.parts.life.world.writer()).read({ known: conditionById(WATCH) });
    this.turns.resume(known?.active ? known.since : null);
    this.hasResumed = true;
  }

  private async tell(): Promise<void> {
    const { rows } = await (await this.parts.life.world.reader()).read({ rows: healthOfLiving() });
    this.parts.onTold(rows);
  }
}
