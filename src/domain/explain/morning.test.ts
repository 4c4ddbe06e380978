/** REPORT-1: what landed, failed, cost, is open and waits, as text, as Markdown and as data. */
import { expect, test } from "bun:test";
import type { Attempt } from "#domain/model/attempt.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import { T0 } from "../../../test/support/samples.ts";
import { placed } from "../../../test/support/tree.ts";
import { MORNING_TYPES, type MorningFacts, reportMorning } from "./morning.ts";
import { renderMorning, renderMorningMarkdown } from "./morning-text.ts";
import { standstill } from "./standstill.ts";

const event = (type: string, data: object, change: object = {}) =>
  placed({
    ...{ actor: "overseer", goalId: "goal_A", nodeId: "T1", agent: "ada", because: "x", type, data, ...change },
  } as unknown as NewEvent) as EventOf;

const used = (costUsd: number) => ({ ...NO_USAGE, inputTokens: 1_000, costUsd });
const FACTS: MorningFacts = {
  ...{ project: "dates", sinceAt: T0, at: T0 + 3_600_000, names: new Map([["goal_A/T1", "Parse [x](y)"]]) },
  events: [
    event("landing.landed", { to: "c0ffee0123456", target: "main", already: false }),
    event("work.done", { summary: "landed it" }),
    event(
      "work.taken_back",
      { target: "main", landed: "1".repeat(40), commit: "2".repeat(40), reason: "it breaks" },
      { nodeId: "T9" },
    ),
    event("work.done", { summary: "by hand" }, { nodeId: "T2" }),
    event("work.done", { summary: "a phase" }, { nodeId: "P1", because: "all-children-done" }),
    event("work.blocked", { blocked: { kind: "human", detail: "no key" } }, { nodeId: "T3" }),
    event("work.returned", { round: 2, reason: "tests failed" }, { nodeId: "T4" }),
    event("work.returned", { round: 0, words: "No" }, { nodeId: "T4", actor: "human:ada", because: "rejected" }),
    event("landing.refused", { detail: "a conflict" }, { nodeId: "T5" }),
    event("work.cancelled", { reason: null }, { nodeId: "T6" }),
    event("work.cancelled", { reason: "no_changes: was there" }, { nodeId: "T8", because: "no-changes" }),
    event("work.cancelled", { reason: "no_changes: was there" }, { nodeId: "T8a", because: "parent-cancelled" }),
    event("work.cancelled", { reason: null }, { nodeId: "T7", because: "goal-cancelled" }),
    event("goal.cancelled", { reason: "late" }, { goalId: "goal_B", nodeId: undefined, actor: "human:ada" }),
    event("work.blocked", { blocked: { kind: "human", detail: "which?" } }, { nodeId: "T8" }),
    event("work.unblocked", { reason: "question q_1 was answered" }, { nodeId: "T8", actor: "human:ada" }),
    event("work.blocked", { blocked: { kind: "other", detail: "stopped" } }, { nodeId: "T9", actor: "human:ada" }),
    event("agent.ended", { cause: "died", detail: "killed" }, { nodeId: "T10" }),
    event("landing.landed", { to: "beef0123456789", target: "main", already: false }, { nodeId: "T10" }),
    event("goal.completed", { reason: null }, { nodeId: undefined }),
    event("agent.ended", { cause: "died", detail: "killed" }),
    event("agent.ended", { cause: "finished", detail: "" }),
    event("auto.started", { concurrency: 2 }),
    event("pool.taken", { source: "command" }),
    event("pool.taken", { source: "command" }, { goalId: "goal_B" }),
    event("pool.ended", { outcome: "landed", costUsd: 1 }),
    event("pool.repeated", { pull: "P_1" }),
    event("pool.refused", { key: "a.bin#1", problem: "it is no text" }),
    event("auto.failed", { code: "POOL_FAILED", problem: "It ended with 1.", hint: "Fix it." }),
    event("assignment.nudged", {}),
    event("assignment.restarting", {}),
    event("assignment.restarting", {}),
    event("assignment.resent", {}),
    event("assignment.reassigning", {}),
    event("assignment.parked", {}),
    event("fleet.mass_death", {}),
    event("fleet.mass_death", {}, { because: "died-with-them" }),
    event("quota.tripped", {}),
    event("provider.failed", {}),
    event("daemon.started", { previous: null }),
    event("daemon.started", { previous: { pid: 1 } }),
    event("model.asked", { costUsd: 0.25, tokens: null }),
    event("question.asked", {}),
    event(
      "question.asked",
      {
        questionId: "q_9",
        text: "Nothing more lands on main: landing.afterLand failed on c0ffee, which goal_A/T1 has made of it (exit 1). The landing stands. Fix it.",
      },
      { goalId: undefined, nodeId: undefined, agent: undefined, because: "after-landing-failed" },
    ),
    event(
      "question.asked",
      {
        questionId: "q_8",
        text: "Nothing more lands on main: landing.afterLand failed on 123, which T0 has made of it (exit 1). The landing stands.",
      },
      { goalId: undefined, nodeId: undefined, agent: undefined, because: "after-landing-failed" },
    ),
    event("question.withdrawn", { questionId: "q_8", reason: "landing.afterLand passes on 456" }),
    event("question.answered", {}),
  ],
  goals: [
    {
      ...{ goalId: "goal_A", title: "Dates", status: "active", nodes: 7, queued: 0, inProgress: 1 },
      progress: { done: 2, total: 7 },
    },
    {
      ...{ goalId: "goal_B", title: "Old", status: "cancelled", nodes: 1, queued: 0, inProgress: 0 },
      progress: { done: 0, total: 1 },
    },
  ],
  sessions: [
    { attempt: { end: { usage: used(1) } } as unknown as Attempt, usage: undefined },
    { attempt: { end: null } as unknown as Attempt, usage: used(0.5) },
  ],
  standstills: [
    standstill("review", { text: "YOUR REVIEW: goal_A/T8", command: "overseer status" }),
    standstill("quota", { text: "QUOTA: until noon", command: "overseer status", turn: "itself" }),
  ],
};

