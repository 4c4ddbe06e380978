/**
 * Random histories with real git: 2 to 8 branches that edit, add, remove, rename, change modes, hold binary, CRLF,
 * unicode names and empty commits, and that bump, replace or remove a submodule which the user has checked out in every
 * way one can; landed in random order, through filters that are slow or fail, while the user works on, types, renames,
 * stages, drops, amends and switches in the middle of it, and the machine dies at random moments. A clean landing equals
 * a plain `git merge` in a clone (a squash that cannot be merged, a plain `git rebase`); the target has only been where
 * the gate had passed; what does not land changes nothing; no commit is lost, and none that was dropped comes back; and
 * the user's index, stash, submodule, untracked files and what was typed are as they were.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { landClaim } from "#act/landing/land.ts";
import { settleUnfinishedMove } from "#act/landing/lock.ts";
import { openQuestions } from "#store/assignments.ts";
import { mortal, untilDeath } from "../support/dying-ports.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { scaled } from "../support/scale.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(7_200_000);

const FILES = ["a.txt", "dir/b.txt", "dir/größe ☃.txt", "crlf.txt", "bin.dat", "large.big"];
const lines = (mark: string) => Array.from({ length: 12 }, (_, n) => `line ${n} ${mark}`).join("\n");
const REPLACING = ["lib-file", "lib-link", "lib-directory", "lib-gone"] as const;
const KINDS = [
  ...["add", "remove", "rename", "mode", "binary", "crlf", "submodule", "bad", "nothing"],
  ...REPLACING,
] as const;

type Step =
  | { readonly kind: "edit"; readonly file: number; readonly line: number; readonly text: string }
  | { readonly kind: (typeof KINDS)[number]; readonly file: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("edit" as const),
      file: fc.nat(FILES.length - 1),
      line: fc.nat(11),
      text: fc.constantFrom("x", "y", "zß"),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom(...KINDS), file: fc.nat(FILES.length - 1) }),
  },
);

function take(dir: string, one: Step, who: string): void {
  const path = join(dir, FILES[one.file] ?? "a.txt");
  const there = existsSync(path);
  if (one.kind === "edit" && there) {
    const text = readFileSync(path, "utf8").split("\n");
    text[one.line] = `changed to ${one.text}`;
    writeFileSync(path, text.join("\n"));
  }
  if (one.kind === "add") {
    mkdirSync(join(dir, "new"), { recursive: true });
    writeFileSync(join(dir, "new", `${who} ü ${one.file}.txt`), who);
  }
  if (one.kind === "remove" && there) rmSync(path);
  if (one.kind === "rename" && there) renameSync(path, `${path}.moved ☃`);
  if (one.kind === "mode" && there) chmodSync(path, 0o755);
  if (one.kind === "binary") writeFileSync(join(dir, "bin.dat"), new Uint8Array([0, 1, who.length, one.file, 0, 255]));
  if (one.kind === "crlf" && there) writeFileSync(path, lines("first").replaceAll("\n", "\r\n"));
  if (one.kind === "bad") writeFileSync(join(dir, `bad-${who}.txt`), "bad\n");
  if (one.kind === "submodule") bump(dir, one.file);
  else if (one.kind.startsWith("lib-") && who !== "user") replaceLib(dir, one.kind);
}

/** To a commit that there is, or to one that nobody has. */
function bump(dir: string, which: number): void {
  const lib = join(dir, "lib");
  if (existsSync(lib) && (!lstatSync(lib).isDirectory() || readdirSync(lib).some((name) => name !== ".git"))) return;
  mkdirSync(lib, { recursive: true });
  const pointer = which % 2 === 0 ? LIBRARY.second : `${which + 1}`.repeat(40);
  gitIn(dir, "update-index", "--add", "--cacheinfo", `160000,${pointer},lib`);
}

