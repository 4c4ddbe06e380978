import { expect, test } from "bun:test";
import { placed } from "../../../test/support/tree.ts";
import { EVENT_TYPES, type EventOf } from "./event.ts";
import { currentVersion, type Lifts, upcast } from "./upcast.ts";

/** Version 1 had a plain reason, version 2 named it `why`, version 3 made it a list. */
const LIFTS: Lifts = {
  "goal.paused": [
    ({ reason, ...rest }) => ({ ...rest, why: reason }),
    ({ why, ...rest }) => ({ ...rest, whys: [why] }),
  ],
};

const written = (v: number, data: object): EventOf =>
  ({
    ...placed({ type: "goal.paused", actor: "overseer", goalId: "goal_A", because: "x", data: { reason: null } }),
    v,
    data,
  }) as EventOf;

const CASES: [why: string, v: number, data: object, liftedTo: number, lifted: object][] = [
  ["the oldest is lifted step by step", 1, { reason: "tea" }, 3, { whys: ["tea"] }],
  ["one in the middle takes the steps that are left", 2, { why: "tea" }, 3, { whys: ["tea"] }],
  ["the present one stays", 3, { whys: ["tea"] }, 3, { whys: ["tea"] }],
  ["one from the future stays", 4, { whys: [], more: 1 }, 4, { whys: [], more: 1 }],
];
test.each(CASES)("STORE-1: reading old events: %s", (_why, v, data, liftedTo, lifted) => {
  const event = written(v, data);
  const read = upcast(event, LIFTS);
  expect([read.v, read.data as unknown]).toEqual([liftedTo, lifted]);
  expect(event.v).toBe(v);
  expect(upcast(read, LIFTS)).toEqual(read);
});

test("a type that never changed is at version 1 and read as it was written", () => {
  const event = written(1, { reason: "tea" });
  expect(upcast(event, {})).toBe(event);
  expect(currentVersion("goal.paused", LIFTS)).toBe(3);
  for (const type of EVENT_TYPES) expect(currentVersion(type)).toBeGreaterThanOrEqual(1);
});
