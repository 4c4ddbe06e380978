/** What dispatch needs to know of a node, as people write it in a plan. */
import { expect, test } from "bun:test";
import { problemsOfNames } from "#domain/plans/known-names.ts";
import { DEFAULT_PLAN_LIMITS, problemsOfPlan } from "#domain/plans/plan.ts";
import { OverseerError } from "#errors.ts";
import { parsePlan } from "./plan-file.ts";

const PLAN = `
planVersion: 1
goal: {title: Dates, successCriteria: [all parse], constraints: [no new dependency]}
phases:
  - id: P1
    name: Parse
    capability: builder
    model: sonnet
    supervision: {nudge: false}
    budget: {cost: 2}
    tasks:
      - id: T1
        name: Grammar
        files: [./src/dates/, "docs/*.md"]
        runtime: scripted
        checks: [unit]
        idleAfter: 20m
        dueEvery: 30m
        recoveryPolicy: reassign
        supervision: {enabled: false}
        budget: {time: 1h}
      - id: T2
        name: Other
        model: opus
        capability: scout
        hints: {suggestedAgentType: lead, riskLevel: high, limits: {patience: 3m}}
        subtasks: [{id: S1, name: Part, files: [a]}]
`;

test("SCOPE-1, ASG-1, HEALTH-4: a node says what its agent needs; a phase says it for its tasks, which may say otherwise", () => {
  const { phases, goal } = parsePlan(PLAN, "plan.yaml");
  expect(goal).toEqual({ title: "Dates", successCriteria: ["all parse"], constraints: ["no new dependency"] });
  const [first, second] = phases[0]?.children ?? [];
  const shared = { capability: "builder", model: "sonnet", supervision: { nudge: false } };
  expect(phases[0]?.hints).toEqual({ ...shared, limits: { budget: { cost: 2 } } });
  expect(first?.hints).toEqual({
    ...shared,
    runtime: "scripted",
    checks: ["unit"],
    recoveryPolicy: "reassign",
    supervision: { nudge: false, enabled: false },
    limits: { idleAfterMs: 1_200_000, dueEveryMs: 1_800_000, budget: { cost: 2, timeMs: 3_600_000 } },
    files: ["src/dates", "docs/*.md"],
  });
  expect(second?.hints).toEqual({
    suggestedAgentType: "lead",
    supervision: { nudge: false },
    riskLevel: "high",
    capability: "scout",
    model: "opus",
    limits: { budget: { cost: 2 }, patienceMs: 180_000 },
  });
  expect(second?.children[0]?.hints).toMatchObject({ model: "opus", files: ["a"] });
});

test("a plan without any of it is what it was", () => {
  const node = { id: "P1", name: "P", hints: { riskLevel: "low" }, tasks: [{ id: "T1", name: "T" }] };
  const { phases, goal } = parsePlan(JSON.stringify({ planVersion: 1, phases: [node] }), "plan.json");
  expect([goal, phases[0]?.hints, phases[0]?.children[0]?.hints]).toEqual([{}, { riskLevel: "low" }, {}]);
});

/** Everything that is said of a text, a line each, judged as a person's plan in a place with one role and one check. */
function faultsOf(text: string, name = "plan.yaml"): string[] {
  const known = { roles: new Map(), runtimes: ["claude-code", "scripted"], checks: ["unit"] };
  try {
    parsePlan(text, name, ({ phases }) => [
      ...problemsOfPlan(phases, DEFAULT_PLAN_LIMITS),
      ...problemsOfNames(phases, known),
    ]);
  } catch (error) {
    if (error instanceof OverseerError && error.code === "PLAN_INVALID") return error.message.split("\n");
    throw error;
  }
  return [];
}

const GOOD = `planVersion: 1
phases:
  - id: P1
    name: Parse
    objective: Dates are read.
    acceptance: [samples parse]
    tasks:
      - id: T1
        name: Grammar
        outcome: A grammar
        acceptance: [tests pass]
`;
/** The good plan with one thing put in place of another. */
const but = (what: string, instead: string) => GOOD.replace(what, instead);
const under = (line: string) => `${GOOD}        ${line}\n`;

