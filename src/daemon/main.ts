/**
 * One life of the daemon, from the lock to the last record: takes the lock that only one process of a repository can
 * have, puts the store in order, runs until it is told to stop, and leaves no registration behind. A start that fails
 * says why in a file, because nobody may be looking at its output.
 */
import { followMove, recordPlace } from "#act/place.ts";
import { lookAtSettings } from "#act/settings/settings.ts";
import { refuseTracked } from "#act/settings/tracked-state.ts";
import { holderRefusal, livingDaemon } from "#control/daemon.ts";
import { DAEMON_SOCKET } from "#control/daemon-client.ts";
import type { World } from "#control/world.ts";
import {
  type AutoFlags,
  parseHeartbeat,
  parseRegistration,
  type Registration,
  type WatchingOnly,
} from "#domain/health/daemon-life.ts";
import type { HardFailure } from "#domain/model/auto.ts";
import type { Tick } from "#engine/tick-contract.ts";
import type { WatchRounds } from "#engine/watch-rounds.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import { redactDeep } from "#telemetry/redact.ts";
import { ConfigWatch } from "./config-watch.ts";
import { Daemon, type Ending } from "./daemon.ts";
import { DaemonLog } from "./log.ts";
import { makeStoreReady } from "./store-care.ts";

export interface DaemonLife {
  /** The real parts, under the settings that are asked for when they are needed. */
  worldUnder(inEffect: Pick<World, "config" | "settings">): World;
  readonly version: string;
  readonly instance: string;
  readonly supervision: boolean;
  /** Nobody stands in front of it: see domain/landing/landing-rules.ts. */
  readonly auto: boolean;
  /** What it was told beside the configuration. */
  readonly flags?: AutoFlags;
  /** Nobody is started and nothing lands in this life. */
  readonly watching?: WatchingOnly;
  /** Somebody waits for it in another process and wants to know why it did not start. */
  readonly awaited: boolean;
  readonly tick: Tick;
  readonly rounds: WatchRounds;
  /** Resolves when what ticks have set going has ended; nothing new is set going after. */
  idle(): Promise<void>;
  /** Calls back once, with the reason, when this process is asked to stop. */
  onStop(stop: (reason: string) => void): void;
  /** Calls back with whatever nobody caught. */
  onFault(fault: (error: unknown) => void): void;
}

/** Resolves when the daemon has stopped. Rejects when it could not start; then nothing is left of it. */
export async function runDaemon(life: DaemonLife): Promise<void> {
  let watch: ConfigWatch | undefined;
  const watching = async (): Promise<ConfigWatch> => {
    watch ??= new ConfigWatch(await lookAtSettings(world), () => lookAtSettings(world));
    return watch;
  };
  const inEffect = {
    config: async () => (await watching()).current,
    settings: async () => (await watching()).settingsNow(),
  };
  const world = life.worldUnder(inEffect);
  const files = runFiles(world.root.state);
  for (const name of ["run", "logs"]) await world.files.makeDir(`${world.root.state}/${name}`, { mode: 0o700 });
  const lock = world.takeLock(files.lock);
  let failure: HardFailure | null = null;
  try {
    if (!lock || livingDaemon(world)) throw holderRefusal(world, life.version);
    await refuseTracked(world);
    failure = await live(life, world, await watching(), () => life.worldUnder(inEffect));
  } catch (error) {
    if (life.awaited) await tellFailure(world, life.instance, error);
    throw error;
  } finally {
    lock?.release();
  }
  // Whoever watches learns by the exit code that this was no wish of anybody's (AUTO-7).
  if (failure) throw new OverseerError("environment", failure.code, failure.problem, failure.hint);
}

/** Resolves with what broke under it, when it has ended; null where it was asked to end, or was done. */
async function live(
  life: DaemonLife,
  world: World,
  config: ConfigWatch,
  worldUnder: () => World,
): Promise<HardFailure | null> {
  const files = runFiles(world.root.state);
  const log = new DaemonLog({ files: world.files, clock: world.clock, path: files.log }, config.current.logs);
  life.onFault((error) => log.record("error", "daemon.fault", { problem: messageOf(error) }));
  const { promise: stopped, resolve: stop } = Promise.withResolvers<Ending>();
  life.onStop((reason) => stop({ reason, failure: null, done: false }));
  const { done } = await makeStoreReady(world);
  if (done.length > 0) log.record("warn", "store.repaired", { done });
  for (const sentence of await followMove(world)) log.record("warn", "repository.moved", { sentence });
  await recordPlace(world);
  const socket = `${await world.socketDir()}/${DAEMON_SOCKET}`;
  const { pid, start } = world.processes.self();
  const { version, instance, supervision, auto, flags = {}, watching, tick, rounds } = life;
  const registration: Registration = {
    pid,
    start,
    instance,
    version,
    socket,
    log: files.log,
    since: world.clock.now(),
    supervision,
    auto,
    flags,
    ...(watching ? { watching } : {}),
  };
  // We hold the lock: whoever is registered is no more.
  const before = parseRegistration(readNow(files.registration));
  const lastBeatAt = parseHeartbeat(readNow(files.heartbeat))?.at ?? null;
  await world.files.remove(files.registration);
  const daemon = new Daemon({
    worldUnder,
    config,
    log,
    socket,
    registration,
    tick,
    rounds,
    idle: () => life.idle(),
    onEnd: (reason, failure) => stop({ reason, failure, done: failure === null }),
  });
  try {
    await daemon.start(before ? { registration: before, lastBeatAt } : null);
  } catch (error) {
    log.record("error", "daemon.not_started", { problem: messageOf(error) });
    await log.flush();
    throw error;
  }
  const { failure, ...ending } = await stopped;
  await daemon.stop({ ...ending, failure });
  return failure;
}

async function tellFailure(world: World, instance: string, error: unknown): Promise<void> {
  const said =
    error instanceof OverseerError
      ? { kind: error.kind, code: error.code, message: error.message, hint: error.hint }
      : { kind: "internal", code: "INTERNAL", message: messageOf(error), hint: "Look into its output." };
  const text = `${JSON.stringify({ instance, error: redactDeep(said) })}\n`;
  await world.files.write(runFiles(world.root.state).failureOf(instance), text, { mode: 0o600 });
}
