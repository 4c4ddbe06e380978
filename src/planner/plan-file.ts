/**
 * A plan as it stands in a file or comes from a model: YAML or JSON in the normative shape (planVersion, goal,
 * phases → tasks → subtasks). This file knows the shape and its messages; whether the plan makes sense (limits, ids,
 * circles) is the domain's to judge.
 */
import { z } from "zod";
import { limitKeys, ownLimits, ownSupervision, toOwnLimits } from "#config/agent-limits.ts";
import { isRecord } from "#config/kinds.ts";
import { readValues, type TextBounds } from "#config/load.ts";
import { listPlaced, type Problem, placeProblems } from "#config/placed.ts";
import { guessKey, type OtherNames, problemsOfSchema } from "#config/yaml-file.ts";
import { normalScope } from "#domain/core/scope.ts";
import { RECOVERY_POLICIES } from "#domain/model/assignment.ts";
import type { GoalDefinition } from "#domain/model/goal.ts";
import type { OwnLimits } from "#domain/model/limits.ts";
import type { ExecutionHints } from "#domain/model/work.ts";
import type { ChosenName, PlannedNode, PlanProblem } from "#domain/plans/plan.ts";
import { OverseerError } from "#errors.ts";

const text = z.string();
const strings = z.array(z.string());

const hints = z.strictObject({
  suggestedAgentId: text.optional(),
  suggestedAgentType: text.optional(),
  requiredTools: strings.optional(),
  estimatedEffort: text.optional(),
  riskLevel: z.enum(["low", "med", "high"]).optional(),
  ownAgent: z.boolean().optional(),
  limits: ownLimits.optional(),
});

/** What dispatch needs to know. What a phase or a task says holds for what is below it, unless that says otherwise. */
const dispatch = {
  capability: text.optional(),
  runtime: text.optional(),
  model: text.optional(),
  checks: strings.optional(),
  recoveryPolicy: z.enum(RECOVERY_POLICIES).optional(),
  supervision: ownSupervision.optional(),
  ...limitKeys,
};

const common = {
  id: text,
  name: text,
  objective: text.optional(),
  outcome: text.optional(),
  expectedOutcome: text.optional(),
  acceptance: strings.optional(),
  acceptanceCriteria: strings.optional(),
  definitionOfDone: text.optional(),
  deps: strings.optional(),
  dependsOn: strings.optional(),
  blocks: strings.optional(),
  tags: strings.optional(),
  hints: hints.optional(),
  ...dispatch,
};

const files = strings.optional();
const subtask = z.strictObject({ ...common, files });
const task = z.strictObject({ ...common, files, subtasks: z.array(subtask).optional() });
const phase = z.strictObject({ ...common, tasks: z.array(task).optional() });

export const planFileSchema = z.strictObject({
  planVersion: z.literal(1),
  goal: z
    .strictObject({ title: text.optional(), successCriteria: strings.optional(), constraints: strings.optional() })
    .optional(),
  phases: z.array(phase),
});

/** What a plan may hold: a thousand nodes with everything a node can say. */
const BOUNDS: TextBounds = {
  characters: 1024 * 1024,
  values: 200_000,
  tooLarge:
    "the plan is larger than 1 MB, which is the limit; long material belongs into files that its texts point to.",
};

/** What other tools call our keys. */
const OTHER_NAMES: OtherNames = {
  version: "planVersion",
  title: "name",
  description: "objective",
  goal: "objective",
  criteria: "acceptance",
  done: "definitionOfDone",
  after: "deps",
  dependencies: "deps",
  needs: "deps",
  requires: "deps",
  role: "capability",
  agent: "capability",
  agentType: "capability",
  paths: "files",
  scope: "files",
  steps: "subtasks",
  labels: "tags",
};

type Node = z.infer<typeof phase> & { files?: string[] | undefined; subtasks?: z.infer<typeof subtask>[] | undefined };

export interface ParsedPlan {
  readonly phases: readonly PlannedNode[];
  /** What the plan says about its goal; what it leaves out is absent. */
  readonly goal: Partial<Pick<GoalDefinition, "title" | "successCriteria" | "constraints">>;
}

/** What the rules have to say of a plan whose shape is right. */
export type PlanJudge = (plan: ParsedPlan) => readonly PlanProblem[];

/**
 * Parses a plan and has it judged. Throws OverseerError `usage`/PLAN_INVALID with everything that is wrong, in its
 * shape and by the rules, each at its place; never anything else.
 */
