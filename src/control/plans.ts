/** Giving a goal its plan, or a new revision of it, from a file a person wrote. */

import { closeDependents } from "#domain/landing/closing.ts";
import type { Decision } from "#domain/model/decision.ts";
import { noSuchGoal } from "#domain/model/goal.ts";
import type { AcceptedPlan, PlanLimits } from "#domain/plans/plan.ts";
import { acceptPlan } from "#domain/plans/plan.ts";
import type { FirstPlan } from "#domain/plans/planned-goal.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { orThrow } from "#errors.ts";
import { parsePlan } from "#planner/plan-file.ts";
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

/** What the file says, as the rules judge it. */
export async function readPlan(world: World, file: PlanFile): Promise<FirstPlan> {
  // Redacted before it is judged, as the store would on writing: else a node would differ from its own stored self.
  const phases = redactDeep(parsePlan(file.text, file.name));
  await assertFits(world, { phases, change: file.change });
  const limits: PlanLimits = (await world.config()).planner;
  const change = file.change ?? "first plan";
  return { phases, limits, provenance: { source: "file", rejected: [], raw: file.text, change } };
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
