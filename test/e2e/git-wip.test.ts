/** Snapshots of uncommitted work against real git: nothing of the worktree changes, everything comes back. */
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { listWip, pruneWip, readWip, snapshotWip, WIP_KEPT } from "#git/wip.ts";
import { restoreWip } from "#git/wip-restore.ts";
import { addWorktree } from "#git/worktrees.ts";
import { systemExec } from "#sys/exec.ts";
import { realGitTools } from "../support/git-tools.ts";
import { scaled } from "../support/scale.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

const tools = realGitTools();
let worktreeCount = 0;

/** A worktree of `repo` at its HEAD. */
async function worktreeOf(repo: TempRepo, base = repo.git("rev-parse", "HEAD")): Promise<string> {
  worktreeCount += 1;
  const path = join(tempDir("wt-"), `tree ü ${worktreeCount}`);
  const plan = { repository: repo.path, path, branch: `overseer/test/${worktreeCount}`, base };
  return (await addWorktree(tools, plan)).path;
}

/** Every file below a directory with kind, exec bit and bytes; `.git` left out. */
function filesIn(dir: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (below: string) => {
    for (const name of readdirSync(join(dir, below))) {
      const path = join(below, name);
      if (path === ".git") continue;
      const stats = lstatSync(join(dir, path));
      if (stats.isDirectory()) walk(path);
      else if (stats.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(dir, path))}`;
      else found[path] = `${stats.mode & 0o100 ? "x" : "-"} ${readFileSync(join(dir, path)).toString("base64")}`;
    }
  };
  walk("");
  return found;
}

/** All that a snapshot must leave alone. */
function untouchables(dir: string): string {
  const gitDir = gitIn(dir, "rev-parse", "--absolute-git-dir");
  const times = Object.keys(filesIn(dir)).map((name) => `${name} ${lstatSync(join(dir, name)).mtimeMs}`);
  return JSON.stringify([
    readFileSync(join(gitDir, "index")).toString("base64"),
    readFileSync(join(gitDir, "HEAD"), "utf8"),
    lstatSync(join(gitDir, "index")).mtimeMs,
    times,
    filesIn(dir),
  ]);
}

const staged = (dir: string) => gitIn(dir, "ls-files", "--stage", "-t");

async function save(worktree: string, assignment = "A_1") {
  const outcome = await snapshotWip(tools, { worktree, assignment });
  if (outcome.kind === "clean") throw new Error("Expected something to keep.");
  return outcome;
}

describe("taking a snapshot", () => {
  test("WIP-1: a clean worktree has nothing to keep", async () => {
    const repo = tempRepo();
    const outcome = await snapshotWip(tools, { worktree: await worktreeOf(repo), assignment: "A_1" });
    expect(outcome.kind).toBe("clean");
    expect(await listWip(tools.git, { cwd: repo.path })).toEqual([]);
  });

  test("WIP-1: staged, unstaged, untracked, deleted, linked and oddly named work comes back byte for byte", async () => {
    const repo = tempRepo({
      files: { "a.txt": "one\n", "gone.txt": "x\n", "was-file": "f\n", "dir/b.txt": "b\n", ".gitignore": "*.log\n" },
    });
    const tree = await worktreeOf(repo);
    writeFileSync(join(tree, "a.txt"), "staged\r\n");
    gitIn(tree, "add", "a.txt");
    writeFileSync(join(tree, "a.txt"), "later\n");
    rmSync(join(tree, "gone.txt"));
    rmSync(join(tree, "was-file"));
    mkdirSync(join(tree, "was-file"));
    writeFileSync(join(tree, "was-file", "inside"), "now a directory\n");
    // Also seen as dir/b.txt through the link below, where git says that dir/b.txt is gone.
    writeFileSync(join(tree, "was-file", "b.txt"), "not the old b\n");
    rmSync(join(tree, "dir"), { recursive: true });
    symlinkSync("was-file", join(tree, "dir"));
    writeFileSync(join(tree, "new\nline"), Buffer.from([0, 1, 255, 13, 10]));
    writeFileSync(join(tree, ' lead "quo\\te" '), "odd\n");
    writeFileSync(join(tree, "ünï-𝄞"), "unicode\n");
    writeFileSync(join(tree, "-option"), "dash\n");
    writeFileSync(join(tree, "run.sh"), "#!/bin/sh\n");
    chmodSync(join(tree, "run.sh"), 0o755);
    writeFileSync(join(tree, "intended"), "later\n");
    gitIn(tree, "add", "--intent-to-add", "intended");
    symlinkSync("nowhere", join(tree, "dangling"));
    const before = untouchables(tree);

    const snapshot = await save(tree);
    expect(untouchables(tree)).toBe(before);
    expect(snapshot.notKept).toEqual([]);

    const fresh = await worktreeOf(repo);
    const outcome = await restoreWip(tools, { ref: snapshot.ref, into: fresh });
    expect(outcome).toMatchObject({ kind: "restored", sameHead: true });
    expect(filesIn(fresh)).toEqual(filesIn(tree));
    expect(staged(fresh)).toBe(staged(tree));
    expect(gitIn(fresh, "status", "--porcelain")).toBe(gitIn(tree, "status", "--porcelain"));
    expect((await restoreWip(tools, { ref: snapshot.ref, into: fresh })).kind).toBe("already");
  });

  test("WIP-1: a name that is not UTF-8 is kept too", async () => {
    const repo = tempRepo();
    const tree = await worktreeOf(repo);
    const odd = Buffer.concat([Buffer.from(`${tree}/caf`), Buffer.from([0xe9])]);
    writeFileSync(odd, "latin\r\n");
    const snapshot = await save(tree);
    const fresh = await worktreeOf(repo);
    await restoreWip(tools, { ref: snapshot.ref, into: fresh });
    expect(readFileSync(Buffer.concat([Buffer.from(`${fresh}/caf`), Buffer.from([0xe9])]), "utf8")).toBe("latin\r\n");
  });

  test("WIP-1: filters, keywords and encodings do not change a byte", async () => {
    const attributes = "*.id ident\n*.f filter=shout\n*.u working-tree-encoding=UTF-16LE eol=crlf\n*.c text eol=crlf\n";
    const repo = tempRepo({ files: { ".gitattributes": attributes } });
    repo.git("config", "filter.shout.clean", "tr a-z A-Z");
    repo.git("config", "filter.shout.smudge", "tr A-Z a-z");
    const tree = await worktreeOf(repo);
    writeFileSync(join(tree, "a.id"), "$Id: something$\n");
    writeFileSync(join(tree, "a.f"), "MiXeD\n");
    writeFileSync(join(tree, "a.u"), Buffer.from("wide\n", "utf16le"));
    writeFileSync(join(tree, "a.c"), "lf\nand crlf\r\n");
    const snapshot = await save(tree);
    const fresh = await worktreeOf(repo);
    await restoreWip(tools, { ref: snapshot.ref, into: fresh });
    expect(filesIn(fresh)).toEqual(filesIn(tree));
  });

  test("WIP-1: equal content makes no second snapshot, other content does, and ten are kept", async () => {
    const repo = tempRepo();
    const tree = await worktreeOf(repo);
    writeFileSync(join(tree, "new"), "0");
    const first = await save(tree);
    const second = await save(tree);
    expect([first.kind, second.kind, second.ref]).toEqual(["saved", "same", first.ref]);
    for (let round = 1; round <= WIP_KEPT + 1; round += 1) {
      writeFileSync(join(tree, "new"), String(round));
      await save(tree);
    }
    const kept = await listWip(tools.git, { cwd: tree, assignment: "A_1" });
    expect(kept.map((each) => each.number)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(await listWip(tools.git, { cwd: tree, assignment: "A_2" })).toEqual([]);
    expect(await pruneWip(tools.git, { cwd: tree, assignment: "A_1", keep: 1 })).toHaveLength(9);
    expect(await pruneWip(tools.git, { cwd: tree, assignment: "A_1", keep: 0 })).toHaveLength(1);
    expect(await pruneWip(tools.git, { cwd: tree, assignment: "A_1", keep: 0 })).toEqual([]);
  });

  test("WIP-1: a limit that was lowered later does not keep a snapshot from coming back whole", async () => {
    const repo = tempRepo();
    const tree = await worktreeOf(repo);
    writeFileSync(join(tree, "notes"), "n".repeat(4096));
    const { ref } = await save(tree);
    writeFileSync(join(tree, "notes"), "short");
    const limits = { keep: 10, maxFileBytes: 1024 };
    const outcome = await restoreWip(tools, { ref, into: tree, force: true, limits });
    expect(outcome.kind).toBe("restored");
    expect(readFileSync(join(tree, "notes"), "utf8")).toHaveLength(4096);
  });

  test("WIP-1: ignored, large, nested and submodule files are listed, not kept, and not deleted by a restore", async () => {
    const library = tempRepo();
    const repo = tempRepo({ files: { ".gitignore": "build/\n*.log\n", "big.bin": "small\n" } });
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", library.path, "lib");
    repo.git("commit", "--quiet", "--message", "With a library");
    const tree = await worktreeOf(repo);
    mkdirSync(join(tree, "build"));
    writeFileSync(join(tree, "build", "out"), "x");
    writeFileSync(join(tree, "a.log"), "x");
    writeFileSync(join(tree, "big.bin"), Buffer.alloc(50 * 1024 * 1024 + 1));
    writeFileSync(join(tree, "big.new"), Buffer.alloc(50 * 1024 * 1024 + 1));
    gitIn(tempDir(), "init", "--quiet", join(tree, "nested"));
    writeFileSync(join(tree, "kept"), "kept");
    const snapshot = await save(tree);
    expect([...snapshot.notKept].map((each) => `${each.reason} ${each.path}`).sort()).toEqual([
      "ignored a.log",
      "ignored build/",
      "large big.bin",
      "large big.new",
      "repository nested/",
      "submodule lib",
    ]);
    const read = await readWip(tools.git, { cwd: tree, ref: snapshot.ref });
    expect(read.skipped).toHaveLength(6);
    const fresh = await worktreeOf(repo);
    await restoreWip(tools, { ref: snapshot.ref, into: fresh });
    expect(readFileSync(join(fresh, "kept"), "utf8")).toBe("kept");
    expect(readFileSync(join(fresh, "big.bin"), "utf8")).toBe("small\n");
    expect(gitIn(fresh, "status", "--porcelain")).toBe("?? kept");
  });

  test("WIP-1: in the middle of a conflicted merge the work is kept and the merge continues", async () => {
    const repo = tempRepo({ files: { "a.txt": "base\n", "b.txt": "base\n", "c.txt": "c\n" } });
    repo.git("checkout", "--quiet", "-b", "other");
    repo.write({ "a.txt": "theirs\n", "b.txt": "theirs\n" });
    repo.git("commit", "--quiet", "--all", "--message", "Theirs");
    repo.git("checkout", "--quiet", "main");
    repo.write({ "a.txt": "ours\n" });
    repo.git("rm", "--quiet", "b.txt");
    repo.git("commit", "--quiet", "--all", "--message", "Ours");
    const tree = await worktreeOf(repo);
    expect(() => gitIn(tree, "merge", "other")).toThrow();
    writeFileSync(join(tree, "c.txt"), "half way\n");
    const before = untouchables(tree);
    const snapshot = await save(tree);
    expect(untouchables(tree)).toBe(before);
    expect(snapshot.conflicts).toEqual(["a.txt", "b.txt"]);
    expect(gitIn(tree, "rev-parse", "MERGE_HEAD")).toBe(repo.git("rev-parse", "other"));
    expect((await save(tree)).kind).toBe("same");
    const fresh = await worktreeOf(repo);
    await restoreWip(tools, { ref: snapshot.ref, into: fresh });
    expect(filesIn(fresh)).toEqual(filesIn(tree));
    expect(gitIn(fresh, "show", ":a.txt")).toContain("<<<<<<<");
  });

  test("WIP-1: a lock that a killed agent left does not stop a snapshot, and nothing of ours is left", async () => {
    const repo = tempRepo();
    const tree = await worktreeOf(repo);
    writeFileSync(join(tree, "work"), "w");
    writeFileSync(join(gitIn(tree, "rev-parse", "--absolute-git-dir"), "index.lock"), "");
    expect((await save(tree)).kind).toBe("saved");
    expect(readdirSync(join(repo.path, ".git", "overseer", "scratch"))).toEqual([]);
  });

  test.each(["hash-object", "write-tree", "commit-tree"])(
    "WIP-1: a git gc that takes unnamed objects right after %s does not cost a byte",
    async (command) => {
      const repo = tempRepo({ files: { "a.txt": "a\n" } });
      const tree = await worktreeOf(repo);
      writeFileSync(join(tree, "a.txt"), "changed\n");
      writeFileSync(join(tree, "new.txt"), "new\n");
      let pending = true;
      const real = systemExec();
      const disturbed = realGitTools({
        run: async (argv, options) => {
          const result = await real.run(argv, options);
          if (pending && argv.includes(command)) {
            pending = false;
            repo.git("gc", "--quiet", "--prune=now");
          }
          return result;
        },
      });
      const snapshot = await snapshotWip(disturbed, { worktree: tree, assignment: "A_GC" });
      expect(pending).toBe(false);
      if (snapshot.kind === "clean") throw new Error("nothing was kept");
      repo.git("rev-list", "--quiet", "--objects", snapshot.ref);
      const fresh = await worktreeOf(repo);
      await restoreWip(tools, { ref: snapshot.ref, into: fresh });
      const texts = ["a.txt", "new.txt"].map((name) => readFileSync(join(fresh, name), "utf8"));
      expect(texts).toEqual(["changed\n", "new\n"]);
    },
  );

  test("WIP-1: files that vanish or cannot be read while it is taken do not cost the others", async () => {
    const repo = tempRepo({ files: { "b-tracked": "committed\n" } });
    const tree = await worktreeOf(repo);
    for (const name of ["a", "b-tracked", "c-gone", "d", "e-odd", "f"]) writeFileSync(join(tree, name), `${name}\n`);
    const { exec } = tools;
    let meddled = false;
    const meddling = realGitTools({
      run: (argv, options) => {
        if (argv.includes("hash-object") && !meddled) {
          meddled = true;
          rmSync(join(tree, "c-gone"));
          for (const name of ["b-tracked", "e-odd"]) {
            rmSync(join(tree, name));
            mkdirSync(join(tree, name));
          }
        }
        return exec.run(argv, options);
      },
    });
    const outcome = await snapshotWip(meddling, { worktree: tree, assignment: "A_1" });
    expect(outcome.notKept.map((each) => `${each.reason} ${each.path}`).sort()).toEqual([
      "unreadable b-tracked",
      "unreadable e-odd",
    ]);
    const listed = outcome.kind === "clean" ? "" : gitIn(tree, "ls-tree", "-r", "--name-only", outcome.commit);
    expect(listed.split("\n")).toEqual(["a", "b-tracked", "d", "f"]);
  });

  test("WIP-1: on a branch without commits there is still a snapshot", async () => {
    const tree = await worktreeOf(tempRepo());
    gitIn(tree, "checkout", "--quiet", "--orphan", "fresh-start");
    writeFileSync(join(tree, "new"), "x");
    const snapshot = await save(tree);
    expect((await readWip(tools.git, { cwd: tree, ref: snapshot.ref })).head).toBeUndefined();
  });

  test("WIP-1: files left out by a sparse checkout are not taken for deleted", async () => {
    const repo = tempRepo({ files: { "in/a": "a\n", "out/b": "b\n" } });
    const tree = await worktreeOf(repo);
    gitIn(tree, "sparse-checkout", "set", "in");
    expect(existsSync(join(tree, "out"))).toBe(false);
    writeFileSync(join(tree, "in/a"), "changed\n");
    const snapshot = await save(tree);
    const fresh = await worktreeOf(repo);
    await restoreWip(tools, { ref: snapshot.ref, into: fresh });
    expect(gitIn(fresh, "status", "--porcelain")).toBe("M in/a".padStart(7));
    const sparse = await worktreeOf(repo);
    gitIn(sparse, "sparse-checkout", "set", "in");
    await restoreWip(tools, { ref: snapshot.ref, into: sparse });
    expect(existsSync(join(sparse, "out"))).toBe(false);
    expect(gitIn(sparse, "status", "--porcelain")).toBe(" M in/a");
  });

  test("WIP-1: a worktree that lost its .git is not mistaken for the repository around it", async () => {
    const repo = tempRepo({ files: { ".gitignore": ".overseer/\n" } });
    const base = repo.git("rev-parse", "HEAD");
    const path = join(repo.path, ".overseer", "worktrees", "b-1");
    await addWorktree(tools, { repository: repo.path, path, branch: "overseer/b/x", base });
    rmSync(join(path, ".git"));
    const attempt = snapshotWip(tools, { worktree: path, assignment: "A_1" });
    await expect(attempt).rejects.toMatchObject({ code: "NOT_THE_WORKTREE" });
    const missing = snapshotWip(tools, { worktree: join(repo.path, "nowhere"), assignment: "A_1" });
    await expect(missing).rejects.toMatchObject({ kind: "not-found", code: "WORKTREE_MISSING" });
  });
});

describe("bringing one back", () => {
  test("WIP-1: uncommitted changes in the way are refused, or kept first with force", async () => {
    const repo = tempRepo();
    const tree = await worktreeOf(repo);
    writeFileSync(join(tree, "work"), "first\n");
    const snapshot = await save(tree);
    writeFileSync(join(tree, "work"), "second\n");
    writeFileSync(join(tree, "more"), "more\n");
    const refused = restoreWip(tools, { ref: snapshot.ref, into: tree });
    await expect(refused).rejects.toMatchObject({ kind: "conflict", code: "WORKTREE_DIRTY" });
    const outcome = await restoreWip(tools, { ref: snapshot.ref, into: tree, force: true });
    expect(filesIn(tree)).not.toHaveProperty("more");
    expect(readFileSync(join(tree, "work"), "utf8")).toBe("first\n");
    await restoreWip(tools, { ref: outcome.replaced ?? "", into: tree, force: true });
    expect(readFileSync(join(tree, "work"), "utf8")).toBe("second\n");
    expect(readFileSync(join(tree, "more"), "utf8")).toBe("more\n");
  });

  test("WIP-1: an ignored file in the way stops it before anything is written", async () => {
    const repo = tempRepo({ files: { a: "a\n" } });
    const tree = await worktreeOf(repo);
    writeFileSync(join(tree, "a"), "changed\n");
    writeFileSync(join(tree, "secret"), "snapshot\n");
    const snapshot = await save(tree);
    const fresh = await worktreeOf(repo);
    writeFileSync(join(gitIn(fresh, "rev-parse", "--git-common-dir"), "info", "exclude"), "secret\n");
    writeFileSync(join(fresh, "secret"), "mine\n");
    const attempt = restoreWip(tools, { ref: snapshot.ref, into: fresh });
    await expect(attempt).rejects.toMatchObject({ code: "RESTORE_BLOCKED" });
    expect(readFileSync(join(fresh, "secret"), "utf8")).toBe("mine\n");
    expect(readFileSync(join(fresh, "a"), "utf8")).toBe("a\n");
  });

  test("WIP-1: a snapshot that is gone is named", async () => {
    const tree = await worktreeOf(tempRepo());
    const attempt = restoreWip(tools, { ref: "refs/overseer/wip/A_1/9", into: tree });
    await expect(attempt).rejects.toMatchObject({ kind: "not-found", code: "WIP_MISSING" });
    const head = restoreWip(tools, { ref: "HEAD", into: tree });
    await expect(head).rejects.toMatchObject({ code: "WIP_MISSING" });
  });

  test("WIP-1: HEAD is not moved when it is another one, and that is said", async () => {
    const repo = tempRepo();
    const tree = await worktreeOf(repo);
    writeFileSync(join(tree, "work"), "w\n");
    const snapshot = await save(tree);
    repo.git("commit", "--quiet", "--allow-empty", "--message", "Later");
    const fresh = await worktreeOf(repo);
    const head = gitIn(fresh, "rev-parse", "HEAD");
    expect((await restoreWip(tools, { ref: snapshot.ref, into: fresh })).sameHead).toBe(false);
    expect(gitIn(fresh, "rev-parse", "HEAD")).toBe(head);
  });
});

const content = fc.oneof(
  fc.constantFrom("", "lf\n", "crlf\r\n", "mixed\r\nlines\n", "no end", "\r", "$Id$\n"),
  fc.uint8Array({ maxLength: 24 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
);
const leaf = fc.constantFrom("a", "b.txt", "ü ñ", "nl\nin", 'q"', "-x", "ä/deep", "d/e/f", "d/g", "tab\t");
const edit = fc.record({
  name: leaf,
  kind: fc.constantFrom("file", "file", "exec", "link", "delete"),
  content,
  stage: fc.boolean(),
});
const attributes = fc.constantFrom("", "* text=auto\n", "*.txt text eol=crlf\n", "* text=auto eol=crlf\n*.txt -text\n");
type Edit = { name: string; kind: string; content: string; stage: boolean };

function applyEdit(dir: string, edit: Edit): void {
  const path = join(dir, edit.name);
  rmSync(path, { recursive: true, force: true });
  if (edit.kind !== "delete") {
    mkdirSync(dirname(path), { recursive: true });
    if (edit.kind === "link") symlinkSync(edit.content.replaceAll("\0", "") || "x", path);
    else writeFileSync(path, Buffer.from(edit.content, "latin1"));
    if (edit.kind === "exec") chmodSync(path, 0o755);
    if (edit.kind !== "link") utimesSync(path, 1_000_000_000, 1_000_000_000);
  }
  if (edit.stage) gitIn(dir, "add", "--all");
}

test(
  "WIP-1: whatever the tree, attributes and autocrlf: a snapshot changes nothing and a restore gives every byte back",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          committed: fc.array(edit, { maxLength: 6 }),
          edits: fc.array(edit, { minLength: 1, maxLength: 8 }),
          attributes,
          autocrlf: fc.constantFrom("true", "false", "input"),
        }),
        async (world) => {
          const repo = tempRepo({ files: { ".gitattributes": world.attributes } });
          repo.git("config", "core.autocrlf", world.autocrlf);
          repo.git("config", "core.safecrlf", "false");
          for (const each of world.committed) applyEdit(repo.path, each);
          repo.git("add", "--all");
          repo.git("commit", "--quiet", "--allow-empty", "--message", "Start");
          const tree = await worktreeOf(repo);
          for (const each of world.edits) applyEdit(tree, each);
          const before = untouchables(tree);

          const outcome = await snapshotWip(tools, { worktree: tree, assignment: "A_1" });
          expect(untouchables(tree)).toBe(before);
          const fresh = await worktreeOf(repo);
          if (outcome.kind !== "clean") await restoreWip(tools, { ref: outcome.ref, into: fresh, force: true });
          expect(filesIn(fresh)).toEqual(filesIn(tree));
          expect(staged(fresh)).toBe(staged(tree));
          rmSync(repo.path, { recursive: true });
        },
      ),
      { numRuns: scaled(15) },
    );
  },
  scaled(60_000),
);
