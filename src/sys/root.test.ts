/** Root discovery against repositories made by git itself, in every shape that a person may have. */
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OverseerError } from "#errors.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../../test/support/temp.ts";
import { findRoot, type Root, type RootQuery } from "./root.ts";

const findFrom = (cwd: string, rest: Partial<RootQuery> = {}): Promise<Root> => findRoot({ cwd, env: {}, ...rest });

async function refusal(result: Promise<unknown>): Promise<OverseerError> {
  const error = await result.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OverseerError) return error;
  throw new Error(`Expected an OverseerError, got ${String(error)}.`);
}

const ordinary = (project: string): Root => ({
  project,
  userDir: join(project, ".overseer"),
  state: join(project, ".git/overseer"),
  gitCommonDir: join(project, ".git"),
});
const bare = (commonDir: string): Root => ({
  project: commonDir,
  userDir: join(commonDir, "overseer"),
  state: join(commonDir, "overseer"),
  gitCommonDir: commonDir,
});
const allowFile = ["-c", "protocol.file.allow=always"];

describe("an ordinary repository", () => {
  const repo = tempRepo({ files: { "src/deep/file.ts": "" } });
  const worktree = join(tempDir("wt-"), "linked");
  const inside = join(repo.path, ".overseer/worktrees/fern-1");
  beforeAll(() => {
    repo.git("worktree", "add", "--quiet", worktree);
    repo.git("worktree", "add", "--quiet", "-b", "inside", inside);
    mkdirSync(join(worktree, "sub/dir"), { recursive: true });
  });

  test.each([
    ["the main checkout", () => repo.path],
    ["a trailing slash", () => `${repo.path}/`],
    ["a subdirectory", () => join(repo.path, "src/deep")],
    ["its .git directory", () => join(repo.path, ".git")],
    ["a directory in .git", () => join(repo.path, ".git/refs/heads")],
    ["a linked worktree", () => worktree],
    ["a subdirectory of a linked worktree", () => join(worktree, "sub/dir")],
    ["the git directory of a linked worktree", () => join(repo.path, ".git/worktrees/linked")],
    ["an agent's worktree inside the user's directory", () => inside],
    ["the user's directory", () => join(repo.path, ".overseer")],
  ])("has one root, seen from %s", async (_where, place) => {
    expect(await findFrom(place())).toEqual(ordinary(repo.path));
    expect(await findFrom("/", { flag: place() })).toEqual(ordinary(repo.path));
    expect(await findFrom("/", { env: { OVERSEER_ROOT: place() } })).toEqual(ordinary(repo.path));
    expect(await findFrom("/", { env: { OVERSEER_ROOT: place(), OVERSEER_ATTEMPT: "47" } })).toEqual(
      ordinary(repo.path),
    );
  });

  test("agrees with git about the common directory", async () => {
    const said = gitIn(worktree, "rev-parse", "--path-format=absolute", "--git-common-dir");
    expect((await findFrom(worktree)).gitCommonDir).toBe(said);
  });

  test("that is moved to relative pointers keeps its root", async () => {
    const dotGit = join(inside, ".git");
    const absolute = await Bun.file(dotGit).text();
    writeFileSync(dotGit, "gitdir: ../../../.git/worktrees/fern-1\n");
    expect(await findFrom(inside)).toEqual(ordinary(repo.path));
    writeFileSync(dotGit, absolute);
  });

  test("a clone inside it is a repository of its own", async () => {
    repo.git("clone", "--quiet", repo.path, "vendor/clone");
    expect(await findFrom(join(repo.path, "vendor/clone"))).toEqual(ordinary(join(repo.path, "vendor/clone")));
  });
});

