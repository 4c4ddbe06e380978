import { expect, test } from "bun:test";
import { nodeWith } from "../../../test/support/tree.ts";
import { findSharedFiles } from "./shared-files.ts";

function tasks(...wanted: [id: string, files: string[], more?: object][]) {
  return new Map(
    wanted.map(([id, files, more = {}]) => [
      id,
      nodeWith("todo", { workNodeId: id, path: `P1/${id}`, parentId: "P1", hints: { files }, ...more }),
    ]),
  );
}

test("SCOPE-1: tasks with files in common are told, unless one waits for the other", () => {
  const nodes = tasks(
    ["T1", ["src/parser"]],
    ["T2", ["src/parser/dates.ts"]],
    ["T3", ["docs"]],
    ["T4", ["src/*"], { dependsOn: ["T1", "T2"] }],
    ["T5", ["docs/a.md"], { dependsOn: ["T4"] }],
    ["T6", []],
  );
  expect(findSharedFiles(nodes)).toEqual([
    { one: "T1", other: "T2", files: ["src/parser", "src/parser/dates.ts"] },
    { one: "T3", other: "T5", files: ["docs", "docs/a.md"] },
  ]);
});

test("SCOPE-1: a dependency of a phase orders its tasks, through others too; parent and child do not compete", () => {
  const nodes = tasks(
    ["T1", ["src"]],
    ["T2", ["docs"], { dependsOn: ["T1"] }],
    ["T3", ["src/a"], { path: "P2/T3", parentId: "P2" }],
    ["S1", ["src/a/b"], { path: "P2/T3/S1", parentId: "T3" }],
  );
  nodes.set("P2", nodeWith("todo", { workNodeId: "P2", path: "P2", parentId: null, dependsOn: ["T2"], hints: {} }));
  expect(findSharedFiles(nodes)).toEqual([]);
});
