/**
 * Auto mode for a long while, with a fault every few tasks: agents that die, hang, lie, ask or change nothing, a daemon
 * that is killed, terminals that vanish, a checkout that is in the way, a pool that has nothing in between. Which fault
 * comes when follows from a seed. Afterwards git, the store, the process table and the report have to tell the same story.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MorningReport } from "#domain/explain/morning.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { adding, autoKeys, landedTitles, outcomes, TestPool, tell, until } from "../support/auto-pool.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { isLongLane } from "../support/scale.ts";

const [TASKS, KILLS] = isLongLane() ? [200, 8] : [20, 2];
setDefaultTimeout(TASKS * 10_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "tmux" });

const SEED = Number(process.env.OVERSEER_SOAK_SEED ?? 22);

/** The same numbers for the same seed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const KINDS = ["plain", "dies", "dies-in-commit", "hangs", "lies", "shares", "asks", "nothing"] as const;
type Kind = (typeof KINDS)[number];

function taskOf(kind: Kind, name: string): string {
  const before: Readonly<Partial<Record<Kind, Step[]>>> = {
    dies: [{ kind: "die", at: "now", signal: "SIGKILL", once: true }],
    "dies-in-commit": [{ kind: "die", at: "mid-edit", signal: "SIGKILL", once: true }],
    hangs: [{ kind: "think", ms: 300 }],
    // Every one of them changes the same line of the same file.
    shares: [{ kind: "edit", file: "shared.txt", append: `${name}\n` }],
  };
  const title = `Add ${name}`;
  if (kind === "asks") return tell(title, [{ kind: "ask", question: "Which?", options: ["this", "that"] }]);
  if (kind === "nothing") return tell(title, [{ kind: "report", status: "done", summary: "It is so already" }]);
  if (kind !== "lies") return adding(name, before[kind]);
  const honest: Step[] = [
    { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
    { kind: "commit", message: `Write ${name}` },
    { kind: "report", status: "done", summary: `${name} is there` },
  ];
  return tell(title, [
    { kind: "lie", summary: "All done" },
    { kind: "on", message: "/./", do: honest },
  ]);
}

const rssKb = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
const count = (fleet: Fleet, type: string) =>
  fleet.rows<{ n: number }>("select count(*) as n from events where type = ?1", type)[0]?.n ?? 0;
const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** Goals of which something waits for a person, with whether somebody was asked. */
function blockedGoals(fleet: Fleet): Map<string, boolean> {
  const nodes = fleet.rows<{ goal_id: string }>("select goal_id from nodes where status = 'blocked'");
  const asked = new Set(
    fleet
      .rows<{ doc: string }>("select doc from questions where status = 'open'")
      .map(({ doc }) => (JSON.parse(doc) as { goalId: string | null }).goalId),
  );
  return new Map(nodes.map(({ goal_id }) => [goal_id, asked.has(goal_id)]));
}

