/**
 * What lies in the user's checkout while it is moved: submodules in the place of which the agent has put something else,
 * directories with ignored files, files that somebody writes while a slow filter runs or after the last look, a branch
 * that is taken back in that moment. Real git, real filters; what is the user's is there afterwards, byte for byte.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const HOME = tempDir("home-");
const CONFIG = { landing: { mode: "auto" }, repo: { targetBranch: "main" } };
const PLACE = { goalId: GOAL, nodeId: "T1" };

/** A repository that stands for a library, with two commits; its own history is what a submodule's checkout is at. */
function library(): { path: string; first: string; second: string } {
  const lib = tempRepo({ files: { "lib.txt": "one\n", ".gitignore": "*.key\n" } });
  const first = lib.git("rev-parse", "HEAD");
  lib.write({ "lib.txt": "two\n" });
  lib.git("commit", "--quiet", "--all", "--message", "Second");
  return { path: lib.path, first, second: lib.git("rev-parse", "HEAD") };
}

const LIBRARY = library();

/** How a submodule lies in a checkout. */
type Kind = "absorbed" | "own .git directory" | "not initialised";

function withSubmodule(kind: Kind): TempRepo {
  const repo = tempRepo({ files: { "a.txt": "a\n", "dir/x.txt": "x\n", ".gitignore": "*.secret\n" } });
  if (kind === "own .git directory") {
    gitIn(repo.path, "clone", "--quiet", LIBRARY.path, "lib");
    repo.write({ ".gitmodules": `[submodule "lib"]\n\tpath = lib\n\turl = ${LIBRARY.path}\n` });
  } else {
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", LIBRARY.path, "lib");
  }
  gitIn(join(repo.path, "lib"), "checkout", "--quiet", LIBRARY.first);
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message", "A submodule");
  if (kind === "not initialised") repo.git("submodule", "--quiet", "deinit", "--force", "lib");
  return repo;
}

/** What only this checkout has: an ignored file, and a branch of the user's in the submodule. */
function leaveThings(repo: TempRepo): void {
  const lib = join(repo.path, "lib");
  writeFileSync(join(lib, "user.key"), "ignored\n");
  gitIn(lib, "branch", "only-here", LIBRARY.second);
}

type Change = (worktree: string) => void;

/** Submodules are gitlinks in the agent's worktree; what it makes of them is committed as it stands there. */
async function claimed(repo: TempRepo, change: Change, wrap?: Wrap): Promise<LandingWorld> {
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { config: CONFIG, ...(wrap ? { wrap } : {}) });
  const attempt = await world.attempt("T1");
  change(attempt.worktree);
  gitIn(attempt.worktree, "commit", "--quiet", "--allow-empty", "--message", "The agent's");
  await world.report(attempt);
  return world;
}

type Wrap = <T extends object>(port: string, real: T) => T;

const replacedBy =
  (put: (path: string) => void): Change =>
  (at) => {
    rmSync(join(at, "lib"), { recursive: true, force: true });
    gitIn(at, "rm", "--quiet", "--cached", "lib");
    put(join(at, "lib"));
    gitIn(at, "add", "--all");
  };

const REPLACED: Readonly<Record<string, Change>> = {
  "a file": replacedBy((path) => writeFileSync(path, "a file\n")),
  "a symlink": replacedBy((path) => symlinkSync("dir", path)),
  "a directory of files": replacedBy((path) => {
    mkdirSync(path);
    writeFileSync(join(path, "other.txt"), "other\n");
  }),
};

async function land(world: LandingWorld) {
  const { kind } = await landClaim(world.parts, PLACE);
  return { kind, waiting: (await world.node("T1")).claim?.waiting };
}

