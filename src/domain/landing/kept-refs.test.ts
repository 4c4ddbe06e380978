import { expect, test } from "bun:test";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { isKeptLongEnough } from "./kept-refs.ts";

const DAY = 86_400_000;
const ended = (status: "done" | "cancelled"): WorkNode => ({ ...nodeWith(status), updatedAt: 10 * DAY });

test.each<[string, WorkNode | undefined, number, boolean]>([
  ["nobody knows the node", undefined, 100 * DAY, false],
  ["the node is in progress", { ...nodeWith("in_progress"), updatedAt: 0 }, 100 * DAY, false],
  ["the node is blocked", { ...nodeWith("blocked"), updatedAt: 0 }, 100 * DAY, false],
  ["it landed a moment ago", ended("done"), 10 * DAY + 1, false],
  ["it landed long ago", ended("done"), 12 * DAY, true],
  ["it was given up long ago", ended("cancelled"), 12 * DAY, true],
  ["the clock was set back", ended("done"), 0, false],
])("MERGE-2: what was kept may go: %s", (_what, node, now, expected) => {
  expect(isKeptLongEnough(node, 2 * DAY, now)).toBe(expected);
});
