/** REV-1 with real git and a real store: what a person sees of finished work, and what accept, reject and pick do. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { runChecks } from "#act/checks/check.ts";
import { landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { takeFields } from "#act/updates/take-update.ts";
import { acceptWork, findClaimedCommit, pick, rejectLanding, review, reviews } from "#control/review.ts";
import { openQuestions } from "#store/assignments.ts";
import { listLandedMerges } from "#store/merges.ts";
import { waitingMessages } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import { gitIn } from "../support/git-in.ts";
import { asPerson, endOf } from "../support/landing-observations.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const CHECKED = { checks: { tests: { command: "test -f b.txt", timeout: "20s", protected: ["ci/**"] } } };

async function finished(files: Record<string, string> = { "b.txt": "b\n" }, config: object = CHECKED) {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(2));
  const world = await landingWorld(repo.path, { config });
  const attempt = await world.attempt("T1");
  const commit = world.commit(attempt, files);
  await world.report(attempt);
  return { repo, world, attempt, commit, ada: asPerson(world) };
}

test("REV-1: a review shows the change, what checks say of it, and what only a person may let through", async () => {
  const { world, attempt, commit, ada } = await finished({ "b.txt": "b\n", "ci/run.sh": "exit 0\n" });
  expect(await reviews(ada)).toMatchObject([{ node: `${GOAL}/T1`, state: "unchecked", commit }]);
  expect((await review(ada, { what: "T1" })).missing).toEqual(["tests"]);
  await runChecks(world.parts, { goalId: GOAL, nodeId: "T1" });
  const seen = await review(ada, { what: attempt.agent });
  expect(seen).toMatchObject({
    state: "checked",
    target: "main",
    changes: [
      { kind: "A", path: "b.txt" },
      { kind: "A", path: "ci/run.sh" },
    ],
    overreach: { kind: "protected", files: ["ci/run.sh"] },
    receipts: [{ name: "tests", verdict: "pass" }],
    missing: [],
  });
  expect(seen.diff).toContain("+exit 0");
  expect((await review(ada, { what: `${attempt.agent}#${attempt.attempt}` })).commit).toBe(commit);
  await expect(review(ada, { what: "T2" })).rejects.toMatchObject({ code: "NOTHING_TO_REVIEW" });
  await world.close();
});

test("REV-1: an accept answers the question that a protected file has raised", async () => {
  const { world, ada } = await finished({ "b.txt": "b\n", "ci/run.sh": "exit 0\n" });
  const place = { goalId: GOAL, nodeId: "T1" };
  await runChecks(world.parts, place);
  expect(await landClaim(world.parts, { ...place, mode: "auto" })).toEqual({ kind: "asked" });
  expect((await world.store.read({ open: openQuestions() })).open).toHaveLength(1);
  expect(await acceptWork(ada, { what: "T1" })).toMatchObject({ outcome: "done" });
  expect((await world.store.read({ open: openQuestions() })).open).toEqual([]);
  await world.close();
});

test("REV-1: an accept that does not land says what became of the work, and whose commit it was", async () => {
  const command = "test -f crash.txt && kill -9 $$; ! test -f bad.txt";
  const checks = { tests: { command, on: ["done"], timeout: "20s" } };
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(3));
  const world = await landingWorld(repo.path, { config: { checks } });
  const ada = asPerson(world);
  const accepted = async (id: string, files: Record<string, string>) => {
    const attempt = await world.attempt(id);
    const commit = world.commit(attempt, files);
    await world.report(attempt);
    if (id === "T3") repo.write({ "a.txt": "mine\n" });
    const landed = await acceptWork(ada, { what: id });
    expect(landed.claimed).toEqual({ commit, agent: `${attempt.agent}#${attempt.attempt}` });
    return [landed.outcome, landed.detail?.replace(commit.slice(0, 10), "<commit>")];
  };
  expect(await accepted("T1", { "bad.txt": "b\n" })).toEqual([
    "returned",
    "the check tests (exit 1) failed on commit <commit>",
  ]);
  expect(await accepted("T2", { "crash.txt": "b\n" })).toEqual(["blocked", expect.stringContaining("tests")]);
  expect(await accepted("T3", { "a.txt": "theirs\n" })).toEqual(["waiting", expect.stringContaining("uncommitted")]);
  repo.git("commit", "--quiet", "-am", "Mine");
  expect((await acceptWork(ada, { what: "T3" })).outcome).toBe("returned");
  expect((await world.node("T3")).statusReason).toBe("the branch conflicts with main in 1 file");
  await world.close();
});

test("REV-1: what the daemon lands between any two steps of an accept is told as landed", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  const most = 30;
  await foundLanding(repo.path, tasks(most));
  const world = await landingWorld(repo.path, { config: { landing: { mode: "auto" } } });
  for (let step = 1; ; step += 2) {
    expect(step).toBeLessThan(most);
    const node = `T${step}`;
    const attempt = await world.attempt(node);
    world.commit(attempt, { [`${node}.txt`]: "b\n" });
    await world.report(attempt);
    let left = step;
    const interrupted = async <T>(work: () => Promise<T>): Promise<T> => {
      left -= 1;
      if (left === 0) await workOffQueue(world.parts);
      return work();
    };
    const { store } = world;
    const interrupting: Store = {
      ...store,
      standing: () => store.standing(),
      read: (reads) => interrupted(() => store.read(reads)),
      commit: (request) => interrupted(() => store.commit(request)),
    };
    const ada = { ...asPerson(world), writer: async () => interrupting };
    const landed = await acceptWork(ada, { what: node });
    const { to } =
      (await world.store.read({ all: listLandedMerges(most) })).all.find((one) => one.workNodeId === node) ?? {};
    expect(landed).toMatchObject({ node: `${GOAL}/${node}`, outcome: "done", target: "main", commit: to });
    expect(repo.git("log", "--format=%H", "main").split("\n")).toContain(landed.commit ?? "");
    if (left > 0) break; // it ended before it was interrupted
  }
  await world.close();
});

test("REV-1: what a person rejects goes back with their words, as often as they like", async () => {
  const { world, repo, attempt, ada } = await finished();
  await expect(rejectLanding(ada, { what: "T1" }, " ")).rejects.toMatchObject({ code: "REASON_MISSING" });
  for (let round = 1; round <= 4; round += 1) {
    expect(await rejectLanding(ada, { what: "T1" }, `Not yet (${round})`)).toMatchObject({ outcome: "returned" });
    expect(await world.node("T1")).toMatchObject({ status: "in_progress", rounds: 0 });
    expect((await world.node("T1")).claim).toBe(undefined);
    world.commit(attempt, { "c.txt": `${round}\n` });
    await world.report(attempt);
  }
  const { told } = await world.store.read({ told: waitingMessages(attempt.attempt) });
  expect(told.at(-1)?.body).toContain("Not yet (4)");
  expect(told.at(-1)?.body).not.toContain("round");
  expect(repo.git("rev-parse", "main")).toBe(attempt.base);
  await world.close();
});

test("REV-1: what was rejected is not done again by being reported again; who insists is heard, and nothing lands by itself", async () => {
  const { world, repo, attempt, commit, ada } = await finished(
    { "b.txt": "b\n" },
    { ...CHECKED, landing: { mode: "auto" } },
  );
  const place = { goalId: GOAL, nodeId: "T1" };
  await rejectLanding(ada, { what: "T1" }, "Add an accent.");
  const git = (...args: string[]) => gitIn(attempt.worktree, ...args);
  git("commit", "--amend", "-q", "-m", "the same under another name");
  const done = () => takeFields(world.parts, attempt.attempt, { status: "done", summary: "Accents are off topic." });
  expect(await done()).toMatchObject({ kind: "refused", refusal: { code: "SENT_BACK_UNCHANGED" } });
  expect((await world.node("T1")).claim).toBe(undefined);
  expect(await done()).toMatchObject({ kind: "taken", reported: { claim: { kind: "claimed" } } });
  await runChecks(world.parts, place);
  expect(await landClaim(world.parts, { ...place, mode: "auto" })).toMatchObject({ kind: "waiting" });
  const told = 'unchanged since ada sent it back ("Add an accent.")';
  expect(await review(ada, { what: "T1" })).toMatchObject({ unchanged: told });
  expect((await world.node("T1")).claim?.waiting?.detail).toContain(told);
  expect(repo.git("rev-parse", "main")).toBe(attempt.base);
  expect(git("rev-parse", "HEAD")).not.toBe(commit);
  expect(await acceptWork(ada, { what: "T1" })).toMatchObject({ outcome: "done" });
  await world.close();
});

test("REV-1: a word about a commit that was shown is not taken for one that was reported since", async () => {
  const { world, repo, attempt, commit: shown, ada } = await finished();
  expect(await findClaimedCommit(ada, `${GOAL}/T1`)).toBe(shown);
  await rejectLanding(ada, { what: "T1", commit: shown.slice(0, 12) }, "Not yet");
  expect(await findClaimedCommit(ada, `${GOAL}/T1`)).toBeNull();
  const since = world.commit(attempt, { "b.txt": "worse\n" });
  await world.report(attempt);
  const changed = { code: "CLAIM_CHANGED", message: expect.stringContaining(since.slice(0, 12)) };
  await expect(acceptWork(ada, { what: "T1", commit: shown })).rejects.toMatchObject(changed);
  await expect(rejectLanding(ada, { what: "T1", commit: shown }, "About A")).rejects.toMatchObject(changed);
  await expect(acceptWork(ada, { what: "T1", commit: "abc" })).rejects.toMatchObject({ code: "COMMIT_UNCLEAR" });
  expect(repo.git("rev-parse", "main")).toBe(attempt.base);
  expect((await world.node("T1")).claim).toMatchObject({ commit: since, approvedBy: null });
  expect(await acceptWork(ada, { what: "T1", commit: since })).toMatchObject({ outcome: "done" });
  await world.close();
});

test("REV-1: what is reported while an accept is under way does not land by it", async () => {
  const { world, repo, attempt, ada } = await finished();
  let left = 3;
  const { store } = world;
  const interrupted = async <T>(work: () => Promise<T>): Promise<T> => {
    left -= 1;
    if (left === 0) {
      await rejectLanding(ada, { what: "T1" }, "Not yet");
      world.commit(attempt, { "b.txt": "worse\n" });
      await world.report(attempt);
    }
    return work();
  };
  const interrupting: Store = {
    ...store,
    standing: () => store.standing(),
    read: (reads) => interrupted(() => store.read(reads)),
  };
  const bob = { ...ada, writer: async () => interrupting };
  await expect(acceptWork(bob, { what: "T1" })).rejects.toMatchObject({ code: "CLAIM_CHANGED" });
  expect(left).toBeLessThanOrEqual(0);
  expect(repo.git("rev-parse", "main")).toBe(attempt.base);
  await world.close();
});

test("REV-1: rejected work whose agent has ended is dispatched again", async () => {
  const { world, attempt, ada } = await finished();
  await endOf(world, attempt.attempt);
  expect(await rejectLanding(ada, { what: attempt.agent }, "No")).toMatchObject({ outcome: "requeued" });
  expect((await world.node("T1")).status).toBe("queued");
  await world.close();
});

test("REV-1: a picked branch and its worktree are the person's; nobody else gets the task and nothing lands", async () => {
  const { world, repo, attempt, commit, ada } = await finished();
  await endOf(world, attempt.attempt);
  const taken = await pick(ada, { what: attempt.agent }, "I know how");
  expect(taken).toMatchObject({ branch: attempt.branch, worktree: attempt.worktree, stopped: null });
  expect(existsSync(attempt.worktree)).toBe(true);
  expect(repo.git("rev-parse", attempt.branch)).toBe(commit);
  const node = await world.node("T1");
  expect(node).toMatchObject({ status: "blocked", blockedReason: { kind: "human" } });
  expect(node.claim).toBe(undefined);
  expect(node.blockedReason?.needs).toContain(`merge --branch ${attempt.branch}`);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T1", mode: "auto" })).toMatchObject({ kind: "nothing" });
  await world.close();
});
