/**
 * Builds the real parts for one call of the program: the machine's ports, the repository's root, its store and its
 * configuration. Everything is made when it is first asked for, because most commands need little of it and each
 * import is paid for by whoever waits.
 */

import type { MachineRoom } from "#act/parts.ts";
import type { MenuEntry } from "#cli/menu.ts";
import type { Parts } from "#cli/parts.ts";
import { printer } from "#cli/print.ts";
import type { Globals } from "#cli/run.ts";
import { runCli } from "#cli/run.ts";
import { configOfCopy } from "#config/checked-copy.ts";
import type { Config } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import { refuseToAgents } from "#domain/agents/seat-belt.ts";
import { needsRunner } from "#domain/agents/verbs.ts";
import type { Actor } from "#domain/core/actor.ts";
import { speaksForPerson } from "#domain/core/caller.ts";
import type { AutoFlags, WatchingOnly } from "#domain/health/daemon-life.ts";
import { parsePlace } from "#domain/health/place.ts";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import type { GitTools } from "#git/git.ts";
import { JOB_WORD, readJob, type VerbJob } from "#runner/verbs/wire.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";
import type { Ids } from "#sys/ids.ts";
import { readNow } from "#sys/read-now.ts";
import type { Root } from "#sys/root.ts";
import { findRoot } from "#sys/root.ts";
import { runFiles } from "#sys/run-files.ts";
import { DIRECTORY_GONE, findWorkingDirectory } from "#sys/working-directory.ts";
import type { Terminal } from "#terminals/terminal.ts";

type Env = Readonly<Record<string, string | undefined>>;

export async function runWithRealParts(
  words: readonly string[],
  menu: readonly MenuEntry<Parts>[],
  version: string,
): Promise<number> {
  const job = words[0] === JOB_WORD && process.env.OVERSEER_ATTEMPT ? await takeJob() : undefined;
  // A command is meant for the repository that its caller named, also where that is not the agent's own.
  const env: Env = job?.root === undefined ? process.env : { ...process.env, OVERSEER_ROOT: job.root };
  const reading = shareReader();
  const out = printer(env, job?.interactive === true);
  return runCli(job?.words ?? words, {
    menu,
    parts: (globals) => realParts(globals, version, env, { reading, ...(job ? { job } : {}) }),
    version,
    env,
    out,
    ...(env.OVERSEER_ATTEMPT ? { refuseCall: refuseToAgents } : {}),
    openAlone: async (parts) => (await import("#cli/alone.ts")).openAlone(parts, out),
    admit: (called, root) => admitCaller(called, root, env, { reading, ...(job ? { key: job.key } : {}) }),
  });
}

/** Nobody reads it a second time under another name of standard input: there is a key in it. */
async function takeJob(): Promise<VerbJob | undefined> {
  const job = readJob(await Bun.stdin.text());
  const { closeSync, openSync } = require("node:fs") as typeof import("node:fs");
  closeSync(0);
  openSync("/dev/null", "r"); // takes the lowest number, which is free now
  return job;
}

type Reading = (root: Root) => Promise<Store>;

/** Who calls is asked of the same store that the command reads: it is opened once for both. */
function shareReader(): Reading {
  const opened = new Map<string, Promise<Store>>();
  return (root) => {
    const store = opened.get(root.state) ?? openStore(root, "read");
    opened.set(root.state, store);
    return store;
  };
}

async function admitCaller(
  called: string,
  flag: string | undefined,
  env: Env,
  { reading, key }: { readonly reading: Reading; readonly key?: string },
): Promise<void> {
  if (!env.OVERSEER_ATTEMPT && !speaksForPerson(called)) return; // 'status' is not kept waiting for what nobody asks
  if (env.OVERSEER_ATTEMPT && !needsRunner(called.split(" "))) return; // it answers from the program alone
  const { assertCaller } = await import("#control/caller.ts");
  const root = () => findRoot({ cwd: workingDirectory(), flag, env: env as Record<string, string> });
  await assertCaller(
    {
      env,
      root: once(root),
      ...(key === undefined ? {} : { key }),
      async attemptIn(at, number) {
        const { attemptByNumber } = await import("#store/attempts.ts");
        return (await (await reading(at)).read({ attempt: attemptByNumber(number) })).attempt;
      },
      async noteFenced({ state }, attempt, what, because) {
        const { tryRecordFenced } = await import("#act/hooks/fenced.ts");
        await tryRecordFenced(state, attempt, what, because);
      },
    },
    called,
  );
}

