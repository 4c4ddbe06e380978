/** Worktrees against real git: made fresh and proven, removed without losing work, nothing left behind. */
import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listWorktrees } from "#git/repository.ts";
import { restoreWip } from "#git/wip-restore.ts";
import { type RemovalRequest, removeWorktree } from "#git/worktree-removal.ts";
import { setupWorktree } from "#git/worktree-setup.ts";
import { abandonWorktree, addWorktree, verifyWorktree } from "#git/worktrees.ts";
import { type Exec, systemExec } from "#sys/exec.ts";
import { realGitTools, testEnvironment } from "../support/git-tools.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

const tools = realGitTools();

interface Made {
  readonly repo: TempRepo;
  readonly base: string;
  readonly path: string;
  readonly branch: string;
  readonly removal: RemovalRequest;
}

async function made(options: { repo?: TempRepo; name?: string } = {}): Promise<Made> {
  const repo = options.repo ?? tempRepo({ files: { "a.txt": "a\n", ".gitignore": ".overseer/\n*.log\n" } });
  const base = repo.git("rev-parse", "HEAD");
  const name = options.name ?? "builder-1";
  const branch = `overseer/${name}/T1`;
  const path = join(repo.path, ".overseer", "worktrees", name);
  await addWorktree(tools, { repository: repo.path, path, branch, base });
  const expectedCommonDir = join(repo.path, ".git");
  const removal = { path, branch, expectedCommonDir, target: "main", base, isLeased: () => false, rebuildable: [] };
  return { repo, base, path, branch, removal };
}

/** Everything a failed start could leave: directory entries, administrative entries, branches. */
function leftovers(repo: TempRepo): string {
  const places = join(repo.path, ".overseer", "worktrees");
  const admin = join(repo.path, ".git", "worktrees");
  return JSON.stringify([
    existsSync(places) ? readdirSync(places) : [],
    existsSync(admin) ? readdirSync(admin) : [],
    repo.git("branch", "--list", "--format=%(refname)"),
  ]);
}

function commitIn(path: string, file: string): string {
  writeFileSync(join(path, file), `${file}\n`);
  gitIn(path, "add", "--all");
  gitIn(path, "commit", "--quiet", "--message", `Add ${file}`);
  return gitIn(path, "rev-parse", "HEAD");
}

