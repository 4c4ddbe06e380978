/**
 * The queue with real git, real checks and a real store: batches and their bad members, verdicts that belong to trees,
 * targets that are broken themselves, flaky gates, checkouts that never get clean, and the order in which it all lands.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runChecks } from "#act/checks/check.ts";
import { hastenHeldLandings, runAfterLand } from "#act/landing/after-land.ts";
import { enqueue } from "#act/landing/candidate.ts";
import { landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import type { ActParts } from "#act/parts.ts";
import { update as updateGoal } from "#control/goals.ts";
import { listHeldLandings } from "#control/merge.ts";
import { readMorningReport } from "#control/morning-report.ts";
import { giveAnswer } from "#control/questions.ts";
import { why } from "#control/why.ts";
import { blockWork, unblockWork } from "#control/work.ts";
import { type Action, actionDecided } from "#domain/model/action.ts";
import { accept } from "#domain/model/decision.ts";
import type { Priority } from "#domain/model/goal.ts";
import landAction from "#engine/actions/land.ts";
import { drain } from "#engine/outbox.ts";
import { openQuestions } from "#store/assignments.ts";
import { listLandedMerges, listQueuedMerges } from "#store/merges.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { bundled, overseerOk } from "../support/cli.ts";
import { asPerson } from "../support/landing-observations.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

interface Stage {
  readonly count: number;
  /** How many tasks the plan has, where it is more than are claimed. */
  readonly planned?: number;
  readonly config?: object;
  readonly check?: string;
  readonly files?: (index: number) => Record<string, string>;
}

/** That many branches, claimed and ready to land; the check runs when they land and not before. */
async function staged({ count, planned = count, config = {}, check, files }: Stage) {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(planned));
  const checks = check === undefined ? {} : { gate: { command: check, on: ["land"], timeout: "30s" } };
  const world = await landingWorld(repo.path, { config: { landing: { mode: "auto", batch: 8 }, checks, ...config } });
  for (let index = 1; index <= count; index += 1) {
    const attempt = await world.attempt(`T${index}`);
    world.commit(attempt, files?.(index) ?? { [`f${index}.txt`]: `${index}\n` });
    await world.report(attempt);
    await runChecks(world.parts, { goalId: GOAL, nodeId: `T${index}` });
  }
  return { repo, world };
}

const statuses = async (world: LandingWorld, count: number) =>
  Promise.all(Array.from({ length: count }, async (_, index) => (await world.node(`T${index + 1}`)).status));

test("MERGE-4: of a batch of 8 with 2 bad branches exactly the 6 good ones land, and the bad go back to their authors", async () => {
  const counter = join(tempDir("runs-"), "runs");
  const bad = new Set([3, 6]);
  const { repo, world } = await staged({
    count: 8,
    check: `echo run >> ${counter}; ! ls bad-*`,
    files: (index) => ({ [`${bad.has(index) ? "bad" : "good"}-${index}.txt`]: `${index}\n` }),
  });
  expect(await workOffQueue(world.parts)).toMatchObject({ kind: "worked-off" });
  const ended = await statuses(world, 8);
  expect(ended.map((status, index) => [index + 1, status])).toEqual(
    Array.from({ length: 8 }, (_, index) => [index + 1, bad.has(index + 1) ? "in_progress" : "done"]),
  );
  const names = repo.git("ls-tree", "--name-only", "main").split("\n");
  expect(names.filter((name) => name.startsWith("good"))).toHaveLength(6);
  expect(names.filter((name) => name.startsWith("bad"))).toEqual([]);
  expect(repo.git("status", "--porcelain")).toBe("");
  const { landed, left } = await world.store.read({ landed: listLandedMerges(100), left: listQueuedMerges() });
  expect(landed.map(({ tier }) => tier)).toEqual(Array(6).fill("clean-merge"));
  expect(left).toEqual([]);
  for (const index of bad) expect((await world.node(`T${index}`)).claim).toBe(undefined);
  expect(readFileSync(counter, "utf8").trim().split("\n").length).toBeLessThan(8 * 2 * 2);
  await world.close();
});

