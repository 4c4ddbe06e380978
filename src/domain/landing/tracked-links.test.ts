import { expect, test } from "bun:test";
import { followLinks, patternBehind, placesBehind } from "./tracked-links.ts";

const links = new Map([
  [".claude", "shared/agents"],
  ["shared/agents/settings.json", "../../conf/s.json"],
  ["conf", "./deep/conf"],
  ["check.sh", "scripts/c.sh"],
  ["tests", "spec"],
  ["out", "../elsewhere"],
  ["absolute", "/etc"],
  ["all", "."],
  ["one", "two"],
  ["two", "one"],
]);

const WAYS: [path: string, place: string | undefined, links: string[]][] = [
  ["src/a.ts", "src/a.ts", []],
  ["check.sh", "scripts/c.sh", ["check.sh"]],
  [".claude/settings.json", "deep/conf/s.json", [".claude", "shared/agents/settings.json", "conf"]],
  ["tests/../src", "src", ["tests"]],
  ["out/file", undefined, []],
  ["absolute", undefined, []],
  ["one", undefined, []],
  ["all/src", "src", ["all"]],
];
test.each(WAYS)("SCOPE-1: %s leads to %p", (path, place, passed) => {
  expect(followLinks(path, links)).toEqual(place === undefined ? undefined : { place, links: passed });
});

test("SCOPE-1: what a protected link leads to is protected, and what that leads to; other links protect nothing", () => {
  const found = placesBehind(links, (path) => [".claude", "out", "all", "one", "absolute"].includes(path));
  expect(found.sort()).toEqual([".claude", "conf", "deep/conf/s.json", "shared/agents", "shared/agents/settings.json"]);
  expect(placesBehind(links, () => false)).toEqual([]);
});

test("SCOPE-1: a pattern holds behind a link that it names too", () => {
  expect(patternBehind("/tests/**/*.sh", links)).toEqual({ place: "spec/**/*.sh", links: ["tests"] });
  expect(patternBehind("src/*.sh", links)).toBeUndefined();
  expect(patternBehind("*.sh", links)).toBeUndefined();
  expect(patternBehind("out/*.sh", links)).toBeUndefined();
});
