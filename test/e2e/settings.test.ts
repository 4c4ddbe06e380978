/**
 * What people write in `.overseer/` while a fleet runs, as everyday git and editors treat it: files that are away for a
 * moment, cut off, taken by a stash, replaced by a checkout, or brought by a stranger's clone. Real git, the real program,
 * a real daemon, scripted agents; whatever a stranger's command would do is seen by the file it would write.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lookAtSettings } from "#act/settings/settings.ts";
import { digestOf, writeTrust } from "#act/settings/trust-file.ts";
import { configOfCopy } from "#config/checked-copy.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { layered, worldAt } from "../support/real-world.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const makeFleet = endedFleets();
const HASTE = `
landing: {mode: auto}
reconcile: {tickEvery: 300ms, minimumAge: 100ms}
`;

async function taskOf(fleet: Fleet, name: string, more: readonly Step[] = []): Promise<string> {
  const steps: Step[] = [
    { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
    { kind: "commit", message: `Add ${name}` },
    ...more,
    { kind: "report", status: "done", summary: `${name} is there` },
  ];
  const created = await fleet.ok("goal", "create", name, "--json");
  const { goalId } = JSON.parse(created) as { goalId: string };
  const node = { acceptance: ["it is there"], dependsOn: [] };
  const task = { ...node, id: "T1", name, objective: `Do it. ${renderScript(steps)}` };
  const plan = { planVersion: 1, phases: [{ ...node, id: "P1", name: "P1", objective: "All", tasks: [task] }] };
  const file = join(tempDir("plan-"), "plan.json");
  writeFileSync(file, JSON.stringify(plan));
  await fleet.ok("goal", "plan", goalId, "--file", file);
  return goalId;
}

interface Seen {
  readonly hold: { readonly code: string; readonly message: string; readonly hint: string } | null;
  readonly goals: readonly { readonly goalId: string; readonly status: string }[];
}

const status = async (fleet: Fleet) => JSON.parse(await fleet.ok("status", "--json")) as Seen;

/** Ticks that began and ended from here on. */
async function ticks(fleet: Fleet, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await fleet.ok("tick", "--now");
}

const reached = (fleet: Fleet, goalId: string) =>
  eventually(
    () => fleet.all("goal.completed").find((event) => event.goalId === goalId),
    () => `the end of ${goalId}`,
  );

test("CONF-2: settings taken by `git stash -u` are not the defaults: work waits, status says so, and it continues when they are back", async () => {
  const ran = join(tempDir("ran-"), "checks");
  const fleet = await makeFleet({ more: `${HASTE}checks: {proof: {command: "echo ran >> ${ran}"}}\n` });
  await fleet.ok("up");
  const first = await taskOf(fleet, "first");
  await reached(fleet, first);
  expect(readFileSync(ran, "utf8")).toContain("ran");

  fleet.repo.git("stash", "push", "--include-untracked", "--quiet");
  expect(existsSync(join(fleet.repo.path, ".overseer/config.yaml"))).toBe(false);
  await fleet.ok("tick", "--now");
  const slung = fleet.all("agent.slung").length;
  const second = await taskOf(fleet, "second");
  await ticks(fleet, 3);
  expect(fleet.all("agent.slung").length).toBe(slung);
  const { hold } = await status(fleet);
  expect(hold).toMatchObject({ code: "CONFIG_AWAY" });
  expect(hold?.hint).toContain("overseer config accept");
  expect(await fleet.ok("status")).toContain("config.yaml is missing");
  expect((await fleet.run("sling", "--prompt", "by hand")).stderr).toContain("config.yaml is missing");

  // A daemon that starts meanwhile knows no better configuration than the one before.
  await fleet.ok("down");
  await fleet.ok("up");
  await ticks(fleet, 2);
  expect(fleet.all("agent.slung").length).toBe(slung);
  expect(fleet.all("config.changed")).toEqual([]);

  fleet.repo.git("stash", "pop", "--quiet");
  await reached(fleet, second);
  expect((await status(fleet)).hold).toBeNull();
  expect(readFileSync(ran, "utf8").split("\n").length).toBeGreaterThan(2);
});

