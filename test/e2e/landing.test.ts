/**
 * Done and landing with real git, real checks and a real store: what passes lands, what does not goes back or waits,
 * and whatever fails leaves the target, the user's checkout and everything in it byte for byte as they were.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChecks } from "#act/checks/check.ts";
import { decideClaim } from "#act/checks/claim-store.ts";
import type { LandOrder } from "#act/landing/candidate.ts";
import { landClaim } from "#act/landing/land.ts";
import { tidyWorktrees } from "#act/tidy-worktrees.ts";
import { cancelWork } from "#control/work.ts";
import { clean, listKeptWork } from "#control/worktrees.ts";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import { approveLanding, claimInSnapshot } from "#domain/landing/may-land.ts";
import type { Action } from "#domain/model/action.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import { askQuestion } from "#domain/model/question.ts";
import reapAction from "#engine/actions/clean.ts";
import landAction from "#engine/actions/land.ts";
import { assignmentById, questionById } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import { waitingMessages } from "#store/messages.ts";
import { nodesInStatus } from "#store/work.ts";
import { asPerson, endOf, landByHand } from "../support/landing-observations.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const HOME = tempDir("home-");
const AUTO = { landing: { mode: "auto" } };
const PASS = { command: "test -f ok.txt && echo all tests passed", timeout: "20s" };

interface Scene {
  readonly world: LandingWorld;
  readonly repo: TempRepo;
  land(id: string, more?: Partial<LandOrder>): ReturnType<typeof landClaim>;
  check(id: string): ReturnType<typeof runChecks>;
  /** Everything of the user's. */
  theirs(): ReturnType<typeof snapshot>;
}

async function scene(
  config: unknown = AUTO,
  files: Record<string, string> = { "README.md": "# One\n", "a.txt": "a\n" },
) {
  const repo = tempRepo({ files });
  await foundLanding(repo.path, tasks(3, true));
  const world = await landingWorld(repo.path, { config });
  const made: Scene = {
    world,
    repo,
    land: (nodeId, more = {}) => landClaim(world.parts, { goalId: GOAL, nodeId, ...more }),
    check: (nodeId) => runChecks(world.parts, { goalId: GOAL, nodeId }),
    theirs: () => snapshot(repo.path, HOME),
  };
  return made;
}

test("WORK-3: a checked commit lands: branch, checkout, node, assignment and the next task all follow", async () => {
  const { world, repo, land, check } = await scene({ ...AUTO, checks: { tests: PASS } });
  const attempt = await world.attempt("T1");
  const commit = world.commit(attempt, { "ok.txt": "yes\n", "src/new.ts": "export {};\n" });
  expect(await world.report(attempt)).toEqual({ kind: "claimed", next: "check" });
  expect((await world.node("T1")).status).toBe("in_progress");
  expect(await land("T1")).toEqual({ kind: "nothing", why: "unchecked" });

  expect(await check("T1")).toEqual({ kind: "checked", next: "land" });
  expect(await land("T1")).toEqual({ kind: "done" });

  const tip = repo.git("rev-parse", "main");
  expect(repo.git("log", "-1", "--format=%P %(trailers:key=Overseer-Work,valueonly)", "main")).toBe(
    `${attempt.base} ${commit} ${GOAL}/T1\n`,
  );
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(readFileSync(join(repo.path, "src/new.ts"), "utf8")).toBe("export {};\n");
  const node = await world.node("T1");
  expect(node).toMatchObject({ status: "done", unverified: false, evidence: { commits: [commit, tip] } });
  // The merged tree is the claimed one, so its verdict was known: one run, one receipt.
  expect(node.evidence?.testsRun).toHaveLength(1);
  expect((await world.node("T2")).status).toBe("queued");
  const { assignment, ended } = await world.store.read({
    assignment: assignmentById(attempt.assignmentId),
    ended: attemptByNumber(attempt.attempt),
  });
  expect(assignment?.status).toBe("done");
  expect(ended?.stopRequested?.reason).toBe("Its work is done.");
  expect(await land("T1")).toEqual({ kind: "nothing", why: "no-claim" });
  expect(repo.git("rev-parse", "main")).toBe(tip);
  await world.close();
});

