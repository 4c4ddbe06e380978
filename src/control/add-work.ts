/**
 * `work add`: one task more, in a sentence. It goes to the goal that is named, or that what it waits for belongs to, or to
 * the only open one; where there is none, it is a goal of its own. One commit, and the daemon takes it up by itself.
 */
import { roleSources } from "#config/places.ts";
import { findRole, loadRoles } from "#config/roles.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { GoalStatus } from "#domain/model/goal.ts";
import { noSuchGoal } from "#domain/model/goal.ts";
import type { AddedTask, TaskWish } from "#domain/plans/add-task.ts";
import { addTask, toHints } from "#domain/plans/add-task.ts";
import type { PlanLimits } from "#domain/plans/plan.ts";
import { PERSONS_PLAN_LIMITS } from "#domain/plans/plan.ts";
import { goalFromPrompt, PROMPTED_NODE, type PromptWish } from "#domain/plans/prompt-goal.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { takeTitle } from "#domain/plans/short-name.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { goalById, goalOverviews } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { redact } from "#telemetry/redact.ts";
import { livingDaemon } from "./daemon.ts";
import { chooseGoalId } from "./goal-id.ts";
import { resolveGoal, resolveNode } from "./names.ts";
import type { World } from "./world.ts";
import { assertFits } from "./world.ts";

export interface WorkInput extends TaskWish {
  readonly goal?: string;
  /** Says what would be added, and adds nothing. */
  readonly dryRun: boolean;
}

export interface AddedWork extends AddedTask {
  readonly goalId: string;
  readonly name: string;
  /** It was made for this task. */
  readonly isNewGoal: boolean;
  readonly goalStatus: GoalStatus;
  readonly isDaemonUp: boolean;
  readonly dryRun: boolean;
}

export async function addWork(world: World, input: WorkInput): Promise<AddedWork> {
  const { goal: word, dryRun, after, ...rest } = input;
  await assertFits(world, rest);
  if (input.capability !== undefined) {
    const { config, files } = await world.settings();
    findRole(await loadRoles(files, roleSources(world.root, config)), input.capability);
  }
  const store = await world.writer();
  const home = await findHome(store, word, after);
  // Redacted as the store would: what is compared with it later is what was stored.
  const wish = { ...rest, text: redact(input.text), after: home?.after ?? [] };
  const added = home ? await addTo(world, home.goalId, wish, dryRun) : await addAlone(world, wish, dryRun);
  return { ...added, dryRun, isDaemonUp: livingDaemon(world) !== undefined };
}

type Added = Omit<AddedWork, "dryRun" | "isDaemonUp">;

async function addTo(world: World, goalId: string, wish: TaskWish, dryRun: boolean): Promise<Added> {
  const moment = { now: world.clock.now(), actor: world.actor };
  const isPersons = world.actor.startsWith("human:");
  const limits: PlanLimits = isPersons ? PERSONS_PLAN_LIMITS : (await world.config()).planner;
  const reads = goalTreeReads(goalId);
  const store = await world.writer();
  type Seen = Parameters<typeof goalTreeOf>[1] & { readonly goal: Parameters<typeof goalTreeOf>[0] | undefined };
  const decide = ({ goal, ...seen }: Seen): Decision<Added> => {
    if (!goal) return noSuchGoal(goalId);
    const decision = settleDecision(goalTreeOf(goal, seen), addTask(goal, seen.nodes, wish, limits, moment), moment);
    if (!decision.ok) return decision;
    const named = { goalId, name: takeTitle(wish.text), isNewGoal: false, goalStatus: goal.status };
    return accept(decision.events, { ...decision.value, ...named });
  };
  if (dryRun) return orThrow(decide(await store.read(reads)));
  return orThrow(await store.commit({ at: moment.now, reads, decide }));
}

async function addAlone(world: World, wish: TaskWish, dryRun: boolean): Promise<Added> {
  const prompted = { prompt: wish.text, tags: wish.tags, hints: toHints(wish) };
  const goalId = await queuePrompt(world, prompted, dryRun);
  const place = { nodeId: PROMPTED_NODE, phaseId: "P1", revision: 1, waitsFor: [], shared: [] };
  return { ...place, goalId, name: takeTitle(wish.text), isNewGoal: true, goalStatus: "active" };
}

/** A goal of one task, as `sling --prompt` makes it, that waits for the daemon. Answers with its id. */
export async function queuePrompt(world: World, wish: Omit<PromptWish, "goalId">, dryRun = false): Promise<string> {
  const moment = { now: world.clock.now(), actor: world.actor };
  const goalId = await chooseGoalId(world, wish.prompt);
  const decide = ({ taken }: { readonly taken: Parameters<typeof goalFromPrompt>[0] }): Decision<string> => {
    const made = goalFromPrompt(taken, { ...wish, goalId }, moment);
    return made.ok ? accept(made.events, goalId) : made;
  };
  if (dryRun) return orThrow(decide({ taken: undefined }));
  const store = await world.writer();
  return orThrow(await store.commit({ at: moment.now, reads: { taken: goalById(goalId) }, decide }));
}

interface Home {
  readonly goalId: string;
  /** What it waits for, by ids of that goal. */
  readonly after: readonly string[];
}

async function findHome(store: Store, word: string | undefined, after: readonly string[]): Promise<Home | undefined> {
  let goalId = word === undefined ? undefined : await resolveGoal(store, word);
  const ids: string[] = [];
  for (const one of after) {
    const found = await resolveNode(store, one, one.includes("/") ? undefined : goalId);
    if (goalId !== undefined && found.goalId !== goalId) {
      throw new OverseerError(
        "usage",
        "TWO_GOALS",
        `${found.goalId}/${found.nodeId} belongs to another goal than ${goalId}.`,
        "A task waits for tasks of its own goal; leave out one of them.",
      );
    }
    goalId = found.goalId;
    ids.push(found.nodeId);
  }
  goalId ??= await findOnlyOpen(store);
  return goalId === undefined ? undefined : { goalId, after: ids };
}

async function findOnlyOpen(store: Store): Promise<string | undefined> {
  const { goals } = await store.read({ goals: goalOverviews({ archived: false }) });
  const open = goals.filter(({ status }) => status === "active" || status === "paused");
  const [first, second] = open;
  if (!second) return first?.goalId;
  throw new OverseerError(
    "conflict",
    "GOAL_AMBIGUOUS",
    `There are ${open.length} open goals, so say which one it is for:\n${open.map(({ goalId, title }) => `  ${goalId}  ${title}`).join("\n")}`,
    `Add --goal ${first?.goalId ?? ""}, or begin a goal of its own: overseer sling --prompt "…".`,
  );
}
