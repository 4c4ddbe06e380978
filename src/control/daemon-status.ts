/**
 * How the daemon is, for people: read from the files it leaves in run/ and from its pid, never by asking it, because one
 * that hangs would not answer and `status` has to (DEAD-1). On the path of `status`, so it loads nothing it can do
 * without.
 */
import type { Config } from "#config/schema.ts";
import type {
  DaemonState,
  Heartbeat,
  LoopTrouble,
  Registration,
  RingPulse,
  WatchingOnly,
} from "#domain/health/daemon-life.ts";
import { judgeDaemon, parseHeartbeat, parseRegistration } from "#domain/health/daemon-life.ts";
import type { Hold } from "#domain/health/settings.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import type { World } from "./world.ts";

export interface DaemonStatus {
  readonly state: DaemonState;
  readonly pid: number | null;
  readonly version: string | null;
  readonly startedAt: number | null;
  readonly lastBeatAt: number | null;
  readonly lastTickAt: number | null;
  readonly ticks: number;
  readonly tickProblem: string | null;
  /** Loops of it that fail at the moment. */
  readonly troubles: readonly LoopTrouble[];
  /** How the loops that supervise agents run, and since when one does with less than it should. */
  readonly rings: readonly RingPulse[];
  /** Why the configuration on disk is not the one in effect. */
  readonly configProblem: string | null;
  /** Why it starts, checks and lands nothing under the settings as they are. */
  readonly hold: Hold | null;
  readonly supervision: boolean;
  /** It starts nobody and lands nothing, and looks so often at least; null where it does both. */
  readonly watching: WatchingOnly | null;
  /** Started with `up --auto`. */
  readonly auto: boolean;
  /** How many workers of its own auto mode has, and why it takes no task now; null where it does not run. */
  readonly pool: { readonly concurrency: number; readonly why: string | null } | null;
  /** Nothing can be written where its files lie: then they say nothing of how it is. */
  readonly isDiskFull: boolean;
}

/** The limits of a configuration that cannot be read are the defaults'. */
const USUAL_LIMITS = { heartbeatTimeoutMs: 30_000, tickTimeoutMs: 6 * 60_000 };

/** With less than this left, neither a heartbeat nor a commit can be counted on. */
const FULL_BELOW_BYTES = 1024 * 1024;

async function isFull({ files, root }: World): Promise<boolean> {
  // Where nothing was set up yet there is nothing to be written either.
  return (await files.facts(root.state)) !== undefined && (await files.freeBytes(root.state)) < FULL_BELOW_BYTES;
}

export async function daemonStatus(world: World, config: Config | undefined): Promise<DaemonStatus> {
  const files = runFiles(world.root.state);
  const isDiskFull = await isFull(world);
  const registration = parseRegistration(readNow(files.registration), files.log);
  if (!registration) return { ...STOPPED, isDiskFull };
  const heartbeat = parseHeartbeat(readNow(files.heartbeat));
  const limits = config
    ? {
        heartbeatTimeoutMs: config.guard.heartbeatTimeout,
        tickTimeoutMs: config.reconcile.tickEvery * config.reconcile.deadmanFactor,
      }
    : USUAL_LIMITS;
  const evidence = { registration, heartbeat, alive: () => world.processes.alive(registration) };
  const beat = heartbeat?.instance === registration.instance ? heartbeat : undefined;
  return {
    state: judgeDaemon(evidence, limits, world.clock.now()).state,
    pid: registration.pid,
    version: registration.version,
    startedAt: registration.since,
    lastBeatAt: beat?.at ?? null,
    lastTickAt: beat && beat.ticks > 0 ? beat.tickedAt : null,
    ticks: beat?.ticks ?? 0,
    tickProblem: beat?.tickProblem ?? null,
    troubles: beat?.troubles ?? [],
    rings: beat?.rings ?? [],
    configProblem: beat?.configProblem ?? null,
    hold: beat?.hold ?? null,
    supervision: registration.supervision,
    watching: registration.watching ?? null,
    auto: registration.auto,
    pool: registration.auto ? poolOf(registration, beat, config) : null,
    isDiskFull,
  };
}

function poolOf({ flags }: Registration, beat: Heartbeat | undefined, config: Config | undefined) {
  return { concurrency: flags.concurrency ?? config?.auto.concurrency ?? 1, why: beat?.auto?.why ?? null };
}

const STOPPED: DaemonStatus = {
  state: "stopped",
  pid: null,
  version: null,
  startedAt: null,
  lastBeatAt: null,
  lastTickAt: null,
  ticks: 0,
  tickProblem: null,
  troubles: [],
  rings: [],
  configProblem: null,
  hold: null,
  supervision: true,
  watching: null,
  auto: false,
  pool: null,
  isDiskFull: false,
};

/** CONF-3: the rings that are switched off, by the configuration or for this life of the daemon. */
export function listSwitchedOff(
  config: Config | undefined,
  daemon: Pick<DaemonStatus, "supervision" | "watching">,
): string[] {
  const rings = ["reconcile", "watch", "sync", "reflex"] as const;
  return [
    ...(daemon.supervision ? [] : ["supervision"]),
    ...(daemon.watching ? ["dispatch"] : []),
    ...rings.filter((ring) => config !== undefined && !config[ring].enabled),
  ];
}
