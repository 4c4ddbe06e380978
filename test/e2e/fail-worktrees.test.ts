/**
 * FAIL-11, for real: git's own files of a worktree are scribbled over or taken away while an agent works in it. What can be
 * read is kept, a fresh agent has a fresh worktree, the log says so, and the user's checkout stays as it is.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorktreePart } from "#domain/model/attempt.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { tail } from "../support/nine-tasks.ts";
import { isLongLane } from "../support/scale.ts";
import { run } from "../support/steps.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

const QUICK = `
landing: {mode: auto}
reconcile: {tickEvery: 100ms}
recovery: {nextStepAfter: 100ms, judgedFromAge: 100ms, backoff: {base: 100ms, max: 100ms}}
`;

interface Place {
  readonly fleet: Fleet;
  readonly worktree: string;
  /** The worktree's own part of the repository: HEAD, index. */
  readonly gitDir: string;
}

/** What is done to a worktree, and what the log says of it. */
const INJURIES: [what: string, spoil: (place: Place) => unknown, part: WorktreePart][] = [
  ["its .git file was removed", ({ worktree }) => rmSync(join(worktree, ".git")), "git-file"],
  ["its index is garbage", ({ gitDir }) => writeFileSync(join(gitDir, "index"), "not an index"), "index"],
  ["its .git file is garbage", ({ worktree }) => writeFileSync(join(worktree, ".git"), "scribble\n"), "git-file"],
  ["its HEAD is garbage", ({ gitDir }) => writeFileSync(join(gitDir, "HEAD"), "scribble\n"), "git-file"],
  ["its part of the repository was removed", ({ gitDir }) => rmSync(gitDir, { recursive: true }), "git-file"],
  ["the commit it stands on is gone", ({ fleet, worktree }) => loseObject(fleet, worktree, "HEAD"), "objects"],
  ["the files of its commit are gone", ({ fleet, worktree }) => loseObject(fleet, worktree, "HEAD^{tree}"), "objects"],
  ["it was removed whole", ({ worktree }) => rmSync(worktree, { recursive: true }), "directory"],
];

function loseObject({ repo }: Fleet, worktree: string, name: string): void {
  const oid = gitIn(worktree, "rev-parse", name).trim();
  rmSync(`${repo.path}/.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`);
}

const until = (go: string): Step => run(`for i in $(seq 1200); do [ -e '${go}' ] && exit 0; sleep 0.05; done`);

/** One commit, one change that is not committed, and then whatever git lets it do. */
const steps = (go: string, end: readonly Step[]): Step[] => [
  { kind: "edit", file: "first.txt", content: "first\n" },
  { kind: "commit", message: "Begin" },
  { kind: "edit", file: "half.txt", content: "half\n" },
  until(go),
  ...end,
];
const DONE: readonly Step[] = [
  { kind: "commit", message: "Add T1" },
  { kind: "report", status: "done", summary: "T1 is there" },
];

async function begin(go: string, end = DONE): Promise<Fleet> {
  const fleet = await fleetOf({ more: QUICK, files: { "base.txt": "base\n" } });
  await fleet.ok("up");
  const node = { acceptance: ["it is there"], dependsOn: [] };
  const healthy: Step[] = [
    { kind: "edit", file: "other.txt", content: "other\n" },
    { kind: "commit", message: "Add the other" },
    { kind: "report", status: "done", summary: "the other is there" },
  ];
  const tasks = Object.entries({ T1: steps(go, end), T9: healthy }).map(([id, script]) => ({
    ...{ ...node, id, name: id },
    objective: `Do ${id}. ${renderScript(script)}`,
  }));
  const file = join(fleet.state, "plan.json");
  const phases = [{ ...node, id: "P1", name: "P1", objective: "All", tasks }];
  writeFileSync(file, JSON.stringify({ planVersion: 1, phases }));
  await fleet.ok("goal", "create", "A goal", "--plan", file);
  return fleet;
}

const seen = <T>(fleet: Fleet, look: () => T | undefined | false, what: string) =>
  eventually(look, () => `${what}\n${tail(fleet)}`, 30_000);

const attemptsOn = (fleet: Fleet, node: string) =>
  fleet
    .all("agent.slung")
    .flatMap(({ nodeId, attempt }) => (nodeId === node && attempt !== undefined ? [attempt] : []));

/** The first agent on T1 holds on with a change that it has not committed; its worktree is spoiled then. */
async function spoiled(fleet: Fleet, spoil: (place: Place) => unknown): Promise<number> {
  const attempt = await seen(fleet, () => attemptsOn(fleet, "T1")[0], "the agent");
  const { worktree } = fleet.attempt(attempt);
  await seen(fleet, () => existsSync(join(worktree, "half.txt")), "its change");
  await seen(fleet, () => fleet.all("landing.landed").some(({ nodeId }) => nodeId === "T9"), "the other task");
  const gitDir = gitIn(worktree, "rev-parse", "--absolute-git-dir").trim();
  spoil({ fleet, worktree, gitDir });
  return attempt;
}

