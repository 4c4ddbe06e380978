/** PLAN-1: which paths a model's plan may name. */
import { expect, test } from "bun:test";
import { findPathProblem, layoutOf } from "./plan-paths.ts";

const layout = layoutOf(["src/app/main.ts", "docs/guide.md", "My Notes/a b.md"]);

test.each<[string, RegExp | undefined]>([
  ["src/app/main.ts", undefined],
  ["src/app/new.ts", undefined],
  ["My Notes/a b.md", undefined],
  ["docs/*.md", undefined],
  ["src/**", undefined],
  ["src/a  b.ts", /look like a path/],
  ["src/; rm -rf", /look like a path/],
  [`src/${"a".repeat(101)}.ts`, /look like a path/],
  ["src/*a*a*a*a.ts", /at most 3 stars/],
  ["**/a/**/b/c", /at most 3 stars/],
])("PLAN-1: %p", (path, why) => {
  const found = findPathProblem(path, layout);
  if (why === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(why);
});

test("PLAN-1: a name that almost looks like one is refused at once", () => {
  const almost = Array.from({ length: 2_000 }, (_, at) => `src/${"a".repeat(90)}${at};`);
  expect(almost.filter((path) => findPathProblem(path, layout) === undefined)).toEqual([]);
});
