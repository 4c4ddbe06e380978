import { expect, test } from "bun:test";
import { beginningsOf, isShortFor, listSome } from "./short-name.ts";

test.each([
  ["goal_7ZK3", "goal_", ["goal_7ZK3"]],
  ["7ZK3", "goal_", ["goal_7ZK3"]],
  ["goal_7zk3", "goal_", ["goal_7zk3", "goal_7ZK3"]],
  ["GOAL_7ZK3", "goal_", ["goal_7ZK3"]],
  [" goal_7 ", "goal_", ["goal_7"]],
  ["q_A", "q_", ["q_A"]],
  ["goal_", "goal_", []],
  ["", "q_", []],
  ["   ", "q_", []],
])("CTL-1: %p as an id after %p begins with %p", (word, fixed, beginnings) => {
  expect(beginningsOf(word, fixed)).toEqual(beginnings);
});

test.each([
  ["builder-p", "builder-parser", "builder-", true],
  ["builder-", "builder-parser", "builder-", false],
  ["build", "builder-1", "builder-", false],
  ["builder-1", "builder-12", "builder-", false],
  ["builder-1", "builder-1", "builder-", false],
  ["pars", "parser", "", true],
  ["T1", "T12", "T", false],
  ["T1", "T1.2", "T", true],
  ["T", "T1", "T", false],
])("CTL-1: %p is short for %p (all begin with %p): %p", (word, name, fixed, short) => {
  expect(isShortFor(word, name, fixed)).toBe(short);
});

test("a few names are listed, many are counted", () => {
  expect(listSome(["a", "b"])).toBe("a, b");
  expect(listSome(["a", "b", "c", "d", "e", "f"])).toBe("a, b, c, d and 2 more");
});
