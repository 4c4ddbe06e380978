/**
 * ACC-1 with real git: finished work arrives as one commit on top of the target, rebased in the object database, without
 * the lines by which tools credit themselves. A conflict goes back to its author, who rebases, and lands then.
 */

import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { rulesNow } from "#act/landing/rules.ts";
import { mergeBranch, predict } from "#control/merge.ts";
import { waitingMessages } from "#store/messages.ts";
import { runFiles } from "#sys/run-files.ts";
import { asPerson } from "../support/landing-observations.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const SQUASH = { landing: { mode: "auto", strategy: "squash" } };
const HOME = tempDir("home-");

async function scene(config: unknown = SQUASH, files: Record<string, string> = { "a.txt": "one\ntwo\nthree\n" }) {
  const repo = tempRepo({ files });
  await foundLanding(repo.path, tasks(3));
  const world = await landingWorld(repo.path, { config });
  return { repo, world, land: (nodeId: string) => landClaim(world.parts, { goalId: GOAL, nodeId }) };
}

test("ACC-1: several commits arrive as one on top of the target, told without the tools and with the people", async () => {
  const { repo, world, land } = await scene();
  const attempt = await world.attempt("T1");
  const say = (file: string, message: string) => {
    writeFileSync(join(attempt.worktree, file), `${file}\n`);
    gitIn(attempt.worktree, "add", "--all");
    gitIn(attempt.worktree, "commit", "--quiet", "-m", message);
  };
  say("b.txt", "Add b\n\n🤖 Generated with [Claude Code](https://example.invalid)\n\nCo-Authored-By: Claude <c@d>");
  say("c.txt", "Add c\n\nCo-authored-by: Ada Lovelace <ada@example.invalid>");
  repo.write({ "meanwhile.txt": "m\n" });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "-m", "Meanwhile");
  const before = repo.git("rev-parse", "main");
  await world.report(attempt, { summary: "Both are there.\n\nCo-Authored-By: Claude <c@d>" });
  expect(await land("T1")).toEqual({ kind: "done" });
  expect(repo.git("rev-list", "--parents", "-1", "main").split(" ").slice(1)).toEqual([before]);
  expect(repo.git("log", "-1", "--format=%B", "main").trim()).toBe(
    [
      "Node T1",
      "Both are there.",
      "* Add b\n* Add c",
      `Co-authored-by: Ada Lovelace <ada@example.invalid>\nOverseer-Work: ${GOAL}/T1`,
    ].join("\n\n"),
  );
  expect(repo.git("ls-files").split("\n")).toEqual(["a.txt", "b.txt", "c.txt", "meanwhile.txt"]);
  expect(repo.git("status", "--porcelain")).toBe("");
  await world.close();
});

test("ACC-1: what stands on work that was squashed before it lands all the same, commit by commit", async () => {
  const { repo, world, land } = await scene();
  const first = await world.attempt("T1");
  world.commit(first, { "a.txt": "one\nTWO\nthree\n", "new.txt": "first\n" });
  const second = await world.attempt("T2");
  gitIn(second.worktree, "merge", "--quiet", first.branch);
  world.commit(second, { "a.txt": "one\nTWO and more\nthree\n", "new.txt": "second\n" });
  for (const attempt of [first, second]) await world.report(attempt);
  expect(await land("T1")).toEqual({ kind: "done" });
  // The target has the first branch under another id, so a merge of the two tips has both sides change the same line.
  const plain = Bun.spawnSync(["git", "merge-tree", "--write-tree", "main", second.branch], { cwd: repo.path });
  expect(plain.exitCode).toBe(1);
  const before = snapshot(repo.path, HOME);
  expect(await predict(asPerson(world), [second.branch])).toMatchObject([{ outcome: "clean", tier: "clean-merge" }]);
  expect(snapshot(repo.path, HOME)).toEqual(before);
  expect(await land("T2")).toEqual({ kind: "done" });
  expect([repo.git("show", "main:a.txt"), repo.git("show", "main:new.txt")]).toEqual([
    "one\nTWO and more\nthree",
    "second",
  ]);
  expect(repo.git("rev-list", "--count", "main")).toBe("3");
  expect(repo.git("status", "--porcelain")).toBe("");
  await world.close();
});

