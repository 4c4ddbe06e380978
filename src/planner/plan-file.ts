/**
 * A plan as it stands in a file or comes from a model: YAML or JSON in the normative shape (planVersion, goal,
 * phases → tasks → subtasks). This file knows the shape and its messages; whether the plan makes sense (limits, ids,
 * circles) is the domain's to judge.
 */
import { z } from "zod";
import { limitKeys, ownLimits, toOwnLimits } from "#config/agent-limits.ts";
import { normalScope } from "#domain/core/scope.ts";
import { RECOVERY_POLICIES } from "#domain/model/assignment.ts";
import type { GoalDefinition } from "#domain/model/goal.ts";
import type { OwnLimits } from "#domain/model/limits.ts";
import type { ExecutionHints } from "#domain/model/work.ts";
import type { PlannedNode } from "#domain/plans/plan.ts";
import { messageOf, OverseerError } from "#errors.ts";

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

/** A plan file larger than this is refused before it is parsed. */
const MAX_PLAN_BYTES = 1024 * 1024;

type Node = z.infer<typeof phase> & { files?: string[] | undefined; subtasks?: z.infer<typeof subtask>[] | undefined };

export interface ParsedPlan {
  readonly phases: readonly PlannedNode[];
  /** What the plan says about its goal; what it leaves out is absent. */
  readonly goal: Partial<Pick<GoalDefinition, "title" | "successCriteria" | "constraints">>;
}

/** Parses a plan. Throws OverseerError `usage`/PLAN_INVALID that names every place; never anything else. */
export function parsePlan(source: string, name: string): ParsedPlan {
  if (source.length > MAX_PLAN_BYTES) {
    throw invalid(name, [`it has ${source.length.toLocaleString("en")} characters; 1 MB is the limit`]);
  }
  let value: unknown;
  try {
    value = Bun.YAML.parse(source);
  } catch (error) {
    throw invalid(name, [`it is neither YAML nor JSON: ${messageOf(error)}`]);
  }
  const parsed = planFileSchema.safeParse(value);
  if (!parsed.success) {
    throw invalid(
      name,
      parsed.error.issues.map((issue) => `${placeOf(issue.path)}: ${issue.message}`),
    );
  }
  const { title, successCriteria, constraints } = parsed.data.goal ?? {};
  return {
    phases: parsed.data.phases.map((node) => toPlannedNode(node, {})),
    goal: {
      ...(title === undefined ? {} : { title }),
      ...(successCriteria === undefined ? {} : { successCriteria }),
      ...(constraints === undefined ? {} : { constraints }),
    },
  };
}

/** What a node hands down. */
type Inherited = Pick<ExecutionHints, "capability" | "runtime" | "model" | "checks" | "recoveryPolicy" | "limits">;

function handDown(node: Node, above: Inherited): Inherited {
  const own = toOwnLimits(node);
  const limits: OwnLimits = {
    ...above.limits,
    ...own,
    ...(above.limits?.budget || own.budget ? { budget: { ...above.limits?.budget, ...own.budget } } : {}),
  };
  const { capability, runtime, model, checks, recoveryPolicy } = node;
  return {
    ...above,
    ...(capability === undefined ? {} : { capability }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(model === undefined ? {} : { model }),
    ...(checks === undefined ? {} : { checks }),
    ...(recoveryPolicy === undefined ? {} : { recoveryPolicy }),
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

/** `phases[0].tasks[2].acceptance` instead of a list of keys. */
function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return place.replace(/^\./, "") || "the plan";
}

function invalid(name: string, problems: readonly string[]): OverseerError {
  const shown = problems.slice(0, 20).map((problem) => `  - ${problem}`);
  return new OverseerError(
    "usage",
    "PLAN_INVALID",
    `${name} is not a plan:\n${shown.join("\n")}${problems.length > 20 ? `\n  … and ${problems.length - 20} more` : ""}`,
    "'overseer goal plan --help' shows the shape; nothing was stored.",
  );
}
