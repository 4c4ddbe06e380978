/**
 * A checkout that is stopped half-way while it is moved forward: by a filter that fails (a large-file server that is
 * down), by a kill of git, of git and us, by a full disk. The user's checkout is as it was, byte for byte, the landing
 * says what happened, and once the cause is gone it lands.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { isMoveLeft, settleLeftMove, settleUnfinishedMove } from "#act/landing/lock.ts";
import { mergeBranch } from "#control/merge.ts";
import { asPerson } from "../support/landing-observations.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { canMount, inNamespace } from "../support/namespace.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const HARNESS = join(import.meta.dir, "../support/landing-harness.ts");
const HOME = tempDir("home-");
const CONFIG = { landing: { mode: "auto" } };
const FILES = {
  ".gitattributes": "hard.txt filter=hard\n",
  "a.txt": "a\n",
  "dir/deleted.txt": "deleted\n",
  "hard.txt": "easy\n",
  "run.sh": "#!/bin/sh\n",
  swapped: "a file\n",
  "z.txt": "z\n",
};

/** Every kind of change around one file whose filter does what the test says. */
async function claimed(): Promise<TempRepo> {
  const repo = tempRepo({ files: FILES });
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { config: CONFIG });
  const attempt = await world.attempt("T1");
  const at = attempt.worktree;
  rmSync(join(at, "swapped"));
  chmodSync(join(at, "run.sh"), 0o755);
  symlinkSync("a.txt", join(at, "a-link"));
  const files = { "a.txt": "better\n", "dir/deleted.txt": null, "hard.txt": "hard\n", "z.txt": "zz\n" };
  world.commit(attempt, { ...files, "new/deep/b.txt": "b\n", "swapped/inside.txt": "inside\n" });
  await world.report(attempt);
  await world.close();
  repo.write({ "mine.txt": "mine\n" });
  return repo;
}

function filter(repo: TempRepo, smudge: string): void {
  repo.git("config", "filter.hard.clean", "cat");
  repo.git("config", "filter.hard.smudge", smudge);
  repo.git("config", "filter.hard.required", "true");
}

/** Git notes for itself where a branch was; no person owns that. */
function theirs(repo: TempRepo) {
  const { "repo/.git/ORIG_HEAD": _noted, "repo/.git/config": _filter, ...rest } = snapshot(repo.path, HOME);
  return rest;
}

async function land(repo: TempRepo) {
  const world = await landingWorld(repo.path, { config: CONFIG });
  const { kind } = await landClaim(world.parts, { goalId: GOAL, nodeId: "T1" });
  const { claim } = await world.node("T1");
  await world.close();
  return { kind, waiting: claim?.waiting };
}

function hasLanded(repo: TempRepo): void {
  expect(repo.git("status", "--porcelain")).toBe("?? mine.txt");
  expect(readFileSync(join(repo.path, "hard.txt"), "utf8")).toBe("hard\n");
  expect(readFileSync(join(repo.path, "swapped/inside.txt"), "utf8")).toBe("inside\n");
  expect(readdirSync(join(repo.path, ".git/overseer/moving"))).toEqual([]);
}

/** Only the new version is out of reach, as with a server for large files that is down. */
const STOPS: [what: string, smudge: string, says: RegExp][] = [
  ["a filter that fails", "grep easy", /git would not fast-forward .*: error: external filter 'grep easy' failed/],
  ["a git that is killed", "grep easy || kill -9 $PPID", /git would not fast-forward .*: it was ended by SIGKILL/],
];
test.each(STOPS)(
  "MERGE-3: %s while the checkout moves leaves it as it was, is told, and lands later",
  async (_what, smudge, says) => {
    const repo = await claimed();
    const before = theirs(repo);
    filter(repo, smudge);
    const stopped = await land(repo);
    expect(theirs(repo)).toEqual(before);
    expect(stopped).toMatchObject({
      kind: "waiting",
      waiting: { for: "checkout", detail: expect.stringMatching(says) },
    });
    filter(repo, "cat");
    expect(await land(repo)).toMatchObject({ kind: "done" });
    hasLanded(repo);
  },
);

/** Kills git and whoever started it, at the one file. */
const POWER_CUT = "kill -9 $(ps -o ppid= -p $PPID) $PPID";

test("MERGE-3: a power cut while a filter runs has touched nothing, and the next process lands it", async () => {
  const repo = await claimed();
  const before = theirs(repo);
  filter(repo, POWER_CUT);
  const cut = Bun.spawnSync([process.execPath, HARNESS, repo.path, JSON.stringify(CONFIG)], { stdin: "ignore" });
  expect(cut.signalCode).toBe("SIGKILL");
  expect(theirs(repo)).toEqual(before);
  filter(repo, "cat");
  expect(await land(repo)).toMatchObject({ kind: "done" });
  hasLanded(repo);
});

