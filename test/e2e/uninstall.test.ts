/** `uninstall` with real git, tmux, daemon and an agent: afterwards the repository is as before `init`. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultConfig } from "#config/schema.ts";
import { planUninstall, uninstall } from "#control/upkeep/uninstall.ts";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { Fleet } from "../support/fleet.ts";
import { asPerson, endOf } from "../support/landing-observations.ts";
import { foundLanding, landingWorld, tasks } from "../support/landing-world.ts";
import { run, say } from "../support/steps.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleets: Fleet[] = [];
afterEach(async () => {
  for (const fleet of fleets.splice(0)) if (existsSync(fleet.state)) await fleet.end();
});

/** What somebody who never ran it would see. */
function look({ git, path }: TempRepo) {
  return {
    status: git("status", "--porcelain", "--ignored"),
    worktrees: git("worktree", "list", "--porcelain"),
    config: git("config", "--local", "--list"),
    refs: git("for-each-ref")
      .split("\n")
      .filter((line) => !line.includes("\trefs/overseer/")),
    exclude: readFileSync(join(path, ".git/info/exclude"), "utf8"),
  };
}

test("INIT-1: uninstall stops everything and leaves status, worktrees, configuration and refs as before init; unlanded work stays", async () => {
  const fleet = await Fleet.make({ files: { "a.txt": "a\n" } });
  fleets.push(fleet);
  const { repo } = fleet;
  // Before init, as it would have been; a signature would wait for a passphrase that nobody types.
  const gpg = join(tempDir("gpg-"), "gpg");
  writeFileSync(gpg, `#!/bin/sh\ntouch '${gpg}.asked'\nsleep 600\n`, { mode: 0o755 });
  for (const [key, value] of Object.entries({ "commit.gpgsign": "true", "gpg.program": gpg }))
    repo.git("config", key, value);
  await fleet.ok("uninstall", "--yes");
  const before = look(repo);
  expect(existsSync(fleet.userDir) || existsSync(fleet.state)).toBe(false);
  await overseerOk(repo.path, "init");
  writeFileSync(
    join(fleet.userDir, "config.yaml"),
    "runtime: scripted\ncapacity: {loadFactor: 1000, minMemory: 1B, minMemoryPercent: 0, minDisk: 1B, minDiskPercent: 0}\n",
  );
  await fleet.ok("up");
  const attempt = await fleet.sling("ada", [
    run("echo b > b.txt; git add b.txt; git commit -q -m Work; echo c > c.txt"),
    say("Done."),
  ]);
  await fleet.turns(attempt.attempt, 1);
  // The commit is in the person's name, unsigned, and nobody was asked for a passphrase.
  const tip = repo.git("rev-parse", attempt.branch);
  const whose = (commit: string) => repo.git("log", "-1", "--format=%an <%ae>|%cn <%ce>|%G?", commit);
  expect(whose(tip)).toBe(whose("main"));
  expect(whose(tip)).toEndWith("|N");
  expect(existsSync(`${gpg}.asked`)).toBe(false);
  const planned = JSON.parse(await fleet.ok("uninstall", "--dry-run", "--json")) as {
    agents: string[];
    paths: string[];
  };
  expect(planned).toMatchObject({ agents: [`ada#${attempt.attempt}`], paths: [fleet.userDir, fleet.state] });
  expect(await fleet.run("uninstall", "--json")).toMatchObject({ code: 4 });
  expect(existsSync(attempt.worktree)).toBe(true);
  const said = await fleet.ok("uninstall", "--yes");
  expect(said).toContain("Kept refs/overseer/recovery/ada-");
  expect(look(repo)).toEqual(before);
  expect([fleet.userDir, fleet.state].map((path) => existsSync(path))).toEqual([false, false]);
  const kept = repo.git("for-each-ref", "--format=%(refname)", "refs/overseer/").split("\n");
  expect(kept.filter((ref) => !said.includes(`Kept ${ref};`))).toEqual([]);
  const holds = (file: string) =>
    kept.some((ref) => repo.git("ls-tree", "--name-only", ref).split("\n").includes(file));
  expect([holds("b.txt"), holds("c.txt")]).toEqual([true, true]);
  expect((await fleet.run("status")).code).not.toBe(0);
});

