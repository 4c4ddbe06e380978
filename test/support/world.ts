/** A world for the verbs of control, on any store: virtual clock, seeded ids, a disk in memory, no processes. */
import { defaultConfig } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import type { Actor } from "#domain/core/actor.ts";
import { gitRunner } from "#git/git.ts";
import { makeScriptedExec } from "#sim/virtual-exec.ts";
import { memoryFiles } from "#sim/virtual-files.ts";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import { sqliteLocks } from "#store/sqlite/locks.ts";
import type { Store } from "#store/store.ts";
import type { Ids } from "#sys/ids.ts";
import type { VirtualClock } from "#sys/virtual-clock.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { makeSeededIds } from "#sys/virtual-ids.ts";
import { T0 } from "./samples.ts";

export interface TestWorld extends World {
  readonly clock: VirtualClock;
}

export function worldOn(store: Store, parts: { actor?: Actor; ids?: Ids } = {}): TestWorld {
  const clock = virtualClock({ now: T0 });
  const ids = parts.ids ?? makeSeededIds(1);
  const files = memoryFiles();
  const exec = makeScriptedExec([]);
  return {
    root: { project: "/repo", userDir: "/repo/.overseer", state: "/repo/.git/overseer", gitCommonDir: "/repo/.git" },
    actor: parts.actor ?? "human:ada",
    env: {},
    clock,
    ids,
    files,
    exec,
    processes: virtualProcesses(),
    git: { git: gitRunner({ exec, clock, env: {} }), exec, files, clock, ids },
    reader: async () => store,
    writer: async () => store,
    config: async () => defaultConfig(),
    settings: async () => ({ config: defaultConfig(), files, hold: null, keep: async () => undefined }),
    terminal: () => noAgentsHere(),
    runtime: () => noAgentsHere(),
    socketDir: async () => "/run/nobody",
    wakeSocket: async () => false,
    readNow: (path) => files.readNow(path),
    runnerCommand: [],
    hookCommand: [],
    permitCommand: [],
    takeLock: sqliteLocks.take,
    room: () => noAgentsHere(),
  };
}

function noAgentsHere(): never {
  throw new Error("This world has no agents; use a real repository for them.");
}
