/** Facts about real repositories, read without changing a byte of them. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  checkoutFingerprint,
  findCommit,
  findCommits,
  hasCommits,
  headOf,
  isMergedInto,
  isStatusClean,
  listWorktrees,
  readStatus,
  repositoryAt,
  targetBranch,
  userIdentity,
  worktreeHead,
} from "#git/repository.ts";
import { snapshotWip } from "#git/wip.ts";
import { addWorktree } from "#git/worktrees.ts";
import { realGitTools } from "../support/git-tools.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

const tools = realGitTools();
const { git } = tools;

test("VALID-11: where a repository is, from any directory of it", async () => {
  const repo = tempRepo({ files: { "dir/a": "a\n" } });
  const common = join(repo.path, ".git");
  const facts = { commonDir: common, gitDir: common, topLevel: repo.path, bare: false, objectFormat: "sha1" };
  expect(await repositoryAt(git, join(repo.path, "dir"))).toEqual(facts as never);
  const outside = repositoryAt(git, tempDir());
  await expect(outside).rejects.toMatchObject({ kind: "not-found", code: "NOT_A_REPOSITORY" });
});

test("VALID-11: a bare repository works too", async () => {
  const repo = tempRepo();
  const bare = join(tempDir(), "bare.git");
  gitIn(repo.path, "clone", "--quiet", "--bare", repo.path, bare);
  expect(await repositoryAt(git, bare)).toMatchObject({ bare: true, commonDir: bare, topLevel: undefined });
  const base = repo.git("rev-parse", "HEAD");
  const path = join(bare, "overseer", "worktrees", "b-1");
  await addWorktree(tools, { repository: bare, path, branch: "overseer/b/T1", base });
  writeFileSync(join(path, "new"), "x");
  expect((await snapshotWip(tools, { worktree: path, assignment: "A_1" })).kind).toBe("saved");
  expect((await listWorktrees(git, bare)).map((each) => each.bare)).toEqual([true, false]);
});

test("a repository without commits is refused with the next step", async () => {
  const path = tempDir();
  gitIn(path, "init", "--quiet");
  expect(await hasCommits(git, path)).toBe(false);
  const refused = { kind: "conflict", code: "NO_COMMITS", hint: expect.stringContaining("first commit") };
  await expect(headOf(git, path)).rejects.toMatchObject(refused);
  await expect(targetBranch(git, path, {})).rejects.toMatchObject(refused);
});

test("commits and branches are resolved, detached or not", async () => {
  const repo = tempRepo({ branch: "trünk" });
  const commit = repo.git("rev-parse", "HEAD");
  expect(await headOf(git, repo.path)).toEqual({ commit, branch: "trünk" });
  expect(await findCommit(git, repo.path, "trünk")).toBe(commit);
  expect(await findCommit(git, repo.path, "--all")).toBeUndefined();
  repo.git("commit", "--quiet", "--allow-empty", "--message", "Second");
  expect(await isMergedInto(git, repo.path, commit, "trünk")).toBe(true);
  expect(await isMergedInto(git, repo.path, "trünk", commit)).toBe(false);
  repo.git("checkout", "--quiet", "--detach");
  expect((await headOf(git, repo.path)).branch).toBeUndefined();
});

test("many names are resolved at once, and those that stand for nothing are left out", async () => {
  const repo = tempRepo({ files: { a: "a\n" } });
  const commit = repo.git("rev-parse", "HEAD");
  repo.git("tag", "--annotate", "--message", "One", "v1");
  const names = ["ORIG_HEAD", "v1", "--all", "HEAD:a", commit, "f".repeat(40), "HEAD"];
  expect(await findCommits(git, { cwd: repo.path }, names)).toEqual([commit, commit, commit]);
  expect(await findCommits(git, { cwd: repo.path }, [])).toEqual([]);
});

test("what a worktree has checked out: on its branch, packed or not, detached, and where it is gone", async () => {
  const repo = tempRepo({ files: { a: "a\n" } });
  const commonDir = join(repo.path, ".git");
  const path = join(repo.path, "wt");
  await addWorktree(tools, {
    repository: commonDir,
    path,
    branch: "overseer/b/T1",
    base: repo.git("rev-parse", "HEAD"),
  });
  const agrees = async () => {
    const head = gitIn(path, "rev-parse", "HEAD").trim();
    expect(await worktreeHead(tools, commonDir, path)).toBe(head);
    return head;
  };
  const first = await agrees();
  gitIn(path, "commit", "--quiet", "--allow-empty", "--message", "Second");
  expect(await agrees()).not.toBe(first);
  repo.git("pack-refs", "--all");
  await agrees();
  gitIn(path, "checkout", "--quiet", "--detach", first);
  expect(await agrees()).toBe(first);
  gitIn(path, "checkout", "--quiet", "--orphan", "nothing-yet");
  expect(await worktreeHead(tools, commonDir, path)).toBeUndefined();
  rmSync(path, { recursive: true });
  await expect(worktreeHead(tools, commonDir, path)).rejects.toMatchObject({ code: "CWD_MISSING" });
});

test("the target branch: named, else origin's, else the one at init, and never a detached HEAD", async () => {
  const origin = tempRepo({ branch: "trunk" });
  const path = join(tempDir(), "clone");
  gitIn(origin.path, "clone", "--quiet", origin.path, path);
  gitIn(path, "checkout", "--quiet", "-b", "feature");
  expect(await targetBranch(git, path, { config: "feature" })).toBe("feature");
  expect(await targetBranch(git, path, { atInit: "feature" })).toBe("trunk");
  gitIn(path, "branch", "--quiet", "-D", "trunk");
  expect(await targetBranch(git, path, { atInit: "feature" })).toBe("feature");
  expect(await targetBranch(git, path, {})).toBe("feature");
  await expect(targetBranch(git, path, { flag: "nope" })).rejects.toMatchObject({ code: "BRANCH_MISSING" });
  gitIn(path, "checkout", "--quiet", "--detach");
  await expect(targetBranch(git, path, {})).rejects.toMatchObject({ code: "TARGET_BRANCH_UNKNOWN" });
});

test("dirty means a tracked file changed, and untracked only where asked", async () => {
  const repo = tempRepo({ files: { "a b.txt": "a\n", ".gitignore": "*.log\n" } });
  writeFileSync(join(repo.path, "x.log"), "ignored");
  expect(await isStatusClean(git, repo.path)).toBe(true);
  mkdirSync(join(repo.path, "new"));
  writeFileSync(join(repo.path, "new", "ü\n"), "new");
  expect(await isStatusClean(git, repo.path)).toBe(false);
  repo.git("mv", "a b.txt", "c d.txt");
  expect(await readStatus(git, repo.path, { renames: true })).toEqual([
    { kind: "renamed", staged: "R", unstaged: ".", path: "c d.txt", from: "a b.txt", submodule: false },
    { kind: "untracked", path: "new/ü\n" },
  ]);
});

test("CLEAN-1: the fingerprint sees every change of the checkout and is blind to mere looking", async () => {
  const repo = tempRepo({ files: { a: "a\n", b: "b\n" } });
  const print = () => checkoutFingerprint(tools, repo.path);
  const index = () => readFileSync(join(repo.path, ".git", "index")).toString("base64");
  let last = await print();
  const differsIn = async (...parts: ("head" | "index" | "status")[]) => {
    const now = await print();
    const changed = (["head", "index", "status"] as const).filter((part) => now[part] !== last[part]);
    expect(changed).toEqual(parts);
    last = now;
  };
  const before = index();
  // Git would now like to note the new time of the file in the index.
  utimesSync(join(repo.path, "a"), 1_000_000_000, 1_000_000_000);
  await differsIn();
  expect(index()).toBe(before);
  repo.git("status");
  await differsIn();
  repo.write({ a: "changed\n" });
  await differsIn("status");
  repo.write({ a: "changed again\n" });
  await differsIn("status");
  repo.git("add", "a");
  await differsIn("index", "status");
  repo.git("commit", "--quiet", "--message", "Change");
  await differsIn("head", "status");
  repo.write({ new: "new\n" });
  await differsIn("status");
  repo.git("checkout", "--quiet", "-b", "other");
  await differsIn("head");
  expect(last.head).toBe(`other ${repo.git("rev-parse", "HEAD")}`);
  repo.git("checkout", "--quiet", "--detach");
  await differsIn("head");
  expect(last.head).toBe(`detached ${repo.git("rev-parse", "HEAD")}`);
});

test("the user's identity, else Overseer's own", async () => {
  const repo = tempRepo();
  const overseer = { name: "Overseer", email: "overseer@localhost" };
  expect(await userIdentity(git, repo.path)).toEqual(overseer);
  repo.git("config", "user.name", "Ada");
  expect(await userIdentity(git, repo.path)).toEqual(overseer);
  repo.git("config", "user.email", "ada@example.invalid");
  expect(await userIdentity(git, repo.path)).toEqual({ name: "Ada", email: "ada@example.invalid" });
});

test("a lock somebody holds for a moment does not fail a command", async () => {
  const repo = tempRepo();
  const lock = join(repo.path, ".git", "index.lock");
  writeFileSync(lock, "");
  let waited = 0;
  const { gitRunner } = await import("#git/git.ts");
  const patient = gitRunner({
    exec: tools.exec,
    env: { PATH: process.env.PATH ?? "" },
    clock: {
      ...tools.clock,
      sleep: async () => {
        waited += 1;
        if (waited === 2) rmSync(lock);
      },
    },
  });
  repo.write({ new: "x\n" });
  await patient.run(["add", "new"], { cwd: repo.path });
  expect(waited).toBe(2);
  expect(existsSync(lock)).toBe(false);
});
