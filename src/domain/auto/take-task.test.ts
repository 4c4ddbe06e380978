import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AutoCondition, applyToAuto } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { autoWith, poolTaskWith } from "../../../test/support/auto.ts";
import { T0 } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { allowed, goalOf, nodeWith, placed, refused } from "../../../test/support/tree.ts";
import { endTask, judgeEnd, listForgotten, type PulledTask, takeTask, taskKey } from "./take-task.ts";

const MOMENT = { now: T0, actor: "overseer" } as const;
const pulled = (change: Partial<PulledTask> = {}): PulledTask => ({
  ...{ source: "command", key: taskKey("Fix it."), pull: "P_1", text: "Fix it.", words: "Fix it." },
  ...change,
});
const take = (auto: AutoCondition | undefined, task = pulled(), named?: Goal) =>
  takeTask({ auto, named }, "goal_fix", task, MOMENT);

describe("AUTO-12: what the pool printed is stored before it is assigned, once", () => {
  const isOpen = autoWith({ open: [poolTaskWith({ goalId: "goal_A", key: taskKey("Fix it.") })] });
  const rows: readonly [string, AutoCondition | undefined, PulledTask, string][] = [
    ["the first task ever", undefined, pulled(), "taken"],
    ["another task", autoWith({ lastPull: "P_0" }), pulled(), "taken"],
    ["an answer that is in the log already", autoWith({ lastPull: "P_1" }), pulled(), "known"],
    ["FAIL-4: the same words while it is open", isOpen, pulled(), "repeated"],
    ["FAIL-4: the same words once it is over", autoWith(), pulled(), "taken"],
    [
      "FAIL-4: other ends of lines are the same words",
      autoWith({ open: [poolTaskWith({ key: taskKey("a\nb") })] }),
      pulled({ text: "a\r\nb", key: taskKey(" a\r\nb\n") }),
      "repeated",
    ],
    [
      "a file whose task was taken",
      autoWith({ files: { "1.md#h": "goal_A" } }),
      pulled({ source: "directory", key: "1.md#h", pull: null }),
      "known",
    ],
    [
      "a file that was refused",
      autoWith({ files: { "1.md#h": "" } }),
      pulled({ source: "directory", key: "1.md#h", pull: null }),
      "known",
    ],
    [
      "another file",
      autoWith({ files: { "1.md#h": "" } }),
      pulled({ source: "directory", key: "2.md#h", pull: null }),
      "taken",
    ],
  ];
  test.each(rows)("%s", (_name, auto, task, expected) => {
    const decision = take(auto, task);
    expect(decision.ok && decision.value.kind).toBe(expected as "taken");
    const types = allowed(decision).map(({ type }) => type);
    expect([types.includes("goal.created"), types.includes("pool.taken"), types.includes("pool.repeated")]).toEqual([
      ...[expected === "taken", expected === "taken", expected === "repeated"],
    ]);
  });

  test("it becomes a goal with one task whose objective it is, in the commit that remembers where it came from", () => {
    const events = allowed(take(undefined));
    expect(events[0]).toMatchObject({
      type: "goal.created",
      goalId: "goal_fix",
      data: { origin: { kind: "source:command" } },
    });
    expect(events.filter(({ type }) => type === "work.added")).toHaveLength(2);
    expect(events.find(({ nodeId, type }) => type === "work.added" && nodeId === "T1")?.data).toMatchObject({
      objective: "Fix it.",
    });
    expect(events.at(-1)).toMatchObject({ type: "pool.taken", goalId: "goal_fix", data: { pull: "P_1" } });
  });

  test("a name that is taken is refused, and nothing is written", () => {
    expect(refused(take(undefined, pulled(), goalOf())).code).toBe("GOAL_EXISTS");
  });

  test("AUTO-12, FAIL-4: in any order of answers, repeats and ends, each asking counts once and no open task is done twice", () => {
    const step = fc.record({ text: fc.constantFrom("a", "b", "c"), pull: fc.nat({ max: 8 }), ends: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let auto: AutoCondition | undefined;
        let last = -1;
        const isOpen = new Set<string>();
        for (const [index, { text, pull, ends }] of steps.entries()) {
          // Askings follow each other; only the last one may come again.
          const asked = Math.max(last, pull);
          const decision = takeTask(
            { auto, named: undefined },
            `goal_${index}`,
            pulled({ text, key: text, pull: `P_${asked}` }),
            MOMENT,
          );
          const value = decision.ok ? decision.value.kind : "refused";
          expect(value).toBe(asked === last ? "known" : isOpen.has(text) ? "repeated" : "taken");
          last = asked;
          if (value === "taken") isOpen.add(text);
          for (const event of allowed(decision))
            if (event.type.startsWith("pool.")) auto = applyToAuto(auto, placed(event) as EventOf<"pool.taken">);
          if (!ends || !auto?.open[0]) continue;
          isOpen.delete(auto.open[0].key);
          const data = { outcome: "landed", costUsd: 0 } as const;
          auto = applyToAuto(
            auto,
            placed({
              type: "pool.ended",
              actor: "overseer",
              because: "landed",
              goalId: auto.open[0].goalId,
              data,
            }) as EventOf<"pool.ended">,
          );
        }
      }),
      { numRuns: scaled(100) },
    );
  });
});

