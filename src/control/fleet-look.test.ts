/** STATUS-1, DEAD-1: a view that stays open learns at its next look that the daemon died or the fleet was frozen. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import { memoryStore } from "#store/memory.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import { tempDir } from "../../test/support/temp.ts";
import { worldOn } from "../../test/support/world.ts";
import { openFleetLook } from "./fleet-look.ts";
import { freeze, thaw } from "./freeze.ts";
import type { World } from "./world.ts";

test("STATUS-1, DEAD-1: a daemon that died and a fleet that was frozen are told at the next look", async () => {
  const base = worldOn(memoryStore());
  const processes = virtualProcesses();
  const state = tempDir("state-");
  const files = runFiles(state);
  const world: World = { ...base, processes, readNow, root: { ...base.root, state } };
  const daemon = processes.spawn();
  const since = base.clock.now();
  mkdirSync(dirname(files.registration), { recursive: true });
  writeFileSync(
    files.registration,
    JSON.stringify({ ...daemon, instance: "i", socket: "s", version: "1", log: files.log, since }),
  );
  const look = openFleetLook(async () => world);
  const first = await look();
  expect(first.status.daemon.state).toBe("running");
  expect(await look()).toBe(first);

  await freeze(world, "to look");
  const frozen = await look();
  expect(frozen.status.frozen).toMatchObject({ reason: "to look" });
  expect(await look()).toBe(frozen);
  await thaw(world, null);
  expect((await look()).status.frozen).toBeNull();

  processes.exit(daemon.pid);
  const dead = await look();
  expect(dead.status.daemon.state).toBe("died");
  expect(await look()).toBe(dead);
});
