/** How an agent is judged: one row per situation, and what its silence means. */
import { describe, expect, test } from "bun:test";
import type { Pulse, ToolCall } from "#domain/signals/pulse.ts";
import { RECENT_CALLS } from "#domain/signals/pulse.ts";
import {
  LIMITS as ALL,
  attemptWith,
  MINUTE,
  NOW,
  pulseWith,
  seenWith,
  silentFor,
} from "../../../test/support/snapshots.ts";
import { assignmentWith } from "../../../test/support/tree.ts";
import type { Judgement, LivenessCase } from "./liveness.ts";
import { isLooping, judgeLiveness, repeatsForLadder } from "./liveness.ts";
import type { AgentSeen, LivenessEvidence } from "./snapshot.ts";

const LIMITS = { ...ALL, idleAfterMs: 15 * MINUTE, graceMs: 2 * MINUTE };

function judged(seen: Partial<AgentSeen>, more: Partial<LivenessCase> = {}, now = NOW): Judgement {
  const about: LivenessCase = {
    seen: seenWith(seen),
    assignment: assignmentWith({ idleAfterMs: 15 * MINUTE }),
    asking: false,
    quotaUntil: null,
    providerFails: false,
    sharesSilence: false,
    claimed: false,
    expecting: false,
    answeredAt: null,
    doubt: null,
    rebasedAt: 0,
    ...more,
  };
  return judgeLiveness(about, now, LIMITS);
}

const call = (parts: Partial<ToolCall> = {}): ToolCall => ({
  tool: "Bash",
  argsHash: "a",
  ok: true,
  errorClass: null,
  ms: 1,
  id: "1",
  ...parts,
});
const says = (
  source: LivenessEvidence["source"],
  claim: LivenessEvidence["says"],
  reliability: LivenessEvidence["reliability"] = "strong",
  at = NOW,
) => ({ source, says: claim, at, reliability }) as const;
const inTurn = (parts: Partial<Pulse> = {}) => ({ pulse: pulseWith({ inTurn: true, ...parts }) });
const idleSince = (ms: number) => ({ pulse: pulseWith({ inTurn: false, lastActAt: NOW - ms }) });

type Row = [
  why: string,
  seen: Partial<AgentSeen>,
  more: Partial<LivenessCase>,
  expected: Judgement["state"],
  because: string,
];

const YOUNG = { attempt: attemptWith({ startedAt: NOW - 1_000, createdAt: NOW - 1_000 }) };
const UNSUPERVISED = { attempt: attemptWith({ exempt: { supervision: "sling" } }) };