test.each([
  ["a file", "absorbed"],
  ["a file", "own .git directory"],
  ["a symlink", "own .git directory"],
  ["a directory of files", "absorbed"],
] as const)(
  "MERGE-4: a checked-out submodule that the agent replaced by %s stays as it is (%s), and the landing waits",
  async (what, kind) => {
    const repo = withSubmodule(kind);
    leaveThings(repo);
    const world = await claimed(repo, REPLACED[what] ?? (() => undefined));
    const before = snapshot(repo.path, HOME);
    const { kind: outcome, waiting } = await land(world);
    expect(snapshot(repo.path, HOME)).toEqual(before);
    expect(outcome).toBe("waiting");
    expect(waiting?.detail).toMatch(/submodule .*lib.*move|move .*lib/s);
    expect(waiting?.files).toEqual(["lib"]);
    // What the sentence says lets it land.
    renameSync(join(repo.path, "lib"), join(tempDir("aside-"), "lib"));
    mkdirSync(join(repo.path, "lib"));
    expect(await land(world)).toMatchObject({ kind: "done" });
    await world.close();
  },
);

test("MERGE-4: a submodule that nobody has checked out is replaced, and one that is removed or moved stays on the disk", async () => {
  const empty = withSubmodule("not initialised");
  const world = await claimed(empty, REPLACED["a file"] ?? (() => undefined));
  expect(await land(world)).toMatchObject({ kind: "done" });
  expect(readFileSync(join(empty.path, "lib"), "utf8")).toBe("a file\n");
  await world.close();
  const MOVES: Change[] = [
    (at) => gitIn(at, "rm", "--quiet", "--cached", "lib"),
    (at) => {
      gitIn(at, "rm", "--quiet", "--cached", "lib");
      gitIn(at, "update-index", "--add", "--cacheinfo", `160000,${LIBRARY.first},vendor/lib`);
    },
  ];
  for (const change of MOVES) {
    const repo = withSubmodule("own .git directory");
    leaveThings(repo);
    const moving = await claimed(repo, change);
    const before = snapshot(join(repo.path, "lib"), HOME);
    expect(await land(moving)).toMatchObject({ kind: "done" });
    expect(snapshot(join(repo.path, "lib"), HOME)).toEqual(before);
    await moving.close();
  }
});

test("MERGE-4: a directory that becomes a file keeps what is ignored or a repository of its own in it", async () => {
  const becomesFile: Change = (at) => {
    rmSync(join(at, "dir"), { recursive: true });
    writeFileSync(join(at, "dir"), "a file\n");
    gitIn(at, "add", "--all");
  };
  const LEFT: ((repo: TempRepo) => void)[] = [
    (repo) => repo.write({ "dir/my.secret": "ignored\n" }),
    (repo) => gitIn(repo.path, "clone", "--quiet", LIBRARY.path, "dir/nested"),
  ];
  for (const leave of LEFT) {
    const repo = tempRepo({ files: { "dir/x.txt": "x\n", ".gitignore": "*.secret\n" } });
    const world = await claimed(repo, becomesFile);
    leave(repo);
    const before = snapshot(repo.path, HOME);
    expect((await land(world)).kind).toBe("waiting");
    expect(snapshot(repo.path, HOME)).toEqual(before);
    await world.close();
  }
});

test("MERGE-4: a submodule that is only older than what has landed does not hold up the next landing", async () => {
  const repo = withSubmodule("own .git directory");
  await foundLanding(repo.path, tasks(3));
  const world = await landingWorld(repo.path, { config: CONFIG });
  const bump = await world.attempt("T1");
  const other = await world.attempt("T2");
  gitIn(bump.worktree, "update-index", "--cacheinfo", `160000,${LIBRARY.second},lib`);
  gitIn(bump.worktree, "commit", "--quiet", "--message", "Bump");
  await world.report(bump);
  expect(await land(world)).toMatchObject({ kind: "done" });
  expect(repo.git("status", "--porcelain")).toBe("M lib".padStart(6));
  world.commit(other, { "b.txt": "b\n" });
  await world.report(other);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T2" })).toMatchObject({ kind: "done" });
  // Its checkout was never touched; what the user does in it is waited for by what changes it.
  expect(gitIn(join(repo.path, "lib"), "rev-parse", "HEAD")).toBe(LIBRARY.first);
  writeFileSync(join(repo.path, "lib/lib.txt"), "mine\n");
  const third = await world.attempt("T3");
  gitIn(third.worktree, "update-index", "--cacheinfo", `160000,${LIBRARY.first},lib`);
  gitIn(third.worktree, "commit", "--quiet", "--message", "Back");
  await world.report(third);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T3" })).toMatchObject({ kind: "waiting" });
  gitIn(join(repo.path, "lib"), "commit", "--quiet", "--all", "--message", "Mine");
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T3" })).toMatchObject({ kind: "waiting" });
  await world.close();
});

