/**
 * `doctor` on the machine: whether git, tmux and the agent CLIs do what they are needed for, tried out in a scratch
 * place of its own, and whether disk and clock can be relied on. Nothing is spent, and nothing of the person's is touched:
 * the scratch repository, the tmux server and its socket are made for the occasion and removed after it.
 */

import { filterEnvironment } from "#act/attempt-files.ts";
import type { Settings } from "#act/settings/settings.ts";
import { makeSettingsReader } from "#act/settings/settings-reader.ts";
import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import type { Config } from "#config/schema.ts";
import { notReady } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { type Finding, judgeClock, judgeDisk, judgeTried, type Tried } from "#domain/health/checkup.ts";
import { judgeEnvironment } from "#domain/health/environment.ts";
import { OverseerError } from "#errors.ts";
import { listWorktrees } from "#git/repository.ts";
import type { Runtime } from "#runtimes/runtime.ts";
import { eventsMatching } from "#store/events.ts";
import { inspectStore } from "#store/open.ts";
import { terminalName } from "#terminals/terminal-name.ts";
import { makeTmuxTerminal } from "#terminals/tmux.ts";
import { databasePath } from "./store-rescue.ts";

/** How long one question to a program may take. */
export const ANSWER_MS = 10_000;

/** What was tried, up to and including the first thing that failed. Only failures that are understood count as such. */
export async function trySteps(
  steps: readonly (readonly [what: string, work: () => Promise<void>])[],
): Promise<Tried[]> {
  const outcomes: Tried[] = [];
  for (const [what, work] of steps) {
    try {
      await work();
      outcomes.push({ what, problem: null });
    } catch (error) {
      if (!(error instanceof OverseerError)) throw error;
      return [...outcomes, { what, problem: error.message, next: error.hint }];
    }
  }
  return outcomes;
}

export async function gitFinding(world: World, scratch: string): Promise<Finding> {
  const { git } = world.git;
  const repository = `${scratch}/repository`;
  const identity = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "Overseer"],
      [`GIT_${who}_EMAIL`, "overseer@localhost"],
    ]),
  );
  const there = { cwd: repository, env: identity, timeoutMs: ANSWER_MS };
  let version = "";
  const outcomes = await trySteps([
    [
      "it is asked for its version",
      async () => {
        await git.run(["version"], { cwd: scratch, timeoutMs: ANSWER_MS });
        const facts = await git.probe();
        version = `${facts.version.major}.${facts.version.minor}.${facts.version.patch}`;
      },
    ],
    [
      "it makes a repository, a commit and a worktree",
      async () => {
        await world.files.makeDir(repository);
        await git.run(["init", "--quiet", "--template="], there);
        await git.run(["commit", "--quiet", "--allow-empty", "--message", "Tried out by doctor"], there);
        await git.run(["worktree", "add", "--quiet", "--detach", `${scratch}/worktree`], there);
      },
    ],
    ["it reads this repository", async () => void (await listWorktrees(git, world.root.gitCommonDir))],
  ]);
  const fine = `${version}: commits, makes worktrees and reads this repository`;
  return judgeTried("git", outcomes, fine, "Install git 2.38 or newer.");
}

export async function tmuxFinding(world: World, scratch: string): Promise<Finding> {
  if ((await configOf(world))?.terminal === "detached") {
    return { check: "tmux", ok: true, detail: "not needed: 'terminal: detached' is set" };
  }
  const { exec, processes, files, clock } = world;
  const socketPath = `${scratch}/tmux`;
  const searchPath = world.env.PATH ?? "";
  const terminal = makeTmuxTerminal({ exec, processes, files, clock, socketPath, tmux: "tmux", searchPath });
  const name = terminalName("ov-doctor");
  const outcomes = await trySteps([
    [
      "it is asked for its version",
      async () => {
        const found = await terminal.available();
        if (!found.ok) throw new OverseerError("environment", "TMUX_MISSING", found.reason, found.hint);
      },
    ],
    [
      "a session is opened and closed",
      async () => {
        const env = { PATH: searchPath };
        const handle = await terminal.open({ name, cwd: scratch, argv: ["/bin/sh", "-c", "exec sleep 60"], env });
        try {
          const open = await terminal.list();
          if (!open.some((one) => one.name === name)) throw notSo("The session that was opened is not listed.");
        } finally {
          await terminal.kill(handle);
        }
        if ((await terminal.list()).length > 0) throw notSo("The session that was closed is still listed.");
      },
    ],
  ]);
  const next = "Install tmux, or set 'terminal: detached' in .overseer/config.yaml.";
  return judgeTried("tmux", outcomes, "a session opens and closes", next);
}

function notSo(message: string): OverseerError {
  return new OverseerError("environment", "TMUX_FAILED", message, "Update tmux, or set 'terminal: detached'.");
}

