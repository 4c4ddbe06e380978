/**
 * Landing beside what somebody has changed and not committed: where the paths do not meet it lands, and the checkout is
 * afterwards what `git merge --ff-only` makes of a copy of it, file by file and entry by entry of the index. Where they
 * meet nothing of it is touched.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { clearStaleLocks } from "#act/sling/git-locks.ts";
import { defaultConfig } from "#config/schema.ts";
import { advanceBranch, changesBetween, type MoveResult } from "#git/landing.ts";
import { systemClock } from "#sys/clock.ts";
import { systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { systemProcesses } from "#sys/processes.ts";
import { findRoot } from "#sys/root.ts";
import { realGitTools, testEnvironment } from "../support/git-tools.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const STALE_AFTER_MS = defaultConfig().repo.staleLockAfter;

const HOME = tempDir("home-");
const FILES = {
  "a.txt": "a\n",
  "b.txt": "b\n",
  "dir/c.txt": "c\n",
  "dir/d.txt": "d\n",
  "gone.txt": "gone\n",
  "old.txt": "one\ntwo\nthree\nfour\n",
  "run.sh": "true\n",
  "src/deep/e.txt": "e\n",
  ".gitattributes": "*.md text\n",
  ".gitignore": "*.secret\n",
};

/** A repository, and beside its branch a commit that edits, adds, removes, renames and makes executable. */
function scene(): { repo: TempRepo; to: string } {
  const repo = tempRepo({ files: FILES });
  repo.git("switch", "--quiet", "--create", "landing");
  repo.write({ "a.txt": "better\n", "new/n.txt": "n\n", "dir/c.txt": "better\n", "sub/my.secret": "theirs\n" });
  repo.git("mv", "old.txt", "moved.txt");
  repo.git("rm", "--quiet", "gone.txt");
  chmodSync(join(repo.path, "run.sh"), 0o755);
  repo.git("add", "--all", "--force");
  repo.git("commit", "--quiet", "--message", "The agent's");
  const to = repo.git("rev-parse", "HEAD");
  repo.git("switch", "--quiet", "main");
  return { repo, to };
}

async function move(repo: TempRepo, to: string, exec = systemExec()): Promise<MoveResult> {
  const tools = realGitTools(exec);
  const repository = join(repo.path, ".git");
  const from = repo.git("rev-parse", "main");
  const changes = await changesBetween(tools, repository, from, to);
  return advanceBranch(tools, repository, { branch: "main", from, to, changes });
}

/** Files, what is staged and how git sees the two. */
function seen(path: string): Record<string, string> {
  const inside = snapshot(path, HOME);
  const files = Object.entries(inside).filter(([name]) => !name.startsWith("repo/.git/"));
  return {
    ...Object.fromEntries(files),
    refs: gitIn(path, "rev-parse", "main"),
    staged: gitIn(path, "ls-files", "--stage", "--debug").replace(/^ {2}.*\n?/gm, ""),
    added: gitIn(path, "diff", "--cached", "--raw", "--no-abbrev"),
    status: gitIn(path, "status", "--porcelain=v2"),
  };
}

test("ACC-2: what somebody else has landed meanwhile is not in its own way", async () => {
  const { repo, to } = scene();
  const tools = realGitTools();
  const repository = join(repo.path, ".git");
  const from = repo.git("rev-parse", "main");
  const changes = await changesBetween(tools, repository, from, to);
  const wish = { branch: "main", from, to, changes };
  expect(await advanceBranch(tools, repository, wish)).toEqual({ kind: "moved", behind: [] });
  expect(await advanceBranch(tools, repository, wish)).toEqual({ kind: "lost" });
});

type Spoil = (repo: TempRepo) => void;

