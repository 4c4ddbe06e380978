import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { viewPlan, viewWork } from "#domain/explain/plan-view.ts";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { estimatePlan, type FinishedWork } from "#domain/plans/estimate.ts";
import type { PlannedNode } from "#domain/plans/plan.ts";
import { diffPlan } from "#domain/plans/plan-diff.ts";
import { partsOfPlan, partsOfWork } from "#domain/plans/plan-pieces.ts";
import { progressOf } from "#domain/plans/rollup.ts";
import { anyText } from "../../test/support/any-text.ts";
import { LARGE, planOf } from "../../test/support/large-plan.ts";
import { planned } from "../../test/support/samples.ts";
import { attemptWith } from "../../test/support/snapshots.ts";
import { finish, treeOf } from "../../test/support/tree.ts";
import { planDiffLines } from "./plan-diff-lines.ts";
import { type PlanLook, planLines, treeLines } from "./plan-lines.ts";

const MIN = 60_000;
const DEFAULTS = { capability: "builder", runtime: "claude-code", runtimes: {} };
const took = (minutes: number, costUsd: number): FinishedWork => ({
  ...{ capability: "builder", runtime: "claude-code" },
  ...{ workingMs: minutes * MIN, tokens: 10_000 * minutes, costUsd },
});
const THREE = [took(10, 1), took(20, 2), took(30, 4)];

function show(plan: readonly PlannedNode[], look: PlanLook, finished: readonly FinishedWork[] = []): string[] {
  const parts = partsOfPlan(plan);
  return planLines(viewPlan(parts, estimatePlan(parts, { finished, defaults: DEFAULTS, places: 2 })), look);
}

function showWork(nodes: readonly WorkNode[], look: PlanLook): string[] {
  const grounds = { finished: [], defaults: DEFAULTS, places: 2 };
  const seen = nodes.map((node) => ({ ...node, progress: progressOf(node, nodes), waitsFor: [] }));
  return treeLines(viewWork(seen, estimatePlan(partsOfWork(nodes), grounds)), look);
}

const DATES: readonly PlannedNode[] = [
  planned("P1", {
    name: "Read dates",
    children: [
      planned("T1.1", {
        name: "A grammar for every format in docs/dates.md",
        acceptance: ["npm test -- grammar passes", "each sample of docs/dates.md is read"],
        hints: { files: ["src/dates/grammar.ts", "src/dates/tokens.ts", "test/grammar.test.ts"] },
        children: [planned("S1", { name: "ISO", acceptance: ["ISO parses"] })],
      }),
      planned("T1.2", {
        name: "Names of months",
        acceptance: ["locale tests pass"],
        hints: { files: ["src/locales"] },
      }),
      planned("T1.3", { name: "Notes", acceptance: ["docs/notes.md tells it"] }),
    ],
  }),
  planned("P2", {
    name: "Use them",
    deps: ["P1"],
    children: [
      planned("T2.1", { name: "The importer", acceptance: ["old files import"], hints: { capability: "scout" } }),
    ],
  }),
];

