/**
 * What a worktree holds beside its branch: commits and changes in submodules and nested repositories, ignored files,
 * files over the limit. What can be kept is kept before the worktree goes, what cannot is named and needs a second word.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { schema } from "#config/schema.ts";
import { isDirty } from "#git/hidden-changes.ts";
import { type RemovalRequest, removeWorktree } from "#git/worktree-removal.ts";
import { noteSetUp } from "#git/worktree-setup.ts";
import { addWorktree } from "#git/worktrees.ts";
import { bundled } from "../support/cli.ts";
import { endedFleets } from "../support/fleets.ts";
import { realGitTools } from "../support/git-tools.ts";
import { reapedWithIgnored } from "../support/landing-observations.ts";
import { run, say } from "../support/steps.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const tools = realGitTools();
const fleetOf = endedFleets({ terminal: "detached" });

interface Made {
  readonly repo: TempRepo;
  readonly path: string;
  readonly removal: RemovalRequest;
}

const FILES = { "a.txt": "a\n", ".gitignore": ".overseer/\n*.dat\nnode_modules/\ndata/\n.env\n" };

function withLibrary(repo: TempRepo): TempRepo {
  const library = tempRepo({ files: { "lib.txt": "lib\n" } });
  repo.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", library.path, "lib");
  repo.git("commit", "--quiet", "--message", "With a library");
  return library;
}

async function made(options: { library?: boolean } = {}): Promise<Made> {
  const repo = tempRepo({ files: FILES });
  if (options.library) withLibrary(repo);
  const base = repo.git("rev-parse", "HEAD");
  const [path, branch] = [join(repo.path, ".overseer", "worktrees", "builder-1"), "overseer/builder-1/T1"];
  await addWorktree(tools, { repository: repo.path, path, branch, base });
  if (options.library) {
    gitIn(path, "-c", "protocol.file.allow=always", "submodule", "update", "--quiet", "--init", "--recursive");
  }
  const expectedCommonDir = join(repo.path, ".git");
  const removal = { path, branch, expectedCommonDir, target: "main", base, isLeased: () => false, rebuildable: [] };
  return { repo, path, removal };
}

function commitIn(path: string, file: string): string {
  writeFileSync(join(path, file), `${file}\n`);
  gitIn(path, "add", "--all");
  gitIn(path, "commit", "--quiet", "--message", `Add ${file}`);
  return gitIn(path, "rev-parse", "HEAD");
}

/** What a person does to get it back: a fresh repository fetches the ref, and nothing else of the project. */
function fetched(repo: TempRepo, ref: string): string {
  const fresh = tempDir();
  gitIn(fresh, "init", "--quiet");
  gitIn(fresh, "fetch", "--quiet", repo.path, ref);
  gitIn(fresh, "checkout", "--quiet", "FETCH_HEAD");
  gitIn(fresh, "fsck", "--full", "--strict");
  return fresh;
}