function realParts(
  globals: Globals,
  version: string,
  env: Env,
  { job, reading }: { readonly job?: VerbJob; readonly reading: Reading },
): Parts {
  const root = once(async () => {
    const found = await findRoot({ cwd: workingDirectory(), flag: globals.root, env: env as Record<string, string> });
    // Later it is looked at with the settings, before anything is done under them.
    if (readNow(`${found.state}/run/config.json`) === undefined) await refuseLinkedAt(found);
    return found;
  });
  return {
    version,
    world: once(async () => realWorld(await root(), env, undefined, reading)),
    worldNow: async () => realWorld(await root(), env, undefined, reading, SHOWN_PATIENCE_MS),
    readText: async (path) => job?.inputs?.[path] ?? readText(path),
    async loadConfig() {
      const { config, hold } = await realWorld(await root(), env).settings();
      const path = `${(await root()).userDir}/config.yaml`;
      const text = readNow(path);
      return { config, path, ...(text === undefined ? {} : { text }), ...(hold ? { hold } : {}) };
    },
    async acceptSettings() {
      const { acceptSettings } = await import("#control/trust.ts");
      return acceptSettings(realWorld(await root(), env));
    },
    get daemonCommand() {
      return (require("#sys/self.ts") as typeof import("#sys/self.ts")).ownCommand("daemon");
    },
    get guardCommand() {
      return (require("#sys/self.ts") as typeof import("#sys/self.ts")).ownCommand("daemon-guard");
    },
    get program() {
      return (require("#sys/self.ts") as typeof import("#sys/self.ts")).ownProgram();
    },
    machine: () => ({
      clock: require("#sys/clock.ts").systemClock(),
      exec: require("#sys/exec.ts").systemExec(),
      processes: require("#sys/processes.ts").systemProcesses(),
      env,
    }),
    async runDaemon(options) {
      await daemonIn(await root(), env, { version, ...options });
    },
    async remediate(contextFile) {
      const { remediate } = await import("#runner/remedy/remediate.ts");
      const contextText = await readText(contextFile).catch((error: unknown) => {
        if (!(error instanceof OverseerError)) throw error;
        const hint = "The guard writes this file and names it; start the guard with 'overseer guard'.";
        throw new OverseerError("usage", "REMEDY_CONTEXT_MISSING", error.message, hint, { cause: error });
      });
      // Not by way of the settings: that they cannot be read may be what failed.
      const at = await findRoot({ cwd: workingDirectory(), flag: globals.root, env: env as Record<string, string> });
      return remediate({
        ...{ root: at, env: withoutUndefined(env), contextText, contextName: contextFile },
        onStop(stop) {
          for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
            process.on(signal, () => stop(`it was told to end by ${signal}`));
          }
        },
      });
    },
  };
}

export interface DaemonWords {
  readonly version: string;
  readonly supervision: boolean;
  readonly auto: boolean;
  readonly flags?: AutoFlags;
  readonly watching?: WatchingOnly;
  /** The name of this life; a new one where none is given. */
  readonly instance?: string;
}

