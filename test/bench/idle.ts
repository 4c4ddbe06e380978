/**
 * What a fleet costs that has nothing to do (IDLE-1): CPU time of the daemon and of the busiest runner over a minute,
 * with twenty scripted agents that wait. The kernel's own clock of each process is read,
 * in nanoseconds: its ticks of ten milliseconds are too coarse for so little. Linux only.
 */
import { dlopen } from "bun:ffi";
import { join } from "node:path";
import { sling } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { livingAttempts } from "#store/attempts.ts";
import { fleetUp } from "./fleet-up.ts";
import type { Measured, Row } from "./row.ts";

const AGENTS = 20;

interface Idle {
  readonly daemonMs: number;
  /** The busiest of them. */
  readonly runnerMs: number;
  readonly windowMs: number;
}

type Options = Parameters<Row["measure"]>[0];
let measured: Promise<Idle> | undefined;

/** Measured once for both rows. */
function idleFleet(options: Options): Promise<Idle> {
  measured ??= measure(options);
  return measured;
}

async function measure({ quick, scratch }: Options): Promise<Idle> {
  const { world, daemon, end } = await fleetUp(join(scratch, "idle"));
  try {
    const runners = await twentyWaiting(world);
    await Bun.sleep(quick ? 3_000 : 10_000); // starting is not idling
    const windowMs = quick ? 10_000 : 60_000;
    const pids = [daemon.pid, ...runners];
    const before = pids.map(cpuNs);
    const begun = performance.now();
    await Bun.sleep(windowMs);
    const took = performance.now() - begun;
    const [daemonMs = 0, ...ofRunners] = pids.map((pid, index) => (cpuNs(pid) - (before[index] ?? 0)) / 1e6);
    return { daemonMs, runnerMs: Math.max(...ofRunners), windowMs: took };
  } finally {
    await end();
  }
}

async function twentyWaiting(world: World): Promise<number[]> {
  const prompt = `Wait. @@SCRIPT[{"say":"here"}]@@END`;
  const input = { prompt, capability: "builder", files: [], tags: [], interactive: false, keep: false, dryRun: false };
  for (let number = 0; number < AGENTS; number += 1) await sling(world, { ...input, name: `agent-${number}` });
  const { living } = await (await world.writer()).read({ living: livingAttempts() });
  return living.flatMap(({ runner }) => (runner ? [runner.pid] : []));
}

const libc = dlopen("libc.so.6", { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } });

/** Nanoseconds on a core, all threads together, those that have ended too: every process has a clock of its own. */
function cpuNs(pid: number): number {
  const timespec = new BigInt64Array(2);
  const clock = (~pid << 3) | 2; // as clock_getcpuclockid makes it
  if (libc.symbols.clock_gettime(clock, timespec) !== 0) throw new Error(`Process ${pid} is gone.`);
  return Number(timespec[0]) * 1e9 + Number(timespec[1]);
}

function row(name: string, work: string, percent: number, show: (idle: Idle) => number): Row {
  return {
    name,
    work: `${work}, ${AGENTS} idle agents`,
    floor: `${percent} % of a core`,
    aim: 1,
    async measure(options): Promise<Measured> {
      const idle = await idleFleet(options);
      return { workMs: show(idle), floorMs: (idle.windowMs * percent) / 100, turns: 1 };
    },
  };
}

export const idle: readonly Row[] = [
  row("idle-daemon", "the daemon", 1, ({ daemonMs }) => daemonMs),
  row("idle-runner", "the busiest runner", 0.1, ({ runnerMs }) => runnerMs),
];
