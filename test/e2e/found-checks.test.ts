/**
 * INIT-1, DONE-1: a repository's own checks are found, tried on what is committed, and become configuration by a person's word
 * only; and a fleet without any is told so wherever somebody looks. Real git, real shells, a real terminal.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bundled, OVERSEER, overseer, overseerOk, startOverseer } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

let socket = "";
let daemonIn = "";
const tmux = (...words: string[]) =>
  Bun.spawnSync(["tmux", "-S", socket, "-f", "/dev/null", ...words]).stdout.toString();
afterEach(async () => {
  if (socket) tmux("kill-server");
  if (daemonIn) await overseer(daemonIn, "down");
  [socket, daemonIn] = ["", ""];
});

/** `ran` grows with every run of a target, wherever that happens. */
function makeRepo(): { repo: TempRepo; runs: () => string } {
  const ran = join(tempDir(), "ran");
  const repo = tempRepo({
    files: {
      Makefile: `test:\n\techo test >> ${ran}; test -f greeting\nlint:\n\techo lint >> ${ran}; grep bye greeting\ndeploy:\n\techo deploy >> ${ran}\n`,
      greeting: "hello\n",
    },
  });
  // Neither is committed: what is tried is what work starts from.
  repo.write({ "package.json": '{"scripts":{"test":"echo uncommitted"}}' });
  return { repo, runs: () => (existsSync(ran) ? readFileSync(ran, "utf8").trim().split("\n").join(" ") : "") };
}

const configOf = ({ path }: TempRepo) => readFileSync(join(path, ".overseer/config.yaml"), "utf8");

test("INIT-1: in a script init names what it found and runs nothing; --checks keeps what passes, comments stay", async () => {
  const { repo, runs } = makeRepo();
  const first = await overseer(repo.path, "init");
  expect([first.code, runs()]).toEqual([0, ""]);
  expect(first.stderr).toContain("checks that are not configured: tests (make test) and lint (make lint)");
  expect(first.stderr).toContain("overseer config checks");
  const before = configOf(repo);
  const listed = JSON.parse(await overseerOk(repo.path, "config", "checks", "--json"));
  expect(listed).toMatchObject({
    branch: "main",
    configured: [],
    tried: null,
    kept: [],
    found: [{ name: "tests" }, { name: "lint" }],
  });
  const again = await overseer(repo.path, "init", "--checks");
  expect([again.code, runs()]).toEqual([0, "test lint"]);
  expect(again.stdout).toMatch(/tests {2}passed in .*make test[\s\S]*lint {3}failed: exit 2/);
  expect(again.stderr).toContain("lint does not pass on main as it is, so it is not proposed");
  expect(configOf(repo)).toStartWith(before.trimEnd());
  // What is configured is confirmed, so it may run.
  expect(JSON.parse(await overseerOk(repo.path, "config", "show", "--json"))).toMatchObject({
    hold: null,
    config: { checks: { tests: { command: "make test", timeout: "15m" } } },
  });
  // What failed is run again: what it missed may be installed by now.
  const none = await overseer(repo.path, "config", "checks", "--yes");
  expect([none.code, none.stderr]).toEqual([4, expect.stringContaining("None of them passes on main as it is")]);
  expect(runs()).toBe("test lint lint");
  // The checkout and what is committed are as they were, and nothing is left of the worktree in its status.
  expect(gitIn(repo.path, "status", "--porcelain")).toBe("?? .overseer/\n?? package.json");
  const skipped = JSON.parse(
    await overseerOk(tempRepo({ files: { "go.mod": "module x\n" } }).path, "init", "--no-checks", "--json"),
  );
  expect(skipped.checks).toBeNull();
  expect((await overseer(repo.path, "init", "--checks", "--no-checks")).code).toBe(2);
});

