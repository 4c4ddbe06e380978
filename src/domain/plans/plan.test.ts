import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { blockNode, cancelNode, type NodeDefinition } from "#domain/model/work.ts";
import { ADA, planned, SMALL_PLAN } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import {
  after,
  allowed,
  finish,
  goalOf,
  nodeIn,
  plan,
  refused,
  replanned,
  statuses,
  treeOf,
} from "../../../test/support/tree.ts";
import { DEFAULT_PLAN_LIMITS, findCycle, PERSONS_PLAN_LIMITS, type PlannedNode, problemsOfPlan } from "./plan.ts";
import { type GoalTree, settle } from "./settle.ts";

const LIMITS = DEFAULT_PLAN_LIMITS;
const leaves = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => planned(`${prefix}${index + 1}`));
const phase = (id: string, children: PlannedNode[], parts: Partial<PlannedNode> = {}) =>
  planned(id, { children, ...parts });
const P = (...children: PlannedNode[]) => [phase("P1", children)];

const SIZES: [why: string, plan: readonly PlannedNode[], problems: string[]][] = [
  ["a small plan is sound", SMALL_PLAN, []],
  ["a plan without phases is none", [], ["The plan has no phases."]],
  ["a phase without tasks is empty", [planned("P1")], ["Phase P1 has no tasks."]],
  ["a task may be a leaf", P(planned("T1")), []],
  ["five phases fit", ["A", "B", "C", "D", "E"].map((id) => phase(id, [planned(`${id}1`)])), []],
  [
    "six phases do not",
    ["A", "B", "C", "D", "E", "F"].map((id) => phase(id, [planned(`${id}1`)])),
    ["The plan has 6 phases; 5 is the limit (planner.maxPhases)."],
  ],
  ["seven tasks fit", P(...leaves(7, "T")), []],
  ["eight tasks do not", P(...leaves(8, "T")), ["Phase P1 has 8 tasks; 7 is the limit (planner.maxTasksPerPhase)."]],
  ["seven subtasks fit", P(planned("T1", { children: leaves(7, "S") })), []],
  [
    "eight subtasks do not",
    P(planned("T1", { children: leaves(8, "S") })),
    ["Task T1 has 8 subtasks; 7 is the limit (planner.maxSubtasksPerTask)."],
  ],
];
test.each(SIZES)("WORK-3: limits: %s", (_why, phases, problems) => {
  expect(problemsOfPlan(phases, LIMITS).map(({ text }) => text)).toEqual(problems);
});

const FIELDS: [why: string, plan: readonly PlannedNode[], problems: string[]][] = [
  ["an id twice", P(planned("T1"), planned("T1")), ["The id T1 is used twice."]],
  ["an id of a phase and a task", P(planned("P1")), ["The id P1 is used twice."]],
  [
    "an id with a slash",
    P(planned("T/1")),
    ['"T/1" is not an id: letters, digits, dot, dash and underscore, at most 64 characters.'],
  ],
  [
    "ids that are taken for something else",
    P(
      planned("M_x"),
      planned("q_x"),
      planned("A_x"),
      planned("goal_x"),
      planned("m_x"),
      planned("M-x"),
      planned("am_x"),
    ),
    ["M_", "q_", "A_", "goal_", "m_"].map((beginning) => {
      const kind = { M_: "a landing", q_: "a question", A_: "an assignment", goal_: "a goal", m_: "a message" }[
        beginning
      ];
      return `The id ${beginning}x would be taken for ${kind}: no id of a plan begins with ${beginning}`;
    }),
  ],
  ["no name", P(planned("T1", { name: " " })), ["T1 has no name."]],
  ["no acceptance criteria", P(planned("T1", { acceptance: [] })), ["T1 has no acceptance criteria."]],
  [
    "a task with no objective and no outcome",
    P(planned("T1", { objective: "" })),
    ["T1 has neither objective nor outcome."],
  ],
  ["an outcome instead of an objective", P(planned("T1", { objective: "", expectedOutcome: "a parser" })), []],
  ["a subtask needs neither", P(planned("T1", { children: [planned("S1", { objective: "" })] })), []],
  [
    "a dependency that is not there",
    P(planned("T1", { deps: ["T9"] })),
    ["T1 depends on T9, which is not in the plan."],
  ],
  [
    "a dependency that is spelt otherwise",
    P(planned("T1.1"), planned("parser"), planned("T2", { deps: ["t1-1", "prser"] })),
    [
      "T2 depends on t1-1, which is not in the plan. Did you mean T1.1?",
      "T2 depends on prser, which is not in the plan. Did you mean parser?",
    ],
  ],
  ["blocking what is not there", P(planned("T1", { blocks: ["T9"] })), ["T1 blocks T9, which is not in the plan."]],
];
test("PLAN-5: a person's plan is told of its one limit, and of no key, since none sets it", () => {
  const texts = problemsOfPlan(P(...leaves(1_100, "T")), PERSONS_PLAN_LIMITS).map(({ text }) => text);
  expect(texts).toEqual(["The plan has 1101 nodes; 1000 is the limit, so it takes several goals."]);
});