describe("what can be kept is kept", () => {
  test("CLEAN-1: commits and changes in a submodule, also those its HEAD has left, outlive a forced removal", async () => {
    const { repo, path, removal } = await made({ library: true });
    const lib = join(path, "lib");
    const left = commitIn(lib, "left.txt");
    gitIn(lib, "reset", "--quiet", "--hard", "HEAD~1");
    const kept = commitIn(lib, "kept.txt");
    writeFileSync(join(lib, "lib.txt"), "changed\n");
    writeFileSync(join(lib, "new.txt"), "new\n");
    const refused = removeWorktree(tools, removal);
    await expect(refused).rejects.toMatchObject({ code: "WORKTREE_DIRTY" });
    const { recovery } = await removeWorktree(tools, { ...removal, force: true });
    expect(existsSync(path)).toBe(false);
    repo.git("gc", "--quiet", "--prune=now");
    const inside = recovery.filter((ref) => ref.includes("-of-lib-"));
    const tips = inside.map((ref) => repo.git("rev-parse", ref));
    expect(tips).toContain(left);
    const snapshot = inside.find((ref) => repo.git("rev-parse", `${ref}~1`) === kept) ?? "none";
    const fresh = fetched(repo, snapshot);
    const texts = ["kept.txt", "lib.txt", "new.txt"].map((name) => readFileSync(join(fresh, name), "utf8"));
    expect(texts).toEqual(["kept.txt\n", "changed\n", "new\n"]);
  });

  test("CLEAN-1: a submodule whose commits its remote has leaves no ref and blocks nothing", async () => {
    const { removal } = await made({ library: true });
    expect(await removeWorktree(tools, removal)).toEqual({
      removed: true,
      branchDeleted: true,
      recovery: [],
      lost: [],
    });
  });

  test("CLEAN-1: a git directory of a submodule that is not checked out any more is looked into", async () => {
    const { repo, path, removal } = await made({ library: true });
    const own = commitIn(join(path, "lib"), "own.txt");
    gitIn(path, "submodule", "deinit", "--quiet", "--force", "lib");
    await expect(removeWorktree(tools, removal)).rejects.toMatchObject({ code: "WORKTREE_HAS_REPOSITORIES" });
    const { recovery } = await removeWorktree(tools, { ...removal, force: true });
    expect(recovery.map((ref) => repo.git("rev-parse", ref))).toEqual([own]);
  });

  test("CLEAN-1: nested repositories, untracked and ignored ones, and their uncommitted files are kept", async () => {
    const { repo, path, removal } = await made();
    mkdirSync(join(path, "data"));
    for (const place of ["nested", "data/deep"]) {
      gitIn(path, "init", "--quiet", place);
      commitIn(join(path, place), "one.txt");
      writeFileSync(join(path, place, "two.txt"), `${place}\n`);
    }
    const { recovery, lost } = await removeWorktree(tools, { ...removal, force: true });
    expect(lost).toEqual([]);
    const texts = ["-of-nested-", "-of-data_deep-"].map((part) => {
      const ref = recovery.find((one) => one.includes(part)) ?? "none";
      return readFileSync(join(fetched(repo, ref), "two.txt"), "utf8");
    });
    expect(texts).toEqual(["nested\n", "data/deep\n"]);
  });
});

