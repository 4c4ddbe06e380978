/** What a user can see of the daemon because of a configuration key; see config-observations.ts. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import type { Config } from "#config/schema.ts";
import { stopDaemon } from "#control/daemon.ts";
import { listHalts } from "#control/halted.ts";
import { readFleetStatus } from "#control/status.ts";
import { backUpInTime } from "#control/upkeep/doctor.ts";
import { leftoverFindings } from "#control/upkeep/doctor-leftovers.ts";
import type { World } from "#control/world.ts";
import { Heart } from "#daemon/heart.ts";
import { DaemonLog } from "#daemon/log.ts";
import type { Heartbeat, Registration } from "#domain/health/daemon-life.ts";
import { memoryFiles } from "#sim/virtual-files.ts";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { runFiles } from "#sys/run-files.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { repoUnder } from "./staged-world.ts";
import { tempDir } from "./temp.ts";

export const tickHaltedBy = async (config: Config) => listHalts((await repoUnder(config)).real);

/** What `status` makes of a daemon that beat and ticked so long ago. */
export function daemonSeen({ beatAgoMs = 0, tickedAgoMs = 0 }) {
  return async (config: Config) => {
    const { real } = await repoUnder(config);
    registerDaemon(real, real.processes.self(), { beatAgoMs, tickedAgoMs });
    return (await readFleetStatus(real)).daemon.state;
  };
}

function registerDaemon(world: World, who: ProcessIdentity, { beatAgoMs = 0, tickedAgoMs = 0 } = {}): void {
  const now = world.clock.now();
  const files = runFiles(world.root.state);
  const registration: Registration = {
    ...who,
    instance: "d_1",
    version: "0.0.0",
    socket: "",
    log: files.log,
    since: now,
    supervision: true,
    auto: false,
    flags: {},
  };
  const heartbeat: Heartbeat = {
    instance: "d_1",
    at: now - beatAgoMs,
    bootMs: 0,
    ticks: 1,
    tickedAt: now - tickedAgoMs,
    tickProblem: null,
    troubles: [],
    rings: [],
    configProblem: null,
    hold: null,
    work: null,
    auto: null,
  };
  mkdirSync(`${world.root.state}/run`, { recursive: true });
  writeFileSync(files.registration, JSON.stringify(registration));
  writeFileSync(files.heartbeat, JSON.stringify(heartbeat));
}

export async function beatsInAMinute({ daemon }: Config): Promise<number> {
  const clock = virtualClock();
  let beats = 0;
  const heart = new Heart({
    clock,
    path: `${tempDir("heart-")}/auto.heartbeat`,
    everyMs: () => daemon.heartbeatEvery,
    state: () => {
      beats += 1;
      return {
        instance: "d_1",
        ticks: 0,
        tickedAt: 0,
        tickProblem: null,
        troubles: [],
        rings: [],
        configProblem: null,
        hold: null,
        work: null,
        auto: null,
      };
    },
    onTimeLost: () => {},
    onRecovery: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  heart.start();
  await clock.advance(60_000);
  heart.stop();
  return beats;
}

/** Whether `doctor` takes a lock of an hour ago for one that its git has left. */
export async function lockOfAnHourAgo(config: Config): Promise<string | undefined> {
  const { real } = await repoUnder(config);
  const lock = `${real.root.gitCommonDir}/index.lock`;
  const then = (real.clock.now() - 3_600_000) / 1_000;
  writeFileSync(lock, "");
  utimesSync(lock, then, then);
  const locks = (await leftoverFindings(real)).find(({ check }) => check === "git locks");
  return locks?.ok ? locks.detail : "left behind";
}

/** How long `down` waits for a daemon that does not listen. */
export async function patienceOfDown(config: Config): Promise<number> {
  const { real } = await repoUnder(config);
  const clock = virtualClock({ now: real.clock.now() });
  const processes = virtualProcesses();
  const world: World = { ...real, processes, clock: { ...clock, sleep: (ms: number) => clock.advance(ms) } };
  registerDaemon(world, processes.spawn({ ignores: ["SIGTERM"] }));
  const before = clock.now();
  await stopDaemon(world, null);
  return clock.now() - before;
}

/** A few kilobytes of records: the files that are left, and whether one of small importance is among them. */
export const daemonLogged = ({ logs }: Config) => logged(logs);

/** The same in files so small that there are many. */
export const daemonLogsKept = ({ logs }: Config) => logged({ ...logs, maxSize: 1024 });

async function logged(settings: Config["logs"]): Promise<unknown> {
  const files = memoryFiles();
  await files.makeDir("/logs");
  const log = new DaemonLog({ files, clock: virtualClock(), path: "/logs/daemon.ndjson" }, settings);
  for (let number = 0; number < 100; number += 1) log.record("error", "fault", { number });
  log.record("info", "tick.ended");
  await log.flush();
  const newest = (await files.read("/logs/daemon.ndjson")) ?? "";
  return { files: await files.list("/logs"), tick: newest.includes("tick.ended") };
}

/** The newest backup is two hours old: is another one made? */
export async function backedUpAfterTwoHours(config: Config): Promise<boolean> {
  const { real } = await repoUnder(config);
  const first = await backUpInTime(real);
  if (!first) throw new Error("The first backup was not made.");
  const then = new Date(real.clock.now() - 2 * 3_600_000);
  utimesSync(first.path, then, then);
  return (await backUpInTime(real)) !== undefined;
}
