/**
 * The question by which a model is asked for a plan: everything it is told, bounded and without secrets, and what its
 * answer is held against. Asking it and what becomes of the answer is plan-goal.ts.
 */
import type { ActParts } from "#act/parts.ts";
import { PLAN_GOAL } from "#config/model-prompts.ts";
import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import type { Config } from "#config/schema.ts";
import { byteLength } from "#domain/core/quote.ts";
import type { Goal, Planning } from "#domain/model/goal.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { judgePlan, type PlanGround, problemsOfHead } from "#domain/plans/judge-plan.ts";
import type { KnownNames } from "#domain/plans/known-names.ts";
import { keepSettings } from "#domain/plans/persons-settings.ts";
import type { PlannedNode } from "#domain/plans/plan.ts";
import { acceptPlan, isDone, listIds } from "#domain/plans/plan.ts";
import {
  asMaterial,
  describeGoal,
  describePlan,
  describeRoles,
  hasBegun,
  listRepeated,
  problemsOfBegun,
} from "#domain/plans/plan-material.ts";
import { LONGEST_PROPOSAL } from "#domain/plans/planned-nodes.ts";
import type { ModelQuestion } from "#planner/ask-model.ts";
import { type PlanAnswer, planAnswerSchema, readPlanAnswer } from "#planner/plan-answer.ts";
import type { ParsedPlan } from "#planner/plan-file.ts";
import { writePlanText } from "#planner/plan-text.ts";
import { RUNTIME_NAMES } from "#runtimes/list.ts";
import { clip } from "#telemetry/bounds.ts";
import { redact, redactDeep } from "#telemetry/redact.ts";

export interface PlanTopic {
  readonly goal: Goal;
  readonly planning: Planning;
  readonly nodes: readonly WorkNode[];
  readonly config: Config;
  readonly known: KnownNames;
  /** The commit that work starts from, and every path it has. */
  readonly base: string;
  readonly tracked: readonly string[];
  /** What the repository looks like, as text; it takes what room the rest leaves. */
  readonly repository: string;
  /** Answers to the model's own questions; empty before there are any. */
  readonly findings: string;
  readonly asks: Asks;
}

/** Whether the model has to ask first, may, or may no more. */
export type Asks = "first" | "may" | "no";

export async function readKnownNames(parts: ActParts): Promise<KnownNames> {
  const { config, files } = await parts.settings();
  const { byCapability } = await loadRoles(files, roleSources(parts.root, config));
  return { roles: byCapability, runtimes: RUNTIME_NAMES, checks: Object.keys(config.checks) };
}

/** How much of the question the repository may take, so that the whole of it is not too long. */
export function roomForRepository(topic: PlanTopic): number {
  const others = Object.values(valuesFor({ ...topic, repository: "" })).map(byteLength);
  const taken = others.reduce((sum, bytes) => sum + bytes, byteLength(PLAN_GOAL.text));
  return Math.max(0, topic.config.planner.maxInput - taken - SPARE_BYTES);
}

/** A user's own text may be longer than ours. */
const SPARE_BYTES = 2_000;

const QUESTIONS: Readonly<Record<Asks, string>> = {
  first:
    '- First say what you need to know about the repository to plan well: answer {"questions": ["…"]} with one to five questions, each naming the files it is about. You are asked for the plan after that.',
  may: '- Where you cannot plan well without knowing more, answer {"questions": ["…"]} instead, with at most five questions, each naming the files it is about. You can do so once.',
  no: "- Plan with what you have; questions are not answered any more.",
};

/** What the model is told, by the names that the prompt has for it. */
export function valuesFor(topic: PlanTopic): Readonly<Record<string, string>> {
  const { goal, planning, nodes, config, known } = topic;
  const { planner, checks } = config;
  const most = Math.floor(planner.maxInput / 4);
  const tell = (text: string) => asMaterial(clip(redact(text), most));
  return {
    goal: tell(describeGoal(goal)),
    repository: asMaterial(redact(topic.repository)),
    roles: tell(describeRoles(known.roles.values())),
    checks: tell(
      Object.keys(checks)
        .map((name) => `- ${name}`)
        .join("\n"),
    ),
    plan: tell(describePlan(nodes)),
    remark: tell(planning.remark ?? ""),
    proposal: tell(planning.last ?? ""),
    findings: tell(topic.findings),
    maxPhases: String(planner.maxPhases),
    maxTasks: String(planner.maxTasksPerPhase),
    maxSubtasks: String(planner.maxSubtasksPerTask),
    questions: QUESTIONS[topic.asks],
  };
}

export function composeQuestion(topic: PlanTopic): ModelQuestion<PlanAnswer> {
  const { planner, budgets } = topic.config;
  return {
    prompt: PLAN_GOAL,
    values: valuesFor(topic),
    schema: planAnswerSchema,
    judge: (answer) => judgeAnswer(topic, answer).problems,
    maxInputBytes: planner.maxInput,
    repairs: planner.repairs,
    maxCostUsd: budgets.agent.cost,
  };
}

export interface JudgedAnswer {
  readonly problems: readonly string[];
  /** Undefined where it is questions, or no plan that holds. */
  readonly plan?: { readonly phases: readonly PlannedNode[]; readonly notes: readonly string[] } & Pick<
    ParsedPlan,
    "goal"
  >;
  readonly questions?: readonly string[];
}

/** The answer as it would be stored, which is without secrets, held against everything a plan has to be. */
export function judgeAnswer(topic: PlanTopic, answer: PlanAnswer): JudgedAnswer {
  const read = readPlanAnswer(answer, topic.asks !== "no");
  if (read.kind === "neither") return { problems: read.problems };
  if (read.kind === "questions") return { problems: [], questions: read.questions };
  if (topic.asks === "first") return { problems: ['First ask: answer {"questions": ["…"]}.'] };
  const { phases: said, goal } = redactDeep(read.plan);
  const phases = keepSettings(said, topic.goal, topic.nodes);
  const judged = judgePlan(phases, groundOf(topic, phases));
  const problems = [...judged.problems, ...problemsOfHead(goal), ...problemsOfBegun(phases, topic.nodes)];
  const bytes = byteLength(writePlanText(judged.phases, goal));
  if (bytes > LONGEST_PROPOSAL) problems.push(`The plan has ${bytes} bytes; ${LONGEST_PROPOSAL} is the limit.`);
  const rest = problems.length > 0 ? problems : problemsOfAccepting(topic, judged.phases);
  return rest.length > 0
    ? { problems: rest }
    : { problems: [], plan: { phases: judged.phases, notes: judged.notes, goal } };
}

function groundOf({ nodes, config, known, tracked }: PlanTopic, phases: readonly PlannedNode[]): PlanGround {
  return {
    limits: config.planner,
    settled: listIds(nodes.filter(hasBegun)),
    kept: listIds(nodes),
    done: listIds(nodes.filter(isDone)),
    repeated: listRepeated(phases, nodes),
    known,
    tracked,
  };
}

/** What would be refused when it is accepted is found out while the model can still put it right. */
function problemsOfAccepting({ goal, nodes, config }: PlanTopic, phases: readonly PlannedNode[]): string[] {
  const provenance = { source: "model", rejected: [], raw: "", change: "" } as const;
  const moment = { now: 0, actor: "overseer" } as const;
  const decision = acceptPlan(goal, nodes, phases, config.planner, provenance, moment);
  return decision.ok ? [] : [`${decision.refusal.message} ${decision.refusal.hint}`];
}