/** What a power cut in the middle of a move leaves: some files new, one begun, the index locked, the note of it. */
function cutHalfWay(repo: TempRepo): { lock: string; working: string } {
  const from = repo.git("rev-parse", "main");
  const to = repo.git("rev-parse", "overseer/a-1/T1");
  const state = join(repo.path, ".git/overseer");
  const [lock, working] = [join(repo.path, ".git/index.lock"), join(state, "scratch/s_cut/index.lock")];
  const move = { checkout: repo.path, gitDir: join(repo.path, ".git"), branch: "main", from, to };
  mkdirSync(join(state, "moving"), { recursive: true });
  mkdirSync(dirname(working), { recursive: true });
  const note = { ...move, lock: "overseer cut\n", index: working.slice(0, -".lock".length) };
  writeFileSync(join(state, "moving/one.json"), JSON.stringify(note));
  writeFileSync(lock, "overseer cut\n");
  writeFileSync(working, "");
  rmSync(join(repo.path, "dir"), { recursive: true });
  rmSync(join(repo.path, "swapped"));
  repo.write({ "a.txt": "bett", "swapped/inside.txt": "inside\n", "new/deep/b.txt": "" });
  chmodSync(join(repo.path, "run.sh"), 0o755);
  return { lock, working };
}

test("MERGE-3: a power cut while the checkout moves is taken back by the next process; what somebody wrote since stays", async () => {
  const repo = await claimed();
  filter(repo, "cat");
  const before = theirs(repo);
  const { working } = cutHalfWay(repo);
  // While git's own lock is there, it may still be at work: nothing is touched, and the lock is named.
  const half = theirs(repo);
  expect((await land(repo)).waiting?.detail).toMatch(/uncommitted changes .*index\.lock; remove it if none runs/);
  expect(theirs(repo)).toEqual(half);
  rmSync(working);
  writeFileSync(join(repo.path, "z.txt"), "written since\n");
  // The daemon, which comes by regularly, needs no landing for it.
  const world = await landingWorld(repo.path, { config: CONFIG });
  expect(await settleLeftMove(world.parts)).toBe(true);
  await world.close();
  expect(repo.git("--no-optional-locks", "status", "--porcelain")).toBe(" M z.txt\n?? mine.txt");
  const next = await land(repo);
  expect(next).toMatchObject({ kind: "waiting", waiting: { files: ["z.txt"] } });
  expect(readFileSync(join(repo.path, "z.txt"), "utf8")).toBe("written since\n");
  writeFileSync(join(repo.path, "z.txt"), "z\n");
  expect(theirs(repo)).toEqual(before);
  expect(await land(repo)).toMatchObject({ kind: "done" });
  hasLanded(repo);
});

/** Kills everybody above the `mv` that puts the index, before it has or after it. */
function cutAtIndex(when: "before" | "after"): string {
  const bin = tempDir("bin-");
  const real = Bun.which("mv") ?? "mv";
  const above = (of: string) => `$(ps -o ppid= -p ${of} | tr -d ' ')`;
  const lines = [
    "#!/bin/sh",
    when === "after" ? `'${real}' "$@"` : ":",
    `ref=${above("$PPID")}; hook=${above("$ref")}; merge=${above("$hook")}; us=${above("$merge")}`,
    "kill -9 $ref $us $merge $hook $PPID",
  ];
  writeFileSync(join(bin, "mv"), `${lines.join("\n")}\n`);
  chmodSync(join(bin, "mv"), 0o755);
  return `${bin}:${process.env.PATH}`;
}

async function cutWithLocks(when: "before" | "after") {
  const repo = await claimed();
  filter(repo, "cat");
  const cut = Bun.spawnSync([process.execPath, HARNESS, repo.path, JSON.stringify(CONFIG)], {
    ...{ stdin: "ignore" as const, env: { ...process.env, PATH: cutAtIndex(when) } },
  });
  expect(cut.signalCode).toBe("SIGKILL");
  const [head, branch] = ["HEAD.lock", "refs/heads/main.lock"].map((name) => join(repo.path, ".git", name));
  const settle = async () => {
    const world = await landingWorld(repo.path, { config: CONFIG });
    await settleLeftMove(world.parts);
    await world.close();
    return [head, branch].map((path) => existsSync(path ?? ""));
  };
  expect([head, branch].map((path) => existsSync(path ?? ""))).toEqual([true, true]);
  return { repo, branch: branch ?? "", settle };
}