// Filters

const SLOW = { ".gitattributes": "*.big filter=slow\n", "a.big": "old\n", "b.txt": "b\n", "c.txt": "c\n" };

/** A smudge that says that it runs and then waits until it may end. */
function slowFilter(repo: TempRepo): { readonly began: string; readonly mayEnd: string } {
  const dir = tempDir("filter-");
  const [script, began, mayEnd] = [join(dir, "smudge.sh"), join(dir, "began"), join(dir, "may-end")];
  writeFileSync(script, `#!/bin/sh\ntouch ${began}\nwhile [ ! -e ${mayEnd} ]; do sleep 0.02; done\ncat\n`);
  chmodSync(script, 0o755);
  repo.git("config", "filter.slow.clean", "cat");
  repo.git("config", "filter.slow.smudge", script);
  repo.git("config", "filter.slow.required", "true");
  return { began, mayEnd };
}

const agentsChange: Change = (at) => {
  for (const [name, text] of Object.entries({ "a.big": "new\n", "b.txt": "agent's\n" }))
    writeFileSync(join(at, name), text);
  gitIn(at, "add", "--all");
};

async function until(fact: () => boolean): Promise<void> {
  while (!fact()) await Bun.sleep(5);
}

test.each([
  ["a file that the landing changes", "b.txt", "waiting"],
  ["the very file that is filtered", "a.big", "waiting"],
  ["another file", "c.txt", "done"],
])("MERGE-4: what the user types into %s while a slow filter runs is kept", async (_what, file, outcome) => {
  const repo = tempRepo({ files: SLOW });
  const world = await claimed(repo, agentsChange);
  const { began, mayEnd } = slowFilter(repo);
  const from = repo.git("rev-parse", "main");
  const landing = land(world);
  await until(() => existsSync(began));
  repo.write({ [file]: "typed by the user\n" });
  writeFileSync(mayEnd, "");
  const waits = outcome === "waiting";
  expect(await landing).toMatchObject({ kind: outcome, ...(waits ? { waiting: { files: [file] } } : {}) });
  expect(readFileSync(join(repo.path, file), "utf8")).toBe("typed by the user\n");
  expect(repo.git("rev-parse", "main") === from).toBe(waits);
  expect(repo.git("status", "--porcelain").trim()).toBe(`M ${file}`);
  repo.git("checkout", "--quiet", "--", file);
  if (waits) expect(await land(world)).toMatchObject({ kind: "done" });
  expect(readFileSync(join(repo.path, "a.big"), "utf8")).toBe("new\n");
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(readdirSync(join(repo.path, ".git/overseer/moving"))).toEqual([]);
  await world.close();
});

test("MERGE-4: while a filter runs nothing of the checkout is touched, and its index is free", async () => {
  const repo = tempRepo({ files: SLOW });
  const world = await claimed(repo, agentsChange);
  const { began, mayEnd } = slowFilter(repo);
  const before = snapshot(repo.path, HOME);
  const landing = land(world);
  await until(() => existsSync(began));
  expect(snapshot(repo.path, HOME)).toEqual(before);
  writeFileSync(mayEnd, "");
  expect(await landing).toMatchObject({ kind: "done" });
  await world.close();
});

test("MERGE-4: attributes that come with the landing choose the filter of its files", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  repo.git("config", "filter.loud.clean", "tr A-Z a-z");
  repo.git("config", "filter.loud.smudge", "tr a-z A-Z");
  const world = await claimed(repo, (at) => {
    writeFileSync(join(at, ".gitattributes"), "*.loud filter=loud\n");
    writeFileSync(join(at, "[x] ü.loud"), "quiet\n");
    gitIn(at, "add", "--all");
  });
  expect(await land(world)).toMatchObject({ kind: "done" });
  expect(readFileSync(join(repo.path, "[x] ü.loud"), "utf8")).toBe("QUIET\n");
  expect(repo.git("status", "--porcelain")).toBe("");
  await world.close();
});

