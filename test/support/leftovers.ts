/**
 * What a start that failed could leave behind: worktrees, branches, terminals, processes, claims, files. Looked at with
 * git, the process table and the store itself, not with the code that is meant to have cleaned up.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT_MARK, markOf, RUNNER_MARK } from "#act/attempt-files.ts";
import type { World } from "#control/world.ts";
import { latestAttempts, livingAttempts } from "#store/attempts.ts";
import { goalOverviews } from "#store/goals.ts";
import { gitIn } from "./temp.ts";

/** Empty when nothing is left. Each line names one thing. */
export async function leftovers(world: World): Promise<string[]> {
  const { project, state } = world.root;
  const store = await world.writer();
  const { living, attempts, goals } = await store.read({
    living: livingAttempts(),
    attempts: latestAttempts(5),
    goals: goalOverviews({ archived: false }),
  });
  const ours = attempts.map((one) => markOf(world.root, one.attempt));
  const marked = world.processes
    .list()
    .filter(({ zombie, pid }) => !zombie && pid !== process.pid)
    // Of an agent that lives only its runner stays as it is; the agent may be coming up, and tools, hooks and git come
    // and go. Of one that does not, every process is left behind.
    .filter(({ pid }) => living.length === 0 || living.some((one) => one.runner?.pid === pid))
    .flatMap(({ pid, command }) => {
      const isOurs = environmentOf(pid).some((line) =>
        ours.some((mark) => line === `${RUNNER_MARK}=${mark}` || line === `${AGENT_MARK}=${mark}`),
      );
      return isOurs ? [`process ${pid}: ${command}`] : [];
    });
  return [
    ...living.map((one) => `living ${one.agent}#${one.attempt} ${one.status} ${JSON.stringify(one.steps)}`),
    ...goals.filter((goal) => goal.inProgress > 0).map((goal) => `claimed: ${goal.goalId}`),
    ...entries(join(state, "worktrees")).map((name) => `directory ${name}`),
    ...entries(join(state, "run/attempts")).map((name) => `files of ${name}`),
    ...entries(join(project, ".git/worktrees")).map((name) => `worktree entry ${name}`),
    ...gitIn(project, "branch", "--list", "overseer/*", "--format=%(refname)").split("\n").filter(Boolean),
    ...(await (await world.terminal()).list()).map(({ name }) => `terminal ${name}`),
    ...marked,
  ];
}

function entries(path: string): string[] {
  return existsSync(path) ? readdirSync(path) : [];
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // it has ended, or is another user's
  }
}
