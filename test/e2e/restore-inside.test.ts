/**
 * Bringing back what submodules and nested repositories held: only ever into a repository of their own kind. Laid over
 * any other, a snapshot would delete every file there and put its own in their place.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { snapshotWip } from "#git/wip.ts";
import { restoreWip } from "#git/wip-restore.ts";
import { removeWorktree } from "#git/worktree-removal.ts";
import { addWorktree } from "#git/worktrees.ts";
import { bundled, overseer } from "../support/cli.ts";
import { realGitTools } from "../support/git-tools.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const tools = realGitTools();
const LOCAL = ["-c", "protocol.file.allow=always"];

interface Kept {
  readonly repo: TempRepo;
  /** A clean worktree of the project. */
  readonly other: string;
  /** What was kept of each repository inside, by its path. */
  readonly refs: (path: string) => string[];
  /** The commit an agent made in the submodule. */
  readonly own: string;
}

/** A worktree with a submodule `lib` (a commit and changes in it) and a nested repository without a commit is removed. */
async function kept(): Promise<Kept> {
  const repo = tempRepo({ files: { "a.txt": "a\n", ".gitignore": ".overseer/\n" } });
  const library = tempRepo({ files: { "lib.txt": "lib\n" } });
  repo.git(...LOCAL, "submodule", "add", "--quiet", library.path, "lib");
  repo.git("commit", "--quiet", "--message", "With a library");
  const base = repo.git("rev-parse", "HEAD");
  const expectedCommonDir = join(repo.path, ".git");
  const [path, branch] = [join(repo.path, ".overseer", "worktrees", "alice-1"), "overseer/alice-1/T1"];
  await addWorktree(tools, { repository: repo.path, path, branch, base });
  gitIn(path, ...LOCAL, "submodule", "update", "--quiet", "--init");
  const lib = join(path, "lib");
  writeFileSync(join(lib, "own.txt"), "own\n");
  gitIn(lib, "add", "--all");
  gitIn(lib, "commit", "--quiet", "--message", "Own");
  const own = gitIn(lib, "rev-parse", "HEAD");
  writeFileSync(join(lib, "lib.txt"), "changed\n");
  gitIn(path, "init", "--quiet", "nested");
  writeFileSync(join(path, "nested", "n.txt"), "n\n");
  gitIn(path, "init", "--quiet", "deep");
  writeFileSync(join(path, "deep", "d.txt"), "d\n");
  gitIn(join(path, "deep"), "add", "--all");
  gitIn(join(path, "deep"), "commit", "--quiet", "--message", "Deep");
  const removal = { path, branch, expectedCommonDir, target: "main", base, isLeased: () => false, rebuildable: [] };
  const { recovery } = await removeWorktree(tools, { ...removal, force: true });
  const other = join(tempDir(), "other");
  await addWorktree(tools, { repository: repo.path, path: other, branch: "other", base });
  return { repo, other, own, refs: (inside) => recovery.filter((ref) => ref.includes(`-of-${inside}-`)) };
}

const only = (refs: readonly string[]): string => {
  expect(refs).toHaveLength(1);
  return refs[0] ?? "none";
};

function isUntouched(other: string): void {
  expect(gitIn(other, "status", "--porcelain", "--untracked-files=all")).toBe("");
  expect(readFileSync(join(other, "a.txt"), "utf8")).toBe("a\n");
}