/** Is the daemon, in this process, until a signal tells it to stop. */
export async function daemonIn(root: Root, env: Env, words: DaemonWords): Promise<void> {
  await refuseLinkedAt(root);
  const { runDaemon } = await import("#daemon/main.ts");
  const { reconciler } = await import("#engine/lanes.ts");
  const { systemIds } = await import("#sys/ids.ts");
  const { makeWatchRounds } = await import("#engine/watch-rounds.ts");
  const reconciling = reconciler({ periodMs: async (world) => (await world.config()).reconcile.tickEvery });
  await runDaemon({
    worldUnder: (stays) => realWorld(root, env, stays),
    version: words.version,
    instance: words.instance ?? systemIds().next("d_"),
    supervision: words.supervision,
    auto: words.auto,
    flags: words.flags ?? {},
    ...(words.watching ? { watching: words.watching } : {}),
    awaited: words.instance !== undefined,
    tick: reconciling.tick,
    rounds: makeWatchRounds(reconciling),
    idle: reconciling.idle,
    onStop(stop) {
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop(`asked to by ${signal}`));
      process.on("SIGHUP", () => undefined); // whoever started it may close their terminal
    },
    onFault(fault) {
      process.on("uncaughtException", fault);
      process.on("unhandledRejection", fault);
    },
  });
}

/** What is in effect for a process that stays: under what these say at the time. */
export type InEffect = Pick<World, "config" | "settings">;

/** The real parts. With `stays`, for a process that stays: under what that says at the time, and one file for life. */
export function realWorld(root: Root, env: Env, stays?: InEffect, reading?: Reading, patienceMs?: number): World {
  const known = lazily(() => withoutUndefined(env));
  const ports = {
    clock: lazily(() => makePinnedClock(env) ?? require("#sys/clock.ts").systemClock()),
    ids: lazily(() => makePinnedIds(env) ?? require("#sys/ids.ts").systemIds()),
    files: lazily(() => require("#sys/files.ts").systemFiles()),
    exec: lazily(() => require("#sys/exec.ts").systemExec()),
    processes: lazily(() => require("#sys/processes.ts").systemProcesses()),
    git: lazily((): GitTools => {
      const { gitRunner } = require("#git/git.ts") as typeof import("#git/git.ts");
      const [exec, clock, files, ids] = [ports.exec(), ports.clock(), ports.files(), ports.ids()];
      return { git: gitRunner({ exec, clock, env: known() }), exec, clock, files, ids };
    }),
  };
  const actor = lazily(() => actorOf(env));
  const settings =
    stays?.settings ??
    once(async () => {
      const { lookAtSettings } = await import("#act/settings/settings.ts");
      return lookAtSettings({
        root,
        env,
        files: ports.files(),
        git: { git: gitLater(ports.git) },
        clock: ports.clock(),
      });
    });
  const checked = once(() => readCheckedConfig(root, settings));
  const reader = once(() => (reading ? reading(root) : openStore(root, "read", stays)));
  const writer = once(() => openStore(root, checked, stays, patienceMs));
  const config = stays?.config ?? (async () => (await checked()).config);
  return {
    root,
    get actor() {
      return actor();
    },
    get env() {
      return known();
    },
    get clock() {
      return ports.clock();
    },
    get ids() {
      return ports.ids();
    },
    get files() {
      return ports.files();
    },
    get exec() {
      return ports.exec();
    },
    get processes() {
      return ports.processes();
    },
    get git() {
      return ports.git();
    },
    reader,
    writer,
    config,
    settings,
    terminal: once(() => selectTerminal(root, ports, known(), config)),
    async runtime(name) {
      const { runtimeNamed, NO_SETTINGS } = await import("#runtimes/list.ts");
      const settings = (await config()).runtimes[name] ?? NO_SETTINGS;
      return runtimeNamed(name, { state: root.state, env: known(), exec: ports.exec(), settings });
    },
    socketDir: once(() => socketDir(root, known())),
    async wakeSocket(socket) {
      return (await import("#sys/wake-socket.ts")).wakeSocket(socket);
    },
    readNow,
    get runnerCommand() {
      return (require("#sys/self.ts") as typeof import("#sys/self.ts")).ownCommand("runner");
    },
    get hookCommand() {
      return (require("#sys/self.ts") as typeof import("#sys/self.ts")).ownCommand("hook");
    },
    get permitCommand() {
      return (require("#sys/self.ts") as typeof import("#sys/self.ts")).ownCommand("permit");
    },
    takeLock(path) {
      return (require("#store/sqlite/locks.ts") as typeof import("#store/sqlite/locks.ts")).sqliteLocks.take(path);
    },
    room: () => machineRoom(root),
  };
}