test("MERGE-4: a batch that is good is gated once and arrives in one step", async () => {
  const counter = join(tempDir("runs-"), "runs");
  const { repo, world } = await staged({ count: 5, check: `echo run >> ${counter}` });
  await workOffQueue(world.parts);
  expect(await statuses(world, 5)).toEqual(Array(5).fill("done"));
  expect(readFileSync(counter, "utf8")).toBe("run\n");
  expect(repo.git("reflog", "show", "--format=%h", "main").split("\n")).toHaveLength(2);
  expect(repo.git("log", "--first-parent", "--format=%s", "main").split("\n")).toHaveLength(6);
  await world.close();
});

test("MERGE-4: two branches that are only bad together do not both land", async () => {
  const { world } = await staged({ count: 2, check: "! { test -f f1.txt && test -f f2.txt; }" });
  await workOffQueue(world.parts);
  expect((await statuses(world, 2)).sort()).toEqual(["done", "in_progress"]);
  await world.close();
});

test("MERGE-4: what fails on the target already is nobody's fault: it blocks, and says so", async () => {
  const { repo, world } = await staged({ count: 1, check: "test -f never.txt" });
  const before = repo.git("rev-parse", "main");
  await workOffQueue(world.parts);
  const node = await world.node("T1");
  expect(node).toMatchObject({ status: "blocked", blockedReason: { kind: "environment" } });
  expect(node.blockedReason?.detail).toContain("already fails on main");
  expect(node.claim?.verdict).toBe("unverified");
  expect(repo.git("rev-parse", "main")).toBe(before);
  expect((await world.store.read({ all: listQueuedMerges() })).all).toMatchObject([{ status: "parked" }]);
  await world.close();
});

test("MERGE-4: a gate that fails once and passes on the same tree is recorded as flaky", async () => {
  const mark = join(tempDir("flake-"), "mark");
  const { world } = await staged({ count: 1, check: `test -f ${mark} || { touch ${mark}; exit 1; }` });
  await workOffQueue(world.parts);
  expect((await world.node("T1")).status).toBe("done");
  const log = await world.store.log({ after: 0, limit: 1000 });
  const runs = log.flatMap((event) => (event.type === "check.finished" ? [event.data] : []));
  expect(runs.map(({ verdict, flaky }) => [verdict, flaky ?? false])).toEqual([
    ["fail", false],
    ["pass", true],
  ]);
  expect(runs[0]?.tree).toBe(runs[1]?.tree ?? "");
  await world.close();
});

test("MERGE-4: a gate that cannot run blocks the whole batch, and nothing lands", async () => {
  const { repo, world } = await staged({ count: 2, check: "no-such-command-here" });
  const before = repo.git("rev-parse", "main");
  await workOffQueue(world.parts);
  expect(await statuses(world, 2)).toEqual(["blocked", "blocked"]);
  expect(repo.git("rev-parse", "main")).toBe(before);
  await world.close();
});

test("MERGE-1, STATUS-1: who lands next follows from priority and age, whoever works the queue off; status names the oldest", async () => {
  const config = { landing: { mode: "auto", batch: 1, ageBoost: "1h" } };
  const { repo, world } = await staged({ count: 4, config });
  const ada = asPerson(world);
  // Each is queued under the priority that its goal has at that moment; the first three hours before the rest.
  const now = world.parts.clock.now();
  const queued: [id: string, priority: Priority, at: number][] = [
    ["T1", "low", now - 3 * 3_600_000 - 1],
    ["T2", "normal", now - 2],
    ["T3", "normal", now - 1],
    ["T4", "high", now],
  ];
  for (const [id, priority, at] of queued) {
    await updateGoal(ada, GOAL, { priority });
    const node = await world.node(id);
    const claim = node.claim && { ...node.claim, checkedAt: at };
    await enqueue(world.parts, [{ ...node, ...(claim ? { claim } : {}) }], "main");
  }
  const status = JSON.parse(await overseerOk(repo.path, "status", "--json")) as { mergeQueue: object };
  const oldest = {
    branch: (await world.node("T1")).claim?.branch,
    since: new Date(now - 3 * 3_600_000 - 1).toISOString(),
  };
  expect(status.mergeQueue).toMatchObject({ waiting: 4, testing: 0, parked: 0, oldest });
  const queue = (await overseerOk(repo.path, "status")).split("Merge queue: ")[1]?.split("\n") ?? [];
  expect(queue[0]).toBe("4 waiting, 0 being tested, 0 parked");
  expect(queue[1]).toMatch(/^ {2}waiting {2}since (yesterday )?\d\d:\d\d {2}goal_\w+\/T1 /);
  await world.close();
  const next = await landingWorld(repo.path, { config });
  await workOffQueue(next.parts);
  // Low has waited for three hours and counts as urgent; then high, then first come first served.
  expect(repo.git("log", "--reverse", "--first-parent", "--format=%s", "main").split("\n").slice(1)).toEqual(
    ["T1", "T4", "T2", "T3"].map((id) => `Merge Node ${id}`),
  );
  await next.close();
});