/** Does something just before git is told to do what this word says, once. */
function justBefore(word: string, act: (argv: readonly string[]) => void): Wrap {
  let done = false;
  return (port, real) =>
    port !== "exec"
      ? real
      : new Proxy(real, {
          get(target, key) {
            const value: unknown = Reflect.get(target, key);
            if (typeof value !== "function") return value;
            return (...args: unknown[]) => {
              if (!done && Array.isArray(args[0]) && args[0].includes(word)) {
                done = true;
                act(args[0].map(String));
              }
              return Reflect.apply(value, target, args);
            };
          },
        });
}

test("MERGE-4: what the user saves after the last look is not overwritten, be it tracked or ignored", async () => {
  const SAVES: Record<string, string>[] = [{ "b.txt": "saved\n" }, { "my.secret": "ignored\n" }];
  for (const saved of SAVES) {
    const repo = tempRepo({ files: { "b.txt": "b\n", ".gitignore": "*.secret\n" } });
    const wrap = justBefore("--ff-only", () => repo.write(saved));
    const world = await claimed(
      repo,
      (at) => {
        writeFileSync(join(at, "b.txt"), "agent's\n");
        writeFileSync(join(at, "my.secret"), "agent's\n");
        gitIn(at, "add", "--all", "--force");
      },
      wrap,
    );
    const from = repo.git("rev-parse", "main");
    expect((await land(world)).kind).toBe("waiting");
    for (const [name, text] of Object.entries(saved)) expect(readFileSync(join(repo.path, name), "utf8")).toBe(text);
    expect(repo.git("rev-parse", "main")).toBe(from);
    await world.close();
  }
});

/** Just before git moves the branch, with the files written already. */
function beforeBranchMoves(command: string): Wrap {
  return justBefore("--ff-only", (argv) => {
    const hooks = argv.find((word) => word.startsWith("core.hooksPath=/") && word.endsWith("hooks"));
    const hook = join(hooks?.slice("core.hooksPath=".length) ?? "", "post-merge");
    const [shebang, ...rest] = readFileSync(hook, "utf8").split("\n");
    writeFileSync(hook, [shebang, `(unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; ${command})`, ...rest].join("\n"));
  });
}

test.each(["before the files are written", "after it"])(
  "MERGE-4: a checked-out branch that is taken back between look and move, %s, is not moved; what was written is taken back",
  async (when) => {
    const repo = tempRepo({ files: { "a.txt": "a\n", "b.txt": "b\n" } });
    repo.write({ "secret.txt": "hush\n" });
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message", "A secret");
    const reset = ["update-ref", "refs/heads/main", "main~1"];
    const late = when === "after it";
    const wrap = late
      ? // And types on in a file that git has written by then.
        beforeBranchMoves(`cd ${repo.path}; git ${reset.join(" ")}; echo typed since > b.txt`)
      : justBefore("--ff-only", () => gitIn(repo.path, ...reset));
    const world = await claimed(repo, agentsChange, wrap);
    await land(world);
    expect(repo.git("ls-tree", "--name-only", "main")).not.toContain("secret.txt");
    expect(readFileSync(join(repo.path, "b.txt"), "utf8")).toBe(late ? "typed since\n" : "b\n");
    expect(existsSync(join(repo.path, "a.big"))).toBe(false);
    expect(existsSync(join(repo.path, ".git/index.lock"))).toBe(false);
    await world.close();
  },
);