type Ports = Pick<World, "clock" | "ids" | "files" | "exec" | "processes">;
type LazyPorts = { [K in keyof Ports]: () => Ports[K] };

async function selectTerminal(
  root: Root,
  ports: LazyPorts,
  env: Readonly<Record<string, string>>,
  config: World["config"],
): Promise<Terminal> {
  const { chooseTerminal } = await import("#terminals/choose.ts");
  const { makeTmuxTerminal } = await import("#terminals/tmux.ts");
  const { makeDetachedTerminal } = await import("#terminals/detached.ts");
  const given = { exec: ports.exec(), processes: ports.processes(), files: ports.files(), clock: ports.clock() };
  const directory = await socketDir(root, env);
  const server = { socketPath: `${directory}/tmux`, tmux: "tmux", searchPath: env.PATH ?? "", mark: `0@${root.state}` };
  const tmux = makeTmuxTerminal({ ...given, ...server });
  const detached = makeDetachedTerminal({ ...given, directory: `${root.state}/run/terminals` });
  return (await chooseTerminal((await config()).terminal, { tmux, detached })).terminal;
}

async function socketDir(root: Root, env: Readonly<Record<string, string>>): Promise<string> {
  const { isSocketDirectory, socketDirectory } = await import("#terminals/socket-dir.ts");
  const { tmpdir } = await import("node:os");
  const { existsSync } = await import("node:fs");
  const runtimeDir = env.XDG_RUNTIME_DIR;
  const uid = process.getuid?.() ?? 0;
  // Who is at work here listens where it was started, wherever XDG_RUNTIME_DIR points to by now. A copy of a repository
  // has the record of its original, whose sockets are not its own.
  const place = parsePlace(readNow(runFiles(root.state).place));
  const own = place !== undefined && (place.state === root.state || !existsSync(place.project));
  if (own && (await isSocketDirectory(place.sockets, uid))) return place.sockets;
  return socketDirectory({
    root: root.state,
    ...(runtimeDir ? { runtimeDir } : {}),
    tempDir: env.TMPDIR ?? tmpdir(),
    uid,
  });
}

async function machineRoom(root: Root): Promise<MachineRoom> {
  const { loadavg, cpus, freemem, totalmem } = await import("node:os");
  const { statfs } = await import("node:fs/promises");
  const disk = await statfs(root.project);
  // What the kernel could free at once counts as free; freemem() alone calls a warm cache a shortage.
  const available = /MemAvailable:\s+(\d+)/.exec((await Bun.file("/proc/meminfo").text().catch(noSuchFile)) ?? "")?.[1];
  return {
    load: loadavg()[0] ?? 0,
    cores: cpus().length,
    freeMemoryBytes: available ? Number(available) * 1024 : freemem(),
    totalMemoryBytes: totalmem(),
    freeDiskBytes: disk.bavail * disk.bsize,
    totalDiskBytes: disk.blocks * disk.bsize,
  };
}