const BESIDE: [what: string, spoil: Spoil][] = [
  ["an edit of another file", (repo) => repo.write({ "b.txt": "mine\n", "dir/d.txt": "mine\n" })],
  [
    "something staged, and edited again since",
    (repo) => {
      repo.write({ "b.txt": "staged\n", "s.txt": "staged\n" });
      repo.git("add", "b.txt", "s.txt");
      repo.write({ "b.txt": "and edited\n", "s.txt": "and edited\n" });
    },
  ],
  [
    "a new file that is only meant to be added",
    (repo) => {
      repo.write({ "s.txt": "s\n" });
      repo.git("add", "--intent-to-add", "s.txt");
    },
  ],
  [
    "removals, staged and not",
    (repo) => {
      repo.git("rm", "--quiet", "b.txt");
      rmSync(join(repo.path, "dir/d.txt"));
    },
  ],
  [
    "a staged rename into a directory that the landing adds to",
    (repo) => {
      mkdirSync(join(repo.path, "new"));
      repo.git("mv", "b.txt", "new/mine.txt");
    },
  ],
  ["another mode", (repo) => chmodSync(join(repo.path, "b.txt"), 0o755)],
  [
    "untracked and ignored files beside new ones",
    (repo) => repo.write({ "new/mine.txt": "mine\n", "sub/other.secret": "mine\n", "x.secret": "mine\n" }),
  ],
  [
    "a directory that has become a link to elsewhere",
    (repo) => {
      renameSync(join(repo.path, "src"), join(tempDir("elsewhere-"), "src"));
      symlinkSync(HOME, join(repo.path, "src"));
    },
  ],
  ["a name that differs in case alone", (repo) => repo.write({ "A.TXT": "mine\n", "NEW/n.txt": "mine\n" })],
  ["attributes that say nothing about what lands", (repo) => repo.write({ "src/.gitattributes": "* -text\n" })],
];
test.each(BESIDE)("ACC-2, FAIL-28: beside %s it lands, as git merge --ff-only would", async (_what, spoil) => {
  const { repo, to } = scene();
  spoil(repo);
  const copy = join(tempDir("copy-"), "repo");
  cpSync(repo.path, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  gitIn(copy, "merge", "--quiet", "--ff-only", to);
  expect(await move(repo, to)).toEqual({ kind: "moved", behind: [] });
  expect(seen(repo.path)).toEqual(seen(copy));
  expect(readFileSync(join(repo.path, "a.txt"), "utf8")).toBe("better\n");
});

const MEETING: [what: string, spoil: Spoil, files: string[]][] = [
  ["an edit of a file that is edited", (repo) => repo.write({ "a.txt": "mine\n", "b.txt": "mine\n" }), ["a.txt"]],
  [
    "the same, staged, and put back on the disk",
    (repo) => {
      repo.write({ "a.txt": "mine\n" });
      repo.git("add", "a.txt");
      repo.write({ "a.txt": "a\n" });
    },
    ["a.txt"],
  ],
  ["an edit of a file that is removed", (repo) => repo.write({ "gone.txt": "mine\n" }), ["gone.txt"]],
  ["an edit of a file that is renamed", (repo) => repo.write({ "old.txt": "mine\n" }), ["old.txt"]],
  [
    "a rename of a file that is edited",
    (repo) => {
      repo.git("mv", "a.txt", "mine.txt");
    },
    ["a.txt"],
  ],
  ["a removal of a file that is edited", (repo) => rmSync(join(repo.path, "a.txt")), ["a.txt"]],
  ["an untracked file that is added", (repo) => repo.write({ "new/n.txt": "mine\n" }), ["new/n.txt"]],
  ["an ignored file that is added", (repo) => repo.write({ "sub/my.secret": "mine\n" }), ["sub/my.secret"]],
  [
    "a staged file that is added",
    (repo) => {
      repo.write({ "moved.txt": "mine\n" });
      repo.git("add", "moved.txt");
    },
    ["moved.txt"],
  ],
  [
    "a staged file that is gone from the disk, where a directory is added",
    (repo) => {
      repo.write({ new: "mine\n" });
      repo.git("add", "new");
      rmSync(join(repo.path, "new"));
    },
    ["new"],
  ],
  ["a link where a directory is added", (repo) => symlinkSync(HOME, join(repo.path, "new")), ["new"]],
  [
    "a directory with an edited file that has become a link to a copy of it",
    (repo) => {
      const aside = join(tempDir("elsewhere-"), "dir");
      renameSync(join(repo.path, "dir"), aside);
      symlinkSync(aside, join(repo.path, "dir"));
    },
    ["dir/c.txt"],
  ],
  [
    "attributes that say how it is written",
    (repo) => repo.write({ ".gitattributes": "* -text\n" }),
    [".gitattributes"],
  ],
  [
    "a conflict that is not resolved, in another file",
    (repo) => {
      repo.write({ "b.txt": "stashed\n" });
      repo.git("stash", "--quiet");
      repo.write({ "b.txt": "committed\n" });
      repo.git("commit", "--quiet", "--all", "--message", "Mine");
      Bun.spawnSync(["git", "stash", "pop"], { cwd: repo.path });
    },
    ["b.txt"],
  ],
];
test.each(MEETING)("ACC-2, FAIL-28: %s is waited for, is named, and stays", async (what, spoil, files) => {
  const { repo, to } = scene();
  spoil(repo);
  const before = snapshot(repo.path, HOME);
  // The user's commit of the last one is not below what lands; what is in the way is found before that matters.
  const moved = await move(repo, to);
  expect(moved).toMatchObject({ kind: "dirty", files });
  if (what.includes("edit")) expect(moved).toMatchObject({ detail: expect.stringContaining("git switch -c") });
  expect(snapshot(repo.path, HOME)).toEqual(before);
});

test("ACC-2: a submodule with work in it is no reason to wait for a landing that has nothing to do with it", async () => {
  const lib = tempRepo({ files: { "lib.txt": "lib\n" } });
  const { repo, to: first } = scene();
  repo.git("merge", "--quiet", "--ff-only", first);
  repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.path, "lib");
  repo.git("commit", "--quiet", "--message", "A submodule");
  repo.git("switch", "--quiet", "--create", "next");
  repo.write({ "a.txt": "best\n" });
  repo.git("commit", "--quiet", "--all", "--message", "Next");
  const to = repo.git("rev-parse", "HEAD");
  repo.git("switch", "--quiet", "main");
  writeFileSync(join(repo.path, "lib/lib.txt"), "mine\n");
  gitIn(join(repo.path, "lib"), "commit", "--quiet", "--all", "--message", "Mine");
  writeFileSync(join(repo.path, "lib/lib.txt"), "and more\n");
  repo.git("add", "lib");
  expect(await move(repo, to)).toEqual({ kind: "moved", behind: [] });
  expect(readFileSync(join(repo.path, "lib/lib.txt"), "utf8")).toBe("and more\n");
  expect(repo.git("status", "--porcelain")).toBe("MM lib");
});

