import { expect, test } from "bun:test";
import { describeLosses, isRebuildable, REBUILDABLE } from "./rebuildable.ts";

const ROWS: [path: string, names: string, expected: boolean][] = [
  ["node_modules/", "", true],
  ["packages/a/node_modules/x/index.js", "", true],
  ["src/a.pyc", "", true],
  ["my_node_modules/", "", false],
  ["data/", "", false],
  [".env", "", false],
  ["server.log", "", false],
  ["server.log", "*.log", true],
  ["logs/a.txt", "logs/", true],
  ["a+b", "a+b", true],
  ["aab", "a+b", false],
  ["buildings", "", false],
  ["a.o.txt", "", false],
  ["", "", false],
];

test.each(ROWS)("CLEAN-1: %p can be made again, also by the name %p: %p", (path, name, expected) => {
  expect(isRebuildable(path, [...REBUILDABLE, ...(name === "" ? [] : [name])])).toBe(expected);
});

test("CLEAN-1: losses are told in one line, the largest first", () => {
  const small = { path: "a", what: "ignored", files: 1, bytes: 5 } as const;
  const large = { path: "data/", what: "ignored", files: 12, bytes: 5 * 1024 * 1024 } as const;
  const inner = { path: "lib", what: "repository", because: "it is shallow" } as const;
  expect(describeLosses([small, inner, large])).toBe(
    "data/ (ignored, 12 files, 5.0 MB), a (ignored, 5 B), lib (a repository: it is shallow)",
  );
  expect(describeLosses(Array.from({ length: 8 }, () => small))).toEndWith("and 3 more");
});