test("WORK-3 ANOM-6: with what lands, nobody needs the answer to what Overseer asked about it", async () => {
  const { world, land, check } = await scene({ ...AUTO, checks: { tests: PASS } });
  const attempt = await world.attempt("T1");
  const moment = { now: world.parts.clock.now(), actor: "overseer" } as const;
  for (const nodeId of ["T1", "T2"]) {
    const wanted = { questionId: `q_${nodeId}`, goalId: GOAL, nodeId, text: "The key is locked.", options: [] };
    await world.store.commit({ at: moment.now, reads: {}, decide: () => askQuestion(undefined, wanted, moment) });
  }
  world.commit(attempt, { "ok.txt": "yes\n" });
  await world.report(attempt);
  expect(await check("T1")).toEqual({ kind: "checked", next: "land" });
  expect(await land("T1")).toEqual({ kind: "done" });
  const { asked, other } = await world.store.read({ asked: questionById("q_T1"), other: questionById("q_T2") });
  expect([asked?.status, other?.status]).toEqual(["withdrawn", "open"]);
  await world.close();
});

test("DONE-1: a liar is caught: the failing part of the log goes back to the agent, then a person is asked", async () => {
  const config = { landing: { mode: "auto", fixRounds: 3 }, checks: { tests: PASS } };
  const { world, check, repo } = await scene(config);
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  // The author's own worktree has what the commit lacks.
  writeFileSync(join(attempt.worktree, "ok.txt"), "only here");
  await world.report(attempt);
  expect(await check("T1")).toEqual({ kind: "returned" });
  const { inbox } = await world.store.read({ inbox: waitingMessages(attempt.attempt) });
  expect(inbox.at(-1)?.body).toContain("the check tests (exit 1) failed on commit ");
  expect(await world.node("T1")).toMatchObject({ status: "in_progress", rounds: 1 });

  // The same commit once more: the verdict is known, nothing is run, and the round counts.
  await world.report(attempt);
  expect(await check("T1")).toEqual({ kind: "returned" });
  expect(await world.node("T1")).toMatchObject({ status: "in_progress", rounds: 2 });
  const { runs } = await world.store.read({ runs: eventsMatching({ type: "check.started", limit: 10 }) });
  expect(runs).toHaveLength(1);

  world.commit(attempt, { "c.txt": "c\n", "ok.txt": null });
  await world.report(attempt);
  expect(await check("T1")).toEqual({ kind: "asked" });
  expect(await world.node("T1")).toMatchObject({ status: "blocked", blockedReason: { kind: "human" } });
  expect(repo.git("rev-parse", "main")).toBe(attempt.base);
  await world.close();
});

const SILENT: [why: string, check: object, detail: string][] = [
  ["a command that is not there", { command: "no-such-program" }, "not found"],
  ["a deadline", { command: "sleep 30", timeout: "1s" }, "not finished after 1 s"],
  ["a signal", { command: "kill -9 $$" }, "SIGKILL"],
  ["an expected word that is missing", { command: "echo nothing to do", expect: "\\d+ passed" }, "does not match"],
];
test.each(SILENT)(
  "DONE-1: %s is no pass: the node is blocked, and unblocking checks again",
  async (_why, one, detail) => {
    const { world, check } = await scene({ ...AUTO, checks: { tests: one } });
    const attempt = await world.attempt("T1");
    world.commit(attempt, { "b.txt": "b\n" });
    await world.report(attempt);
    expect(await check("T1")).toEqual({ kind: "blocked" });
    const node = await world.node("T1");
    expect(node).toMatchObject({ status: "blocked", blockedReason: { kind: "environment" } });
    expect(node.blockedReason?.detail).toContain(detail);
    expect(node.claim?.verdict).toBe(null);
    await world.close();
  },
);

test("DONE-1: checks see the commit and nothing else, and what they leave running is ended", async () => {
  const pidFile = join(tempDir("pids-"), "pid");
  const left = (bare: string, file: string) => `(${bare} setsid sh -c 'echo $$ >${file}; exec sleep 600' &)`;
  const both = `${left("", pidFile)}; ${left('env -i PATH="$PATH"', `${pidFile}-bare`)}`;
  const command = `git status --porcelain; env | sort; ${both}; while ! test -s ${pidFile} || ! test -s ${pidFile}-bare; do sleep 0.05; done; exit 3`;
  const { world, check } = await scene({ ...AUTO, checks: { nosy: { command, timeout: "20s" } } });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  writeFileSync(join(attempt.worktree, "left.txt"), "uncommitted");
  await world.report(attempt);
  expect(await check("T1")).toEqual({ kind: "returned" });
  for (const file of [pidFile, `${pidFile}-bare`]) {
    const pid = Number(readFileSync(file, "utf8"));
    expect([file, alive(world, pid)]).toEqual([file, false]);
  }
  const finished = (await world.store.log({ after: 0, limit: 1000 })).find(({ type }) => type === "check.finished");
  if (finished?.type !== "check.finished") throw new Error("no receipt");
  const log = readFileSync(finished.data.logPath, "utf8");
  expect(log).toContain("[fail: exit 3;");
  expect(log).not.toContain("left.txt");
  expect(log).not.toContain("OVERSEER_ATTEMPT");
  await world.close();
});

