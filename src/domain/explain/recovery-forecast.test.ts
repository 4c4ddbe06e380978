import { expect, test } from "bun:test";
import type { LadderLimits } from "#domain/model/ladder-state.ts";
import { forecastSteps } from "./recovery-forecast.ts";

const MINUTE = 60_000;
const LIMITS: LadderLimits = {
  ...{ hint: 1, warning: 2, critical: 2, resend: 2, replan: 2, reassign: 2, pause: 2, restarts: 2 },
  patienceMs: 2 * MINUTE,
  backoff: { baseMs: 2 * MINUTE, maxMs: 30 * MINUTE },
  minResendIntervalMs: 5 * MINUTE,
};

const tell = (limits: LadderLimits) =>
  forecastSteps(limits, 15 * MINUTE).map(
    ({ rung, number, of, waitMs }) => `${waitMs / MINUTE} ${rung} ${number}/${of}`,
  );

const SKIPPED = { hint: 0, warning: 0, critical: 0, resend: 0, replan: 0, reassign: 0, pause: 0 };

test.each([
  [
    "each wait twice the one before, the same words not twice within five minutes",
    LIMITS,
    "15 hint 1/1, 2 warning 1/2, 5 warning 2/2, 8 critical 1/2, 16 critical 2/2, 30 resend 1/2, 30 resend 2/2, 30 replan 1/1, 0 reassign 1/2",
  ],
  [
    "patience outweighs a short wait",
    { ...LIMITS, warning: 0, critical: 0, resend: 0, replan: 0, patienceMs: 10 * MINUTE },
    "15 hint 1/1, 10 reassign 1/2",
  ],
  [
    "no fresh agent: pauses, then a person",
    { ...LIMITS, ...SKIPPED, pause: 2 },
    "15 pause 1/2, 2 pause 2/2, 4 ask 1/1",
  ],
  ["everything skipped: a person at once", { ...LIMITS, ...SKIPPED }, "15 ask 1/1"],
])("LADDER-1: what follows when: %s", (_why, limits, expected) => {
  expect(tell(limits).join(", ")).toBe(expected);
});
