/** What a user can see of passing on what agents learn because of a configuration key; see config-observations.ts. */
import type { Config } from "#config/schema.ts";
import { learnings } from "#control/learnings.ts";
import { Loops } from "#daemon/loops.ts";
import { makeSyncLoop } from "#daemon/sync-loop.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { type SyncFleet, syncFleet } from "./sync-world.ts";

const FAILS = "Error: no test database, set DB=memory";

async function fleetThatLearns(config: Config): Promise<SyncFleet> {
  const fleet = await syncFleet([["api"], ["api"]], config);
  for (const name of ["alpha", "beta", "gamma", "delta"]) {
    await fleet.run(1, `npm run ${name}`, false, `Error: ${name} wants MODE`);
    await fleet.run(1, `MODE=${name} npm run ${name}`, true, "ok");
  }
  return fleet;
}

/** How many learnings were told within an hour and a minute, and how long each may wait. */
export async function passedOn(config: Config) {
  const fleet = await fleetThatLearns(config);
  await fleet.turn();
  const syncs = await fleet.syncs();
  await fleet.world.clock.advance(61 * 60_000);
  await fleet.turn();
  const lives = syncs.map(({ createdAt, expiresAt }) => (expiresAt ?? 0) - createdAt);
  return { atOnce: syncs.length, later: (await fleet.syncs()).length, lives };
}

/** Whether somebody who begins two hours later is told of it. */
export async function toldLater(config: Config): Promise<number> {
  const fleet = await syncFleet([["api"], ["ui"]], config);
  await fleet.run(1, "npm test", false, FAILS);
  await fleet.run(1, "DB=memory npm test", true, "ok");
  await fleet.turn();
  await fleet.world.clock.advance(2 * 60 * 60_000);
  const changes = { tags: ["api"] };
  await fleet.write({
    type: "goal.updated",
    actor: "human:ada",
    goalId: "goal_RUNNING001",
    because: "x",
    data: { changes },
  });
  await fleet.turn();
  return (await fleet.syncs()).length;
}

/** Whether what nobody had a use for is there a month later. */
export async function keptForAMonth(config: Config): Promise<number> {
  const fleet = await fleetThatLearns(config);
  await fleet.turn();
  await fleet.world.clock.advance(30 * 24 * 60 * 60_000);
  await fleet.turn();
  return (await learnings(fleet.world, { all: false, limit: 9 })).length;
}

/** How often the daemon looks in a minute. */
export async function looksInAMinute(config: Config): Promise<number> {
  const { world } = await syncFleet([], config);
  const clock = virtualClock();
  let looks = 0;
  const loops = new Loops({
    clock,
    onFailure: (_loop, error) => {
      throw error;
    },
  });
  const loop = makeSyncLoop({
    log: { record: () => {} },
    everyMs: () => config.sync.every,
    world: () => world,
    wakeAgain: () => {},
  });
  loops.start({
    ...loop,
    run: async (turn) => {
      looks += 1;
      await loop.run(turn);
    },
  });
  for (let second = 0; second < 60; second += 1) await clock.advance(1_000);
  await loops.stop();
  return looks;
}
