/** What keys of auto mode change, seen in a real repository whose daemon is this very process. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { autoNow } from "#act/auto/auto-settings.ts";
import type { Config } from "#config/schema.ts";
import { blockWork } from "#control/work.ts";
import type { World } from "#control/world.ts";
import { speakingAs } from "#control/world.ts";
import { PoolMemory, type PoolTurn, turnPool } from "#engine/pool.ts";
import { presentConditions } from "#store/actions.ts";
import { runFiles } from "#sys/run-files.ts";
import { ROOMY, repoUnder } from "./staged-world.ts";

/** As if this process were the daemon of auto mode there. */
export function registerAuto(world: Pick<World, "root" | "processes">): void {
  const files = runFiles(world.root.state);
  mkdirSync(`${world.root.state}/run`, { recursive: true });
  const registration = { ...world.processes.self(), instance: "d_1", socket: "", log: files.log, since: 1, auto: true };
  writeFileSync(files.registration, JSON.stringify(registration));
}

interface Pool {
  readonly world: World;
  readonly memory: PoolMemory;
  turn(): Promise<PoolTurn>;
}

/** A pool under that configuration, with these keys of auto mode above it. */
export function poolUnder(show: (pool: Pool) => Promise<unknown>, also: Partial<Config["auto"]> = {}) {
  return async (config: Config) => {
    const set = Object.fromEntries(
      Object.entries(also).filter(([key]) => config.auto[key as keyof Config["auto"]] === null),
    );
    const { repo, real } = await repoUnder({ ...config, auto: { ...config.auto, ...set } });
    const world: World = { ...real, room: async () => ROOMY };
    mkdirSync(`${repo.path}/tasks`);
    writeFileSync(`${repo.path}/tasks/one.md`, "Write one.\n");
    utimesSync(`${repo.path}/tasks/one.md`, 1, 1); // at rest
    registerAuto(world);
    const memory = new PoolMemory();
    const overseer = speakingAs(world, "overseer");
    return show({ world, memory, turn: () => turnPool(overseer, memory) });
  };
}

export const poolTurned = (also?: Partial<Config["auto"]>) =>
  poolUnder(async ({ turn }) => {
    const { took, failure } = await turn();
    return [took, failure?.code];
  }, also);

export const workersMade = poolUnder(async ({ world, turn }) => {
  await turn();
  const { conditions } = await (await world.writer()).read({ conditions: presentConditions() });
  return conditions.flatMap((one) => (one.kind === "workers" ? one.workers.map(({ name }) => name) : []));
});

export const restOfPool = poolUnder(async ({ world }) => (await autoNow(world))?.everyMs);

/** Whether a second task is taken while the first one waits for a person. */
export const takenBesideWaiting = poolUnder(
  async ({ world, memory, turn }) => {
    await turn();
    const { conditions } = await (await world.writer()).read({ conditions: presentConditions() });
    const goal = conditions.flatMap((one) => (one.kind === "auto" ? one.open : []))[0]?.goalId ?? "";
    await blockWork(speakingAs(world, "human:ada"), { node: "T1", goal }, { kind: "human", detail: "Which?" });
    return [(await turn()).took, memory.why];
  },
  { taskPoolCommand: "date +%s%N" },
);
