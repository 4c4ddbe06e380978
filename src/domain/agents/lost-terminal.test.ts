import { expect, test } from "bun:test";
import { isTerminalDue, type LostTerminal, NEVER_LOST, noteGiven, noteLook } from "./lost-terminal.ts";

const MINUTE = 60_000;
const lost = (more: Partial<LostTerminal>): LostTerminal => ({ ...NEVER_LOST, ...more });

test.each([
  ["one that is there", lost({}), 0, false],
  ["one that was missed just now", lost({ lostAt: 0 }), 2_999, false],
  ["one that is missed for a while", lost({ lostAt: 0 }), 3_000, true],
  ["one that was given just now and lost again", lost({ lostAt: 5_000, given: 1, givenAt: 1_000 }), 9_000, false],
  ["one that was given a while ago", lost({ lostAt: 5_000, given: 1, givenAt: 1_000 }), 11_000, true],
  ["the fourth, which takes longer", lost({ lostAt: 0, given: 3, givenAt: 0 }), 39_000, false],
  ["the fourth, in its time", lost({ lostAt: 0, given: 3, givenAt: 0 }), 40_000, true],
  ["the hundredth, after ten minutes at most", lost({ lostAt: 0, given: 99, givenAt: 0 }), 10 * MINUTE, true],
] as const)("FAIL-9: a terminal is due or not: %s", (_, state, now, due) => {
  expect(isTerminalDue(state, now)).toBe(due);
});

test("FAIL-9: whatever takes terminals away all the time gets fewer than twenty in an hour", () => {
  let state = NEVER_LOST;
  let given = 0;
  for (let now = 0; now < 60 * MINUTE; now += 1_000) {
    state = noteLook(state, false, now);
    if (!isTerminalDue(state, now)) continue;
    state = noteGiven(state, now);
    given += 1;
  }
  expect([given > 5, given < 20]).toEqual([true, true]);
});

test("FAIL-9: a terminal that lasted is forgotten as a loss", () => {
  const given = noteGiven(lost({ lostAt: 0 }), 0);
  expect(noteLook(given, true, 9 * MINUTE)).toEqual({ lostAt: null, given: 1, givenAt: 0 });
  expect(noteLook(given, true, 10 * MINUTE)).toEqual(NEVER_LOST);
});
