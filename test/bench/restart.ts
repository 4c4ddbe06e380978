/**
 * How long it takes from the kill of an agent's runner until the agent is at work again, as wall-clock time: noticed,
 * decided, its work kept, started again, hello said.
 */
import { join } from "node:path";
import { slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { latestAttempts } from "#store/attempts.ts";
import { fleetUp } from "./fleet-up.ts";
import { type Measure, median } from "./row.ts";

async function atWork(world: World, name: string, after: number): Promise<Attempt> {
  const store = await world.writer();
  for (const until = performance.now() + 30_000; performance.now() < until; ) {
    const [one] = (await store.read({ newest: latestAttempts(1, name) })).newest;
    if (one?.runner && one.attempt > after && one.status === "running") return one;
    await Bun.sleep(5);
  }
  const log = await store.log({ after: 0, limit: 100_000 });
  const last = log.slice(-12).map(({ type, data }) => `${type} ${JSON.stringify(data).slice(0, 120)}`);
  throw new Error(`${name} did not come back; the log ends with ${last.join("; ")}`);
}

async function killedAndBack(world: World, name: string): Promise<number> {
  const prompt = `Wait. @@SCRIPT[{"say":"here"}]@@END`;
  const input = { prompt, capability: "builder", files: [], tags: [], interactive: false, keep: false, dryRun: false };
  await slingAgent(world, { ...input, name });
  const { attempt, runner } = await atWork(world, name, 0);
  await Bun.sleep(1_000); // it is at work, and nothing else is going on
  const begun = performance.now();
  if (!runner || !world.processes.signal(runner, "SIGKILL")) throw new Error(`${name} was not there to be killed.`);
  await atWork(world, name, attempt);
  return performance.now() - begun;
}

export const restart: Measure = async ({ quick, scratch, until, atEnd }) => {
  // Five deaths in a few seconds are what a failing machine looks like, and then starting again waits on purpose.
  const { world, end } = await fleetUp(join(scratch, "restart"), { config: "recovery: {massDeath: {count: 100}}\n" });
  atEnd(end);
  const took: number[] = [];
  // Each a fresh one: from the second death on, a restart waits on purpose.
  for (let turn = 0; turn < (quick ? 2 : 5) && (turn === 0 || performance.now() < until); turn += 1) {
    took.push(await killedAndBack(world, `agent-${turn}`));
  }
  return { value: median(took), turns: took.length, note: `the slowest ${Math.max(...took).toFixed(0)} ms` };
};
