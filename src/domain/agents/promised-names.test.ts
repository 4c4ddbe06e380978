import { expect, test } from "bun:test";
import type { Action } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { endedWith } from "../../../test/support/snapshots.ts";
import { hasEndedByItself, isPromised, listPromisedNames } from "./promised-names.ts";

const HERE = { goalId: "goal_A", workNodeId: "T1" };
const ELSEWHERE = { goalId: "goal_A", workNodeId: "T2" };
const restart = (more: Partial<Action> = {}) =>
  ({ kind: "restart", status: "pending", agent: "b-1", ...HERE, ...more }) as Action;
const last = (more: Partial<Attempt> = {}) => ({ ...endedWith({}), agent: "b-1", ...HERE, ...more }) as Attempt;
const stopped = { by: "person:ada", reason: null, at: 1 };

test.each<[string, readonly Action[], readonly Attempt[], boolean]>([
  ["nobody is to come back", [], [], false],
  ["its restart is decided", [restart()], [], true],
  ["its restart failed and is tried again", [restart({ status: "failed" })], [], true],
  ["its restart has ended", [restart({ status: "done" })], [], false],
  ["somebody is spawned", [restart({ kind: "spawn" })], [], false],
  ["another is restarted", [restart({ agent: "b-2" })], [], false],
  ["it died and its node waits", [], [last()], true],
  ["it was asked to stop", [], [last({ stopRequested: stopped })], false],
])("AUTO-6: %s", (_what, actions, ended, expected) => {
  const promised = listPromisedNames(actions, ended, []);
  expect(isPromised("b-1", promised, ELSEWHERE)).toBe(expected);
  expect(isPromised("b-1", promised, HERE)).toBe(false);
});

test("AUTO-6: one that is at work has not ended by itself", () => {
  expect(hasEndedByItself({ end: null, stopRequested: null })).toBe(false);
});

test.each<[string, readonly string[], boolean]>([
  ["auto-1", [], false],
  ["ben", ["ben"], false],
  ["ben", [], true],
])("AUTO-3: the name %s of somebody put aside is kept for it unless it is a worker's place", (agent, workers, kept) => {
  const aside = last({ agent, stopRequested: { ...stopped, by: "overseer", resume: true } });
  const promised = listPromisedNames(
    [],
    [aside],
    workers.map((name) => ({ name })),
  );
  expect(isPromised(agent, promised, ELSEWHERE)).toBe(kept);
});
