/** How a goal stands that somebody follows, and how it went: gathers what the rule judges (domain/explain/followed-goal.ts). */
import { type FollowedGoal, isGoalMilestone, judgeFollowedGoal } from "#domain/explain/followed-goal.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import { nodeKey, type WorkNode } from "#domain/model/work.ts";
import { type Progress, progressOfGoal } from "#domain/plans/rollup.ts";
import { OverseerError } from "#errors.ts";
import { eventsMatching } from "#store/events.ts";
import { goalById } from "#store/goals.ts";
import { nodesOfGoal } from "#store/work.ts";
import { livingDaemon } from "./daemon.ts";
import { type AgentStatus, type LandingView, readFleetStatus, readLandingsOfGoal } from "./status.ts";
import type { World } from "./world.ts";

export interface GoalSight {
  readonly goal: Goal;
  readonly followed: FollowedGoal;
  readonly progress: Progress;
  readonly agents: readonly AgentStatus[];
  /** In dollars: every session on it, and what was asked of models for it. */
  readonly costUsd: number;
}

/** `putOff`: given by whoever decides about finished work while they follow. */
export async function observeFollowedGoal(
  world: World,
  goalId: string,
  putOff?: ReadonlySet<string>,
): Promise<GoalSight> {
  const { goal, nodes } = await readTree(world, goalId);
  const status = await readFleetStatus(world);
  const agents = status.agents.filter((one) => one.goalId === goalId);
  const living = new Set(agents.map((one) => nodeKey(goalId, one.workNodeId)));
  const isDaemonUp = livingDaemon(world) !== undefined;
  const facts = { goal, nodes, standstills: status.standstills, isDaemonUp, living };
  const followed = judgeFollowedGoal({ ...facts, ...(putOff === undefined ? {} : { putOff }) });
  const costUsd = status.goals.find((one) => one.goalId === goalId)?.costUsd ?? 0;
  return { goal, followed, agents, costUsd, progress: progressOfGoal(nodes, goal.status === "completed") };
}

async function readTree(world: World, goalId: string): Promise<{ goal: Goal; nodes: readonly WorkNode[] }> {
  const { goal, nodes } = await (await world.reader()).read({ goal: goalById(goalId), nodes: nodesOfGoal(goalId) });
  if (!goal) throw new OverseerError("internal", "GONE", `${goalId} disappeared.`, "Run 'overseer doctor'.");
  return { goal, nodes };
}

export interface GoalSteps {
  readonly shown: readonly EventOf[];
  /** Up to where the log was read. */
  readonly last: number;
}

const AT_ONCE = 1_000;

/** What happened to a goal since then, as far as whoever follows it is told. */
export async function readGoalSteps(world: World, goalId: string, after: number): Promise<GoalSteps> {
  const { events } = await (await world.reader()).read({ events: eventsMatching({ goalId, after, limit: AT_ONCE }) });
  return { shown: events.filter(isGoalMilestone), last: events.at(-1)?.seq ?? after };
}

/** The last few of them, for somebody who comes back. */
export async function readLatestGoalSteps(world: World, goalId: string, most: number): Promise<GoalSteps> {
  const query = eventsMatching({ goalId, limit: AT_ONCE, newest: true });
  const { events } = await (await world.reader()).read({ events: query });
  return { shown: events.filter(isGoalMilestone).slice(-most), last: events.at(-1)?.seq ?? 0 };
}

export interface GoalEnding {
  readonly goalId: string;
  /** The newest first. */
  readonly landings: readonly LandingView[];
  readonly costUsd: number;
  /** From the sentence to the end, or to now. */
  readonly tookMs: number;
}

export async function readGoalEnding(world: World, goalId: string): Promise<GoalEnding> {
  const { goal, costUsd } = await observeFollowedGoal(world, goalId);
  const landings = await readLandingsOfGoal(await world.reader(), goalId);
  return { goalId, landings, costUsd, tookMs: (goal.endedAt ?? world.clock.now()) - goal.createdAt };
}

/** How it ended for whoever followed it, for scripts. */
export interface FollowedEnd extends GoalEnding {
  readonly outcome: "landed" | "waits" | "failed";
  readonly text: string;
  /** What a person types next; null once all has landed. */
  readonly command: string | null;
}