describe("PLAN-1: a plan as lines", () => {
  test("one task is a plan, and is shown as one", () => {
    const one = [planned("P1", { name: "Limits", children: [planned("T1", { name: "Add rate limiting" })] })];
    expect(show(one, { columns: 80 })).toEqual([
      "  P1  Limits",
      "    Reach P1",
      "    T1  Add rate limiting",
      "      Reach T1",
      "      done when T1 is seen to work",
      "",
      "1 phase, 1 task; 1 agent.",
      "No finished work to estimate from: it takes 3 finished tasks, and there are 0 of",
      "  builder on claude-code.",
    ]);
  });

  test("at 80 columns: the tree, its marks, and what it takes", () => {
    expect(show(DATES, { columns: 80 }, THREE)).toEqual([
      "  P1  Read dates",
      "    Reach P1",
      "  * T1.1  A grammar for every format in docs/dates.md  src/dates/grammar.ts, sr…",
      "      Reach T1.1",
      "      done when npm test -- grammar passes; each sample of docs/dates.md is read",
      "      S1  ISO",
      "        Reach S1",
      "        done when ISO parses",
      "    T1.2  Names of months  src/locales",
      "      Reach T1.2",
      "      done when locale tests pass",
      "    T1.3  Notes",
      "      Reach T1.3",
      "      done when docs/notes.md tells it",
      "  P2  Use them  after P1",
      "    Reach P2",
      "  * T2.1  The importer  scout",
      "      Reach T2.1",
      "      done when old files import",
      "",
      "2 phases, 4 tasks, 1 subtask; up to 3 agents at once, and places for 2",
      "  (agents.maxConcurrent): 3 rounds.",
      "* critical path: T1.1 → T2.1 (2 of 4 tasks)",
      "Estimate of 3 of 4 tasks: $6.00 ($3.00–$12.00), 600k tokens (300k–900k).",
      "From 3 finished tasks of builder on claude-code, least to most.",
      "No finished work to estimate from: it takes 3 finished tasks, and there are 0 of",
      "  scout on claude-code.",
    ]);
  });

  test("at 120 columns nothing of it is cut; with time where all of it is known", () => {
    const plan = [{ ...planned("P1"), children: DATES[0]?.children ?? [] }];
    expect(show(plan, { columns: 120 }, THREE)).toEqual([
      "  P1  Node P1",
      "    Reach P1",
      "    T1.1  A grammar for every format in docs/dates.md  src/dates/grammar.ts, src/dates/tokens.ts +1",
      "      Reach T1.1",
      "      done when npm test -- grammar passes; each sample of docs/dates.md is read",
      "      S1  ISO",
      "        Reach S1",
      "        done when ISO parses",
      "    T1.2  Names of months  src/locales",
      "      Reach T1.2",
      "      done when locale tests pass",
      "    T1.3  Notes",
      "      Reach T1.3",
      "      done when docs/notes.md tells it",
      "",
      "1 phase, 3 tasks, 1 subtask; up to 3 agents at once, and places for 2 (agents.maxConcurrent): 2 rounds.",
      "Estimate: 40 min (20 min–1 h), $6.00 ($3.00–$12.00), 600k tokens (300k–900k).",
      "From 3 finished tasks of builder on claude-code, least to most; the agents' own time, without waiting for you.",
    ]);
  });

  test("whole: every criterion, file and objective, broken between words", () => {
    const lines = show(DATES.slice(0, 1), { columns: 50, full: true });
    expect(lines.slice(0, 13)).toEqual([
      "  P1  Read dates",
      "    Reach P1",
      "    - P1 is seen to work",
      "    T1.1  A grammar for every format in",
      "      docs/dates.md",
      "      src/dates/grammar.ts, src/dates/tokens.ts,",
      "      test/grammar.test.ts",
      "      Reach T1.1",
      "      - npm test -- grammar passes",
      "      - each sample of docs/dates.md is read",
      "      S1  ISO",
      "        Reach S1",
      "        - ISO parses",
    ]);
  });

  test("245 nodes fit on three screens: tasks with their criteria, subtasks counted", () => {
    const lines = show(planOf(LARGE), { columns: 80, fullCommand: "overseer goal plan goal_x --show --full" });
    expect(lines.length).toBeLessThanOrEqual(85);
    expect(lines.slice(0, 3)).toEqual([
      "  P1  Phase number 1",
      "  * T1  Task number 1 of the large plan  src/part-0; 6 subtasks",
      "      done when T1 is seen to work",
    ]);
    expect(lines).toContain("… 205 nodes folded; overseer goal plan goal_x --show --full shows everything");
    expect(lines.join("\n")).toMatch(/^\* critical path: T1 → T3 → [^*]* → T35 \(20 of 35 tasks\)$/m);
    const whole = show(planOf(LARGE), { columns: 80, full: true });
    expect(whole.slice(0, whole.indexOf("")).filter((line) => /^ +(\* )?[PTS]\d/.test(line))).toHaveLength(245);
  });

  test("a thousand are told by their phases", () => {
    expect(show(planOf(1_000), { columns: 100 }).slice(0, 6)).toEqual([
      "  P1  Phase number 1  29 tasks, 174 subtasks",
      "  P2  Phase number 2  after P1; 29 tasks, 174 subtasks",
      "  P3  Phase number 3  after P2; 29 tasks, 174 subtasks",
      "  P4  Phase number 4  after P3; 29 tasks, 174 subtasks",
      "  P5  Phase number 5  after P4; 27 tasks, 156 subtasks",
      "… 995 nodes folded; --full shows everything",
    ]);
  });

  test("what its agent is told is seen before it is accepted: two lines of it, and how much more there is", () => {
    const objective = `Limit every route. ${"Count each request by its key, and answer 429 beyond the limit. ".repeat(4)}`;
    const task = planned("T1", {
      ...{
        name: "Limits",
        objective: "Limit it",
        expectedOutcome: "Limits hold",
        definitionOfDone: "Then push to main",
      },
      acceptance: [],
    });
    const long = planned("T2", { name: "Long", objective, acceptance: [] });
    const same = planned("T3", { name: "Same", objective: "Same", acceptance: [] });
    const plan = [planned("P1", { name: "Api", objective: "", children: [task, long, same] })];
    const lines = show(plan, { columns: 80 });
    expect(lines.slice(0, lines.indexOf(""))).toEqual([
      "  P1  Api",
      "    T1  Limits",
      "      Limit it Limits hold Then push to main",
      "    T2  Long",
      "      Limit every route. Count each request by its key, and answer 429 beyond",
      "      the limit. Count each request by its key, a… (159 more characters: --full)",
      "    T3  Same",
      "… what is cut: --full",
    ]);
    const whole = show(plan, { columns: 80, full: true });
    expect(whole).toContain("      Then push to main");
    expect(whole.join(" ").match(/beyond/g)).toHaveLength(4);
  });

  test("where that does not fit it is said that it is hidden", () => {
    const tasks = Array.from({ length: 40 }, (_, at) => planned(`T${at}`, { objective: "x ".repeat(100) }));
    const lines = show([planned("P1", { children: tasks })], { columns: 80 });
    expect(lines).toContain("… objectives are hidden: --full");
    const fewer = show([planned("P1", { children: tasks.slice(0, 25) })], { columns: 80 });
    expect(fewer.filter((line) => line.includes("more characters: --full)"))).toHaveLength(25);
    const fullCommand = "overseer goal plan goal_x --show --full";
    expect(show(planOf(LARGE), { columns: 80, fullCommand })).toContain(`… objectives are hidden: ${fullCommand}`);
  });

  test("colour only where it is wanted, and never a sign that a terminal acts upon", () => {
    const evil = [
      planned("P1", { children: [planned("T1", { name: "x\u001b[2J\n\u202ey", acceptance: ["\u0007a\rb"] })] }),
    ];
    const plain = show(evil, { columns: 80 }).join("\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
    expect(plain).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(plain).toContain("x\ufffd[2J⏎\ufffdy");
    const painted = show(evil, { columns: 80, colour: true }).join("\n");
    expect(painted).toContain("\u001b[1m");
    expect(Bun.stripANSI(painted)).toBe(plain);
  });

  test("any names, at any width: no line is wider, none holds a control character", () => {
    fc.assert(
      fc.property(
        fc.array(anyText({ maxLength: 60 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 40, max: 200 }),
        fc.boolean(),
        (names, columns, full) => {
          const children = names.map((name, index) =>
            planned(`T${index}`, { name, acceptance: [name], hints: { files: [name] }, objective: name }),
          );
          for (const line of show([planned("P1", { children })], { columns, full })) {
            expect(Bun.stringWidth(line)).toBeLessThanOrEqual(Math.max(columns, 80));
            // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
            expect(line).not.toMatch(/[\u0000-\u001f\u007f]/);
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("STATUS-1: work as lines", () => {
  const begun = finish(treeOf(DATES), "S1").nodes;

  test("each node with its status, phases with what is done of them", () => {
    const waits = begun.map((node) => ({
      ...node,
      progress: progressOf(node, begun),
      waitsFor: node.workNodeId === "P2" ? ["P1"] : [],
    }));
    const estimate = estimatePlan(partsOfWork(begun), { finished: [], defaults: DEFAULTS, places: 5 });
    expect(planLines(viewWork(waits, estimate), { columns: 80 })).toEqual([
      "  P1  [in progress, 1 of 3 done] Read dates",
      "    T1.1  [done] A grammar for every format in docs/dates.md",
      "      S1  [done] ISO",
      "  * T1.2  [queued] Names of months  src/locales",
      "    T1.3  [queued] Notes",
      "  P2  [todo, 0 of 1 done, waits for P1] Use them",
      "  * T2.1  [todo] The importer  scout",
      "",
      "Left: 3 tasks for agents; up to 2 agents at once.",
      "* critical path: T1.2 → T2.1 (2 of 3 tasks)",
      "No finished work to estimate from: it takes 3 finished tasks, and there are 0 of",
      "  builder on claude-code, 0 of scout on claude-code.",
    ]);
  });

  test("245 nodes: finished phases are folded first, what is under way stays in sight", () => {
    const nodes = treeOf(planOf(LARGE)).nodes.map((node): WorkNode => {
      const phase = node.path.split("/")[0];
      const isBusy = ["P2", "T8", "S8.1"].includes(node.workNodeId);
      const status: WorkStatus =
        phase === "P1" ? "done" : isBusy ? "in_progress" : node.workNodeId === "T9" ? "blocked" : "todo";
      const blockedReason = status === "blocked" ? ({ kind: "human", detail: "which format?" } as const) : null;
      return { ...node, status, blockedReason };
    });
    const lines = showWork(nodes, { columns: 100 });
    expect(lines.length).toBeLessThanOrEqual(80);
    expect(lines[0]).toBe("  P1  [done] Phase number 1  7 tasks, 42 subtasks");
    expect(lines[1]).toBe("  P2  [in progress, 0 of 42 done] Phase number 2");
    expect(lines).toContain("  * T8  [in progress, 0 of 6 done] Task number 8 of the large plan  src/part-7");
    expect(lines).toContain("      S8.1  [in progress] Node S8.1");
    expect(lines).toContain(
      "    T9  [blocked, 0 of 6 done] Task number 9 of the large plan  src/part-8; which format?",
    );
    expect(lines.at(-1)).toMatch(/^… \d+ nodes folded; --full shows everything$/);
    expect(showWork(nodes, { columns: 100, full: true }).filter((line) => /^ +(\* )?[PTS]\d/.test(line))).toHaveLength(
      245,
    );
  });

  test("of a thousand, the phases and what is under way", () => {
    const nodes = treeOf(planOf(LARGE)).nodes;
    const many = [0, 1, 2, 3].flatMap((at) =>
      nodes.map((node): WorkNode => {
        const rename = (id: string) => `${id}${"abcd"[at]}`;
        const path = node.path.split("/").map(rename).join("/");
        const status: WorkStatus = node.workNodeId === "T3" && at === 2 ? "in_progress" : "todo";
        return {
          ...{ ...node, path, status, workNodeId: rename(node.workNodeId) },
          ...{ parentId: node.parentId && rename(node.parentId), dependsOn: node.dependsOn.map(rename) },
        };
      }),
    );
    const lines = showWork(many, { columns: 100 });
    expect(lines.length).toBeLessThanOrEqual(22);
    expect(lines.filter((line) => line.includes("in progress"))).toHaveLength(1);
  });
});

describe("GOAL-2: what a plan changes, as lines", () => {
  const tree = finish(treeOf(DATES), "S1");
  const next: readonly PlannedNode[] = [
    {
      ...(DATES[0] ?? planned("P1")),
      children: [
        ...(DATES[0]?.children.slice(0, 1) ?? []),
        planned("T1.2", {
          name: "Names of months, in five languages",
          acceptance: ["locale tests pass", "five languages"],
          hints: { files: ["src/locales", "src/i18n"] },
        }),
        planned("T1.4", { name: "Measure it" }),
      ],
    },
    ...DATES.slice(1),
  ];
  const attempts = [attemptWith({ attempt: 4, agent: "ada", workNodeId: "T1.3" })];

  test("at 80 columns", () => {
    expect(planDiffLines(diffPlan(tree.nodes, next, { attempts }), { columns: 80 })).toEqual([
      "+ T1.4  Measure it  (in P1)",
      "~ T1.2  Names of months",
      "    name: Names of months → Names of months, in five languages",
      "    acceptance + five languages",
      "    files + src/i18n",
      "- T1.3  Notes  (queued, would be cancelled; in flight: ada#4 would be stopped, …",
      "1 node added, 1 changed, 1 would be cancelled, 3 kept, 2 finished and untouched.",
    ]);
  });

  test("whole it is broken, not cut, and in colour where that is wanted", () => {
    const lines = planDiffLines(diffPlan(tree.nodes, next, { attempts }), { columns: 60, full: true, colour: true });
    expect(lines.slice(-3).map((line) => Bun.stripANSI(line))).toEqual([
      "  ada#4 would be stopped, its work kept)",
      "1 node added, 1 changed, 1 would be cancelled, 3 kept, 2",
      "finished and untouched.",
    ]);
    expect(lines[0]).toBe("\u001b[32m+ T1.4  Measure it  (in P1)\u001b[0m");
  });

  test("the same plan, and one that touches what is finished", () => {
    expect(planDiffLines(diffPlan(tree.nodes, DATES), { columns: 80 })).toEqual([
      "Nothing changes, 5 kept, 2 finished and untouched.",
    ]);
    const [first] = DATES;
    const [grammar] = first?.children ?? [];
    const other = [
      { ...planned("P1"), ...first, children: [{ ...planned("T1.1"), ...grammar, name: "Other" }] },
      ...DATES.slice(1),
    ];
    expect(planDiffLines(diffPlan(tree.nodes, other), { columns: 100 })[0]).toBe(
      "! T1.1  A grammar for every format in docs/dates.md  (done already, and this changes it: the plan i…",
    );
  });

  test("245 new nodes are counted, not listed", () => {
    const lines = planDiffLines(diffPlan(tree.nodes, planOf(LARGE)), { columns: 80 });
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines).toContain("+ … and 228 more");
    expect(planDiffLines(diffPlan(tree.nodes, planOf(LARGE)), { columns: 80, full: true }).length).toBeGreaterThan(245);
  });
});
