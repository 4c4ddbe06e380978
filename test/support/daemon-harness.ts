/**
 * The daemon, with ports that count what ticks and their lanes call and, at a chosen call, kill this process. What the
 * daemon does beside them (its heart, its door, its look at the log) is not counted, nor are calls that only look: the
 * world after one is the world before it, so a kill there is a kill after the call before.
 *
 * bun test/support/daemon-harness.ts <repository> [<kill|kill-during> <n>]
 * Runs until SIGTERM and then prints the calls that were made.
 */

import type { World } from "#control/world.ts";
import { runDaemon } from "#daemon/main.ts";
import { reconciler } from "#engine/lanes.ts";
import { makeWatchRounds } from "#engine/watch-rounds.ts";
import { gitRunner } from "#git/git.ts";
import type { Store } from "#store/store.ts";
import { findRoot } from "#sys/root.ts";
import { makeTmuxTerminal } from "#terminals/tmux.ts";
import { testEnvironment } from "./git-tools.ts";
import { layered, worldUnder } from "./real-world.ts";

const [repo = "", mode, at] = Bun.argv.slice(2);
const calls: string[] = [];
const ONLY_LOOKS =
  /^(store\.read|processes\.(self|alive|identify|list|withEnvironment)|files\.(list|read|facts|realPath))$/;

function counted<T extends object>(port: string, real: T): T {
  return new Proxy(real, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      if (ONLY_LOOKS.test(`${port}.${String(key)}`)) return value.bind(target);
      return (...args: unknown[]) => {
        calls.push(`${port}.${String(key)}`);
        if (mode === undefined || calls.length !== Number(at)) return Reflect.apply(value, target, args);
        console.error(calls.at(-1));
        if (mode === "kill-during") Reflect.apply(value, target, args);
        process.kill(process.pid, "SIGKILL");
        throw new Error("still alive");
      };
    },
  });
}

const stores = new WeakMap<Store, Store>();

/** One store behind all worlds of a configuration: what is counted must stay one and the same, too. */
function countedStore(opened: Store): Store {
  const known = stores.get(opened) ?? counted("store", opened);
  stores.set(opened, known);
  return known;
}

function withCountedPorts(real: World): World {
  const { clock, ids, env } = real;
  const [exec, files, processes] = [
    counted("exec", real.exec),
    counted("files", real.files),
    counted("processes", real.processes),
  ];
  return layered(real, {
    exec,
    files,
    processes,
    git: { git: gitRunner({ exec, clock, env }), exec, files, clock, ids },
    writer: async () => countedStore(await real.writer()),
    terminal: async () => {
      const socketPath = `${await real.socketDir()}/tmux`;
      return makeTmuxTerminal({ exec, files, processes, clock, socketPath, tmux: "tmux", searchPath: env.PATH ?? "" });
    },
  });
}

const env = testEnvironment();
const root = await findRoot({ cwd: repo, env });
const reconciling = reconciler({ periodMs: async (world) => (await world.config()).reconcile.tickEvery });
const { tick, idle } = reconciling;
const rounds = makeWatchRounds(reconciling);
await runDaemon({
  worldUnder: (stays) => worldUnder(root, env, stays),
  version: "0.0.0",
  instance: "d_harness",
  supervision: true,
  auto: false,
  awaited: false,
  tick: (world, reason) => tick(withCountedPorts(world), reason),
  rounds,
  idle,
  onStop: (stop) => void process.on("SIGTERM", () => stop("the story has ended")),
  onFault(fault) {
    process.on("uncaughtException", fault);
    process.on("unhandledRejection", fault);
  },
});
console.log(JSON.stringify(calls));
process.exit(0);
