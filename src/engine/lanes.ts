/**
 * The tick with everything behind it: look at the world, decide, write down, and have done what was decided. Deciding is
 * quick and waits for nobody; doing takes as long as it takes, so it continues beside the tick in lanes: what speaks to
 * agents, what starts them, what checks their work and what lands it. A lane does one subject's actions in order and takes
 * up by itself what becomes due later.
 */

import { notifyDue } from "#act/notify.ts";
import { isWatchingOnly } from "#act/watching-only.ts";
import { takeReturnedAnswer } from "#control/answer-by-token.ts";
import { listHalts } from "#control/halted.ts";
import type { World } from "#control/world.ts";
import type { Action, ActionKind } from "#domain/model/action.ts";
import type { Judgement } from "#domain/tick/liveness.ts";
import { messageOf } from "#errors.ts";
import { REGISTRY } from "./actions/index.ts";
import { machineObserver } from "./observe.ts";
import { drain } from "./outbox.ts";
import type { Observer } from "./tick.ts";
import { tick } from "./tick.ts";
import type { Tick } from "./tick-contract.ts";

/** What is done side by side: each lane in its own order. */
export const LANES: readonly (readonly ActionKind[])[] = [
  ["deliver", "resend", "pause", "resume", "stop", "ask", "notify"],
  ["spawn", "restart", "reassign", "clean"],
  ["check"],
  ["land"],
  ["push"],
  ["afterLand"],
  ["plan"],
  ["replan"],
  ["diagnose"],
];

/**
 * How many subjects of a lane are worked on at the same time. A turn of one landing is a turn of their whole queue; of two
 * splits in one plan, the second would be made on a revision that is none any more.
 */
export function limitLane(kinds: readonly ActionKind[]): number {
  return kinds.includes("land") || kinds.includes("replan") ? 1 : 4;
}

/** What starts agents, runs commands of the configuration or moves a branch; it waits for settings one can stand on. */
const NEEDS_SETTINGS: ReadonlySet<ActionKind> = new Set([
  "spawn",
  "restart",
  "reassign",
  "check",
  "land",
  "push",
  "afterLand",
  "plan",
  "replan",
  "diagnose",
]);

/** What a daemon that only watches leaves to the next `up`; what people asked a model for is done. */
const NEEDS_DISPATCH: ReadonlySet<ActionKind> = NEEDS_SETTINGS.difference(new Set(["plan", "diagnose"]));

/** Whether what this lane does has to wait; the first tick that finds the settings in order begins again. */
export async function isLaneHeld(world: World, kinds: readonly ActionKind[]): Promise<boolean> {
  if (!kinds.some((kind) => NEEDS_SETTINGS.has(kind))) return false;
  if ((await world.settings()).hold !== null) return true;
  return kinds.some((kind) => NEEDS_DISPATCH.has(kind)) && (await isWatchingOnly(world));
}

export interface Reconciler {
  readonly tick: Tick;
  /** What the ticks look with; whoever looks beside them sees by the same eyes. */
  observe(world: World): Promise<Observer>;
  /** Has what was decided to be said carried out at once, also where no tick comes that does it. */
  wakeSpeaking(world: World): void;
  /** Resolves when nothing is being done any more. */
  idle(): Promise<void>;
}

export interface ReconcilerOptions {
  /** How often it is meant to tick; null for one tick, which has ended when what it decided was done. */
  readonly periodMs: ((world: World) => Promise<number>) | null;
}

export function reconciler(options: ReconcilerOptions): Reconciler {
  // A changed configuration brings another world, and the old one is closed; what was seen is remembered across.
  let observer: Observer | undefined;
  let lostMs = 0;
  const lanes = LANES.map((kinds) => new Lane(kinds));
  const notices = new Notices();
  const observe = async (world: World) => {
    const periodMs = options.periodMs === null ? null : await options.periodMs(world);
    observer ??= observerOf(world, periodMs, () => lostMs);
    return observer;
  };
  return {
    observe,
    wakeSpeaking(world) {
      for (const lane of lanes) if (lane.speaks) lane.wake(world);
    },
    async tick(world, reason) {
      const observer = await observe(world);
      lostMs = reason.skippedMs;
      const ticked = await tick(world, observer, reason.causes.join(", ") || "its time has come");
      for (const lane of lanes) lane.wake(world);
      if ((await world.settings()).hold === null) notices.send(world);
      const beside = [...lanes, notices];
      if (options.periodMs === null) await Promise.all(beside.map((one) => one.idle()));
      const problem = beside.map((one) => one.takeProblem()).find((one) => one !== null);
      return {
        ok: ticked.ok && problem === undefined,
        didWork: ticked.didWork,
        nextDueAt: ticked.nextDueAt,
        summary: { actions: ticked.actions, agents: ticked.judged.size, ...countMoving(ticked.judged) },
        open: ticked.open,
      };
    },
    async idle() {
      await Promise.all([...lanes.map((lane) => lane.rest()), notices.idle()]);
    },
  };
}

