/**
 * `doctor` on what lies about: agents whose runner died, terminals of attempts that have ended, worktrees nobody has an
 * attempt for, git's lock files that outlived their git, and the registration of a daemon that was killed. With --fix it
 * is cleared; work is never lost by it: a worktree goes only after what it holds has a recovery ref.
 */

import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { checkTenants, endStrays, findStrays, tenantsOf } from "#act/attempt-end/strays.ts";
import { removalLimits } from "#act/attempt-files.ts";
import { isMoveLeft, settleLeftMove } from "#act/landing/lock.ts";
import { landingBranch } from "#act/landing/target-branch.ts";
import { lookAtSerena, repairSerena } from "#act/serena.ts";
import { gitAtWorkIn } from "#act/sling/git-at-work.ts";
import { resolveConfigured } from "#config/places.ts";
import { defaultConfig } from "#config/schema.ts";
import { awayFromHome, readSafeMode } from "#control/status.ts";
import type { World } from "#control/world.ts";
import { type Stray, strayLine } from "#domain/agents/stray.ts";
import { type Finding, isStaleLock, judgeLeftovers } from "#domain/health/checkup.ts";
import { parseRegistration, type Registration } from "#domain/health/daemon-life.ts";
import { judgeSerena } from "#domain/health/serena.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";
import { listWorktrees } from "#git/repository.ts";
import type { WorktreeEntry } from "#git/worktree-list.ts";
import { removeWorktree } from "#git/worktree-removal.ts";
import { latestAttempts, livingAttempts } from "#store/attempts.ts";
import { inspectStore } from "#store/open.ts";
import { runFiles } from "#sys/run-files.ts";
import type { TerminalFacts } from "#terminals/terminal.ts";
import { livingNumbers } from "./attempts-seen.ts";
import { configOf } from "./doctor-machine.ts";
import { databasePath } from "./store-rescue.ts";

const FIX = "Run 'overseer doctor --fix'";

const HALF_WAY: Finding = {
  check: "landings",
  ok: false,
  detail: "one was interrupted while moving a checkout: some files are new, some old, and our lock may be on its index",
  next: `${FIX}, or land anything: what is certainly the landing's own is undone, what you wrote since stays.`,
};

export async function leftoverFindings(world: World): Promise<Finding[]> {
  // Where it is away from home, what it knows are the places and the agents of another one, or of before.
  const known = (await isTrusted(world)) && (await awayFromHome(world)) === null;
  return [
    ...(known ? [await deadAgents(world)] : []),
    ...(known ? [await strayFinding(world)] : []),
    ...(known ? [await sessionFinding(world), await worktreeFinding(world), await judgeKeptWorktrees(world)] : []),
    judgeLeftovers("git locks", await staleLocks(world), {
      fine: "none is stale",
      next: `${FIX}: lock files that are older than repo.staleLockAfter are removed while no git runs here.`,
    }),
    ...((await isMoveLeft(world)) ? [HALF_WAY] : []),
    await daemonFinding(world),
  ];
}

/** Whether the store says who is whose: what one in doubt does not know may belong to agents at work. */
async function isTrusted(world: World): Promise<boolean> {
  const { state } = await inspectStore(databasePath(world));
  return state === "ready" && (await readSafeMode(world)) === null;
}

/** Attempts whose owner is gone: nobody works on their tasks, and nobody has said so. */
async function deadAgents(world: World): Promise<Finding> {
  const { living } = await (await world.reader()).read({ living: livingAttempts() });
  const dead = living.filter(({ runner, slinger }) => !world.processes.alive(runner ?? slinger));
  if (dead.length === 0) return { check: "agents", ok: true, detail: `${living.length} at work, none of them dead` };
  return {
    check: "agents",
    ok: false,
    detail: `dead and not cleaned up: ${dead.map(attemptLabel).join(", ")}`,
    next: `${FIX}: their work is kept and their tasks are queued again.`,
  };
}

async function sessionFinding(world: World): Promise<Finding> {
  const names = (await deadSessions(world)).map(({ name }) => name);
  return judgeLeftovers("sessions", names, {
    fine: "none without an agent",
    next: `${FIX}: terminals whose attempt has ended are closed.`,
  });
}

