/** PACE-1: the level by rule, its way up and its way back. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { PACE_LEVELS } from "#domain/model/role.ts";
import { paceOf } from "./pace.ts";

const doctrine = { saluteIntervalSteps: 10, maxStepsWithoutProgress: 12, radioCheckSteps: 3 };
const rows: [idle: number, strain: number, level: string][] = [
  [0, 0, "primary"],
  [12, 0, "primary"],
  [13, 0, "alternate"],
  [24, 0, "alternate"],
  [25, 0, "contingent"],
  [37, 0, "emergency"],
  [500, 0, "emergency"],
  [0, 2, "primary"],
  [0, 3, "alternate"],
  [0, 6, "contingent"],
  [0, 9, "emergency"],
  [13, 6, "contingent"],
];
test.each(rows)("PACE-1: %p idle steps and %p failures are %s", (idle, strain, level) => {
  expect(paceOf({ idle, strain }, doctrine)).toBe(level as never);
});

test("PACE-1: more trouble is never a better level, and without trouble the level is primary", () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(50), fc.nat(20), fc.nat(20), (idle, strain, more, again) => {
      const level = paceOf({ idle, strain }, doctrine);
      const later = paceOf({ idle: idle + more, strain: strain + again }, doctrine);
      expect(PACE_LEVELS).toContain(level);
      expect(PACE_LEVELS.indexOf(level)).toBeLessThanOrEqual(PACE_LEVELS.indexOf(later));
    }),
  );
  expect(paceOf({ idle: 0, strain: 0 }, doctrine)).toBe("primary");
});
