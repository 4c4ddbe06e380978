/**
 * Many tasks in a row, with a real daemon, real git and scripted agents: what each leaves behind is looked at after a
 * first part and after the last. Twenty in an ordinary run, three hundred in the long lane.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { isLongLane } from "../support/scale.ts";

const [FIRST, ALL] = isLongLane() ? [50, 300] : [10, 20];
const DEADLINE_MS = ALL * 15_000;
setDefaultTimeout(2 * DEADLINE_MS);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

/** Leaves a file that it never commits, which has to be kept for a while. */
const steps = (id: string): Step[] => [
  { kind: "edit", file: `${id}.txt`, content: `${id}\n` },
  { kind: "commit", message: `Add ${id}` },
  { kind: "edit", file: `scratch-${id}.md`, content: "notes\n" },
  { kind: "report", status: "done", summary: `${id} is there` },
];

async function land(fleet: Fleet, from: number, to: number): Promise<void> {
  const node = { acceptance: ["it is there"] };
  const tasks = Array.from({ length: to - from }, (_, at) => `T${from + at + 1}`).map((id) => ({
    ...{ ...node, id, name: id, objective: `Do ${id}. ${renderScript(steps(id))}` },
  }));
  const path = join(fleet.repo.path, "..", `plan-${to}.json`);
  const phase = { ...node, id: "P1", name: "P1", objective: "All of it", tasks };
  writeFileSync(path, JSON.stringify({ planVersion: 1, phases: [phase] }));
  await fleet.ok("goal", "create", "--title", `Up to ${to}`, "--plan", path);
  await eventually(
    () => fleet.rows("select 1 from events where type = 'landing.landed'").length === to,
    () => `${to} landings; ${fleet.rows("select 1 from events where type = 'landing.landed'").length} so far`,
    DEADLINE_MS,
  );
  await eventually(
    () => fleet.rows("select 1 from attempts where status <> 'ended'").length === 0 && worktrees(fleet).length === 0,
    () => `the last agent and worktree to go: ${worktrees(fleet).join(", ")}`,
  );
}

const worktrees = (fleet: Fleet) => listed(`${fleet.userDir}/worktrees`).filter((name) => !name.startsWith("."));
const listed = (path: string) => (existsSync(path) ? readdirSync(path) : []);

interface Seen {
  readonly logFiles: number;
  readonly rssKb: number;
  readonly openFiles: number;
  readonly refs: number;
  readonly attemptDirs: number;
  readonly events: number;
  readonly databaseBytes: number;
  readonly rows: Readonly<Record<string, number>>;
}

/** What is there when the daemon has come to rest: its memory is given back a while after the last work. */
async function look(fleet: Fleet, most: { readonly kb?: number; readonly files?: number } = {}): Promise<Seen> {
  const { pid } = fleet.theDaemon();
  const { kb: mostKb = Number.POSITIVE_INFINITY, files: mostFiles = Number.POSITIVE_INFINITY } = most;
  const rssKb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  let [least, same] = [rssKb(), 0];
  await eventually(
    () => {
      const now = rssKb();
      same = now < least ? 0 : same + 1;
      least = Math.min(least, now);
      return least <= mostKb && same >= (isLongLane() ? 400 : 10);
    },
    () => `the daemon's memory to come to rest at ${mostKb} KiB; ${least} is its least`,
  );
  // While it still tidies up it has pipes to the gits it runs.
  const countFiles = () => readdirSync(`/proc/${pid}/fd`).length;
  const openFiles = await eventually(
    () => [countFiles()].find((files) => files <= mostFiles),
    () => `the daemon to have at most ${mostFiles} files open; it has ${countFiles()}`,
  );
  const tables = fleet.rows<{ name: string }>("select name from sqlite_master where type = 'table'");
  const count = (name: string) => fleet.rows<{ n: number }>(`select count(*) as n from "${name}"`)[0]?.n ?? 0;
  const rows = Object.fromEntries(tables.map(({ name }) => [name, count(name)]));
  return {
    rssKb: least,
    logFiles: readdirSync(`${fleet.state}/logs`, { recursive: true }).length,
    openFiles,
    refs: fleet.repo.git("for-each-ref", "--format=%(refname)").split("\n").filter(Boolean).length,
    attemptDirs: listed(`${fleet.state}/run/attempts`).length,
    events: rows.events ?? 0,
    databaseBytes: statSync(`${fleet.state}/overseer.db`).size,
    rows,
  };
}

test(`WT-2 STORE-6: after ${ALL} tasks in a row nothing is left but their commits and the log`, async () => {
  // The daemon's own compiler is plain; a command of the user's is not to have that.
  const check = `checks: {plain: {command: 'test -z "$BUN_JSC_useDFGJIT"', on: [done], timeout: 30s}}\n`;
  const more = `landing: {mode: auto}\nwip: {keepAfterLanding: 0s}\n${check}`;
  const fleet = await fleetOf({ maxConcurrent: 4, more });
  await fleet.ok("up");
  await land(fleet, 0, FIRST);
  const early = await look(fleet);
  await land(fleet, FIRST, ALL);
  // In few tasks a runtime still grows into its own size; that says nothing about what each task leaves.
  const late = await look(fleet, { ...(isLongLane() ? { kb: 1.1 * early.rssKb } : {}), files: 1.1 * early.openFiles });

  const attempts = fleet.rows<{ attempt: number }>("select attempt from attempts");
  expect(attempts.flatMap(({ attempt }) => fleet.marked(attempt))).toEqual([]);
  // Checks keep some of their own, as many as run at once; no agent's is left, in the directory or in git's list.
  const known = fleet.repo.git("worktree", "list", "--porcelain").match(/^worktree .*$/gm) ?? [];
  expect(known.filter((line) => /\/builder-[^/]*$/.test(line))).toEqual([]);
  expect(known.length).toBeLessThanOrEqual(10);
  expect(late.attemptDirs).toBe(0);
  // Those that land together wait for one another; none is refused, written down as failed and tried again by the clock.
  const again = fleet.rows("select data from events where type = 'action.failed' and data like '%\"land:%'");
  expect(again).toEqual([]);
  expect(late.refs).toBeLessThanOrEqual(early.refs);
  expect(late.openFiles).toBeLessThanOrEqual(1.1 * early.openFiles);
  // Logs go by age and size; until then each task has the same few.
  expect(late.logFiles / ALL).toBeLessThanOrEqual((1.1 * early.logFiles) / FIRST);
  expect(late.databaseBytes / late.events).toBeLessThanOrEqual((1.1 * early.databaseBytes) / early.events);
  for (const [table, rows] of Object.entries(late.rows)) {
    expect([table, rows / ALL <= Math.max(1, (1.1 * (early.rows[table] ?? 0)) / FIRST)]).toEqual([table, true]);
  }
});
