/** The life of an attempt: every move allowed exactly when its table says so, and nothing after its end. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import { scaled } from "../../../test/support/scale.ts";
import {
  AGENT_NAME,
  ATTEMPT_MOVES,
  ATTEMPT_STATUSES,
  type Attempt,
  type AttemptEnd,
  type AttemptStatus,
  applyToAttempt,
  attemptLabel,
  beginStart,
  confirmStart,
  LAUNCH_CHANGED,
  NO_USAGE,
  pauseAttempt,
  recordLeg,
  recordStep,
  requestStop,
  resumeAttempt,
} from "./attempt.ts";
import type { Decision } from "./decision.ts";
import type { EventOf, NewEvent } from "./event.ts";
import type { Message } from "./message.ts";

const MOMENT = { now: 600_000, actor: "human:ada" } as const;
const RUNNER = { pid: 10, start: "1" };
const END: AttemptEnd = {
  cause: "died",
  detail: "Gone.",
  exitCode: null,
  signal: "SIGKILL",
  usage: NO_USAGE,
  wip: null,
};
const TOLD = { messageId: "m_1", kind: "instruction", status: "queued", agent: "a", attempt: 7 } as unknown as Message;
const AROUND = {
  node: { status: "in_progress" },
  assignment: { status: "active" },
  waiting: [TOLD],
  parent: undefined,
};
const NOTHING = { node: undefined, assignment: undefined, waiting: [], parent: undefined };

function attemptIn(status: AttemptStatus, parts: Partial<Attempt> = {}): Attempt {
  const base = { attempt: 7, agent: "a", goalId: "goal_x", workNodeId: "T1", assignmentId: "A_1", steps: {}, legs: 0 };
  return {
    ...base,
    status,
    stopRequested: null,
    startedAt: null,
    parent: null,
    waiting: null,
    announced: 0,
    pausedNow: false,
    end: null,
    updatedAt: 0,
    ...parts,
  } as unknown as Attempt;
}

function fold(attempt: Attempt | undefined, events: readonly NewEvent[]): Attempt | undefined {
  return events.reduce<Attempt | undefined>(
    (known, event) => applyToAttempt(known, { ...event, seq: 1, v: 1, at: MOMENT.now } as EventOf),
    attempt,
  );
}

const eventsOf = (decision: Decision<unknown>) => (decision.ok ? decision.events : []);

type Verb = [
  verb: string,
  decide: (attempt: Attempt | undefined) => Decision<unknown>,
  from: AttemptStatus[],
  to?: AttemptStatus,
];
const order = { reason: null, messageId: "m_1" };
const verbs: Verb[] = [
  ["beginStart", (it) => beginStart(it, 7, MOMENT), ["preparing"], "starting"],
  ["confirmStart", (it) => confirmStart(it, 7, { runner: RUNNER }, MOMENT), ["starting"], "running"],
  ["recordLeg", (it) => recordLeg(it, 7, { process: RUNNER, session: "s" }, MOMENT), ["running", "paused"]],
  ["recordStep", (it) => recordStep(it, 7, "files", "done", MOMENT), ["preparing", "starting", "running", "paused"]],
  ["pause", (it) => pauseAttempt(it, "a", { now: false, reason: null }, MOMENT), ["running"], "paused"],
  ["resume", (it) => resumeAttempt(it, "a", order, MOMENT), ["paused"], "running"],
  ["requestStop", (it) => requestStop(it, "a", null, MOMENT), ["preparing", "starting", "running", "paused"]],
];

describe.each(verbs)("%s", (_verb, decide, from, to) => {
  test.each([...ATTEMPT_STATUSES])("FENCE-1: of one that is %s", (status) => {
    const decision = decide(attemptIn(status));
    expect(decision.ok).toBe(from.includes(status));
    if (!decision.ok) expect(decision.refusal.hint).not.toBe("");
    const after = fold(attemptIn(status), eventsOf(decision));
    expect(after?.status).toBe(decision.ok && to ? to : status);
    if (decision.ok && to) expect(ATTEMPT_MOVES[status]).toContain(to);
  });

  test("FENCE-1: of one that does not exist is refused", () => {
    expect(decide(undefined).ok).toBe(false);
  });
});

test.each([
  ["the files that were written", "h", "h", true],
  ["other files", "h", "other", false],
  ["files and does not say which", "h", undefined, false],
  ["files by a sling of an older version", undefined, "h", true],
])("FENCE-1: a runner that was given %s comes up: %p, %p, %p", (_, written, launchHash, comesUp) => {
  const starting = fold(attemptIn("preparing"), eventsOf(beginStart(attemptIn("preparing"), 7, MOMENT, written)));
  const decision = confirmStart(starting, 7, { runner: RUNNER, launchHash }, MOMENT);
  expect(decision.ok || decision.refusal.code).toBe(comesUp || LAUNCH_CHANGED);
});

describe("the end", () => {
  test.each(ATTEMPT_STATUSES.filter((status) => status !== "ended"))(
    "DISP-2: ends one that is %s, what it never saw, its assignment and its claim",
    (status) => {
      const decision = endAttempt(attemptIn(status), AROUND, END, MOMENT);
      expect(eventsOf(decision).map((event) => event.type)).toEqual([
        "agent.ended",
        "message.expired",
        "assignment.delivered",
        "assignment.cancelled",
        "work.requeued",
      ]);
      const after = fold(attemptIn(status, { process: RUNNER }), eventsOf(decision));
      expect(after).toMatchObject({ status: "ended", end: END, process: null, endedAt: MOMENT.now });
    },
  );

  test("FENCE-1: the first end stands; a second writes nothing", () => {
    const ended = attemptIn("ended", { end: END });
    const again = endAttempt(ended, AROUND, { ...END, cause: "stopped" }, MOMENT);
    expect(again).toMatchObject({ ok: true, events: [], value: false });
    expect(endAttempt(undefined, NOTHING, END, MOMENT)).toMatchObject({ ok: true, events: [] });
  });

  const kept: [why: string, node: string, assignment: string, types: NewEvent["type"][]][] = [
    ["finished work stays finished", "done", "done", ["agent.ended"]],
    ["cancelled work stays cancelled", "cancelled", "cancelled", ["agent.ended"]],
    ["a blocked node stays blocked", "blocked", "blocked", ["agent.ended", "assignment.cancelled"]],
  ];
  test.each(kept)("%s", (_why, node, assignment, types) => {
    const decision = endAttempt(
      attemptIn("running"),
      { ...NOTHING, node: { status: node }, assignment: { status: assignment } },
      END,
      MOMENT,
    );
    expect(eventsOf(decision).map((event) => event.type)).toEqual(types);
  });

  test("because: asked for when somebody asked for it, else its cause", () => {
    const asked = attemptIn("running", { stopRequested: { by: "human:ada", reason: null, at: 1 } });
    expect(eventsOf(endAttempt(asked, NOTHING, END, MOMENT))[0]?.because).toBe("stop-requested");
    expect(eventsOf(endAttempt(attemptIn("running"), NOTHING, END, MOMENT))[0]?.because).toBe("died");
  });
});

test("asking twice for a stop changes nothing; the first who asked is named", () => {
  const once = fold(attemptIn("running"), eventsOf(requestStop(attemptIn("running"), "a", "first", MOMENT)));
  expect(once?.stopRequested).toMatchObject({ by: "human:ada", reason: "first" });
  expect(requestStop(once, "a", "second", MOMENT)).toMatchObject({ ok: true, events: [], value: 7 });
});

test("CTL-1: a resumed agent is told that it was paused, for how long, and why it continues", () => {
  const decision = resumeAttempt(attemptIn("paused"), "a", { reason: "The build is green.", messageId: "m_9" }, MOMENT);
  const [resumed, told] = eventsOf(decision);
  expect(resumed).toMatchObject({ type: "agent.resumed" });
  expect(told).toMatchObject({
    type: "message.queued",
    attempt: 7,
    data: { messageId: "m_9", body: expect.stringMatching(/paused for 10 min[\s\S]*The build is green\./) },
  });
});

test("AGENT-1: names are small words, labels carry the number", () => {
  for (const good of ["a", "builder-1", "x".repeat(31)]) expect(AGENT_NAME.test(good)).toBe(true);
  for (const bad of ["", "A", "1a", "-a", "a_b", "a b", "a/b", "x".repeat(32), "a\n"])
    expect(AGENT_NAME.test(bad)).toBe(false);
  expect(attemptLabel({ agent: "scout-1", attempt: 47 })).toBe("scout-1#47");
});

test("whatever order the verbs come in, every move is in the table and nothing moves after the end", () => {
  const end: Verb = ["end", (it) => endAttempt(it, NOTHING, END, MOMENT), []];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...verbs, end), { maxLength: 25 }), (sequence) => {
      let attempt = attemptIn("preparing");
      for (const [, decide] of sequence) {
        const after = fold(attempt, eventsOf(decide(attempt))) ?? attempt;
        if (after.status !== attempt.status) expect(ATTEMPT_MOVES[attempt.status]).toContain(after.status);
        if (attempt.status === "ended") expect(after).toEqual(attempt);
        attempt = after;
      }
    }),
    { numRuns: scaled(300) },
  );
});