describe("making a worktree", () => {
  test("WT-1: it is fresh, on its own branch, at the base, and the user's checkout does not move", async () => {
    const repo = tempRepo({ files: { "a.txt": "a\n", ".gitignore": ".overseer/\n" } });
    const index = readFileSync(join(repo.path, ".git", "index"));
    const hook = join(repo.path, ".git", "hooks", "post-checkout");
    writeFileSync(hook, `#!/bin/sh\ntouch ${JSON.stringify(join(repo.path, "hook-ran"))}\n`, { mode: 0o755 });
    const { path, branch, base } = await made({ repo });
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("a\n");
    expect(gitIn(path, "symbolic-ref", "HEAD")).toBe(`refs/heads/${branch}`);
    expect((await verifyWorktree(tools, { path, branch, base })).commonDir).toBe(join(repo.path, ".git"));
    expect(readFileSync(join(repo.path, ".git", "index"))).toEqual(index);
    expect(repo.git("status", "--porcelain", "--branch")).toBe("## main");
    expect(existsSync(join(repo.path, "hook-ran"))).toBe(false);
  });

  test("WT-1: an existing directory, branch or branch prefix is never taken over", async () => {
    const { repo, base, path, branch } = await made();
    const before = leftovers(repo);
    const add = (change: object) =>
      addWorktree(tools, { repository: repo.path, path: `${path}-x`, branch: "new", base, ...change });
    await expect(add({ path })).rejects.toMatchObject({ kind: "conflict", code: "WORKTREE_EXISTS" });
    await expect(add({ branch })).rejects.toMatchObject({ kind: "conflict", code: "BRANCH_EXISTS" });
    await expect(add({ branch: `${branch}/deeper` })).rejects.toMatchObject({ code: "BRANCH_EXISTS" });
    await expect(add({ branch: "overseer" })).rejects.toMatchObject({ code: "BRANCH_EXISTS" });
    await expect(add({ branch: "bad..name" })).rejects.toMatchObject({ kind: "usage", code: "BRANCH_INVALID" });
    await expect(add({ base: "1".repeat(40) })).rejects.toMatchObject({ kind: "not-found", code: "COMMIT_MISSING" });
    expect(leftovers(repo)).toBe(before);
  });

  test("WT-1: a place that git still lists is refused and its entry is left alone", async () => {
    const { repo, base, path } = await made();
    rmSync(path, { recursive: true });
    const before = leftovers(repo);
    const again = addWorktree(tools, { repository: repo.path, path, branch: "new", base });
    await expect(again).rejects.toMatchObject({ kind: "conflict", code: "WORKTREE_REGISTERED" });
    expect(leftovers(repo)).toBe(before);
  });

  test.each([
    ["right away", false],
    ["after the checkout began", true],
  ])("WT-1: a disk that fills up %s leaves nothing behind", async (_when, afterwards) => {
    const repo = tempRepo();
    const base = repo.git("rev-parse", "HEAD");
    const path = join(repo.path, ".overseer", "worktrees", "b-1");
    const before = leftovers(repo);
    const full = { ...realGitTools(fullDisk(afterwards)), files: { ...tools.files, freeBytes: async () => 100 } };
    const attempt = addWorktree(full, { repository: repo.path, path, branch: "overseer/b/T1", base });
    await expect(attempt).rejects.toMatchObject({ kind: "environment", code: "DISK_FULL" });
    expect(leftovers(repo)).toBe(before);
    await addWorktree(tools, { repository: repo.path, path, branch: "overseer/b/T1", base });
  });

  test("WT-1: a worktree that comes out broken is taken back", async () => {
    const repo = tempRepo({ files: { "a.txt": "a\n" } });
    const base = repo.git("rev-parse", "HEAD");
    const path = join(repo.path, ".overseer", "worktrees", "b-1");
    const before = leftovers(repo);
    const losing = realGitTools(after("worktree", () => rmSync(join(path, "a.txt"))));
    const attempt = addWorktree(losing, { repository: repo.path, path, branch: "overseer/b/T1", base });
    await expect(attempt).rejects.toMatchObject({ code: "WORKTREE_BROKEN" });
    expect(leftovers(repo)).toBe(before);
  });

  test("VALID-11: sha256, submodules, spaces, unicode, another default branch, a symlinked path", async () => {
    const library = tempRepo({ branch: "trunk" });
    const home = join(tempDir(), "ein Ordner — ü");
    mkdirSync(home);
    gitIn(home, "init", "--quiet", "--initial-branch", "trunk");
    gitIn(home, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", library.path, "lib ü");
    commitIn(home, "ünï cödé.txt");
    symlinkSync(home, `${home}-link`);
    const path = join(`${home}-link`, ".overseer", "worktrees", "b 1");
    const base = gitIn(home, "rev-parse", "HEAD");
    const worktree = await addWorktree(tools, { repository: `${home}-link`, path, branch: "overseer/ä/T1", base });
    expect(worktree.submodules).toEqual(["lib ü"]);
    expect(worktree.path).toBe(join(home, ".overseer", "worktrees", "b 1"));
    expect((await listWorktrees(tools.git, home)).map((each) => each.path)).toEqual([home, worktree.path]);

    const wide = join(tempDir(), "sha256");
    gitIn(tempDir(), "init", "--quiet", "--object-format=sha256", wide);
    const wideBase = commitIn(wide, "a");
    const wideTree = join(wide, ".overseer", "b-1");
    await addWorktree(tools, { repository: wide, path: wideTree, branch: "overseer/b/T1", base: wideBase });
    writeFileSync(join(wideTree, "new"), "crlf\r\n");
    symlinkSync("a", join(wideTree, "link"));
    const removal = { path: wideTree, branch: "overseer/b/T1", expectedCommonDir: join(wide, ".git") };
    const outcome = await removeWorktree(tools, {
      ...removal,
      target: "HEAD",
      isLeased: () => false,
      force: true,
      rebuildable: [],
    });
    const again = join(wide, ".overseer", "b-2");
    await addWorktree(tools, { repository: wide, path: again, branch: "overseer/b/T1-2", base: wideBase });
    await restoreWip(tools, { ref: outcome.recovery[0] ?? "", into: again });
    expect(readFileSync(join(again, "new"), "utf8")).toBe("crlf\r\n");
  });
});

describe("taking back one that was cut short", () => {
  test("WT-1: after a crash at any point of making it, nothing is left", async () => {
    const repo = tempRepo({ files: { "a.txt": "a\n", ".gitignore": ".overseer/\n" } });
    const base = repo.git("rev-parse", "HEAD");
    const path = join(repo.path, ".overseer", "worktrees", "b-1");
    const plan = { repository: repo.path, path, branch: "overseer/b/T1", base };
    mkdirSync(join(path, ".."), { recursive: true });
    const before = leftovers(repo);
    const crashes: [why: string, make: () => unknown][] = [
      ["before anything", () => undefined],
      ["after the branch", () => repo.git("branch", plan.branch, base)],
      ["after the directory", () => mkdirSync(path)],
      ["half way through the files", async () => halfMade(await addWorktree(tools, plan))],
      ["before .git was written", async () => rmSync(join(halfMade(await addWorktree(tools, plan)), ".git"))],
      ["after everything", () => addWorktree(tools, plan)],
    ];
    for (const [, make] of crashes) {
      await make();
      await abandonWorktree(tools, plan);
      expect(leftovers(repo)).toBe(before);
    }
  });

  test("WT-1: what somebody may have worked in is not taken back", async () => {
    const { repo, base, path, branch } = await made();
    const plan = { repository: repo.path, path, branch, base };
    const refused = { kind: "conflict", code: "WORKTREE_IN_USE" };
    writeFileSync(join(path, "new"), "x");
    await expect(abandonWorktree(tools, plan)).rejects.toMatchObject(refused);
    commitIn(path, "more");
    await expect(abandonWorktree(tools, plan)).rejects.toMatchObject(refused);
    const stranger = join(path, "..", "stranger");
    mkdirSync(stranger);
    writeFileSync(join(stranger, "file"), "x");
    await expect(abandonWorktree(tools, { ...plan, branch: "none", path: stranger })).rejects.toMatchObject(refused);
    expect(existsSync(join(stranger, "file")) && existsSync(join(path, "more"))).toBe(true);
  });

  /** As git leaves it when it is killed: locked by itself, no index, files missing. */
  function halfMade(worktree: { path: string; gitDir: string }): string {
    writeFileSync(join(worktree.gitDir, "locked"), "initializing");
    rmSync(join(worktree.gitDir, "index"));
    rmSync(join(worktree.path, "a.txt"));
    return worktree.path;
  }
});

describe("removing a worktree", () => {
  test("WT-1: merged and clean, it goes with its branch; a second time is fine", async () => {
    const { repo, path, branch, removal } = await made();
    commitIn(path, "work");
    repo.git("merge", "--quiet", branch);
    expect(await removeWorktree(tools, removal)).toEqual({
      removed: true,
      branchDeleted: true,
      recovery: [],
      lost: [],
    });
    expect(leftovers(repo)).toBe(JSON.stringify([[], [], "refs/heads/main"]));
    expect(await removeWorktree(tools, removal)).toEqual({
      removed: false,
      branchDeleted: false,
      recovery: [],
      lost: [],
    });
  });

  test("WT-1: leased, dirty, unmerged, moved to another branch: refused, and nothing changes", async () => {
    const { repo, path, removal } = await made();
    const refuse = async (code: string, change: object = {}) => {
      const before = leftovers(repo);
      await expect(removeWorktree(tools, { ...removal, ...change })).rejects.toMatchObject({ kind: "conflict", code });
      expect(leftovers(repo)).toBe(before);
    };
    await refuse("WORKTREE_LEASED", { isLeased: async () => true });
    await refuse("WORKTREE_LEASED", { isLeased: () => true, force: true });
    writeFileSync(join(path, "untracked"), "x");
    await refuse("WORKTREE_DIRTY");
    commitIn(path, "more");
    await refuse("WORKTREE_UNMERGED");
    gitIn(path, "checkout", "--quiet", "--detach");
    await refuse("WORKTREE_ON_OTHER_BRANCH");
    repo.git("worktree", "lock", "--reason", "on a stick", path);
    await refuse("WORKTREE_LOCKED", { force: true });
  });

  test("WT-1: forced, what was unmerged, detached or uncommitted stays reachable", async () => {
    const { repo, path, branch, removal, base } = await made();
    const onBranch = commitIn(path, "on-branch");
    gitIn(path, "checkout", "--quiet", "--detach");
    const detached = commitIn(path, "detached");
    writeFileSync(join(path, "a.txt"), "uncommitted\r\n");
    const outcome = await removeWorktree(tools, { ...removal, force: true });
    expect(outcome).toMatchObject({ removed: true, branchDeleted: true });
    const [first, second, third] = outcome.recovery;
    expect([first, second, third].map((ref) => ref?.replace(/.*\//, ""))).toEqual([
      "builder-1-1",
      "builder-1-2",
      "builder-1-3",
    ]);
    expect(repo.git("rev-parse", first ?? "", second ?? "", `${third}^`)).toBe(
      [onBranch, detached, detached].join("\n"),
    );
    await addWorktree(tools, { repository: repo.path, path, branch, base: detached });
    await restoreWip(tools, { ref: third ?? "", into: path });
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("uncommitted\r\n");
    expect(base).not.toBe(detached);
  });

  test("WT-1: somebody who is let in while it is being removed keeps the worktree", async () => {
    const { path, removal } = await made();
    commitIn(path, "work");
    let asked = 0;
    const letIn = removeWorktree(tools, { ...removal, force: true, isLeased: () => ++asked > 1 });
    await expect(letIn).rejects.toMatchObject({ kind: "conflict", code: "WORKTREE_LEASED" });
    expect(gitIn(path, "status", "--porcelain", "--branch")).toBe(`## ${removal.branch}`);
  });

  test("WT-1: removed by two at once, it is gone for both", async () => {
    const { repo, path, removal } = await made();
    const own = commitIn(path, "work");
    const both = await Promise.all([1, 2].map(() => removeWorktree(tools, { ...removal, force: true })));
    expect(both.map(({ recovery }) => recovery.map((ref) => repo.git("rev-parse", ref)))).toContainEqual([own]);
    expect(leftovers(repo)).toBe(JSON.stringify([[], [], "refs/heads/main"]));
  });

  test("WT-1: removed by another while git stands in what goes, it is gone for both", async () => {
    const { repo, path, removal } = await made();
    const own = commitIn(path, "work");
    const request = { ...removal, force: true };
    const real = systemExec();
    let others: Awaited<ReturnType<typeof removeWorktree>> | undefined;
    const late: Exec = {
      run: async (argv, options) => {
        const cwd = options?.cwd ?? "";
        if (others !== undefined || !argv.includes("cat-file") || !cwd.includes("/.git/worktrees/")) {
          return real.run(argv, options);
        }
        const waits = 'while [ -d "$0" ]; do sleep 0.01; done; exec "$@"';
        const said = real.run(["sh", "-c", waits, cwd, ...argv], options);
        others = await removeWorktree(tools, request);
        expect((await said).stderr).toContain("Unable to read current working directory");
        return said;
      },
    };
    expect(await removeWorktree(realGitTools(late), request)).toMatchObject({ removed: false });
    expect(others?.recovery.map((ref) => repo.git("rev-parse", ref))).toEqual([own]);
    expect(leftovers(repo)).toBe(JSON.stringify([[], [], "refs/heads/main"]));
  });

  test("CLEAN-1: a git gc that takes unnamed objects in between costs nothing of what is kept", async () => {
    const { repo, path, removal } = await made();
    writeFileSync(join(path, "a.txt"), "uncommitted\n");
    const disturbed = realGitTools(after("write-tree", () => repo.git("gc", "--quiet", "--prune=now")));
    const { recovery } = await removeWorktree(disturbed, { ...removal, force: true });
    expect(recovery).toHaveLength(1);
    expect(repo.git("show", `${recovery[0]}:a.txt`)).toBe("uncommitted");
  });

  test("WT-1: a directory that is not the worktree meant is not touched", async () => {
    const { repo, path, removal } = await made();
    const stranger = await made();
    const prove = (change: object) => removeWorktree(tools, { ...removal, force: true, ...change });
    const refused = { kind: "conflict", code: "NOT_THE_WORKTREE" };
    await expect(prove({ path: stranger.path })).rejects.toMatchObject(refused);
    await expect(prove({ path: repo.path })).rejects.toMatchObject(refused);
    const copy = join(repo.path, ".overseer", "worktrees", "copy");
    cpSync(path, copy, { recursive: true });
    await expect(prove({ path: copy })).rejects.toMatchObject(refused);
    rmSync(join(path, ".git"));
    await expect(prove({})).rejects.toMatchObject(refused);
    expect(existsSync(join(path, "a.txt")) && existsSync(join(copy, "a.txt"))).toBe(true);
  });

  test("WT-1: one that was interrupted, or deleted by hand, is finished by the next call", async () => {
    const { repo, path, removal } = await made();
    const other = await made({ repo, name: "other-2" });
    rmSync(other.path, { recursive: true });
    mkdirSync(join(path, "..", ".discarded-builder-1-OLD"));
    rmSync(path, { recursive: true });
    expect(await removeWorktree(tools, removal)).toEqual({
      removed: false,
      branchDeleted: true,
      recovery: [],
      lost: [],
    });
    const known = (await listWorktrees(tools.git, repo.path)).map((each) => each.path);
    expect(known).toEqual([repo.path, other.path]);
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  test("WT-1: commits of a worktree deleted by hand are still seen", async () => {
    const { path, removal } = await made();
    gitIn(path, "checkout", "--quiet", "--detach");
    const lonely = commitIn(path, "lonely");
    rmSync(path, { recursive: true });
    await expect(removeWorktree(tools, removal)).rejects.toMatchObject({ code: "WORKTREE_UNMERGED" });
    const outcome = await removeWorktree(tools, { ...removal, force: true });
    expect(gitIn(removal.expectedCommonDir, "rev-parse", outcome.recovery[0] ?? "")).toBe(lonely);
  });
});

describe("setting a worktree up", () => {
  const setup = (command: string, timeoutMs = 20_000) => {
    const worktree = tempDir();
    const logFile = join(worktree, "setup.log");
    return {
      worktree,
      logFile,
      done: setupWorktree(tools, { worktree, command, timeoutMs, env: testEnvironment(), logFile }),
    };
  };

  test("WT-1: the command runs verbatim in the worktree and its output is kept", async () => {
    const { worktree, logFile, done } = setup(`printf '%s' "a  b" > made && echo out && echo err >&2`);
    await done;
    expect(readFileSync(join(worktree, "made"), "utf8")).toBe("a  b");
    expect(readFileSync(logFile, "utf8")).toContain("out\n\nerr\n\n[exit 0]");
  });

  test("WT-1: a failing or endless set-up is an error with its output", async () => {
    const failing = setup("echo no such tool >&2; exit 3");
    await expect(failing.done).rejects.toMatchObject({ kind: "environment", code: "SETUP_FAILED" });
    expect(readFileSync(failing.logFile, "utf8")).toContain("no such tool");
    await expect(setup("sleep 30", 50).done).rejects.toMatchObject({ code: "SETUP_TIMED_OUT" });
  });
});

/** A disk that is full for `git worktree add`: before it wrote anything, or after it wrote everything. */
function fullDisk(afterwards: boolean): Exec {
  const real = systemExec();
  const failure = { code: 128, signal: null, stdout: "", timedOut: false, truncated: false };
  return {
    run: async (argv, options) => {
      if (!(argv.includes("worktree") && argv.includes("add"))) return real.run(argv, options);
      if (afterwards) await real.run(argv, options);
      // Git's own words in both cases: in the middle of a checkout it does not say why.
      const stderr = afterwards
        ? "error: unable to write file README.md"
        : "fatal: write error: No space left on device";
      return { ...failure, stderr };
    },
  };
}

/** Does something to the world right after the first run of a git command. */
function after(command: string, effect: () => void): Exec {
  const real = systemExec();
  let pending = true;
  return {
    run: async (argv, options) => {
      const result = await real.run(argv, options);
      if (pending && argv.includes(command)) {
        pending = false;
        effect();
      }
      return result;
    },
  };
}
