/**
 * What a fleet costs that has nothing to do (IDLE-1): CPU time of the daemon and of the busiest runner over a minute,
 * with twenty scripted agents that wait. The kernel's own count of nanoseconds is read, of all threads: its clock ticks
 * of ten milliseconds are too coarse for so little. Linux only.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nuke } from "#control/agents.ts";
import { down, up } from "#control/daemon.ts";
import { sling } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { livingAttempts } from "#store/attempts.ts";
import { version } from "../../package.json" with { type: "json" };
import { gitIn } from "../support/git-in.ts";
import { UNHURRIED, worldAt } from "../support/real-world.ts";
import type { Measured, Row } from "./row.ts";

const AGENTS = 20;
const project = join(import.meta.dir, "../..");

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
  const repo = join(scratch, "idle");
  mkdirSync(repo, { recursive: true });
  gitIn(repo, "init", "--quiet", "--initial-branch", "main");
  const who = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
  gitIn(repo, ...who, "commit", "--quiet", "--allow-empty", "--message", "First");
  const made = Bun.spawnSync([join(project, "bin/overseer"), "init"], { cwd: repo, stderr: "pipe" });
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  appendFileSync(join(repo, ".overseer/config.yaml"), UNHURRIED);
  const world = await worldAt(repo);
  const command = [process.execPath, join(project, "dist/daemon.js")];
  const daemon = await up(world, { command, version, supervision: true });
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
    await down(world, null);
    const { living } = await (await world.writer()).read({ living: livingAttempts() });
    for (const { agent } of living) await nuke(world, agent, null);
    await (await world.writer()).close();
  }
}

async function twentyWaiting(world: World): Promise<number[]> {
  const prompt = `Wait. @@SCRIPT[{"say":"here"}]@@END`;
  const input = { prompt, capability: "builder", files: [], tags: [], interactive: false, keep: false, dryRun: false };
  for (let number = 0; number < AGENTS; number += 1) await sling(world, { ...input, name: `agent-${number}` });
  const { living } = await (await world.writer()).read({ living: livingAttempts() });
  return living.flatMap(({ runner }) => (runner ? [runner.pid] : []));
}

/** Nanoseconds on a core, all threads together. */
function cpuNs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]))
    .reduce((sum, ns) => sum + ns, 0);
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
