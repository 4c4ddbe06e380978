/**
 * A plan as it stands in a file or comes from a model: YAML or JSON in the normative shape (planVersion, goal,
 * phases → tasks → subtasks). This file knows the shape and its messages; whether the plan makes sense (limits, ids,
 * circles) is the domain's to judge.
 */
import { z } from "zod";
import { ownLimits } from "#config/agent-limits.ts";
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
};

const subtask = z.strictObject(common);
const task = z.strictObject({ ...common, subtasks: z.array(subtask).optional() });
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

type Node = z.infer<typeof phase> & { subtasks?: z.infer<typeof subtask>[] };

/** Parses a plan. Throws OverseerError `usage`/PLAN_INVALID that names every place; never anything else. */
export function parsePlan(source: string, name: string): readonly PlannedNode[] {
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
  return parsed.data.phases.map((node) => toPlannedNode(node));
}

function toPlannedNode(node: Node & { tasks?: Node[] }): PlannedNode {
  const children = node.tasks ?? node.subtasks ?? [];
  return {
    id: node.id,
    name: node.name,
    objective: node.objective ?? "",
    expectedOutcome: node.expectedOutcome ?? node.outcome ?? "",
    acceptance: node.acceptance ?? node.acceptanceCriteria ?? [],
    definitionOfDone: node.definitionOfDone ?? "",
    deps: node.deps ?? node.dependsOn ?? [],
    blocks: node.blocks ?? [],
    hints: node.hints ?? {},
    tags: node.tags ?? [],
    children: children.map((child) => toPlannedNode(child)),
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
