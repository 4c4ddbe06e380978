/**
 * What goes wrong around landings, made to happen to a real daemon with real git and scripted agents, each to its end:
 * by itself where that can be, else with one question to a person, and whatever is not concerned lands. One of them in an
 * ordinary run, all of them in the long lane.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventType } from "#domain/model/event.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { testEnvironment } from "../support/git-tools.ts";
import { tail } from "../support/nine-tasks.ts";
import { planGoal, waitFor, writeFiles } from "../support/planned-goal.ts";
import { isLongLane } from "../support/scale.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "tmux", files: { "README.md": "# Here\n", "a.txt": "a\n" } });

const QUICK = "reconcile: {tickEvery: 500ms}\n";

const until = <T>(fleet: Fleet, look: () => T | undefined | false): Promise<T> => eventually(look, () => tail(fleet));
const of = (fleet: Fleet, type: EventType, node: string) => fleet.all(type).filter(({ nodeId }) => nodeId === node);
const landed = (fleet: Fleet, node: string) => until(fleet, () => of(fleet, "landing.landed", node).length === 1);
const onMain = (fleet: Fleet) => fleet.repo.git("ls-tree", "-r", "--name-only", "main").split("\n");

test("FAIL-12: where the command after a landing fails, a person is asked once and nothing more lands until they answer", async () => {
  const [good, go] = [join(tempDir("good-"), "good"), join(tempDir("go-"), "go")];
  const more = `${QUICK}landing: {batch: 1, afterLand: 'test -f "${good}"'}\n`;
  const fleet = await fleetOf({ more });
  await planGoal(fleet, "Two", {
    T1: writeFiles({ "T1.txt": "1\n" }),
    T2: [waitFor(`test -f ${go}`), ...writeFiles({ "T2.txt": "2\n" })],
  });
  await fleet.ok("up", "--auto", "--concurrency", "5");
  const question = await until(fleet, () => fleet.all("question.asked")[0]);
  expect(question.data.text).toMatch(/landing\.afterLand failed on [0-9a-f]{10}, which goal_\w+\/T1 has made of it/);
  writeFileSync(go, "");
  const held = await until(fleet, () => of(fleet, "action.failed", "T2")[0]);
  expect(JSON.stringify(held.data)).toContain(`Nothing more lands on main until ${question.data.questionId}`);
  expect(onMain(fleet)).not.toContain("T2.txt");
  expect(await fleet.ok("status")).toContain(question.data.questionId);

  writeFileSync(good, "");
  await fleet.ok("answer", question.data.questionId, "go on landing");
  await landed(fleet, "T2");
  await until(fleet, () => fleet.all("goal.completed").length === 1);
  expect(fleet.all("question.asked")).toHaveLength(1);
  expect(fleet.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");
});

/** Waits until somebody has changed the target, as agents that work side by side do without being told to. */
const whenMainHas = (text: string): Step => waitFor(`git log --format=%s main | grep -q ${text}`);

/** What a person commits on the target. */
function commitOnMain(fleet: Fleet, message: string, files: Readonly<Record<string, string>>): void {
  fleet.repo.write(files);
  fleet.repo.git("add", ...Object.keys(files));
  fleet.repo.git("commit", "--quiet", "--message", message);
}

const started = (fleet: Fleet, node: string) => until(fleet, () => of(fleet, "agent.started", node).length > 0);

