/**
 * Random histories with real git: branches that edit, add, remove, rename, change modes, hold binary, CRLF and unicode
 * names, landed in any order while the user works on too. A clean landing equals a plain `git merge` in a clone, a
 * conflict changes nothing, no commit is lost, and the user's checkout is clean and where its branch is.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { landClaim } from "#act/land.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { scaled } from "../support/scale.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(600_000);

const FILES = ["a.txt", "dir/b.txt", "dir/größe ☃.txt", "crlf.txt", "bin.dat"];
const lines = (mark: string) => Array.from({ length: 12 }, (_, n) => `line ${n} ${mark}`).join("\n");

type Step =
  | { readonly kind: "edit"; readonly file: number; readonly line: number; readonly text: string }
  | { readonly kind: "add" | "remove" | "rename" | "mode" | "binary" | "crlf" | "nothing"; readonly file: number };

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
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "add" as const,
        "remove" as const,
        "rename" as const,
        "mode" as const,
        "binary" as const,
        "crlf" as const,
        "nothing" as const,
      ),
      file: fc.nat(FILES.length - 1),
    }),
  },
);

function take(dir: string, one: Step, who: string): void {
  const path = join(dir, FILES[one.file] ?? "a.txt");
  const there = existsSync(path);
  if (one.kind === "edit" && there) {
    const text = lines("first").split("\n");
    text[one.line] = `changed to ${one.text}`;
    writeFileSync(path, text.join("\n"));
  }
  if (one.kind === "add") {
    mkdirSync(join(dir, "new"), { recursive: true });
    writeFileSync(join(dir, "new", `${who}-${one.file}.txt`), who);
  }
  if (one.kind === "remove" && there) rmSync(path);
  if (one.kind === "rename" && there) renameSync(path, `${path}.moved`);
  if (one.kind === "mode" && there) chmodSync(path, 0o755);
  if (one.kind === "binary") writeFileSync(join(dir, "bin.dat"), new Uint8Array([0, 1, who.length, one.file, 0, 255]));
  if (one.kind === "crlf" && there) writeFileSync(path, lines("first").replaceAll("\n", "\r\n"));
}

const branch = fc.array(step, { minLength: 1, maxLength: 4 });
const history = fc.record({
  branches: fc.array(branch, { minLength: 2, maxLength: 4 }),
  /** What the user commits before each landing. */
  user: fc.array(fc.array(step, { maxLength: 2 }), { minLength: 4, maxLength: 4 }),
  strategy: fc.constantFrom("merge" as const, "squash" as const),
});

async function live({
  branches,
  user,
  strategy,
}: typeof history extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const first = Object.fromEntries(FILES.map((name) => [name, lines("first")]));
  const repo = tempRepo({ files: first });
  const home = tempDir("home-");
  await foundLanding(repo.path, tasks(branches.length));
  const world = await landingWorld(repo.path, { config: { landing: { mode: "auto", strategy } } });
  const claims: { id: string; commit: string; branch: string }[] = [];
  for (const [index, steps] of branches.entries()) {
    const attempt = await world.attempt(`T${index + 1}`);
    for (const one of steps) take(attempt.worktree, one, `agent${index}`);
    const commit = world.commit(attempt, {});
    const reported = await world.report(attempt);
    if (reported.kind === "claimed") claims.push({ id: attempt.workNodeId, commit, branch: attempt.branch });
  }
  for (const [index, claim] of claims.entries()) {
    for (const one of user[index] ?? []) take(repo.path, one, "user");
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--allow-empty", "-m", "The user works on");
    const clone = join(tempDir("clone-"), "c");
    gitIn(dirname(clone), "clone", "--quiet", repo.path, clone);
    gitIn(clone, "fetch", "--quiet", "origin", claim.branch);
    const merged = Bun.spawnSync(["git", "merge", "--quiet", "--no-edit", "FETCH_HEAD"], { cwd: clone }).exitCode === 0;
    const before = snapshot(repo.path, home);
    const { kind } = await landClaim(world.parts, { goalId: GOAL, nodeId: claim.id });
    expect([claim.id, kind]).toEqual([claim.id, merged ? "done" : "returned"]);
    if (merged) expect(repo.git("rev-parse", "main^{tree}")).toBe(gitIn(clone, "rev-parse", "HEAD^{tree}"));
    else expect(snapshot(repo.path, home)).toEqual(before);
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(repo.git("rev-parse", "HEAD")).toBe(repo.git("rev-parse", "main"));
  }
  const reachable = new Set(repo.git("rev-list", "--all").split("\n"));
  for (const { commit } of claims) expect(reachable.has(commit)).toBe(true);
  await world.close();
}

test("MERGE-3: random histories land as plain git would merge them, or leave everything as it was", async () => {
  await fc.assert(fc.asyncProperty(history, live), { numRuns: scaled(5), endOnFailure: true });
});
