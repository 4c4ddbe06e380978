/**
 * A plan that a model makes, as people ask for it and decide about it. The asking itself is an action that the daemon
 * carries out; where none runs, whoever waits for the plan does it. What is accepted is what was shown: a proposal that was
 * replaced meanwhile, or made on an older plan, is refused.
 */
import { PLANNING_OFF } from "#act/planning/plan-goal.ts";
import { digestOf } from "#act/settings/trust-file.ts";
import { byteLength } from "#domain/core/quote.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { type Goal, noSuchGoal, type Planning, type Proposal } from "#domain/model/goal.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { Pruned } from "#domain/plans/left-out.ts";
import type { AcceptedPlan, PlannedNode } from "#domain/plans/plan.ts";
import { countNodes, LONGEST_PROPOSAL } from "#domain/plans/planned-nodes.ts";
import { dropPlan, noProposal, proposePlan, requestPlan, type WantedPlan } from "#domain/plans/planning.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { parsePlan } from "#planner/plan-file.ts";
import { goalById } from "#store/goals.ts";
import { nodesOfGoal } from "#store/work.ts";
import { resolveGoal } from "./names.ts";
import { commitPlan, readPlan } from "./plans.ts";
import { assertFits, type World } from "./world.ts";

/** Wants a plan from a model. Who accepts it is for the configuration to say where nobody says it here. */
export async function wantPlan(
  world: World,
  word: string,
  wanted: Partial<WantedPlan> = {},
): Promise<{ readonly goalId: string; readonly number: number }> {
  assertPerson(world, "ask for");
  await assertFits(world, { remark: wanted.remark });
  const { planner } = await world.config();
  if (!planner.enabled) throw PLANNING_OFF;
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  const asked = { remark: null, scout: false, accept: planner.accept, ...withoutUndefined(wanted) };
  const outcome = await store.commit({
    at: moment.now,
    reads: { goal: goalById(goalId) },
    decide: ({ goal }): Decision<number> => (goal ? requestPlan(goal, asked, moment) : noSuchGoal(goalId)),
  });
  return { goalId, number: orThrow(outcome) };
}

function withoutUndefined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** A plan is what an agent works by; it does not have itself given another one. */
function assertPerson(world: World, what: string): void {
  if (world.actor.startsWith("human:")) return;
  throw new OverseerError(
    "conflict",
    "NOT_FOR_AGENTS",
    `Only people ${what} a plan by a model.`,
    "Report what you need; a person can run it.",
  );
}

/** Throws not-found where there is no such goal. */
export async function readPlannedGoal(world: World, goalId: string): Promise<Goal> {
  const { goal } = await (await world.writer()).read({ goal: goalById(goalId) });
  if (goal) return goal;
  throw new OverseerError(
    "not-found",
    "GOAL_UNKNOWN",
    `There is no goal ${goalId}.`,
    "'overseer goal list --all' shows them all.",
  );
}

export interface ReadProposal {
  readonly goal: Goal;
  readonly nodes: readonly WorkNode[];
  /** Null where no model was asked, or that has ended. */
  readonly planning: Planning | null;
  /** The proposed plan; undefined while there is none. */
  readonly phases: readonly PlannedNode[] | undefined;
}

/** How the planning of a goal is getting on, with the plan that is proposed. */
export async function readProposal(world: World, word: string): Promise<ReadProposal> {
  const store = await world.reader();
  const goalId = await resolveGoal(store, word);
  const { goal, nodes } = await store.read({ goal: goalById(goalId), nodes: nodesOfGoal(goalId) });
  if (!goal) throw new OverseerError("not-found", "GOAL_UNKNOWN", `There is no goal ${goalId}.`, "Check the id.");
  const planning = goal.planning ?? null;
  const phases = planning?.proposal ? parsePlan(planning.proposal.raw, PROPOSAL).phases : undefined;
  return { goal, nodes, planning, phases };
}

/** How a proposal is called where a plan file would have its name. */
const PROPOSAL = "the proposed plan";

/** Which proposal somebody looked at: the asking it is of, and its text, since people change that. */
export interface SeenProposal {
  readonly number?: number;
  readonly digest?: string;
}

/** Stands for the text of a proposal as somebody saw it. */
export function digestOfProposal({ raw }: Pick<Proposal, "raw">): string {
  return digestOf(raw);
}

/** What somebody has before them, to be named when they decide about it. */
export function nameSeen(planning: Planning | null | undefined): SeenProposal {
  if (!planning?.proposal) return {};
  return { number: planning.number, digest: digestOfProposal(planning.proposal) };
}

