/**
 * Dates of commits: git walks history by them and miscounts where a commit is older than its parents. So what Overseer
 * makes never is, and where somebody else's clock was wrong, being in a branch is proven and not counted.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { writeCommit } from "#git/landing.ts";
import { messagesOf, replayOnto } from "#git/replay.ts";
import { findUndoing } from "#git/stale-index.ts";
import { findTakenBack } from "#git/taken-back.ts";
import { realGitTools } from "../support/git-tools.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { type TempRepo, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const HOUR = 3600;
const dirOf = (repo: TempRepo) => join(repo.path, ".git");

/** A commit of the user's with the tree of the first parent and these files. */
function commitAt(repo: TempRepo, seconds: number, parents: readonly string[], name: string): string {
  repo.git("checkout", "--quiet", "--force", "--detach", parents[0] ?? "");
  repo.write({ [`${name}.txt`]: `${name}\n` });
  repo.git("add", "--all");
  const tree = repo.git("write-tree");
  const script = `GIT_AUTHOR_DATE="${seconds} +0000" GIT_COMMITTER_DATE="${seconds} +0000" git commit-tree -m "${name}" ${parents.map((each) => `-p ${each}`).join(" ")} ${tree}`;
  const made = Bun.spawnSync(["sh", "-c", script], { cwd: repo.path });
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  return made.stdout.toString().trim();
}

/** Main has a commit from the future below eight merges; a branch began on that commit. */
function skewed(): { repo: TempRepo; future: string; branch: string } {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  const first = repo.git("rev-parse", "HEAD");
  const now = Number(repo.git("log", "-1", "--format=%ct"));
  const future = commitAt(repo, now + HOUR, [first], "future");
  let main = future;
  for (let at = 1; at <= 8; at += 1) {
    const side = commitAt(repo, now + at, [first], `side${at}`);
    main = commitAt(repo, now + 10 + at, [main, side], `merge${at}`);
  }
  const branch = commitAt(repo, now + 2 * HOUR, [future], "work");
  repo.git("update-ref", "--create-reflog", "refs/heads/main", first);
  repo.git("update-ref", "refs/heads/main", future);
  repo.git("update-ref", "refs/heads/main", main);
  repo.git("checkout", "--quiet", "--force", "main");
  // What git itself counts here is wrong; without that, nothing below proves anything.
  expect(repo.git("rev-list", branch, "^main").split("\n")).toContain(future);
  expect(repo.git("merge-base", future, "main")).toBe(future);
  return { repo, future, branch };
}

test.each(["merge", "squash"] as const)(
  "MERGE-4: what lands after a commit that is newer than its report (%s) is not older than that, and work on top of it lands",
  async (strategy) => {
    const repo = tempRepo({ files: { "a.txt": "a\n" } });
    await foundLanding(repo.path, tasks(9));
    const world = await landingWorld(repo.path, { config: { landing: { mode: "auto", strategy } } });
    for (let at = 1; at <= 8; at += 1) {
      const attempt = await world.attempt(`T${at}`);
      world.commit(attempt, { [`n${at}.txt`]: "n\n" });
      await world.report(attempt);
    }
    const later = Number(repo.git("log", "-1", "--format=%ct")) + HOUR;
    repo.git("update-ref", "refs/heads/main", commitAt(repo, later, ["main"], "mine"));
    repo.git("checkout", "--quiet", "--force", "main");
    const next = await world.attempt("T9");
    world.commit(next, { "n9.txt": "n\n" });
    await world.report(next);
    for (let at = 1; at <= 9; at += 1) {
      expect([at, await landClaim(world.parts, { goalId: GOAL, nodeId: `T${at}` })]).toEqual([at, { kind: "done" }]);
    }
    const dates = new Map<string, number>();
    const made = repo.git("log", "--first-parent", "-9", "--format=%H %ct %P", "main").split("\n");
    for (const line of repo.git("log", "--format=%H %ct", "main").split("\n")) {
      const [id = "", date] = line.split(" ");
      dates.set(id, Number(date));
    }
    expect(made).toHaveLength(9);
    for (const line of made) {
      const [, date, ...parents] = line.split(" ");
      for (const parent of parents) expect(Number(date)).toBeGreaterThanOrEqual(dates.get(parent) ?? Infinity);
    }
    await world.close();
  },
);

test("MERGE-4: the same wish makes the same commit, also on a parent from the future", async () => {
  const { repo, future } = skewed();
  const wish = { tree: `${future}^{tree}`, parents: [future], message: "again\n", at: 1_500_000_000_000 };
  const one = await writeCommit(realGitTools(), dirOf(repo), wish);
  expect(await writeCommit(realGitTools(), dirOf(repo), wish)).toBe(one);
  expect(repo.git("log", "-1", "--format=%at", one)).toBe("1500000000");
});

test("MERGE-4: a commit that is in the target was not taken out of it, whatever the dates of others make git count", async () => {
  const { repo, future, branch } = skewed();
  const wish = { branch: "main", from: repo.git("rev-parse", "main"), commit: branch, tips: [future] };
  expect(await findTakenBack(realGitTools(), dirOf(repo), wish)).toEqual([]);
});

test("MERGE-4: a copy of a commit that is in the target is no copy of a dropped one, and a dropped one beside it is found", async () => {
  const { repo, future, branch } = skewed();
  const from = repo.git("rev-parse", "main");
  const first = repo.git("rev-list", "--max-parents=0", "main");
  const now = Number(repo.git("log", "-1", "--format=%ct", future));
  const copy = commitAt(repo, now + HOUR, [first], "future");
  expect(
    await findTakenBack(realGitTools(), dirOf(repo), { branch: "main", from, commit: copy, tips: [future] }),
  ).toEqual([]);
  const dropped = commitAt(repo, now + HOUR, [branch], "dropped");
  const wish = { branch: "main", from, commit: dropped, tips: [future, dropped] };
  const taken = await findTakenBack(realGitTools(), dirOf(repo), wish);
  expect(taken.map(({ commit }) => commit)).toEqual([dropped, branch]);
});

test("MERGE-4: a squash replays and tells only what the branch has on top of its target", async () => {
  const { repo, branch } = skewed();
  const wish = { target: repo.git("rev-parse", "main"), commit: branch };
  expect(await messagesOf(realGitTools(), dirOf(repo), wish)).toEqual(["work"]);
  expect((await replayOnto(realGitTools(), dirOf(repo), wish)).kind).toBe("clean");
});

test("MERGE-4: the first commit that is not of the landing is named, none that the landing stands on", async () => {
  const { repo, branch } = skewed();
  const to = repo.git("rev-parse", "main");
  repo.git("update-ref", "refs/heads/main", branch);
  const undoing = await findUndoing(realGitTools(), dirOf(repo), { branch: "main", from: `${to}~1`, to });
  expect(undoing?.commit).toBe(branch);
});
