/**
 * A weekend in compressed time: guard, daemon and auto mode with a pool of tasks, while agents die, the daemon is killed and
 * held, the guard is killed and started again, and the pool has nothing for a while. Which comes when is told by a seed. In
 * the end every task has landed exactly once, memory is flat and nothing is left. Twenty tasks here, two hundred in the long lane.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { makeSeededChance } from "#sys/virtual-chance.ts";
import { bundled } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { endedGuards, type GuardedFleet } from "../support/guarded-fleet.ts";
import { writeFiles } from "../support/planned-goal.ts";
import { isLongLane } from "../support/scale.ts";

const [TASKS, FAULTS] = isLongLane() ? [200, 24] : [20, 3];
const DEADLINE_MS = isLongLane() ? 900_000 : 90_000;
setDefaultTimeout(2 * DEADLINE_MS);
beforeAll(bundled);

const guardOf = endedGuards({ terminal: "tmux" });
const COOLDOWN_MS = 500;
const KINDS = ["kill the daemon", "kill the guard", "hold the daemon", "empty the pool"] as const;

/** Gives each task once; says that there is none while somebody wants it so. */
const POOL = `test ! -e empty || exit 4
for file in queue/*; do test -e "$file" || exit 4; mv "$file" given/ && cat "given/$(basename "$file")"; exit 0; done
`;
const CONFIG = `
auto: {taskPoolCommand: sh pool.sh, every: 200ms, concurrency: 4}
landing: {mode: auto}
recovery: {backoff: {base: 100ms, max: 200ms}}
`;

test(`GUARD-5, FAIL-17, FENCE-1: ${TASKS} tasks with faults in agents, daemon, guard and pool land exactly once, memory stays flat, and nothing is left`, async () => {
  const guarded = await guardOf({ more: CONFIG, guard: { cooldown: `${COOLDOWN_MS}ms`, heartbeatTimeout: "1500ms" } });
  const { fleet } = guarded;
  const seed = Number(process.env.OVERSEER_TEST_SEED ?? 7);
  const chance = makeSeededChance(seed);
  const at = (name: string) => join(fleet.repo.path, ".git", "soak", name);
  for (const name of ["queue", "given"]) mkdirSync(at(name), { recursive: true });
  for (let task = 1; task <= TASKS; task += 1) {
    const dies: Step[] = chance.next() < 0.15 ? [{ kind: "die", at: "now", signal: "SIGKILL", once: true }] : [];
    const script = renderScript([...dies, ...writeFiles({ [`T${task}.txt`]: `${task}\n` })]);
    writeFileSync(at(`queue/${String(task).padStart(4, "0")}`), `Write T${task}. ${script}`);
  }
  writeFileSync(join(fleet.repo.path, "pool.sh"), `cd .git/soak\n${POOL}`);

  let guard = await guarded.watching("--auto");
  const before = memoryOf(guard.pid, fleet.theDaemon().pid);
  const landed = () => fleet.all("landing.landed").length;
  const soFar = (count: number) =>
    eventually(
      () => landed() >= count,
      () => `${count} landings of ${landed()}; seed ${seed}\n${guarded.said()}\n${tell(guarded)}`,
      DEADLINE_MS,
    );
  for (let fault = 0; fault < FAULTS; fault += 1) {
    await soFar(Math.floor((TASKS * fault) / FAULTS));
    const daemon = await guarded.running();
    await guarded.until(
      () => Date.now() - daemon.since > 2 * COOLDOWN_MS && guarded.file()?.memory.vanished === 0,
      "health",
    );
    const kind = KINDS[isLongLane() ? Math.floor(chance.next() * KINDS.length) : fault];
    if (kind === "empty the pool") {
      writeFileSync(at("empty"), "");
      await guarded.ticks(1);
      rmSync(at("empty"));
    } else if (kind === "kill the guard") {
      guard.kill("SIGKILL");
      await guard.exited;
      guard = await guarded.watching("--auto");
    } else {
      if (kind === "kill the daemon") await fleet.kill(daemon);
      else await fleet.hang(daemon);
      await guarded.running(daemon.pid);
    }
  }
  await soFar(TASKS);
  await guarded.until(() => {
    const living = fleet.rows("select 1 from attempts where status <> 'ended'");
    return living.length === 0 && worktrees(guarded).length === 0;
  }, "the last agent and the last worktree to go");

  const perGoal = Object.values(Object.groupBy(fleet.all("landing.landed"), ({ goalId }) => goalId ?? ""));
  expect(perGoal.map((all) => all?.length ?? 0).filter((count) => count !== 1)).toEqual([]);
  expect([perGoal.length, readdirSync(at("queue")).length]).toEqual([TASKS, 0]);
  const files = fleet.repo.git("ls-tree", "--name-only", "main").split("\n");
  expect(files.filter((name) => /^T\d+\.txt$/.test(name))).toHaveLength(TASKS);
  expect(fleet.all("question.asked")).toEqual([]);

  const after = memoryOf(guard.pid, (await guarded.running()).pid);
  console.log(`soak: ${TASKS} tasks, seed ${seed}, kB at first and at last: ${JSON.stringify({ before, after })}`);
  // A program that has done nothing yet has not loaded everything: flat is what does not grow with the tasks.
  expect(after.guard).toBeLessThan(before.guard + 20_000);
  expect(after.daemon).toBeLessThan(before.daemon + 120_000);

  expect(await guarded.stopBy("SIGINT")).toBe(0);
  const left = {
    daemon: fleet.daemon(),
    worktrees: worktrees(guarded),
    sessions: (await fleet.tmux("list-sessions", "-F", "#{session_name}")).trim(),
    processes: fleet
      .rows<{ attempt: number }>("select attempt from attempts")
      .flatMap((row) => fleet.marked(row.attempt)),
  };
  expect(left).toEqual({ daemon: undefined, worktrees: [], sessions: "", processes: [] });
});

function worktrees({ fleet }: GuardedFleet): string[] {
  const path = join(fleet.userDir, "worktrees");
  return existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith(".")) : [];
}

const memoryOf = (guard: number, daemon: number) => ({ guard: rssOf(guard), daemon: rssOf(daemon) });

function rssOf(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, "utf8")
    .split("\n")
    .find((one) => one.startsWith("VmRSS"));
  return Number(/\d+/.exec(line ?? "")?.[0] ?? 0);
}

function tell({ fleet }: GuardedFleet): string {
  const asked = fleet.all("question.asked").map(({ data }) => data.text);
  return JSON.stringify({ asked, nodes: fleet.rows("select status, count(*) from nodes group by status") });
}
