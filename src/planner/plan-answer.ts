/**
 * A plan as a model answers it: the shape of a plan file, but only with what a model may decide. Commands, models,
 * runtimes, budgets and hooks are for people; an answer that has one is sent back with the reason, and so is a key that
 * nobody knows. Whether the plan makes sense is the domain's to judge (domain/plans/judge-plan.ts).
 */
import { z } from "zod";
import { type ParsedPlan, toPlan } from "./plan-file.ts";

const line = z.string().trim().min(1, "must not be empty").max(200, "must be at most 200 characters");
const text = z.string().max(4_000, "must be at most 4000 characters");
const criterion = z.string().trim().min(1, "must not be empty").max(500, "must be at most 500 characters");
const criteria = z.array(criterion).max(20, "must have at most 20 entries");
const ids = z.array(z.string().max(64)).max(100, "must have at most 100 entries");

const common = {
  id: z.string().max(64, "must be at most 64 characters"),
  name: line,
  objective: text.optional(),
  outcome: text.optional(),
  expectedOutcome: text.optional(),
  acceptance: criteria.optional(),
  acceptanceCriteria: criteria.optional(),
  definitionOfDone: text.optional(),
  deps: ids.optional(),
  dependsOn: ids.optional(),
  capability: z.string().max(31).optional(),
  checks: z.array(z.string().max(64)).max(20).optional(),
};
const files = z.array(z.string().min(1).max(300)).max(50, "must have at most 50 entries").optional();

/** So many at each level are read; how many there may be is configured, and judged with the rest. */
const MOST = 100;

const subtask = strict({ ...common, files });
const task = strict({ ...common, files, subtasks: z.array(subtask).max(MOST).optional() });
const phase = strict({ ...common, tasks: z.array(task).max(MOST).optional() });

export const planAnswerSchema = strict({
  planVersion: z.literal(1).optional(),
  goal: strict({
    title: line.optional(),
    successCriteria: criteria.optional(),
    constraints: criteria.optional(),
  }).optional(),
  phases: z.array(phase).max(MOST).optional(),
  questions: z.array(criterion).min(1).max(5, "must have at most 5 entries").optional(),
});
export type PlanAnswer = z.infer<typeof planAnswerSchema>;

/** Keys that mean something, and that a model may not set; each with who does. */
const NOT_YOURS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["command", "commands", "run", "script", "scripts", "shell", "exec", "hooks", "setup", "env"].map((key) => [
      key,
      "what is run is for people to configure",
    ]),
  ),
  model: "which model works on it is for people to choose",
  runtime: "which agent CLI works on it is for people to choose",
  ...Object.fromEntries(
    ["budget", "limits", "idleAfter", "dueEvery", "patience", "toolLimit", "startingLimit"].map((key) => [
      key,
      "limits are for people to set",
    ]),
  ),
  supervision: "who is exempt from it is for people to say",
  recoveryPolicy: "what happens when it is stuck is for people to set",
  hints: "hints are for people to give",
  blocks: 'say it from the other end, with "deps"',
  tags: "labels are for people to give",
};

function strict<T extends z.core.$ZodShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return undefined;
      const known = Object.keys(shape).join(", ");
      return issue.keys
        .slice(0, 5)
        .map((key) => {
          const why = Object.hasOwn(NOT_YOURS, key) ? NOT_YOURS[key] : `there are ${known}`;
          return `the key ${JSON.stringify(key.slice(0, 40))} is not allowed: ${why}.`;
        })
        .join(" ");
    },
  });
}

export type ReadPlanAnswer =
  | { readonly kind: "plan"; readonly plan: ParsedPlan }
  | { readonly kind: "questions"; readonly questions: readonly string[] }
  | { readonly kind: "neither"; readonly problems: readonly string[] };

/** What an answer of the right shape is: a plan, or questions where these are allowed. */
export function readPlanAnswer(answer: PlanAnswer, mayAsk: boolean): ReadPlanAnswer {
  const { planVersion, goal, phases, questions } = answer;
  if (questions !== undefined && phases === undefined) {
    if (mayAsk) return { kind: "questions", questions };
    return { kind: "neither", problems: ["Questions are not answered any more: plan with what you have."] };
  }
  const problems = [
    ...(questions === undefined ? [] : ['It has both "questions" and "phases": answer with one of them.']),
    ...(phases === undefined ? ['It has no "phases".'] : []),
    ...(planVersion === undefined ? ['It has no "planVersion"; that is 1.'] : []),
  ];
  if (problems.length > 0) return { kind: "neither", problems };
  return { kind: "plan", plan: toPlan({ planVersion: 1, goal, phases: phases ?? [] }) };
}
