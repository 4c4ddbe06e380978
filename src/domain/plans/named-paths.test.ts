import { expect, test } from "bun:test";
import { findNamedPaths } from "./named-paths.ts";

const TRACKED = ["README.md", "src/api/server.ts", "src/api/routes.ts", "src/auth.ts", "test/auth.test.ts"];

test.each([
  ["What does src/auth.ts export?", ["src/auth.ts"]],
  ["How does `server.ts` start, and what is in README.md?", ["README.md", "src/api/server.ts"]],
  ["What lies in ./src/api/?", ["src/api/server.ts", "src/api/routes.ts"]],
  ["Where is auth done?", ["src/auth.ts"]],
  ["Why?", []],
])("PLAN-1: %s", (question, paths) => {
  expect(findNamedPaths(question, TRACKED)).toEqual(paths);
});