test("PLAN-5: a goal keeps ids that it has already", () => {
  expect(problemsOfPlan(P(planned("M_x")), LIMITS, new Set(["M_x"]))).toEqual([]);
  const tree = treeOf(P(planned("T1")));
  const old = {
    ...tree,
    nodes: tree.nodes.map((node) => (node.workNodeId === "T1" ? { ...node, workNodeId: "M_x" } : node)),
  };
  expect(allowed(plan(old, P(planned("M_x"), planned("T2")))).map(({ type }) => type)).toContain("plan.accepted");
});

test("PLAN-5: a problem names its node by its place in the tree", () => {
  const places = problemsOfPlan(
    [
      phase("P1", [planned("T1"), planned("T1", { acceptance: [] })]),
      phase("P2", [planned("T2", { deps: ["T1", "T7"], hints: { files: ["a", "../b"] } })]),
    ],
    LIMITS,
  ).map(({ node, field, index }) => [node, field, index]);
  expect(places).toEqual([
    [[0, 1], "id", undefined],
    [[0, 1], "acceptance", undefined],
    [[1, 0], "files", 1],
    [[1, 0], "deps", 1],
  ]);
});

test.each(FIELDS)("PLAN-5: a plan by hand is judged like any other: %s", (_why, phases, problems) => {
  expect(problemsOfPlan(phases, LIMITS).map(({ text }) => text)).toEqual(problems);
});

const CIRCLES: [why: string, plan: readonly PlannedNode[], says: RegExp][] = [
  ["on itself", P(planned("T1", { deps: ["T1"] })), /T1 depends on itself/],
  ["blocking itself", P(planned("T1", { blocks: ["T1"] })), /T1 depends on itself/],
  [
    "of two",
    P(planned("T1", { deps: ["T2"] }), planned("T2", { deps: ["T1"] })),
    /cycle: T1 → T2 → T1|cycle: T2 → T1 → T2/,
  ],
  [
    "of three, over phases",
    [
      phase("P1", [planned("T1", { deps: ["T3"] })]),
      phase("P2", [planned("T2", { deps: ["T1"] })]),
      phase("P3", [planned("T3", { deps: ["T2"] })]),
    ],
    /form a cycle/,
  ],
  ["by deps and blocks", P(planned("T1", { deps: ["T2"], blocks: ["T2"] }), planned("T2")), /form a cycle/],
  [
    "of phases",
    [phase("P1", [planned("T1")], { deps: ["P2"] }), phase("P2", [planned("T2")], { deps: ["P1"] })],
    /form a cycle/,
  ],
  [
    "through a phase: a task waits for the phase that waits for the task's own",
    [phase("P1", [planned("T1", { deps: ["P2"] })]), phase("P2", [planned("T2")], { deps: ["P1"] })],
    /form a cycle/,
  ],
  [
    "through a parent: T1 needs S2, whose task needs T1",
    P(planned("T1", { deps: ["S2"] }), planned("T2", { deps: ["T1"], children: [planned("S2")] })),
    /form a cycle/,
  ],
  ["a child that needs its own phase", P(planned("T1", { deps: ["P1"] })), /one is inside the other/],
  [
    "a subtask that needs its own phase",
    P(planned("T1", { children: [planned("S1", { deps: ["P1"] })] })),
    /one is inside the other/,
  ],
  ["a phase that needs its own child", [phase("P1", [planned("T1")], { deps: ["T1"] })], /one is inside the other/],
];
test.each(CIRCLES)("WORK-3: a circle is refused: %s", (_why, phases, says) => {
  const { kind, code, message, hint } = refused(plan({ goal: goalOf(), nodes: [] }, phases));
  expect({ kind, code }).toEqual({ kind: "usage", code: "PLAN_INVALID" });
  expect(message).toMatch(says);
  expect(hint).toContain("nothing was stored");
});