describe("what git shows nobody any more", () => {
  test("CLEAN-1: commits that HEAD has left are kept: taken back, made on no branch, on one that is gone, set aside", async () => {
    const { repo, path, removal } = await made();
    const takenBack = commitIn(path, "taken-back.txt");
    gitIn(path, "reset", "--quiet", "--hard", "HEAD~1");
    gitIn(path, "checkout", "--quiet", "--detach");
    const detached = commitIn(path, "detached.txt");
    gitIn(path, "checkout", "--quiet", "-b", "side", "HEAD~1");
    const side = commitIn(path, "side.txt");
    gitIn(path, "checkout", "--quiet", removal.branch);
    gitIn(path, "branch", "--quiet", "-D", "side");
    const named = commitIn(path, "named.txt");
    gitIn(path, "reset", "--quiet", "--hard", "HEAD~1");
    gitIn(path, "update-ref", "refs/worktree/mine", named);
    gitIn(path, "tag", "elsewhere", named);
    writeFileSync(join(path, "a.txt"), "set aside\n");
    const aside = gitIn(path, "stash", "create");
    gitIn(path, "checkout", "--quiet", "--", "a.txt");
    mkdirSync(join(gitIn(path, "rev-parse", "--absolute-git-dir"), "rebase-merge"));
    writeFileSync(join(gitIn(path, "rev-parse", "--absolute-git-dir"), "rebase-merge", "autostash"), `${aside}\n`);
    const { recovery, branchDeleted } = await removeWorktree(tools, removal);
    expect([existsSync(path), branchDeleted]).toEqual([false, true]);
    repo.git("reflog", "expire", "--expire=now", "--all");
    repo.git("gc", "--quiet", "--prune=now");
    const kept = recovery.map((ref) => repo.git("rev-parse", ref));
    expect(kept.sort()).toEqual([takenBack, detached, side, aside].sort());
  });

  test("CLEAN-1: they are kept as well when the directory was deleted by hand, and nothing is kept twice", async () => {
    const { repo, path, branch, removal } = await made().then((one) => ({ ...one, branch: one.removal.branch }));
    const left = commitIn(path, "left.txt");
    gitIn(path, "reset", "--quiet", "--hard", "HEAD~1");
    const landed = commitIn(path, "landed.txt");
    repo.git("merge", "--quiet", branch);
    rmSync(path, { recursive: true });
    const { recovery } = await removeWorktree(tools, removal);
    expect([repo.git("rev-parse", ...recovery), repo.git("rev-parse", "main")]).toEqual([left, landed]);
  });

  test("CLEAN-1: very many of them are tied together under few refs", async () => {
    const { repo, path, removal } = await made();
    const head = gitIn(path, "rev-parse", "HEAD");
    const left = Array.from({ length: 30 }, (_, at) =>
      gitIn(path, "commit-tree", "-p", head, "-m", `${at}`, `${head}^{tree}`),
    );
    for (const commit of left) gitIn(path, "update-ref", "-m", "left", "HEAD", commit);
    gitIn(path, "update-ref", "HEAD", head);
    const { recovery } = await removeWorktree(tools, removal);
    const reached = repo.git("rev-list", ...recovery, "--not", "main").split("\n");
    expect([recovery.length, left.filter((commit) => !reached.includes(commit))]).toEqual([20, []]);
  });

  test("CLEAN-1, WIP-1: edits behind assume-unchanged and skip-worktree are uncommitted work", async () => {
    const { repo, path, removal } = await made();
    gitIn(path, "update-index", "--assume-unchanged", "a.txt");
    expect(await isDirty(tools, path)).toBe(false);
    writeFileSync(join(path, "a.txt"), "hidden\n");
    gitIn(path, "update-index", "--skip-worktree", ".gitignore");
    writeFileSync(join(path, ".gitignore"), `${FILES[".gitignore"]}hidden/\n`);
    expect([gitIn(path, "status", "--porcelain"), await isDirty(tools, path)]).toEqual(["", true]);
    await expect(removeWorktree(tools, removal)).rejects.toMatchObject({ code: "WORKTREE_DIRTY" });
    const { recovery } = await removeWorktree(tools, { ...removal, force: true });
    const texts = ["a.txt", ".gitignore"].map((name) => repo.git("show", `${recovery[0]}:${name}`));
    expect(texts).toEqual(["hidden", `${FILES[".gitignore"]}hidden/`]);
  });

  test("CLEAN-1: an edit that kept size and time of its file, where git goes by those, is uncommitted work", async () => {
    const { repo, path, removal } = await made();
    repo.git("config", "core.trustctime", "false");
    const file = join(path, "a.txt");
    utimesSync(file, 1_000_000_000, 1_000_000_000);
    gitIn(path, "update-index", "--refresh");
    writeFileSync(file, "b\n");
    utimesSync(file, 1_000_000_000, 1_000_000_000);
    expect(gitIn(path, "status", "--porcelain")).toBe("");
    await expect(removeWorktree(tools, removal)).rejects.toMatchObject({ code: "WORKTREE_DIRTY" });
    const { recovery } = await removeWorktree(tools, { ...removal, force: true });
    expect(repo.git("show", `${recovery[0]}:a.txt`)).toBe("b");
  });

  test("CLEAN-1: what a sparse checkout leaves out, and line endings that git changes, are no work of anybody's", async () => {
    const { repo, path, removal } = await made();
    repo.git("config", "core.autocrlf", "true");
    rmSync(join(path, "a.txt"));
    gitIn(path, "checkout", "--quiet", "--", "a.txt");
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("a\r\n");
    gitIn(path, "update-index", "--skip-worktree", ".gitignore");
    rmSync(join(path, ".gitignore"));
    expect(await isDirty(tools, path)).toBe(false);
    expect(await removeWorktree(tools, removal)).toMatchObject({ removed: true, recovery: [] });
  });
});

