/**
 * What the user took back does not come back: work that began on a commit which was dropped from the target since, by a
 * reset, an amend or a rebase, lands only after a person has said what is to become of that commit. And a merge that is
 * made and waits for its gate is kept by a ref of its own, whatever is pruned meanwhile.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { mergeBranch, predict } from "#control/merge.ts";
import { giveAnswer } from "#control/questions.ts";
import { review } from "#control/review.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { openQuestions } from "#store/assignments.ts";
import { asPerson, landByHand } from "../support/landing-observations.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const auto = (strategy: "merge" | "squash") => ({ landing: { mode: "auto", strategy } });
const PLACE = { goalId: GOAL, nodeId: "T1" };

/** A user commits a secret; agents start on it. */
async function started(
  config: object,
  count = 1,
): Promise<{ repo: TempRepo; world: LandingWorld; attempts: Attempt[]; secret: string }> {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(count));
  repo.write({ "key.pem": "hush\n" });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message", "Oops, a key");
  const secret = repo.git("rev-parse", "HEAD");
  const world = await landingWorld(repo.path, { config });
  const attempts: Attempt[] = [];
  for (let at = 1; at <= count; at += 1) attempts.push(await world.attempt(`T${at}`));
  return { repo, world, attempts, secret };
}

const DROPS: Readonly<Record<string, (repo: TempRepo) => void>> = {
  reset: (repo) => void repo.git("reset", "--quiet", "--hard", "HEAD~1"),
  amend: (repo) => {
    repo.git("rm", "--quiet", "key.pem");
    repo.write({ "b.txt": "b\n" });
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--amend", "--message", "Without the key");
  },
  rebase: (repo) => {
    repo.write({ "b.txt": "b\n" });
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message", "On top");
    repo.git("rebase", "--quiet", "--onto", "HEAD~2", "HEAD~1", "main");
  },
};

function holdsSecret(repo: TempRepo, secret: string): boolean {
  const within = Bun.spawnSync(["git", "merge-base", "--is-ancestor", secret, "main"], { cwd: repo.path });
  return within.exitCode === 0 || repo.git("ls-tree", "-r", "--name-only", "main").includes("key.pem");
}

async function reported(world: LandingWorld, attempt: Attempt | undefined, file: string): Promise<void> {
  if (!attempt) throw new Error("no attempt");
  world.commit(attempt, { [file]: `${file}\n` });
  await world.report(attempt);
}

async function question(world: LandingWorld) {
  const { open } = await world.store.read({ open: openQuestions() });
  const [one] = open;
  if (!one || open.length > 1) throw new Error(`one question expected: ${JSON.stringify(open)}`);
  return one;
}

test.each([
  ["reset", "merge"],
  ["amend", "squash"],
  ["rebase", "merge"],
] as const)(
  "MERGE-4: a commit that the user dropped by %s comes back with nobody's work (%s): a person is asked",
  async (drop, strategy) => {
    const { repo, world, attempts, secret } = await started(auto(strategy));
    DROPS[drop]?.(repo);
    await reported(world, attempts[0], "n.txt");
    const before = repo.git("rev-parse", "main");
    expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "asked" });
    expect(repo.git("rev-parse", "main")).toBe(before);
    const asked = await question(world);
    expect(asked.text).toContain(`${secret.slice(0, 10)} Oops, a key`);
    expect(asked.text).toContain(`git rebase --onto main ${secret.slice(0, 10)}`);
    // Only its own commits: the way out without the secret, also in the messages.
    await giveAnswer(asPerson(world), asked.questionId, "land only its own commits");
    expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "done" });
    expect(holdsSecret(repo, secret)).toBe(false);
    expect(repo.git("show", "main:n.txt")).toBe("n.txt");
    expect(repo.git("log", "-1", "--format=%P%n%B", "main")).not.toContain("Oops");
    expect(repo.git("rev-parse", "main~1")).toBe(before);
    expect(repo.git("status", "--porcelain")).toBe("");
    await world.close();
  },
);