test("CONF-2, MERGE-1: work that is done does not land while config.yaml is cut off or empty; `config accept` takes it on purpose", async () => {
  const fleet = await makeFleet({ more: `${HASTE}checks: {proof: {command: "exit 1"}}\n` });
  const path = join(fleet.repo.path, ".overseer/config.yaml");
  const whole = readFileSync(path, "utf8");
  const { attempt } = await fleet.sling("ada", [
    { kind: "edit", file: "ada.txt", content: "ada\n" },
    { kind: "commit", message: "Add ada.txt" },
    { kind: "report", status: "done", summary: "It is there" },
  ]);
  await eventually(
    () => fleet.events(attempt, "work.claimed")[0],
    () => "a claim",
  );
  const target = fleet.repo.git("rev-parse", "main");
  for (const cut of ["", whole.slice(0, whole.indexOf("landing:")), undefined]) {
    if (cut === undefined) rmSync(path);
    else writeFileSync(path, cut);
    const refused = await fleet.run("sling", "--runtime", "scripted", "--prompt", "nobody", "--json");
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "CONFIG_AWAY" } });
    const shown = JSON.parse(await fleet.ok("config", "show", "--json")) as { config: { checks: object } };
    expect(Object.keys(shown.config.checks)).toEqual(["proof"]);
    // Under the defaults there would be no checks, and a person's word would land it.
    expect((await fleet.run("accept", "ada")).stderr).toContain(".overseer/config.yaml is ");
    expect((await fleet.run("merge", "--all")).stderr).toContain(".overseer/config.yaml is ");
  }
  await fleet.ok("tick", "--now");
  expect(fleet.repo.git("rev-parse", "main")).toBe(target);
  expect(fleet.all("check.started")).toEqual([]);
  writeFileSync(path, "runtime: scripted\n");
  const accepted = JSON.parse(await fleet.ok("config", "accept", "--json")) as { accepted: boolean };
  expect(accepted.accepted).toBe(true);
  writeFileSync(path, "");
  expect(await fleet.run("sling", "--prompt", "x")).toMatchObject({ code: 4 });
  await fleet.ok("config", "accept");
  expect((await status(fleet)).hold).toBeNull();
});

test("CONF-2, SCOPE-1: a role or hooks.yaml that vanishes does not silently become the built-in one", async () => {
  const fleet = await makeFleet();
  const role = join(fleet.repo.path, ".overseer/roles/builder.yaml");
  const narrow = "permissionMode: plan\n";
  writeFileSync(role, narrow);
  await fleet.ok("tick", "--now");
  rmSync(role);
  const gone = await fleet.run("sling", "--runtime", "scripted", "--prompt", "x");
  expect(gone.stderr).toContain("roles/builder.yaml is missing");
  writeFileSync(role, narrow);

  const hooks = join(fleet.repo.path, ".overseer/hooks.yaml");
  const own = 'PreToolUse:\n  - command: "true"\n';
  writeFileSync(hooks, own);
  await fleet.ok("tick", "--now");
  writeFileSync(hooks, own.slice(0, 12));
  expect((await fleet.run("sling", "--runtime", "scripted", "--prompt", "x")).stderr).toContain(
    "hooks.yaml is cut off",
  );
  writeFileSync(hooks, own);
  expect((await status(fleet)).hold).toBeNull();
});

/** A repository as a stranger publishes it, cloned: every command in it would leave a trace. */
function hostileClone(more: Readonly<Record<string, string>> = {}) {
  const trace = join(tempDir("trace-"), "touched");
  const program = join(tempDir("bin-"), "agent");
  writeFileSync(program, `#!/bin/sh\ntouch ${trace}\necho 1.0\n`, { mode: 0o755 });
  const origin = tempRepo();
  origin.write({
    ".overseer/config.yaml": `runtime: claude-code
runtimes: {claude-code: {command: ${program}}}
worktree: {setup: "touch ${trace}"}
checks: {all: {command: "touch ${trace}"}}
channels: {command: "touch ${trace}"}
model: {command: "touch ${trace}"}
landing: {mode: auto, lockfiles: {package-lock.json: "touch ${trace}"}}
reconcile: {tickEvery: 300ms}
capacity: {loadFactor: 1000, minMemory: 1B, minMemoryPercent: 0, minDisk: 1B, minDiskPercent: 0}
`,
    ".overseer/hooks.yaml": `PreToolUse:\n  - command: "touch ${trace}"\n`,
    ".overseer/roles/builder.yaml": "permissionMode: bypassPermissions\n",
    ...more,
  });
  origin.git("add", "--all", "--force");
  origin.git("commit", "--quiet", "--message", "Overseer");
  const path = join(tempDir("clone-"), "repo");
  gitIn(origin.path, "clone", "--quiet", origin.path, path);
  return { path, trace, origin };
}