function replaceLib(dir: string, kind: string): void {
  const lib = join(dir, "lib");
  rmSync(lib, { recursive: true, force: true });
  gitIn(dir, "rm", "-r", "--quiet", "--cached", "--ignore-unmatch", "lib");
  if (kind === "lib-file") writeFileSync(lib, "no library\n");
  if (kind === "lib-link") symlinkSync("dir", lib);
  if (kind !== "lib-directory") return;
  mkdirSync(lib);
  writeFileSync(join(lib, "vendored.txt"), "vendored\n");
}

const LIBRARY = library();

function library() {
  const lib = tempRepo({ files: { "lib.txt": "one\n", ".gitignore": "*.key\n" } });
  const first = lib.git("rev-parse", "HEAD");
  lib.git("commit", "--quiet", "--allow-empty", "--message", "Second");
  return { path: lib.path, first, second: lib.git("rev-parse", "HEAD") };
}

/** How the user has the submodule: not at all, in the repository's own git dir, with one of its own, or not filled. */
const LIBS = ["none", "absorbed", "own", "empty"] as const;

function addLib(repo: TempRepo, how: (typeof LIBS)[number]): void {
  if (how === "none") return;
  const lib = join(repo.path, "lib");
  if (how === "own") gitIn(repo.path, "clone", "--quiet", LIBRARY.path, "lib");
  else repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", LIBRARY.path, "lib");
  gitIn(lib, "checkout", "--quiet", LIBRARY.first);
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message", "A library");
  if (how === "empty") repo.git("submodule", "--quiet", "deinit", "--force", "lib");
  else {
    writeFileSync(join(lib, "user.key"), "only here\n");
    gitIn(lib, "branch", "only-here", LIBRARY.second);
  }
}

/** What a user does while a landing runs, as commands; `$1` is a file of theirs, `$2` a number. */
const ACTS = ["type", "rename", "stage", "drop", "amend", "switch"] as const;
const COMMANDS: Readonly<Record<(typeof ACTS)[number], string>> = {
  type: 'test -f "$1" && echo typed > "$1"',
  rename: 'git mv -- "$1" "$1.renamed"',
  stage: 'echo staged > "staged $2.txt" && git add -- "staged $2.txt"',
  drop: "git reset --quiet --hard HEAD~1",
  amend: "git commit --quiet --amend --allow-empty -m Amended",
  switch: 'git switch --quiet -c "aside-$2"',
};

const history = fc.record({
  branches: fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 8 }),
  /** In which order they land. */
  order: fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 }),
  /** What the user commits before each landing; nothing that the gate would mind. */
  user: fc.array(fc.array(step, { maxLength: 2 }), { minLength: 8, maxLength: 8 }),
  /** At which change of the world the machine dies, if it does. */
  crashes: fc.array(fc.option(fc.integer({ min: 1, max: 14 }), { freq: 2 }), { minLength: 8, maxLength: 8 }),
  strategy: fc.constantFrom("merge" as const, "squash" as const),
  lib: fc.constantFrom(...LIBS),
  /** What the filter of large files does while each lands for the first time. */
  filters: fc.array(fc.constantFrom("pass", "pass", "slow", "fail"), { minLength: 8, maxLength: 8 }),
  /** What the user does in the middle of it, and at which call of git. */
  acts: fc.array(
    fc.option(
      fc.record({
        act: fc.constantFrom(...ACTS),
        file: fc.nat(FILES.length - 1),
        call: fc.oneof(fc.constant("filter" as const), fc.nat(30)),
      }),
      { freq: 2 },
    ),
    { minLength: 8, maxLength: 8 },
  ),
  /** The agents began on a commit that the user drops before anything lands. */
  dropped: fc.nat(7).map((one) => one === 0),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

const GATE = { command: "! ls bad-* 2>/dev/null", on: ["land"], timeout: "60s" };

