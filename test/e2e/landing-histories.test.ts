/**
 * Random histories with real git: 2 to 8 branches that edit, add, remove, rename, change modes, hold binary, CRLF,
 * unicode names, submodule pointers and empty commits, landed in random order while the user works on and the machine
 * dies at random moments. A clean landing equals a plain `git merge` in a clone (a squash that cannot be merged, a plain
 * `git rebase`); the target has only been where the gate had passed; what does not land changes nothing; no commit is
 * lost; and the user's index, stash and untracked files are as they were.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { landClaim } from "#act/land.ts";
import { mortal, untilDeath } from "../support/dying-ports.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { scaled } from "../support/scale.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(1_800_000);

const FILES = ["a.txt", "dir/b.txt", "dir/größe ☃.txt", "crlf.txt", "bin.dat"];
const lines = (mark: string) => Array.from({ length: 12 }, (_, n) => `line ${n} ${mark}`).join("\n");
const KINDS = ["add", "remove", "rename", "mode", "binary", "crlf", "submodule", "bad", "nothing"] as const;

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
  if (one.kind !== "submodule") return;
  mkdirSync(join(dir, "lib"), { recursive: true });
  const pointer = `${one.file + 1}`.repeat(40);
  gitIn(dir, "update-index", "--add", "--cacheinfo", `160000,${pointer},lib`);
}

const history = fc.record({
  branches: fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 8 }),
  /** In which order they land. */
  order: fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 }),
  /** What the user commits before each landing; nothing that the gate would mind. */
  user: fc.array(fc.array(step, { maxLength: 2 }), { minLength: 8, maxLength: 8 }),
  /** At which change of the world the machine dies, if it does. */
  crashes: fc.array(fc.option(fc.integer({ min: 1, max: 14 }), { freq: 2 }), { minLength: 8, maxLength: 8 }),
  strategy: fc.constantFrom("merge" as const, "squash" as const),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

const GATE = { command: "! ls bad-* 2>/dev/null", on: ["land"], timeout: "60s" };

/** What plain git makes of it in a clone: the tree, or nothing where it finds a conflict. */
function plainly(clone: string, branch: string, strategy: History["strategy"]): string | undefined {
  const succeeds = (...argv: string[]) =>
    Bun.spawnSync(["git", "-c", "core.editor=true", ...argv], { cwd: clone }).exitCode === 0;
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

function thingsOf(repo: TempRepo): unknown {
  return [
    repo.git("rev-parse", "refs/stash"),
    readFileSync(join(repo.path, "mine ☃.txt"), "utf8"),
    repo.git("-c", "core.quotePath=false", "status", "--porcelain"),
  ];
}

function userCommits(repo: TempRepo, steps: readonly Step[]): void {
  for (const one of steps) if (one.kind !== "bad") take(repo.path, one, "user");
  repo.git("add", "--all", "--", ".", ":!mine*");
  repo.git("commit", "--quiet", "--allow-empty", "-m", "The user works on");
}

async function live({ branches, order, user, crashes, strategy }: History): Promise<void> {
  const repo = tempRepo({ files: Object.fromEntries(FILES.map((name) => [name, lines("first")])) });
  const home = tempDir("home-");
  await foundLanding(repo.path, tasks(branches.length));
  const config = { landing: { mode: "auto", strategy, tiers: { mechanical: false } }, checks: { gate: GATE } };
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
  leaveThings(repo);
  const things = thingsOf(repo);
  const clone = join(tempDir("clone-"), "c");
  gitIn(dirname(clone), "clone", "--quiet", "--shared", repo.path, clone);
  gitIn(clone, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
  claims.sort((one, other) => one.rank - other.rank);
  for (const [index, claim] of claims.entries()) {
    userCommits(repo, user[index] ?? []);
    const expected = plainly(clone, claim.branch, strategy);
    const bad = expected !== undefined && gitIn(clone, "ls-tree", "--name-only", expected).includes("bad-");
    const before = snapshot(repo.path, home);
    const place = { goalId: GOAL, nodeId: claim.id };
    const dies = crashes[index];
    if (dies !== null && dies !== undefined) {
      const dying = await landingWorld(repo.path, { config, wrap: mortal(dies).wrap });
      await untilDeath(() => landClaim(dying.parts, place));
      await dying.store.close();
    }
    await landClaim(world.parts, place);
    const { status, claim: left } = await world.node(claim.id);
    const lands = expected !== undefined && !bad;
    expect([claim.id, status, left]).toEqual([claim.id, lands ? "done" : "in_progress", undefined]);
    if (lands) expect(repo.git("rev-parse", "main^{tree}")).toBe(expected);
    else expect(snapshot(repo.path, home)).toEqual(before);
    expect(thingsOf(repo)).toEqual(things);
    expect(repo.git("rev-parse", "HEAD")).toBe(repo.git("rev-parse", "main"));
  }
  for (const commit of repo.git("reflog", "show", "--format=%H", "main").split("\n")) {
    expect(repo.git("ls-tree", "--name-only", commit)).not.toContain("bad-");
  }
  const reachable = new Set(repo.git("rev-list", "--all").split("\n"));
  for (const commit of commits) expect(reachable.has(commit)).toBe(true);
  await world.close();
}

/** 20 in an ordinary run, 500 in the long one, which has ten times the scale. */
const HISTORIES = scaled(1) >= 10 ? scaled(50) : scaled(20);

test("MERGE-3, ACC-1: random histories land as plain git would merge them, or leave everything as it was, whatever dies", async () => {
  await fc.assert(fc.asyncProperty(history, live), { numRuns: HISTORIES, endOnFailure: true });
});
