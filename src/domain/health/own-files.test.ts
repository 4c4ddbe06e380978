/** INIT-1: what lies in `.overseer/` and is not ours is never taken for ours. */
import { expect, test } from "bun:test";
import { isOwnFile } from "./own-files.ts";

test.each([
  [".gitignore", true],
  ["config.yaml", true],
  [".config.yaml.0b0e1c9e-9f65-4b0b-8f0e-3a2b6f6f2b11.tmp", true],
  ["hooks.yaml", true],
  ["roles/mine.yaml", true],
  ["agents/mine.md", true],
  ["salute/ada-1.json", true],
  ["overseer.db-wal", true],
  ["manual_intervention_needed_3.txt", true],
  ["config.yaml.orig", false],
  ["roles/notes.txt", false],
  ["roles/mine.yaml/deep", false],
  ["notes/n", false],
  ["mine", false],
  ["runs/1", false],
  ["sub/config.yaml", false],
])("INIT-1: %s is ours: %p", (path, ours) => {
  expect(isOwnFile(path)).toBe(ours);
});