test("ACC-1, FAIL-13: a conflict sends its author to rebase, with nothing touched; rebased, it lands, and the first try stays within reach", async () => {
  const { repo, world, land } = await scene();
  const attempt = await world.attempt("T1");
  const first = world.commit(attempt, { "a.txt": "one\ntheirs\nthree\n" });
  repo.write({ "a.txt": "one\nours\nthree\n" });
  repo.git("commit", "--quiet", "-am", "Ours");
  await world.report(attempt);
  const before = snapshot(repo.path, HOME);
  expect(await land("T1")).toEqual({ kind: "returned" });
  expect(snapshot(repo.path, HOME)).toEqual(before);
  const { inbox } = await world.store.read({ inbox: waitingMessages(attempt.attempt) });
  expect(inbox.at(-1)?.body).toContain("Rebase your branch on main ('git rebase main')");
  expect(inbox.at(-1)?.body).toContain("a.txt");

  Bun.spawnSync(["git", "rebase", "--quiet", "main"], { cwd: attempt.worktree });
  writeFileSync(join(attempt.worktree, "a.txt"), "one\nours and theirs\nthree\n");
  gitIn(attempt.worktree, "add", "--all");
  gitIn(attempt.worktree, "-c", "core.editor=true", "rebase", "--continue");
  await world.report(attempt);
  expect(await land("T1")).toEqual({ kind: "done" });
  expect(repo.git("show", "main:a.txt")).toBe("one\nours and theirs\nthree");
  expect(repo.git("log", "--format=%s", "main").split("\n")).toEqual(["Node T1", "Ours", "First commit"]);
  expect(repo.git("rev-list", "--all").split("\n")).toContain(first);
  await world.close();
});

test("ACC-1: a merge that its author made on the branch is kept as resolved; a branch of a person's is squashed too", async () => {
  const { repo, world, land } = await scene();
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "a.txt": "one\ntheirs\nthree\n" });
  repo.write({ "a.txt": "one\nours\nthree\n" });
  repo.git("commit", "--quiet", "-am", "Ours");
  Bun.spawnSync(["git", "merge", "--quiet", "main"], { cwd: attempt.worktree });
  world.commit(attempt, { "a.txt": "one\nours and theirs\nthree\n" });
  await world.report(attempt);
  expect(await land("T1")).toEqual({ kind: "done" });
  expect(repo.git("show", "main:a.txt")).toBe("one\nours and theirs\nthree");
  repo.git("checkout", "--quiet", "-b", "mine");
  repo.write({ "mine.txt": "mine\n" });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "-m", "Mine\n\nWith a reason.\n\nCo-Authored-By: Claude <c@d>");
  repo.git("checkout", "--quiet", "main");
  repo.git("commit", "--quiet", "--allow-empty", "-m", "Meanwhile");
  expect((await mergeBranch(asPerson(world), "mine")).outcome).toBe("done");
  expect(repo.git("log", "-1", "--format=%B", "main").trim()).toBe("Mine\n\nWith a reason.");
  expect(repo.git("rev-list", "--merges", "--count", "main")).toBe("0");
  await world.close();
});

test("ACC-1: while a daemon of `up --auto` lives, work lands by itself and squashed unless the configuration says otherwise", async () => {
  const { world, repo, land } = await scene({});
  const { registration, log } = runFiles(join(repo.path, ".git/overseer"));
  const register = (who: object) =>
    writeFileSync(
      registration,
      JSON.stringify({ instance: "d_1", socket: "s", log, ...world.parts.processes.self(), auto: true, ...who }),
    );
  await world.parts.files.makeDir(join(repo.path, ".git/overseer/run"));
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  for (const who of [{ auto: false }, { start: "another process" }]) {
    register(who);
    expect([await rulesNow(world.parts), await land("T1")]).toEqual([
      { mode: "review", strategy: "merge" },
      { kind: "waiting" },
    ]);
  }
  register({});
  const asked = { landing: { mode: "review", strategy: "merge" } };
  const strict = await landingWorld(repo.path, { config: asked });
  expect(await rulesNow(strict.parts)).toEqual({ mode: "review", strategy: "merge" });
  await strict.close();
  expect(await land("T1")).toEqual({ kind: "done" });
  expect(repo.git("log", "-1", "--format=%P", "main").split(" ")).toHaveLength(1);
  await world.close();
});