export function parsePlan(source: string, name: string, judge: PlanJudge = () => []): ParsedPlan {
  const file = name === "-" ? "standard input" : name;
  const value = readPlanText(source, file);
  const parsed = planFileSchema.safeParse(value, { reportInput: true });
  if (parsed.success) {
    const plan = toPlan(parsed.data);
    const problems = judge(plan).map((problem) => placeInFile(problem, value));
    if (problems.length === 0) return plan;
    throw invalid(file, source, problems);
  }
  const { issues } = parsed.error;
  const misspelt = new Set(issues.flatMap(listMeant));
  const told = problemsOfSchema(issues, planFileSchema, OTHER_NAMES).filter(
    ({ path }) => !misspelt.has(JSON.stringify(path)),
  );
  throw invalid(file, source, [...told, ...judgeTheRest(value, issues, told, judge)]);
}

/** Keys that only seem to be missing, because they are there under another name. */
function listMeant(issue: z.core.$ZodIssue): string[] {
  if (issue.code !== "unrecognized_keys") return [];
  const meant = issue.keys.map((key) => guessKey(key, issue.path, planFileSchema, OTHER_NAMES));
  return meant.flatMap((key) => (key === undefined ? [] : [JSON.stringify([...issue.path, key])]));
}

function readPlanText(source: string, file: string): Record<string, unknown> {
  try {
    return readValues(source, file, BOUNDS);
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") throw refusal(error.message, error);
    throw error;
  }
}

/** From the values of a plan to its nodes; what a phase says is handed down. */
export function toPlan({ goal, phases }: z.infer<typeof planFileSchema>): ParsedPlan {
  const { title, successCriteria, constraints } = goal ?? {};
  return {
    phases: phases.map((node) => toPlannedNode(node, {})),
    goal: {
      ...(title === undefined ? {} : { title }),
      ...(successCriteria === undefined ? {} : { successCriteria }),
      ...(constraints === undefined ? {} : { constraints }),
    },
  };
}

/** What the rules say beside what is wrong with the shape: nobody should find the next mistake at each new try. */
function judgeTheRest(
  value: Record<string, unknown>,
  issues: readonly z.core.$ZodIssue[],
  told: readonly Problem[],
  judge: PlanJudge,
): Problem[] {
  const mended = structuredClone(value);
  // Unknown keys last: by then each place is still where the issue says.
  for (const issue of issues) if (issue.code !== "unrecognized_keys") mendValue(mended, issue.path);
  for (const issue of issues) if (issue.code === "unrecognized_keys") mendKeys(mended, issue.path, issue.keys);
  const parsed = planFileSchema.safeParse(mended);
  if (!parsed.success) return [];
  const isTold = ({ path }: Problem) => told.some((one) => one.path.every((part, depth) => part === path[depth]));
  return judge(toPlan(parsed.data))
    .map((problem) => placeInFile(problem, mended))
    .filter((problem) => !isTold(problem));
}

/** Stands for an id that is missing; it is none, so nothing can depend on it, and that was told already. */
const THIS_NODE = "this node";
const FILLED: Readonly<Record<string, unknown>> = { planVersion: 1, phases: [], id: THIS_NODE, name: THIS_NODE };
const LEVELS = ["phases", "tasks", "subtasks"] as const;

/** Takes out what has the wrong shape, or puts something of the right one in its place. */
function mendValue(plan: Record<string, unknown>, path: readonly PropertyKey[]): void {
  const at = [...path];
  let word = at.pop();
  let holder = valueAt(plan, at);
  while (Array.isArray(holder) && word !== undefined) {
    if (LEVELS.includes(at.at(-1) as (typeof LEVELS)[number])) {
      holder[Number(word)] = { id: THIS_NODE, name: THIS_NODE, objective: THIS_NODE, acceptance: [THIS_NODE] };
      return;
    }
    word = at.pop();
    holder = valueAt(plan, at);
  }
  if (!isRecord(holder) || word === undefined) return;
  const before = holder[String(word)];
  const filled = typeof before === "number" && word !== "planVersion" ? String(before) : FILLED[String(word)];
  if (filled === undefined) delete holder[String(word)];
  else holder[String(word)] = filled;
}

/** A key that was probably another one is judged as that one. */
function mendKeys(plan: Record<string, unknown>, path: readonly PropertyKey[], keys: readonly string[]): void {
  const holder = valueAt(plan, path);
  if (!isRecord(holder)) return;
  for (const key of keys) {
    const meant = guessKey(key, path, planFileSchema, OTHER_NAMES);
    if (meant !== undefined && !(meant in holder)) holder[meant] = holder[key];
    delete holder[key];
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return at[Number(part)];
    return isRecord(at) ? at[String(part)] : undefined;
  }, value);
}