const rows: Row[] = [
  [
    "EDGE-7: looping, and only just started",
    { ...YOUNG, ...inTurn({ calls: [call(), call(), call()] }) },
    {},
    "working",
    "turn-in-flight",
  ],
  [
    "EDGE-7: signs of death, and only just started",
    { ...YOUNG, evidence: [says("terminal", "gone"), says("agent", "gone")] },
    {},
    "idle",
    "between-turns",
  ],
  [
    "EDGE-7: dead by proof, and only just started",
    { ...YOUNG, evidence: [says("process", "gone", "proof")] },
    {},
    "dead",
    "proven-by-process",
  ],
  [
    "silent for days in its turn, and not supervised",
    { ...UNSUPERVISED, pulse: silentFor(3_000 * MINUTE) },
    {},
    "working",
    "not-supervised",
  ],
  [
    "idle with open work, and not supervised",
    { ...UNSUPERVISED, ...idleSince(3_000 * MINUTE) },
    {},
    "idle",
    "not-supervised",
  ],
  [
    "looping, and not supervised",
    { ...UNSUPERVISED, ...inTurn({ calls: [call(), call(), call()] }) },
    {},
    "working",
    "not-supervised",
  ],
  [
    "asks in plain words, and is not supervised",
    { ...UNSUPERVISED, ...idleSince(20 * MINUTE), fingerprint: { class: "waiting-on-human", words: "Which one?" } },
    {},
    "idle",
    "not-supervised",
  ],
  ["asks openly, and is not supervised", UNSUPERVISED, { asking: true }, "waiting-human", "question-open"],
  [
    "dead by proof, and not supervised",
    { ...UNSUPERVISED, evidence: [says("process", "gone", "proof")] },
    {},
    "dead",
    "proven-by-process",
  ],
  [
    "signs of death, and not supervised",
    { ...UNSUPERVISED, ...idleSince(20 * MINUTE), evidence: [says("terminal", "gone"), says("agent", "gone")] },
    {},
    "detecting",
    "signs-of-death",
  ],
  [
    "silent after it asked in plain words",
    { ...idleSince(20 * MINUTE), fingerprint: { class: "waiting-on-human", words: "Which one?" } },
    {},
    "waiting-human",
    "asked-in-words",
  ],
  [
    "silent after it asked in plain words, and was answered",
    { ...idleSince(20 * MINUTE), fingerprint: { class: "waiting-on-human", words: "Which one?" } },
    { answeredAt: NOW - MINUTE },
    "silent",
    "idle-with-open-work",
  ],
  [
    "silent within a turn, with a question before it",
    {
      ...inTurn({ lastActAt: NOW - 20 * MINUTE, turnSince: NOW - 30 * MINUTE }),
      fingerprint: { class: "waiting-on-human", words: "Which one?" },
    },
    {},
    "silent",
    "no-activity",
  ],
  [
    "silent, having said that it waits for a build",
    { ...idleSince(20 * MINUTE), fingerprint: { class: "slow" } },
    {},
    "working",
    "waits-for-something-slow",
  ],
  [
    "silent for an hour, having said that it waits for a build",
    { ...idleSince(60 * MINUTE), fingerprint: { class: "slow" } },
    {},
    "silent",
    "idle-with-open-work",
  ],
  [
    "silent after a turn that failed",
    { ...idleSince(20 * MINUTE), fingerprint: { class: "failed" } },
    {},
    "silent",
    "last-turn-failed",
  ],
  [
    "its runner was launched and has not spoken",
    { attempt: attemptWith({ status: "starting" }) },
    {},
    "starting",
    "not-up-yet",
  ],
  [
    "up for a minute without a word",
    { attempt: attemptWith({ startedAt: NOW - MINUTE }), pulse: null },
    {},
    "starting",
    "has-not-spoken",
  ],
  [
    "up for three minutes without a word",
    { attempt: attemptWith({ startedAt: NOW - 3 * MINUTE }), pulse: null },
    {},
    "silent",
    "never-spoke",
  ],
  ["in a turn", inTurn(), {}, "working", "turn-in-flight"],
  ["in a turn, thinking for 14 minutes", { pulse: silentFor(14 * MINUTE) }, {}, "working", "turn-in-flight"],
  ["in a turn, nothing for 15 minutes", { pulse: silentFor(15 * MINUTE) }, {}, "silent", "no-activity"],
  [
    "a turn began a minute ago, after an hour of waiting",
    inTurn({ lastActAt: NOW - 60 * MINUTE, turnSince: NOW - MINUTE }),
    {},
    "working",
    "turn-in-flight",
  ],
  [
    "a tool runs for an hour",
    inTurn({ lastActAt: NOW - 60 * MINUTE, calls: [call({ ok: null })] }),
    {},
    "tool-running",
    "tool-in-flight",
  ],
  ["the same call three times", inTurn({ calls: [call(), call(), call()] }), {}, "looping", "looping"],
  [
    "the same call with another result is no loop",
    inTurn({ calls: [call(), call({ ok: false }), call()] }),
    {},
    "working",
    "turn-in-flight",
  ],
  [
    "a command that computes nothing, for 20 minutes",
    { ...inTurn({ calls: [call({ ok: null })], lastActAt: NOW - 30 * MINUTE }), toolsStillMs: 20 * MINUTE },
    {},
    "silent",
    "tool-hangs",
  ],
  [
    "a long command that computes",
    { ...inTurn({ calls: [call({ ok: null })], lastActAt: NOW - 300 * MINUTE }), toolsStillMs: 19 * MINUTE },
    {},
    "tool-running",
    "tool-in-flight",
  ],
  [
    "a long command that nobody has watched",
    { ...inTurn({ calls: [call({ ok: null })], lastActAt: NOW - 300 * MINUTE }), toolsStillMs: null },
    {},
    "tool-running",
    "tool-in-flight",
  ],
  ["between two turns", idleSince(MINUTE), {}, "idle", "between-turns"],
  ["stopped, with its work open, for 15 minutes", idleSince(15 * MINUTE), {}, "silent", "idle-with-open-work"],
  ["no assignment", idleSince(60 * MINUTE), { assignment: undefined }, "idle", "no-work"],
  [
    "reported done, waits to land, for hours",
    idleSince(600 * MINUTE),
    { claimed: true },
    "idle",
    "waits-for-check-or-landing",
  ],
  ["a question is open, for hours", idleSince(600 * MINUTE), { asking: true }, "waiting-human", "question-open"],
  [
    "a permission dialog, for hours",
    { ...idleSince(600 * MINUTE), evidence: [says("terminal", "dialog")] },
    {},
    "waiting-human",
    "dialog-open",
  ],
  [
    "paused, for hours",
    { ...idleSince(600 * MINUTE), attempt: attemptWith({ status: "paused" }) },
    {},
    "waiting",
    "paused",
  ],
  [
    "let continue a moment ago, after hours of pause",
    { ...idleSince(600 * MINUTE), attempt: attemptWith({ resumedAt: NOW - MINUTE }) },
    {},
    "idle",
    "between-turns",
  ],
  ["out of quota, for hours", idleSince(600 * MINUTE), { quotaUntil: NOW + 1 }, "waiting-quota", "quota-used-up"],
  ["words are on their way", idleSince(600 * MINUTE), { expecting: true }, "waiting", "words-on-the-way"],
  [
    "a tree that changed meanwhile is activity",
    { pulse: silentFor(20 * MINUTE), evidence: [says("tree", "active")] },
    {},
    "working",
    "turn-in-flight",
  ],
  [
    "the watcher's own time counts, not the wall clock",
    { pulse: silentFor(60 * MINUTE), quietMs: 1_000 },
    {},
    "working",
    "turn-in-flight",
  ],
  [
    "EDGE-10: after the clock was set back the watcher's own time still counts",
    { pulse: silentFor(-60 * MINUTE), quietMs: 20 * MINUTE },
    {},
    "silent",
    "no-activity",
  ],
  [
    "EDGE-10: after the clock was set back nobody is blamed by somebody who only began to look",
    { pulse: silentFor(-60 * MINUTE) },
    {},
    "working",
    "turn-in-flight",
  ],
  [
    "nothing before the machine slept counts",
    { pulse: silentFor(480 * MINUTE) },
    { rebasedAt: NOW - MINUTE },
    "working",
    "turn-in-flight",
  ],
];