function alive(world: LandingWorld, pid: number): boolean {
  const identity = world.parts.processes.identify(pid);
  return identity !== undefined && world.parts.processes.alive(identity);
}

test("DONE-1: a flood is bounded and keeps its end, and secrets stay out of log and receipt", async () => {
  const command =
    "yes 'no news' | head -c 12000000; echo token=ghp_abcdefghijklmnopqrstuvwxyz0123456789; echo 3 failed; exit 1";
  const { world, check } = await scene({ ...AUTO, checks: { tests: { command, timeout: "60s" } } });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  expect(await check("T1")).toEqual({ kind: "returned" });
  const finished = (await world.store.log({ after: 0, limit: 1000 })).find(({ type }) => type === "check.finished");
  if (finished?.type !== "check.finished") throw new Error("no receipt");
  const log = readFileSync(finished.data.logPath, "utf8");
  expect(log.length).toBeLessThan(5_000_000);
  for (const text of [log, finished.data.excerpt]) {
    expect(text).toContain("3 failed");
    expect(text).not.toContain("ghp_abcdefghij");
  }
  await world.close();
});

test("worktree.setup makes the worktree ready, and one that fails blocks", async () => {
  const checks = { tests: { command: "cat made", timeout: "20s" } };
  const { world, check } = await scene({ ...AUTO, worktree: { setup: "test -f b.txt && echo ready > made" }, checks });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "c.txt": "c\n" });
  await world.report(attempt);
  expect(await check("T1")).toEqual({ kind: "blocked" });
  expect((await world.node("T1")).blockedReason?.detail).toContain("could not be set up");
  await world.close();
});

test("WORK-5: without checks the work must speak for itself, and the node says unverified", async () => {
  const { world, land } = await scene();
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  const bare = {
    evidence: { filesTouched: [], commandsRun: [], testsRun: [], commits: [], prs: [], issues: [], externalRefs: [] },
  };
  await expect(world.report(attempt, bare)).rejects.toMatchObject({ code: "EVIDENCE_MISSING" });
  expect(await world.report(attempt)).toEqual({ kind: "claimed", next: "land" });
  expect(await land("T1")).toEqual({ kind: "done" });
  expect(await world.node("T1")).toMatchObject({ status: "done", unverified: true });
  await world.close();
});

test("DONE-1: uncommitted work is not done, foreign commits are nobody's, no change at all is no_changes", async () => {
  const { world, repo } = await scene();
  const attempt = await world.attempt("T1");
  writeFileSync(join(attempt.worktree, "b.txt"), "b\n");
  await expect(world.report(attempt)).rejects.toMatchObject({ code: "NO_COMMIT" });
  repo.git("checkout", "--quiet", "-b", "other");
  repo.git("commit", "--quiet", "--allow-empty", "-m", "elsewhere");
  const foreign = repo.git("rev-parse", "HEAD");
  repo.git("checkout", "--quiet", "main");
  await expect(world.report(attempt, {}, { named: [foreign] })).rejects.toMatchObject({ code: "COMMIT_NOT_YOURS" });
  await Bun.file(join(attempt.worktree, "b.txt")).delete();
  world.commit(attempt, {});
  expect(await world.report(attempt)).toEqual({ kind: "no_changes" });
  expect(await world.node("T1")).toMatchObject({ status: "cancelled" });
  await world.close();
});

test("DONE-1: nothing to change is done when somebody says why and the checks pass", async () => {
  const { world, check } = await scene({ ...AUTO, checks: { tests: { command: "test -f a.txt", timeout: "20s" } } });
  const attempt = await world.attempt("T1");
  const because = { noChangeReason: "it parses already" };
  expect(await world.report(attempt, because)).toEqual({ kind: "claimed", next: "check" });
  expect(await check("T1")).toEqual({ kind: "checked", next: "nothing" });
  expect(await world.node("T1")).toMatchObject({ status: "done", unverified: false });
  await world.close();
});

test("FENCE-1: a report of an attempt that has ended is recorded and changes nothing", async () => {
  const { world } = await scene();
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  const over = { ...attempt, attempt: 99 };
  await expect(world.report(over)).rejects.toMatchObject({ code: "ATTEMPT_FENCED" });
  expect((await world.node("T1")).claim).toBe(undefined);
  await world.close();
});