test("FAIL-4: a file that could not be a task is forgotten when it is gone; one that was done only where there are very many", () => {
  const files = { "1.md#h": "goal_A", "2.md#h": "goal_B", "3.md#h": "" };
  const auto = autoWith({ open: [poolTaskWith({ source: "directory", key: "1.md#h" })], files });
  expect(listForgotten(auto, ["1.md#h", "2.md#h", "3.md#h"])).toEqual(["3.md#h"]);
  const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`x${at}#h`, "goal_X"]));
  expect(listForgotten({ ...auto, files: { ...files, ...many } }, ["1.md#h", "2.md#h"])).toEqual(["2.md#h"]);
  expect(listForgotten(undefined, ["1.md#h"])).toEqual([]);
});

const CANCELLED = "all its children were cancelled";

describe("AUTO-5: a task of the pool ends once, by whatever way", () => {
  const unchanged = { statusReason: "no_changes: nothing was needed" };
  const rows: readonly [string, Goal | undefined, readonly WorkNode[], string | undefined][] = [
    ["its goal is at work", goalOf(), [nodeWith("in_progress")], undefined],
    ["its goal has no plan yet", goalOf(), [], undefined],
    ["its goal is paused", goalOf({ status: "paused" }), [nodeWith("cancelled")], undefined],
    ["it waits for a person", goalOf(), [nodeWith("blocked")], undefined],
    ["it landed", goalOf({ status: "completed" }), [nodeWith("done")], "landed"],
    ["a part of it landed", goalOf({ status: "completed" }), [nodeWith("done"), nodeWith("cancelled")], "landed"],
    ["nothing was changed", goalOf({ status: "cancelled" }), [nodeWith("cancelled", unchanged)], "unchanged"],
    ["nothing was changed, and its goal goes on", goalOf(), [nodeWith("cancelled", unchanged)], "unchanged"],
    ["a person cancelled its node", goalOf(), [nodeWith("cancelled", { statusReason: CANCELLED })], "cancelled"],
    ["its goal was cancelled", goalOf({ status: "cancelled" }), [nodeWith("cancelled")], "cancelled"],
    ["its goal is gone", undefined, [], "cancelled"],
  ];
  test.each(rows)("%s", (_name, goal, nodes, expected) => {
    expect(judgeEnd(goal, nodes)).toBe(expected as "landed");
    const auto = autoWith({ open: [poolTaskWith({ goalId: "goal_A" })] });
    const events = endTask("goal_A", { auto, goal, nodes }, 0.5, MOMENT);
    const closes = expected !== undefined && goal?.status === "active" ? ["goal.cancelled"] : [];
    expect(events.map(({ type }) => type as string)).toEqual(expected === undefined ? [] : [...closes, "pool.ended"]);
    expect(endTask("goal_A", { auto: autoWith(), goal, nodes }, 0.5, MOMENT)).toEqual([]);
  });
});