/** What plain git makes of it in a clone: the tree, or nothing where it finds a conflict. */
function plainly(clone: string, branch: string, strategy: History["strategy"]): string | undefined {
  const succeeds = (...argv: string[]) =>
    Bun.spawnSync(["git", "-c", "core.editor=true", ...argv], { cwd: clone }).exitCode === 0;
  // A rebase that stopped over a submodule cannot always be taken back by git.
  rmSync(join(clone, ".git/rebase-merge"), { recursive: true, force: true });
  gitIn(clone, "fetch", "--quiet", "origin", "main", branch);
  gitIn(clone, "checkout", "--quiet", "--force", "--detach", "origin/main");
  gitIn(clone, "clean", "-ffdxq");
  const tree = () => gitIn(clone, "rev-parse", "HEAD^{tree}");
  if (succeeds("merge", "--quiet", "--no-edit", `origin/${branch}`)) return tree();
  gitIn(clone, "reset", "--quiet", "--hard", `origin/${branch}`);
  if (strategy === "squash" && succeeds("rebase", "--quiet", "--reapply-cherry-picks", "origin/main")) return tree();
  gitIn(clone, "reset", "--quiet", "--hard");
  Bun.spawnSync(["git", "rebase", "--abort"], { cwd: clone });
  return undefined;
}

/** What the user has lying around, in the way of nobody. */
function leaveThings(repo: TempRepo): void {
  repo.write({ "a.txt": "stashed\n" });
  repo.git("stash", "--quiet");
  repo.write({ "mine ☃.txt": "mine\n" });
}

/** A submodule that is behind, or has been left where it was, is no change of anybody's. */
function thingsOf(repo: TempRepo): unknown {
  const status = repo.git("-c", "core.quotePath=false", "status", "--porcelain").split("\n");
  return [
    repo.git("rev-parse", "refs/stash"),
    readFileSync(join(repo.path, "mine ☃.txt"), "utf8"),
    status.filter((line) => !/^.. lib\/?$/.test(line)),
  ];
}

function userCommits(repo: TempRepo, steps: readonly Step[]): void {
  for (const one of steps) if (one.kind !== "bad") take(repo.path, one, "user");
  repo.git("add", "--all", "--", ".", ":!mine*");
  repo.git("commit", "--quiet", "--allow-empty", "-m", "The user works on");
}

/** A user and a filter that do what a history says, the filter with the user's act in the middle of it. */
class Course {
  private readonly dir = tempDir("course-");
  /** Directories that it has made. */
  readonly places: string[] = [this.dir];
  private lib: string | undefined;

  constructor(
    private readonly repo: TempRepo,
    how: History["lib"],
  ) {
    if (how === "absorbed" || how === "own") this.lib = join(repo.path, "lib");
    const smudge = join(this.dir, "smudge.sh");
    writeFileSync(smudge, this.filter(), { mode: 0o755 });
    this.mode("pass");
    for (const [key, value] of [
      ["clean", "cat"],
      ["smudge", smudge],
      ["required", "true"],
    ]) {
      repo.git("config", `filter.big.${key}`, value ?? "");
    }
  }

  mode(mode: string): void {
    writeFileSync(join(this.dir, "mode"), mode);
  }

  /** Only in the user's checkout, and not for what the user's own git asks for. */
  private filter(): string {
    return `#!/bin/sh
[ "$(pwd -P)" = "${this.repo.path}" ] && [ -z "$ACTING" ] || exec cat
if mv "${this.dir}/in-filter.sh" "${this.dir}/running.sh" 2>/dev/null; then sh "${this.dir}/running.sh" </dev/null >&2; fi
case "$(cat "${this.dir}/mode")" in
  fail) exit 1 ;;
  slow) sleep 0.05 ;;
esac
exec cat
`;
  }