const SETTINGS: [what: string, begin: (repo: TempRepo) => string, after: (at: string) => void][] = [
  [
    "a sparse one",
    (repo) => {
      repo.git("sparse-checkout", "set", "in");
      return repo.path;
    },
    (at) => expect([existsSync(join(at, "out/b.txt")), existsSync(join(at, "out/new.txt"))]).toEqual([false, false]),
  ],
  [
    "one with a split index",
    (repo) => {
      repo.git("config", "core.splitIndex", "true");
      repo.git("update-index", "--split-index");
      return repo.path;
    },
    (at) => expect(gitIn(at, "fsck", "--connectivity-only")).toBe(""),
  ],
  [
    "one with other line ends and a file that was only touched",
    (repo) => {
      repo.git("config", "core.autocrlf", "true");
      rmSync(join(repo.path, "in/a.txt"));
      repo.git("checkout", "--quiet", "--", "in/a.txt");
      utimesSync(join(repo.path, "in/a.txt"), 1, 1);
      return repo.path;
    },
    (at) => expect(readFileSync(join(at, "in/a.txt"), "utf8")).toBe("agent's\r\n"),
  ],
  [
    "a linked worktree",
    (repo) => {
      const path = join(tempDir("linked-"), "w t");
      repo.git("switch", "--quiet", "--detach");
      repo.git("worktree", "add", "--quiet", path, "main");
      return path;
    },
    (at) => expect(gitIn(at, "symbolic-ref", "--short", "HEAD")).toBe("main"),
  ],
];
test.each(SETTINGS)("MERGE-4: a checkout moves with its settings: %s", async (_what, begin, after) => {
  const repo = tempRepo({ files: { "in/a.txt": "a\n", "out/b.txt": "b\n" }, objects: "sha256" });
  const world = await claimed(repo, (at) => {
    for (const name of ["in/a.txt", "out/b.txt", "in/new.txt", "out/new.txt"])
      writeFileSync(join(at, name), "agent's\n");
    gitIn(at, "add", "--all");
  });
  const checkout = begin(repo);
  expect(await land(world)).toMatchObject({ kind: "done" });
  expect(gitIn(checkout, "status", "--porcelain")).toBe("");
  expect(readFileSync(join(checkout, "in/new.txt"), "utf8").trim()).toBe("agent's");
  expect(gitIn(checkout, "reflog", "-1", "--format=%gs")).toContain("Fast-forward");
  after(checkout);
  await world.close();
});

// What git is in the middle of

const UNFINISHED: [what: string, begin: (repo: TempRepo) => void, says: RegExp][] = [
  [
    "a stopped git am",
    (repo) => {
      const patch = join(tempDir("patch-"), "p.patch");
      writeFileSync(
        patch,
        "From: A <a@b.c>\nDate: Mon, 5 Jan 2026 00:00:00 +0000\nSubject: [PATCH] x\n\n---\ndiff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-nothing like it\n+x\n",
      );
      Bun.spawnSync(["git", "am", patch], { cwd: repo.path });
    },
    /git am is unfinished.*; finish or abort it/,
  ],
  [
    "a cherry-pick of several that has stopped",
    (repo) => {
      mkdirSync(join(repo.path, ".git/sequencer"));
      writeFileSync(join(repo.path, ".git/sequencer/todo"), "pick 1\n");
    },
    /cherry-pick or revert is unfinished/,
  ],
  [
    "a stash that came back with conflicts",
    (repo) => {
      repo.write({ "a.txt": "mine\n" });
      repo.git("stash", "--quiet");
      repo.write({ "a.txt": "theirs\n" });
      repo.git("commit", "--quiet", "--all", "--message", "Theirs");
      Bun.spawnSync(["git", "stash", "pop", "--quiet"], { cwd: repo.path });
    },
    /unresolved conflicts in .*; resolve them and 'git add' them, or abort what brought them/,
  ],
  ["a bisect that has begun", (repo) => void repo.git("bisect", "start"), /bisect is unfinished/],
  [
    "a rebase that edits",
    (repo) => {
      repo.write({ "a.txt": "more\n" });
      repo.git("commit", "--quiet", "--all", "--message", "More");
      Bun.spawnSync(["git", "-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "--quiet", "-i", "HEAD~1"], {
        cwd: repo.path,
      });
    },
    /rebase is under way/,
  ],
];
test.each(UNFINISHED)("MERGE-4: %s in the user's checkout is waited for", async (_what, begin, says) => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  const world = await claimed(repo, (at) => {
    writeFileSync(join(at, "n.txt"), "n\n");
    gitIn(at, "add", "--all");
  });
  begin(repo);
  const before = repo.git("rev-parse", "main");
  expect(await land(world)).toMatchObject({ kind: "waiting", waiting: { detail: expect.stringMatching(says) } });
  expect(repo.git("rev-parse", "main")).toBe(before);
  await world.close();
});