describe("unusual repositories", () => {
  test.each(["with blanks ", "ünïcode-日本", "modules", 'quote\'s "x"', "-dash"])("a path named %p", async (name) => {
    const project = join(tempDir("odd-"), name);
    mkdirSync(project);
    gitIn(project, "init", "--quiet");
    gitIn(project, "commit", "--quiet", "--allow-empty", "-m", "First");
    const worktree = join(tempDir("odd-"), name);
    gitIn(project, "worktree", "add", "--quiet", "-b", "other", worktree);
    expect(await findFrom(project)).toEqual(ordinary(project));
    expect(await findFrom(worktree)).toEqual(ordinary(project));
  });

  test("sha256 names, and a detached HEAD of that length", async () => {
    const project = tempDir("sha256-");
    gitIn(project, "init", "--quiet", "--object-format=sha256");
    gitIn(project, "commit", "--quiet", "--allow-empty", "-m", "First");
    const worktree = join(tempDir("sha256-"), "wt");
    gitIn(project, "worktree", "add", "--quiet", "--detach", worktree);
    gitIn(project, "checkout", "--quiet", "--detach");
    expect(await findFrom(project)).toEqual(ordinary(project));
    expect(await findFrom(worktree)).toEqual(ordinary(project));
  });

  test("no commit yet", async () => {
    const project = tempDir("unborn-");
    gitIn(project, "init", "--quiet");
    expect(await findFrom(project)).toEqual(ordinary(project));
  });

  test("bare: the state lies in the common directory, also seen from its worktrees", async () => {
    const commonDir = join(tempDir("bare-"), "project.git");
    const worktree = join(tempDir("bare-"), "wt");
    gitIn("/", "clone", "--quiet", "--bare", tempRepo().path, commonDir);
    gitIn(commonDir, "worktree", "add", "--quiet", worktree);
    mkdirSync(join(commonDir, "overseer"));
    for (const place of [commonDir, join(commonDir, "refs"), join(commonDir, "overseer"), worktree]) {
      expect(await findFrom(place)).toEqual(bare(commonDir));
    }
  });

  test("a hidden bare repository beside its worktrees, found through a .git file", async () => {
    const project = tempDir("hidden-");
    gitIn("/", "clone", "--quiet", "--bare", tempRepo().path, join(project, ".bare"));
    writeFileSync(join(project, ".git"), "gitdir: ./.bare\n");
    gitIn(project, "worktree", "add", "--quiet", join(project, "main-wt"), "main");
    expect(await findFrom(project)).toEqual(bare(join(project, ".bare")));
    expect(await findFrom(join(project, "main-wt"))).toEqual(bare(join(project, ".bare")));
  });

  test("a separate git directory, also seen from a linked worktree", async () => {
    const project = tempDir("separate-");
    const commonDir = join(tempDir("separate-"), "elsewhere");
    gitIn(project, "init", "--quiet", "--separate-git-dir", commonDir);
    gitIn(project, "commit", "--quiet", "--allow-empty", "-m", "First");
    const worktree = join(tempDir("separate-"), "wt");
    gitIn(project, "worktree", "add", "--quiet", worktree);
    expect(await findFrom(project)).toEqual(bare(commonDir));
    expect(await findFrom(worktree)).toEqual(bare(commonDir));
  });

  test("a directory that merely holds a file named HEAD is not one", async () => {
    const directory = tempDir("head-");
    writeFileSync(join(directory, "HEAD"), "ref: refs/heads/main\n");
    expect((await refusal(findFrom(directory))).code).toBe("NOT_A_REPOSITORY");
    writeFileSync(join(directory, "HEAD"), "Heads up: this is prose\n");
    writeFileSync(join(directory, "config"), "key = value\n");
    expect((await refusal(findFrom(directory))).code).toBe("NOT_A_REPOSITORY");
  });
});