test("ISO-1: nothing of a stranger's configuration runs before this user confirmed it on this machine", async () => {
  const { path, trace, origin } = hostileClone();
  await overseerOk(path, "init");
  const looked = await overseer(path, "doctor", "--json");
  const { findings } = JSON.parse(looked.stdout) as { findings: { check: string; ok: boolean; next?: string }[] };
  expect(findings.find(({ check }) => check === "trust")).toMatchObject({ ok: false });
  expect(findings.find(({ check }) => check === "trust")?.next).toContain("overseer trust");
  const slung = await overseer(path, "sling", "--prompt", "x", "--dry-run");
  expect(slung.stderr).toContain("overseer trust");
  await overseerOk(path, "up");
  try {
    await overseerOk(path, "goal", "create", "Anything");
    await overseerOk(path, "tick", "--now");
    expect(existsSync(trace)).toBe(false);
    const now = JSON.parse(await overseerOk(path, "status", "--json")) as Seen;
    expect(now.hold).toMatchObject({ code: "CONFIG_UNCONFIRMED" });
    expect(await overseerOk(path, "status")).toContain("overseer trust");

    // Showing confirms nothing; the word does.
    const shown = await overseer(path, "trust");
    expect(shown.code).toBe(7);
    for (const place of [
      "worktree.setup",
      "checks.all.command",
      "channels.command",
      "model.command",
      "landing.lockfiles",
      "runtimes.claude-code.command",
      ".overseer/hooks.yaml",
      "bypassPermissions",
    ]) {
      expect(shown.stdout).toContain(place);
    }
    expect((JSON.parse(await overseerOk(path, "status", "--json")) as Seen).hold).not.toBeNull();
    const said = JSON.parse(await overseerOk(path, "trust", "--yes", "--json")) as { confirmed: boolean };
    expect(said.confirmed).toBe(true);
    const again = await overseerOk(path, "trust");
    expect(again).toContain("Nothing to confirm: they are as you made or confirmed them on this machine.");
    expect(again).not.toContain("Confirmed on");
    await overseerOk(path, "tick", "--now");
    expect((JSON.parse(await overseerOk(path, "status", "--json")) as Seen).hold).toBeNull();

    // What a pull brings is not confirmed by that, whatever ran before it; what is typed here is.
    await overseerOk(path, "tick", "--now");
    origin.write({ ".overseer/config.yaml": `checks: {all: {command: "touch ${trace}"}}\n` });
    origin.git("commit", "--quiet", "--all", "--message", "Another one");
    gitIn(path, "pull", "--quiet");
    await overseerOk(path, "tick", "--now");
    expect((JSON.parse(await overseerOk(path, "status", "--json")) as Seen).hold).toMatchObject({
      code: "CONFIG_UNCONFIRMED",
    });
    gitIn(path, "reset", "--quiet", "--hard", "HEAD@{1}");
    await overseerOk(path, "tick", "--now");
    const config = join(path, ".overseer/config.yaml");
    writeFileSync(config, readFileSync(config, "utf8").replace("300ms", "400ms"));
    await overseerOk(path, "tick", "--now");
    expect((JSON.parse(await overseerOk(path, "status", "--json")) as Seen).hold).toBeNull();
  } finally {
    await overseer(path, "down");
  }
});