test("MERGE-3: a conflict goes back to its author and leaves everything as it was", async () => {
  const { world, repo, land, theirs } = await scene();
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "a.txt": "theirs\n", "z.txt": "z\n" });
  repo.write({ "a.txt": "ours\n" });
  repo.git("commit", "--quiet", "-am", "Ours");
  repo.write({ "untracked.txt": "mine" });
  await world.report(attempt);
  const before = theirs();
  expect(await land("T1")).toEqual({ kind: "returned" });
  expect(theirs()).toEqual(before);
  const { inbox } = await world.store.read({ inbox: waitingMessages(attempt.attempt) });
  expect(inbox.at(-1)?.body).toContain("conflicts with main in 1 file");
  await world.close();
});

test("MERGE-4: a merge that breaks what each side kept whole does not land", async () => {
  const checks = { tests: { command: "! (test -f one.txt && test -f two.txt)", timeout: "20s" } };
  const { world, repo, land, check, theirs } = await scene({ ...AUTO, checks });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "one.txt": "1\n" });
  repo.write({ "two.txt": "2\n" });
  repo.git("add", "two.txt");
  repo.git("commit", "--quiet", "-m", "Two");
  await world.report(attempt);
  expect(await check("T1")).toEqual({ kind: "checked", next: "land" });
  const before = theirs();
  expect(await land("T1")).toEqual({ kind: "returned" });
  expect(theirs()).toEqual(before);
  await world.close();
});

const IN_THE_WAY: [why: string, spoil: (repo: TempRepo) => void, clear: (repo: TempRepo) => void][] = [
  [
    "an uncommitted edit of a file the branch edits",
    (repo) => repo.write({ "a.txt": "mine\n" }),
    (repo) => repo.git("checkout", "--quiet", "a.txt"),
  ],
  [
    "something staged that the branch adds",
    (repo) => {
      repo.write({ "new/b.txt": "mine" });
      repo.git("add", "new/b.txt");
    },
    (repo) => repo.git("rm", "--quiet", "-f", "new/b.txt"),
  ],
  [
    "an untracked file that the branch adds",
    (repo) => repo.write({ "new/b.txt": "mine\n" }),
    (repo) => repo.git("clean", "-fdq", "new"),
  ],
  [
    "an ignored file that the branch adds",
    (repo) => repo.write({ ".git/info/exclude": "new/\n.overseer/\n", "new/b.txt": "mine\n" }),
    (repo) => repo.git("clean", "-fdxq", "new"),
  ],
  [
    "a file where the branch has a directory",
    (repo) => repo.write({ new: "mine\n" }),
    (repo) => repo.git("clean", "-fdq", "new"),
  ],
];
test.each(IN_THE_WAY)(
  "MERGE-3: %s waits, is told, and is untouched; once it is gone it lands",
  async (_why, spoil, clear) => {
    const { world, repo, land, theirs } = await scene();
    const attempt = await world.attempt("T1");
    world.commit(attempt, { "a.txt": "better\n", "new/b.txt": "b\n" });
    await world.report(attempt);
    spoil(repo);
    const before = theirs();
    expect(await land("T1")).toEqual({ kind: "waiting" });
    expect(theirs()).toEqual(before);
    expect(await land("T1")).toEqual({ kind: "waiting" });
    expect((await world.node("T1")).claim?.waiting).toMatchObject({ for: "checkout", looks: 2 });
    clear(repo);
    expect(await land("T1")).toEqual({ kind: "done" });
    expect(readFileSync(join(repo.path, "new/b.txt"), "utf8")).toBe("b\n");
    expect(repo.git("status", "--porcelain")).toBe("");
    await world.close();
  },
);

test("CLEAN-1: an untracked file that is in nobody's way stays, and so does the stash", async () => {
  const { world, repo, land } = await scene();
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  repo.write({ "a.txt": "stashed\n" });
  repo.git("stash", "--quiet");
  repo.write({ "mine.txt": "mine\n" });
  const stash = repo.git("rev-parse", "refs/stash");
  await world.report(attempt);
  expect(await land("T1")).toEqual({ kind: "done" });
  expect(readFileSync(join(repo.path, "mine.txt"), "utf8")).toBe("mine\n");
  expect(repo.git("rev-parse", "refs/stash")).toBe(stash);
  await world.close();
});