test("many problems are told at once, up to twenty", () => {
  const { message } = refused(plan({ goal: goalOf(), nodes: [] }, P(...leaves(30, "T/"))));
  expect(message).toContain("31 problems");
  expect(message).toContain("… and 11 more");
});

describe("WORK-1: what a node inherits", () => {
  const tree = treeOf(
    [
      phase("P1", [planned("T1", { tags: ["ui"], blocks: ["T2"], children: [planned("S1")] }), planned("T2")], {
        tags: ["p"],
      }),
    ],
    { tags: ["goal"] },
  );

  test("tags of the goal and of every parent, its own last", () => {
    expect(tree.nodes.map((node) => [node.workNodeId, node.tags])).toEqual([
      ["P1", ["goal", "p"]],
      ["T1", ["goal", "p", "ui"]],
      ["S1", ["goal", "p", "ui"]],
      ["T2", ["goal", "p"]],
    ]);
  });

  test("what blocks it becomes what it depends on", () => {
    expect(nodeIn(tree, "T2").dependsOn).toEqual(["T1"]);
    expect(nodeIn(tree, "T2").status).toBe("todo");
  });
});

describe("a revision", () => {
  const base = P(planned("T1"), planned("T2", { deps: ["T1"] }));
  const revised = (tree: GoalTree, phases: readonly PlannedNode[]) => {
    const decision = plan(tree, phases);
    if (!decision.ok) throw new Error(decision.refusal.message);
    return decision;
  };

  test("the same plan again changes nothing but the number", () => {
    const decision = revised(treeOf(base), base);
    expect(decision.value).toEqual({
      revision: 2,
      added: 0,
      changed: 0,
      cancelled: 0,
      kept: 3,
      shared: [],
      stayCancelled: [],
    });
    expect(decision.events.map((event) => event.type)).toEqual(["plan.accepted"]);
  });

  test("new ids are added, changed ones redefined, missing open ones cancelled", () => {
    const tree = treeOf(base);
    const next = P(planned("T1", { name: "A better name" }), planned("T3"));
    const decision = revised(tree, next);
    expect(decision.value).toEqual({
      revision: 2,
      added: 1,
      changed: 1,
      cancelled: 1,
      kept: 1,
      shared: [],
      stayCancelled: [],
    });
    expect(decision.events.map((event) => `${event.type} ${event.nodeId ?? ""} ${event.because}`)).toEqual([
      "plan.accepted  plan-revised",
      "work.added T3 plan-revised",
      "work.redefined T1 plan-revised",
      "work.cancelled T2 left-out-of-the-plan",
    ]);
    const now = replanned(tree, next);
    expect(statuses(now)).toEqual({ P1: "queued", T1: "queued", T2: "cancelled", T3: "queued" });
    expect(nodeIn(now, "T1")).toMatchObject({ name: "A better name", revision: 2 });
  });

  test("finished work is kept, also when the new plan leaves it out or moves it up and down", () => {
    const tree = finish(treeOf(base), "T1");
    expect(statuses(replanned(tree, P(planned("T9"), planned("T2"))))).toMatchObject({ T1: "done", T2: "queued" });
    expect(statuses(replanned(tree, P(planned("T0"), planned("T1"), planned("T2"))))).toMatchObject({ T1: "done" });
  });

  test("what was cancelled stays so under its id, and is named", () => {
    const tree = replanned(treeOf(base), P(planned("T1")));
    expect(revised(tree, base).value).toMatchObject({ added: 0, kept: 3, stayCancelled: ["T2"] });
    expect(statuses(replanned(tree, base))).toMatchObject({ T2: "cancelled" });
  });

  const ENDED: [why: string, node: PlannedNode][] = [
    ["its name", planned("T1", { name: "Other" })],
    ["its acceptance criteria", planned("T1", { acceptance: ["other"] })],
    ["its dependencies", planned("T1", { deps: ["T3"] })],
    ["its hints", planned("T1", { hints: { riskLevel: "high" } })],
  ];
  test.each(ENDED)("WORK-2: a finished node does not change: %s", (_why, node) => {
    const tree = finish(treeOf(P(planned("T1"), planned("T3"))), "T1");
    expect(refused(plan(tree, P(node, planned("T3"))))).toMatchObject({ kind: "conflict", code: "NODE_ENDED" });
  });

  test("a finished node does not move to another phase", () => {
    const before = [phase("P1", [planned("T1"), planned("T2")]), phase("P2", [planned("T3")])];
    const next = [phase("P1", [planned("T2")]), phase("P2", [planned("T3"), planned("T1")])];
    expect(refused(plan(finish(treeOf(before), "T1"), next)).code).toBe("NODE_ENDED");
  });

  test("new tags of the goal do not stand in the way of finished nodes", () => {
    const tree = finish(treeOf(base), "T1");
    const tagged = { ...tree, goal: { ...tree.goal, tags: ["later"] } };
    const now = replanned(tagged, base);
    expect(nodeIn(now, "T1").tags).toEqual([]);
    expect(nodeIn(now, "T2").tags).toEqual(["later"]);
  });

  test("nothing is added below what has ended", () => {
    const two = [phase("P1", [planned("T1")]), phase("P2", [planned("T2")])];
    const tree = finish(treeOf(two), "T1");
    expect(nodeIn(tree, "P1").status).toBe("done");
    const next = [phase("P1", [planned("T1"), planned("T9")]), phase("P2", [planned("T2")])];
    expect(refused(plan(tree, next))).toMatchObject({ kind: "conflict", code: "PARENT_ENDED" });
  });

  test.each(["completed", "cancelled", "archived"] as const)("a goal that is %s takes no plan", (status) => {
    expect(refused(plan({ goal: goalOf({ status }), nodes: [] }, base)).code).toBe("GOAL_ENDED");
  });

  test("GOAL-3: a paused goal may be planned", () => {
    expect(plan({ goal: goalOf({ status: "paused" }), nodes: [] }, base).ok).toBe(true);
  });

  const LATE: [
    why: string,
    ready: (tree: GoalTree) => GoalTree,
    next: readonly PlannedNode[],
    waits: string | undefined,
  ][] = [
    ["a queued node on an open one", (tree) => tree, P(planned("T1", { deps: ["T3"] }), planned("T3")), "T1"],
    [
      "a queued node on a new one",
      (tree) => tree,
      P(planned("T1", { deps: ["T9"] }), planned("T3"), planned("T9")),
      "T1",
    ],
    ["a queued node by `blocks`", (tree) => tree, P(planned("T1"), planned("T3", { blocks: ["T1"] })), "T1"],
    [
      "a blocked node, which would come back as queued",
      (tree) => after(tree, blockNode(nodeIn(tree, "T1"), { kind: "human", detail: "x" }, ADA)),
      P(planned("T1", { deps: ["T3"] }), planned("T3")),
      "T1",
    ],
    [
      "a queued node through its phase",
      (tree) => tree,
      [phase("P1", [planned("T1"), planned("T3")], { deps: ["P2"] }), phase("P2", [planned("T5")])],
      "P1",
    ],
    [
      "a queued node on a cancelled one",
      (tree) => after(tree, cancelNode(nodeIn(tree, "T3"), tree.nodes, null, ADA)),
      P(planned("T1", { deps: ["T3"] }), planned("T3")),
      "T1",
    ],
    [
      "a node on one that is done already",
      (tree) => finish(tree, "T3"),
      P(planned("T1", { deps: ["T3"] }), planned("T3")),
      undefined,
    ],
    ["a new node on any", (tree) => tree, P(planned("T1"), planned("T3"), planned("T9", { deps: ["T3"] })), undefined],
  ];
  test.each(LATE)("WORK-3: a new dependency for %s", (_why, ready, next, waits) => {
    const decision = plan(ready(treeOf(P(planned("T1"), planned("T3")))), next);
    if (waits === undefined) {
      expect(allowed(decision).length).toBeGreaterThan(0);
      return;
    }
    const { kind, code, message, hint } = refused(decision);
    expect({ kind, code }).toEqual({ kind: "conflict", code: "DEPENDENCY_TOO_LATE" });
    expect(message).toContain(`The plan makes ${waits} wait for`);
    expect(hint).toContain("Leave that dependency out");
  });

  test("WORK-3: a node that still waits may be given more to wait for", () => {
    const next = P(planned("T1"), planned("T2", { deps: ["T1", "T3"] }), planned("T3"));
    expect(statuses(replanned(treeOf(base), next))).toMatchObject({ T1: "queued", T2: "todo", T3: "queued" });
  });
});

