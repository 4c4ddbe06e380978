/**
 * Putting twenty agents to work, as wall-clock time from the first call until every runner has said hello, against the
 * bare git and tmux commands a person would type for the same; and what each runner then holds in memory.
 */
import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { nukeAgent } from "#control/agents.ts";
import { slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { livingAttempts } from "#store/attempts.ts";
import { gitIn } from "../support/git-in.ts";
import { UNHURRIED, worldAt } from "../support/real-world.ts";
import { type Measure, remarked, turnAbout } from "./row.ts";

const AGENTS = 20;
const OVERSEER = join(import.meta.dir, "../../bin/overseer");
const IDENTITY = {
  GIT_AUTHOR_NAME: "Bench",
  GIT_AUTHOR_EMAIL: "bench@example.invalid",
  GIT_COMMITTER_NAME: "Bench",
  GIT_COMMITTER_EMAIL: "bench@example.invalid",
};

/** A small project: a hundred files. */
function project(scratch: string, name: string): string {
  const path = join(scratch, name);
  mkdirSync(path, { recursive: true });
  Object.assign(process.env, IDENTITY);
  gitIn(path, "init", "--quiet", "--initial-branch", "main");
  for (let number = 0; number < 100; number += 1)
    appendFileSync(join(path, `file-${number}.txt`), `${number}\n`.repeat(50));
  gitIn(path, "add", "--all");
  gitIn(path, "commit", "--quiet", "--message", "First");
  return path;
}

function run(argv: string[], cwd: string): void {
  const done = Bun.spawnSync(argv, { cwd, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  if (done.exitCode !== 0) throw new Error(`${argv.join(" ")}: ${done.stderr}`);
}

async function twentyUp(world: World): Promise<number> {
  const prompt = `Wait. @@SCRIPT[{"say":"here"}]@@END`;
  const input = { prompt, capability: "builder", files: [], tags: [], interactive: false, keep: false, dryRun: false };
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: AGENTS }, (_, number) => slingAgent(world, { ...input, name: `agent-${number}` })),
  );
  return performance.now() - begun;
}

/** Resident memory of every runner, in MB, once its start has ended. */
async function resident(world: World): Promise<number[]> {
  await Bun.sleep(3_000);
  const { living } = await (await world.writer()).read({ living: livingAttempts() });
  return living.map(({ runner }) => {
    const status = readFileSync(`/proc/${runner?.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  });
}

async function allGone(world: World): Promise<void> {
  const { living } = await (await world.writer()).read({ living: livingAttempts() });
  for (const { attempt } of living) await nukeAgent(world, attempt, { reason: null, discard: false });
}

/** The same by hand: a worktree on a branch of its own, and a session in it. */
function byHand(repo: string, turn: number): number {
  const socket = join(repo, "tmux.sock");
  const begun = performance.now();
  for (let number = 0; number < AGENTS; number += 1) {
    const place = join(repo, ".hand", `${number}`);
    run(["git", "worktree", "add", "--quiet", "-b", `hand/${turn}-${number}`, place, "main"], repo);
    run(
      ["tmux", "-f", "/dev/null", "-S", socket, "new-session", "-d", "-s", `s${number}`, "-c", place, "sleep", "600"],
      repo,
    );
  }
  const took = performance.now() - begun;
  run(["tmux", "-S", socket, "kill-server"], repo);
  rmSync(join(repo, ".hand"), { recursive: true, force: true });
  run(["git", "worktree", "prune"], repo);
  return took;
}

export const twenty: Measure = async ({ quick, scratch, until, atEnd }) => {
  const repo = project(scratch, "fleet");
  run([OVERSEER, "init"], repo);
  appendFileSync(join(repo, ".overseer/config.yaml"), UNHURRIED);
  const hand = project(scratch, "hand");
  const world = await worldAt(repo);
  atEnd(async () => {
    await allGone(world);
    await (await world.writer()).close();
  });
  let held: number[] = [];
  let turn = 0;
  const measured = await turnAbout(
    { turns: quick ? 2 : 5, until },
    async () => {
      const took = await twentyUp(world);
      if (held.length === 0) held = await resident(world);
      await allGone(world);
      return took;
    },
    () => {
      turn += 1;
      return byHand(hand, turn);
    },
  );
  return remarked(measured, `the largest runner holds ${Math.max(...held).toFixed(1)} MB`);
};