if (isLongLane()) {
  test("FAIL-13: of two that change the same line the second rebases, by its own agent, and both land", async () => {
    const fleet = await fleetOf({ more: QUICK });
    const rebase: Step[] = [
      { kind: "run", command: "git rebase main || true" },
      { kind: "edit", file: "a.txt", content: "one and two\n" },
      { kind: "run", command: "git add --all && GIT_EDITOR=true git rebase --continue" },
      { kind: "report", status: "done", summary: "both are there" },
    ];
    await planGoal(fleet, "Two", {
      T1: [waitFor("git branch --list | grep -q T2"), ...writeFiles({ "a.txt": "one\n" })],
      T2: [
        { kind: "on", message: "Rebase your branch", do: rebase },
        waitFor("git show main:a.txt | grep -q one"),
        ...writeFiles({ "a.txt": "two\n" }),
      ],
    });
    await fleet.ok("up", "--auto", "--concurrency", "5");
    await landed(fleet, "T1");
    await landed(fleet, "T2");
    expect(fleet.repo.git("show", "main:a.txt")).toBe("one and two");
    expect(readFileSync(`${fleet.repo.path}/a.txt`, "utf8")).toBe("one and two\n");
    expect(of(fleet, "work.returned", "T2")).toHaveLength(1);
    expect(of(fleet, "agent.slung", "T2")).toHaveLength(1);
    expect(fleet.all("question.asked")).toEqual([]);
    expect(fleet.repo.git("rev-list", "--merges", "--count", "main")).toBe("0");
  });

  test("FAIL-14: work whose target went another way in thirty files is asked about once, after every tier; the rest lands", async () => {
    const names = Array.from({ length: 30 }, (_, at) => `f${at}.txt`);
    const all = (text: string) => Object.fromEntries(names.map((name) => [name, `${text}\n`]));
    const model = join(tempDir("model-"), "model.sh");
    writeFileSync(model, "#!/bin/sh\ncat > /dev/null\necho 'I do not know.'\n");
    chmodSync(model, 0o755);
    const more = `${QUICK}landing: {authorRounds: 1}\nmodel: {command: ${model}}\n`;
    const fleet = await fleetOf({ more, files: all("before") });
    await planGoal(fleet, "Two", {
      T1: [
        // It is no help: it only says again that it is done.
        { kind: "on", message: "Rebase your branch", do: [{ kind: "report", status: "done", summary: "as before" }] },
        whenMainHas("Heavy"),
        ...writeFiles(all("the agent's")),
      ],
      T2: [whenMainHas("Heavy"), ...writeFiles({ "T2.txt": "2\n" })],
    });
    await fleet.ok("up", "--auto", "--concurrency", "5");
    await started(fleet, "T1");
    await started(fleet, "T2");
    commitOnMain(fleet, "Heavy", all("the person's"));
    const question = await until(fleet, () => fleet.all("question.asked")[0]);
    expect(question.nodeId).toBe("T1");
    expect(of(fleet, "work.returned", "T1")).toHaveLength(1);
    expect(fleet.all("model.asked").length).toBeGreaterThan(0);
    await landed(fleet, "T2");
    expect(fleet.repo.git("show", "main:f7.txt")).toBe("the person's");
    expect(fleet.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");
    expect(fleet.all("question.asked")).toHaveLength(1);
    // What the agent did is there, for whoever answers.
    const branch = fleet.attempt(of(fleet, "agent.started", "T1")[0]?.attempt ?? 0).branch;
    expect(fleet.repo.git("show", `${branch}:f7.txt`)).toBe("the agent's");
  });

  test.each([
    // Longer than git itself is waited for: the landing is put off, and only that the lock is gone brings it back.
    ["index.lock", "4s"],
    ["refs/heads/main.lock", "1s"],
  ])("FAIL-15: %s, left by nobody who lives, is removed after %s and what it held up lands", async (name, after) => {
    const more = `${QUICK}repo: {staleLockAfter: ${after}}\nlanding: {dirtyWait: {base: 10m, max: 1h}}\n`;
    const fleet = await fleetOf({ more });
    const lock = join(fleet.repo.path, ".git", name);
    await fleet.ok("up", "--auto", "--concurrency", "5");
    writeFileSync(lock, "");
    await planGoal(fleet, "One", { T1: writeFiles({ "T1.txt": "1\n" }) });
    await landed(fleet, "T1");
    expect(existsSync(lock)).toBe(false);
    const removed = fleet.daemonLog().filter(({ event }) => event === "git_lock.removed");
    expect(removed.map(({ data }) => data.lock)).toEqual([lock]);
    expect(fleet.all("question.asked")).toEqual([]);
    expect(fleet.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  });

  test("FAIL-15: the lock of a git that lives is waited for, however old; once that is killed, it goes and the work lands", async () => {
    const more = `${QUICK}repo: {staleLockAfter: 500ms}\nlanding: {dirtyWait: {base: 10m, max: 1h}}\n`;
    const fleet = await fleetOf({ more });
    const place = tempDir("editor-");
    const editor = join(place, "editor");
    writeFileSync(editor, `#!/bin/sh\n: > '${place}/open'\nexec sleep 300\n`);
    chmodSync(editor, 0o755);
    fleet.repo.write({ "a.txt": "a person's\n" });
    const git = Bun.spawn(["git", "commit", "--all", "--edit", "--message", "Mine"], {
      ...{ cwd: fleet.repo.path, detached: true, stdio: ["ignore", "ignore", "inherit"] },
      env: { ...testEnvironment(), GIT_EDITOR: editor },
    });
    const lock = join(fleet.repo.path, ".git/index.lock");
    try {
      await until(fleet, () => existsSync(join(place, "open")));
      utimesSync(lock, 1, 1);
      await planGoal(fleet, "One", { T1: writeFiles({ "T1.txt": "1\n" }) });
      await fleet.ok("up", "--auto", "--concurrency", "5");
      // By then the daemon has looked at the lock several times: git itself is waited for that long.
      await until(fleet, () => fleet.all("merge.waiting").length > 0);
      expect(existsSync(lock)).toBe(true);
      expect(onMain(fleet)).not.toContain("T1.txt");
    } finally {
      process.kill(-git.pid, "SIGKILL");
      await git.exited;
    }
    await landed(fleet, "T1");
    expect(existsSync(lock)).toBe(false);
    expect(readFileSync(join(fleet.repo.path, "a.txt"), "utf8")).toBe("a person's\n");
    expect(fleet.all("question.asked")).toEqual([]);
  });

  test("FAIL-28, ACC-2: a checkout in the way is said, waited for across a restart, and landed on as soon as it is clean", async () => {
    const more = `${QUICK}landing: {dirtyWait: {base: 10m, max: 1h}}\n`;
    const fleet = await fleetOf({ more });
    fleet.repo.write({ "a.txt": "a person's\n" });
    const goalId = await planGoal(fleet, "Two", {
      T1: writeFiles({ "a.txt": "the agent's\n" }),
      T2: writeFiles({ "T2.txt": "2\n" }),
    });
    await fleet.ok("up", "--auto", "--concurrency", "5");
    const waiting = await until(fleet, () => of(fleet, "landing.waiting", "T1")[0]);
    expect(waiting.data).toMatchObject({ for: "checkout", files: ["a.txt"] });
    expect(await fleet.ok("status")).toMatch(new RegExp(`NOT LANDED: ${goalId}/T1 .*a\\.txt`));
    await landed(fleet, "T2");
    const before = queued(fleet);

    await fleet.kill(fleet.theDaemon());
    await fleet.ok("up", "--auto", "--concurrency", "5");
    expect(queued(fleet)).toEqual(before);
    expect(readFileSync(join(fleet.repo.path, "a.txt"), "utf8")).toBe("a person's\n");
    fleet.repo.git("checkout", "--quiet", "a.txt");
    await landed(fleet, "T1");
    expect(readFileSync(join(fleet.repo.path, "a.txt"), "utf8")).toBe("the agent's\n");
    await until(fleet, () => fleet.all("goal.completed").length === 1);
    expect(await fleet.ok("status")).not.toContain("NOT LANDED");
    expect(fleet.all("question.asked")).toEqual([]);
    expect(queued(fleet)).toEqual([]);
  });

  test("FAIL-28, ACC-2: one that stays dirty is looked at so often, each time after twice as long; then one question, and the rest lands", async () => {
    const more = `${QUICK}landing: {dirtyWait: {base: 200ms, max: 10s, tries: 4}}\n`;
    const fleet = await fleetOf({ more });
    fleet.repo.write({ "a.txt": "a person's\n" });
    await planGoal(fleet, "Two", { T1: writeFiles({ "a.txt": "the agent's\n" }) });
    await fleet.ok("up", "--auto", "--concurrency", "5");
    const question = await until(fleet, () => fleet.all("question.asked")[0]);
    expect([question.nodeId, question.data.text]).toEqual(["T1", expect.stringContaining("uncommitted changes")]);
    const waits = fleet.all("merge.waiting").map(({ at, data }) => Math.round((data.notBefore - at) / 100) * 100);
    expect(waits).toEqual([200, 400, 800]);
    expect(of(fleet, "merge.parked", "T1")).toHaveLength(1);
    await planGoal(fleet, "More", { T2: writeFiles({ "T2.txt": "2\n" }) });
    await landed(fleet, "T2");
    expect(readFileSync(join(fleet.repo.path, "a.txt"), "utf8")).toBe("a person's\n");
    expect(fleet.all("question.asked")).toHaveLength(1);
  });
}

interface Queued {
  readonly node: string | null;
  readonly status: string;
  readonly doc: unknown;
}

/** Who waits to land, with how often it was looked at and when it is again. */
function queued(fleet: Fleet): Queued[] {
  const rows = fleet.rows<{ doc: string }>("select doc from merges where status <> 'landed' and status <> 'ended'");
  return rows
    .map(({ doc }) => JSON.parse(doc) as { workNodeId: string | null; status: string })
    .map((doc) => ({
      ...{ node: doc.workNodeId, status: doc.status, doc },
    }));
}
