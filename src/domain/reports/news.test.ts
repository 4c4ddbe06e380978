/** NOTIFY-1: what is news, and that each who hears of it gets at most one message per subject and quiet time. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { NewsCondition, Topic } from "#domain/model/news.ts";
import { applyToNews, TOPICS } from "#domain/model/news.ts";
import { T0 } from "../../../test/support/samples.ts";
import { placed } from "../../../test/support/tree.ts";
import { isQuiet, NEWS_TYPES, type News, newsOf, parseQuietHours, planNews, renderNews } from "./news.ts";

const MINUTE = 60_000;
const about = { actor: "overseer", goalId: "goal_A", nodeId: "T1", agent: "ada", because: "x" } as const;
const spending = { scope: "day:x", what: "cost", spent: 8, limit: 10 };

const PROVIDER = { account: "a", cause: "auth", detail: "401", until: T0, questionId: "q_1" };

const CASES: [type: string, data: object, topic: Topic | undefined, text: RegExp][] = [
  ["goal.completed", { reason: null }, "goal", /goal_A is reached/],
  ["goal.cancelled", { reason: "too dear" }, "goal", /cancelled: too dear/],
  ["landing.waiting", { for: "review" }, "review", /overseer accept goal_A\/T1/],
  [
    "landing.waiting",
    { for: "checkout", detail: "your checkout has changes.", files: ["a.txt"] },
    "landing",
    /T1 is done and cannot land: your checkout has changes \(a.txt\)\. Commit, stash/,
  ],
  ["landing.waiting", { for: "remote", detail: "x", files: [] }, undefined, /-/],
  ["work.done", { summary: "x" }, "landing", /T1 is done/],
  ["work.cancelled", { reason: null }, "landing", /no longer waits/],
  [
    "work.cancelled",
    { reason: "no_changes: It was there already." },
    "landing",
    /T1 ended without a change: "It was there already\."\. .*overseer goal plan goal_A --file plan\.yaml/,
  ],
  ["work.returned", { commit: "c", round: 1, reason: "x" }, "landing", /no longer waits/],
  ["landing.refused", { commit: "c", detail: "x", files: [] }, "landing", /no longer waits/],
  ["landing.undone", { target: "main", to: "c", commit: "d", files: ["a"] }, "review", /has a as before.*git revert d/],
  ["dispatch.deferred", { cap: "agents", reason: "5 agents is the limit" }, undefined, /-/],
  ["budget.warned", spending, "budget", /is nearly spent \(\$8.00 of \$10.00\); the limit is budgets.day.cost/],
  ["budget.exceeded", { ...spending, turns: {} }, "budget", /is spent/],
  ["quota.tripped", { account: "a", until: T0, trips: 1 }, "quota", /used up until 2/],
  ["quota.restored", { account: "a", attempts: [] }, "quota", /is back/],
  [
    "provider.failed",
    { ...PROVIDER, failures: 1 },
    "provider",
    /^The provider of a fails: its login .*A person is needed/,
  ],
  ["provider.failed", { ...PROVIDER, failures: 2 }, undefined, /-/],
  ["provider.restored", { account: "a", cause: "auth", attempts: [] }, "provider", /works again/],
  ["fleet.mass_death", { attempts: [1, 2, 3], nodes: [] }, "mass-death", /3 agents died/],
  ["fleet.restored", { stages: 2 }, "mass-death", /at work again/],
  ["daemon.started", { previous: null }, undefined, /-/],
  ["daemon.started", { previous: { pid: 7 } }, "daemon", /pid 7/],
  [
    "auto.failed",
    { code: "POOL_FAILED", problem: "It ended with 1.", hint: "Fix it." },
    "daemon",
    /ended with 1\. Fix it/,
  ],
  ["pool.repeated", { pull: "P_1" }, "daemon", /once more while it is open/],
  ["message.dead_lettered", { messageId: "m_1", reason: "nobody took it" }, "dead-letter", /for ada .*nobody took it/],
  ["action.dropped", { actionId: "x", kind: "push", reason: "no network" }, undefined, /-/],
  ["plan.proposed", { number: 1 }, "review", /plan of goal_A waits for you: overseer goal plan goal_A --show/],
  ["plan.failed", { number: 1, problems: ["It is too long."] }, "review", /No plan came for goal_A: It is too long\./],
  ["plan.wanted", { number: 2 }, "review", /no longer waits/],
  ["plan.dropped", { number: 1, reason: null }, "review", /no longer waits/],
  ["plan.accepted", { revision: 1 }, "review", /no longer waits/],
  ["answer.refused", { question: "q_1", via: "webhook", reason: "forged" }, "answer", /to q_1 came by webhook/],
];
test.each(CASES)("NOTIFY-1: %s %j is news of %s", (type, data, topic, text) => {
  const found = newsOf(placed({ ...about, type, data } as unknown as NewEvent) as EventOf);
  expect(found?.topic).toBe(topic as Topic);
  if (found) expect(found.text).toMatch(text);
});

test("NOTIFY-1: what was given up after many tries is a dead letter; the table has every type", () => {
  const data = { actionId: "x", kind: "push", reason: "no network" };
  const dropped = { ...about, type: "action.dropped", because: "tried-too-often", data };
  expect(newsOf(placed(dropped as unknown as NewEvent) as EventOf)).toMatchObject({ topic: "dead-letter" });
  expect(NEWS_TYPES.filter((type) => !CASES.some(([one]) => one === type))).toEqual([]);
});

test.each([
  ["22:00-07:00", 23 * 60, true],
  ["22:00-07:00", 6 * 60 + 59, true],
  ["22:00-07:00", 7 * 60, false],
  ["13:00-14:00", 13 * 60, true],
  ["13:00-14:00", 12 * 60, false],
  ["13:00-13:00", 13 * 60, false],
])("NOTIFY-1: with quiet hours %s minute %i is quiet: %p", (hours, minute, quiet) => {
  expect(isQuiet(parseQuietHours(hours), minute)).toBe(quiet);
});

const item = (subject: string, text: string, change: Partial<News> = {}): News => ({
  ...{ topic: "goal", subject, text, urgent: false, at: T0, ...change },
});
const POLICY = { hears: new Set(TOPICS), bundleMs: 10 * MINUTE, quiet: false };
const state = (change: Partial<NewsCondition> = {}) => ({ kept: [], told: {}, failures: 0, updatedAt: T0, ...change });

describe("NOTIFY-1: planning", () => {
  test("everything that is due goes in one message; the same twice is told once", () => {
    const { send, keep } = planNews(
      state(),
      [item("a", "1"), item("b", "2"), item("a", "1"), item("a", "3")],
      POLICY,
      T0,
    );
    expect(send).toMatchObject([
      { subject: "b", texts: ["2"] },
      { subject: "a", texts: ["1", "3"], count: 2 },
    ]);
    expect(keep).toEqual([]);
    expect(renderNews(send)).toEqual({ title: "3 news: 2", body: "2\n1\n3" });
  });

  test("a subject that was told a moment ago waits, and another does not", () => {
    const known = state({ told: { a: T0 } });
    expect(planNews(known, [item("a", "1"), item("b", "2")], POLICY, T0 + MINUTE)).toMatchObject({
      send: [{ subject: "b" }],
      keep: [{ subject: "a" }],
    });
    expect(planNews(known, [item("a", "1")], POLICY, T0 + 10 * MINUTE).send).toHaveLength(1);
  });

  test("in quiet hours only alarms pass, and what nobody wants to hear of is dropped", () => {
    const fresh = [
      item("a", "1"),
      item("m", "2", { topic: "mass-death", urgent: true }),
      item("q", "3", { topic: "quota" }),
    ];
    const policy = { ...POLICY, quiet: true, hears: new Set<Topic>(["goal", "mass-death"]) };
    expect(planNews(state(), fresh, policy, T0)).toMatchObject({ send: [{ subject: "m" }], keep: [{ subject: "a" }] });
  });

  test("a landing that is held up is told once it has lasted, once; that it landed only to whom it was told", () => {
    const held = item("landing a/T1", "cannot land", { topic: "landing", patient: true });
    const landed = item("landing a/T1", "is done", { topic: "landing", ends: true });
    const first = planNews(state(), [held], POLICY, T0);
    expect(first).toMatchObject({ send: [], keep: [{ texts: ["cannot land"] }] });
    expect(planNews(state({ kept: first.keep }), [landed], POLICY, T0 + MINUTE)).toEqual({ send: [], keep: [] });
    const later = planNews(state({ kept: first.keep }), [{ ...held, at: T0 + 9 * MINUTE }], POLICY, T0 + 10 * MINUTE);
    expect(later.send).toMatchObject([{ texts: ["cannot land"], count: 1 }]);
    const told = state({ told: { "landing a/T1": T0 + 10 * MINUTE } });
    expect(planNews(told, [held], POLICY, T0 + 60 * MINUTE)).toEqual({ send: [], keep: [] });
    expect(planNews(told, [landed], POLICY, T0 + 60 * MINUTE).send).toMatchObject([{ texts: ["is done"] }]);
    expect(planNews(state(), [landed], POLICY, T0)).toEqual({ send: [], keep: [] });
  });

  test("after a failure it waits longer each time, and loses nothing", () => {
    const kept = planNews(state(), [item("a", "1")], POLICY, T0).send;
    const known = state({ kept, failures: 3 });
    expect(planNews(known, [item("b", "2")], POLICY, T0 + 3 * MINUTE).send).toEqual([]);
    expect(planNews(known, [item("b", "2")], POLICY, T0 + 4 * MINUTE).send).toHaveLength(2);
  });

  test("for any course of news, every one is told, and no subject twice within the quiet time", () => {
    const course = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(20 * MINUTE), fc.boolean()), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(course, (steps) => {
        let known: NewsCondition | undefined;
        let now = T0;
        const told = new Map<string, number[]>();
        const heard = new Set<string>();
        const look = (fresh: News[], ok: boolean) => {
          const { send, keep } = planNews(known, fresh, POLICY, now);
          if (ok) {
            for (const { subject, texts } of send) {
              told.set(subject, [...(told.get(subject) ?? []), now]);
              for (const text of texts) heard.add(text);
            }
          }
          const data = { channel: "x", cursor: 0, ok: send.length === 0 || ok, detail: "" };
          const subjects = send.map(({ subject }) => subject);
          const event = {
            type: "news.told",
            at: now,
            data: { ...data, subjects, kept: ok || send.length === 0 ? keep : [...send, ...keep] },
          };
          known = applyToNews(known, event as unknown as EventOf<"news.told">);
        };
        steps.forEach(([subject, wait, ok], index) => {
          now += wait;
          // No more of one subject than one message has room for.
          look(index < 8 ? [item(subject, `${subject} ${index}`)] : [], ok);
        });
        for (let turn = 0; turn < 10; turn += 1) {
          now += 60 * MINUTE;
          look([], true);
        }
        expect(heard.size).toBe(Math.min(8, steps.length));
        for (const times of told.values()) {
          for (const [index, at] of times.entries()) {
            const before = times[index - 1];
            if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(POLICY.bundleMs);
          }
        }
      }),
    );
  });
});