test("a target that is checked out nowhere is moved without touching the checkout", async () => {
  const { world, repo, land } = await scene({ ...AUTO, repo: { targetBranch: "main" } });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  repo.git("checkout", "--quiet", "-b", "elsewhere");
  repo.write({ "a.txt": "half a thought\n" });
  await world.report(attempt);
  const before = snapshot(repo.path, HOME);
  expect(await land("T1")).toEqual({ kind: "done" });
  const { refs: _was, "repo/.git/logs/refs/heads/main": _log, ...rest } = before;
  const { refs: _is, "repo/.git/logs/refs/heads/main": _newLog, ...now } = snapshot(repo.path, HOME);
  expect(now).toEqual(rest);
  expect(repo.git("show", "main:b.txt")).toBe("b");
  await world.close();
});

test("a target that is checked out in another worktree moves there, when that one is clean", async () => {
  const { world, repo, land } = await scene({ ...AUTO, repo: { targetBranch: "main" } });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "a.txt": "better\n", "b.txt": "b\n" });
  repo.git("checkout", "--quiet", "--detach");
  const other = join(tempDir("other-"), "tree");
  repo.git("worktree", "add", "--quiet", other, "main");
  writeFileSync(join(other, "a.txt"), "mine\n");
  await world.report(attempt);
  expect(await land("T1")).toEqual({ kind: "waiting" });
  expect((await world.node("T1")).claim?.waiting?.files).toEqual(["a.txt"]);
  writeFileSync(join(other, "a.txt"), "a\n");
  expect(await land("T1")).toEqual({ kind: "done" });
  expect(readFileSync(join(other, "b.txt"), "utf8")).toBe("b\n");
  expect(existsSync(join(repo.path, "b.txt"))).toBe(false);
  await world.close();
});

test("an unfinished merge or rebase of the target is waited for", async () => {
  const { world, repo, land } = await scene({ ...AUTO, repo: { targetBranch: "main" } });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  mkdirSync(join(repo.path, ".git/rebase-merge"));
  writeFileSync(join(repo.path, ".git/rebase-merge/head-name"), "refs/heads/main\n");
  repo.git("checkout", "--quiet", "--detach");
  expect(await land("T1")).toEqual({ kind: "waiting" });
  await world.close();
});

test("MERGE-4: a target that moves during the gate is merged and gated again", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(1));
  const moving = `n=$(cat ${repo.path}/.git/count 2>/dev/null || echo 0); if test "$n" -lt 2; then echo $((n+1)) > ${repo.path}/.git/count; git -C ${repo.path} -c user.name=U -c user.email=u@example.invalid commit -q --allow-empty -m "Move $n"; fi`;
  const config = { ...AUTO, checks: { tests: { command: moving, on: ["land"], timeout: "20s" } } };
  const world = await landingWorld(repo.path, { config });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T1" })).toEqual({ kind: "done" });
  expect(repo.git("log", "--first-parent", "--format=%s", "main").split("\n")).toEqual([
    "Merge Node T1",
    "Move 0",
    "First commit",
  ]);
  await world.close();
});

test("MERGE-3: what another landing has in hand at this moment is no file that stands in the way", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(1));
  const config = { ...AUTO, checks: { tests: { command: "true", on: ["land"], timeout: "20s" } } };
  const world = await landingWorld(repo.path, { config });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  repo.write({ "b.txt": "written by the other, which moves the branch next\n" });
  const takeLock: typeof world.parts.takeLock = (path) => {
    rmSync(join(repo.path, "b.txt"), { force: true }); // the other gives up: its files are gone before its turn ends
    return world.parts.takeLock(path);
  };
  expect(await landClaim({ ...world.parts, takeLock }, { goalId: GOAL, nodeId: "T1" })).toEqual({ kind: "done" });
  expect(repo.git("log", "--first-parent", "--format=%s", "-1", "main")).toBe("Merge Node T1");
  await world.close();
});

const OVERREACHES: [why: string, files: Record<string, string>, config: object, scope: string[] | undefined][] = [
  ["outside of its scope", { "docs/x.md": "x\n" }, {}, ["src"]],
  ["in .overseer", { ".overseer/config.yaml": "x: 1\n" }, {}, undefined],
  [
    "that its checks depend on",
    { "ci/run.sh": "exit 0\n" },
    { checks: { t: { command: "true", protected: ["ci/**"] } } },
    undefined,
  ],
];
test.each(OVERREACHES)(
  "SCOPE-1: a file %s does not land without a person, and lands with one",
  async (_why, files, more, scope) => {
    const { world, repo, land, check, theirs } = await scene({ ...AUTO, ...more });
    const attempt = await world.attempt("T1", scope ? { scope } : {});
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(attempt.worktree, name, ".."), { recursive: true });
      writeFileSync(join(attempt.worktree, name), text);
    }
    Bun.spawnSync(["git", "add", "--force", ...Object.keys(files)], { cwd: attempt.worktree });
    Bun.spawnSync(["git", "commit", "-qm", "Overreach"], { cwd: attempt.worktree });
    await world.report(attempt);
    await check("T1");
    const before = theirs();
    expect(await land("T1")).toEqual({ kind: "asked" });
    expect(theirs()).toEqual(before);
    expect(await world.node("T1")).toMatchObject({ status: "blocked", blockedReason: { kind: "human" } });
    await decideClaim(world.parts, { goalId: GOAL, nodeId: "T1" }, attempt, ({ node }, moment) =>
      approveLanding(node, "I have read it", { ...moment, actor: "human:ada" }),
    );
    expect(await land("T1")).toEqual({ kind: "done" });
    expect(repo.git("show", `main:${Object.keys(files)[0]}`)).toBe(Object.values(files)[0]?.trimEnd() ?? "");
    await world.close();
  },
);