test("INIT-1: uninstall stops before what no ref can keep, leaves committed settings, and exports what has not landed", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n", ".gitignore": "*.log\n" } });
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path);
  const ada = { ...asPerson(world), socketDir: async () => tempDir("sockets-") };
  repo.write({ ".overseer/config.yaml": "{}\n" });
  repo.git("add", "--force", ".overseer/config.yaml");
  repo.git("commit", "--quiet", "-m", "Settings");
  const attempt = await world.attempt("T1");
  const commit = world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  await endOf(world, attempt.attempt);
  writeFileSync(join(attempt.worktree, "server.log"), "nowhere else\n");
  await expect(uninstall(ada, { discard: false })).rejects.toMatchObject({ code: "WORKTREES_KEPT", kind: "conflict" });
  expect(existsSync(join(attempt.worktree, "server.log")) && existsSync(world.parts.root.state)).toBe(true);
  const bundle = join(tempDir("bundle-"), "left.bundle");
  const done = await uninstall(ada, { discard: true, bundle });
  expect(done.left).toMatchObject([{ path: world.parts.root.userDir }]);
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(existsSync(join(world.parts.root.userDir, "config.yaml")) && !existsSync(world.parts.root.state)).toBe(true);
  expect(repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  expect(repo.git("bundle", "list-heads", bundle)).toContain(commit);
  expect(repo.git("worktree", "list", "--porcelain")).not.toContain(attempt.worktree);
});

/** A landing world whose one task has a commit that has not landed; its agent has ended. */
async function unlanded() {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path);
  const sockets = tempDir("sockets-");
  const ada = { ...asPerson(world), socketDir: async () => sockets };
  const attempt = await world.attempt("T1");
  const commit = world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  await endOf(world, attempt.attempt);
  return { repo, world, ada, attempt, commit, root: world.parts.root };
}

test("INIT-1: a bundle inside of what goes is refused before anything is changed, whatever leads there", async () => {
  const { repo, ada, attempt, commit, root } = await unlanded();
  const link = join(tempDir("link-"), "to");
  symlinkSync(root.userDir, link);
  const inside = [join(root.userDir, "w.bundle"), join(root.state, "new/w.bundle"), join(link, "w.bundle")];
  for (const bundle of [...inside, join(attempt.worktree, "w.bundle")]) {
    await expect(uninstall(ada, { discard: true, bundle })).rejects.toMatchObject({ code: "BUNDLE_INSIDE" });
  }
  expect(repo.git("rev-parse", attempt.branch)).toBe(commit);
  expect(existsSync(attempt.worktree)).toBe(true);
  // A place that cannot be written is found out before anything is changed.
  const nowhere = join(tempDir("none-"), "missing/w.bundle");
  await expect(uninstall(ada, { discard: true, bundle: nowhere })).rejects.toMatchObject({
    code: "BUNDLE_NOWHERE",
  });
  expect(repo.git("rev-parse", attempt.branch)).toBe(commit);
});

test("INIT-1: a bundle is seen from where the command was typed, and none is claimed where nothing is unlanded", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n", "sub/b.txt": "b\n" } });
  await overseerOk(repo.path, "init");
  const said = await overseerOk(join(repo.path, "sub"), "uninstall", "--yes", "--bundle", "out.bundle");
  expect(said).not.toContain("Unlanded work is in");
  expect(said).toContain("Nothing was unlanded");
  await overseerOk(repo.path, "init");
  repo.git(
    "update-ref",
    "refs/overseer/recovery/x",
    repo.git("commit-tree", "-p", "HEAD", "-m", "Left", "HEAD^{tree}"),
  );
  const file = join(repo.path, "sub/out.bundle");
  expect(await overseerOk(join(repo.path, "sub"), "uninstall", "--yes", "--bundle", "out.bundle")).toContain(file);
  expect(repo.git("bundle", "list-heads", file)).toContain("refs/overseer/recovery/x");
});

