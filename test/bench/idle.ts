/**
 * What a fleet costs that has nothing to do (IDLE-1): CPU time of the daemon, of its guard and of the busiest runner over a
 * minute, with twenty scripted agents that wait, what the guard holds in memory after it, and which programs the daemon starts, in that minute and in ten ticks after it.
 * The kernel's own clock of each process is read, in nanoseconds: its ticks of ten milliseconds are too coarse for so
 * little. Programs are counted by wrappers that come first in the PATH and note who called. Linux only.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stopGuard } from "#control/guard.ts";
import { launchGuard } from "#control/launch-guard.ts";
import { slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { shellCommand } from "#domain/core/shell-words.ts";
import { livingAttempts } from "#store/attempts.ts";
import { version } from "../../package.json" with { type: "json" };
import { cpuNs } from "./cpu-clock.ts";
import { fleetUp } from "./fleet-up.ts";
import { cpuOf, type Measure, type Options } from "./row.ts";

const AGENTS = 20;
const TICKS = 10;
const project = join(import.meta.dir, "../..");
const OVERSEER = join(project, "bin/overseer");

interface Idle {
  /** Percent of a core. */
  readonly daemon: number;
  /** The busiest of them. */
  readonly runner: number;
  readonly guard: number;
  /** Resident, at the end. */
  readonly guardMb: number;
  /** Programs the daemon started while nothing happened, and while it ticked. */
  readonly inTheMinute: readonly string[];
  readonly inTicks: readonly string[];
  readonly seconds: number;
}

let measured: Promise<Idle> | undefined;

/** Measured once for all rows. */
function idleFleet(options: Options): Promise<Idle> {
  measured ??= measure(options);
  return measured;
}

async function measure({ quick, scratch, atEnd }: Options): Promise<Idle> {
  const programs = countedPrograms(join(scratch, "counted"));
  const repo = join(scratch, "idle");
  const { world, daemon, end } = await fleetUp(repo, { env: { PATH: `${programs.bin}:${process.env.PATH}` } });
  atEnd(end);
  const runners = await twentyWaiting(world);
  const guard = await startGuard(world);
  atEnd(() => stopGuard(world));
  await Bun.sleep(quick ? 3_000 : 10_000); // starting is not idling
  const pids = [daemon.pid, guard.pid, ...runners];
  const [before, started] = [pids.map(cpuNs), programs.startedBy(daemon.pid).length];
  const begun = performance.now();
  await Bun.sleep(quick ? 10_000 : 60_000);
  const tookMs = performance.now() - begun;
  const [ofDaemon = 0, ofGuard = 0, ...ofRunners] = pids.map((pid, index) => (cpuNs(pid) - (before[index] ?? 0)) / 1e6);
  const guardMb = residentMb(guard.pid);
  const inTheMinute = programs.startedBy(daemon.pid).slice(started);
  for (let tick = 0; tick < TICKS; tick += 1) cpuOf([OVERSEER, "tick", "--now"], repo);
  if (!existsSync(programs.log)) throw new Error("No program was ever counted: nobody goes by the PATH.");
  const inTicks = programs.startedBy(daemon.pid).slice(started + inTheMinute.length);
  const percent = (ms: number) => (100 * ms) / tookMs;
  const shares = { daemon: percent(ofDaemon), guard: percent(ofGuard), runner: percent(Math.max(...ofRunners)) };
  return { ...shares, guardMb, inTheMinute, inTicks, seconds: Math.round(tookMs / 1000) };
}

/** As `up --guarded` starts it; it adopts the daemon that is there. */
async function startGuard(world: World): Promise<{ readonly pid: number }> {
  const command = [process.execPath, "--config=/dev/null", "--no-env-file", join(project, "dist/daemon-guard.js")];
  const { guard } = await launchGuard(world, { command, version, words: [], cwd: world.root.project });
  return guard;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

async function twentyWaiting(world: World): Promise<number[]> {
  const prompt = `Wait. @@SCRIPT[{"say":"here"}]@@END`;
  const input = { prompt, capability: "builder", files: [], tags: [], interactive: false, keep: false, dryRun: false };
  for (let number = 0; number < AGENTS; number += 1) await slingAgent(world, { ...input, name: `agent-${number}` });
  const { living } = await (await world.writer()).read({ living: livingAttempts() });
  return living.flatMap(({ runner }) => (runner ? [runner.pid] : []));
}

/** Wrappers around what there is to call, in a directory for the PATH. */
function countedPrograms(directory: string): { bin: string; log: string; startedBy(pid: number): string[] } {
  const [bin, log] = [join(directory, "bin"), join(directory, "calls")];
  mkdirSync(bin, { recursive: true });
  for (const name of ["git", "tmux", "ps", "sh", "bash", "node", "bun", "df", "uname"]) {
    const real = Bun.which(name);
    if (real === null) continue;
    const noted = `echo "$PPID ${name} $*" >> ${shellCommand([log])}`;
    writeFileSync(join(bin, name), `#!/bin/sh\n${noted}\nexec ${shellCommand([real])} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return {
    bin,
    log,
    startedBy(pid) {
      const calls = existsSync(log) ? readFileSync(log, "utf8").split("\n") : [];
      return calls.filter((call) => call.startsWith(`${pid} `)).map((call) => call.slice(`${pid} `.length));
    },
  };
}

export const daemon: Measure = async (options) => {
  const { daemon, seconds } = await idleFleet(options);
  return { value: daemon, turns: 1, note: `over ${seconds} s` };
};

export const runner: Measure = async (options) => {
  const { runner, seconds } = await idleFleet(options);
  return { value: runner, turns: 1, note: `over ${seconds} s` };
};

export const guard: Measure = async (options) => {
  const { guard, seconds } = await idleFleet(options);
  return { value: guard, turns: 1, note: `over ${seconds} s` };
};

export const guardMemory: Measure = async (options) => {
  const { guardMb, seconds } = await idleFleet(options);
  return { value: guardMb, turns: 1, note: `after ${seconds} s` };
};

export const children: Measure = async (options) => {
  const { inTheMinute, inTicks, seconds } = await idleFleet(options);
  const kinds = [...new Set([...inTicks, ...inTheMinute].map((call) => call.split(" ")[0]))].join(" and ");
  const beside = `${inTheMinute.length} in ${seconds} s before`;
  return {
    value: inTicks.length / TICKS,
    turns: TICKS,
    note: kinds === "" ? beside : `${beside}, all of them ${kinds}`,
  };
};