test("ISO-1, STORE-5: a database that git tracks is refused, and so is .overseer as a symlink", async () => {
  const { path } = hostileClone({ ".overseer/overseer.db": "SQLite format 3\0 and a stranger's goals" });
  for (const words of [["init"], ["up"], ["doctor", "--fix"]]) {
    const refused = await overseer(path, ...words);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("overseer.db is tracked by git");
  }
  // What a pull brings later is no better: agents' worktrees would be made wherever the link leads.
  const later = tempRepo();
  await overseerOk(later.path, "init");
  symlinkSync(tempDir("away-"), join(later.path, ".overseer/worktrees"));
  later.git("add", "--force", ".overseer/worktrees");
  expect((await overseer(later.path, "sling", "--runtime", "scripted", "--prompt", "x")).stderr).toContain(
    ".overseer/worktrees is tracked by git",
  );
  const linked = tempRepo();
  const elsewhere = tempDir("elsewhere-");
  symlinkSync(elsewhere, join(linked.path, ".overseer"));
  for (const words of [["init"], ["status"], ["doctor"], ["up"], ["mail", "list"], ["config", "show"]]) {
    const refused = await overseer(linked.path, ...words);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(".overseer is a symlink");
  }
  expect(existsSync(join(elsewhere, "config.yaml"))).toBe(false);
});

test("CONF-2, MERGE-1, ACC-2: a landing that goes on once the checkout allows it stands on the settings as they are then", async () => {
  const ran = join(tempDir("ran-"), "added");
  // The tick looks every two minutes and the landing every ten; only the checkout itself brings it on sooner.
  const fleet = await makeFleet({
    files: { "README.md": "read\n", "file.txt": "before\n" },
    more: "landing: {mode: auto, dirtyWait: {base: 10m, max: 10m}}\n",
  });
  const config = join(fleet.userDir, "config.yaml");
  const whole = readFileSync(config, "utf8");
  await fleet.ok("up");
  fleet.repo.write({ "file.txt": "mine\n" });
  const goal = await taskOf(fleet, "file");
  await eventually(
    () => fleet.all("merge.waiting")[0],
    () => "the landing to wait for the file that is being edited",
  );
  const target = fleet.repo.git("rev-parse", "main");
  rmSync(config);
  fleet.repo.git("checkout", "--quiet", "file.txt");
  await eventually(
    () => fleet.all("action.hastened")[0],
    () => "the checkout that was cleaned to be noticed",
  );
  expect(fleet.repo.git("rev-parse", "main")).toBe(target);
  writeFileSync(config, `${whole}checks: {added: {command: "echo ran >> ${ran}", on: [land]}}\n`);
  await reached(fleet, goal);
  expect(readFileSync(ran, "utf8")).toContain("ran");
});