/** How a field of a node may be written, the first that is there counts. */
const WRITTEN: Partial<Record<PlanProblem["field"], readonly string[]>> = {
  acceptance: ["acceptance", "acceptanceCriteria"],
  deps: ["deps", "dependsOn"],
  children: ["tasks", "subtasks"],
};

/** From a place in the tree to one in the file. What a node has from above is wrong where it is written. */
function placeInFile({ node, field, index, text }: PlanProblem, value: unknown): Problem {
  if (node.length === 0) return { path: ["phases"], at: "key", text };
  const words = WRITTEN[field] ?? [field];
  const isHandedDown = HANDED_DOWN.includes(field);
  for (let depth = node.length; depth > 0; depth -= 1) {
    const path = node.slice(0, depth).flatMap((position, level) => [LEVELS[level] ?? "subtasks", position]);
    const holder = valueAt(value, path);
    const word = words.find((one) => isRecord(holder) && one in holder) ?? words[0] ?? field;
    const isHere = isRecord(holder) && word in holder;
    if (!isHere && isHandedDown && depth > 1) continue;
    return { path: [...path, word, ...(index === undefined || !isHere ? [] : [index])], at: "value", text };
  }
  return { path: ["phases"], at: "key", text };
}

const HANDED_DOWN: readonly string[] = ["capability", "runtime", "checks"] satisfies ChosenName[];

/** What a node hands down. */
type Inherited = Pick<
  ExecutionHints,
  "capability" | "runtime" | "model" | "checks" | "recoveryPolicy" | "limits" | "supervision"
>;

function handDown(node: Node, above: Inherited): Inherited {
  const own = toOwnLimits(node);
  const limits: OwnLimits = {
    ...above.limits,
    ...own,
    ...(above.limits?.budget || own.budget ? { budget: { ...above.limits?.budget, ...own.budget } } : {}),
  };
  const { capability, runtime, model, checks, recoveryPolicy, supervision } = node;
  return {
    ...above,
    ...(capability === undefined ? {} : { capability }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(model === undefined ? {} : { model }),
    ...(checks === undefined ? {} : { checks }),
    ...(recoveryPolicy === undefined ? {} : { recoveryPolicy }),
    ...(supervision === undefined ? {} : { supervision: { ...above.supervision, ...supervision } }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

function hintsOf(node: Node, inherited: Inherited): ExecutionHints {
  const { hints: own = {}, files: given } = node;
  const { limits: below } = inherited;
  const limits = own.limits && below ? { ...below, ...own.limits } : (own.limits ?? below);
  return {
    ...own,
    ...inherited,
    ...(limits === undefined ? {} : { limits }),
    ...(given === undefined ? {} : { files: given.map((file) => normalScope(file) ?? file) }),
  };
}

function toPlannedNode(node: Node & { tasks?: Node[] | undefined }, above: Inherited): PlannedNode {
  const children = node.tasks ?? node.subtasks ?? [];
  const inherited = handDown(node, above);
  return {
    id: node.id,
    name: node.name,
    objective: node.objective ?? "",
    expectedOutcome: node.expectedOutcome ?? node.outcome ?? "",
    acceptance: node.acceptance ?? node.acceptanceCriteria ?? [],
    definitionOfDone: node.definitionOfDone ?? "",
    deps: node.deps ?? node.dependsOn ?? [],
    blocks: node.blocks ?? [],
    hints: hintsOf(node, inherited),
    tags: node.tags ?? [],
    children: children.map((child) => toPlannedNode(child, inherited)),
  };
}

/** Once for each place: what a phase says wrongly is wrong for each of its tasks. */
function invalid(file: string, source: string, problems: readonly Problem[]): OverseerError {
  const once = new Map(problems.map((one) => [JSON.stringify([one.path, one.text]), one]));
  const sentences = [...once.values()].map((one) => ({
    ...one,
    text: /[.?]$/.test(one.text) ? one.text : `${one.text}.`,
  }));
  return refusal(listPlaced(file, placeProblems(sentences, source)));
}

function refusal(message: string, cause?: unknown): OverseerError {
  return new OverseerError(
    "usage",
    "PLAN_INVALID",
    message,
    "Correct the plan and run the command again; nothing was stored. 'overseer goal plan --help' shows the keys.",
    { cause },
  );
}