test.each(["before", "after"] as const)(
  "MERGE-3: killed %s the index is put, with the branch locked, our own locks are gone at the next look",
  async (when) => {
    const { repo, settle } = await cutWithLocks(when);
    // A git of the user's is at work there, and may hold the lock of HEAD.
    const child = Bun.spawn(["git", "cat-file", "--batch"], { cwd: repo.path, stdin: "pipe", env: process.env });
    expect(await settle()).toEqual([true, true]);
    child.kill();
    await child.exited;
    expect(await settle()).toEqual([false, false]);
    expect(repo.git("status", "--porcelain")).toBe("?? mine.txt");
    expect(await land(repo)).toMatchObject({ kind: "done" });
    hasLanded(repo);
  },
);

test("MERGE-3: a lock of the branch for another move than ours stays, and that of HEAD with it", async () => {
  const { branch, settle } = await cutWithLocks("before");
  writeFileSync(branch, `${"0".repeat(39)}1\n`);
  expect(await settle()).toEqual([true, true]);
});

test.each(["renamed", "copied"])(
  "MERGE-3: a move that was cut is taken back in a repository that was %s since",
  async (how) => {
    const repo = await claimed();
    filter(repo, "cat");
    const clean = repo.git("status", "--porcelain");
    const { working } = cutHalfWay(repo);
    rmSync(working);
    const now = `${repo.path}-now`;
    if (how === "renamed") renameSync(repo.path, now);
    else cpSync(repo.path, now, { recursive: true, verbatimSymlinks: true });
    const original = how === "copied" ? theirs(repo) : undefined;
    const world = await landingWorld(now, { config: CONFIG });
    expect(await isMoveLeft(world.parts)).toBe(true);
    await settleUnfinishedMove(world.parts);
    expect(await isMoveLeft(world.parts)).toBe(false);
    await world.close();
    expect(existsSync(join(now, ".git/index.lock"))).toBe(false);
    expect(readdirSync(join(now, ".git/overseer/moving"))).toEqual([]);
    expect(gitIn(now, "status", "--porcelain")).toBe(clean);
    if (original) expect(theirs(repo)).toEqual(original);
    rmSync(now, { recursive: true });
  },
);

/** Somebody's own in the place of what half arrived, or above it. */
const MADE_SINCE: [what: string, make: (path: string) => void, kept: string, left: string][] = [
  [
    "a directory where a new file was to be",
    (path) => {
      rmSync(join(path, "new/deep/b.txt"));
      mkdirSync(join(path, "new/deep/b.txt/chapter"), { recursive: true });
      writeFileSync(join(path, "new/deep/b.txt/chapter/one"), "a week's work\n");
    },
    "new/deep/b.txt/chapter/one",
    "?? mine.txt\n?? new/",
  ],
  [
    "a link above a new file",
    (path) => {
      rmSync(join(path, "new"), { recursive: true });
      mkdirSync(join(path, ".git/elsewhere/deep"), { recursive: true });
      writeFileSync(join(path, ".git/elsewhere/deep/b.txt"), "");
      symlinkSync(".git/elsewhere", join(path, "new"));
    },
    "new/deep/b.txt",
    "?? mine.txt\n?? new",
  ],
  [
    "a link above a file that was there",
    (path) => {
      mkdirSync(join(path, ".git/elsewhere"), { recursive: true });
      writeFileSync(join(path, ".git/elsewhere/mine"), "a week's work\n");
      symlinkSync(".git/elsewhere", join(path, "dir"));
    },
    "dir/mine",
    " D dir/deleted.txt\n?? dir\n?? mine.txt",
  ],
];
test.each(MADE_SINCE)("MERGE-3: taking back a move spares %s", async (_what, make, kept, left) => {
  const repo = await claimed();
  filter(repo, "cat");
  const { working } = cutHalfWay(repo);
  rmSync(working);
  make(repo.path);
  expect(await land(repo)).toMatchObject({ kind: "waiting", waiting: { for: "checkout" } });
  expect(existsSync(join(repo.path, kept))).toBe(true);
  expect(repo.git("--no-optional-locks", "status", "--porcelain")).toBe(left);
});

