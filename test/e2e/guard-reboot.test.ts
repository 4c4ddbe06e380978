/**
 * A reboot, as the fleet meets it: daemon, guard, runners, tmux and agents are gone in the same moment, and later the service
 * manager runs what the unit says. Everything comes back, nothing is lost, nothing is done twice. The unit is the one that
 * `overseer service install` writes; the test does what systemd does with it.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseGuardFile } from "#domain/guard/guard-file.ts";
import { parseIntent } from "#domain/health/daemon-life.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { readNow } from "#sys/read-now.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { planGoal, waitFor, writeFiles } from "../support/planned-goal.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(90_000);
beforeAll(bundled);

const QUICK = `
landing: {mode: auto}
guard: {checkEvery: 200ms}
reconcile: {tickEvery: 500ms, minimumAge: 100ms}
recovery: {backoff: {base: 100ms, max: 500ms}}
checks:
  there: {command: "test -e README.md", on: [done, land], timeout: 30s}
`;

const fleets: Fleet[] = [];
const started: ProcessIdentity[] = [];
afterEach(async () => {
  for (const fleet of fleets.splice(0)) {
    for (const one of started.splice(0)) await fleet.kill(one);
    await fleet.end();
  }
});

/** The words of a line of the unit, as systemd reads them. */
function readExecStart(unit: string): string[] {
  const line = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? "";
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) =>
    word.replaceAll("%%", "%").replaceAll("$$", "$").replace(/\\(.)/g, "$1"),
  );
}

const guardOf = (fleet: Fleet) => parseGuardFile(readNow(`${fleet.state}/run/guard.json`));

function remember(fleet: Fleet, pid: number): void {
  const identity = fleet.processes.identify(pid);
  if (identity) started.push(identity);
}

/** Starts what the unit says, where it says, and waits until the guard watches a daemon. */
async function startService(fleet: Fleet, unit: string): Promise<ProcessIdentity> {
  const argv = readExecStart(unit);
  const cwd = /^WorkingDirectory=(.*)$/m.exec(unit)?.[1];
  const child = Bun.spawn(argv, { cwd, stdin: "ignore", stdout: "ignore", stderr: "ignore", detached: true });
  child.unref();
  remember(fleet, child.pid);
  const guard = await eventually(
    () => {
      const now = guardOf(fleet);
      return now?.pid === child.pid && now.phase === "running" && now.daemon !== null && now;
    },
    () => `the guard ${child.pid}: ${JSON.stringify(guardOf(fleet))}`,
  );
  return { pid: guard.pid, start: guard.start };
}

/** Stopped first, so that nobody sees another die or starts one more: a machine without power gives no time for that. */
async function killAtOnce(fleet: Fleet, list: () => readonly ProcessIdentity[]): Promise<void> {
  const known = new Map<number, ProcessIdentity>();
  for (let fresh = list(); fresh.length > 0; fresh = list().filter(({ pid }) => !known.has(pid))) {
    for (const one of fresh) {
      fleet.processes.signal(one, "SIGSTOP");
      known.set(one.pid, one);
    }
  }
  const all = [...known.values()];
  for (const one of all) fleet.processes.signal(one, "SIGKILL");
  await eventually(
    () => all.every((one) => !fleet.processes.alive(one)),
    () => "the end of all",
  );
}

test("GUARD-1 ADOPT-1 FAIL-17: everything killed at once as by a reboot, the service's command brings it all back; nothing is lost, nothing done twice", async () => {
  const fleet = await Fleet.make({ terminal: "tmux", more: QUICK });
  fleets.push(fleet);
  const go = join(tempDir("go-"), "go");
  const kept = { kind: "edit", file: "draft.txt", content: "a draft\n" } as const;
  await planGoal(fleet, "Survive", {
    T1: writeFiles({ "T1.txt": "1\n" }),
    // Uncommitted work in its worktree when the power goes.
    T2: [kept, waitFor(`test -e ${go}`), ...writeFiles({ "T2.txt": "2\n" })],
    T3: [waitFor(`test -e ${go}`), ...writeFiles({ "T3.txt": "3\n" })],
  });
  const { path } = JSON.parse(await fleet.ok("service", "install", "--systemd", "--json")) as { path: string };
  const unit = readFileSync(path, "utf8");
  const first = await startService(fleet, unit);
  const atWork = (node: string) => fleet.all("agent.started").find(({ nodeId }) => nodeId === node)?.attempt;
  const landed = (node: string) => fleet.all("landing.landed").filter(({ nodeId }) => nodeId === node).length;
  const worktreeOf = (node: string) => fleet.attempt(atWork(node) ?? 0).worktree;
  await eventually(
    () =>
      landed("T1") === 1 && atWork("T3") !== undefined && fleet.repo.git("-C", worktreeOf("T2"), "status", "-s") !== "",
    () => tail(fleet),
  );
  const before = fleet.theDaemon();
  const numbers = fleet.rows<{ attempt: number }>("select attempt from attempts").map(({ attempt }) => attempt);
  const tmux = await fleet.tmuxServer();
  await killAtOnce(fleet, () => [first, before, tmux, ...numbers.flatMap((one) => fleet.marked(one))]);
  expect(numbers.flatMap((one) => fleet.marked(one))).toEqual([]);
  writeFileSync(go, "");

  const second = await startService(fleet, unit);
  await eventually(
    () => fleet.all("goal.completed").length === 1,
    () => tail(fleet),
  );
  expect(second.pid).not.toBe(first.pid);
  expect(fleet.theDaemon().instance).not.toBe(before.instance);
  expect(["T1", "T2", "T3"].map(landed)).toEqual([1, 1, 1]);
  const log = fleet.repo.git("log", "--format=%s", "main").split("\n");
  expect(["T1", "T2", "T3"].map((name) => log.filter((line) => line === `Write ${name}.txt`).length)).toEqual([
    1, 1, 1,
  ]);
  expect(fleet.all("work.done").length).toBe(new Set(fleet.all("work.done").map(({ nodeId }) => nodeId)).size);
  expect(readFileSync(join(fleet.repo.path, "T2.txt"), "utf8")).toBe("2\n");
  expect(fleet.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");

  // As a machine goes down in order: the service is stopped first. Nobody wished for that, so it comes back.
  fleet.processes.signal(second, "SIGTERM");
  await eventually(
    () => !fleet.processes.alive(second) && !fleet.processes.alive(fleet.daemon() ?? second),
    () => "the end of guard and daemon",
  );
  const third = await startService(fleet, unit);
  expect(fleet.processes.alive(fleet.theDaemon())).toBe(true);
  // A person's wish stays one, also after a reboot.
  await fleet.ok("down");
  await fleet.kill(third);
  const child = Bun.spawn(readExecStart(unit), { cwd: fleet.repo.path, stdout: "ignore", stderr: "ignore" });
  remember(fleet, child.pid);
  await eventually(
    () => guardOf(fleet)?.pid === child.pid && guardOf(fleet)?.phase === "standing-by",
    () => JSON.stringify(guardOf(fleet)),
  );
  expect(fleet.daemon()).toBeUndefined();
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(parseIntent(readNow(`${fleet.state}/run/intent.json`))).toMatchObject({ want: "down", reason: null });
});