/** How many agents get on with their work, and how many wait for something that no tick can bring. */
function countMoving(judged: ReadonlyMap<number, Judgement>): { readonly moving: number; readonly waiting: number } {
  const states = [...judged.values()].map(({ state }) => state);
  const moving = states.filter((state) => state === "working" || state === "tool-running" || state === "starting");
  return { moving: moving.length, waiting: states.filter((state) => state.startsWith("waiting")).length };
}

/** What is seen of the machine, and how long nobody could look. */
function observerOf(world: World, periodMs: number | null, readLostMs: () => number): Observer {
  const machine = machineObserver(world, { periodMs });
  return { ...machine, measureSkippedMs: () => Math.max(machine.measureSkippedMs(), readLostMs()) };
}

/** Tells people what waits for them, beside the tick: a channel may take as long as its timeout. */
class Notices {
  private running: Promise<void> | null = null;
  private problem: string | null = null;

  send(world: World): void {
    this.running ??= notifyDue(world, (answer) => takeReturnedAnswer(world, answer))
      .then(() => undefined)
      .catch((error: unknown) => {
        this.problem = messageOf(error);
      })
      .finally(() => {
        this.running = null;
      });
  }

  async idle(): Promise<void> {
    await this.running;
  }

  takeProblem(): string | null {
    const { problem } = this;
    this.problem = null;
    return problem;
  }
}

/** Carries out the actions of some kinds, one drain at a time, whoever asks and however often. */
class Lane {
  private running: Promise<void> | null = null;
  private again = false;
  /** There may be more than the drain under way has read, and how it is told. */
  private more = false;
  private tellMore: () => void = () => {};
  private timer: Timer | undefined;
  private closed = false;
  private problem: string | null = null;
  /** The newest that was handed in: a changed configuration brings another, and the old one is closed. */
  private world: World | undefined;

  constructor(private readonly kinds: readonly ActionKind[]) {}

  /** It speaks to agents, and pauses them. */
  get speaks(): boolean {
    return this.kinds.includes("deliver");
  }

  wake(world: World): void {
    if (this.closed) return;
    this.world = world;
    this.again = true;
    this.more = true;
    this.tellMore();
    this.running ??= this.run().finally(() => {
      this.running = null;
    });
  }

  async idle(): Promise<void> {
    await this.running;
  }

  /** Lets what is under way end, and takes up nothing more. */
  async rest(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** What went wrong with the lane itself since this was last asked; an action that fails is not meant. */
  takeProblem(): string | null {
    const { problem } = this;
    this.problem = null;
    return problem;
  }

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    for (let { world } = this; world && this.again && !this.closed; { world } = this) {
      this.again = false;
      this.more = false;
      try {
        if ((await listHalts(world)).length > 0) return; // the first tick that is not halted begins again
        if (await isLaneHeld(world, this.kinds)) return;
        const isMine = (action: Action) => this.kinds.includes(action.kind);
        const { done, nextDueAt } = await drain(world, REGISTRY, {
          only: isMine,
          parallel: limitLane(this.kinds),
          awaitMore: () => this.awaitMore(),
        });
        if (done > 0)
          this.again = true; // what was done may have made room for more
        else this.wakeAt(world, nextDueAt);
      } catch (error) {
        this.problem = messageOf(error);
        this.wakeAt(world, world.clock.now() + AFTER_TROUBLE_MS);
      }
    }
  }

  private awaitMore(): Promise<void> {
    return new Promise((resolve) => {
      this.tellMore = () => {
        this.more = false;
        resolve();
      };
      if (this.more) this.tellMore();
    });
  }

  private wakeAt(world: World, due: number | null): void {
    if (due === null || this.closed) return;
    const ms = Math.min(Math.max(due - world.clock.now(), SOONEST_MS), LATEST_MS);
    this.timer = setTimeout(() => this.wake(this.world ?? world), ms);
    this.timer.unref();
  }
}

/** The store may be busy, locked or away; there is always a next time. */
const AFTER_TROUBLE_MS = 5_000;
/** An action in the hands of another lane is due and not ours: no reason to ask again and again. */
const SOONEST_MS = 250;
const LATEST_MS = 60_000;
