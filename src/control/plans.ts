/** Giving a goal its plan, or a new revision of it, from a file a person wrote. */

import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import { closeDependents } from "#domain/landing/closing.ts";
import type { Decision } from "#domain/model/decision.ts";
import { noSuchGoal } from "#domain/model/goal.ts";
import { matchRole } from "#domain/model/role.ts";
import type { AcceptedPlan, PlanLimits, PlannedNode } from "#domain/plans/plan.ts";
import { acceptPlan, PERSONS_PLAN_LIMITS } from "#domain/plans/plan.ts";
import type { FirstPlan } from "#domain/plans/planned-goal.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { type ParsedPlan, parsePlan } from "#planner/plan-file.ts";
import { RUNTIME_NAMES } from "#runtimes/list.ts";
import { openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { redactDeep } from "#telemetry/redact.ts";
import { awaitStopped } from "./agents.ts";
import { resolveGoal } from "./names.ts";
import type { World } from "./world.ts";
import { assertFits } from "./world.ts";

export interface PlanFile {
  readonly name: string;
  readonly text: string;
  /** Why there is a new revision. */
  readonly change?: string;
}

/** What the file says, as the rules judge it, and what it says of its goal. */
export async function readPlan(
  world: World,
  file: PlanFile,
): Promise<FirstPlan & { readonly goal: ParsedPlan["goal"] }> {
  // Redacted before it is judged, as the store would on writing: else a node would differ from its own stored self.
  const { phases, goal } = redactDeep(parsePlan(file.text, file.name));
  const nodes = phases.flatMap(listNodes);
  // Each by itself: how many there may be is for the rules to say.
  await assertFits(world, { goal, change: file.change });
  await assertFits(world, Object.fromEntries(nodes.map((node) => [node.id, { ...node, children: [] }])));
  await assertKnownNames(world, file.name, nodes);
  // What an agent writes is a model's plan: small enough that it has been thought through.
  const isPersons = world.actor.startsWith("human:");
  const limits: PlanLimits = isPersons ? PERSONS_PLAN_LIMITS : (await world.config()).planner;
  const change = file.change ?? "first plan";
  return { phases, goal, limits, provenance: { source: "file", rejected: [], raw: file.text, change } };
}

/** Roles, runtimes and checks that a plan names have to be there: found out at dispatch, at night, it would be too late. */
async function assertKnownNames(world: World, name: string, nodes: readonly PlannedNode[]): Promise<void> {
  if (!nodes.some(({ hints }) => hints.capability ?? hints.runtime ?? hints.checks)) return;
  const { config, files } = await world.settings();
  const { byCapability } = await loadRoles(files, roleSources(world.root, config));
  const problems = nodes.flatMap(({ id, hints }) => [
    ...(matchRole(byCapability, hints.capability ?? "").kind === "found"
      ? []
      : unknownName(id, "role", hints.capability, [...byCapability.keys()])),
    ...unknownName(id, "runtime", hints.runtime, RUNTIME_NAMES),
    ...(hints.checks ?? []).flatMap((check) => unknownName(id, "check", check, Object.keys(config.checks))),
  ]);
  if (problems.length === 0) return;
  const shown = problems.slice(0, 20).map((problem) => `  - ${problem}`);
  throw new OverseerError(
    "usage",
    "PLAN_INVALID",
    `${name} names what is not there:\n${shown.join("\n")}${problems.length > 20 ? `\n  … and ${problems.length - 20} more` : ""}`,
    "Change the plan, or add them to .overseer/ first; nothing was stored.",
  );
}

function listNodes(node: PlannedNode): PlannedNode[] {
  return [node, ...node.children.flatMap(listNodes)];
}

function unknownName(id: string, what: string, name: string | undefined, known: readonly string[]): string[] {
  if (name === undefined || known.includes(name)) return [];
  const there = known.length === 0 ? "there is none" : `there is ${known.slice(0, 10).join(", ")}`;
  return [`${id}: no ${what} "${name.slice(0, 80)}"; ${there}.`];
}

export async function plan(world: World, word: string, file: PlanFile): Promise<AcceptedPlan & { goalId: string }> {
  const { phases, limits, provenance } = await readPlan(world, file);
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  const outcome = await store.commit({
    at: moment.now,
    reads: {
      ...goalTreeReads(goalId),
      attempts: livingAttempts(),
      questions: openQuestions(),
    },
    decide: ({ goal, ...seen }): Decision<AcceptedPlan> => {
      if (!goal) return noSuchGoal(goalId);
      const change = file.change ?? (goal.plan.length === 0 ? "first plan" : "edited by hand");
      const decision = acceptPlan(goal, seen.nodes, phases, limits, { ...provenance, change }, moment);
      return closeDependents(settleDecision(goalTreeOf(goal, seen), decision, moment), seen, moment);
    },
  });
  const accepted = orThrow(outcome);
  if (outcome.ok) await awaitStopped(world, outcome.events);
  return { goalId, ...accepted };
}
