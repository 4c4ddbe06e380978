/**
 * What one may ask of the daemon from outside: up and down. Agents do not notice any of it but
 * what they are told: `down` leaves them running, and the next `up` adopts them. Who the daemon is, is read from its
 * registration and proven by pid and start time; whether there is one, by the lock.
 */
import { assertNotCopied } from "#act/place.ts";
import { startDaemon } from "#act/start-daemon.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { adviseAboutDaemon } from "#domain/guard/succession.ts";
import {
  type AutoFlags,
  type Intent,
  parseIntent,
  parseRegistration,
  type Registration,
  type WatchingOnly,
} from "#domain/health/daemon-life.ts";
import { type ErrorKind, EXIT_CODES, OverseerError } from "#errors.ts";
import type { Lock } from "#sys/locks.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import * as fleet from "./agents.ts";
import { callDaemon } from "./daemon-client.ts";
import { copyLog } from "./upkeep/doctor.ts";
import type { World } from "./world.ts";

/** How long a daemon may take to come up: it may have a database to migrate. */
const UP_PATIENCE_MS = 60_000;
/** What a daemon may take beyond the time it gives its actions, before it is ended. */
const DOWN_PATIENCE_MS = 3_000;
const ANSWER_MS = 10_000;
const LOOK_EVERY_MS = 25;

/** Who is registered and lives; undefined when nobody is. */
export function livingDaemon(world: World): Registration | undefined {
  const { log, registration: path } = runFiles(world.root.state);
  const registration = parseRegistration(readNow(path), log);
  return registration && world.processes.alive(registration) ? registration : undefined;
}

/** The lock is taken: says by whom. `version` is that of whoever is refused. */
export function holderRefusal(world: World, version: string): OverseerError {
  const holder = livingDaemon(world);
  return holder
    ? new OverseerError(
        "conflict",
        "DAEMON_RUNNING",
        `A daemon is already running: pid ${holder.pid}, since ${isoTime(holder.since)}, version ${holder.version}, ${tellMode(holder)}.`,
        adviseAboutDaemon(holder.version, version),
      )
    : new OverseerError(
        "conflict",
        "LOCK_TAKEN",
        "Another Overseer process holds this repository's lock and has not said who it is.",
        "A daemon that is starting, 'doctor --fix' or 'tick --now' holds it for a moment. Try again.",
      );
}

function tellMode({ auto, watching }: Registration): string {
  if (watching) return "watching only";
  return auto ? "in auto mode" : "without auto mode";
}

export interface UpOptions {
  /** What starts the daemon; its words follow. */
  readonly command: readonly string[];
  readonly version: string;
  readonly supervision: boolean;
  /** Work lands by itself, squashed, unless the configuration says otherwise. */
  readonly auto: boolean;
  /** What is said beside the configuration, which it overrides. */
  readonly flags?: AutoFlags;
  /** Nobody is started and nothing lands. */
  readonly watching?: WatchingOnly;
}

/** Refuses a copy and a repository without Overseer; makes the directories of run files and logs. */
export async function assertMayStart(world: World): Promise<void> {
  await assertNotCopied(world.files, world.root);
  // Where Overseer was never set up nothing is begun: the store's own refusal says so.
  if ((await world.files.facts(world.root.state)) === undefined) await assertSetUp(world);
  for (const name of ["run", "logs"]) await world.files.makeDir(`${world.root.state}/${name}`, { mode: 0o700 });
}

/** Starts the daemon and waits until it is registered and answers. Refuses when there is one, naming it. */
export async function launchDaemon(world: World, options: UpOptions): Promise<Registration> {
  await assertMayStart(world);
  const files = runFiles(world.root.state);
  const lock = await patientLock(world);
  lock?.release();
  // A lock that is free says nothing where somebody has cleaned the state directory under a running daemon.
  if (!lock || livingDaemon(world)) throw holderRefusal(world, options.version);
  const instance = world.ids.next("d_");
  const words = ["--root", world.root.project, "--instance", instance];
  const started = startDaemon({
    argv: [...options.command, ...words, ...flagsOf(options)],
    cwd: world.root.project,
    env: world.env,
    output: files.output,
  });
  let exit: number | undefined;
  void started.exited.then((code) => {
    exit = code;
  });
  for (const until = world.clock.now() + UP_PATIENCE_MS; world.clock.now() < until; ) {
    const registration = parseRegistration(readNow(files.registration));
    if (registration?.instance === instance) {
      await callDaemon(registration, options.version, "ping", {}, ANSWER_MS);
      await leaveWord(world); // whoever guards it knows that this one was wanted
      return registration;
    }
    if (exit !== undefined) throw await startFailure(world, instance, exit);
    await world.clock.sleep(LOOK_EVERY_MS);
  }
  throw new OverseerError(
    "environment",
    "DAEMON_SILENT",
    `The daemon (pid ${started.pid}) has not started after ${UP_PATIENCE_MS / 1000} s.`,
    `Look into ${files.output} and ${files.log}.`,
  );
}