test("REV-1: under review a checked commit waits for a person", async () => {
  const { world, repo, land } = await scene({});
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  expect(await land("T1")).toEqual({ kind: "waiting" });
  expect(await land("T1")).toEqual({ kind: "waiting" });
  expect((await world.node("T1")).claim?.waiting).toMatchObject({ for: "review", looks: 1 });
  expect(repo.git("rev-parse", "main")).toBe(attempt.base);
  expect(await land("T1", { mode: "auto", strategy: "squash" })).toEqual({ kind: "done" });
  expect(repo.git("log", "-1", "--format=%P|%s", "main")).toBe(`${attempt.base}|Node T1`);
  await world.close();
});

test("a clean landing equals a plain git merge: attributes, unicode names, modes, renames, sha256", async () => {
  const path = tempDir("sha256-");
  const { gitIn } = await import("../support/temp.ts");
  gitIn(path, "init", "--quiet", "--initial-branch", "main", "--object-format=sha256");
  writeFileSync(join(path, ".gitattributes"), "CHANGES merge=union\n");
  mkdirSync(join(path, "sub"));
  writeFileSync(join(path, "sub/.gitattributes"), "LIST merge=union\n");
  for (const name of ["CHANGES", "sub/LIST"]) writeFileSync(join(path, name), "first\n");
  writeFileSync(join(path, "größe 日本.txt"), "one\ntwo\nthree\nfour\n");
  gitIn(path, "add", "--all");
  gitIn(path, "commit", "--quiet", "-m", "First");
  await foundLanding(path, tasks(1));
  const world = await landingWorld(path, { config: AUTO });
  const attempt = await world.attempt("T1");
  world.commit(attempt, {
    CHANGES: "first\nagent\n",
    "sub/LIST": "first\nagent\n",
    "größe 日本.txt": null,
    "neu/größe 日本.txt": "one\ntwo\nthree\nfour\nfive\n",
  });
  for (const name of ["CHANGES", "sub/LIST"]) writeFileSync(join(path, name), "first\nuser\n");
  gitIn(path, "commit", "--quiet", "-am", "User");
  const clone = join(tempDir("clone-"), "c");
  gitIn(path, "clone", "--quiet", path, clone);
  gitIn(clone, "merge", "--quiet", "--no-edit", `origin/${attempt.branch}`);
  await world.report(attempt);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T1" })).toEqual({ kind: "done" });
  expect(gitIn(path, "rev-parse", "main^{tree}")).toBe(gitIn(clone, "rev-parse", "HEAD^{tree}"));
  expect(gitIn(path, "status", "--porcelain")).toBe("");
  await world.close();
});

test("MERGE-3: a git without merge-tree merges in our own worktree, and finds the same", async () => {
  const { world, repo } = await scene();
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n", "a.txt": "theirs\n" });
  const { git } = world.parts.git;
  const old = { ...git, probe: async () => ({ ...(await git.probe()), mergeTreeWriteTree: false }) };
  const parts = { ...world.parts, git: { ...world.parts.git, git: old } };
  await world.report(attempt);
  repo.write({ "a.txt": "ours\n" });
  repo.git("commit", "--quiet", "-am", "Ours");
  const before = snapshot(repo.path, HOME);
  expect(await landClaim(parts, { goalId: GOAL, nodeId: "T1" })).toEqual({ kind: "returned" });
  expect(snapshot(repo.path, HOME)).toEqual(before);
  repo.git("revert", "--no-edit", "HEAD");
  world.commit(attempt, { "c.txt": "c\n" });
  await world.report(attempt);
  expect(await landClaim(parts, { goalId: GOAL, nodeId: "T1" })).toEqual({ kind: "done" });
  expect(repo.git("show", "main:a.txt")).toBe("theirs");
  await world.close();
});