/** Landed by a fresh agent in a fresh worktree, with nobody blamed, nobody asked, and nothing of the user's touched. */
async function provenFresh(fleet: Fleet, first: number, part: WorktreePart): Promise<void> {
  await seen(fleet, () => fleet.all("landing.landed").some(({ nodeId }) => nodeId === "T1"), "the landing");
  const [, second = 0, ...more] = attemptsOn(fleet, "T1");
  expect(more).toEqual([]);
  expect(fleet.attempt(second).worktree).not.toBe(fleet.attempt(first).worktree);
  const [broken, ...again] = fleet.all("agent.worktree_broken");
  expect(again).toEqual([]);
  expect(broken).toMatchObject({ attempt: first, nodeId: "T1", data: { part } });
  expect(fleet.all("assignment.restarting")).toEqual([]);
  expect(fleet.all("question.asked")).toEqual([]);
  expect(fleet.all("work.cancelled")).toEqual([]);
  expect(readFileSync(join(fleet.repo.path, "half.txt"), "utf8")).toBe("half\n");
  // Without its .git, an agent's own git must not find the checkout around its worktree.
  expect(fleet.repo.git("status", "--porcelain").trim()).toBe("?? .overseer/");
  expect(fleet.repo.git("log", "--first-parent", "--format=%s").trim().split("\n")).not.toContain("Add T1");
  expect(fleet.processes.alive(fleet.theDaemon())).toBe(true);
  // Everything that could be read is kept, and named to whoever continues.
  if (part === "directory") return;
  const wip = broken?.data.wip ?? "";
  expect(gitIn(fleet.repo.path, "show", `${wip}:half.txt`)).toBe("half");
  expect(gitIn(fleet.repo.path, "show", `${wip}:first.txt`)).toBe("first");
  expect(await fleet.ok("why", `${fleet.attempt(first).goalId}/T1`, "--all")).toContain("its worktree is broken");
}

test.each(isLongLane() ? INJURIES : INJURIES.slice(0, 1))(
  "FAIL-11: an agent at work, and %s: its work is kept, a fresh agent lands the task in a fresh worktree, and the log says so",
  async (_what, spoil, part) => {
    const go = join(tempDir("go-"), "on");
    const fleet = await begin(go);
    const first = await spoiled(fleet, spoil);
    writeFileSync(go, "");
    await provenFresh(fleet, first, part);
  },
);

if (isLongLane()) {
  test("FAIL-11: an agent that only ends its turn in a broken worktree is replaced as well, and nobody has to wait for its silence", async () => {
    const go = join(tempDir("go-"), "on");
    const fleet = await begin(go, [run("git status"), { kind: "say", text: "Git does not work here." }]);
    const first = await spoiled(fleet, ({ gitDir }) => writeFileSync(join(gitDir, "index"), "not an index"));
    writeFileSync(go, "");
    await seen(fleet, () => attemptsOn(fleet, "T1").length === 2, "a fresh agent");
    expect(fleet.all("agent.worktree_broken")).toMatchObject([{ attempt: first, data: { part: "index" } }]);
    expect(fleet.all("assignment.nudged")).toEqual([]);
  });

  test("FAIL-11: where every worktree breaks, a person is asked once after as many fresh ones as there may be, and nothing is lost", async () => {
    const go = join(tempDir("go-"), "on");
    const fleet = await begin(go);
    for (let count = 1; count <= 3; count += 1) {
      const attempt = await seen(fleet, () => attemptsOn(fleet, "T1")[count - 1], `agent ${count}`);
      const { worktree } = fleet.attempt(attempt);
      await seen(fleet, () => existsSync(join(worktree, "half.txt")), "its change");
      rmSync(join(worktree, ".git"));
      await fleet.kill(fleet.runner(attempt));
    }
    const asked = await seen(fleet, () => fleet.all("question.asked")[0], "the question");
    expect(asked.data.text).toContain("the worktrees of its agents keep breaking");
    await fleet.ok("tick", "--now");
    expect(fleet.all("question.asked")).toHaveLength(1);
    expect(attemptsOn(fleet, "T1")).toHaveLength(3);
    for (const { data } of fleet.all("agent.worktree_broken")) {
      expect(gitIn(fleet.repo.path, "show", `${data.wip}:half.txt`)).toBe("half");
    }
    expect(fleet.all("landing.landed").map(({ nodeId }) => nodeId)).toEqual(["T9"]);
  });

  // To keep what was not committed, the tree that is gone is written again: there is nothing broken then.
  test.each(INJURIES.filter(([what]) => what !== "the files of its commit are gone"))(
    "FAIL-11: an agent whose runner dies, and %s: its work is kept, a fresh agent lands the task in a fresh worktree, and the log says so",
    async (_what, spoil, part) => {
      const go = join(tempDir("go-"), "on");
      const fleet = await begin(go);
      const first = await spoiled(fleet, spoil);
      await fleet.kill(fleet.runner(first));
      writeFileSync(go, "");
      await provenFresh(fleet, first, part);
    },
  );
}
