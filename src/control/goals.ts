/** What one may do to a goal. Each verb is one commit. */
import { wakeRunnersFor } from "#act/attempt-files.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { GoalDefinition, GoalStatus, NewGoal, Origin, RepoSnapshot } from "#domain/model/goal.ts";
import { BLANK_DEFINITION, createGoal, moveGoal, noSuchGoal, updateGoal } from "#domain/model/goal.ts";
import type { Allowance } from "#domain/model/limits.ts";
import { cancelGoal } from "#domain/plans/cancel-goal.ts";
import {
  findPausedForGoal,
  isSession,
  pauseAgentsOfGoal,
  resumeAgentsOfGoal,
  stopAgentsOfGoal,
} from "#domain/plans/goal-agents.ts";
import type { AcceptedPlan } from "#domain/plans/plan.ts";
import { createPlannedGoal } from "#domain/plans/planned-goal.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { raiseBudget } from "#domain/reports/raise-budget.ts";
import { orThrow } from "#errors.ts";
import { presentConditions } from "#store/actions.ts";
import { liveAssignmentsOfGoal, openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { nodesOfGoal } from "#store/work.ts";
import { awaitStopped } from "./agents.ts";
import { resolveGoal } from "./names.ts";
import type { PlanFile } from "./plans.ts";
import { readPlan } from "./plans.ts";
import type { World } from "./world.ts";
import { assertFits } from "./world.ts";

export interface GoalInput extends Partial<Omit<GoalDefinition, "title">> {
  readonly title: string;
  /** The agent or session that asked, for questions to find their way back. */
  readonly fromSession?: string;
}

export async function create(world: World, input: GoalInput): Promise<string> {
  const wanted = await describeGoal(world, input);
  const moment = { now: world.clock.now(), actor: world.actor };
  return orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { taken: goalById(wanted.goalId) },
      decide: ({ taken }) => createGoal(taken, wanted, moment),
    }),
  );
}

/** With its plan, in one commit: where the plan is refused, there is no goal either. */
export async function createWithPlan(
  world: World,
  input: Partial<GoalInput>,
  file: PlanFile,
): Promise<AcceptedPlan & { readonly goalId: string }> {
  const plan = await readPlan(world, file);
  // What somebody says here goes before what the plan says.
  const said = { ...plan.goal, ...withoutUndefined(input) };
  const wanted = await describeGoal(world, { ...said, title: said.title ?? "" });
  const moment = { now: world.clock.now(), actor: world.actor };
  const { accepted } = orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { taken: goalById(wanted.goalId) },
      decide: ({ taken }) => createPlannedGoal(taken, wanted, plan, moment),
    }),
  );
  return { goalId: wanted.goalId, ...accepted };
}

async function describeGoal(world: World, input: GoalInput): Promise<NewGoal> {
  await assertFits(world, input);
  const { fromSession, ...given } = input;
  const definition: GoalDefinition = { ...BLANK_DEFINITION, ...withoutUndefined(given), title: given.title.trim() };
  const repo = await readRepoSnapshot(world);
  const origin = fromSession === undefined ? { kind: "cli" } : await originOf(await world.writer(), fromSession);
  return { goalId: world.ids.next("goal_"), definition, origin, repo };
}

/** A person grants a goal more than the configuration does; its agents go on by themselves then. */
export async function raiseGoalBudget(world: World, word: string, raised: Partial<Allowance>): Promise<string> {
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  const outcome = await store.commit({
    at: moment.now,
    reads: { goal: goalById(goalId), conditions: presentConditions() },
    decide: ({ goal, conditions }): Decision<string> => {
      if (!goal) return noSuchGoal(goalId);
      const decision = raiseBudget(`goal:${goalId}`, raised, { goalId }, conditions, moment);
      return decision.ok ? accept(decision.events, goalId) : decision;
    },
  });
  return orThrow(outcome);
}

/** GOAL-4: who asked, and all that is known now of how to reach it; a session of somebody else's is kept by its name. */
async function originOf(store: Store, session: string): Promise<Origin> {
  const { living } = await store.read({ living: livingAttempts() });
  const agent = living.find((one) => isSession(one, session));
  const context = agent
    ? { agent: agent.agent, attempt: String(agent.attempt), ...(agent.session ? { sessionId: agent.session } : {}) }
    : {};
  return { kind: "session", session, deliveryContext: { session, ...context } };
}

