import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { planOf } from "../../../test/support/large-plan.ts";
import { planned, SMALL_PLAN } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { finish, treeOf } from "../../../test/support/tree.ts";
import { findCriticalPath } from "./critical-path.ts";
import { DEFAULT_PLAN_LIMITS, PERSONS_PLAN_LIMITS, type PlannedNode, problemsOfPlan } from "./plan.ts";
import { listPieces, partsOfPlan, partsOfWork } from "./plan-pieces.ts";
import { schedulePlan } from "./plan-schedule.ts";

const P = (...children: PlannedNode[]) => [planned("P1", { children })];
const own = { hints: { ownAgent: true } };
const minutes = (each: Readonly<Record<string, number>>) => (id: string) => each[id];

const SHAPES: [why: string, plan: readonly PlannedNode[], pieces: string, path: string, width: number][] = [
  ["one task is a plan", P(planned("T1")), "T1", "T1", 1],
  ["tasks that nothing orders are done side by side", P(planned("T1"), planned("T2")), "T1 T2", "T1", 2],
  ["a chain", P(planned("T1"), planned("T2", { deps: ["T1"] })), "T1 T2", "T1 T2", 1],
  ["the same drawn from the other end", P(planned("T1", { blocks: ["T2"] }), planned("T2")), "T1 T2", "T1 T2", 1],
  ["subtasks are done by the agent of their task", SMALL_PLAN, "T1.1 T1.2 T2.1", "T1.1 T1.2 T2.1", 1],
  [
    "a phase waits for all of another one",
    [
      planned("P1", { children: [planned("A"), planned("B")] }),
      planned("P2", { deps: ["P1"], children: [planned("C")] }),
    ],
    "A B C",
    "A C",
    2,
  ],
  [
    "a subtask with an agent of its own is done beside its task",
    P(planned("T1", { children: [planned("S1", own), planned("S2")] }), planned("T2", { deps: ["T1"] })),
    "T1 S1 T2",
    "T1 T2",
    2,
  ],
  [
    "a task whose subtasks all have one needs none itself",
    P(planned("T1", { children: [planned("S1", own), planned("S2", { ...own, deps: ["S1"] })] })),
    "S1 S2",
    "S1 S2",
    1,
  ],
  [
    "what waits for a subtask waits for the agent that does it",
    P(planned("T1", { children: [planned("S1")] }), planned("T2", { deps: ["S1"] })),
    "T1 T2",
    "T1 T2",
    1,
  ],
  [
    "tasks with files in common are done one by one",
    P(planned("T1", { hints: { files: ["src"] } }), planned("T2", { hints: { files: ["src/a"] } }), planned("T3")),
    "T1 T2 T3",
    "T1",
    2,
  ],
  [
    "parts of two tasks that wait for each other crosswise end too",
    P(planned("T1", { children: [planned("S1"), planned("S2", { deps: ["T2"] })] }), planned("T2", { deps: ["S1"] })),
    "T1 T2",
    "T1 T2",
    1,
  ],
];
test.each(SHAPES)("PLAN-1: the shape of a plan: %s", (_why, plan, pieces, path, width) => {
  const parts = partsOfPlan(plan);
  expect(listPieces(parts).map(({ id }) => id)).toEqual(pieces.split(" "));
  expect(findCriticalPath(parts)).toMatchObject({ path: path.split(" "), unit: "tasks" });
  expect(schedulePlan(parts, Number.POSITIVE_INFINITY).peak).toBe(width);
});

describe("PLAN-1: the critical path", () => {
  const plan = P(
    planned("A"),
    planned("B", { deps: ["A"] }),
    planned("C", { deps: ["B"] }),
    planned("X"),
    planned("Y", { deps: ["X"] }),
  );

  test("is the longest by time where the time of each is known", () => {
    const times = minutes({ A: 1, B: 1, C: 1, X: 5, Y: 5 });
    expect(findCriticalPath(partsOfPlan(plan), times)).toEqual({ path: ["X", "Y"], length: 10, unit: "ms" });
  });

  test("is the longest by count where the time of one is not", () => {
    const times = minutes({ A: 1, B: 1, C: 1, X: 5 });
    expect(findCriticalPath(partsOfPlan(plan), times)).toEqual({ path: ["A", "B", "C"], length: 3, unit: "tasks" });
  });

  test("of a running plan leaves out what has ended", () => {
    const running = finish(finish(treeOf(SMALL_PLAN), "S1.1.1"), "S1.1.2");
    expect(findCriticalPath(partsOfWork(running.nodes)).path).toEqual(["T1.2", "T2.1"]);
    const done = finish(finish(running, "T1.2"), "T2.1");
    expect(findCriticalPath(partsOfWork(done.nodes))).toMatchObject({ path: [], length: 0 });
  });
});

