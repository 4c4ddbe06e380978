/** A goal in a sentence (`overseer do`): begun, found again, and taken back. */
import { filterEnvironment } from "#act/attempt-files.ts";
import { PLANNING_OFF } from "#act/planning/plan-goal.ts";
import type { Goal } from "#domain/model/goal.ts";
import { goalFromSentence, SENTENCE_ORIGIN } from "#domain/plans/sentence-goal.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { readStatus } from "#git/repository.ts";
import { goalById, goalOverviews, listOpenGoals } from "#store/goals.ts";
import { redact } from "#telemetry/redact.ts";
import { chooseGoalId } from "./goal-id.ts";
import { archiveGoal, cancelWholeGoal, readRepoSnapshot } from "./goals.ts";
import { assertNotHalted, readHold } from "./halted.ts";
import { ANSWER_MS } from "./upkeep/doctor-machine.ts";
import type { World } from "./world.ts";
import { assertFits } from "./world.ts";

export interface SentenceInput {
  readonly text: string;
  /** What it may cost in US dollars; null for what is configured. */
  readonly limit: number | null;
  readonly scout: boolean;
  /** Whoever is there decides about the plan, whatever is configured. */
  readonly reviewed: boolean;
}

/** One commit: the goal, what it may cost, and the wish for its plan. */
export async function beginGoal(world: World, { text, limit, scout, reviewed }: SentenceInput): Promise<string> {
  await assertFits(world, { text });
  const goalId = await chooseGoalId(world, text);
  const moment = { now: world.clock.now(), actor: world.actor };
  const repo = await readRepoSnapshot(world);
  const { planner } = await world.config();
  const wanted = { remark: null, scout, accept: reviewed ? ("person" as const) : planner.accept };
  const wish = { goalId, text: redact(text), limit, repo, wanted };
  orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { taken: goalById(goalId) },
      decide: ({ taken }) => goalFromSentence(taken, wish, moment),
    }),
  );
  return goalId;
}

/** Throws where no model could be asked, so that no goal is left behind for it. */
export async function assertModelAsked(world: World): Promise<void> {
  await world.writer(); // where nothing is set up, that is what is missing
  await assertNotHalted(world);
  const hold = await readHold(world);
  if (hold) throw new OverseerError("conflict", "SETTINGS_HELD", hold.message, hold.hint);
  const { planner, model, reconcile, runtime, defaults, agents } = await world.config();
  const byHand = 'Or plan by hand: overseer goal create "…" --plan plan.yaml';
  if (!planner.enabled) throw PLANNING_OFF;
  if (reconcile.modelCallsPerTick === 0) {
    throw new OverseerError(
      "conflict",
      "PLANNING_OFF",
      "No model is asked for anything here: reconcile.modelCallsPerTick is 0.",
      `Turn it on with 'overseer config set reconcile.modelCallsPerTick 1'. ${byHand}`,
    );
  }
  if (model.command !== null) return;
  const asked = await world.runtime(planner.runtime ?? runtime);
  const ready = await asked.probe({
    permissionMode: defaults.permissionMode,
    interactive: false,
    project: world.root.project,
    env: filterEnvironment(world.env, agents.passEnv),
    timeoutMs: ANSWER_MS,
  });
  if (ready.ready) return;
  const { reason, hint } = ready;
  throw new OverseerError("environment", "NO_MODEL", `No model can be asked: ${reason}`, `${hint} ${byHand}`);
}

/** What `overseer do` began and has not ended, the newest first. */
export async function listSentenceGoals(world: World): Promise<readonly Goal[]> {
  const { open } = await (await world.reader()).read({ open: listOpenGoals() });
  return open.filter(({ origin }) => origin.kind === SENTENCE_ORIGIN);
}

/** The last that it began and that is still in sight, ended or not. */
export async function findLastSentenceGoal(world: World): Promise<Goal | undefined> {
  const { rows } = await (await world.reader()).read({ rows: goalOverviews({ archived: false }) });
  for (const { goalId } of rows.toReversed()) {
    const { goal } = await (await world.reader()).read({ goal: goalById(goalId) });
    if (goal?.origin.kind === SENTENCE_ORIGIN) return goal;
  }
  return undefined;
}

/** Ends it and puts it out of sight: nothing of it is left open. */
export async function takeBackGoal(world: World, goalId: string, reason: string): Promise<void> {
  await cancelWholeGoal(world, goalId, reason);
  await archiveGoal(world, goalId, reason);
}

/** Files of the main checkout that are not committed, which agents do not see; ours aside. */
export async function countUncommitted(world: World): Promise<number> {
  if (world.root.project === world.root.gitCommonDir) return 0; // bare: nothing is checked out there
  const entries = await readStatus(world.git.git, world.root.project);
  return entries.filter(({ kind, path }) => kind !== "ignored" && !path.startsWith(".overseer/")).length;
}