test("MERGE-4: all of it lands when a person says so, and an accept alone does not say it", async () => {
  const { repo, world, attempts, secret } = await started({ landing: { mode: "review" } });
  await reported(world, attempts[0], "n.txt");
  DROPS.reset?.(repo);
  expect((await landByHand(world, `${GOAL}/T1`)).outcome).toBe("asked");
  expect((await landByHand(world, `${GOAL}/T1`)).outcome).toBe("asked");
  expect(holdsSecret(repo, secret)).toBe(false);
  await giveAnswer(asPerson(world), (await question(world)).questionId, "land all of it");
  expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "done" });
  expect(holdsSecret(repo, secret)).toBe(true);
  await world.close();
});

test("MERGE-4: sent back and rebased by its author without it, it lands; one that merged the target in while it had it is asked about too", async () => {
  const { repo, world, attempts, secret } = await started(auto("merge"), 2);
  const [first, second] = attempts;
  if (!first || !second) throw new Error("no attempts");
  DROPS.reset?.(repo);
  await reported(world, first, "n.txt");
  expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "asked" });
  await giveAnswer(asPerson(world), (await question(world)).questionId, "send it back");
  gitIn(first.worktree, "rebase", "--quiet", "--onto", "main", secret);
  await world.report(first);
  expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "done" });
  expect(holdsSecret(repo, secret)).toBe(false);
  // The other one: it began before, and took in what the target had for a while.
  gitIn(second.worktree, "rebase", "--quiet", "--onto", "main", secret);
  repo.write({ "key2.pem": "hush\n" });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message", "Another key");
  const other = repo.git("rev-parse", "HEAD");
  world.commit(second, { "m.txt": "m\n" });
  gitIn(second.worktree, "merge", "--quiet", "--no-edit", "main");
  DROPS.reset?.(repo);
  await world.report(second);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T2" })).toEqual({ kind: "asked" });
  expect(repo.git("rev-list", "main")).not.toContain(other);
  await world.close();
});

test("MERGE-4: a dropped commit that its author rebased along comes back under no other id either", async () => {
  const { repo, world, attempts, secret } = await started(auto("merge"), 2);
  const [first, second] = attempts;
  if (!first || !second) throw new Error("no attempts");
  world.commit(first, { "n.txt": "n\n" });
  DROPS.amend?.(repo);
  gitIn(first.worktree, "rebase", "--quiet", "main");
  const copy = gitIn(first.worktree, "rev-parse", "HEAD~1");
  expect([copy === secret, gitIn(first.worktree, "log", "-1", "--format=%s", copy)]).toEqual([false, "Oops, a key"]);
  await world.report(first);
  expect((await review(asPerson(world), { what: "T1" })).takenBack).toMatchObject([{ commit: copy, copyOf: secret }]);
  expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "asked" });
  const asked = await question(world);
  expect(asked.text).toContain(`it has a copy of a commit that was taken out of main since (${copy.slice(0, 10)} Oops`);
  repo.git("branch", "mine", gitIn(first.worktree, "rev-parse", "HEAD"));
  expect((await predict(asPerson(world), ["mine"]))[0]?.how).toMatch(/a person is asked: it has a copy/);
  const byHand = await mergeBranch(asPerson(world), "mine");
  expect(byHand.detail).toMatch(/has a copy of a commit that was taken out of main since .*Oops, a key/);
  expect(holdsSecret(repo, copy)).toBe(false);
  await giveAnswer(asPerson(world), asked.questionId, "land only its own commits");
  expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "done" });
  expect([holdsSecret(repo, copy), repo.git("show", "main:n.txt")]).toEqual([false, "n"]);
  expect(repo.git("log", "-1", "--format=%P%n%B", "main")).not.toContain("Oops");
  // Its own commit below the copy is not taken for a part of it.
  gitIn(second.worktree, "reset", "--quiet", "--hard", "main");
  world.commit(second, { "m.txt": "m\n" });
  gitIn(second.worktree, "cherry-pick", secret);
  world.commit(second, { "o.txt": "o\n" });
  await world.report(second);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T2" })).toEqual({ kind: "asked" });
  await giveAnswer(asPerson(world), (await question(world)).questionId, "land only its own commits");
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T2" })).toEqual({ kind: "done" });
  const names = ["a.txt", "b.txt", "m.txt", "n.txt", "o.txt"];
  expect(repo.git("ls-tree", "--name-only", "main").split("\n")).toEqual(names);
  await world.close();
});

