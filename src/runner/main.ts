/**
 * The runner's entry: `runner <launch file>`. It builds the real parts for one attempt, listens on its socket, and
 * keeps going when its terminal is lost: only the view ends with it.
 */

import { existsSync, rmSync } from "node:fs";
import { doubtStore, safeModeIn } from "#act/safe-mode.ts";
import type { SettingsGround } from "#act/settings/settings.ts";
import { makeSettingsReader } from "#act/settings/settings-reader.ts";
import { takeUpdate, type UpdateParts } from "#act/updates/take-update.ts";
import { configOfCopy, hasOurShape, readCopy } from "#config/checked-copy.ts";
import type { Config } from "#config/schema.ts";
import { WAKE_PIPE } from "#domain/permit/hook-moments.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { gitRunner } from "#git/git.ts";
import { runtimeNamed } from "#runtimes/list.ts";
import type { Runtime } from "#runtimes/runtime.ts";
import { openForWriting, openSignalLog } from "#store/open.ts";
import { systemClock } from "#sys/clock.ts";
import { systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { systemIds } from "#sys/ids.ts";
import { systemProcesses } from "#sys/processes.ts";
import { releaseCode } from "#sys/release-code.ts";
import { runFiles } from "#sys/run-files.ts";
import { WAKE_SIGNAL } from "#sys/wake-process.ts";
import { redact } from "#telemetry/redact.ts";
import type { TmuxOptions } from "#terminals/tmux.ts";
import { makeTmuxTerminal } from "#terminals/tmux.ts";
import { CheckoutWatch } from "./checkout-watch.ts";
import { DaemonLink } from "./daemon-link.ts";
import { openFront } from "./front.ts";
import { lastingSignals, lastingStore, TRY_MS } from "./lasting-store.ts";
import type { LaunchFile } from "./launch-file.ts";
import { readOrders, readReflex } from "./launch-file.ts";
import { lines } from "./lines.ts";
import { SessionLogs } from "./logs.ts";
import { PermitEar } from "./permit-ear.ts";
import { AttemptRun } from "./run.ts";
import type { OnScreen, RunnerParts } from "./runner-parts.ts";
import type { AttemptRoutes } from "./socket/routes.ts";
import { markStoreFiles } from "./store-files.ts";
import { becomeSubreaper } from "./subreaper.ts";
import { findTie, type Tie, tieAgents } from "./tie.ts";
import { openDesk, openKeptReports } from "./verbs/open.ts";
import { VERB_ROUTE } from "./verbs/wire.ts";

/** By then the agent is up and the runner's own start has ended. */
const SETTLED_AFTER_MS = 1_000;

export async function runnerMain(launchPath: string): Promise<number> {
  const { launch, policy, launchHash } = await readOrders(launchPath);
  becomeSubreaper();
  // A screen belongs to the agent alone. A lost terminal ends the view and nothing else.
  const view = { open: launch.view && !policy.interactive };
  const ports = systemPorts();
  const logs = new SessionLogs(ports.files, launch.logDir, launch.agent);
  const store = await openLastingStore(launch, ports, logs);
  const link = new DaemonLink({
    registration: runFiles(launch.root.state).registration,
    hello: { attempt: launch.attempt, ...ports.processes.self() },
    news: () => run.wakeUp(),
  });
  const reporting = buildReporting(launch, ports, store);
  const foldKept = openKeptReports(launch, reporting);
  const desk = openDesk(launch, reporting, foldKept);
  const verbs = desk?.verbs ?? null;
  const tie = await findTie(ports.exec);
  const shown = { interactive: policy.interactive, view };
  const given = { ...shown, launchHash, store, logs, reporting, foldKept, verbs, link, tie };
  const parts = await buildParts(launch, ports, given);
  const verbRoute: AttemptRoutes = desk ? { [VERB_ROUTE]: desk.desk.route } : {};
  const front = await openFront(launch, policy, parts, {
    more: verbRoute,
    isTied: tie !== null,
    catchUp: () => run.catchUp(),
  });
  const run = new AttemptRun(parts, { ...launch, ...(front.settingsFile ? { settingsFile: front.settingsFile } : {}) });
  obeySignals(run, store, view);
  const server = listen(launch.socket, () => {
    link.look();
    run.wakeUp();
  });
  link.look();
  if (view.open) takeTypedLines(launch, run);
  const released = setTimeout(releaseCode, SETTLED_AFTER_MS);
  try {
    await run.run();
    return 0;
  } finally {
    clearTimeout(released);
    link.close();
    server.stop(true);
    rmSync(launch.socket, { force: true });
    await front.close();
  }
}

type Ports = ReturnType<typeof systemPorts>;
type LastingStore = Awaited<ReturnType<typeof lastingStore>>;

function systemPorts() {
  const [clock, exec, files, ids] = [systemClock(), systemExec(), systemFiles(), systemIds()];
  const tools = { git: gitRunner({ exec, clock, env: environment() }), exec, files, clock, ids };
  return { clock, exec, files, ids, tools, processes: systemProcesses() };
}

function openLastingStore(launch: LaunchFile, { clock, files }: Ports, logs: SessionLogs): Promise<LastingStore> {
  return lastingStore({
    async open() {
      const opened = await openForWriting({
        address: launch.database,
        backupDir: `${launch.root.gitCommonDir}/overseer/backups`,
        longLived: true,
        copyLater: true,
        patienceMs: TRY_MS,
        caps: launch.caps,
      });
      // Where the daemon is down, nobody else may notice that another store took the place of the one it knew.
      await doubtStore({ root: launch.root, clock, files }, opened);
      return opened;
    },
    clock,
    isHopeless: () => !existsSync(launch.root.state),
    async problem(text) {
      logs.error(text, clock.now());
      try {
        await logs.flush();
      } catch (error) {
        // On a full disk the log cannot be written either; whoever looks at the terminal sees it.
        console.error(redact(`runner: ${text} (${messageOf(error)})`));
      }
    },
  });
}

async function buildParts(
  launch: LaunchFile,
  ports: Ports,
  given: Pick<RunnerParts, "launchHash" | "logs" | "foldKept" | "verbs"> & {
    store: LastingStore;
    interactive: boolean;
    view: { open: boolean };
    reporting: UpdateParts;
    link: DaemonLink;
    tie: Tie;
  },
): Promise<RunnerParts> {
  const { clock, exec, ids, tools } = ports;
  const { launchHash, store, logs, interactive, view, reporting, foldKept, verbs } = given;
  const { root } = launch;
  const env = environment();
  const found = runtimeNamed(launch.runtime, { state: root.state, env, exec, settings: launch.runtimeSettings });
  const runtime = tieAgents(found, given.tie);
  return {
    ...{ launchHash, store, logs, runtime, tools, clock, ids, foldKept, verbs, processes: ports.processes },
    takeUpdate: (attempt, text) => takeUpdate(reporting, attempt, text),
    signals: lastingSignals(
      () => openSignalLog(launch.database, { caps: launch.signalCaps, busyMs: TRY_MS }),
      () => markStoreFiles(launch.database),
      clock,
    ),
    checkout: new CheckoutWatch(tools, root.project),
    permit: new PermitEar(launch.directory),
    reflex: await readReflex(launch),
    onScreen: interactive ? await onScreen(launch, runtime, ports) : null,
    isSafeMode: () => safeModeIn(root.state) !== null,
    wakeDaemon: (reason) => given.link.wake(reason),
    show: (line) => {
      if (view.open) console.log(line);
    },
  };
}

/** What it takes to write down what the agent reports. */
function buildReporting({ root }: LaunchFile, ports: Ports, store: LastingStore): UpdateParts {
  const { clock, ids, files, tools } = ports;
  return {
    ...{ root, clock, ids, git: tools },
    writer: async () => store,
    config: () => configNow({ root, env: environment(), files, git: tools, clock }),
  };
}

function obeySignals(run: AttemptRun, store: Pick<LastingStore, "impatient">, view: { open: boolean }): void {
  process.on("SIGHUP", () => {
    view.open = false;
  });
  process.on("SIGTERM", () => {
    store.impatient();
    run.end("Its runner was told to end (SIGTERM).");
  });
  // A person looking on who presses Ctrl-C wants to leave the view, not to end the agent.
  process.on("SIGINT", () => {
    if (view.open) console.log("— to stop this agent: overseer stop; to leave: detach (Ctrl-b d)");
  });
  process.on(WAKE_SIGNAL, () => run.wakeUp());
}

function takeTypedLines({ agent, attempt, goalId, nodeId }: LaunchFile, run: AttemptRun): void {
  console.log(`— ${agent}#${attempt} on ${goalId}/${nodeId}; a line typed here is a message to it`);
  // A terminal that was torn away fails to read; then nobody types any more, and that is all.
  void lines(Bun.stdin.stream(), (line) => {
    if (line.trim() !== "") void run.takeTypedLine(line);
  }).catch(() => undefined);
}

/** The configuration in effect; while the file cannot be used, the one that was last found good. */
async function configNow(ground: SettingsGround): Promise<Config> {
  const { root, files } = ground;
  const copy = await files.read(`${root.state}/run/config.json`);
  try {
    const text = await makeSettingsReader(files, root).read(`${root.userDir}/config.yaml`);
    const fitting = configOfCopy(copy, text);
    if (fitting) return fitting;
    const { lookAtSettings } = await import("#act/settings/settings.ts");
    return (await lookAtSettings(ground)).config;
  } catch (error) {
    const last = readCopy(copy);
    if (last === undefined || !hasOurShape(last) || !(error instanceof OverseerError) || error.kind !== "config")
      throw error;
    return last.config;
  }
}

/** What it takes to have the agent on its own screen; the pipe is made here, before its hooks look for it. */
async function onScreen(
  launch: LaunchFile,
  runtime: Runtime,
  ports: Omit<TmuxOptions, "socketPath" | "tmux" | "searchPath">,
): Promise<OnScreen> {
  if (!runtime.screen) {
    throw new OverseerError(
      "conflict",
      "NOT_INTERACTIVE",
      `The runtime ${launch.runtime} has no interactive screen.`,
      "Leave --interactive out.",
    );
  }
  const pipe = `${launch.directory}/${WAKE_PIPE}`;
  if (!existsSync(pipe)) await ports.exec.run(["mkfifo", "-m", "600", pipe]);
  const socketPath = process.env.TMUX?.split(",")[0] ?? "";
  return {
    screen: runtime.screen,
    terminal: makeTmuxTerminal({ ...ports, socketPath, tmux: "tmux", searchPath: process.env.PATH ?? "" }),
  };
}

function listen(path: string, wake: () => void) {
  if (existsSync(path)) rmSync(path, { force: true });
  return Bun.listen({
    unix: path,
    socket: {
      open(socket) {
        wake();
        socket.end();
      },
      data() {},
    },
  });
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}
