/** PLAN-2: whatever a sound plan looks like, putting it in order leaves it sound, and there is nothing more to put. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { PERSONS_PLAN_LIMITS, type PlannedNode, problemsOfPlan } from "./plan.ts";
import { putInOrder } from "./plan-order.ts";

const BARE = {
  ...{ objective: "o", expectedOutcome: "", acceptance: ["a"], definitionOfDone: "", blocks: [], tags: [] },
  ...{ deps: [] as string[], children: [] as PlannedNode[] },
};
const FILES = ["src", "src/a.ts", "src/b", "src/b/*.ts", "docs", "**/x.md"];

/** Tasks in phases; what each depends on is chosen among all tasks and phases, so circles occur. */
const anyPlan = fc
  .array(
    fc.array(fc.record({ files: fc.subarray(FILES), deps: fc.array(fc.nat(14), { maxLength: 2 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((phases): PlannedNode[] => {
    const ids = phases.flatMap((tasks, p) => [`P${p}`, ...tasks.map((_, t) => `T${p}.${t}`)]);
    return phases.map((tasks, p) => ({
      ...BARE,
      id: `P${p}`,
      name: `P${p}`,
      hints: {},
      children: tasks.map(({ files, deps }, t) => ({
        ...BARE,
        id: `T${p}.${t}`,
        name: `T${p}.${t}`,
        hints: { files },
        deps: [...new Set(deps.map((at) => ids[at % ids.length] ?? ""))],
      })),
    }));
  })
  .filter((phases) => problemsOfPlan(phases, PERSONS_PLAN_LIMITS).length === 0);

test("PLAN-2: tasks that share files are ordered without a circle, once and for all", () => {
  fc.assert(
    fc.property(anyPlan, fc.array(fc.nat(3), { maxLength: 3 }), (phases, begun) => {
      const settled = new Set(begun.map((at) => `T0.${at}`));
      const ordered = putInOrder(phases, settled);
      expect(problemsOfPlan(ordered.phases, PERSONS_PLAN_LIMITS)).toEqual([]);
      expect(putInOrder(ordered.phases, settled)).toEqual({ phases: ordered.phases, notes: [] });
      // What has begun is given nothing more to wait for.
      const depsOf = (all: readonly PlannedNode[]) =>
        all.flatMap(({ children }) => children.filter(({ id }) => settled.has(id)).map(({ deps }) => deps));
      expect(depsOf(ordered.phases)).toEqual(depsOf(phases));
    }),
    { numRuns: scaled(300) },
  );
});