/** Each agent CLI that is configured, once: is it there, does it answer, is it logged in? */
export async function runtimeFindings(world: World): Promise<Finding[]> {
  const config = await configOf(world);
  if (!config) return [];
  // An agent CLI is asked by starting the program that the configuration names: not before it was confirmed.
  if ((await settingsOf(world))?.hold) return [];
  const wanted = await listWantedRuntimes(world, config);
  return Promise.all([...wanted].map(([name, modes]) => runtimeFinding(world, config, name, modes)));
}

/** What is set here and does not reach the agents. */
export async function environmentFinding(world: World): Promise<Finding> {
  const config = await configOf(world);
  const runtimes: Runtime[] = [];
  // What a CLI knows is said without starting it.
  for (const name of config ? (await listWantedRuntimes(world, config)).keys() : []) {
    const runtime = await whereItCanBeRead(() => world.runtime(name));
    if (runtime) runtimes.push(runtime);
  }
  return judgeEnvironment({
    set: Object.keys(world.env),
    passed: Object.keys(filterEnvironment(world.env, config?.agents.passEnv ?? [])),
    isOfCli: (name) => runtimes.some((runtime) => runtime.knowsVariable?.(name) === true),
  });
}

/** The configured runtime and those of roles, each with the permission modes it would be started in. */
export async function listWantedRuntimes(world: World, config: Config): Promise<Map<string, Set<string>>> {
  const wanted = new Map([[config.runtime, new Set([config.defaults.permissionMode as string])]]);
  try {
    const { byCapability } = await loadRoles(
      makeSettingsReader(world.files, world.root),
      roleSources(world.root, config),
    );
    for (const { runtime, permissionMode } of byCapability.values()) {
      const name = runtime ?? config.runtime;
      wanted.set(name, (wanted.get(name) ?? new Set()).add(permissionMode));
    }
  } catch (error) {
    // Roles that cannot be read are a finding of their own.
    if (!(error instanceof OverseerError)) throw error;
  }
  return wanted;
}

/** The mode that is refused most often decides. */
const STRICTEST = "bypassPermissions";

async function runtimeFinding(
  world: World,
  config: Config,
  name: string,
  modes: ReadonlySet<string>,
): Promise<Finding> {
  let answer = "";
  const outcomes = await trySteps([
    [
      "it is asked for its version and its login",
      async () => {
        const runtime = await world.runtime(name);
        const ready = await runtime.probe({
          permissionMode: modes.has(STRICTEST) ? STRICTEST : ([...modes][0] ?? "default"),
          interactive: false,
          project: world.root.project,
          env: filterEnvironment(world.env, config.agents.passEnv),
          timeoutMs: ANSWER_MS,
        });
        if (!ready.ready) throw notReady(ready);
        answer = `${ready.program}, version ${ready.version}, answers; nothing was spent`;
      },
    ],
  ]);
  const next = "Choose another runtime in .overseer/config.yaml, or fix this one.";
  return judgeTried(`runtime ${name}`, outcomes, answer, next);
}

export async function diskFinding(world: World): Promise<Finding> {
  const { minDisk = 0, minDiskPercent = 0 } = (await configOf(world))?.capacity ?? {};
  const { freeDiskBytes, totalDiskBytes } = await world.room();
  return judgeDisk({
    freeBytes: freeDiskBytes,
    totalBytes: totalDiskBytes,
    minBytes: minDisk,
    minPercent: minDiskPercent,
  });
}

/** Both clocks at one moment. */
export function clocksOf({ clock }: Pick<World, "clock">): { readonly wall: number; readonly boot: number } {
  return { wall: clock.now(), boot: clock.monotonic() };
}

/** To be asked last: how the two clocks moved meanwhile is a part of it. */
export async function clockFinding(world: World, before: ReturnType<typeof clocksOf>): Promise<Finding> {
  const { wall, boot } = clocksOf(world);
  const newest = await newestEventAt(world);
  return judgeClock({ now: wall, newest, wallMs: wall - before.wall, bootMs: boot - before.boot });
}

async function newestEventAt(world: World): Promise<number | null> {
  if ((await inspectStore(databasePath(world))).state !== "ready") return null;
  const { last } = await (await world.reader()).read({ last: eventsMatching({ newest: true, limit: 1 }) });
  return last[0]?.at ?? null;
}

/** Undefined where it cannot be used; that is a finding of its own. */
export async function configOf(world: World): Promise<Config | undefined> {
  return whereItCanBeRead(() => world.config());
}

export async function settingsOf(world: World): Promise<Settings | undefined> {
  return whereItCanBeRead(() => world.settings());
}

async function whereItCanBeRead<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof OverseerError) return undefined;
    throw error;
  }
}
