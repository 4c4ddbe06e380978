/** Giving a goal its plan, or a new revision of it, from a file a person wrote. */

import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import { closeDependents } from "#domain/landing/closing.ts";
import type { Decision } from "#domain/model/decision.ts";
import { type Goal, noSuchGoal } from "#domain/model/goal.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { type KnownNames, problemsOfNames } from "#domain/plans/known-names.ts";
import { LEAVES_OUT, listLeftOut, type Pruned, refuseLeavingOut } from "#domain/plans/left-out.ts";
import type { AcceptedPlan, PlanLimits, PlannedNode } from "#domain/plans/plan.ts";
import { acceptPlan, isDone, listIds, PERSONS_PLAN_LIMITS, problemsOfPlan } from "#domain/plans/plan.ts";
import type { FirstPlan } from "#domain/plans/planned-goal.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { type ParsedPlan, parsePlan } from "#planner/plan-file.ts";
import { RUNTIME_NAMES } from "#runtimes/list.ts";
import { openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { nodesOfGoal } from "#store/work.ts";
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
  /** Which open nodes it may leave out and so cancel; none where it does not say. */
  readonly prune?: Pruned;
}

/** What the file says, as the rules judge it, and what it says of its goal. `kept`: what that goal has already. */
export async function readPlan(
  world: World,
  file: PlanFile,
  kept: readonly WorkNode[] = [],
): Promise<FirstPlan & { readonly goal: ParsedPlan["goal"] }> {
  // What an agent writes is a model's plan: small enough that it has been thought through.
  const isPersons = world.actor.startsWith("human:");
  const limits: PlanLimits = isPersons ? PERSONS_PLAN_LIMITS : (await world.config()).planner;
  // Roles that cannot be read are in the way only of a plan that may name one.
  const known = /capability|runtime|checks|role/.test(file.text) ? await readKnownNames(world) : undefined;
  // Redacted before it is judged, as the store would on writing: else a node would differ from its own stored self.
  const judge = ({ phases }: ParsedPlan) => {
    const seen = redactDeep(phases);
    return [
      ...problemsOfPlan(seen, limits, listIds(kept), listIds(kept.filter(isDone))),
      ...(known ? problemsOfNames(seen, known) : []),
    ];
  };
  const { phases, goal } = redactDeep(parsePlan(file.text, file.name, judge));
  // Each by itself: how many there may be is for the rules to say.
  await assertFits(world, { goal, change: file.change });
  await assertFits(
    world,
    Object.fromEntries(phases.flatMap(listNodes).map((node) => [node.id, { ...node, children: [] }])),
  );
  const change = file.change ?? "first plan";
  return { phases, goal, limits, provenance: { source: "file", rejected: [], raw: file.text, change } };
}

async function readKnownNames(world: World): Promise<KnownNames> {
  const { config, files } = await world.settings();
  const { byCapability } = await loadRoles(files, roleSources(world.root, config));
  return { roles: byCapability, runtimes: RUNTIME_NAMES, checks: Object.keys(config.checks) };
}

function listNodes(node: PlannedNode): PlannedNode[] {
  return [node, ...node.children.flatMap(listNodes)];
}

export async function plan(world: World, word: string, file: PlanFile): Promise<AcceptedPlan & { goalId: string }> {
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const { kept } = await store.read({ kept: nodesOfGoal(goalId) });
  const read = await readPlan(world, file, kept);
  return commitPlan(world, goalId, read, {
    prune: file.prune ?? [],
    refuse: () => undefined,
    change: ({ plan: before }) => file.change ?? (before.length === 0 ? "first plan" : "edited by hand"),
  });
}

export interface PlanCommit {
  readonly prune: Pruned;
  /** Why that goal does not take it, in the transaction in which it would. */
  refuse(goal: Goal): Decision<never> | undefined;
  change(goal: Goal): string;
}

/** The plan becomes the goal's next revision, with all that follows, in one commit. */
export async function commitPlan(
  world: World,
  goalId: string,
  { phases, limits, provenance }: FirstPlan,
  { prune, refuse, change }: PlanCommit,
): Promise<AcceptedPlan & { goalId: string }> {
  const store = await world.writer();
  const moment = { now: world.clock.now(), actor: world.actor };
  let leftOut: readonly WorkNode[] = [];
  const outcome = await store.commit({
    at: moment.now,
    reads: {
      ...goalTreeReads(goalId),
      attempts: livingAttempts(),
      questions: openQuestions(),
    },
    decide: ({ goal, ...seen }): Decision<AcceptedPlan> => {
      if (!goal) return noSuchGoal(goalId);
      const no = refuse(goal);
      if (no) return no;
      const told = { ...provenance, change: change(goal) };
      const decision = acceptPlan(goal, seen.nodes, phases, limits, told, moment);
      leftOut = listLeftOut(seen.nodes, phases);
      const refused = decision.ok && refuseLeavingOut(goal, leftOut, prune, seen.attempts);
      if (refused) return refused;
      return closeDependents(settleDecision(goalTreeOf(goal, seen), decision, moment), seen, moment);
    },
  });
  if (!outcome.ok && outcome.refusal.code === LEAVES_OUT) {
    const { kind, code, message, hint } = outcome.refusal;
    throw new OverseerError(kind, code, message, hint, { details: { leftOut: leftOut.map((one) => one.workNodeId) } });
  }
  const accepted = orThrow(outcome);
  if (outcome.ok) await awaitStopped(world, outcome.events);
  return { goalId, ...accepted };
}