/** The proposal becomes the plan. Where it is said which one was looked at, any other is refused. */
export async function acceptProposal(
  world: World,
  word: string,
  options: SeenProposal & { readonly prune?: Pruned } = {},
): Promise<AcceptedPlan & { readonly goalId: string }> {
  assertPerson(world, "accept");
  const { goalId, number, proposal, kept } = await findProposal(world, word);
  assertSeen(goalId, proposal, options);
  const wanted = options.number ?? number;
  const read = await readPlan(world, { name: PROPOSAL, text: proposal.raw }, kept);
  const { base: _base, nodeCount: _count, ...provenance } = proposal;
  return commitPlan(
    world,
    goalId,
    { ...read, provenance },
    {
      prune: options.prune ?? [],
      change: () => proposal.change,
      refuse: (goal) => refuseOther(goal, wanted, proposal),
    },
  );
}

/** A person's own words in place of the model's; where it came from stays told, and that it was changed too. */
export async function editProposal(
  world: World,
  word: string,
  text: string,
  options: SeenProposal = {},
): Promise<{ readonly goalId: string; readonly changed: boolean }> {
  assertPerson(world, "edit");
  const { goalId, number, proposal, kept } = await findProposal(world, word);
  assertSeen(goalId, proposal, options);
  if (text.trim() === proposal.raw.trim()) return { goalId, changed: false };
  if (byteLength(text) > LONGEST_PROPOSAL) {
    const message = `The plan is longer than the ${LONGEST_PROPOSAL} bytes a proposal may have.`;
    throw new OverseerError(
      "usage",
      "PLAN_TOO_LONG",
      message,
      "Give it as a file: overseer goal plan <goal> --file plan.yaml",
    );
  }
  const { phases } = await readPlan(world, { name: PROPOSAL, text }, kept);
  const moment = { now: world.clock.now(), actor: world.actor };
  const note = `Edited by ${world.actor.replace(/^human:/, "")}.`;
  const notes = [...(proposal.notes ?? []).filter((one) => one !== note), note];
  const edited: Proposal = { ...proposal, raw: text, nodeCount: countNodes(phases), notes };
  const outcome = await (await world.writer()).commit({
    at: moment.now,
    reads: { goal: goalById(goalId) },
    decide: ({ goal }): Decision<null> => {
      if (!goal) return noSuchGoal(goalId);
      const no = refuseOther(goal, options.number ?? number, proposal);
      return no ?? accept([proposePlan(goalId, number, edited, moment, "edited")], null);
    },
  });
  orThrow(outcome);
  return { goalId, changed: true };
}

/** Ends the asking, whatever it has come to; the plan in effect stays as it is. */
export async function dropProposal(world: World, word: string, reason: string | null = null): Promise<string> {
  assertPerson(world, "drop");
  await assertFits(world, { reason });
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  const outcome = await store.commit({
    at: moment.now,
    reads: { goal: goalById(goalId) },
    decide: ({ goal }): Decision<number> => (goal ? dropPlan(goal, reason, moment) : noSuchGoal(goalId)),
  });
  orThrow(outcome);
  return goalId;
}

interface FoundProposal {
  readonly goalId: string;
  readonly number: number;
  readonly proposal: Proposal;
  readonly kept: readonly WorkNode[];
}

async function findProposal(world: World, word: string): Promise<FoundProposal> {
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const { goal, kept } = await store.read({ goal: goalById(goalId), kept: nodesOfGoal(goalId) });
  const { planning } = goal ?? {};
  if (!planning?.proposal) return orThrow(noProposal(goalId, planning ?? null));
  return { goalId, number: planning.number, proposal: planning.proposal, kept };
}

/** Where somebody else has changed its text since, it is not what they looked at. */
function assertSeen(goalId: string, proposal: Proposal, { digest }: SeenProposal): void {
  if (digest !== undefined && digest !== digestOfProposal(proposal)) orThrow(refuseChanged(goalId));
}

/** Said where what is proposed is not what somebody looked at. */
export const PROPOSAL_CHANGED = "PROPOSAL_CHANGED";

function refuseChanged(goalId: string): Decision<never> {
  return refuse(
    "conflict",
    PROPOSAL_CHANGED,
    `Another plan is proposed for ${goalId} by now; nothing was changed.`,
    `Look at it: overseer goal plan ${goalId} --show`,
  );
}

/** Compare and set: it is still the one that was looked at, and still made on the plan that the goal has. */
function refuseOther(goal: Goal, number: number, seen: Proposal): Decision<never> | undefined {
  const { goalId, planning, plan } = goal;
  if (!planning?.proposal) return noProposal(goalId, planning ?? null);
  if (planning.number !== number || planning.proposal.raw !== seen.raw) return refuseChanged(goalId);
  if (seen.base === plan.length) return undefined;
  return refuse(
    "conflict",
    "PROPOSAL_OUTDATED",
    `The proposal was made on revision ${seen.base} of the plan, which is revision ${plan.length} by now.`,
    `Ask for another: overseer goal plan ${goalId} --with-model`,
  );
}