test.each<[why: string, text: string, says: string[]]>([
  ["nothing", GOOD, []],
  [
    "an unknown key has its nearest name",
    under("dependson: []"),
    ['plan.yaml:12:9: there is no key "phases[0].tasks[0].dependson" (did you mean "dependsOn"?).'],
  ],
  [
    "a key of other tools has its name here",
    under("labels: [a]"),
    ['plan.yaml:12:9: there is no key "phases[0].tasks[0].labels" (did you mean "tags"?).'],
  ],
  [
    "a key of the goal that is like none",
    but("phases:", "goal: {wibble: 1}\nphases:"),
    ['plan.yaml:2:8: there is no key "goal.wibble" (known: title, successCriteria, constraints).'],
  ],
  [
    "a wrong shape",
    but("[tests pass]", "tests pass"),
    ["plan.yaml:11:9: phases[0].tasks[0].acceptance must be a list."],
  ],
  [
    "a choice",
    under("recoveryPolicy: reasign"),
    [
      'plan.yaml:12:9: phases[0].tasks[0].recoveryPolicy must be one of nudge, resend_last, replan, reassign, escalate; did you mean "reassign"?',
    ],
  ],
  [
    "a duration",
    under("dueEvery: often"),
    ["plan.yaml:12:9: phases[0].tasks[0].dueEvery must be a duration of at least 1s, like 7m."],
  ],
  ["no version", but("planVersion: 1\n", ""), ["plan.yaml:1:1: planVersion is missing; it must be 1."]],
  ["a key given twice", under("name: Again"), ["plan.yaml:12:9: name is set twice, first on line 9."]],
  [
    "an id that is none",
    but("id: T1", "id: T/1"),
    ['plan.yaml:8:13: "T/1" is not an id: letters, digits, dot, dash and underscore, at most 64 characters.'],
  ],
  ["an id used twice", but("id: T1", "id: P1"), ["plan.yaml:8:13: The id P1 is used twice."]],
  [
    "a dependency that is not there",
    under("deps: [T9]"),
    ["plan.yaml:12:16: T1 depends on T9, which is not in the plan."],
  ],
  [
    "a dependency spelt otherwise",
    but("id: P1", "id: P1\n    deps: [t1]"),
    ["plan.yaml:4:12: P1 depends on t1, which is not in the plan. Did you mean T1?"],
  ],
  [
    "blocks what is not there",
    under("blocks: [T1, X]"),
    ["plan.yaml:8:13: T1 depends on itself.", "plan.yaml:12:22: T1 blocks X, which is not in the plan."],
  ],
  [
    "a file outside",
    under("files: [src, ../etc]"),
    ['plan.yaml:12:22: T1 names "../etc", which is not a path inside the repository.'],
  ],
  [
    "a runtime",
    under("runtime: claud-code"),
    ['plan.yaml:12:18: There is no runtime "claud-code". Did you mean claude-code?'],
  ],
  [
    "a check that a phase names for its tasks is told once, where it is written",
    but("name: Parse", "name: Parse\n    checks: [unti]"),
    ['plan.yaml:5:14: There is no check "unti". Did you mean unit?'],
  ],
  [
    "a role where there is none",
    under("capability: bilder"),
    ['plan.yaml:12:21: There is no role "bilder". There is none yet. A new one is a file in .overseer/roles/.'],
  ],
  [
    "no tasks",
    "planVersion: 1\nphases:\n  - {id: P1, name: P, objective: o, acceptance: [a]}\n",
    ["plan.yaml:3:5: Phase P1 has no tasks."],
  ],
  ["no phases", "planVersion: 1\nphases: []\n", ["plan.yaml:2:1: The plan has no phases."]],
  ["an empty file", "", ["plan.yaml:1:1: planVersion is missing; it must be 1.", "plan.yaml:1:1: phases is missing."]],
  ["a list", "[1]", ["plan.yaml:1:1: the file must hold keys with values, not a list."]],
])("PLAN-5: a plan by hand is told its mistakes at their places: %s", (_why, text, says) => {
  expect(faultsOf(text)).toEqual(says);
});

test("PLAN-5: everything is told at once, of the shape and by the rules, and nothing that only follows from another", () => {
  const text = `planVersion: one
phases:
  - name: Parse
    objektive: Dates are read.
    acceptance: [samples parse]
    tasks:
      - id: 1
        name: Grammar
        outcome: A grammar
        acceptance: tests pass
        deps: [T7]
      - just words
      - id: T3
        name: Docs
        outcome: Pages
`;
  expect(faultsOf(text)).toEqual([
    "plan.yaml:1:1: planVersion must be 1.",
    "plan.yaml:3:5: phases[0].id is missing.",
    'plan.yaml:4:5: there is no key "phases[0].objektive" (did you mean "objective"?).',
    "plan.yaml:7:9: phases[0].tasks[0].id must be text.",
    "plan.yaml:10:9: phases[0].tasks[0].acceptance must be a list.",
    "plan.yaml:11:16: 1 depends on T7, which is not in the plan.",
    "plan.yaml:12:9: phases[0].tasks[1] must be a map of keys.",
    "plan.yaml:13:9: T3 has no acceptance criteria.",
  ]);
});

test("PLAN-5: plans in JSON and from standard input have lines and columns too, and of many problems twenty are shown", () => {
  const node = { id: "P1", name: "P", objective: "o", acceptance: ["a"], tasks: [{ id: "T1", nam: "x" }] };
  const text = JSON.stringify({ planVersion: 1, phases: [node] }, null, "\t");
  expect(faultsOf(text, "-")).toEqual([
    "standard input:12:5: T1 has no acceptance criteria.",
    "standard input:12:5: T1 has neither objective nor outcome.",
    'standard input:14:6: there is no key "phases[0].tasks[0].nam" (did you mean "name"?).',
  ]);
  expect(faultsOf('{"planVersion": 1, "phases": [}').join()).toStartWith("plan.yaml:1:31: ");
  const many = `planVersion: 1\nphases:\n${"  - {}\n".repeat(30)}`;
  expect(faultsOf(many)).toHaveLength(21);
  expect(faultsOf(many).at(-1)).toMatch(/^… and \d+ more\.$/);
});
