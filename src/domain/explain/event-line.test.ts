import { expect, test } from "bun:test";
import { EVENT_TYPES, type EventOf } from "#domain/model/event.ts";
import { isRoutineEvent, tellEvent } from "./event-line.ts";

/** Stands for the data of any event: whatever is asked of it is there, and is "x" in a sentence. */
const anything: unknown = new Proxy(() => anything, {
  get: (_target, key) => {
    if (key === Symbol.toPrimitive) return (hint: string) => (hint === "number" ? 1 : "x");
    if (key === "length") return 1;
    if (key === "map" || key === "flatMap") return () => ["x"];
    if (key === "slice" || key === "filter") return () => Object.assign(["x"], { toString: () => "x" });
    return ["trim", "replace", "join", "toFixed"].includes(String(key)) ? () => "x" : anything;
  },
});

const eventWith = (type: string, parts: object = {}): EventOf =>
  ({ type, seq: 1, at: 0, v: 1, actor: "overseer", because: "some-reason", data: anything, ...parts }) as EventOf;

test.each(EVENT_TYPES)("EVT-1: %s has a sentence, which does not name its type", (type) => {
  const text = tellEvent(eventWith(type));
  expect(text).not.toContain("It happened:");
  expect(text).not.toContain(type);
  expect(text).toMatch(/^\S.*\S$/);
});

test("EVT-1: what Overseer does inside is left out unless asked for, and nothing that a person would miss", () => {
  const routine = EVENT_TYPES.filter((type) => isRoutineEvent(eventWith(type)));
  expect(routine).toEqual(expect.arrayContaining(["overseer.tick", "agent.step", "action.decided", "message.seen"]));
  const told = EVENT_TYPES.filter((type) => !routine.includes(type));
  expect(told).toEqual(
    expect.arrayContaining(["work.done", "landing.landed", "question.asked", "agent.ended", "quota.tripped"]),
  );
});

const RULED: readonly (readonly [string, object, boolean])[] = [
  ["check.finished", { data: { verdict: "pass", name: "tests", commit: "c" } }, true],
  ["check.finished", { data: { verdict: "fail", name: "tests", commit: "c", why: "exit 1" } }, false],
  ["question.notified", { data: { ok: true, channel: "terminal" } }, true],
  ["question.notified", { data: { ok: false, channel: "webhook", detail: "refused" } }, false],
  ["message.queued", { data: { dispatchId: "D_1" } }, true],
  ["message.queued", { data: { from: "human:sam", body: "hurry" } }, false],
  ["work.started", { because: "given-out" }, true],
  ["work.started", { because: "child-started" }, false],
];

test.each(RULED)("EVT-1: %s %j is routine: %p", (type, parts, routine) => {
  expect(isRoutineEvent(eventWith(type, parts))).toBe(routine);
});