/** Processes that carry this repository in their environment: agents, runners, tools, pool commands and what they left. */
function processesOf(fleet: Fleet): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
        const isOurs = /(^|\0)OVERSEER_[A-Z_]+=/.test(environment) && environment.includes(fleet.state);
        return isOurs
          ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 120)}`]
          : [];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}

test(`AUTO-5 AUTO-6 AUTO-7 AUTO-12 REPORT-1 ACC-2: ${TASKS} tasks with faults: each lands once or fails openly, and nothing is left`, async () => {
  const random = chance(SEED);
  const pool = new TestPool();
  // So many deaths are planned here that a pause after each few of them is all one would see.
  const calm = "recovery: {massDeath: {count: 1000}}\n";
  const more = calm + autoKeys("maxWaiting: 1000", 4).replace("landing: {", "landing: {unionFiles: [shared.txt], ");
  const fleet = await fleetOf({ files: { "README.md": "# A repository\n", "shared.txt": "first\n" }, more });
  const kinds = new Map<string, Kind>();
  for (let at = 0; at < TASKS; at += 1) {
    const name = `t${String(at).padStart(3, "0")}`;
    const kind = KINDS[Math.floor(random() * KINDS.length)] ?? "plain";
    kinds.set(name, kind);
    pool.put(name, taskOf(kind, name));
    if (random() < 0.2) pool.put(`${name}-then.sh`, random() < 0.5 ? "exit 4" : "exit 0");
  }
  const up = () => fleet.ok("up", "--auto", "--task-pool-command", pool.command);
  await up();

  // The daemon dies in the first half; in the second one life is watched.
  const killsAt = Array.from({ length: KILLS }, (_, at) => Math.floor(((at + 1) * TASKS) / (2 * KILLS + 2)));
  const rss: number[] = [];
  let sampled = 0;
  const isOver = () => count(fleet, "pool.taken") === TASKS && isAtRest(fleet);
  let dirtyUntil = 0;
  for (const deadline = performance.now() + TASKS * 5_000; !isOver(); await Bun.sleep(20)) {
    if (performance.now() > deadline) await until(fleet, isOver, "all tasks to be over");
    const taken = count(fleet, "pool.taken");
    const [killAt] = killsAt;
    if (killAt !== undefined && taken >= killAt) {
      killsAt.shift();
      await fleet.kill(fleet.theDaemon());
      await up();
    }
    if (taken > sampled) {
      sampled = taken;
      if (taken > TASKS / 2) rss.push(rssKb(fleet.theDaemon().pid));
      const dice = random();
      if (dice < 0.1) await killSession(fleet, random());
      // Somebody has begun to edit what others land on.
      else if (dice < 0.2 && dirtyUntil === 0) {
        writeFileSync(join(fleet.repo.path, "shared.txt"), "mine\n");
        dirtyUntil = taken + 2;
      }
    }
    if (dirtyUntil > 0 && (taken >= dirtyUntil || taken === TASKS)) {
      // Somebody who lands holds git's lock for a moment; a person would try again, too.
      const undone = Bun.spawnSync(["git", "checkout", "--", "shared.txt"], { cwd: fleet.repo.path });
      if (undone.exitCode === 0) dirtyUntil = 0;
    }
  }

  // Every task is over, or waits openly.
  const titles = new Map(fleet.all("goal.created").map(({ goalId, data }) => [data.title, goalId ?? ""]));
  const ended = outcomes(fleet);
  const blocked = blockedGoals(fleet);
  const told = [...kinds].map(([name, kind]) => {
    const title = `Add ${name}`;
    const goalId = titles.get(title) ?? "";
    const state = ended[title] ?? (blocked.get(goalId) === true ? "asked" : blocked.has(goalId) ? "silent" : "lost");
    return `${name} ${kind} ${state}`;
  });
  const expected = (kind: Kind) => (kind === "asks" ? "asked" : kind === "nothing" ? "unchanged" : "landed");
  expect(told).toEqual([...kinds].map(([name, kind]) => `${name} ${kind} ${expected(kind)}`));
  const landed = [...kinds].filter(([, kind]) => expected(kind) === "landed").map(([name]) => name);
  expect(landedTitles(fleet)).toEqual(landed.map((name) => `Add ${name}`).toSorted());
  expect(count(fleet, "pool.taken")).toBe(TASKS);
  expect(count(fleet, "pool.repeated")).toBe(0);
  const shared = fleet.repo.git("show", "main:shared.txt").split("\n").slice(1).toSorted();
  expect(shared).toEqual([...kinds].filter(([, kind]) => kind === "shares").map(([name]) => name));
  expect(fleet.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");

  // The report is the store's and git's story.
  const report = JSON.parse(await fleet.ok("report", "--json", "--since", "1d")) as MorningReport;
  expect(report.landed.length).toBe(landed.length);
  expect(report.questions.asked).toBe(count(fleet, "question.asked"));
  const spent = fleet.all("agent.ended").reduce((sum, { data }) => sum + data.usage.costUsd, 0);
  expect(report.cost.costUsd).toBeCloseTo(spent, 6);
  expect(report.cost.sessions).toBe(fleet.rows("select 1 from attempts").length);

  // Nothing is left of those that are over.
  const third = Math.floor(rss.length / 3);
  const [first, last] = [median(rss.slice(0, third)), median(rss.slice(-third))];
  console.log(`daemon: ${first} KiB in the first third of one life, ${last} KiB in the last, ${rss.length} samples`);
  expect(last / first).toBeLessThan(1.5);
  await fleet.ok("down");
  await eventually(
    () => processesOf(fleet).length === 0,
    () => `the last processes to go: ${processesOf(fleet).join("\n")}`,
    5_000,
  );
  // What waits for a person continues in its worktree; that of a task without a change is removed an hour later.
  const unchanged = new Set([...titles].flatMap(([title, goalId]) => (ended[title] === "unchanged" ? [goalId] : [])));
  const kept = new Set(
    fleet
      .rows<{ doc: string }>("select doc from attempts")
      .map(({ doc }) => JSON.parse(doc) as { goalId: string; worktree: string })
      .filter(({ goalId }) => blocked.has(goalId) || unchanged.has(goalId))
      .map(({ worktree }) => worktree),
  );
  const worktrees = existsSync(`${fleet.userDir}/worktrees`) ? readdirSync(`${fleet.userDir}/worktrees`) : [];
  const orphans = worktrees.filter((name) => !name.startsWith(".")).map((name) => `${fleet.userDir}/worktrees/${name}`);
  expect(orphans.filter((path) => !kept.has(path))).toEqual([]);
});

/** Nobody is at work, nothing waits to be carried out, and every task of the pool is over or waits for a person. */
function isAtRest(fleet: Fleet): boolean {
  if (fleet.rows("select 1 from attempts where status <> 'ended'").length > 0) return false;
  if (fleet.rows("select 1 from actions where status not in ('done', 'dropped')").length > 0) return false;
  const over = count(fleet, "pool.ended");
  return over + blockedGoals(fleet).size === TASKS;
}

/** One of the terminals goes; whoever was in it continues without, or is started again. */
async function killSession(fleet: Fleet, dice: number): Promise<void> {
  const names = (await fleet.tmux("list-sessions", "-F", "#{session_name}")).trim().split("\n").filter(Boolean);
  const name = names[Math.floor(dice * names.length)];
  if (name !== undefined) await fleet.tmux("kill-session", "-t", `=${name}`);
}