/** Terminals of attempts that have ended. None where the terminal itself is in trouble: that is told elsewhere. */
async function deadSessions(world: World): Promise<TerminalFacts[]> {
  try {
    const open = await (await world.terminal()).list();
    const { living } = await (await world.reader()).read({ living: livingAttempts() });
    const names = new Set(living.map(({ attempt }) => `ov-${attempt}`));
    return open.filter(({ name }) => !names.has(name));
  } catch (error) {
    if (error instanceof OverseerError) return [];
    throw error;
  }
}

async function worktreeFinding(world: World): Promise<Finding> {
  const paths = (await orphanWorktrees(world)).map(({ path }) => path);
  return judgeLeftovers("worktrees", paths, {
    fine: "each has its attempt",
    next: `${FIX}: what they hold gets a recovery ref, then they are removed.`,
  });
}

/** Processes that agents or checks left with a bare environment; others that stand there are named and left alone. */
async function strayFinding(world: World): Promise<Finding> {
  const strays = await straysHere(world);
  const ending = strays.filter(({ ends }) => ends);
  const others = strays.filter(({ ends }) => !ends).slice(0, MOST_NAMED);
  const also = others.length === 0 ? "" : `not ours to end: ${others.map(strayLine).join("; ")}`;
  if (ending.length === 0) {
    return { check: "processes", ok: true, detail: also === "" ? "none left in a worktree" : also };
  }
  const lines = [...ending.slice(0, MOST_NAMED).map(strayLine), ...(also === "" ? [] : [also])];
  return {
    check: "processes",
    ok: false,
    detail: lines.join("; "),
    next: `${FIX}: those whose agent has ended are ended.`,
  };
}

const MOST_NAMED = 10;

async function straysHere(world: World): Promise<Stray[]> {
  if (!(await configOf(world))) return [];
  const store = await world.reader();
  const { attempts, living } = await store.read({ attempts: latestAttempts(MOST_ATTEMPTS), living: livingAttempts() });
  // One whose runner died has ended, whether somebody has said so or not.
  const dead = living.filter(({ runner }) => runner && !world.processes.alive(runner)).map(({ attempt }) => attempt);
  const tenants = new Map([...tenantsOf(attempts, dead), ...(await checkTenants(world))]);
  return findStrays(
    world,
    tenants,
    living.filter(({ attempt }) => !dead.includes(attempt)),
  );
}

/** Worktrees that were to go when their work had ended and stayed, because they hold what no ref can keep. */
async function judgeKeptWorktrees(world: World): Promise<Finding> {
  const { attempts } = await (await world.reader()).read({ attempts: latestAttempts(MOST_ATTEMPTS) });
  const there: string[] = [];
  for (const attempt of attempts) {
    if (attempt.worktreeKept === undefined || (await world.files.facts(attempt.worktree)) === undefined) continue;
    there.push(`${attemptLabel(attempt)}: ${attempt.worktreeKept}`);
  }
  return judgeLeftovers("kept worktrees", there, {
    fine: "all can be kept by a ref",
    next: "Copy what you need, then 'overseer worktree clean <agent> --discard'; names in worktree.rebuildable are removed automatically.",
  });
}

const MOST_ATTEMPTS = 100_000;

/** Below our directory, known to git, and of no attempt. What the checks keep there is theirs. */
async function orphanWorktrees(world: World): Promise<WorktreeEntry[]> {
  const config = await configOf(world);
  if (!config) return [];
  try {
    const place = resolveConfigured(world.root, config.worktree.dir).path;
    const { attempts } = await (await world.reader()).read({ attempts: latestAttempts(MOST_ATTEMPTS) });
    const known = new Set(attempts.map(({ worktree }) => worktree));
    const all = await listWorktrees(world.git.git, world.root.gitCommonDir);
    const ours = all.filter(({ path }) => path.startsWith(`${place}/`) && !path.startsWith(`${place}/.`));
    const orphans = ours.filter(({ path, locked }) => !known.has(path) && locked === undefined);
    const atWork = orphans.length === 0 ? new Set() : new Set(livingNumbers(world));
    return orphans.filter(({ path }) => !atWork.has(Number(/-(\d+)$/.exec(path)?.[1] ?? 0)));
  } catch (error) {
    // A git that does not answer is a finding of its own.
    if (error instanceof OverseerError) return [];
    throw error;
  }
}

const LOCKS = ["*.lock", "refs/**/*.lock", "worktrees/*/*.lock"];

