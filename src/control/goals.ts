/** What one may do to a goal. Each verb is one commit. */
import { cancelGoal } from "#domain/cancel-goal.ts";
import type { GoalDefinition, GoalStatus, Origin, RepoSnapshot } from "#domain/goal.ts";
import { BLANK_DEFINITION, createGoal, moveGoal, noSuchGoal, updateGoal } from "#domain/goal.ts";
import type { Decision } from "#domain/refusal.ts";
import { settled } from "#domain/settle.ts";
import { liveAssignmentsOfGoal, openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import { nodesOfGoal } from "#store/work.ts";
import { resolveGoal } from "./names.ts";
import type { World } from "./world.ts";
import { assertFits, orThrow } from "./world.ts";

export interface GoalInput extends Partial<Omit<GoalDefinition, "title">> {
  readonly title: string;
  /** The agent or session that asked, for questions to find their way back. */
  readonly fromSession?: string;
}

export async function create(world: World, input: GoalInput): Promise<string> {
  await assertFits(world, input);
  const { fromSession, ...given } = input;
  const definition: GoalDefinition = { ...BLANK_DEFINITION, ...defined(given), title: given.title.trim() };
  const origin: Origin = fromSession
    ? { kind: "session", session: fromSession, deliveryContext: { session: fromSession } }
    : { kind: "cli" };
  const repo = await repoSnapshot(world);
  const store = await world.writer();
  const goalId = world.ids.next("goal_");
  const moment = { now: world.clock.now(), actor: world.actor };
  return orThrow(
    await store.commit({
      at: moment.now,
      reads: { taken: goalById(goalId) },
      decide: ({ taken }) => createGoal(taken, { goalId, definition, origin, repo }, moment),
    }),
  );
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
      decide: ({ goal }) => updateGoal(goal, goalId, defined(changes), moment),
    }),
  );
}

export const pause = (world: World, word: string, reason?: string) => move(world, word, "paused", reason);
export const resume = (world: World, word: string, reason?: string) => move(world, word, "active", reason);
export const archive = (world: World, word: string, reason?: string) => move(world, word, "archived", reason);

/** Moves a goal; what was held back while it was paused follows at once. */
async function move(world: World, word: string, to: GoalStatus, reason?: string): Promise<string> {
  await assertFits(world, { reason });
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  return orThrow(
    await store.commit({
      at: moment.now,
      reads: { goal: goalById(goalId), nodes: nodesOfGoal(goalId) },
      decide: ({ goal, nodes }): Decision<string> =>
        goal
          ? settled({ goal, nodes }, moveGoal(goal, goalId, to, moment, reason ?? null), moment)
          : noSuchGoal(goalId),
    }),
  );
}

export async function cancel(world: World, word: string, reason?: string): Promise<string> {
  await assertFits(world, { reason });
  const store = await world.writer();
  const goalId = await resolveGoal(store, word);
  const moment = { now: world.clock.now(), actor: world.actor };
  return orThrow(
    await store.commit({
      at: moment.now,
      reads: {
        goal: goalById(goalId),
        nodes: nodesOfGoal(goalId),
        assignments: liveAssignmentsOfGoal(goalId),
        questions: openQuestions(),
        fleet: livingAttempts(),
      },
      decide: ({ goal, nodes, assignments, questions, fleet }): Decision<string> =>
        goal ? cancelGoal({ goal, nodes }, assignments, questions, fleet, reason ?? null, moment) : noSuchGoal(goalId),
    }),
  );
}

/** Without the keys that were not given, so that a default or the present value stays. */
function defined<T extends object>(input: T): Partial<T> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Branch and commit at the moment, read from git's own files; a repository in an odd state gives what it can. */
async function repoSnapshot(world: World): Promise<RepoSnapshot> {
  const head = (await world.files.read(`${world.root.gitCommonDir}/HEAD`))?.trim() ?? "";
  if (!head.startsWith("ref: ")) return head ? { commit: head } : {};
  const ref = head.slice("ref: ".length);
  const commit = (await world.files.read(`${world.root.gitCommonDir}/${ref}`))?.trim();
  return { branch: ref.replace(/^refs\/heads\//, ""), ...(commit ? { commit } : {}) };
}