export async function update(world: World, word: string, changes: Partial<GoalDefinition>): Promise<string> {
  await assertFits(world, changes);
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  return orThrow(
    await store.commit({
      at: moment.now,
      reads: { goal: goalById(goalId) },
      decide: ({ goal }) => updateGoal(goal, goalId, withoutUndefined(changes), moment),
    }),
  );
}

/** GOAL-5: nothing of it is dispatched, and its agents finish their turn and wait. */
export const pauseGoal = (world: World, word: string, reason?: string) => move(world, word, "paused", reason);
/** Goes on, with the agents that were paused for its sake. */
export const resumeGoal = (world: World, word: string, reason?: string) => move(world, word, "active", reason);
export const archiveGoal = (world: World, word: string, reason?: string) => move(world, word, "archived", reason);

/** Moves a goal and its agents with it; what was held back while it was paused follows at once. */
async function move(world: World, word: string, to: GoalStatus, reason?: string): Promise<string> {
  await assertFits(world, { reason });
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  const messageIdOf = await messageIds(world);
  const outcome = await store.commit({
    at: moment.now,
    reads: {
      ...goalTreeReads(goalId),
      living: livingAttempts(),
      pauses: eventsMatching({ type: "agent.paused", goalId, limit: 500, newest: true }),
    },
    decide: ({ goal, living, pauses, ...seen }): Decision<string> => {
      if (!goal) return noSuchGoal(goalId);
      const decision = settleDecision(
        goalTreeOf(goal, seen),
        moveGoal(goal, goalId, to, moment, reason ?? null),
        moment,
      );
      if (!decision.ok) return decision;
      const agents =
        to === "paused"
          ? pauseAgentsOfGoal(goalId, living, reason ?? null, moment)
          : to === "active"
            ? resumeAgentsOfGoal(goalId, living, findPausedForGoal(pauses), messageIdOf, moment)
            : [];
      return accept([...decision.events, ...agents], decision.value);
    },
  });
  orThrow(outcome);
  if (outcome.ok) await wakeRunnersFor(world, outcome.events);
  return goalId;
}

/** GOAL-5: ends everything open under it; its agents are stopped, their work is kept, and whoever asked is told. */
export async function cancelWholeGoal(world: World, word: string, reason?: string): Promise<string> {
  await assertFits(world, { reason });
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  const outcome = await store.commit({
    at: moment.now,
    reads: {
      goal: goalById(goalId),
      nodes: nodesOfGoal(goalId),
      assignments: liveAssignmentsOfGoal(goalId),
      questions: openQuestions(),
      living: livingAttempts(),
    },
    decide: ({ goal, nodes, assignments, questions, living }): Decision<string> => {
      if (!goal) return noSuchGoal(goalId);
      const decision = cancelGoal({ goal, nodes }, assignments, questions, reason ?? null, moment);
      if (!decision.ok) return decision;
      const agents = stopAgentsOfGoal(goal, living, reason ?? null, moment);
      return accept([...decision.events, ...agents], decision.value);
    },
  });
  orThrow(outcome);
  if (outcome.ok) {
    await wakeRunnersFor(world, outcome.events);
    await awaitStopped(world, outcome.events);
  }
  return goalId;
}

/** Ids for messages to whoever lives now, drawn before the rule runs. */
async function messageIds(world: World): Promise<(attempt: number) => string> {
  const { living } = await (await world.writer()).read({ living: livingAttempts() });
  const ids = new Map(living.map((one) => [one.attempt, world.ids.next("m_")]));
  return (attempt) => ids.get(attempt) ?? `m_${attempt}`;
}

/** Without the keys that were not given, so that a default or the present value stays. */
function withoutUndefined<T extends object>(input: T): Partial<T> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Branch and commit at the moment, read from git's own files; a repository in an odd state gives what it can. */
export async function readRepoSnapshot(world: World): Promise<RepoSnapshot> {
  const head = (await world.files.read(`${world.root.gitCommonDir}/HEAD`))?.trim() ?? "";
  if (!head.startsWith("ref: ")) return head ? { commit: head } : {};
  const ref = head.slice("ref: ".length);
  const commit = (await world.files.read(`${world.root.gitCommonDir}/${ref}`))?.trim();
  return { branch: ref.replace(/^refs\/heads\//, ""), ...(commit ? { commit } : {}) };
}