test("INIT-1: a person's worktree and files below .overseer/ stop uninstall before anything is changed, with their names", async () => {
  const { repo, ada, attempt, commit, root } = await unlanded();
  repo.git("worktree", "add", "--quiet", "-b", "mine", ".overseer/mine");
  repo.git("worktree", "add", "--quiet", "-b", "deep", ".git/overseer/deep");
  // Where worktrees were before the setting was changed.
  const moved = { ...defaultConfig(), worktree: { ...defaultConfig().worktree, dir: ".overseer/elsewhere" } };
  const now = { ...ada, config: async () => moved };
  repo.write({
    ".overseer/notes/n": "n\n",
    ".overseer/worktrees/todo.txt": "t\n",
    ".overseer/roles/mine.yaml": "{}\n",
  });
  const foreign = [".overseer/mine", ".git/overseer/deep", ".overseer/notes", ".overseer/worktrees/todo.txt"];
  const named = foreign.map((path) => join(repo.path, path)).sort();
  expect((await planUninstall(now)).foreign).toEqual(named);
  const refused = await uninstall(now, { discard: true }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "FOREIGN_FILES", kind: "conflict" });
  for (const path of named) expect(`${refused}`).toContain(path);
  expect(repo.git("rev-parse", attempt.branch)).toBe(commit);
  expect(existsSync(attempt.worktree)).toBe(true);
  repo.git("worktree", "remove", ".overseer/mine");
  repo.git("worktree", "remove", ".git/overseer/deep");
  rmSync(join(repo.path, ".overseer/notes"), { recursive: true });
  rmSync(join(repo.path, ".overseer/worktrees/todo.txt"));
  await uninstall(now, { discard: true });
  expect([root.userDir, root.state].map((path) => existsSync(path))).toEqual([false, false]);
});

test("INIT-1: an agent's branch that somebody has checked out stays, and it is said where", async () => {
  const { repo, ada, attempt, commit } = await unlanded();
  const mine = join(tempDir("mine-"), "w");
  repo.git("worktree", "add", "--quiet", "--force", mine, attempt.branch);
  const done = await uninstall(ada, { discard: true });
  expect(repo.git("rev-parse", attempt.branch)).toBe(commit);
  expect(done.branches).not.toContain(attempt.branch);
  expect(done.left).toMatchObject([{ path: attempt.branch, because: expect.stringContaining(mine) }]);
  expect(repo.git("-C", mine, "status", "--porcelain", "--branch")).toBe(`## ${attempt.branch}`);
});

test("INIT-1: uninstall finishes where the configuration is broken, and where the store is damaged or gone; not over an agent's worktree", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  const [config, state] = [join(repo.path, ".overseer/config.yaml"), join(repo.path, ".git/overseer")];
  const isOut = () => !existsSync(join(repo.path, ".overseer")) && !existsSync(state);
  await overseerOk(repo.path, "init");
  writeFileSync(config, "agents: [\n");
  const planned = JSON.parse(await overseerOk(repo.path, "uninstall", "--dry-run", "--json"));
  expect(planned.remarks).toMatchObject([expect.stringContaining("config.yaml:")]);
  await overseerOk(repo.path, "uninstall", "--yes");
  expect(isOut()).toBe(true);
  await overseerOk(repo.path, "init");
  writeFileSync(join(state, "overseer.db"), "no database".repeat(1000));
  await overseerOk(repo.path, "uninstall", "--yes");
  expect(isOut()).toBe(true);
  await overseerOk(repo.path, "init");
  repo.git("worktree", "add", "--quiet", "-b", "overseer/ada-1", ".overseer/worktrees/ada-1");
  for (const end of ["", "-wal", "-shm"]) rmSync(join(state, `overseer.db${end}`), { force: true });
  expect(await overseer(repo.path, "uninstall", "--yes")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(".overseer/worktrees/ada-1"),
  });
  repo.git("worktree", "remove", ".overseer/worktrees/ada-1");
  await overseerOk(repo.path, "uninstall", "--yes");
  expect(isOut()).toBe(true);
  expect((await overseer(repo.path, "uninstall", "--yes")).code).not.toBe(0);
});
