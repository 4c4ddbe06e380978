/** PLAN-1, PLAN-2: what a model may say in a plan, and what is sent back. */
import { expect, test } from "bun:test";
import { planAnswerSchema, readPlanAnswer } from "./plan-answer.ts";

const TASK = { id: "T1.1", name: "Grammar", outcome: "A grammar", acceptance: ["bun test passes"] };
const PHASE = { id: "P1", name: "Parse", objective: "Dates are read", acceptance: ["samples parse"], tasks: [TASK] };
const PLAN = { planVersion: 1, phases: [PHASE] };
const withTask = (more: object) => ({ ...PLAN, phases: [{ ...PHASE, tasks: [{ ...TASK, ...more }] }] });

function problemsIn(value: unknown): string[] {
  const parsed = planAnswerSchema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("PLAN-1: the normative shape is read, under either name of a key", () => {
  const written = { ...withTask({ dependsOn: ["T1.0"], files: ["./src/"], expectedOutcome: "more" }) };
  const read = readPlanAnswer(planAnswerSchema.parse(written), false);
  if (read.kind !== "plan") throw new Error(read.kind);
  expect(read.plan.phases[0]?.children[0]).toMatchObject({
    ...{
      id: "T1.1",
      deps: ["T1.0"],
      expectedOutcome: "more",
      acceptance: ["bun test passes"],
      hints: { files: ["src"] },
    },
  });
});

test.each<[what: string, value: unknown, says: RegExp]>([
  [
    "a command",
    withTask({ command: "rm -rf ." }),
    /^phases\.0\.tasks\.0: the key "command" is not allowed: what is run/,
  ],
  ["hooks", { ...PLAN, hooks: { before: "x" } }, /the key "hooks" is not allowed: what is run/],
  ["a model", withTask({ model: "opus" }), /"model" is not allowed: which model/],
  ["a runtime", withTask({ runtime: "codex" }), /"runtime" is not allowed/],
  [
    "a budget",
    { ...PLAN, phases: [{ ...PHASE, budget: { cost: 99 } }] },
    /phases\.0: the key "budget" is not allowed: limits/,
  ],
  ["limits in hints", withTask({ hints: { limits: {} } }), /"hints" is not allowed/],
  ["a key nobody knows", withTask({ wibble: 1 }), /"wibble" is not allowed: there are id, name,/],
  ["an id that is a number", withTask({ id: 7 }), /tasks\.0\.id: /],
  ["no name", withTask({ name: " " }), /name: must not be empty/],
  ["an endless name", withTask({ name: "x".repeat(201) }), /name: must be at most 200/],
  ["criteria without end", withTask({ acceptance: Array(21).fill("x") }), /acceptance: must have at most 20/],
  ["a criterion of a page", withTask({ acceptance: ["x".repeat(501)] }), /at most 500/],
  ["a list", [PLAN], /object/],
])("PLAN-2: an answer with %s is sent back, nothing of it is dropped in silence", (_what, value, says) => {
  expect(problemsIn(value).join("\n")).toMatch(says);
});

test.each<[what: string, value: object, mayAsk: boolean, read: object]>([
  ["questions where they are allowed", { questions: ["Where is auth?"] }, true, { kind: "questions" }],
  ["questions where they are not", { questions: ["Where is auth?"] }, false, { kind: "neither" }],
  ["both", { ...PLAN, questions: ["Where?"] }, true, { kind: "neither", problems: [/both/] }],
  ["nothing", {}, true, { kind: "neither", problems: [/phases/, /planVersion/] }],
])("PLAN-1: an answer that holds %s", (_what, value, mayAsk, { problems = [], ...read }: { problems?: RegExp[] }) => {
  const found = readPlanAnswer(planAnswerSchema.parse(value), mayAsk);
  expect(found).toMatchObject(read);
  for (const [at, says] of problems.entries()) expect(found.kind === "neither" ? found.problems[at] : "").toMatch(says);
});
