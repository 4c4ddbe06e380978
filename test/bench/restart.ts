/**
 * How long it takes from the kill of an agent's runner until the agent is at work again, as wall-clock time: noticed,
 * decided, its work kept, started anew, hello said. The floor is the two seconds it may take.
 */
import { join } from "node:path";
import { sling } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import type { Attempt } from "#domain/attempt.ts";
import { livingByName } from "#store/attempts.ts";
import { fleetUp } from "./fleet-up.ts";
import { median, type Row } from "./row.ts";

const LIMIT_MS = 2_000;

async function atWork(world: World, name: string, after: number): Promise<Attempt> {
  const store = await world.writer();
  for (const until = performance.now() + 30_000; performance.now() < until; ) {
    const { one } = await store.read({ one: livingByName(name) });
    if (one?.runner && one.attempt > after && one.status === "running") return one;
    await Bun.sleep(5);
  }
  throw new Error(`${name} did not come back.`);
}

async function killedAndBack(world: World, name: string): Promise<number> {
  const prompt = `Wait. @@SCRIPT[{"say":"here"}]@@END`;
  const input = { prompt, capability: "builder", files: [], tags: [], interactive: false, keep: false, dryRun: false };
  await sling(world, { ...input, name });
  const { attempt, runner } = await atWork(world, name, 0);
  await Bun.sleep(1_000); // it is at work, and nothing else is going on
  const begun = performance.now();
  if (!runner || !world.processes.signal(runner, "SIGKILL")) throw new Error(`${name} was not there to be killed.`);
  await atWork(world, name, attempt);
  return performance.now() - begun;
}

export const restart: Row = {
  name: "restart",
  work: "a killed agent is at work again, wall time",
  floor: `${LIMIT_MS / 1000} s`,
  aim: 1,
  async measure({ quick, scratch }) {
    const { world, end } = await fleetUp(join(scratch, "restart"));
    try {
      const turns = quick ? 2 : 5;
      const took: number[] = [];
      // Each a fresh one: from the second death on, a restart waits on purpose.
      for (let turn = 0; turn < turns; turn += 1) took.push(await killedAndBack(world, `agent-${turn}`));
      return { workMs: median(took), floorMs: LIMIT_MS, turns, note: `the slowest ${Math.max(...took).toFixed(0)} ms` };
    } finally {
      await end();
    }
  },
};