test("MERGE-3: a power cut after the branch has moved, before the index, is brought to its end", async () => {
  const repo = await claimed();
  filter(repo, "cat");
  const to = repo.git("rev-parse", "overseer/a-1/T1");
  const [index, scratch] = [join(repo.path, ".git/index"), join(repo.path, ".git/overseer/scratch/s_cut")];
  mkdirSync(scratch, { recursive: true });
  cpSync(index, join(scratch, "old"));
  const from = repo.git("rev-parse", "main");
  repo.git("merge", "--quiet", "--ff-only", to);
  cpSync(index, join(scratch, "index"));
  cpSync(join(scratch, "old"), index);
  const move = { checkout: repo.path, gitDir: join(repo.path, ".git"), branch: "main", from, to };
  mkdirSync(join(repo.path, ".git/overseer/moving"));
  const note = { ...move, lock: "overseer cut\n", index: join(scratch, "index") };
  writeFileSync(join(repo.path, ".git/overseer/moving/one.json"), JSON.stringify(note));
  writeFileSync(join(repo.path, ".git/index.lock"), "overseer cut\n");
  expect(repo.git("status", "--porcelain")).not.toBe("?? mine.txt");
  expect(await land(repo)).toMatchObject({ kind: "done" });
  expect(existsSync(join(repo.path, ".git/index.lock"))).toBe(false);
  hasLanded(repo);
});

test("MERGE-3: a power cut after files and index, before the branch, is taken back too", async () => {
  const repo = await claimed();
  const before = theirs(repo);
  const world = await landingWorld(repo.path, { config: CONFIG });
  const from = repo.git("rev-parse", "main");
  const to = repo.git("rev-parse", "overseer/a-1/T1");
  repo.git("read-tree", "-m", "-u", from, to);
  const move = { checkout: repo.path, gitDir: join(repo.path, ".git"), branch: "main", from, to };
  mkdirSync(join(repo.path, ".git/overseer/moving"), { recursive: true });
  writeFileSync(join(repo.path, ".git/overseer/moving/one.json"), JSON.stringify(move));
  repo.git("branch", "other", "main~0");
  expect(repo.git("status", "--porcelain")).toContain("M  a.txt");
  repo.git("branch", "theirs", to);
  expect(await mergeBranch(asPerson(world), "other")).toMatchObject({ outcome: "done" });
  const { "repo/.git/index": _was, refs: _refs, ...files } = before;
  const { "repo/.git/index": _is, refs: _more, ...now } = theirs(repo);
  for (const name of ["other", "theirs"]) delete (now as Record<string, string>)[`repo/.git/logs/refs/heads/${name}`];
  expect(now).toEqual(files);
  expect(repo.git("status", "--porcelain")).toBe("?? mine.txt");
  await world.close();
  expect(await land(repo)).toMatchObject({ kind: "done" });
  hasLanded(repo);
});

/** $1 repository, $2 bun, $3 harness, $4 configuration, $5 bytes that are left free. */
const ON_A_SMALL_DISK = `
mount -t tmpfs -o size=40m none "$1" && cp -a "$1-kept/." "$1" && cd "$1" || exit 9
git status --porcelain > /dev/null
head -c 100m /dev/zero > .git/filler 2>/dev/null
truncate -s -$5 .git/filler
"$2" "$3" "$1" "$4" 2>&1
echo "--- after"
rm .git/filler
git status --porcelain
git rev-parse main
echo "--- again"
"$2" "$3" "$1" "$4" | grep -o '"landed":{"kind":"[a-z]*"'
git status --porcelain
`;
test.skipIf(!canMount)(
  "MERGE-3: a full disk during a landing changes nothing, says so, and lands when there is room",
  async () => {
    const repo = tempRepo({ files: { "a.txt": "a\n", "m.txt": "old\n" } });
    await foundLanding(repo.path, tasks(1));
    const world = await landingWorld(repo.path, { config: CONFIG });
    const attempt = await world.attempt("T1");
    writeFileSync(join(attempt.worktree, "big.bin"), crypto.getRandomValues(new Uint8Array(60_000)));
    writeFileSync(join(attempt.worktree, "bigger.bin"), new Uint8Array(6_000_000));
    world.commit(attempt, { "a.txt": "better\n", "m.txt": null, "n.txt": "n\n" });
    await world.report(attempt);
    await world.close();
    const tip = gitIn(repo.path, "rev-parse", "main");
    cpSync(repo.path, `${repo.path}-kept`, { recursive: true, preserveTimestamps: true });
    const gate = { checks: { g: { command: "test -f n.txt", on: ["land"] } } };
    for (const [config, free] of [
      [CONFIG, 3_000_000],
      [{ ...CONFIG, ...gate }, 3_000_000],
      [CONFIG, 4096],
    ] as const) {
      const args = [repo.path, process.execPath, HARNESS, JSON.stringify(config), String(free)];
      const { stdout } = inNamespace(ON_A_SMALL_DISK, ...args);
      const [said = "", after, again] = stdout.split(/--- after\n|--- again\n/);
      expect(said).toMatch(/No space left on the disk|disk is full|database or disk is full/);
      expect(after).toBe(`${tip}\n`);
      expect(again).toBe('"landed":{"kind":"done"\n');
    }
    rmSync(`${repo.path}-kept`, { recursive: true });
  },
);