test.each(rows)("LIVE-1, LIVE-2: %s", (_why, seen, more, state, because) => {
  expect(judged(seen, more)).toMatchObject({ state, because });
});

test("LIVE-2: overdue without a turn is a stall, though it was silent for a short time only", () => {
  const assignment = assignmentWith({ idleAfterMs: 15 * MINUTE, expectedNextUpdateAt: NOW - 1 });
  expect(judged(idleSince(MINUTE), { assignment })).toEqual({ state: "silent", because: "update-overdue" });
  expect(judged(inTurn(), { assignment }).state).toBe("working");
});

test("LIVE-1: blocked waits for its answer and no longer than that", () => {
  const assignment = assignmentWith({
    status: "blocked",
    blockedReason: { on: "human", detail: "which?" },
    updatedAt: NOW - 30 * MINUTE,
    idleAfterMs: 15 * MINUTE,
  });
  expect(judged(idleSince(60 * MINUTE), { assignment }).state).toBe("waiting-human");
  expect(judged(idleSince(60 * MINUTE), { assignment, answeredAt: NOW - 20 * MINUTE }).state).toBe("silent");
  expect(judged(idleSince(MINUTE), { assignment }).state).toBe("idle");
});

describe("LIVE-1: death", () => {
  const quiet = silentFor(10 * MINUTE);

  test("proof suffices at once", () => {
    expect(judged({ pulse: quiet, evidence: [says("process", "gone", "proof")] })).toEqual({
      state: "dead",
      because: "proven-by-process",
    });
  });

  test("one sign alone is doubted, and set aside when it stays alone", () => {
    const seen = { pulse: quiet, evidence: [says("terminal", "gone")] };
    expect(judged(seen)).toMatchObject({ state: "detecting", key: "terminal" });
    expect(judged(seen, { doubt: { key: "terminal", since: NOW - 2 * MINUTE } }).state).toBe("working");
  });

  test("two signs are believed when they have stayed the same for a while", () => {
    const seen = { pulse: quiet, evidence: [says("terminal", "gone"), says("agent", "gone", "weak")] };
    const first = judged(seen);
    expect(first).toMatchObject({ state: "detecting", key: "agent+terminal!" });
    const key = "agent+terminal!";
    expect(judged(seen, { doubt: { key, since: NOW - MINUTE } }).state).toBe("detecting");
    expect(judged(seen, { doubt: { key, since: NOW - 2 * MINUTE } })).toEqual({
      state: "dead",
      because: "two-signs-of-death",
    });
  });

  test("half an hour of silence and a sign are believed in the same way", () => {
    const seen = { pulse: silentFor(31 * MINUTE), evidence: [says("terminal", "gone", "weak")] };
    expect(judged(seen, { doubt: { key: "terminal!", since: NOW - 2 * MINUTE } }).state).toBe("dead");
  });

  test("silence alone never is", () => {
    expect(judged({ pulse: silentFor(10_000 * MINUTE) }).state).toBe("silent");
  });

  test("a sign that is older than the agent's last act says nothing", () => {
    const old = [
      says("terminal", "gone", "strong", NOW - 20 * MINUTE),
      says("agent", "gone", "strong", NOW - 20 * MINUTE),
    ];
    expect(judged({ pulse: quiet, evidence: old }).state).toBe("working");
  });

  test("a runner that is proven alive outweighs a lost terminal: the agent only lost its view", () => {
    const evidence = [says("process", "alive", "proof"), says("terminal", "gone"), says("agent", "gone")];
    expect(judged({ pulse: quiet, evidence }).state).toBe("working");
  });

  test("two of one source are one witness, and the later word counts", () => {
    const twice = [says("terminal", "gone", "strong", NOW - 1), says("terminal", "gone")];
    expect(judged({ pulse: quiet, evidence: twice })).toMatchObject({ key: "terminal" });
    const back = [says("terminal", "gone", "strong", NOW - 1), says("terminal", "alive")];
    expect(judged({ pulse: quiet, evidence: back }).state).toBe("working");
  });
});

