/** Looks for what attempts have left: on disk, in git, among the processes and in every copy of the log. */
import { AGENT_MARK, RUNNER_MARK } from "#act/attempt-files.ts";
import { resolveConfigured } from "#config/places.ts";
import type { Config } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import { highestAttempt } from "#domain/agents/attempts-seen.ts";
import { OverseerError } from "#errors.ts";
import { listRefs } from "#git/refs.ts";
import { highWater } from "#store/sqlite/log-copy.ts";

/** The highest number any attempt of this repository ever had, as far as anything tells. */
export async function attemptsSeen(world: World, known: readonly number[], backupDir: string): Promise<number> {
  const { state, gitCommonDir } = world.root;
  const config = await configIfUsable(world);
  const directory = config && resolveConfigured(world.root, config.worktree.dir).path;
  const branches = await listRefs(
    world.git.git,
    gitCommonDir,
    `refs/heads/${config?.agents.branchPrefix ?? "overseer/"}`,
  );
  const agents = (await world.files.list(`${state}/logs`)) ?? [];
  const logs = await Promise.all(agents.map((agent) => world.files.list(`${state}/logs/${agent}`)));
  return highestAttempt({
    numbers: [
      ...known,
      highWater(backupDir)?.attempt ?? 0,
      ...((await world.files.list(`${state}/run/attempts`)) ?? []).map(Number),
      ...livingNumbers(world),
    ],
    names: [...((directory && (await world.files.list(directory))) || []), ...logs.flatMap((names) => names ?? [])],
    branches: branches.map(({ ref }) => ref),
  });
}

/** Numbers that processes of this repository carry, of runners and of agents alike. */
export function livingNumbers({ processes, root }: World): number[] {
  return processes.list().flatMap(({ pid }) => {
    const attempt = attemptOfProcess(processes, root.state, pid);
    return attempt === undefined ? [] : [attempt];
  });
}

/** The attempt of this repository that a process belongs to; undefined when it is nobody of ours. */
export function attemptOfProcess(processes: World["processes"], state: string, pid: number): number | undefined {
  for (const name of [RUNNER_MARK, AGENT_MARK]) {
    const [, number, place] = /^(\d+)@(.*)$/s.exec(processes.variable(pid, name) ?? "") ?? [];
    if (number !== undefined && place?.startsWith(state)) return Number(number);
  }
  return undefined;
}

/** A recovery must not fail over a configuration that cannot be used. */
async function configIfUsable(world: World): Promise<Config | undefined> {
  try {
    return await world.config();
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") return undefined;
    throw error;
  }
}
