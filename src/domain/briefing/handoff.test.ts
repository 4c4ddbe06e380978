import { expect, test } from "bun:test";
import { describeObserved, toObserved } from "#domain/explain/observed.ts";
import { type Crystallization, crystallization } from "#domain/model/crystallization.ts";
import { newPulse } from "#domain/signals/pulse.ts";
import { attemptWith } from "../../../test/support/claims.ts";
import { T0 } from "../../../test/support/samples.ts";
import { assignmentWith } from "../../../test/support/tree.ts";
import { handoffOf } from "./handoff.ts";
import { renderLeft } from "./prime.ts";

const left: Crystallization = {
  ...crystallization("task", {
    summary: "SUMMARY",
    currentState: "STATE",
    decisions: [{ decision: "DECISION", rationale: "RATIONALE" }],
    nextActions: ["NEXT"],
    openQuestions: ["QUESTION"],
    knownBlockers: ["BLOCKER"],
    evidence: {
      filesTouched: ["FILE"],
      commandsRun: ["COMMAND"],
      testsRun: [{ name: "TEST", result: "RESULT" }],
      commits: ["COMMIT"],
      prs: ["PR"],
      issues: ["ISSUE"],
      externalRefs: ["REF"],
    },
    transcripts: [{ sessionKey: "builder-1#7", sessionId: "SESSION" }],
  }),
  crystallizationId: "C_1",
  goalId: "goal_A",
  workNodeId: "T1",
  createdAt: T0,
  by: "agent:builder-1#7",
};
const node = { summary: null, blockedReason: null };

test("CRYS-2: the handoff loses nothing of what was left", () => {
  const handoff = JSON.stringify(handoffOf(node, left, "refs/overseer/wip/A_1/3", "LASTCOMMIT", attemptWith()));
  for (const word of [
    "SUMMARY",
    "STATE",
    "DECISION",
    "RATIONALE",
    "NEXT",
    "QUESTION",
    "BLOCKER",
    "FILE",
    "COMMAND",
    "TEST",
    "RESULT",
    "COMMIT",
    "PR",
    "ISSUE",
    "REF",
    "SESSION",
    "wip/A_1/3",
    "LASTCOMMIT",
    "builder-1",
  ]) {
    expect(handoff).toContain(word);
  }
});

test("CRYS-2: prime shows the same again", () => {
  const page = renderLeft(left);
  for (const word of ["SUMMARY", "STATE", "DECISION", "RATIONALE", "NEXT", "QUESTION", "BLOCKER", "FILE", "RESULT"])
    expect(page).toContain(word);
});

test("CRYS-2: an attempt that left no report still leaves its commit and its uncommitted work", () => {
  expect(handoffOf(node, undefined, null, null)).toBeUndefined();
  expect(handoffOf(node, undefined, "refs/x", "abc")).toMatchObject({
    evidence: ["its last commit: abc", "what it had not committed: refs/x"],
  });
  const blocked = { summary: null, blockedReason: { kind: "other", detail: "no key" } } as const;
  expect(handoffOf(blocked, left, null, null)?.blockers).toEqual(["BLOCKER", "no key"]);
});

test("OBS-1: which is stalled and why, was the last dispatch accepted, which backoff, what shows progress", () => {
  const dispatch = {
    dispatchId: "D_1",
    at: T0,
    mode: "send",
    target: "b",
    instructionHash: "h",
    result: "timeout",
    runId: null,
    notes: "",
  } as const;
  const assignment = assignmentWith({
    status: "stalled",
    statusReason: "silent for 20 minutes",
    dispatches: [dispatch],
    backoffUntil: T0 + 1000,
    retryCount: 2,
  });
  const pulse = { ...newPulse(7, "builder-1"), turns: 3, lastAt: T0, lastProgressAt: T0 - 5 };
  const observed = toObserved({ assignment, attempt: attemptWith(), pulse, left }, T0);
  expect(observed).toMatchObject({
    stalled: true,
    why: "silent for 20 minutes",
    lastDispatch: { dispatchId: "D_1", accepted: false, result: "timeout" },
    backoffUntil: T0 + 1000,
    progress: { turns: 3, lastProgressAt: T0 - 5, lastReportAt: T0 },
  });
  expect(toObserved({ assignment }, T0 + 1000).backoffUntil).toBeNull();
  const text = describeObserved(observed, attemptWith()).join("\n");
  for (const words of ["stalled: silent for 20 minutes", "backoff is active until", "3 turns", "commit COMMIT"])
    expect(text).toContain(words);
});