function flagsOf({ supervision, auto, flags = {}, watching }: UpOptions): string[] {
  const said = Object.keys(flags).length === 0 ? [] : ["--auto-flags", JSON.stringify(flags)];
  const only = watching ? ["--watching", String(watching.everyMs)] : [];
  return [...(supervision ? [] : ["--no-supervision"]), ...only, ...(auto ? ["--auto", ...said] : [])];
}

async function startFailure(world: World, instance: string, exit: number): Promise<OverseerError> {
  const files = runFiles(world.root.state);
  const text = readNow(files.failureOf(instance));
  await world.files.remove(files.failureOf(instance));
  const said = text === undefined ? undefined : (JSON.parse(text) as StartFailure);
  if (said?.instance === instance && Object.hasOwn(EXIT_CODES, said.error.kind)) {
    const { kind, code, message, hint } = said.error;
    return new OverseerError(kind, code, message, hint);
  }
  return new OverseerError(
    "environment",
    "DAEMON_ENDED",
    `The daemon ended with ${exit} before it was ready.`,
    `Its last output is in ${files.output}.`,
  );
}

interface StartFailure {
  readonly instance: string;
  readonly error: {
    readonly kind: ErrorKind;
    readonly code: string;
    readonly message: string;
    readonly hint: string;
  };
}

/** A command that holds the lock for a moment is waited for; a daemon is not. */
export async function patientLock(world: World): Promise<Lock | undefined> {
  for (let tries = 0; ; tries += 1) {
    const lock = world.takeLock(runFiles(world.root.state).lock);
    if (lock || livingDaemon(world) || tries >= 10) return lock;
  }
}

export interface DownOutcome {
  /** Who ran; null when nobody did. */
  readonly was: Registration | null;
  /** It did not end when asked, and was ended. */
  readonly killed: boolean;
}

/** Stops the daemon and waits until it is gone. Agents keep running. */
/** Other refusals of the store come later, behind what is asked first about a stranger's repository. */
async function assertSetUp(world: World): Promise<void> {
  await world.reader().catch((error: unknown) => {
    if (error instanceof OverseerError && error.code === "STORE_MISSING") throw error;
  });
}

export async function stopDaemon(world: World, reason: string | null): Promise<DownOutcome> {
  await assertNotCopied(world.files, world.root);
  const files = runFiles(world.root.state);
  const was = livingDaemon(world);
  // Nobody watches a repository in which Overseer was never set up, and nothing is left behind in it.
  if (!was && (await world.files.facts(world.root.state)) === undefined) return { was: null, killed: false };
  await writeIntent(world, "down", reason);
  if (!was) {
    // What a daemon that was killed left behind would be taken for one that died just now.
    await world.files.remove(files.registration);
    await copyIfSound(world);
    return { was: null, killed: false };
  }
  world.processes.signal(was, "SIGTERM");
  const { daemon } = await world.config();
  const until = world.clock.now() + daemon.drainTimeout + DOWN_PATIENCE_MS;
  while (world.processes.alive(was) && world.clock.now() < until) await world.clock.sleep(LOOK_EVERY_MS);
  const killed = world.processes.alive(was);
  if (killed) {
    world.processes.signal(was, "SIGKILL");
    while (world.processes.alive(was)) await world.clock.sleep(LOOK_EVERY_MS);
    await world.files.remove(files.registration);
  }
  return { was, killed };
}

/** `down` where no daemon ran copies what commands and runners have written; a store that cannot be read is doctor's. */
async function copyIfSound(world: World): Promise<void> {
  try {
    await copyLog(world);
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
  }
}

/** Stops every agent, keeping what it had not committed; says what became of each. */
export async function stopAgents(world: World, reason: string | null): Promise<StoppedAgent[]> {
  const stopped: StoppedAgent[] = [];
  for (const { agent, attempt } of await fleet.listLivingAgents(world)) {
    try {
      const { end } = await fleet.stopAgent(world, attempt, reason ?? "down --agents", "resume");
      stopped.push({ agent, attempt, wip: end?.wip ?? null, problem: null });
    } catch (error) {
      if (!(error instanceof OverseerError)) throw error;
      stopped.push({ agent, attempt: null, wip: null, problem: error.message });
    }
  }
  return stopped;
}

export interface StoppedAgent {
  readonly agent: string;
  readonly attempt: number | null;
  readonly wip: string | null;
  readonly problem: string | null;
}

/** That a daemon was started on purpose; a freeze stays one. */
export async function leaveWord(world: World): Promise<void> {
  const want = parseIntent(readNow(runFiles(world.root.state).intent))?.want;
  await writeIntent(world, want === "frozen" ? "frozen" : "up", null);
}

/** What people want, for whoever watches the daemon. */
export async function writeIntent(world: World, want: Intent["want"], reason: string | null): Promise<void> {
  const intent: Intent = { want, at: world.clock.now(), by: world.actor, reason };
  await world.files.makeDir(`${world.root.state}/run`, { mode: 0o700 });
  await world.files.write(runFiles(world.root.state).intent, `${JSON.stringify(intent)}\n`, { mode: 0o600 });
}
