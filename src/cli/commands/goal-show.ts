/** `overseer goal show`: a goal, its work as a tree, where its plan came from, and the latest handoff. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { planLines } from "#cli/plan-lines.ts";
import { fitLine, inert, moment, plural, roomOf } from "#cli/text.ts";
import { viewGoalPlan } from "#control/plan-preview.ts";
import { presentGoal } from "#control/present.ts";
import type { GoalView } from "#control/views.ts";
import * as views from "#control/views.ts";
import type { PlanView } from "#domain/explain/plan-view.ts";
import type { Planning, PlanRevision } from "#domain/model/goal.ts";
import { tellProgress } from "#domain/plans/rollup.ts";

/** So many are told; the others are in --full and --json. */
const LATEST_REVISIONS = 5;
/** What is enough of a hash to tell it from others. */
const SHORT_HASH = 12;

const show: Command<Parts> = {
  name: "show",
  summary: "Show a goal with its plan and latest handoff.",
  details:
    "A large plan is folded: finished phases first, then what has not begun; what is under way stays in sight. * marks the critical path, the longest chain of what is left.",
  args: [{ name: "goal", summary: "The goal's id, or a unique prefix of it." }],
  options: [
    { name: "full", summary: "Fold nothing: every node with its criteria, files and objective, every revision." },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const goal = await views.goal(world, call.arg("goal"));
    if (call.json) return call.out.json(presentGoal(goal));
    printGoal(call, goal, await viewGoalPlan(world, goal));
  },
};

function printGoal(call: Call, goal: GoalView, plan: PlanView): void {
  const { out } = call;
  const full = call.has("full");
  out.line(`${goal.goalId}  ${inert(goal.title)}`);
  out.line(
    `${goal.status}${goal.statusReason ? ` (${inert(goal.statusReason)})` : ""}, ${goal.priority} priority, ${goal.progress.percent} % (${tellProgress(goal.progress)})`,
  );
  out.line(`created ${moment(goal.createdAt)} UTC${goal.owner ? `, owned by ${inert(goal.owner)}` : ""}`);
  if (goal.tags.length > 0) out.line(`tags: ${goal.tags.map(inert).join(", ")}`);
  if (goal.problemStatement) out.line(`\n${inert(goal.problemStatement)}`);
  const section = (name: string, lines: readonly string[]) => {
    if (lines.length > 0) out.line(`\n${name}`);
    for (const line of lines) out.line(`  - ${inert(line)}`);
  };
  section("Reached when", goal.successCriteria);
  section("Not about", goal.nonGoals);
  section("Constraints", goal.constraints);
  section("Assumptions", goal.assumptions);
  section(
    "Risks",
    goal.risks.map(({ risk, impact, mitigation }) => [risk, impact, mitigation].filter(Boolean).join(" | ")),
  );
  const latest = goal.plan.at(-1);
  if (latest) out.line(`\nPlan, revision ${latest.revision} (${inert(latest.change)})`);
  else if (!goal.planning) out.line(`\nNo plan yet: overseer goal plan ${goal.goalId} --file plan.yaml`);
  const fullCommand = `overseer goal show ${goal.goalId} --full`;
  const look = { columns: roomOf(out), colour: out.colour, full, fullCommand };
  if (plan.rows.length > 0) for (const line of planLines(plan, look)) out.line(line);
  if (goal.planning) out.line(`\n${tellPlanning(goal.goalId, goal.planning)}`);
  for (const line of revisionLines(goal.plan, full)) out.line(full ? line : fitLine(out, line));
  if (goal.crystallization) {
    out.line(
      `\nLatest handoff (${goal.crystallization.workNodeId ?? "goal"}, ${moment(goal.crystallization.createdAt)} UTC)`,
    );
    out.line(`  ${inert(goal.crystallization.summary)}`);
  }
}

/** Where its plans came from. One that a person gave in a file, once, needs no history. */
export function revisionLines(plan: readonly PlanRevision[], full: boolean): string[] {
  if (plan.length === 0 || (plan.length === 1 && plan[0]?.source === "file")) return [];
  const shown = full ? plan : plan.slice(-LATEST_REVISIONS);
  const more = plan.length - shown.length;
  return [
    "",
    "Revisions",
    ...shown.toReversed().map(tellRevision),
    ...(more > 0 ? [`  … and ${plural(more, "earlier one")}: --full`] : []),
  ];
}

function tellRevision({ revision, at, change, nodeCount, rejected, ...from }: PlanRevision): string {
  const { source, model, promptId, promptHash } = from;
  const origin = [
    source === "file" ? "a file" : `a model${model ? `, ${model}` : ""}`,
    promptId ? `prompt ${promptId}${promptHash ? ` ${promptHash.slice(0, SHORT_HASH)}` : ""}` : "",
    rejected.length > 0 ? `${plural(rejected.length, "answer")} rejected` : "",
  ].filter((text) => text !== "");
  const when = moment(at).slice(0, 16);
  return inert(`  ${revision}  ${when} UTC  ${plural(nodeCount, "node")}, from ${origin.join(", ")}: ${change}`);
}

function tellPlanning(goalId: string, { status, since, detail, until }: Planning): string {
  const when = `since ${moment(since).slice(0, 16)} UTC`;
  const why = detail === null ? "" : `: ${inert(detail)}`;
  switch (status) {
    case "wanted":
      return `A model is asked for a plan, ${when}.`;
    case "waits":
      return `Planning waits, ${when}${why}${until === null ? "" : `; it is tried again at ${moment(until)} UTC`}.`;
    case "proposed":
      return `A plan waits to be accepted, ${when}: overseer goal plan ${goalId} --show`;
    case "failed":
      return `Planning failed, ${when}${why}.`;
  }
}

export default show;