describe("WORK-3: for any plan", () => {
  const anyPlan = fc
    .array(fc.array(fc.record({ deps: fc.array(fc.nat(11), { maxLength: 3 }) }), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((phases) => {
      const ids = phases.flatMap((tasks, p) => [`P${p}`, ...tasks.map((_, t) => `T${p}.${t}`)]);
      return phases.map((tasks, p) =>
        phase(
          `P${p}`,
          tasks.map(({ deps }, t) =>
            planned(`T${p}.${t}`, { deps: deps.map((index) => ids[index % ids.length] ?? "P0") }),
          ),
        ),
      );
    });

  test("an accepted one always has something ready, and finishing what is ready finishes all of it", () => {
    fc.assert(
      fc.property(anyPlan, (phases) => {
        const decision = plan({ goal: goalOf(), nodes: [] }, phases);
        if (!decision.ok) return;
        let tree = treeOf(phases);
        for (let steps = 0; tree.goal.status === "active"; steps += 1) {
          const next = tree.nodes.find((node) => node.leaf && node.status === "queued");
          if (!next || steps > 100) throw new Error("stuck");
          tree = finish(tree, next.workNodeId);
        }
        expect(settle(tree, ADA)).toEqual([]);
        expect(Object.values(statuses(tree)).every((status) => status === "done")).toBe(true);
      }),
      { numRuns: scaled(200) },
    );
  });

  test("finding a circle ends on any graph, and what it names is one", () => {
    const definition = nodeIn(treeOf(), "T1.1");
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 1, maxLength: 8 }), (edges) => {
        const nodes = new Map<string, NodeDefinition>(
          edges.map((deps, index) => [
            `n${index}`,
            {
              ...definition,
              parentId: null,
              dependsOn: deps.filter((dep) => dep < edges.length).map((dep) => `n${dep}`),
            },
          ]),
        );
        const circle = findCycle(nodes);
        if (!circle) return;
        expect(circle.at(0)).toBe(circle.at(-1) ?? "");
        circle.slice(1).forEach((id, index) => {
          expect(nodes.get(circle[index] ?? "")?.dependsOn).toContain(id);
        });
      }),
      { numRuns: scaled(300) },
    );
  });
});