describe("submodules belong to the superproject", () => {
  let project: TempRepo;
  let linked: string;
  beforeAll(() => {
    const inner = tempRepo();
    const middle = tempRepo();
    middle.git(...allowFile, "submodule", "--quiet", "add", inner.path, "inner");
    middle.git("commit", "--quiet", "-m", "Add inner");
    project = tempRepo();
    project.git(...allowFile, "submodule", "--quiet", "add", middle.path, "libs/middle");
    project.git(...allowFile, "submodule", "--quiet", "add", "--name", "odd/modules/name", inner.path, "odd");
    project.git("commit", "--quiet", "-m", "Add submodules");
    project.git(...allowFile, "submodule", "--quiet", "update", "--init", "--recursive");
    linked = join(tempDir("sub-"), "linked");
    project.git("worktree", "add", "--quiet", linked);
    gitIn(linked, ...allowFile, "submodule", "--quiet", "update", "--init", "--recursive");
  });

  test.each([
    ["a submodule", () => join(project.path, "libs/middle")],
    ["a nested submodule", () => join(project.path, "libs/middle/inner")],
    ["a submodule whose name holds the word modules", () => join(project.path, "odd")],
    ["a submodule in a linked worktree", () => join(linked, "libs/middle")],
    ["a nested submodule in a linked worktree", () => join(linked, "libs/middle/inner")],
    ["the git directory of a submodule", () => join(project.path, ".git/modules/libs/middle")],
  ])("seen from %s", async (_where, place) => {
    expect(await findFrom(place())).toEqual(ordinary(project.path));
  });

  test("seen from a linked worktree of a submodule", async () => {
    const worktree = join(tempDir("sub-"), "of-submodule");
    gitIn(join(project.path, "libs/middle"), "worktree", "add", "--quiet", "-b", "aside", worktree);
    expect(await findFrom(worktree)).toEqual(ordinary(project.path));
  });

  test("seen from a submodule in a worktree of a bare repository", async () => {
    const commonDir = join(tempDir("sub-"), "bare.git");
    const worktree = join(tempDir("sub-"), "wt");
    gitIn("/", "clone", "--quiet", "--bare", project.path, commonDir);
    gitIn(commonDir, "worktree", "add", "--quiet", worktree, "main");
    gitIn(worktree, ...allowFile, "submodule", "--quiet", "update", "--init", "--recursive");
    expect(await findFrom(join(worktree, "libs/middle/inner"))).toEqual(bare(commonDir));
  });
});

describe("which root is meant", () => {
  const one = tempRepo();
  const two = tempRepo();
  const nowhere = tempDir("nowhere-");
  const env = { OVERSEER_ROOT: one.path };

  const cases: [why: string, query: RootQuery, project: string][] = [
    ["the flag wins over both", { cwd: two.path, flag: two.path, env }, two.path],
    ["a relative flag starts at the working directory", { cwd: two.path, flag: "./x/..", env: {} }, two.path],
    ["the environment holds where there is no repository", { cwd: nowhere, env }, one.path],
    ["inside an attempt the environment wins", { cwd: two.path, env: { ...env, OVERSEER_ATTEMPT: "3" } }, one.path],
    ["an attempt alone names nothing", { cwd: two.path, env: { OVERSEER_ATTEMPT: "3" } }, two.path],
    ["an empty variable is not set", { cwd: two.path, env: { OVERSEER_ROOT: "" } }, two.path],
    ["environment and working directory agree", { cwd: one.path, env }, one.path],
  ];
  test.each(cases)("%s", async (_why, query, project) => {
    expect((await findRoot(query)).project).toBe(project);
  });

  test("a symlink to the repository names the same root", async () => {
    const link = join(tempDir("link-"), "link");
    symlinkSync(one.path, link);
    expect(await findFrom(nowhere, { flag: link })).toEqual(ordinary(one.path));
    expect(await findFrom(one.path, { env: { OVERSEER_ROOT: link } })).toEqual(ordinary(one.path));
  });

  test("two roots and nobody to say which: refused, naming both and the way out", async () => {
    const error = await refusal(findFrom(two.path, { env }));
    expect([error.kind, error.code, error.exitCode]).toEqual(["conflict", "TWO_ROOTS", 4]);
    expect(error.message).toContain(one.path);
    expect(error.message).toContain(two.path);
    expect(error.hint).toContain("--root");
  });

  test.each([
    ["the working directory", { cwd: nowhere, env: {} }],
    ["the flag", { cwd: one.path, flag: nowhere, env: {} }],
    ["the variable", { cwd: one.path, env: { OVERSEER_ROOT: nowhere } }],
    ["a flag that names nothing", { cwd: one.path, flag: join(nowhere, "gone"), env: {} }],
  ])("no repository by %s: refused with the next step", async (_what, query) => {
    const error = await refusal(findRoot(query));
    expect([error.kind, error.code, error.exitCode]).toEqual(["environment", "NOT_A_REPOSITORY", 5]);
    expect(error.hint).toContain("git init");
    expect(error.hint).toContain("--root");
  });
});