  /** The act as a script; where it succeeds it leaves where the user was. */
  prepare(act: NonNullable<History["acts"][number]>, number: number): () => void {
    const file = FILES[act.file] ?? "a.txt";
    const script = `for name in $(env | sed -n 's/^\\(GIT_[A-Z_]*\\)=.*/\\1/p'); do unset "$name"; done
export ACTING=1
cd "${this.repo.path}" || exit 1
was=$(git rev-parse HEAD)
set -- "${file}" ${number}
${COMMANDS[act.act]} && echo "$was" > "${this.dir}/acted"
`;
    rmSync(join(this.dir, "acted"), { force: true });
    const path = join(this.dir, act.call === "filter" ? "in-filter.sh" : "at-call.sh");
    writeFileSync(path, script);
    return act.call === "filter" ? () => undefined : () => void Bun.spawnSync(["sh", path]);
  }

  /** What the user did is as it was done, whatever the landing has made of it. */
  holds(act: NonNullable<History["acts"][number]>, number: number): void {
    rmSync(join(this.dir, "in-filter.sh"), { force: true });
    if (!existsSync(join(this.dir, "acted"))) return;
    const was = readFileSync(join(this.dir, "acted"), "utf8").trim();
    const file = FILES[act.file] ?? "a.txt";
    const text = (name: string) => readFileSync(join(this.repo.path, name), "utf8");
    if (act.act === "type") expect([act, text(file)]).toEqual([act, "typed\n"]);
    if (act.act === "rename") expect(this.staged(`${file}.renamed`)).toBe(true);
    if (act.act === "stage")
      expect([text(`staged ${number}.txt`), this.staged(`staged ${number}.txt`)]).toEqual(["staged\n", true]);
    if (act.act === "drop" || act.act === "amend") expect(this.repo.git("rev-list", "main").includes(was)).toBe(false);
    if (act.act !== "switch") return;
    expect(this.repo.git("symbolic-ref", "--short", "HEAD")).toBe(`aside-${number}`);
    expect(this.repo.git("rev-parse", "HEAD")).toBe(was);
  }

  private staged(name: string): boolean {
    return this.repo.git("--literal-pathspecs", "ls-files", "--", name) !== "";
  }

  /** The user puts away what was begun and goes back to the branch, minding the submodule as git does not. */
  calm(): void {
    this.mode("pass");
    this.repo.git("reset", "--quiet", "--hard");
    // Their git may have met the lock of the landing's, as it meets that of any other git; then it was not staged.
    for (const name of readdirSync(this.repo.path))
      if (/^staged \d+\.txt$/.test(name)) rmSync(join(this.repo.path, name));
    if (this.blocks("main")) this.moveLib();
    this.repo.git("switch", "--quiet", "main");
  }

  /** Whether the user's submodule has files and this tree has something else there. */
  blocks(tree: string): boolean {
    if (this.lib !== join(this.repo.path, "lib")) return false;
    const entry = this.repo.git("ls-tree", tree, "lib");
    return entry !== "" && !entry.startsWith("160000");
  }

  moveLib(): void {
    this.places.push(tempDir("aside-"));
    const aside = join(this.places.at(-1) ?? "", "lib");
    renameSync(join(this.repo.path, "lib"), aside);
    this.lib = aside;
    if (this.repo.git("ls-tree", "HEAD", "lib").startsWith("160000")) mkdirSync(join(this.repo.path, "lib"));
  }

  /** What only the user's submodule has is there. */
  keepsLib(): void {
    if (this.lib === undefined) return;
    expect(readFileSync(join(this.lib, "user.key"), "utf8")).toBe("only here\n");
    expect(readFileSync(join(this.lib, "lib.txt"), "utf8")).toBe("one\n");
    // Absorbed and moved away, its git dir does not know it any more; while it is in its place, it does.
    if (this.lib !== join(this.repo.path, "lib")) return;
    expect(gitIn(this.lib, "rev-parse", "HEAD", "only-here")).toBe(`${LIBRARY.first}\n${LIBRARY.second}`);
  }
}

