/**
 * `doctor` finds what does not work, not what is not there: programs that are on PATH and fail or hang, hooks whose
 * command leads nowhere, a clock that was set back, and everything that is left of what was killed; and --fix clears it.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Finding } from "#domain/health/checkup.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { confirmIn } from "../support/confirm.ts";
import type { Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { say, wait } from "../support/steps.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets();

interface Looked {
  readonly code: number;
  readonly stderr: string;
  readonly fixed: readonly string[];
  readonly findings: readonly Finding[];
  problem(check: string): Finding | undefined;
}

type Env = Readonly<Record<string, string>>;

async function said(given: Fleet, env: Env, ...words: string[]) {
  const child = Bun.spawn([OVERSEER, "doctor", ...words], {
    cwd: given.repo.path,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

async function doctor(given: Fleet, env: Env, ...words: string[]): Promise<Looked> {
  const { stdout, stderr, code } = await said(given, env, "--json", ...words);
  if (!stdout.startsWith("{")) throw new Error(`doctor ended with ${code}: ${stderr}${stdout}`);
  const { findings, fixed } = JSON.parse(stdout) as { findings: Finding[]; fixed: string[] };
  return { code, stderr, findings, fixed, problem: (check) => findings.find((one) => one.check === check && !one.ok) };
}

/** A PATH with these scripts on it, and of the machine's own programs only the ones that are named. */
function pathWith(scripts: Readonly<Record<string, string>>, programs: readonly string[]): string {
  const bin = tempDir("bin-");
  for (const name of programs) symlinkSync(Bun.which(name) ?? "", join(bin, name));
  for (const [name, body] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

const configured = async (given: Fleet, change: (text: string) => string) => {
  const path = join(given.userDir, "config.yaml");
  writeFileSync(path, change(readFileSync(path, "utf8")));
  await confirmIn(given.repo.path); // git is about to fail, and could not say that nobody else wrote this
};

test("doctor judges outcomes: a git that fails, no tmux, an agent CLI that hangs, a hook that leads nowhere, a frozen runner, a clock set back", async () => {
  // Under tmux a runner that was stopped continues at once.
  const given = await fleetOf({ terminal: "detached" });
  const { attempt } = await given.sling("ada", [say("here"), wait]);
  await given.said(attempt, "here");
  const well = await doctor(given, {});
  expect(well.findings.filter(({ ok }) => !ok)).toEqual([]);
  expect(well.code).toBe(0);
  const unchecked = {
    ok: true,
    detail: expect.stringContaining("NONE is configured"),
    next: expect.stringContaining("config checks"),
  };
  expect(well.findings.find(({ check }) => check === "checks")).toMatchObject(unchecked);
  expect(well.findings.find(({ check }) => check === "hooks")?.detail).toContain("a new agent, 1 at work");

  const settings = join(given.state, "run/attempts", String(attempt), "settings.json");
  const before = readFileSync(settings, "utf8");
  writeFileSync(settings, before.replaceAll("hook.js", "moved-away.js"));
  await configured(given, (text) =>
    text.replace("runtime: scripted", "runtime: claude-code").replace("detached", "auto"),
  );
  const kept = join(given.state, "run/spool", String(attempt), "000000000000001-x.report");
  mkdirSync(dirname(kept), { recursive: true });
  await given.hang(given.runner(attempt));
  writeFileSync(kept, "{}");
  const scripts = { git: "echo 'fatal: it is broken' >&2; exit 128", claude: "exec sleep 600" };
  const PATH = pathWith(scripts, ["sh", "sleep", "dirname", "readlink", "uname", "cat", "env"]);
  const [sick, text] = await Promise.all([doctor(given, { PATH }), said(given, { PATH })]);
  expect(text.stderr).toContain("Still looking at: runtimes.");
  expect(text.stdout).toMatch(/PROBLEM {2}git: .*it is broken\n {9}\S/);
  expect(sick.code).toBe(5);
  expect(sick.problem("git")?.detail).toContain("it is broken");
  expect(sick.problem("tmux")?.detail).toContain("tmux is not on PATH");
  expect(sick.problem("runtime claude-code")?.detail).toContain("did not answer within 10 s");
  expect(sick.problem("hooks")?.detail).toContain(
    `what the hooks of ada#${attempt} tell arrives: its command ran and recorded no`,
  );
  const runner = given.runner(attempt);
  expect(sick.problem("runners")).toMatchObject({
    detail: `at its socket nothing answers: ada#${attempt} (process ${runner.pid}); ada#${attempt} has 1 kept report that waits for it`,
    next: expect.stringContaining("overseer restart ada"),
  });
  for (const finding of sick.findings.filter(({ ok }) => !ok)) expect(finding.next).toBeTruthy();
  given.processes.signal(runner, "SIGCONT");

  writeFileSync(settings, before.replaceAll("permit.js", "moved-away.js"));
  await configured(given, (text) =>
    text.replace("runtime: claude-code", "runtime: scripted").replace("auto", "detached"),
  );
  const now = Date.now() - 3_600_000;
  const early = await doctor(given, { OVERSEER_TEST_NOW: String(now) });
  expect(early.problem("clock")?.detail).toContain("60 min from now");
  expect(early.problem("hooks")?.detail).toContain("Overseer's permit hook could not run");
  expect([early.problem("git"), early.problem("runners")]).toEqual([undefined, undefined]);
});

test("doctor finds what is left of what was killed, and --fix clears all of it without losing work", async () => {
  const given = await fleetOf({ terminal: "tmux" });
  const { attempt } = await given.sling("ada", [say("here"), wait]);
  await given.said(attempt, "here");
  await given.tmux("new-session", "-d", "-s", "ov-999", "sleep 600");
  await given.ok("up");
  await given.kill(given.theDaemon());
  await given.kill(given.runner(attempt));
  const orphan = join(given.userDir, "worktrees/orphan");
  given.repo.git("worktree", "add", "--quiet", "-b", "overseer/orphan/T1", orphan);
  writeFileSync(join(orphan, "draft.txt"), "not committed\n");
  const lock = join(given.repo.path, ".git/index.lock");
  writeFileSync(lock, "");
  utimesSync(lock, 0, 0);
  const demo = join(tmpdir(), "overseer-demo-killed");
  mkdirSync(demo);
  writeFileSync(join(demo, "owner.json"), JSON.stringify({ pid: 4_000_000, start: "1" }));

  const found = await doctor(given, {});
  expect(found.code).toBe(5);
  for (const [check, detail] of [
    ["agents", `ada#${attempt}`],
    ["sessions", "ov-999"],
    ["worktrees", orphan],
    ["git locks", lock],
    ["daemon", "was killed"],
    ["demos", demo],
  ] as const) {
    expect(`${check}: ${found.problem(check)?.detail}`).toContain(detail);
    expect(found.problem(check)?.next).toContain("doctor --fix");
  }
  const fixed = await doctor(given, {}, "--fix");
  expect(fixed.findings.filter(({ ok }) => !ok)).toEqual([]);
  expect(fixed.fixed).toHaveLength(6);
  expect(await given.tmux("list-sessions", "-F", "#{session_name}")).not.toContain("ov-999");
  expect([orphan, lock, demo].filter((path) => existsSync(path))).toEqual([]);
  const kept = /refs\/overseer\/recovery\/\S+/.exec(fixed.fixed.join("\n"))?.[0] ?? "";
  expect(gitIn(given.repo.path, "show", `${kept}:draft.txt`)).toBe("not committed");
});
