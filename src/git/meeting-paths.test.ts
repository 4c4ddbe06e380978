import { expect, test } from "bun:test";
import { meetingPaths } from "./meeting-paths.ts";

const CASES: [what: string, changed: string[], moved: string[], met: string[]][] = [
  ["the same file", ["a.txt", "b.txt"], ["a.txt"], ["a.txt"]],
  ["another file beside it", ["src/b.ts"], ["src/a.ts"], []],
  ["a file where the move has a directory", ["new"], ["new/b.txt"], ["new"]],
  ["a file below what the move has as a file", ["lib/x/y.txt", "library"], ["lib"], ["lib/x/y.txt"]],
  ["a name that only begins alike", ["srcs/a", "src2"], ["src/a"], []],
  [
    "attributes at the top, which say how everything is written",
    [".gitattributes"],
    ["deep/in/a.txt"],
    [".gitattributes"],
  ],
  ["attributes above", ["deep/.gitattributes"], ["deep/in/a.txt"], ["deep/.gitattributes"]],
  ["attributes elsewhere", ["other/.gitattributes"], ["deep/in/a.txt"], []],
  ["attributes beside nothing", [".gitattributes"], [], []],
  ["another case", ["README.md"], ["readme.md"], []],
];

test.each(CASES)("ACC-2: %s", (_what, changed, moved, met) => {
  expect(meetingPaths(changed, moved)).toEqual(met);
});

test("ACC-2: where the file system does not tell case and composition apart, neither do we", () => {
  const changed = ["README.md", "u\u0308.txt", "Lib", "other.md"];
  expect(meetingPaths(changed, ["readme.md", "\u00fc.txt", "lib/a"], { foldCase: true })).toEqual(changed.slice(0, 3));
});