describe("what cannot be kept is named, and needs a second word", () => {
  test("CLEAN-1: ignored files, large files, and repositories that cannot be read", async () => {
    const { path, removal } = await made({ library: true });
    mkdirSync(join(path, "data"));
    mkdirSync(join(path, "node_modules", "left-pad"), { recursive: true });
    mkdirSync(join(path, "broken", ".git"), { recursive: true });
    writeFileSync(join(path, "broken", ".git", "HEAD"), "?");
    writeFileSync(join(path, "results.dat"), "12345");
    writeFileSync(join(path, "data", "one"), "123");
    writeFileSync(join(path, "data", "two"), "123");
    writeFileSync(join(path, "big.bin"), Buffer.alloc(2048));
    writeFileSync(join(path, "node_modules", "left-pad", "index.js"), "x");
    writeFileSync(join(path, "lib", "deep.dat"), "kept as untracked there");
    const forced = { ...removal, force: true, maxFileBytes: 1024 };
    const lost = [
      { path: "big.bin", what: "large", files: 1, bytes: 2048 },
      { path: "broken", what: "repository" },
      { path: "data/", what: "ignored", files: 2, bytes: 6 },
      { path: "results.dat", what: "ignored", files: 1, bytes: 5 },
    ];
    const refused = await removeWorktree(tools, forced).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: "conflict", code: "WORKTREE_HOLDS_MORE" });
    expect(refused).toMatchObject({ details: { wouldLose: lost } });
    expect(String(refused)).toContain("results.dat");
    expect(existsSync(join(path, "results.dat"))).toBe(true);
    expect(gitIn(removal.expectedCommonDir, "for-each-ref", "refs/overseer")).toBe("");
    const outcome = await removeWorktree(tools, { ...forced, discard: true });
    expect(outcome).toMatchObject({ removed: true, lost });
    expect(existsSync(path)).toBe(false);
  });

  test("CLEAN-1: what the set-up made can be made again; what was changed since cannot", async () => {
    const { path, removal } = await made();
    mkdirSync(join(path, "data"));
    writeFileSync(join(path, ".env"), "A=1\n");
    writeFileSync(join(path, "data", "seed"), "seed");
    await noteSetUp(tools, path);
    // A file's own times are as fine as the file system's clock: without this the next one could be of the same tick.
    await tools.clock.sleep(20);
    writeFileSync(join(path, "data", "result"), "result");
    await expect(removeWorktree(tools, removal)).rejects.toMatchObject({
      code: "WORKTREE_HOLDS_MORE",
      details: { wouldLose: [{ path: "data/", what: "ignored", files: 1, bytes: 6 }] },
    });
    expect(await removeWorktree(tools, { ...removal, rebuildable: ["result"] })).toMatchObject({ removed: true });
  });
});

test("CLEAN-1: a worktree whose work has ended stays when it holds an ignored file, and says so", async () => {
  const { kind, there, said } = await reapedWithIgnored(schema.parse({}));
  expect([kind, there]).toEqual(["kept", true]);
  expect(said).toContain("server.log (ignored, 7 B)");
});

describe("by the commands", () => {
  test("CLEAN-1: nuke and reset refuse before they stop anybody, clean --force keeps; --discard is the second word", async () => {
    // What the set-up made, .env here, is no loss.
    const fleet = await fleetOf({ files: FILES, more: "worktree: {setup: echo A=1 > .env}\n" });
    const one = await fleet.sling("a", [
      run("echo 1 > out.dat; echo w > w.txt; git init -q sub; echo s > sub/s"),
      say("ready"),
    ]);
    await fleet.turns(one.attempt, 1);
    for (const verb of ["nuke", "reset"]) {
      const refused = await fleet.run(verb, "a", "--json");
      expect(refused.code).toBe(4);
      const { error } = JSON.parse(refused.stderr) as { error: Record<string, unknown> };
      expect(error).toMatchObject({ code: "WORKTREE_HOLDS_MORE", wouldLose: [{ path: "out.dat", what: "ignored" }] });
      expect(error.hint).toContain("--discard");
    }
    expect(fleet.attempt(one.attempt).end).toBeNull();
    await fleet.ok("stop", "a");
    const refused = await fleet.run("worktree", "clean", "a", "--force", "--json");
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("WORKTREE_KEPT")]);
    const cleaned = JSON.parse(refused.stdout) as { kept: { wouldLose: unknown[] }[] };
    expect(cleaned.kept[0]?.wouldLose).toMatchObject([{ path: "out.dat", files: 1, bytes: 2 }]);
    expect(existsSync(join(one.worktree, "out.dat"))).toBe(true);
    const said = JSON.parse(await fleet.ok("nuke", "a", "--discard", "--json")) as {
      recovery: string[];
      lost: unknown[];
    };
    expect(said.lost).toMatchObject([{ path: "out.dat" }]);
    const inside = said.recovery.find((ref) => ref.includes("-of-sub-")) ?? "none";
    expect(readFileSync(join(fetched(fleet.repo, inside), "s"), "utf8")).toBe("s\n");
  });
});