test("MERGE-4: in a batch, and for a branch that a person brings, nothing comes back either", async () => {
  const { repo, world, attempts, secret } = await started(auto("merge"), 3);
  DROPS.reset?.(repo);
  for (const [at, attempt] of attempts.entries()) await reported(world, attempt, `${at}.txt`);
  await workOffQueue(world.parts);
  expect(holdsSecret(repo, secret)).toBe(false);
  for (const id of ["T1", "T2", "T3"]) expect((await world.node(id)).status).toBe("blocked");
  repo.git("branch", "mine", secret);
  const [foreseen] = await predict(asPerson(world), ["mine"]);
  expect(foreseen?.how).toMatch(/a person is asked: it began on a commit that was taken out of main since/);
  const byHand = await mergeBranch(asPerson(world), "mine");
  expect(byHand).toMatchObject({ outcome: "blocked" });
  expect(byHand.detail).toMatch(/taken out of main since .*Oops, a key.*git rebase --onto main/);
  // The queue continues with what a person has spoken about.
  const { open } = await world.store.read({ open: openQuestions() });
  for (const { questionId } of open) await giveAnswer(asPerson(world), questionId, "land only its own commits");
  await workOffQueue(world.parts);
  for (const id of ["T1", "T2", "T3"]) expect([id, (await world.node(id)).status]).toEqual([id, "done"]);
  expect(repo.git("ls-tree", "--name-only", "main").split("\n")).toEqual(["0.txt", "1.txt", "2.txt", "a.txt"]);
  expect(holdsSecret(repo, secret)).toBe(false);
  await world.close();
});

test("MERGE-4, REPO-1: following the remote does not bring back what was dropped here", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  const bare = join(tempDir("remote-"), "r.git");
  await foundLanding(repo.path, tasks(1));
  const config = { landing: { mode: "auto" }, repo: { remote: "fetch", targetBranch: "main" } };
  const world = await landingWorld(repo.path, { config });
  const attempt = await world.attempt("T1");
  repo.write({ "key.pem": "hush\n" });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message", "Oops, a key");
  gitIn(repo.path, "clone", "--quiet", "--bare", repo.path, bare);
  repo.git("remote", "add", "origin", bare);
  DROPS.reset?.(repo);
  await reported(world, attempt, "n.txt");
  const before = repo.git("rev-parse", "main");
  expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "asked" });
  expect((await question(world)).text).toMatch(/main of origin has what was taken out of main here .*Oops, a key/);
  expect(repo.git("rev-parse", "main")).toBe(before);
  await world.close();
});

test("MERGE-1: a merge that waits for its gate outlives a prune of the user's, and its ref goes when it has ended", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(1));
  const prune = `git -C ${repo.path} reflog expire --expire=now --all && git -C ${repo.path} gc --quiet --prune=now`;
  const staged = `git -C ${repo.path} for-each-ref refs/overseer/staged/`;
  const command = `${prune} && ${staged} | grep -q "$(git rev-parse HEAD)"`;
  const checks = { gate: { command, on: ["land"], timeout: "60s" } };
  const world = await landingWorld(repo.path, { config: { ...auto("merge"), checks } });
  const attempt = await world.attempt("T1");
  await reported(world, attempt, "n.txt");
  expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "done" });
  expect(repo.git("for-each-ref", "refs/overseer/staged/")).toBe("");
  expect(repo.git("fsck", "--connectivity-only")).not.toContain("missing");
  // One that a killed process left goes with the next turn of the queue.
  repo.git("update-ref", "refs/overseer/staged/M_gone", "main");
  await workOffQueue(world.parts);
  expect(repo.git("for-each-ref", "refs/overseer/staged/")).toBe("");
  repo.git("branch", "mine", gitIn(repo.path, "commit-tree", "-p", "main", "-m", "Mine", "main~1^{tree}"));
  await mergeBranch(asPerson(world), "mine");
  expect(repo.git("for-each-ref", "refs/overseer/staged/")).toBe("");
  await world.close();
});