const ROUNDS: [places: number, rounds: number, peak: number][] = [
  [1, 7, 1],
  [2, 4, 2],
  [3, 3, 3],
  [7, 1, 7],
  [100, 1, 7],
];
test.each(ROUNDS)("PLAN-1: seven tasks with %p places take %p rounds", (places, rounds, peak) => {
  const parts = partsOfPlan(P(...["A", "B", "C", "D", "E", "F", "G"].map((id) => planned(id))));
  expect(schedulePlan(parts, places)).toEqual({ length: rounds, peak, unit: "tasks" });
});

test("PLAN-1: with places a plan takes as long as its tasks do, one after the other", () => {
  const parts = partsOfPlan(P(planned("A"), planned("B"), planned("C", { deps: ["A"] })));
  const times = minutes({ A: 3, B: 10, C: 4 });
  expect(schedulePlan(parts, 2, times)).toEqual({ length: 10, peak: 2, unit: "ms" });
  expect(schedulePlan(parts, 1, times)).toEqual({ length: 17, peak: 1, unit: "ms" });
});

/** A plan of so many tasks in phases; each waits for some that stand before it. */
function anyPlan(most: number): fc.Arbitrary<PlannedNode[]> {
  const task = fc.record({
    deps: fc.array(fc.nat(), { maxLength: 3 }),
    parts: fc.nat(3),
    own: fc.boolean(),
    file: fc.option(fc.nat(5)),
  });
  return fc.array(task, { minLength: 1, maxLength: most }).map((tasks) => {
    const nodes = tasks.map(({ deps, parts, own: isOwn, file }, index) =>
      planned(`T${index}`, {
        deps: index === 0 ? [] : [...new Set(deps.map((dep) => `T${dep % index}`))],
        hints: file === null ? {} : { files: [`src/${file}`] },
        children: Array.from({ length: parts }, (_, at) =>
          planned(`S${index}.${at}`, { hints: isOwn && at > 0 ? { ownAgent: true } : {} }),
        ),
      }),
    );
    const half = Math.ceil(nodes.length / 2);
    return [
      planned("P0", { children: nodes.slice(0, half) }),
      ...(nodes.length > half ? [planned("P1", { deps: ["P0"], children: nodes.slice(half) })] : []),
    ];
  });
}

test("PLAN-1: of any plan the path is a real chain, and no longer than the plan", () => {
  fc.assert(
    fc.property(anyPlan(30), fc.integer({ min: 1, max: 8 }), (plan, places) => {
      expect(problemsOfPlan(plan, PERSONS_PLAN_LIMITS)).toEqual([]);
      const parts = partsOfPlan(plan);
      const pieces = listPieces(parts);
      const { path, length } = findCriticalPath(parts);
      expect(new Set(path).size).toBe(path.length);
      expect(length).toBe(path.length);
      expect(length).toBeLessThanOrEqual(pieces.length);
      const byId = new Map(parts.map((part) => [part.id, part]));
      for (const [index, id] of path.entries()) {
        const before = path[index - 1];
        if (before !== undefined) expect(waitsFor(id, before, byId)).toBe(true);
      }
      const alone = schedulePlan(parts, 1);
      const free = schedulePlan(parts, Number.POSITIVE_INFINITY);
      const some = schedulePlan(parts, places);
      expect(alone).toMatchObject({ length: pieces.length, peak: 1 });
      expect(free.length).toBeGreaterThanOrEqual(length);
      expect(some.peak).toBeLessThanOrEqual(places);
      expect(some.length * some.peak).toBeGreaterThanOrEqual(pieces.length);
      // As many places as are ever used are as good as any number of them.
      expect(schedulePlan(parts, free.peak)).toEqual(free);
    }),
    { numRuns: scaled(100) },
  );
});

/** Does it, a parent or a part of it wait for that one, or for something that holds it? */
function waitsFor(
  id: string,
  before: string,
  byId: ReadonlyMap<string, ReturnType<typeof partsOfPlan>[number]>,
): boolean {
  const holders = (of: string): string[] => {
    const parent = byId.get(of)?.definition.parentId ?? null;
    return parent === null ? [of] : [of, ...holders(parent)];
  };
  const inside = [...byId.keys()].filter((one) => holders(one).includes(id));
  const deps = [...holders(id), ...inside].flatMap((one) => byId.get(one)?.definition.dependsOn ?? []);
  return deps.some((dep) => holders(before).includes(dep) || holders(dep).includes(before));
}

test("PLAN-1: a thousand nodes are looked at about as often, each, as 245 are", () => {
  // Counted, not timed: how often the definitions of the plan are asked for what they depend on.
  const count = (nodes: number) => {
    let asked = 0;
    const parts = partsOfPlan(planOf(nodes)).map(({ definition, ...rest }) => ({
      ...rest,
      definition: new Proxy(definition, {
        get: (target, key) => {
          asked += 1;
          return Reflect.get(target, key);
        },
      }),
    }));
    findCriticalPath(parts);
    schedulePlan(parts, 5);
    return asked / parts.length;
  };
  expect(problemsOfPlan(planOf(245), { ...DEFAULT_PLAN_LIMITS, maxNodes: 1_000 })).toEqual([]);
  expect(count(1_000) / count(245)).toBeLessThan(1.5);
});