describe("what a repository inside a worktree held", () => {
  test("WIP-1: is never laid over a worktree of another repository, by ref or by commit, forced or not", async () => {
    const { repo, other, refs } = await kept();
    const expectedCommonDir = join(repo.path, ".git");
    for (const ref of [only(refs("lib")), only(refs("nested"))]) {
      const commit = repo.git("rev-parse", ref);
      for (const [named, force] of [
        [ref, false],
        [ref.slice("refs/".length), true],
        [commit, true],
      ] as const) {
        const refused = restoreWip(tools, { ref: named, into: other, expectedCommonDir, force });
        await expect(refused).rejects.toMatchObject({ kind: "conflict", code: "ANOTHER_REPOSITORY" });
      }
    }
    isUntouched(other);
    const foreign = tempRepo({ files: { "mine.txt": "mine\n" } });
    const into = restoreWip(tools, { ref: only(refs("lib")), into: foreign.path, expectedCommonDir });
    await expect(into).rejects.toMatchObject({ code: "ANOTHER_REPOSITORY" });
    expect(foreign.git("status", "--porcelain")).toBe("");
  });

  test("WIP-1: comes back by what the refusal says to type, into the submodule and into a fresh repository", async () => {
    const { repo, other, own, refs } = await kept();
    const run = (...words: string[]) => overseer(repo.path, "worktree", "restore", ...words);
    const [lib, nested, deep] = [only(refs("lib")), only(refs("nested")), only(refs("deep"))];
    const { stdout: list } = await run();
    const lines = list.split("\n").map((line) => line.replace(/\s+/g, " "));
    for (const [ref, holds] of [
      [lib, "commits and files of lib"],
      [nested, "files of nested"],
      [deep, "commits of deep"],
    ]) {
      expect(lines.find((line) => line.startsWith(`${ref} `))).toContain(` ${holds} `);
    }
    const mine = join(repo.path, "lib");
    for (const more of [[], ["--into", other]]) {
      const refused = await run(lib, ...more);
      expect(refused.code).toBe(4);
      expect(refused.stderr).toContain(`overseer worktree restore ${lib} --into ${mine}`);
      expect(refused.stderr).toContain(`git -C ${mine} fetch ${repo.path} ${lib}`);
    }
    isUntouched(other);
    const commits = await run(deep);
    expect(commits.code).not.toBe(0);
    expect(commits.stderr).toContain(`fetch ${repo.path} ${deep}`);
    expect(commits.stderr).not.toContain("git branch <name>");

    writeFileSync(join(mine, "lib.txt"), "in the way\n");
    const dirty = await run(lib, "--into", mine, "--force");
    expect([dirty.code, readFileSync(join(mine, "lib.txt"), "utf8")]).toEqual([4, "in the way\n"]);
    gitIn(mine, "checkout", "--quiet", "lib.txt");
    const head = gitIn(mine, "rev-parse", "HEAD");
    const done = await run(lib, "--into", mine);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(["lib.txt", "own.txt"].map((name) => readFileSync(join(mine, name), "utf8"))).toEqual([
      "changed\n",
      "own\n",
    ]);
    expect(gitIn(mine, "rev-parse", "HEAD")).toBe(head);
    // The commit below it is there as well, and nothing of the user's names it.
    expect(gitIn(mine, "cat-file", "-t", own)).toBe("commit");
    expect(done.stdout).toContain(own.slice(0, 10));
    expect(repo.git("diff", "--cached", "--name-only")).toBe("");

    const fresh = tempDir();
    gitIn(fresh, "init", "--quiet");
    expect((await run(nested, "--into", fresh)).code).toBe(0);
    expect(readFileSync(join(fresh, "n.txt"), "utf8")).toBe("n\n");
    expect(existsSync(join(repo.path, "n.txt"))).toBe(false);
  });
});

test("WIP-1: a snapshot of a history that has nothing in common with what is checked out is not laid over it", async () => {
  const { repo, other } = await kept();
  const tree = join(tempDir(), "orphan");
  repo.git("worktree", "add", "--quiet", "--detach", tree, "main");
  gitIn(tree, "checkout", "--quiet", "--orphan", "pages");
  gitIn(tree, "rm", "-r", "--quiet", "--force", ".");
  writeFileSync(join(tree, "index.html"), "page\n");
  gitIn(tree, "add", "--all");
  gitIn(tree, "commit", "--quiet", "--message", "Page");
  writeFileSync(join(tree, "index.html"), "changed\n");
  const saved = await snapshotWip(tools, { worktree: tree, assignment: "A_1" });
  const ref = saved.kind === "clean" ? "none" : saved.ref;
  const refused = restoreWip(tools, { ref, into: other, force: true });
  await expect(refused).rejects.toMatchObject({ code: "ANOTHER_REPOSITORY" });
  isUntouched(other);
  gitIn(tree, "checkout", "--quiet", "--force", "HEAD");
  expect((await restoreWip(tools, { ref, into: tree })).kind).toBe("restored");
});
