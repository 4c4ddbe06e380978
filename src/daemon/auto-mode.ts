/**
 * Auto mode in the daemon: a loop beside the tick that takes tasks from the pool, the log that people read of it, and the
 * moment at which what it stands on is broken. It decides nothing itself: what may be taken, and what counts as broken, are
 * rules (domain/auto); it has them asked, and says when this life has to end.
 */
import { recordAuto } from "#act/auto/auto-logs.ts";
import { autoNow, listSources, mergeAutoSettings } from "#act/auto/auto-settings.ts";
import { assertTaskDirectory } from "#act/auto/task-directory.ts";
import type { World } from "#control/world.ts";
import { speakingAs } from "#control/world.ts";
import { isOfAutoMode } from "#domain/auto/auto-news.ts";
import { tellEvent } from "#domain/explain/event-line.ts";
import type { Registration } from "#domain/health/daemon-life.ts";
import type { HardFailure } from "#domain/model/auto.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import { isOpen } from "#domain/model/work.ts";
import { PoolMemory, refuseWithoutSource, turnPool } from "#engine/pool.ts";
import { messageOf } from "#errors.ts";
import { goalsForTick, nodesForTick } from "#store/tick.ts";
import type { DaemonLog } from "./log.ts";

/** Where no auto mode runs, its tasks that are open still come to an end. */
const IDLE_EVERY_MS = 30_000;

export interface AutoModeOptions {
  readonly registration: Registration;
  readonly log: DaemonLog;
  world(): World;
  /** Why this life ends: it is done, or what it stands on is broken. */
  end(reason: string, failure: HardFailure | null): void;
}

export class AutoMode {
  private readonly memory = new PoolMemory();
  private everyMs = IDLE_EVERY_MS;
  private isEnding = false;

  constructor(private readonly options: AutoModeOptions) {}

  /** Refuses where there is nothing to work on. */
  async start(previous: Registration | null = null): Promise<void> {
    const { registration } = this.options;
    if (!registration.auto || !registration.supervision) return; // without supervision nothing is taken
    const world = this.options.world();
    const { instance, flags } = registration;
    const auto = mergeAutoSettings((await world.config()).auto, flags, { instance, project: world.root.project });
    const store = await world.writer();
    const { goals, nodes } = await store.read({
      goals: goalsForTick(Number.MAX_SAFE_INTEGER),
      nodes: nodesForTick(Number.MAX_SAFE_INTEGER),
    });
    const active = new Set(goals.filter(({ status }) => status === "active").map(({ goalId }) => goalId));
    refuseWithoutSource(
      auto,
      nodes.filter((node) => active.has(node.goalId) && isOpen(node)),
    );
    // Said to whoever starts it, and not only in the log of a daemon that ends at once.
    if (auto.directory !== null) await assertTaskDirectory(world, auto.directory);
    const { concurrency, tasks, budgetUsd } = auto;
    const continues = previous?.auto === true && JSON.stringify(previous.flags) === JSON.stringify(flags);
    const data = { instance, sources: listSources(auto), concurrency, tasks, budgetUsd, continues };
    await store.commit({
      at: world.clock.now(),
      reads: {},
      decide: () => accept([{ type: "auto.started", actor: "overseer", because: "asked-for", data }], null),
    });
  }

  /** How long until the pool is asked again. */
  restMs(): number {
    return this.everyMs;
  }

  /** What the heartbeat says of it; null where it does not run. */
  state(): {
    readonly lastTakenAt: number | null;
    readonly lastEndedAt: number | null;
    readonly why: string | null;
  } | null {
    const { lastTakenAt, lastEndedAt, why } = this.memory;
    return this.options.registration.auto ? { lastTakenAt, lastEndedAt, why } : null;
  }

  /** One turn of the loop; true where there may be more at once. */
  async turn(): Promise<boolean> {
    if (this.isEnding) return false;
    const world = speakingAs(this.options.world(), "overseer");
    const { took, failure, finished } = await turnPool(world, this.memory);
    this.everyMs = (await autoNow(world))?.everyMs ?? IDLE_EVERY_MS;
    if (failure) this.fail(failure);
    else if (finished !== null) this.finish(`auto mode is done: ${finished}`);
    return took;
  }

  /** What auto mode stands on is broken. */
  fail(failure: HardFailure): void {
    if (this.isEnding || !this.options.registration.auto) return;
    this.isEnding = true;
    const { code, problem, hint } = failure;
    this.options.log.record("error", "auto.failed", { code, problem, hint });
    this.options.end(problem, failure);
  }

  private finish(reason: string): void {
    this.isEnding = true;
    this.options.log.record("info", "auto.finished", { reason });
    this.options.end(reason, null);
  }

  /** LOG-3: what concerns auto mode, a line each. */
  async record(page: readonly EventOf[]): Promise<void> {
    if (!this.options.registration.auto) return;
    for (const event of page.filter(isOfAutoMode)) {
      const { type, agent, goalId, nodeId, because } = event;
      const entry = {
        event: type,
        worker: agent ?? null,
        goalId,
        nodeId,
        because,
        text: tellEvent(event),
        data: event.data,
      };
      try {
        await recordAuto(this.options.world(), "auto", entry, event.at);
      } catch (error) {
        this.options.log.record("warn", "auto.not_logged", { problem: messageOf(error) });
      }
    }
  }
}
