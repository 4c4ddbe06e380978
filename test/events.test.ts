/**
 * The catalogue of events against the code: docs/events.md has every type with the fields it carries, and every type
 * is written by some verb or rule here, or stands in a table, with the reason, that only ever shrinks.
 */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as autoMode from "#control/auto.ts";
import * as goals from "#control/goals.ts";
import * as learnings from "#control/learnings.ts";
import { dropProposal } from "#control/planning.ts";
import * as plans from "#control/plans.ts";
import { prime } from "#control/prime.ts";
import { beginGoal } from "#control/sentence-goal.ts";
import * as work from "#control/work.ts";
import { takeTask } from "#domain/auto/take-task.ts";
import { afterLanding } from "#domain/landing/after-landing.ts";
import { approveLanding, waitForReview } from "#domain/landing/may-land.ts";
import { afterChecks, claimDone } from "#domain/landing/report-done.ts";
import {
  type Action,
  actionDecided,
  applyToAction,
  closeAction,
  hastenAction,
  takeAction,
} from "#domain/model/action.ts";
import { assign, blockAssignment, moveAssignment, reassign } from "#domain/model/assignment.ts";
import { applyToCondition, type Condition } from "#domain/model/condition.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { EVENT_TYPES, type EventType } from "#domain/model/event.ts";
import { freezeFleet, thawFleet } from "#domain/model/fleet.ts";
import { applyToQuestion, askQuestion, endQuestion } from "#domain/model/question.ts";
import { cancelGoal } from "#domain/plans/cancel-goal.ts";
import { failPlan, holdPlan, proposePlan } from "#domain/plans/planning.ts";
import { acknowledgeQuestion, escalateQuestion, noticeEvent } from "#domain/reports/question-notice.ts";
import { decide } from "#domain/tick/decide.ts";
import type { Snapshot } from "#domain/tick/snapshot.ts";
import { memoryStore } from "#store/memory.ts";
import { COMMIT, claimWith, FAILED, RETURNS, receiptWith, reportWith, seenWith } from "./support/claims.ts";
import { ADA } from "./support/samples.ts";
import {
  seenWith as agentSeen,
  applied,
  endedWith,
  LIMITS,
  MINUTE,
  NOW,
  pulseWith,
  recoveryWith,
  silentFor,
  snapshotOf,
  working,
} from "./support/snapshots.ts";
import { syncFleet } from "./support/sync-world.ts";
import { allowed, assignmentWith, goalOf, nodeWith, placed, treeOf } from "./support/tree.ts";
import { worldOn } from "./support/world.ts";

