/** What is remembered of a node's recovery, where events alone decide it; the steps themselves are in decide.test.ts. */
import { expect, test } from "bun:test";
import { mayIntervene } from "#domain/tick/ladder.ts";
import { T0 } from "../../../test/support/samples.ts";
import { LIMITS, MINUTE, recoveryWith } from "../../../test/support/snapshots.ts";
import { placed } from "../../../test/support/tree.ts";
import { applyToRecovery } from "./ladder-state.ts";

const STEERED = {
  type: "agent.steered",
  actor: "overseer",
  goalId: "goal_A",
  nodeId: "T1",
  because: "looping",
  data: { anomaly: "looping", fact: "x", step: 1, text: "y" },
} as const;
const PATIENT = LIMITS.ladder.patienceMs;

test.each([
  ["a pause that was promised continues", 1_000, false],
  ["one from before the clock was set back by a year has ended", -365 * 1_440 * MINUTE, true],
])("EDGE-10 LADDER-1: when the reflex speaks, %s", (_what, jump, may) => {
  const until = T0 + 10 * PATIENT;
  const promised = recoveryWith({ lastStepAt: T0, backoffUntil: until });
  const after = applyToRecovery(promised, placed(STEERED, T0 + jump));
  expect(after).toMatchObject({ lastStepAt: T0 + jump, backoffUntil: may ? null : until });
  expect(mayIntervene(after, "looping", T0 + jump + PATIENT, LIMITS.ladder).may).toBe(may);
});
