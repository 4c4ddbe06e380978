/**
 * The tick with everything behind it: look at the world, decide, write down, and have done what was decided. Deciding is
 * quick and waits for nobody; doing takes as long as it takes, so it goes on beside the tick in lanes: what speaks to
 * agents, what starts them, and what checks and lands their work. A lane does one subject's actions in order and takes
 * up by itself what becomes due later.
 */
import { runChecks } from "#act/check.ts";
import { landClaim } from "#act/land.ts";
import type { Registry } from "#act/outbox.ts";
import { drain } from "#act/outbox.ts";
import type { Action, ActionKind, ActionOutcome } from "#domain/action.ts";
import { claimsOf } from "#domain/claims-seen.ts";
import { messageOf } from "#errors.ts";
import { theFleet } from "#store/fleet.ts";
import { nodesForTick } from "#store/tick.ts";
import { nodeById } from "#store/work.ts";
import { executors } from "./executors.ts";
import { machineObserver } from "./observe.ts";
import { notifyDue } from "./questions.ts";
import { reassignTo, restartAfter } from "./recover.ts";
import { askOnce, tellAsker } from "./tell-people.ts";
import type { Observer } from "./tick.ts";
import { tick } from "./tick.ts";
import type { Tick } from "./ticking.ts";
import type { World } from "./world.ts";

const LANES: readonly (readonly ActionKind[])[] = [
  ["deliver", "interrupt", "resend", "pause", "resume", "stop", "ask", "notify", "snapshot"],
  ["spawn", "restart", "reassign", "clean"],
  ["check", "land"],
];

export interface Reconciler {
  readonly tick: Tick;
  /** Resolves when nothing is being done any more. */
  idle(): Promise<void>;
}

export interface ReconcilerOptions {
  /** How often it is meant to tick; null for one tick, which is over when what it decided was done. */
  readonly periodMs: ((world: World) => Promise<number>) | null;
}

export function reconciler(options: ReconcilerOptions): Reconciler {
  let observer: Observer | undefined;
  let lostMs = 0;
  const lanes = LANES.map((kinds) => new Lane(kinds));
  const notices = new Notices();
  return {
    async tick(world, reason) {
      const periodMs = options.periodMs === null ? null : await options.periodMs(world);
      observer ??= observerOf(world, periodMs, () => lostMs);
      lostMs = reason.skippedMs;
      const ticked = await tick(world, observer, reason.causes.join(", ") || "its time has come");
      for (const lane of lanes) lane.kick(world);
      await notices.send(world);
      if (options.periodMs === null) await Promise.all(lanes.map((lane) => lane.idle()));
      const problem = lanes.map((lane) => lane.takeProblem()).find((one) => one !== null);
      return {
        ok: ticked.ok && problem === undefined,
        didWork: ticked.didWork,
        summary: { actions: ticked.actions, agents: ticked.judged.size },
      };
    },
    async idle() {
      await Promise.all(lanes.map((lane) => lane.rest()));
    },
  };
}

/** What is seen of the machine, what is claimed, and how long nobody could look. */
function observerOf(world: World, periodMs: number | null, lostMs: () => number): Observer {
  const machine = machineObserver(world, {
    periodMs,
    claims: async () => {
      const { landing } = await world.config();
      const { nodes } = await (await world.writer()).read({ nodes: nodesForTick(0) });
      return claimsOf(nodes, landing.mode ?? "review");
    },
    frozen: async () => (await (await world.writer()).read({ fleet: theFleet() })).fleet?.status === "frozen",
  });
  return { ...machine, skippedMs: () => Math.max(machine.skippedMs(), lostMs()) };
}

/** Tells people what waits for them, beside the tick: a channel may take as long as its timeout. */
class Notices {
  private running: Promise<void> | null = null;

  async send(world: World): Promise<void> {
    this.running ??= this.run(world).finally(() => {
      this.running = null;
    });
  }

  private async run(world: World): Promise<void> {
    await notifyDue(world);
  }
}

/** Carries out the actions of some kinds, one drain at a time, whoever asks and however often. */
class Lane {
  private running: Promise<void> | null = null;
  private again = false;
  private timer: Timer | undefined;
  private closed = false;
  private problem: string | null = null;
  /** The newest that was handed in: a changed configuration brings another, and the old one is closed. */
  private world: World | undefined;

  constructor(private readonly kinds: readonly ActionKind[]) {}

  kick(world: World): void {
    if (this.closed) return;
    this.world = world;
    this.again = true;
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
      try {
        const isMine = (action: Action) => this.kinds.includes(action.kind);
        const { done, nextDueAt } = await drain(world, REGISTRY, { only: isMine });
        if (done > 0)
          this.again = true; // what was done may have made room for more
        else this.wakeAt(world, nextDueAt);
      } catch (error) {
        this.problem = messageOf(error);
        this.wakeAt(world, world.clock.now() + AFTER_TROUBLE_MS);
      }
    }
  }

  private wakeAt(world: World, due: number | null): void {
    if (due === null || this.closed) return;
    const ms = Math.min(Math.max(due - world.clock.now(), SOONEST_MS), LATEST_MS);
    this.timer = setTimeout(() => this.kick(this.world ?? world), ms);
    this.timer.unref();
  }
}

/** The store may be busy, locked or away; there is always a next time. */
const AFTER_TROUBLE_MS = 5_000;
/** An action in the hands of another lane is due and not ours: no reason to ask again and again. */
const SOONEST_MS = 250;
const LATEST_MS = 60_000;
/** How long a landing that waits for somebody's checkout is left alone. */
const CHECKOUT_MS = 60_000;
const AT_ONCE_MS = 1_000;

const REGISTRY: Registry<World> = executors({
  check: (action, world) => withNode(action, async (place) => outcome((await runChecks(world, place)).kind)),
  land: (action, world) => withNode(action, (place) => land(world, place)),
  restart: (action, world) => restartAfter(world, action),
  reassign: (action, world) => reassignTo(world, action),
  ask: (action, world) => askOnce(world, action),
  notify: (action, world) => tellAsker(world, action),
});

type Place = { readonly goalId: string; readonly nodeId: string };

async function withNode(action: Action, work: (place: Place) => Promise<ActionOutcome>): Promise<ActionOutcome> {
  const { goalId, workNodeId } = action;
  if (goalId === null || workNodeId === null) return { ok: false, problem: "it names no node", retry: "never" };
  return work({ goalId, nodeId: workNodeId });
}

async function land(world: World, place: Place): Promise<ActionOutcome> {
  const landed = await landClaim(world, place);
  if (landed.kind === "again") {
    return { ok: false, problem: "its target moved meanwhile", retry: { afterMs: AT_ONCE_MS } };
  }
  if (landed.kind !== "waiting") return outcome(landed.kind);
  const { node } = (await (await world.writer()).read({ node: nodeById(place.goalId, place.nodeId) })) ?? {};
  if (node?.claim?.waiting?.for === "review") return outcome("waits for a person");
  return {
    ok: false,
    problem: node?.claim?.waiting?.detail ?? "the checkout is in the way",
    retry: { afterMs: CHECKOUT_MS },
  };
}

function outcome(result: string): ActionOutcome {
  return { ok: true, result };
}