const rows = readFileSync(join(import.meta.dir, "../docs/events.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) =>
    line
      .split("|")
      .map((cell) => cell.trim())
      .slice(1, -1),
  );

test("EVT-1: docs/events.md has every type once, in the order of the catalogue, with all its cells filled", () => {
  expect(rows.map(([type]) => type)).toEqual(EVENT_TYPES.map((type) => `\`${type}\``));
  for (const row of rows) {
    expect(row).toHaveLength(4);
    expect(row.filter((cell) => cell === "")).toEqual([]);
  }
});

/** Types that nothing here can write yet. Remove a line when its verb arrives and is called below. */
const NOT_HERE: Partial<Record<EventType, string>> = {
  "auto.started": "written around a real pool: test/e2e/auto-pool.test.ts",
  "auto.failed": "as auto.started",
  "pool.refused": "as auto.started",
  "pool.empty": "as auto.started",
  "pool.forgotten": "as auto.started",
  "pool.ended": "as auto.started",
  "work.taken_back": "written around a real landing and its revert: test/e2e/revert.test.ts",
  "work.given_anew": "as work.taken_back",
  "check.started": "written around a real run: test/e2e/landing.test.ts",
  "check.finished": "as check.started",
  "landing.prepared": "written around a real merge: test/e2e/landing.test.ts",
  "remote.followed": "written around a real remote: test/e2e/landing-remote.test.ts",
  "remote.pushed": "as remote.followed",
  "remote.refused": "as remote.followed",
  "merge.queued": "written around real merges: test/e2e/merge-queue.test.ts",
  "merge.testing": "as merge.queued",
  "merge.waiting": "as merge.queued",
  "merge.parked": "as merge.queued",
  "merge.landed": "as merge.queued",
  "merge.ended": "as merge.queued",
  "merge.resolved": "as merge.queued",
  "model.asked": "written around a real call: test/e2e/merge-tiers.test.ts",
  "assignment.diagnosed": "written around a real call: test/e2e/replan.test.ts",
  "assignment.diagnosis_failed": "as assignment.diagnosed",
  "assignment.dispatched": "written by the dispatcher, whose own tests show it",
  "assignment.delivered": "written by the dispatcher, whose own tests show it",
  "agent.slung": "needs a real repository and processes; shown by the tests of starting agents",
  "agent.step": "as agent.slung",
  "agent.starting": "as agent.slung",
  "agent.started": "written by the runner",
  "agent.leg": "written by the runner",
  "agent.relocated": "as overseer.moved",
  "agent.paused": "as agent.slung",
  "agent.resumed": "as agent.slung",
  "agent.ended": "written by the runner",
  "agent.worktree_broken": "needs a worktree: test/e2e/fail-worktrees.test.ts",
  "agent.worktree_kept": "needs a worktree: test/e2e/worktree-losses.test.ts",
  "agent.fenced": "written by the runner, and by the door: test/e2e/caller.test.ts",
  "agent.unguarded": "written by the runner: test/e2e/claude-permit.test.ts",
  "agent.steered": "written by the hook: test/e2e/reflex.test.ts",
  "agent.blocked": "written by the runner: test/e2e/reflex.test.ts",
  "agent.steering_refuted": "a person's word about a steering: src/control/wrong.test.ts",
  "agent.pace": "written by the runner: test/e2e/reflex.test.ts",
  "agent.waiting": "written by mail check --wait of an agent: src/domain/inbox/mailing.test.ts",
  "agent.woken": "as agent.waiting",
  "agent.announced": "as agent.waiting",
  "agent.terminal_regained": "written by the daemon: test/e2e/lost-terminals.test.ts",
  "landing.index_mended": "written by the daemon: test/e2e/landing-beside-git.test.ts",
  "landing.undone": "as landing.index_mended",
  "checkout.changed": "written by the runner: test/e2e/hooks.test.ts",
  "message.handed": "written by the runner",
  "message.seen": "written by the runner",
  "message.requeued": "written by the runner: src/domain/inbox/mailing.test.ts",
  "message.moved": "as message.requeued",
  "message.expired": "written by the runner",
  "message.dead_lettered": "as message.requeued",
  "answer.refused": "needs a channel or a token: src/control/people.test.ts",
  "news.told": "needs somebody who is told: src/control/people.test.ts",
  "lead.on": "a person's word about their own sessions: src/control/lead.test.ts",
  "lead.off": "as lead.on",
  "lead.taken": "as lead.on",
  "lead.released": "as lead.on",
  "lead.read": "as lead.on",
  "update.taken": "needs an agent: test/e2e/updates.test.ts",
  "update.refused": "as update.taken",
  "agent.interrupt_requested": "written when an action is carried out: src/engine/outbox.test.ts",
  "watch.degraded": "written by the daemon: test/e2e/health.test.ts",
  "watch.restored": "as watch.degraded",
  "daemon.started": "written by the daemon: test/e2e/daemon.test.ts",
  "daemon.adopted": "written by the daemon: test/e2e/daemon.test.ts",
  "daemon.stopped": "written by the daemon: test/e2e/daemon.test.ts",
  "config.changed": "written by the daemon: test/e2e/daemon.test.ts",
  "config.refused": "written by the daemon: test/e2e/daemon.test.ts",
  "overseer.moved": "needs a repository that was moved: test/e2e/moved-repository.test.ts",
  "overseer.initialised": "written by init, which needs a real repository: test/e2e/goals.test.ts",
  "overseer.store.corrupt": "written by doctor --fix on a damaged file: test/e2e/store-damage.test.ts",
  "overseer.store.recovered": "written by doctor --fix on a damaged file: test/e2e/store-damage.test.ts",
};

interface Written {
  readonly type: EventType;
  readonly data: object;
}
const written: Written[] = [];

beforeAll(async () => {
  written.push(
    ...(await writtenByVerbs()),
    ...(await writtenBySyncs()),
    ...writtenByRules(),
    ...writtenByTicks(),
    ...writtenByTheOutbox(),
  );
});

test("EVT-1: every type is written by a verb or a rule, or is told why not", () => {
  const seen = new Set(written.map(({ type }) => type));
  expect(EVENT_TYPES.filter((type) => !seen.has(type))).toEqual(EVENT_TYPES.filter((type) => type in NOT_HERE));
});

test("EVT-1: an event carries no field that its row does not name", () => {
  const fields = new Map(rows.map(([type = "", , , named = ""]) => [type.replaceAll("`", ""), named]));
  const unnamed = written.flatMap(({ type, data }) =>
    Object.entries(data)
      .filter(([key, value]) => value !== undefined && !fields.get(type)?.includes(`\`${key}\``))
      .map(([key]) => `${type} ${key}`),
  );
  expect([...new Set(unnamed)]).toEqual([]);
});

const node = (id: string, more = {}) => ({ id, name: id, objective: "x", acceptance: ["y"], ...more });
const plan = (...tasks: object[]) => ({
  name: "plan.json",
  text: JSON.stringify({ planVersion: 1, phases: [node("P1", { tasks })] }),
});

async function writtenByVerbs(): Promise<readonly Written[]> {
  const store = memoryStore();
  const world = worldOn(store);
  const first = await goals.create(world, { title: "First" });
  await goals.update(world, first, { priority: "high" });
  await autoMode.pause(world, "a release");
  await autoMode.resume(world, null);
  await autoMode.add(world, { name: "ben", excluded: true, capability: null, runtime: null, model: "opus" });
  await autoMode.remove(world, "ben");
  await plans.plan(world, first, plan(node("T1"), node("T2"), node("T3")));
  await plans.plan(world, first, { ...plan(node("T1", { name: "Better" }), node("T2")), prune: ["T3"] });
  await goals.pauseGoal(world, first);
  await goals.resumeGoal(world, first);
  await work.blockWork(world, { node: "T1" }, { kind: "human", detail: "waits", needs: "Ada" });
  await work.unblockWork(world, { node: "T1" });
  await work.finishWork(world, { node: "T1" }, { override: "enough" });
  await work.finishWork(world, { node: "T2" }, { summary: "works" });
  await goals.archiveGoal(world, first);
  const second = await goals.create(world, { title: "Second", fromSession: "scout-1" });
  await goals.raiseGoalBudget(world, second, { cost: 10 });
  await goals.cancelWholeGoal(world, second, "no budget");
  const third = await beginGoal(world, { text: "Third", limit: 5, scout: false, reviewed: true });
  await dropProposal(world, third, "not now");
  return store.log({ after: 0, limit: 1000 });
}

/** What is found, told, found by another, shown, judged and dropped. */
async function writtenBySyncs(): Promise<readonly Written[]> {
  const fleet = await syncFleet([["api"], ["api"], ["api"]]);
  const find = async (attempt: number) => {
    await fleet.run(attempt, "npm test", false, "Error: no database, set DB=memory");
    await fleet.run(attempt, "DB=memory npm test", true, "ok");
  };
  await find(1);
  await find(2);
  await fleet.turn();
  for (const sync of await fleet.syncs()) await fleet.see(sync);
  const shown = await learnings.addByHand(fleet.world, { text: "Mind the gap.", tags: ["api"], paths: [] });
  await prime({ ...fleet.world, env: { OVERSEER_ATTEMPT: "3", OVERSEER_AGENT: "agent-2" } }, { compact: false });
  await fleet.end(3);
  await fleet.turn();
  await learnings.forgetByHand(fleet.world, shown, "it is wrong");
  return (await fleet.store.log({ after: 0, limit: 1000 })).filter(({ type }) => type.startsWith("learning."));
}

/** A claim from the report to the landing, and every way it can be held up. */
function claimDecisions(): Decision<unknown>[] {
  const claimed = seenWith({ claim: claimWith() });
  const checked = seenWith({ claim: claimWith({ verdict: "pass" }) });
  const ended = { target: "main", from: "a", to: "b", strategy: "merge" as const, already: false, receipts: [] };
  const over = { kind: "protected", files: ["ci.yaml"] } as const;
  return [
    claimDone(seenWith(), reportWith(), ADA),
    afterChecks(claimed, { commit: COMMIT, receipts: [receiptWith()] }, RETURNS, ADA),
    afterChecks(claimed, { commit: COMMIT, receipts: [FAILED] }, RETURNS, ADA),
    waitForReview(checked.node, ADA),
    approveLanding(checked.node, "reads well", ADA),
    afterLanding(checked, COMMIT, { kind: "overreach", target: "main", over }, RETURNS, ADA),
    afterLanding(checked, COMMIT, { kind: "landed", ...ended }, RETURNS, ADA),
  ];
}

const PROPOSED = { source: "model", rejected: [], change: "first plan", nodeCount: 1, raw: "{}", base: 0 } as const;

function writtenByRules(): readonly Written[] {
  const target = { agentId: "b", sessionKey: null, deliveryContext: null, spawnedBy: null };
  const wanted = { assignmentId: "A_2", target, recoveryPolicy: "nudge" as const, idleAfterMs: 1 };
  const asked = askQuestion(undefined, { questionId: "q_1", goalId: "goal_A", text: "Which?", options: [] }, ADA);
  const [first] = allowed(asked);
  const question = first && applyToQuestion(undefined, placed(first));
  const task = { source: "command", key: "k", pull: "P_1", text: "Fix it", words: "Fix it" } as const;
  const taken = takeTask({ auto: undefined, named: undefined }, "goal_fix", task, ADA);
  const pool = allowed(taken).reduce<Condition | undefined>(
    (known, event) => applyToCondition(known, placed(event)),
    undefined,
  );
  const auto = pool?.kind === "auto" ? pool : undefined;
  const decisions: Decision<unknown>[] = [
    taken,
    takeTask({ auto, named: undefined }, "goal_fix-2", { ...task, pull: "P_2" }, ADA),
    assign(nodeWith("queued"), [], wanted, ADA),
    reassign(nodeWith("in_progress"), [assignmentWith()], wanted, "lost", ADA),
    moveAssignment(assignmentWith({ status: "stalled" }), "active", "spoke", null, ADA),
    moveAssignment(assignmentWith(), "stalled", "silent", null, ADA),
    moveAssignment(assignmentWith(), "done", "finished", null, ADA),
    blockAssignment(assignmentWith(), { on: "human", detail: "which?" }, ADA),
    asked,
    endQuestion(question, "q_1", { to: "answered", answer: "ISO" }, ADA),
    acknowledgeQuestion(question, "q_1", "cli", ADA),
    escalateQuestion(question, "q_1", ADA),
    accept(
      question
        ? [
            noticeEvent(
              question,
              { questionId: "q_1", channel: "terminal", because: "origin", round: 0, key: "" },
              { ok: true, detail: "" },
              ADA,
            ),
          ]
        : [],
      null,
    ),
    freezeFleet(undefined, null, ADA),
    thawFleet({ fleetId: "fleet", status: "frozen", since: 0, by: "human:ada", reason: null }, null, ADA),
    cancelGoal(treeOf(), [assignmentWith()], question ? [question] : [], "no budget", ADA),
    ...claimDecisions(),
    accept(
      [
        holdPlan("goal_A", 1, { detail: "no quota", until: 9 }, ADA),
        proposePlan("goal_A", 1, PROPOSED, ADA),
        failPlan("goal_A", 1, { problems: ["a circle"], rejected: [], logPath: "/log" }, ADA),
      ],
      null,
    ),
  ];
  return decisions.flatMap((decision) => [...allowed(decision)]);
}

/** One world for each thing a tick can find. */
function writtenByTicks(): readonly Written[] {
  const stuck = (steps: object) =>
    working(
      { pulse: silentFor(60 * MINUTE) },
      { recoveries: [recoveryWith({ steps: { ...recoveryWith().steps, ...steps }, total: 9 })] },
    );
  const nudged = { hint: 1, warning: 2, critical: 2 };
  const sign = { source: "terminal", says: "gone", at: NOW, reliability: "weak" } as const;
  const commit = { source: "commit", says: "progress", at: NOW, reliability: "strong" } as const;
  const queued = snapshotOf({ nodes: [nodeWith("queued")] });
  const busy = { ...queued, room: { ...queued.room, load: 9 } };
  const deferred = applied(busy, decide(busy));
  const quota = snapshotOf({ agents: [agentSeen({ pulse: pulseWith({ quotaAt: NOW }) })] });
  const tripped = { ...applied(quota, decide(quota)), now: NOW + 5 * MINUTE };
  const probing = { ...applied(tripped, decide(tripped), tripped.now), agents: [] };
  const providerFailure = { cause: "auth", detail: "Invalid API key", at: NOW } as const;
  const failing = snapshotOf({ agents: [agentSeen({ pulse: pulseWith({ providerFailure }) })] });
  const failed = { ...applied(failing, decide(failing)), now: NOW + 5 * MINUTE };
  const trying = { ...applied(failed, decide(failed), failed.now), agents: [] };
  const dead = [1, 2, 3].map((attempt) => endedWith({}, { attempt, workNodeId: `T${attempt}` }));
  const nodes = dead.map(({ workNodeId }) => nodeWith("queued", { workNodeId }));
  const massDeath = snapshotOf({ nodes, ended: dead });
  const restoring = { ...applied(massDeath, decide(massDeath)), now: NOW + MINUTE };
  const allowance = { tokens: 10, cost: null, timeMs: null };
  const limits = { ...LIMITS, budgets: { ...LIMITS.budgets, agent: allowance } };
  const spent = (outputTokens: number) => ({
    ...quota.usage,
    agents: { "1": { ...quota.usage.day, outputTokens } },
  });
  const exceeded = working({}, { limits, usage: spent(10) });
  const handedOver = { ...applied(exceeded, decide(exceeded)), now: NOW + 60 * MINUTE };
  const notStarted = snapshotOf({ nodes: [nodeWith("queued")], actions: [FAILED_START] });
  const toldOfStart = applied(notStarted, decide(notStarted));
  const full = { ...queued, room: { ...queued.room, diskBytes: 0 } };
  const asking = { ...LIMITS, planner: { ...LIMITS.planner, off: null, diagnoseStalls: true } };
  const [recovery] = stuck(nudged).recoveries;
  const diagnosis = {
    assignmentId: "A_1",
    askedAt: NOW,
    said: "It hangs.",
    left: [{ do: "resend" }],
    failed: null,
  } as const;
  const advised = { ...stuck(nudged), limits: asking, recoveries: recovery ? [{ ...recovery, diagnosis }] : [] };
  const worlds: Snapshot[] = [
    notStarted,
    { ...toldOfStart, actions: [] },
    stuck({}),
    stuck(nudged),
    stuck({ ...nudged, resend: 2 }),
    { ...stuck({ ...nudged, resend: 2 }), limits: { ...LIMITS, planner: { ...LIMITS.planner, off: null } } },
    { ...stuck({ ...nudged, resend: 2 }), limits: { ...LIMITS, strongerModels: { builder: "opus" } } },
    advised,
    stuck({ ...nudged, resend: 2, replan: 9, reassign: 2 }),
    stuck({ ...nudged, resend: 2, replan: 9, reassign: 2, pause: 2 }),
    working({ pulse: pulseWith({ inTurn: true }) }, { assignments: [assignmentWith({ expectedNextUpdateAt: NOW })] }),
    working({ evidence: [sign] }),
    working({ evidence: [commit] }, { recoveries: [recoveryWith({ level: 1 })] }),
    { ...queued, ended: [endedWith({})] },
    busy,
    { ...deferred, room: queued.room },
    { ...deferred, goals: [goalOf({ status: "paused" })] },
    full,
    { ...applied(full, decide(full)), room: queued.room },
    quota,
    tripped,
    probing,
    failing,
    failed,
    trying,
    massDeath,
    restoring,
    { ...restoring, nodes: [] },
    working({}, { limits, usage: spent(8) }),
    exceeded,
    handedOver,
    { ...handedOver, usage: spent(0) },
    snapshotOf({ skippedMs: 1 }),
  ];
  return worlds.flatMap((world) => [...decide(world).events]);
}

/** A start that has failed twice, because the machine is in the way. */
const FAILED_START = {
  ...{ actionId: "spawn:goal_A/T1:1", kind: "spawn", goalId: "goal_A", workNodeId: "T1", assignmentId: null },
  ...{ agent: null, attempt: null, because: "ready", status: "failed", dueAt: NOW + MINUTE, tries: 2, lease: null },
  ...{ problem: "No tmux.", cause: "TMUX_MISSING", result: null, decidedAt: NOW, updatedAt: NOW - 1, endedAt: null },
  payload: { dispatchId: "D_1", capability: "builder", name: null },
} as const satisfies Action;

function writtenByTheOutbox(): readonly Written[] {
  const decided = actionDecided(
    { actionId: "x", kind: "land", because: "x", notBefore: 0, payload: { commit: null } },
    ADA,
  );
  const pending = applyToAction(undefined, placed(decided));
  const [taken] = allowed(takeAction(pending, { by: "me", leaseMs: 1, gone: () => false }, ADA));
  const held = taken && applyToAction(pending, placed(taken));
  const failed = { ok: false, problem: "x" } as const;
  const [put] = allowed(closeAction(held, "me", { ...failed, retry: { afterMs: 1_000 } }, ADA));
  const later = put && applyToAction(held, placed(put));
  return [
    ...(taken ? [taken] : []),
    ...allowed(closeAction(held, "me", { ok: true }, ADA)),
    ...allowed(closeAction(held, "me", { ...failed, retry: "backoff" }, ADA)),
    ...allowed(closeAction(held, "me", { ...failed, retry: "never" }, ADA)),
    ...allowed(hastenAction(later, "x", ADA)),
  ];
}