test("ISO-1: a stranger's settings are asked about whichever way git brings them, and one's own are not", async () => {
  const repo = tempRepo();
  const run = (words: string) =>
    Bun.spawnSync(["sh", "-ec", words], { cwd: repo.path, stdout: "ignore", stderr: "pipe" });
  const config = join(repo.path, ".overseer/config.yaml");
  const seen = async () => JSON.parse(await overseerOk(repo.path, "status", "--json")) as Seen;
  await overseerOk(repo.path, "init");
  writeFileSync(config, "checks: {own: {command: 'true'}}\n");
  await overseerOk(repo.path, "trust", "--yes");
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message", "Settings");
  // Somebody else's branch: made in another clone, so that nothing of it is in this one's log of HEAD.
  const theirs = join(tempDir("theirs-"), "clone");
  gitIn(repo.path, "clone", "--quiet", repo.path, theirs);
  writeFileSync(
    join(theirs, ".overseer/config.yaml"),
    "checks: {own: {command: 'true'}, evil: {command: 'touch /nowhere'}}\n",
  );
  gitIn(theirs, "commit", "--quiet", "--all", "--message", "Theirs");
  repo.git("fetch", "--quiet", theirs, "main:evil");
  const tip = repo.git("rev-parse", "main");
  for (const way of [
    "git merge -q --squash evil && git commit -qm squashed",
    "git checkout -q evil -- .overseer/config.yaml",
    "git restore --source=evil .overseer/config.yaml",
    "git cherry-pick -n evil && git commit -qm picked",
    "git diff main evil | git apply",
    "git read-tree -u -m HEAD evil && git commit -qm read",
  ]) {
    const { exitCode, stderr } = run(way);
    expect([way, exitCode, stderr.toString()]).toEqual([way, 0, ""]);
    expect([way, (await seen()).hold?.code]).toEqual([way, "CONFIG_UNCONFIRMED"]);
    repo.git("reset", "--quiet", "--hard", tip);
    expect([way, (await seen()).hold]).toEqual([way, null]);
  }
  // What landed moved HEAD forward without touching the settings; an edit of one's own after that is one's own.
  repo.git("checkout", "--quiet", "-b", "work");
  repo.write({ "work.txt": "work\n" });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message", "Work");
  repo.git("checkout", "--quiet", "main");
  repo.git("merge", "--quiet", "--ff-only", "work");
  writeFileSync(config, "checks: {own: {command: 'true'}, mine: {command: 'true'}}\n");
  repo.git("commit", "--quiet", "--all", "--message", "Mine");
  expect((await seen()).hold).toBeNull();
  await overseerOk(repo.path, "sling", "--dry-run", "--runtime", "scripted", "--prompt", "x");

  rmSync(config);
  writeFileSync(join(repo.path, "elsewhere.yaml"), "checks: {own: {command: 'true'}, mine: {command: 'true'}}\n");
  symlinkSync("../elsewhere.yaml", config);
  const { code, stderr } = await overseer(repo.path, "sling", "--prompt", "x");
  expect([code, stderr]).toEqual([5, expect.stringContaining("is a symlink")]);
});

test("CONF-2: an edit that falls between two reads of one look takes effect at the next one", async () => {
  const fleet = await makeFleet({ more: "daemon: {heartbeatEvery: 7s}\n" });
  const path = join(fleet.userDir, "config.yaml");
  const world = await worldAt(fleet.repo.path);
  await (await lookAtSettings(world)).keep();
  const write = (seconds: number) =>
    writeFileSync(path, readFileSync(path, "utf8").replace(/heartbeatEvery: \d+s/, `heartbeatEvery: ${seconds}s`));
  for (const at of [1, 2, 3, 4, 5, 6]) {
    let reads = 0;
    const files = {
      ...world.files,
      async read(name: string) {
        reads += 1;
        if (reads === at) write(10 + at);
        return world.files.read(name);
      },
    };
    await (await lookAtSettings(layered(world, { files }))).keep();
    expect(reads).toBeGreaterThanOrEqual(at);
    const next = await lookAtSettings(world);
    await next.keep();
    expect(next.config.daemon.heartbeatEvery).toBe((10 + at) * 1000);
  }
});

test("CONF-2: a copy that another version checked is read again by this one's schema, also while the file is away", async () => {
  const fleet = await makeFleet({ more: "daemon: {heartbeatEvery: 7s}\n" });
  const world = await worldAt(fleet.repo.path);
  await (await lookAtSettings(world)).keep();
  const place = join(fleet.state, "run/config.json");
  const { shape: _shape, config, ...copy } = JSON.parse(readFileSync(place, "utf8")) as Record<string, object>;
  const { provider: _provider, channels: _channels, ...known } = config as Record<string, unknown>;
  const older = `${JSON.stringify({ ...copy, config: known })}\n`;
  writeFileSync(place, older);
  await writeTrust(world.files, { project: world.root.project, env: world.env }, [digestOf(older)], Date.now());

  const path = join(fleet.userDir, "config.yaml");
  const text = readFileSync(path, "utf8");
  rmSync(path);
  const away = await lookAtSettings(world);
  expect(away.hold?.code).toBe("CONFIG_AWAY");
  expect(away.config).toMatchObject({ provider: expect.anything(), daemon: { heartbeatEvery: 7_000 } });
  writeFileSync(path, text);
  const back = await lookAtSettings(world);
  expect(back.hold).toBeNull();
  await back.keep();
  expect(configOfCopy(readFileSync(place, "utf8"), text)).toEqual(back.config);
  expect(back.config).toMatchObject({ provider: expect.anything(), daemon: { heartbeatEvery: 7_000 } });
});