test("a submodule's pointer lands like any other change, and an orphan branch conflicts instead of failing", async () => {
  const { world, repo, land } = await scene();
  const attempt = await world.attempt("T1");
  Bun.spawnSync(["git", "update-index", "--add", "--cacheinfo", `160000,${attempt.base},lib`], {
    cwd: attempt.worktree,
  });
  Bun.spawnSync(["git", "commit", "-qm", "A submodule"], { cwd: attempt.worktree });
  await world.report(attempt);
  expect(await land("T1")).toEqual({ kind: "done" });
  expect(repo.git("ls-tree", "main", "lib")).toBe(`160000 commit ${attempt.base}\tlib`);
  const next = await world.attempt("T2");
  const orphan = repo.git("commit-tree", "-m", "From nothing", `${attempt.base}^{tree}`);
  Bun.spawnSync(["git", "reset", "--quiet", "--hard", orphan], { cwd: next.worktree });
  await world.report(next);
  expect(await land("T2")).toEqual({ kind: "returned" });
  await world.close();
});

test("WT-2: after landing the agent is ended and its worktree reaped; a squashed branch leaves a recovery ref", async () => {
  const { world, repo, land } = await scene({ landing: { mode: "auto", strategy: "squash" } });
  const attempt = await world.attempt("T1");
  const commit = world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  expect(await land("T1")).toEqual({ kind: "done" });
  const action = { kind: "clean", attempt: attempt.attempt } as Action<"clean">;
  expect(await reapAction(action, world.parts)).toMatchObject({ ok: false, retry: { afterMs: 2000 } });
  expect(existsSync(attempt.worktree)).toBe(true);
  const end = { cause: "stopped", detail: "asked", exitCode: 0, signal: null, usage: NO_USAGE, wip: null } as const;
  await world.store.commit({
    at: 1,
    reads: { now: attemptByNumber(attempt.attempt) },
    decide: ({ now }) =>
      endAttempt(now, { node: undefined, assignment: undefined, waiting: [], parent: undefined }, end, {
        now: 1,
        actor: "overseer",
      }),
  });
  expect(await reapAction(action, world.parts)).toEqual({ ok: true, result: "reaped" });
  expect(existsSync(attempt.worktree)).toBe(false);
  expect(repo.git("branch", "--list", attempt.branch)).toBe("");
  expect(repo.git("for-each-ref", "--format=%(objectname)", "refs/overseer/recovery/")).toBe(commit);
  expect(await reapAction(action, world.parts)).toEqual({ ok: true, result: "reaped" });
  await world.close();
});

test("WT-1: clean refuses what is dirty, unlanded, leased or has living children; forced, what it held is kept and listed", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(4));
  const world = await landingWorld(repo.path, { config: AUTO });
  const lead = await world.attempt("T1");
  const child = await world.attempt("T2", { parent: lead });
  const [dirty, unlanded] = [await world.attempt("T3"), await world.attempt("T4")];
  writeFileSync(join(dirty.worktree, "left.txt"), "left\n");
  const commit = world.commit(unlanded, { "b.txt": "b\n" });
  for (const { attempt } of [lead, dirty, unlanded]) await endOf(world, attempt);
  const ada = asPerson(world);
  const because = async (force: boolean) =>
    Object.fromEntries((await clean(ada, { force })).kept.map((one) => [one.agent, one.because]));
  expect(await because(false)).toEqual({
    [lead.agent]: `${child.agent}#${child.attempt} still works for it.`,
    [child.agent]: expect.stringContaining("An agent lives in"),
    [dirty.agent]: expect.stringContaining("has uncommitted changes"),
    [unlanded.agent]: expect.stringContaining("has commits that are not in main"),
  });
  expect(await reapAction({ kind: "clean", attempt: lead.attempt } as Action<"clean">, world.parts)).toMatchObject({
    ok: false,
    problem: expect.stringContaining("still works for it"),
  });
  expect(await because(true)).toEqual({ [lead.agent]: expect.any(String), [child.agent]: expect.any(String) });
  for (const one of [lead, child]) expect(existsSync(one.worktree)).toBe(true);
  expect((await listKeptWork(ada)).map(({ ref, holds }) => [ref.split("/")[2], holds]).sort()).toEqual([
    ["recovery", "commits"],
    ["recovery", "files"],
  ]);
  expect((await listKeptWork(ada)).map((one) => one.commit)).toContain(commit);
  await endOf(world, child.attempt);
  expect((await clean(ada, { force: false })).removed.map(({ agent }) => agent).sort()).toEqual([
    lead.agent,
    child.agent,
  ]);
  await world.close();
});

