import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { NewEvent } from "#domain/model/event.ts";
import type { Origin } from "#domain/model/goal.ts";
import { applyToQuestion, askQuestion, type Notice, type Question } from "#domain/model/question.ts";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { allowed, placed, refused } from "../../../test/support/tree.ts";
import {
  acknowledgeQuestion,
  type ChannelChoice,
  channelsFor,
  dueNotices,
  escalateQuestion,
  listFailingChannels,
  NOTICE_POLICY,
  noticeEvent,
  reachOf,
  retryWaitMs,
} from "./question-notice.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const fresh = fold(
  undefined,
  allowed(
    askQuestion(undefined, { questionId: "q_1", goalId: "goal_A", nodeId: "T1", text: "Which?", options: [] }, ADA),
  ),
);

function fold(question: Question | undefined, events: readonly NewEvent[], at = T0): Question {
  const now = events.reduce((known, event) => applyToQuestion(known, placed(event, at)), question);
  if (!now) throw new Error("no question");
  return now;
}

const ALL = ["terminal", "command", "webhook"];
const fromSession: Origin = { kind: "session", session: "lead-1", deliveryContext: { session: "lead-1" } };

const choices: [why: string, origin: Origin, configured: string[], lives: boolean, chosen: string[]][] = [
  [
    "a goal from the command line: the terminal is where it came from",
    { kind: "cli" },
    ["terminal"],
    false,
    ["terminal origin"],
  ],
  [
    "other channels only where configured",
    { kind: "cli" },
    ALL,
    false,
    ["terminal origin", "command configured", "webhook configured"],
  ],
  ["a living session comes first", fromSession, ["terminal"], true, ["session origin", "terminal configured"]],
  ["a session alone is enough", fromSession, [], true, ["session origin"]],
  [
    "a session that is gone leaves what is configured, and says so",
    fromSession,
    ["terminal"],
    false,
    ["terminal origin-is-gone"],
  ],
  ["nothing is configured and nobody is there", fromSession, [], false, []],
];
test.each(choices)("ESC-2: %s", (_why, origin, configured, lives, chosen) => {
  const found = channelsFor(origin, configured, () => lives);
  expect(found.map(({ channel, because }) => `${channel} ${because}`)).toEqual(chosen);
});

const BOTH: readonly ChannelChoice[] = [
  { channel: "command", because: "configured" },
  { channel: "webhook", because: "configured" },
];
const notice = (channel: Notice["channel"], ok: boolean, at: number, round = 0): Notice => ({
  channel,
  ok,
  at,
  round,
  detail: ok ? "" : "refused",
});

const due: [why: string, question: Partial<Question>, now: number, send: string[], escalate: boolean][] = [
  ["a new question goes out on every channel at once", {}, T0, ["q_1/0/command", "q_1/0/webhook"], false],
  [
    "what got through is not sent again",
    { notices: [notice("command", true, T0), notice("webhook", true, T0)] },
    T0 + HOUR,
    [],
    false,
  ],
  [
    "a failure is not tried again at once",
    { notices: [notice("command", true, T0), notice("webhook", false, T0)] },
    T0 + MINUTE - 1,
    [],
    false,
  ],
  [
    "but after its wait, under the same key",
    { notices: [notice("command", true, T0), notice("webhook", false, T0)] },
    T0 + MINUTE,
    ["q_1/0/webhook"],
    false,
  ],
  [
    "the wait doubles",
    { notices: [notice("command", true, T0), notice("webhook", false, T0), notice("webhook", false, T0 + MINUTE)] },
    T0 + 3 * MINUTE - 1,
    [],
    false,
  ],
  [
    "after five tries it is tried seldom",
    { notices: [notice("command", true, T0), ...[0, 1, 2, 3, 4].map((n) => notice("webhook", false, T0 + n))] },
    T0 + HOUR,
    [],
    false,
  ],
  [
    "nobody reacts for long: raised again",
    { notices: [notice("command", true, T0), notice("webhook", true, T0)] },
    T0 + 4 * HOUR,
    [],
    true,
  ],
  [
    "a new round goes out again, under new keys",
    { round: 1, roundAt: T0 + 4 * HOUR, notices: [notice("command", true, T0)] },
    T0 + 4 * HOUR,
    ["q_1/1/command", "q_1/1/webhook"],
    false,
  ],
  [
    "twice is the limit",
    { round: 2, notices: [notice("command", true, T0, 2), notice("webhook", true, T0, 2)] },
    T0 + 99 * HOUR,
    [],
    false,
  ],
  [
    "who has seen it is left in peace",
    { acknowledgedAt: T0, notices: [notice("command", true, T0), notice("webhook", true, T0)] },
    T0 + 99 * HOUR,
    [],
    false,
  ],
  ["an answered one has ended", { status: "answered" }, T0 + 99 * HOUR, [], false],
];
test.each(due)("ESC-1: %s", (_why, parts, now, send, escalate) => {
  const found = dueNotices({ ...fresh, ...parts }, BOTH, now);
  expect(found.send.map(({ key }) => key)).toEqual(send);
  expect(found.escalate).toBe(escalate);
});