test.each([
  ["its reflex looks first, and what continues after that is the ladder's", true, 3, 3, 6],
  ["without a reflex the ladder is the first to speak", false, 3, 3, 3],
  ["never more than a pulse remembers", true, 100, 1_000, RECENT_CALLS],
])("ANOM-2: from how many equal calls on the ladder takes a loop up: %s", (_, enabled, loopRepeats, radio, calls) => {
  expect(repeatsForLadder({ enabled, loopRepeats, radioCheckSteps: radio })).toBe(calls);
});

test.each<[why: string, calls: ToolCall[], looping: boolean]>([
  ["the same result each time", [1, 2, 3].map(() => call({ result: "a" })), true],
  ["another result each time, as paging does", ["a", "b", "c"].map((result) => call({ result })), false],
  ["waiting for a job", [1, 2, 3].map(() => call({ result: "a", waits: true })), false],
  ["looking at a job between sleeps", [call({ waits: true }), call(), call({ waits: true }), call(), call()], false],
  [
    "a call that was cancelled with its sibling was never made",
    [
      call({ ok: false, errorClass: "exit-1" }),
      call({ ok: false, errorClass: "cancelled" }),
      call({ ok: false, errorClass: "cancelled" }),
    ],
    false,
  ],
])("LIVE-1: looping: %s", (_why, calls, looping) => {
  expect(isLooping(pulseWith({ calls }), 3)).toBe(looping);
});

test("ANOM-2: a loop needs as many equal calls as the limit says", () => {
  const calls = [call(), call(), call()];
  expect(isLooping(pulseWith({ calls }), 3)).toBe(true);
  expect(isLooping(pulseWith({ calls }), 4)).toBe(false);
  expect(isLooping(pulseWith({ calls: [...calls, call({ argsHash: "b" })] }), 3)).toBe(false);
});
