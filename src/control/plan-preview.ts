/**
 * What a plan would mean before it is accepted, and what is left of one that runs: its nodes, what it takes by what finished
 * work took here, and what it changes. Reads only.
 */
import { limitsOf } from "#config/limits.ts";
import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import { type PlanView, viewPlan, viewWork } from "#domain/explain/plan-view.ts";
import type { Goal } from "#domain/model/goal.ts";
import { type EstimateGrounds, estimatePlan, listFinishedWork, type PlanEstimate } from "#domain/plans/estimate.ts";
import type { PlannedNode } from "#domain/plans/plan.ts";
import { diffPlan, type PlanChanges } from "#domain/plans/plan-diff.ts";
import { type PlanPart, partsOfPlan, partsOfWork } from "#domain/plans/plan-pieces.ts";
import { OverseerError } from "#errors.ts";
import { parsePlan } from "#planner/plan-file.ts";
import { livingAttempts } from "#store/attempts.ts";
import { listFinishedTries } from "#store/finished-work.ts";
import { goalById } from "#store/goals.ts";
import { nodesOfGoal } from "#store/work.ts";
import { redactDeep } from "#telemetry/redact.ts";
import { resolveGoal } from "./names.ts";
import { type PlanFile, readPlan } from "./plans.ts";
import type { GoalView } from "./views.ts";
import type { World } from "./world.ts";

export interface PlanPreview {
  readonly goalId: string;
  /** The revision that it would follow; 0 where there is none. */
  readonly base: number;
  readonly view: PlanView;
  /** Against the work that there is. */
  readonly changes: PlanChanges;
}

/** Older work was done by other models and under other rules. */
const LATEST_NODES = 200;

export async function previewPlan(world: World, word: string, phases: readonly PlannedNode[]): Promise<PlanPreview> {
  const store = await world.reader();
  const goalId = await resolveGoal(store, word);
  const { goal, nodes, attempts } = await store.read({
    goal: goalById(goalId),
    nodes: nodesOfGoal(goalId),
    attempts: livingAttempts(),
  });
  const parts = partsOfPlan(phases);
  return {
    goalId,
    base: goal?.plan.length ?? 0,
    view: viewPlan(parts, await estimateParts(world, parts)),
    changes: diffPlan(nodes, phases, { tags: goal?.tags ?? [], attempts }),
  };
}

/** The plan of a file, judged as if it were given. */
export async function previewPlanFile(world: World, word: string, file: PlanFile): Promise<PlanPreview> {
  const store = await world.reader();
  const goalId = await resolveGoal(store, word);
  const { kept } = await store.read({ kept: nodesOfGoal(goalId) });
  const { phases } = await readPlan(world, file, kept);
  return previewPlan(world, goalId, phases);
}

/** The plan that waits to be accepted. */
export async function previewProposal(world: World, word: string): Promise<PlanPreview> {
  const store = await world.reader();
  const goalId = await resolveGoal(store, word);
  const { goal } = await store.read({ goal: goalById(goalId) });
  return previewProposalOf(world, { goalId, planning: goal?.planning ?? null });
}

/** The one that somebody has read already, whatever is proposed by now. */
export async function previewProposalOf(
  world: World,
  { goalId, planning }: Pick<Goal, "goalId"> & { readonly planning?: Goal["planning"] },
): Promise<PlanPreview> {
  const proposal = planning?.proposal;
  if (!proposal) {
    throw new OverseerError(
      "not-found",
      "NO_PROPOSAL",
      `No plan is proposed for ${goalId}.`,
      `Ask for one with 'overseer goal plan ${goalId} --with-model', or name the plan to look at: --file plan.yaml.`,
    );
  }
  return previewPlan(world, goalId, redactDeep(parsePlan(proposal.raw, "the proposed plan").phases));
}

/** What a goal has and what is left of it. */
export async function viewGoalPlan(world: World, { status, work }: GoalView): Promise<PlanView> {
  const parts = partsOfWork(work);
  const isOpen = (status === "active" || status === "paused") && parts.some(({ ended }) => !ended);
  return viewWork(work, isOpen ? await estimateParts(world, parts) : null);
}

async function estimateParts(world: World, parts: readonly PlanPart[]): Promise<PlanEstimate | null> {
  const grounds = await readGrounds(world);
  return grounds && estimatePlan(parts, grounds);
}

/** Null where the settings cannot be read: a plan can be looked at all the same, and everything else says what is wrong. */
async function readGrounds(world: World): Promise<EstimateGrounds | null> {
  const { tries } = await (await world.reader()).read({ tries: listFinishedTries(LATEST_NODES) });
  try {
    const { config, files } = await world.settings();
    const { byCapability } = await loadRoles(files, roleSources(world.root, config));
    const runtimes = [...byCapability].flatMap(([name, { runtime }]) => (runtime ? [[name, runtime] as const] : []));
    const { defaultCapability: capability } = limitsOf(config);
    return {
      finished: listFinishedWork(tries),
      defaults: { capability, runtime: config.runtime, runtimes: Object.fromEntries(runtimes) },
      places: config.agents.maxConcurrent,
    };
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") return null;
    throw error;
  }
}