test("INIT-1: on a terminal it lists, asks, runs, says how each ended, and asks again before it writes", async () => {
  const { repo, runs } = makeRepo();
  await overseerOk(repo.path, "init", "--no-checks");
  socket = join(tempDir("w-"), "s");
  const env = ["PATH", "HOME"].flatMap((name) => ["-e", `${name}=${process.env[name] ?? ""}`]);
  tmux("new-session", "-d", "-s", "w", "-x", "110", "-y", "50", "-c", repo.path, ...env, "env", "PS1=$ ", "sh");
  const screen = () => tmux("capture-pane", "-p", "-t", "w").trimEnd();
  const shows = (text: string) =>
    eventually(
      () => screen().includes(text),
      () => `"${text}" on\n${screen()}`,
    );
  const type = (...keys: string[]) => void tmux("send-keys", "-t", "w", ...keys);
  type(`${OVERSEER} config checks`, "Enter");
  await shows("Run each once on main now, in a worktree of its own? [Y/n]");
  expect(screen()).toMatch(/tests {2}make test {2}Makefile has the target test/);
  expect(runs()).toBe("");
  type("Enter");
  await shows("Make tests your check, so that only work that passes lands? [Y/n]");
  expect([runs(), screen()]).toEqual(["test lint", expect.stringContaining("Running lint: make lint")]);
  type("n", "Enter");
  await eventually(
    () => screen().endsWith("\n$"),
    () => `a prompt on\n${screen()}`,
  );
  expect(await overseerOk(repo.path, "config", "get", "checks")).toBe("");
  type("clear", "Enter");
  await eventually(
    () => screen() === "$",
    () => `an empty screen, not\n${screen()}`,
  );
  type(`${OVERSEER} init`, "Enter");
  await shows("Run each once");
  type("Enter");
  await shows("Make tests your check");
  type("Enter");
  await shows("overseer status --watch");
  expect(screen()).toContain("tests is your check now");
  expect(await overseerOk(repo.path, "config", "get", "checks.tests.command")).toBe("make test\n");
});

test("INIT-1: Ctrl-C while checks are tried ends what runs, and nothing is written", async () => {
  const started = join(tempDir(), "pid");
  const repo = tempRepo({ files: { Makefile: `test:\n\techo $$$$ > ${started}; cat Makefile; sleep 300\n` } });
  await overseerOk(repo.path, "init", "--no-checks");
  const child = startOverseer(repo.path, ["config", "checks", "--yes"]);
  const pid = await eventually(
    () => existsSync(started) && Number(readFileSync(started, "utf8")),
    () => "the check to begin",
  );
  child.kill("SIGINT");
  expect(await child.exited).toBe(4);
  expect(await child.stderr.text()).toContain("were stopped; nothing was written");
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(await overseerOk(repo.path, "config", "get", "checks")).toBe("");
});

test("DONE-1: up and status say that nothing proves what agents report, until there is a check", async () => {
  const { repo } = makeRepo();
  await overseerOk(repo.path, "init", "--no-checks");
  expect(await overseerOk(repo.path, "status")).not.toContain("NO CHECK");
  daemonIn = repo.path;
  const up = await overseer(repo.path, "up", "--auto", "--task-pool-command", "exit 4");
  expect([up.code, up.stderr]).toEqual([
    0,
    expect.stringContaining("NO CHECK is configured: what agents report as done"),
  ]);
  expect(up.stderr).toContain("and it lands without anybody looking ('overseer config checks' finds some).");
  expect(await overseerOk(repo.path, "status")).toContain("NO CHECK is configured");
  const seen = JSON.parse(await overseerOk(repo.path, "status", "--json"));
  expect([seen.unchecked, seen.standstills]).toEqual([expect.stringContaining("NO CHECK"), []]);
  expect(await overseerOk(repo.path, "config", "checks", "--yes")).toContain("tests is your check now");
  await overseerOk(repo.path, "tick", "--now");
  expect(await overseerOk(repo.path, "status")).not.toContain("NO CHECK");
});
