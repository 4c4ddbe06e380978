/** What a runner does next: one row, one situation. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Attempt } from "#domain/model/attempt.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Message } from "#domain/model/message.ts";
import { scaled } from "../../../test/support/scale.ts";
import { attemptsWithNews, type Driving, type LegState, nextForRunner, quietFor, WAKE_AGAIN_MS } from "./driving.ts";

const NOW = 1_000_000;
const LIMITS = { turnDeadlineMs: 60_000, idleEndMs: 30_000 };
const running = { status: "running", stopRequested: null, pausedNow: false, announced: 0 } as unknown as Attempt;
const idle: LegState = {
  alive: true,
  inTurn: false,
  turnSince: 0,
  interruptedAt: null,
  idleSince: NOW - 1,
  midTurn: true,
  byHooks: false,
  wokenAt: null,
};
const busy: LegState = { ...idle, inTurn: true, turnSince: NOW - 1 };
const onScreen: LegState = { ...idle, byHooks: true };
const none: LegState = { ...idle, alive: false };
const message = (status: Message["status"]) => ({ messageId: "m_1", status, place: 5, expiresAt: null }) as Message;
const queued = [message("queued")];
const learned = { ...message("queued"), kind: "sync" } as Message;
const stale = [{ ...message("queued"), expiresAt: NOW - 1 }];
const stop = { stopRequested: { by: "human:ada", reason: "enough", at: 1 } };

type Row = [why: string, attempt: Partial<Attempt> | undefined, waiting: Message[], leg: LegState, does: Driving];
const rows: Row[] = [
  ["an attempt that is unknown is left", undefined, queued, idle, { do: "leave", because: "fenced" }],
  ["an attempt that has ended is left", { status: "ended" }, queued, busy, { do: "leave", because: "fenced" }],
  ["a stop comes before every message", stop, queued, idle, { do: "stop", reason: "enough" }],
  ["a stop reaches a paused one", { ...stop, status: "paused" }, [], busy, { do: "stop", reason: "enough" }],
  ["the first message starts the agent", {}, queued, none, { do: "start-leg" }],
  ["a message to an idle agent is handed", {}, queued, idle, { do: "hand" }],
  ["a message is handed in the middle of a turn", {}, queued, busy, { do: "hand" }],
  ["INJ-4: not what it was told of in this turn already", { announced: 5 }, queued, busy, { do: "wait" }],
  ["INJ-4: that waits for the next turn", { announced: 5 }, queued, idle, { do: "hand" }],
  ["SYNC-2: what others learned begins no turn", {}, [learned], idle, { do: "wait" }],
  ["SYNC-2: nor on a screen", {}, [learned], onScreen, { do: "wait" }],
  ["SYNC-2: nor a process", {}, [learned], none, { do: "wait" }],
  ["SYNC-2: it goes with what does", {}, [learned, ...queued], idle, { do: "hand" }],
  ["SYNC-2: and into a turn under way", {}, [learned], busy, { do: "hand" }],
  [
    "SYNC-2: an idle process is ended although it waits",
    {},
    [learned],
    { ...idle, idleSince: 0 },
    { do: "end-leg", because: "long-idle" },
  ],
  ["SYNC-2, EDGE-4: unseen in time, it expires", {}, [{ ...learned, expiresAt: NOW - 1 }], idle, { do: "expire" }],
  ["RCPT-1: what is too old expires", {}, stale, idle, { do: "expire" }],
  ["RCPT-1: also while it is paused", { status: "paused" }, stale, busy, { do: "expire" }],
  ["on a screen, an idle agent is woken: its hooks hand it what waits", {}, queued, onScreen, { do: "wake" }],
  ["one that was just woken is given a moment", {}, queued, { ...onScreen, wokenAt: NOW - 1 }, { do: "wait" }],
  ["one that did not stir is woken again", {}, queued, { ...onScreen, wokenAt: NOW - WAKE_AGAIN_MS }, { do: "wake" }],
  ["one in its turn gets it by its hooks", {}, queued, { ...busy, byHooks: true }, { do: "wait" }],
  ["a screen nobody is on is opened with it", {}, queued, { ...none, byHooks: true }, { do: "start-leg" }],
  ["a screen is never closed for being idle", {}, [], { ...onScreen, idleSince: 0 }, { do: "wait" }],
  ["unless the runtime cannot take it there", {}, queued, { ...busy, midTurn: false }, { do: "wait" }],
  ["what was handed is not handed again", {}, [message("handed")], idle, { do: "wait" }],
  ["nothing to say, nothing to do", {}, [], idle, { do: "wait" }],
  ["nothing is started for nothing", {}, [], none, { do: "wait" }],
  ["paused: a turn may finish", { status: "paused" }, queued, busy, { do: "wait" }],
  ["paused: no new turn", { status: "paused" }, queued, idle, { do: "wait" }],
  ["paused: nothing is started", { status: "paused" }, queued, none, { do: "wait" }],
  [
    "paused now: the turn is interrupted",
    { status: "paused", pausedNow: true },
    [],
    busy,
    { do: "interrupt", because: "paused-now" },
  ],
  ["paused now: once", { status: "paused", pausedNow: true }, [], { ...busy, interruptedAt: 5 }, { do: "wait" }],
  ["paused now: an idle one has nothing to interrupt", { status: "paused", pausedNow: true }, [], idle, { do: "wait" }],
  [
    "a turn at its deadline is interrupted",
    {},
    queued,
    { ...busy, turnSince: NOW - 60_000 },
    { do: "interrupt", because: "turn-deadline" },
  ],
  ["just before it is not", {}, [], { ...busy, turnSince: NOW - 59_999 }, { do: "wait" }],
  ["and only once", {}, [], { ...busy, turnSince: 0, interruptedAt: 5 }, { do: "wait" }],
  [
    "long idle: its process is ended",
    {},
    [],
    { ...idle, idleSince: NOW - 30_000 },
    { do: "end-leg", because: "long-idle" },
  ],
  ["long idle, but there is news", {}, queued, { ...idle, idleSince: 0 }, { do: "hand" }],
  ["a long turn is not idleness", {}, [], { ...busy, idleSince: 0 }, { do: "wait" }],
];
test.each(rows)("RUN-1: %s", (_why, attempt, waiting, leg, does) => {
  expect(nextForRunner(attempt && { ...running, ...attempt }, waiting, leg, LIMITS, NOW)).toEqual(does);
});

const quiet: [why: string, leg: LegState, ms: number][] = [
  ["no process, nothing is due", none, Number.POSITIVE_INFINITY],
  ["idle: until its end", { ...idle, idleSince: NOW - 10_000 }, 20_000],
  ["in a turn: until its deadline", { ...busy, turnSince: NOW - 10_000 }, 50_000],
  ["overdue and not done: somebody else is waited for", { ...busy, turnSince: 0 }, Number.POSITIVE_INFINITY],
];
test.each(quiet)("quiet: %s", (_why, leg, ms) => {
  expect(quietFor(leg, LIMITS, NOW)).toBe(ms);
});

describe("any situation", () => {
  const situation = fc.record({
    status: fc.constantFrom("preparing", "starting", "running", "paused", "ended"),
    stopRequested: fc.option(fc.record({ by: fc.constant("x"), reason: fc.constant(null), at: fc.nat() })),
    pausedNow: fc.boolean(),
    leg: fc.record({
      alive: fc.boolean(),
      inTurn: fc.boolean(),
      turnSince: fc.nat(NOW),
      interruptedAt: fc.option(fc.nat(NOW)),
      idleSince: fc.nat(NOW),
      midTurn: fc.boolean(),
      byHooks: fc.boolean(),
      wokenAt: fc.option(fc.nat()),
    }),
    waiting: fc.array(fc.constantFrom<Message["status"]>("queued", "handed", "seen", "expired")),
  });

  test("CTL-1: nothing is handed or started when paused, stopped or over; nobody is interrupted who is in no turn", () => {
    fc.assert(
      fc.property(situation, ({ leg, waiting, ...parts }) => {
        const attempt = { ...running, ...parts } as Attempt;
        const next = nextForRunner(attempt, waiting.map(message), leg, LIMITS, NOW);
        const open = attempt.status !== "ended" && attempt.status !== "paused" && !attempt.stopRequested;
        if (next.do === "hand" || next.do === "start-leg" || next.do === "end-leg") expect(open).toBe(true);
        if (next.do === "interrupt") expect(leg.alive && leg.inTurn && leg.interruptedAt === null).toBe(true);
        if (next.do === "hand") expect(waiting).toContain("queued");
        if (attempt.status !== "ended" && attempt.stopRequested) expect(next.do).toBe("stop");
      }),
      { numRuns: scaled(500) },
    );
  });
});

describe("who is told to look", () => {
  const about = (type: NewEvent["type"], attempt?: number) => ({ type, attempt }) as Pick<NewEvent, "type" | "attempt">;
  test.each([
    ["DONE-1: whose claim came back", [about("work.returned", 3), about("message.queued", 3)], [3]],
    ["whose work is done, and who has to stop", [about("work.done", 3), about("agent.stop_requested", 3)], [3]],
    ["everybody who was written to, once", [about("message.queued", 3), about("message.queued", 4)], [3, 4]],
    ["nobody twice", [about("message.queued", 3), about("agent.resumed", 3)], [3]],
    ["nobody by mail to a person, which no attempt has", [about("message.queued", 0)], []],
    ["nobody by what only tells of it", [about("check.finished", 3), about("work.checked", 3)], []],
    ["nobody by nothing", [], []],
  ])("%s", (_why, events, looks) => {
    expect(attemptsWithNews(events)).toEqual(looks);
  });
});