test("REPORT-1: each event stands in one part, and what follows from another is not told again", () => {
  const report = reportMorning(FACTS);
  const told = (lines: readonly { what: string; text: string }[]) => lines.map(({ what, text }) => `${what}: ${text}`);
  expect(told(report.takenBack)).toEqual(["goal_A/T9: 1111111111 is out of main again by 2222222222: it breaks"]);
  expect(told(report.landed)).toEqual([
    ...["goal_A/T1: c0ffee0123 on main by ada", "goal_A/T10: beef012345 on main by ada"],
  ]);
  expect(told(report.done)).toEqual(["goal_A/T2: by hand", "goal_A/T8: without changes: was there"]);
  expect(told(report.reached)).toEqual(["goal_A: reached"]);
  expect(told(report.failed)).toEqual([
    "goal_A/T3: blocked: no key",
    "goal_A/T5: not landed: a conflict",
    "goal_A/T6: cancelled",
    "goal_A/T1: ada died: killed",
    "landing.afterLand: failed on c0ffee, which goal_A/T1 has made of it (exit 1).",
  ]);
  expect(told(report.cancelled)).toEqual(["goal_B: cancelled: late"]);
  expect(report.remediated).toEqual({
    "reports sent back to their author": 1,
    ...{ nudges: 1, restarts: 2, "instructions given again": 1, "fresh agents": 1, pauses: 1, "mass deaths": 1 },
    ...{ "waits for quota": 1, "waits for a provider": 1, "daemons replaced": 1 },
  });
  expect(report).toMatchObject({
    cost: { costUsd: 1.75, tokens: 2_000, sessions: 2, modelsUsd: 0.25 },
    questions: { asked: 3, answered: 1 },
    open: [{ goalId: "goal_A", done: 2, total: 7 }],
    waitsForYou: ["YOUR REVIEW: goal_A/T8"],
    standsStill: ["QUOTA: until noon"],
  });
  const types = new Set(FACTS.events.map(({ type }) => type));
  expect(MORNING_TYPES.filter((type) => !types.has(type))).toEqual([]);
});

test("REPORT-1: what auto mode took, what became of it, and why it ended by itself", () => {
  const { auto } = reportMorning(FACTS);
  expect(auto).toMatchObject({ taken: 2, landed: 1, unchanged: 0, cancelled: 0, repeated: 1, refused: 1 });
  expect(auto?.failures).toMatchObject([{ what: "POOL_FAILED", text: "It ended with 1." }]);
  const text = renderMorning(reportMorning(FACTS));
  expect(text).toContain("Auto mode\n  2 tasks taken from the pool, 1 landed, 1 given twice by the pool, 1 refused\n");
  expect(text).toContain("  ended by itself (POOL_FAILED): It ended with 1.");
  expect(reportMorning({ ...FACTS, events: [] }).auto).toBeNull();
});

test("REPORT-1: a goal of which something was cancelled or taken back is reached in part, and says which", () => {
  const [first] = FACTS.goals;
  if (!first) throw new Error("there is none");
  const goals = [{ ...first, status: "completed" as const, progress: { done: 1, total: 1, cancelled: 1 } }];
  const report = reportMorning({ ...FACTS, goals });
  expect(report.reached).toEqual([]);
  expect(renderMorning(report)).toContain('Goals reached in part\n  goal_A "Dates": 1 of 2 done; 1 cancelled\n');
});

test("REPORT-1: as text what waits comes first; as Markdown nothing of an agent's is markup", () => {
  const report = reportMorning(FACTS);
  const text = renderMorning(report);
  expect(text.split("\n").slice(0, 4)).toEqual([
    ...["dates: 2026-01-05 09:00 to 2026-01-05 10:00 UTC", "", "Waits for you", "  YOUR REVIEW: goal_A/T8"],
  ]);
  expect(text).toContain('\nLanded\n  goal_A/T1 "Parse [x](y)": c0ffee0123 on main by ada\n');
  const markdown = renderMorningMarkdown(report);
  expect(markdown).toContain('## Landed\n\n- goal\\_A/T1 "Parse \\[x\\](y)": c0ffee0123 on main by ada\n');
  expect(markdown).toContain("## Cost\n\n- $1.75, 2,000 tokens, 2 sessions");
});

test("REPORT-1: a night in which nothing happened says so; a long part is cut and counted", () => {
  const quiet = reportMorning({ ...FACTS, events: [], goals: [], sessions: [], standstills: [] });
  expect(renderMorning(quiet)).toContain("Waits for you\n  nothing\n");
  const many = Array.from({ length: 50 }, (_, at) => event("work.cancelled", { reason: null }, { nodeId: `N${at}` }));
  expect(renderMorning(reportMorning({ ...FACTS, events: many }))).toContain("  … and 10 more\n");
});
