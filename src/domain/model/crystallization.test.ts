import { expect, test } from "bun:test";
import { T0 } from "../../../test/support/samples.ts";
import { placed } from "../../../test/support/tree.ts";
import type { CrystallizationBody, Evidence } from "./crystallization.ts";
import { applyToCrystallization, crystallization, hasEvidence, NO_EVIDENCE } from "./crystallization.ts";
import type { NewEvent } from "./event.ts";

const ANCHORS: [keyof Evidence, Evidence][] = [
  ["filesTouched", { ...NO_EVIDENCE, filesTouched: ["src/dates.ts"] }],
  ["commandsRun", { ...NO_EVIDENCE, commandsRun: ["npm test"] }],
  ["testsRun", { ...NO_EVIDENCE, testsRun: [{ name: "unit", result: "12 pass" }] }],
  ["commits", { ...NO_EVIDENCE, commits: ["3f2a1c9"] }],
  ["prs", { ...NO_EVIDENCE, prs: ["#12"] }],
  ["issues", { ...NO_EVIDENCE, issues: ["#7"] }],
  ["externalRefs", { ...NO_EVIDENCE, externalRefs: ["RFC 3339"] }],
];
test.each(ANCHORS)("CRYS-1: %s alone is evidence", (_name, evidence) => expect(hasEvidence(evidence)).toBe(true));
test("CRYS-1: empty lists are no evidence", () => expect(hasEvidence(NO_EVIDENCE)).toBe(false));

test.each(["subtask", "task", "phase", "goal"] as const)("CRYS-1: at %s level every field is kept", (level) => {
  const body: CrystallizationBody = {
    level,
    summary: "dates parse",
    currentState: "all but Thai",
    decisions: [{ decision: "no regex", rationale: "too slow" }],
    nextActions: ["Thai", "bench"],
    openQuestions: ["two-digit years?"],
    knownBlockers: ["no samples"],
    evidence: { ...NO_EVIDENCE, commits: ["3f2a1c9"] },
    transcripts: [{ sessionKey: "s1", sessionId: "x", messageIds: ["m1"], runId: "r1" }],
  };
  const event: NewEvent = {
    type: "crystallization.recorded",
    actor: "agent:builder-1#4",
    goalId: "goal_A",
    ...(level === "goal" ? {} : { nodeId: "T1" }),
    because: "reported",
    data: { crystallizationId: "C_1", ...body },
  };
  expect(applyToCrystallization(undefined, placed(event))).toEqual({
    crystallizationId: "C_1",
    goalId: "goal_A",
    workNodeId: level === "goal" ? null : "T1",
    createdAt: T0,
    by: "agent:builder-1#4",
    ...body,
  });
});

test("CRYS-3: what is not said is empty, never missing", () => {
  expect(crystallization("task", { summary: "x", evidence: { ...NO_EVIDENCE, prs: ["#1"] } })).toEqual({
    level: "task",
    summary: "x",
    currentState: "",
    decisions: [],
    nextActions: [],
    openQuestions: [],
    knownBlockers: [],
    transcripts: [],
    evidence: { ...NO_EVIDENCE, prs: ["#1"] },
  });
});
