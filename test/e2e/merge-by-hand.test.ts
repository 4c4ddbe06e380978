/** `merge` as a person uses it, with real git: branches that no agent made, a look ahead that leaves no trace, waits. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AwaitedCheckouts } from "#act/landing/awaited-checkouts.ts";
import { mergeAll, mergeBranch, predict, queue } from "#control/merge.ts";
import { pick } from "#control/review.ts";
import { queueStatus } from "#control/status.ts";
import type { Action } from "#domain/model/action.ts";
import landAction from "#engine/actions/land.ts";
import { actionByKey, dueActions } from "#store/actions.ts";
import type { Clock } from "#sys/clock.ts";
import { asPerson, endOf } from "../support/landing-observations.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

async function scene(config: object = {}) {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(3));
  const world = await landingWorld(repo.path, { config });
  const branch = (name: string, file: string, text: string) => {
    repo.git("checkout", "--quiet", "-b", name, "main");
    repo.write({ [file]: text });
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "-m", `Work of ${name}`);
    repo.git("checkout", "--quiet", "main");
    return repo.git("rev-parse", name);
  };
  return { repo, world, branch, ada: asPerson(world) };
}

const objectsOf = (repo: string) => readdirSync(join(repo, ".git/objects"), { recursive: true }).sort();

test("MERGE-1: a dry run predicts conflict and tier and leaves not even an object behind", async () => {
  const { repo, world, branch, ada } = await scene();
  branch("fine", "b.txt", "b\n");
  branch("clash", "a.txt", "theirs\n");
  repo.write({ "a.txt": "ours\n" });
  repo.git("commit", "--quiet", "-am", "Ours");
  repo.write({ "a.txt": "ours, and not committed\n" });
  const home = tempDir("home-");
  const before = [snapshot(repo.path, home), objectsOf(repo.path)];
  expect(await predict(ada, ["fine", "clash", "main"])).toMatchObject([
    { branch: "fine", outcome: "clean", tier: "clean-merge", changes: 1 },
    {
      branch: "clash",
      outcome: "conflict",
      tier: "person",
      how: "It has no agent: resolve a.txt on the branch yourself.",
      conflicts: ["a.txt"],
    },
    { branch: "main", outcome: "already-in", tier: null },
  ]);
  expect([snapshot(repo.path, home), objectsOf(repo.path)]).toEqual(before);
  await world.close();
});

test("REV-1: a person's merge --branch is an accept, also of a branch that no agent made; the gate holds for it too", async () => {
  const checks = { gate: { command: "! test -f bad.txt", on: ["land"], timeout: "20s" } };
  const { repo, world, branch, ada } = await scene({ checks });
  const commit = branch("mine", "b.txt", "b\n");
  expect(await mergeBranch(ada, "mine")).toMatchObject({ outcome: "done" });
  expect(repo.git("log", "-1", "--format=%P|%s", "main")).toContain(`${commit}|Merge mine`);
  expect(repo.git("status", "--porcelain")).toBe("");
  branch("worse", "bad.txt", "bad\n");
  const tip = repo.git("rev-parse", "main");
  expect(await mergeBranch(ada, "worse")).toMatchObject({ outcome: "blocked" });
  expect(repo.git("rev-parse", "main")).toBe(tip);
  expect(await queue(ada)).toEqual([]);
  await expect(mergeBranch(ada, "nowhere")).rejects.toMatchObject({ code: "BRANCH_MISSING" });
  await expect(mergeBranch(ada, "main")).rejects.toMatchObject({ code: "BRANCH_IS_TARGET" });
  await world.close();
});

/** The two cases in which the nearest peer destroys what people have. */
const IN_THE_WAY: [what: string, branchFile: string, theirs: string][] = [
  ["an untracked file that the branch also adds", "new.txt", "mine, not tracked\n"],
  ["an uncommitted edit to a file that the branch edits", "a.txt", "mine, not committed\n"],
];
test.each(IN_THE_WAY)(
  "MERGE-3, ACC-2: %s is waited for, said, and not touched; once it is gone, that is noticed",
  async (_what, file, theirs) => {
    const { repo, world, branch, ada } = await scene();
    branch("theirs", file, "theirs\n");
    writeFileSync(join(repo.path, file), theirs);
    const home = tempDir("home-");
    const before = snapshot(repo.path, home);
    const landed = await mergeBranch(ada, "theirs");
    expect(landed).toMatchObject({ outcome: "waiting" });
    expect(landed.detail).toMatch(/uncommitted changes|would be overwritten/);
    expect(landed.detail).toContain("or work on another branch ('git switch -c <name>')");
    expect(snapshot(repo.path, home)).toEqual(before);
    const waiting = await queue(ada);
    expect(queueStatus(waiting)).toMatchObject({ waiting: 1, oldest: { branch: "theirs" } });
    const { due } = await world.store.read({ due: dueActions(Number.MAX_SAFE_INTEGER, 10) });
    const [action] = due;
    expect(action).toMatchObject({ kind: "land", actionId: `land:${waiting[0]?.mergeId}` });
    expect(await landAction(action as Action<"land">, world.parts)).toMatchObject({ ok: false });
    expect(snapshot(repo.path, home)).toEqual(before);
    const awaited = new AwaitedCheckouts();
    let elapsed = 0;
    const clock: Clock = { ...world.parts.clock, monotonic: () => elapsed };
    const look = () => {
      elapsed += 60_000;
      return awaited.look({ ...world.parts, clock });
    };
    const dueAt = async () => (await world.store.read({ now: actionByKey(action?.actionId ?? "") })).now?.dueAt ?? 0;
    expect(await look()).toEqual([]);
    writeFileSync(join(repo.path, file), `${theirs}and more\n`);
    expect(await look()).toEqual([]);
    const later = await dueAt();
    repo.git(...(file === "new.txt" ? ["clean", "-fdq", "new.txt"] : ["checkout", "--quiet", file]));
    expect(await look()).toEqual(["theirs"]);
    expect(await dueAt()).toBeLessThan(later);
    expect(await look()).toEqual([]);
    expect(await landAction(action as Action<"land">, world.parts)).toEqual({ ok: true, result: "landed" });
    expect(await look()).toEqual([]);
    expect(awaited.areNone).toBe(true);
    expect(repo.git("show", `main:${file}`)).toBe("theirs");
    await world.close();
  },
);

test("REV-1: what a person took over and merges is done, with the commits as evidence", async () => {
  const { repo, world, ada } = await scene();
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  await endOf(world, attempt.attempt);
  await pick(ada, { what: "T1" }, null);
  const commit = world.commit(attempt, { "b.txt": "better\n" });
  expect(await mergeBranch(ada, attempt.branch)).toMatchObject({ outcome: "done", node: `${GOAL}/T1` });
  expect(repo.git("show", "main:b.txt")).toBe("better");
  const node = await world.node("T1");
  expect(node.status).toBe("done");
  expect(node.evidence?.commits).toContain(commit);
  await world.close();
});

test("MERGE-1: merge --all lands everything that is finished", async () => {
  const { world, ada } = await scene();
  for (const id of ["T1", "T2", "T3"]) {
    const attempt = await world.attempt(id);
    world.commit(attempt, { [`${id}.txt`]: `${id}\n` });
    await world.report(attempt);
    await endOf(world, attempt.attempt);
  }
  expect((await mergeAll(ada)).map(({ outcome }) => outcome)).toEqual(["done", "done", "done"]);
  await world.close();
});