test("ESC-1: backoff never shrinks and stays capped", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), (failures) => {
      expect(retryWaitMs(failures + 1)).toBeGreaterThanOrEqual(retryWaitMs(failures));
      expect(retryWaitMs(failures)).toBeLessThanOrEqual(NOTICE_POLICY.retryMaxMs);
    }),
    { numRuns: scaled(200) },
  );
});

test("ESC-1: whatever the channels do, a question is sent at most so often, and doing what is due leaves nothing due", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }), (luck) => {
      let question = fresh;
      let now = T0;
      let sent = 0;
      for (let step = 0; step < 400; step += 1) {
        const found = dueNotices(question, BOTH, now);
        if (found.escalate) question = fold(question, allowed(escalateQuestion(question, "q_1", ADA)), now);
        for (const one of found.send) {
          const ok = luck[sent % luck.length] ?? true;
          sent += 1;
          question = fold(question, [noticeEvent(question, one, { ok, detail: "" }, ADA)], now);
        }
        const after = dueNotices(question, BOTH, now);
        if (!found.escalate) expect(after.send).toEqual([]);
        if (found.escalate) continue;
        if (after.nextAt === null) break;
        now = after.nextAt;
      }
      const seldom = 2 * Math.ceil((now - T0) / NOTICE_POLICY.seldomMs);
      expect(sent).toBeLessThanOrEqual(3 * 2 * NOTICE_POLICY.mostTries + seldom);
      expect(question.round).toBe(NOTICE_POLICY.mostRounds);
    }),
    { numRuns: scaled(50) },
  );
});

test("ESC-1: a channel that fails is named, whoever else was reached, and tried again for ever, though seldom", () => {
  const notice = (channel: Notice["channel"], at: number, ok: boolean): Notice => ({
    ...{ channel, at, ok, round: 0, detail: ok ? "" : "refused" },
  });
  const failures = Array.from({ length: 9 }, (_, at) => notice("webhook", T0 + at, false));
  const question = { ...fresh, acknowledgedAt: T0, notices: [notice("command", T0, true), ...failures] };
  expect(listFailingChannels([question])).toEqual([{ channel: "webhook", sinceAt: T0, problem: "refused" }]);
  const last = T0 + 8;
  expect(dueNotices(question, BOTH, last).nextAt).toBe(last + NOTICE_POLICY.seldomMs);
  expect(dueNotices(question, BOTH, last + NOTICE_POLICY.seldomMs).send).toMatchObject([{ channel: "webhook" }]);
  const mended = { ...question, notices: [...question.notices, notice("webhook", last + 1, true)] };
  expect(listFailingChannels([mended])).toEqual([]);
  expect(listFailingChannels([{ ...question, status: "answered" }])).toEqual([]);
});

describe("ESC-1: nothing waits invisibly", () => {
  test("no channel at all", () => {
    expect(reachOf(fresh, [])).toEqual({ state: "unreached", why: "no channel is configured" });
  });
  test("every channel failed", () => {
    const failed = { ...fresh, notices: [notice("command", false, T0), notice("webhook", false, T0)] };
    expect(reachOf(failed, BOTH)).toEqual({ state: "unreached", why: "command: refused; webhook: refused" });
  });
  test("one got through", () => {
    const reached = { ...fresh, notices: [notice("command", false, T0), notice("webhook", true, T0)] };
    expect(reachOf(reached, BOTH)).toEqual({ state: "reached", by: ["webhook"] });
  });
});

test("ESC-1: acknowledging is recorded once, and an ended question has nothing to acknowledge", () => {
  const seen = fold(fresh, allowed(acknowledgeQuestion(fresh, "q_1", "cli", ADA)));
  expect(seen).toMatchObject({ acknowledgedBy: "human:ada", acknowledgedAt: T0 });
  expect(allowed(acknowledgeQuestion(seen, "q_1", "cli", ADA))).toEqual([]);
  expect(refused(acknowledgeQuestion({ ...fresh, status: "answered" }, "q_1", "cli", ADA)).code).toBe("QUESTION_ENDED");
  expect(allowed(escalateQuestion(seen, "q_1", ADA))).toEqual([]);
});