test("ACC-2: what is saved in the very moment of landing is kept; in a file that lands, the landing waits", async () => {
  for (const [file, kind] of [
    ["b.txt", "moved"],
    ["new/mine.txt", "moved"],
    ["a.txt", "dirty"],
    ["new/n.txt", "dirty"],
  ] as const) {
    const { repo, to } = scene();
    repo.write({ "dir/d.txt": "mine, before\n" });
    repo.git("add", "dir/d.txt");
    const real = systemExec();
    const exec: typeof real = {
      ...real,
      run: (argv, options) => {
        if (argv.includes("--ff-only")) repo.write({ [file]: "saved just now\n" });
        return real.run(argv, options);
      },
    };
    expect([file, (await move(repo, to, exec)).kind]).toEqual([file, kind]);
    expect(readFileSync(join(repo.path, file), "utf8")).toBe("saved just now\n");
    expect(repo.git("diff", "--cached", "--name-only")).toBe("dir/d.txt");
    expect(readFileSync(join(repo.path, "dir/d.txt"), "utf8")).toBe("mine, before\n");
    expect(repo.git("rev-parse", "main") === to).toBe(kind === "moved");
  }
});

test("FAIL-15: a lock that outlived its git is removed; a young one, one that a process has open and our own stay", async () => {
  const repo = tempRepo();
  const at = (name: string) => join(repo.path, ".git", name);
  const parts = {
    ...{ files: systemFiles(), clock: systemClock(), processes: systemProcesses() },
    root: await findRoot({ cwd: repo.path, env: testEnvironment() }),
  };
  const locks = ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "refs/heads/main.lock"];
  for (const name of locks) writeFileSync(at(name), name === "config.lock" ? "overseer x\n" : "");
  expect(await clearStaleLocks(parts, STALE_AFTER_MS)).toEqual([]);
  for (const name of locks.filter((one) => one !== "HEAD.lock")) utimesSync(at(name), 1, 1);
  const held = openSync(at("packed-refs.lock"), "r");
  expect(await clearStaleLocks(parts, STALE_AFTER_MS)).toEqual([at("index.lock"), at("refs/heads/main.lock")]);
  closeSync(held);
  expect(await clearStaleLocks(parts, STALE_AFTER_MS)).toEqual([at("packed-refs.lock")]);
  expect(locks.filter((name) => existsSync(at(name)))).toEqual(["HEAD.lock", "config.lock"]);
});