/** What a tick sees of reports of done. */
async function claimsSeen({ parts }: LandingWorld) {
  const { nodes } = await (await parts.writer()).read({ nodes: nodesInStatus("in_progress", 100) });
  return nodes.flatMap((node) => claimInSnapshot(node, "auto") ?? []);
}

test("the outbox looks again at a checkout that is not clean, later each time, and once more after every new chance", async () => {
  const { world, repo } = await scene({ landing: { mode: "auto", dirtyWait: { base: "1s", max: "3s" } } });
  const attempt = await world.attempt("T1", { scope: ["src"] });
  world.commit(attempt, { "a.txt": "better\n", "b.txt": "b\n" });
  await world.report(attempt);
  const action = { kind: "land", goalId: GOAL, workNodeId: "T1" } as Action<"land">;
  expect(await claimsSeen(world)).toMatchObject([{ state: "checked", mayLand: true, turn: 1 }]);
  expect(await landAction(action, world.parts)).toEqual({ ok: true, result: "asked" });
  expect(await claimsSeen(world)).toEqual([]);
  await decideClaim(world.parts, { goalId: GOAL, nodeId: "T1" }, attempt, ({ node }, moment) =>
    approveLanding(node, null, moment),
  );
  const [seen] = await claimsSeen(world);
  expect(seen).toMatchObject({ state: "checked", mayLand: true });
  expect(seen?.turn).toBeGreaterThan(1);
  repo.write({ "a.txt": "mine\n" });
  const waits: unknown[] = [];
  for (let look = 0; look < 4; look += 1) {
    const outcome = await landAction(action, world.parts);
    waits.push(!outcome.ok && typeof outcome.retry === "object" ? outcome.retry.afterMs : outcome);
  }
  expect(waits).toEqual([1000, 2000, 3000, 3000]);
  repo.git("checkout", "--quiet", "a.txt");
  expect(await landAction(action, world.parts)).toEqual({ ok: true, result: "done" });
  await world.close();
});

test("REV-1: a person lands by hand what waits for them, checked on the way, and hears why where it does not land", async () => {
  const { world, repo } = await scene({ checks: { tests: PASS } });
  await expect(landByHand(world, "T1")).rejects.toMatchObject({ code: "NOTHING_TO_LAND" });
  const attempt = await world.attempt("T1", { scope: ["src"] });
  world.commit(attempt, { "ok.txt": "ok\n", "a.txt": "better\n" });
  await world.report(attempt);
  repo.write({ "a.txt": "mine\n" });
  const waits = await landByHand(world, "T1");
  expect(waits).toMatchObject({ outcome: "waiting", agent: null });
  expect(waits.detail).toContain("uncommitted changes");
  repo.git("checkout", "--quiet", "a.txt");
  expect(await landByHand(world, `${GOAL}/T1`)).toMatchObject({ outcome: "done", agent: "waiting" });
  expect(await world.node("T1")).toMatchObject({ status: "done", unverified: false });
  const approved = (await world.store.log({ after: 0, limit: 1000 })).find(({ type }) => type === "landing.approved");
  expect(approved?.actor).toBe("human:ada");
  await world.close();
});

test("WT-2: worktrees that nobody needs any more go by themselves, what had not landed is kept in refs; open work keeps its own", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(3));
  const world = await landingWorld(repo.path, { config: AUTO });
  const [cancelled, open] = [await world.attempt("T1"), await world.attempt("T2")];
  const unlanded = world.commit(cancelled, { "lost.txt": "not lost\n" });
  writeFileSync(join(cancelled.worktree, "a.txt"), "not committed\n");
  for (const { attempt } of [cancelled, open]) await endOf(world, attempt);
  await cancelWork(asPerson(world), { node: "T1" }, "not wanted");
  const clock = { ...world.parts.clock, now: () => Date.now() + 3 * 60 * 60_000 };
  const gone = await tidyWorktrees({ ...world.parts, clock });
  expect(gone.map(({ attempt, problem }) => [attempt, problem])).toEqual([[cancelled.attempt, undefined]]);
  expect([cancelled, open].map(({ worktree }) => existsSync(worktree))).toEqual([false, true]);
  const kept = gone[0]?.recovery ?? [];
  const holds = kept.filter((ref) => repo.git("rev-list", ref).split("\n").includes(unlanded));
  expect(holds.length).toBeGreaterThan(0);
  expect(kept.some((ref) => repo.git("show", `${ref}:a.txt`) === "not committed")).toBe(true);
  expect(await tidyWorktrees({ ...world.parts, clock })).toEqual([]);
  await world.close();
});