async function staleLocks(world: World): Promise<string[]> {
  const { gitCommonDir } = world.root;
  const now = world.clock.now();
  const { staleLockAfter } = ((await configOf(world)) ?? defaultConfig()).repo;
  const found: string[] = [];
  for (const pattern of LOCKS) {
    for await (const name of new Bun.Glob(pattern).scan({ cwd: gitCommonDir, onlyFiles: true })) {
      const facts = await world.files.facts(`${gitCommonDir}/${name}`);
      if (facts && isStaleLock(facts, staleLockAfter, now)) found.push(`${gitCommonDir}/${name}`);
    }
  }
  return found;
}

async function daemonFinding(world: World): Promise<Finding> {
  const dead = await deadDaemon(world);
  if (!dead) return { check: "daemon", ok: true, detail: "none was killed" };
  return {
    check: "daemon",
    ok: false,
    detail: `the daemon (pid ${dead.pid}) was killed`,
    next: `'overseer up' starts it again. ${FIX} to forget it.`,
  };
}

async function deadDaemon(world: World): Promise<Registration | undefined> {
  const { log, registration: path } = runFiles(world.root.state);
  const registration = parseRegistration(await world.files.read(path), log);
  return registration && !world.processes.alive(registration) ? registration : undefined;
}

/** SERENA-2: nothing is said of it where it is off. */
export async function serenaFindings(world: World): Promise<readonly Finding[]> {
  const config = await configOf(world);
  if (!config?.serena.enabled || !(await isTrusted(world))) return [];
  const { living } = await (await world.reader()).read({ living: livingAttempts() });
  return judgeSerena(await lookAtSerena(world, living));
}

/** Clears all of it and says what was done. Whoever calls holds the lock of the daemon. */
export async function clearLeftovers(world: World): Promise<string[]> {
  const trusted = await isTrusted(world);
  const done = trusted ? await trySettleLeftovers(world) : [];
  if (trusted) {
    for (const { name, handle } of await deadSessions(world)) {
      if (!handle) continue;
      await (await world.terminal()).kill(handle);
      done.push(`closed the terminal ${name}, whose attempt had ended`);
    }
    const strays = (await straysHere(world)).filter(({ ends }) => ends);
    const left = new Set((await endStrays(world, strays)).map(({ pid }) => pid));
    for (const one of strays) done.push(`${left.has(one.pid) ? "could not end" : "ended"} ${strayLine(one)}`);
    for (const orphan of await orphanWorktrees(world)) done.push(await removeOrphan(world, orphan));
    done.push(...(await repairSerena(world)));
  }
  done.push(...(await removeStaleLocks(world)));
  if (await settleLeftMove(world)) done.push("repaired a checkout that an interrupted landing had been moving");
  const daemon = await deadDaemon(world);
  if (daemon) {
    const { registration, heartbeat } = runFiles(world.root.state);
    for (const path of [registration, heartbeat]) await world.files.remove(path);
    done.push(`forgot the daemon with pid ${daemon.pid}, which was killed`);
  }
  return done;
}

/** Needs a configuration that can be used; without one the rest is fixed all the same. */
async function trySettleLeftovers(world: World): Promise<string[]> {
  try {
    return await settleLeftovers(world);
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") return [];
    throw error;
  }
}

async function removeOrphan(world: World, { path, branch }: WorktreeEntry): Promise<string> {
  try {
    const { recovery } = await removeWorktree(world.git, {
      path,
      branch: branch?.replace(/^refs\/heads\//, "") ?? "",
      expectedCommonDir: world.root.gitCommonDir,
      target: await landingBranch(world),
      isLeased: () => false,
      force: true,
      ...removalLimits(await world.config()),
    });
    return `removed the worktree ${path}${recovery.length > 0 ? `; what it held is in ${recovery.join(", ")}` : ""}`;
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    if (error.code === "WORKTREE_HOLDS_MORE") {
      return `the worktree stays: ${error.message} Copy what you need out of it, then: git worktree remove --force '${path}'`;
    }
    return `the worktree ${path} stays: ${error.message} ${error.hint}`;
  }
}

async function removeStaleLocks(world: World): Promise<string[]> {
  const locks = await staleLocks(world);
  if (locks.length === 0) return [];
  const { project, gitCommonDir } = world.root;
  const pid = await gitAtWorkIn(world, [project, gitCommonDir]);
  if (pid !== undefined) return [`git's lock files stay while a git runs here (pid ${pid}): ${locks.join(", ")}`];
  for (const path of locks) await world.files.remove(path);
  return locks.map((path) => `removed the stale lock ${path}`);
}