test("MERGE-1: what a person blocks while it waits in the queue lands once it is unblocked", async () => {
  const { repo, world } = await staged({ count: 1, files: () => ({ "a.txt": "better\n" }) });
  const ada = asPerson(world);
  repo.write({ "a.txt": "mine\n" });
  await workOffQueue(world.parts);
  await blockWork(ada, { node: "T1" }, { kind: "human", detail: "let me look", needs: "my word" });
  const [entry] = (await world.store.read({ all: listQueuedMerges() })).all;
  await workOffQueue(world.parts, { now: entry?.mergeId ?? "" });
  expect((await world.store.read({ all: listQueuedMerges() })).all).toMatchObject([{ status: "parked" }]);
  repo.git("checkout", "--quiet", "a.txt");
  await unblockWork(ada, { node: "T1" });
  await workOffQueue(world.parts);
  expect(await statuses(world, 1)).toEqual(["done"]);
  await world.close();
});

test("MERGE-1: the verdict on a tree holds for whoever comes to the same tree", async () => {
  const counter = join(tempDir("runs-"), "runs");
  const check = { command: `echo run >> ${counter}`, on: ["done", "land"], timeout: "30s" };
  const { world } = await staged({
    count: 2,
    config: { checks: { gate: check }, landing: { mode: "review" } },
    files: () => ({ "same.txt": "the same\n" }),
  });
  expect(await statuses(world, 2)).toEqual(["in_progress", "in_progress"]);
  expect((await world.node("T2")).claim?.verdict).toBe("pass");
  expect(readFileSync(counter, "utf8")).toBe("run\n");
  await world.close();
});

test("ACC-2, FAIL-28: a checkout that stays dirty is looked at 10 times, from 60 s doubling to 1 h, across restarts; then a person is asked and the rest continues", async () => {
  const { repo, world } = await staged({
    count: 1,
    planned: 2,
    config: { landing: { mode: "auto", batch: 1 } },
    files: () => ({ "a.txt": "better\n" }),
  });
  repo.write({ "a.txt": "mine\n" });
  const home = tempDir("home-");
  const theirs = snapshot(repo.path, home);
  const clock = virtualClock();
  const action = { kind: "land", goalId: GOAL, workNodeId: "T1" } as Action<"land">;
  const waits: number[] = [];
  let outcome: Awaited<ReturnType<typeof landAction>> | undefined;
  for (let look = 1; look <= 10; look += 1) {
    // Every look is by a process that knows nothing but what the store says.
    const fresh = await landingWorld(repo.path, { config: { landing: { mode: "auto", batch: 1 } } });
    const parts: ActParts = { ...fresh.parts, clock };
    outcome = await landAction(action, parts);
    if (!outcome.ok && typeof outcome.retry === "object") {
      waits.push(outcome.retry.afterMs / 1000);
      await clock.advance(outcome.retry.afterMs);
    }
    await fresh.close();
  }
  expect(waits).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  expect(outcome).toEqual({ ok: true, result: "asked" });
  expect(snapshot(repo.path, home)).toEqual(theirs);
  const { open } = await world.store.read({ open: openQuestions() });
  expect(open.map(({ text }) => text).join()).toContain("uncommitted changes");
  expect(await world.node("T1")).toMatchObject({ status: "blocked", claim: { commit: expect.any(String) } });
  repo.git("checkout", "--quiet", "a.txt");
  const next = await world.attempt("T2");
  world.commit(next, { "next.txt": "next\n" });
  await world.report(next);
  await workOffQueue({ ...world.parts, clock });
  expect(await statuses(world, 2)).toEqual(["blocked", "done"]);
  await world.close();
});

