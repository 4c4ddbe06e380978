import { expect, test } from "bun:test";
import type { PlanRevision } from "#domain/model/goal.ts";
import { T0 } from "../../../test/support/samples.ts";
import { revisionLines } from "./goal-show.ts";

const revision = (number: number, parts: Partial<PlanRevision> = {}): PlanRevision => ({
  ...{ revision: number, at: T0, source: "file", rejected: [], change: "edited by hand", nodeCount: 3, raw: "" },
  ...parts,
});

test("GOAL-2: each revision tells when, from where, by which prompt, and why", () => {
  const model = {
    ...({ source: "model", model: "claude-x", promptId: "plan-goal", promptHash: "0123456789abcdef0123" } as const),
    ...{ rejected: ["not JSON"], change: "split T1\u001b[2J", nodeCount: 1 },
  };
  expect(revisionLines([revision(1), revision(2, model)], false)).toEqual([
    "",
    "Revisions",
    "  2  2026-01-05 09:00 UTC  1 node, from a model, claude-x, prompt plan-goal 0123456789ab, 1 answer rejected: split T1\ufffd[2J",
    "  1  2026-01-05 09:00 UTC  3 nodes, from a file: edited by hand",
  ]);
});

test("GOAL-2: one plan from a file has no history; of many the latest are told", () => {
  expect(revisionLines([], true)).toEqual([]);
  expect(revisionLines([revision(1)], true)).toEqual([]);
  const many = Array.from({ length: 8 }, (_, index) => revision(index + 1));
  expect(revisionLines(many, false).at(-1)).toBe("  … and 3 earlier ones: --full");
  expect(revisionLines(many, false)).toHaveLength(8);
  expect(revisionLines(many, true)).toHaveLength(10);
});