/** Does it just before the n-th call of git. */
function acting(at: number, act: () => void): <T extends object>(port: string, real: T) => T {
  let calls = 0;
  return (port, real) =>
    new Proxy(real, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (port === "exec" && calls++ === at) act();
          return Reflect.apply(value, target, args);
        };
      },
    });
}

async function live(story: History): Promise<void> {
  const { branches, order, user, crashes, strategy } = story;
  const files = Object.fromEntries(FILES.map((name) => [name, lines("first")]));
  const repo = tempRepo({ files: { ...files, ".gitattributes": "*.big filter=big\n" } });
  addLib(repo, story.lib);
  const home = tempDir("home-");
  if (story.dropped) {
    repo.write({ "key.pem": "hush\n" });
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message", "Oops, a key");
  }
  const dropped = repo.git("rev-parse", "HEAD");
  await foundLanding(repo.path, tasks(branches.length));
  const config = {
    ...{ landing: { mode: "auto", strategy, tiers: { mechanical: false } }, checks: { gate: GATE } },
    repo: { targetBranch: "main" },
  };
  const world = await landingWorld(repo.path, { config });
  const claims: { id: string; branch: string; attempt: number; rank: number }[] = [];
  const commits: string[] = [];
  for (const [index, steps] of branches.entries()) {
    const attempt = await world.attempt(`T${index + 1}`);
    for (const one of steps) {
      take(attempt.worktree, one, `agent${index}`);
      gitIn(attempt.worktree, "add", "--all");
      gitIn(attempt.worktree, "commit", "--quiet", "--allow-empty", "--message", `A step ${one.kind}`);
    }
    commits.push(...gitIn(attempt.worktree, "rev-list", `${attempt.base}..HEAD`).split("\n"));
    const { branch, workNodeId: id } = attempt;
    const { kind } = await world.report(attempt);
    if (kind === "claimed") claims.push({ id, branch, attempt: attempt.attempt, rank: order[index] ?? 0 });
  }
  if (story.dropped) repo.git("reset", "--quiet", "--hard", "HEAD~1");
  leaveThings(repo);
  const things = thingsOf(repo);
  const clone = join(tempDir("clone-"), "c");
  gitIn(dirname(clone), "clone", "--quiet", "--shared", repo.path, clone);
  gitIn(clone, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
  gitIn(clone, "config", "fetch.recurseSubmodules", "false");
  const course = new Course(repo, story.lib);
  claims.sort((one, other) => one.rank - other.rank);
  for (const [index, claim] of claims.entries()) {
    userCommits(repo, user[index] ?? []);
    const place = { goalId: GOAL, nodeId: claim.id };
    if (story.dropped) {
      await neverComesBack(repo, home, world, claim.id, dropped);
      continue;
    }
    const what = { ...claim, clone, home, strategy };
    // Before the machine dies: it may have landed by then.
    const expected = plainly(clone, claim.branch, strategy);
    const dies = crashes[index];
    if (dies !== null && dies !== undefined) {
      const dying = await landingWorld(repo.path, { config, wrap: mortal(dies).wrap });
      await untilDeath(() => landClaim(dying.parts, place));
      await dying.store.close();
    }
    const act = story.acts[index];
    course.mode(story.filters[index] ?? "pass");
    if (act) {
      const perform = course.prepare(act, index);
      const busy = await landingWorld(repo.path, { config, wrap: acting(Number(act.call), perform) });
      await landClaim(busy.parts, place);
      await busy.close();
      course.holds(act, index);
      course.keepsLib();
      course.calm();
    } else await inOneGo(repo, world, course, { ...what, expected });
    course.mode("pass");
    // What the first try has ended, be it landed or returned, has ended.
    if ((await world.node(claim.id)).claim !== undefined) {
      await inOneGo(repo, world, course, { ...what, expected: plainly(clone, claim.branch, strategy) });
      const { status, claim: left } = await world.node(claim.id);
      const isOver = (status === "done" || status === "in_progress") && left === undefined;
      expect([claim.id, status, isOver || status === "blocked"]).toEqual([claim.id, status, true]);
    }
    expect(thingsOf(repo)).toEqual(things);
    expect(repo.git("rev-parse", "HEAD")).toBe(repo.git("rev-parse", "main"));
    expect(existsSync(join(repo.path, ".git/index.lock"))).toBe(false);
    course.keepsLib();
  }
  for (const commit of repo.git("reflog", "show", "--format=%H", "main").split("\n")) {
    expect(repo.git("ls-tree", "--name-only", commit)).not.toContain("bad-");
  }
  const reachable = new Set(repo.git("rev-list", "--all").split("\n"));
  for (const commit of commits) expect(reachable.has(commit)).toBe(true);
  expect(repo.git("for-each-ref", "refs/overseer/staged/")).toBe("");
  await world.close();
  // Hundreds of them would take minutes to remove at the end.
  for (const path of [repo.path, home, dirname(clone), ...course.places]) rmSync(path, { recursive: true });
}

/** A person is asked, and nothing else happens. */
async function neverComesBack(
  repo: TempRepo,
  home: string,
  world: LandingWorld,
  id: string,
  dropped: string,
): Promise<void> {
  const before = snapshot(repo.path, home);
  await landClaim(world.parts, { goalId: GOAL, nodeId: id });
  expect([id, (await world.node(id)).status]).toEqual([id, "blocked"]);
  expect(snapshot(repo.path, home)).toEqual(before);
  expect(repo.git("rev-list", "main").includes(dropped)).toBe(false);
}

/** One try with nobody beside it: it lands as plain git would merge it, or everything is as it was. */
async function inOneGo(
  repo: TempRepo,
  world: LandingWorld,
  course: Course,
  what: { id: string; clone: string; home: string; expected: string | undefined },
): Promise<void> {
  const { id, clone, home, expected } = what;
  const place = { goalId: GOAL, nodeId: id };
  // What a machine that died has left is put right before anybody looks.
  await settleUnfinishedMove(world.parts);
  const bad = expected !== undefined && gitIn(clone, "ls-tree", "--name-only", expected).includes("bad-");
  const before = snapshot(repo.path, home);
  const was = repo.git("rev-parse", "main^{tree}");
  await landClaim(world.parts, place);
  const { status, claim } = await world.node(id);
  if (status === "blocked") {
    // It holds the very change that the user took back in another commit: a person is asked, whoever made it.
    const { open } = await world.store.read({ open: openQuestions() });
    expect(open.filter(({ workNodeId }) => workNodeId === id).map(({ text }) => text)).toEqual([
      expect.stringContaining("has a copy of"),
    ]);
    expect(snapshot(repo.path, home)).toEqual(before);
    return;
  }
  if (claim !== undefined) {
    expect([id, claim.waiting?.for]).toEqual([id, "checkout"]);
    expect(snapshot(repo.path, home)).toEqual(before);
    if (expected === undefined || !course.blocks(expected)) return;
    course.moveLib();
    return inOneGo(repo, world, course, what);
  }
  const lands = expected !== undefined && !bad;
  expect([id, status]).toEqual([id, lands ? "done" : "in_progress"]);
  expect(repo.git("rev-parse", "main^{tree}")).toBe(lands ? expected : was);
  if (!lands) expect(snapshot(repo.path, home)).toEqual(before);
}

/** 8 in an ordinary run, 500 in the long one, which has ten times the scale. */
const HISTORIES = scaled(1) >= 10 ? scaled(50) : scaled(8);

test("MERGE-3, ACC-1: random histories land as plain git would merge them, or leave everything as it was, whatever dies", async () => {
  await fc.assert(fc.asyncProperty(history, live), { numRuns: HISTORIES, endOnFailure: true });
});
