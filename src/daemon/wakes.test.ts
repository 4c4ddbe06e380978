import { expect, test } from "bun:test";
import { EVENT_TYPES, type EventType } from "#domain/model/event.ts";
import { isWorthATick } from "./wakes.ts";

const cases: [type: EventType, wakes: boolean][] = [
  ["goal.created", true],
  ["work.queued", true],
  ["agent.ended", true],
  ["question.answered", true],
  ["fleet.thawed", true],
  ["action.done", true],
  ["check.finished", true],
  ["merge.queued", true],
  ["landing.landed", true],
  ["check.started", false],
  ["merge.testing", false],
  ["landing.prepared", false],
  ["agent.step", false],
  ["message.handed", false],
  ["daemon.started", false],
  ["config.changed", false],
  ["overseer.initialised", false],
];
test.each(cases)("TICK-4: %s wakes the tick: %p", (type, wakes) => {
  expect(isWorthATick({ type })).toBe(wakes);
});

test("TICK-4: a type nobody has thought of wakes it: rather once too often than never", () => {
  const quiet = EVENT_TYPES.filter((type) => !isWorthATick({ type }));
  expect(quiet.length).toBeLessThan(EVENT_TYPES.length / 2);
});
