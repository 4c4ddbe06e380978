import { expect, test } from "bun:test";
import { findTreeWalkers } from "./tree-walkers.ts";

const tools = (value: unknown) =>
  findTreeWalkers(typeof value === "string" ? value : JSON.stringify(value), ".overseer/worktrees").map(
    ({ tool }) => tool,
  );

test.each([
  [{ scripts: { test: "node --test" } }, ["node --test"]],
  [{ scripts: { test: "node --import tsx --test --test-reporter=dot && echo" } }, ["node --test"]],
  [{ scripts: { test: "node --test test/" } }, []],
  [{ scripts: { test: "bun test" }, devDependencies: { typescript: "5" } }, []],
  [{ devDependencies: { jest: "29", eslint: "9" } }, ["jest", "eslint"]],
  [{ devDependencies: { eslint: "^8.47.0" } }, []],
  [{ devDependencies: { eslint: "latest" } }, ["eslint"]],
  [{ jest: {}, dependencies: { vitest: "3" } }, ["jest", "vitest"]],
  ["not json", []],
  ["[1]", []],
])("CLEAN-1: of %j these are told to keep out of worktrees: %j", (value, expected) => {
  expect(tools(value)).toEqual(expected);
});

test("CLEAN-1: without a package.json nobody is told anything, and the place is named as it is configured", () => {
  expect(findTreeWalkers(undefined, "x")).toEqual([]);
  expect(findTreeWalkers('{"devDependencies":{"eslint":"9"}}', "agents/trees")[0]?.advice).toContain("agents/trees/");
});