/** Tests of the whole program compare its words, so they may pin its clock (ms) and its ids (a seed), one call each. */
function readPinned(env: Env, name: "OVERSEER_TEST_NOW" | "OVERSEER_TEST_SEED"): number | undefined {
  const text = env.OVERSEER_TEST === "1" ? env[name] : undefined;
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function makePinnedClock(env: Env): Clock | undefined {
  const now = readPinned(env, "OVERSEER_TEST_NOW");
  return now === undefined
    ? undefined
    : (require("#sys/virtual-clock.ts") as typeof import("#sys/virtual-clock.ts")).virtualClock({ now });
}

function makePinnedIds(env: Env): Ids | undefined {
  const seed = readPinned(env, "OVERSEER_TEST_SEED");
  return seed === undefined
    ? undefined
    : (require("#sys/virtual-ids.ts") as typeof import("#sys/virtual-ids.ts")).makeSeededIds(seed);
}

function withoutUndefined(env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** Inside an attempt it is the agent who speaks; outside, whoever is logged in. */
function actorOf(env: Env): Actor {
  if (env.OVERSEER_ATTEMPT) return `agent:${env.OVERSEER_AGENT ?? "unknown"}#${env.OVERSEER_ATTEMPT}`;
  return `human:${(env.USER || env.LOGNAME || "someone").replace(/\s/g, "_").slice(0, 60)}`;
}

/** SQLite waits without letting anything else run: a screen that somebody looks at stands still as long. */
const SHOWN_PATIENCE_MS = 2_000;

async function openStore(
  root: Root,
  mode: "read" | (() => Promise<Checked>),
  stays?: Pick<World, "config">,
  patienceMs?: number,
): Promise<Store> {
  const { addressIn, openForReading, openForWriting } = await import("#store/open.ts");
  const address = addressIn(root.state);
  const backupDir = `${root.gitCommonDir}/overseer/backups`;
  if (mode === "read") return openForReading({ address, backupDir });
  const place = parsePlace(readNow(runFiles(root.state).place));
  if (place !== undefined && place.state !== root.state) {
    const { assertNotCopied } = await import("#act/place.ts");
    const { systemFiles } = await import("#sys/files.ts");
    await assertNotCopied(systemFiles(), root);
  }
  const { capsOf } = await import("#store/seal.ts");
  if (stays) return openForWriting({ address, backupDir, longLived: true, caps: capsOf((await stays.config()).store) });
  const { config, keep } = await mode();
  const store = await openForWriting({ address, backupDir, caps: capsOf(config.store), patienceMs });
  await keep();
  return store;
}

interface Checked {
  readonly config: Config;
  /** Leaves the checked copy for whoever comes next, where what is in effect is newer than it. */
  keep(): Promise<void>;
}

/** The configuration, from its checked copy where that fits the file, else as the settings are judged. */
async function readCheckedConfig(root: Root, settings: World["settings"]): Promise<Checked> {
  const text = readNow(`${root.userDir}/config.yaml`);
  const config = configOfCopy(readNow(`${root.state}/run/config.json`), text);
  return config ? { config, keep: async () => undefined } : settings();
}

async function refuseLinkedAt(root: Root): Promise<void> {
  const { refuseLinked } = await import("#act/settings/tracked-state.ts");
  const { systemFiles } = await import("#sys/files.ts");
  await refuseLinked(systemFiles(), root);
}

/** Git is loaded only for those who ask it something. */
function gitLater(tools: () => GitTools): Pick<GitTools["git"], "attempt"> {
  return { attempt: (args, options) => tools().git.attempt(args, options) };
}

function workingDirectory(): string {
  const found = findWorkingDirectory();
  if (found !== undefined) return found;
  const { kind, code, message, hint } = DIRECTORY_GONE;
  throw new OverseerError(kind, code, message, hint);
}

async function readText(path: string): Promise<string> {
  try {
    return path === "-" ? await Bun.stdin.text() : await Bun.file(path).text();
  } catch (error) {
    const code = systemCode(error);
    const hint = "Check the path of the file; - reads standard input.";
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new OverseerError("not-found", "FILE_MISSING", `There is no file ${path}.`, hint, { cause: error });
    }
    const why = code === "EISDIR" ? "it is a directory" : code === "EACCES" ? "you may not read it" : messageOf(error);
    const message = `${path} cannot be read: ${why.replace(/\.$/, "")}.`;
    throw new OverseerError("environment", "FILE_UNREADABLE", message, hint, { cause: error });
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Where there is no /proc, there is nothing to read. */
function noSuchFile(error: unknown): undefined {
  if (systemCode(error) !== "ENOENT") throw error;
}