test("AUTO-11: after a landing the command runs on the new target; where it fails nothing more lands until a person answers or it passes", async () => {
  const ran = join(tempDir("runs-"), "runs");
  const afterLand = `git rev-parse HEAD >> ${ran}; ! test -f f1.txt || test -f f3.txt`;
  const { repo, world } = await staged({ count: 3, config: { landing: { mode: "auto", batch: 1, afterLand } } });
  const land = (id: string) =>
    landAction({ kind: "land", goalId: GOAL, workNodeId: id } as Action<"land">, world.parts);
  const after = () => drain(world.parts, { afterLand: runAfterLand }, { only: ({ kind }) => kind === "afterLand" });
  const asked = async () => (await world.store.read({ open: openQuestions() })).open;
  await landClaim(world.parts, { goalId: GOAL, nodeId: "T1" });
  const broken = repo.git("rev-parse", "main");
  const told = async (id: string) => (await why(asPerson(world), id)).now.join("\n");
  const where = `on ${broken.slice(0, 10)}, which this landing has made of main`;
  expect(await told("T1")).toContain(
    `landing.afterLand is run ${where}; nothing more lands on main until it has ended.`,
  );
  expect(await land("T2")).toMatchObject({ ok: false, problem: expect.stringContaining("afterLand has ended") });
  expect(await after()).toMatchObject({ done: 1, failed: 0 });
  const [question] = await asked();
  expect(question?.text).toContain(
    `landing.afterLand failed on ${broken.slice(0, 10)}, which ${GOAL}/T1 has made of it`,
  );
  expect(question?.options).toEqual(["go on landing"]);
  // It may be a deploy: once for each landing, also where it fails.
  expect(readFileSync(ran, "utf8").trim().split("\n")).toEqual([broken]);
  expect(await land("T2")).toMatchObject({ ok: false, problem: expect.stringContaining(question?.questionId ?? "-") });
  expect(repo.git("rev-parse", "main")).toBe(broken);
  const ends = `until ${question?.questionId} is answered ('overseer answer ${question?.questionId} "go on landing"'), or until the command passes on a later commit of main.`;
  expect(await told("T1")).toContain(
    `landing.afterLand ran ${where}, and failed; the landing stands.\nNothing more lands on main ${ends}`,
  );
  const ada = asPerson(world);
  const wish = {
    actionId: "land:T2",
    kind: "land",
    because: "checked",
    goalId: GOAL,
    nodeId: "T2",
    notBefore: 0,
  } as const;
  const decided = actionDecided({ ...wish, payload: { commit: null } }, { now: 1, actor: "overseer" });
  await world.store.commit({ at: 1, reads: {}, decide: () => accept([decided], null) });
  const due = () => drain(world.parts, { land: landAction }, { only: ({ kind }) => kind === "land" });
  expect(await due()).toMatchObject({ done: 0, failed: 1 });
  expect(await due()).toMatchObject({ done: 0, failed: 0 });
  expect(await told("T2")).toMatch(
    /Its landing waits: Nothing more lands on main until q_.*\nNothing more lands on main until q_/,
  );
  expect(await listHeldLandings(ada)).toEqual([{ node: `${GOAL}/T2`, why: `Nothing more lands on main ${ends}` }]);
  const { failed } = await readMorningReport(ada, 0);
  expect(failed.map(({ what, text }) => `${what}: ${text}`).join()).toContain(
    `landing.afterLand: failed on ${broken.slice(0, 10)}, which ${GOAL}/T1 has made of it`,
  );
  await giveAnswer(ada, question?.questionId ?? "", "go on landing");
  // What waits for nothing but that is due at once.
  expect(await hastenHeldLandings(world.parts)).toBe(1);
  expect(await due()).toMatchObject({ done: 1 });
  await after();
  expect(await asked()).toHaveLength(1);
  // A person lands what makes it good; then nobody holds it any more.
  expect(await land("T3")).toMatchObject({ ok: false });
  await landClaim(world.parts, { goalId: GOAL, nodeId: "T3" });
  await after();
  expect(await asked()).toEqual([]);
  expect(await statuses(world, 3)).toEqual(["done", "done", "done"]);
  expect(await told("T1")).toContain("Landings go on since then.");
  expect(await told("T3")).toMatch(/landing\.afterLand ran on [0-9a-f]{10}, .* and passed\./);
  await world.close();
});
