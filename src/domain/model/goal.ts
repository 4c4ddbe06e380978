/**
 * A goal: what somebody wants, why, and how one will know it is reached. Its plan is a tree of work nodes
 * (work.ts); this file knows only the goal itself, the moves it can make, and how events change it.
 */
import type { Moment } from "#domain/core/actor.ts";
import type { Moves } from "#domain/core/moves.ts";
import { mayMove } from "#domain/core/moves.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "./decision.ts";
import type { EventOf, NewEvent } from "./event.ts";

export const GOAL_STATUSES = ["active", "paused", "completed", "cancelled", "archived"] as const;
export type GoalStatus = (typeof GOAL_STATUSES)[number];

export const PRIORITIES = ["low", "normal", "high", "urgent"] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Every move a goal can make. `archived` is final: it puts a finished goal out of sight and keeps it for ever. */
export const GOAL_MOVES: Moves<GoalStatus> = {
  active: ["paused", "completed", "cancelled"],
  paused: ["active", "cancelled"],
  completed: ["archived"],
  cancelled: ["archived"],
  archived: [],
};

export interface Risk {
  readonly risk: string;
  readonly impact: string;
  readonly mitigation: string;
}

/** Where a goal came from, so that a question about it finds its way back. */
export interface Origin {
  /** `cli`, `agent`, `source:<name>` … */
  readonly kind: string;
  /** The agent or session that asked, where there is one. */
  readonly session?: string;
  readonly deliveryContext?: Readonly<Record<string, string>>;
}

/** What the repository looked like when the goal was made. */
export interface RepoSnapshot {
  readonly branch?: string;
  readonly commit?: string;
}

export interface GoalDefinition {
  readonly title: string;
  readonly priority: Priority;
  readonly tags: readonly string[];
  readonly problemStatement: string;
  readonly successCriteria: readonly string[];
  readonly nonGoals: readonly string[];
  readonly constraints: readonly string[];
  readonly assumptions: readonly string[];
  readonly risks: readonly Risk[];
  readonly owner: string;
  readonly stakeholders: readonly string[];
}

/** How a plan came to be, one entry per accepted revision (GOAL-2). */
export interface PlanRevision {
  readonly revision: number;
  readonly at: number;
  readonly source: "file" | "model";
  readonly model?: string;
  readonly promptId?: string;
  readonly promptHash?: string;
  /** The text with which it was asked for was the user's own. */
  readonly ownPrompt?: true;
  /** What the planner was given, bounded. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** The errors of tries that were sent back, oldest first. */
  readonly rejected: readonly string[];
  /** What was put right in it before it was shown, a sentence each. */
  readonly notes?: readonly string[];
  /** What changed against the revision before, and why. */
  readonly change: string;
  readonly nodeCount: number;
  readonly raw: string;
}

/** A plan that waits to be accepted: a revision that is none yet, and the number of the revision it was made on. */
export interface Proposal extends Omit<PlanRevision, "revision" | "at"> {
  readonly base: number;
}

export const PLANNING_STATUSES = ["wanted", "waits", "proposed", "failed"] as const;
export type PlanningStatus = (typeof PLANNING_STATUSES)[number];

/** Where the plan stands that a model was asked for; it ends when a plan is accepted, or when it is dropped. */
export interface Planning {
  /** 1, 2, … for this goal: whoever brings an answer says to which asking it belongs. */
  readonly number: number;
  readonly status: PlanningStatus;
  readonly since: number;
  /** What the person wants different from the last one. */
  readonly remark: string | null;
  /** Questions about the repository are answered before the plan is made. */
  readonly scout: boolean;
  readonly accept: "person" | "auto";
  /** Why it waits or failed, as a clause. */
  readonly detail: string | null;
  /** When it is tried again. */
  readonly until: number | null;
  readonly proposal: Proposal | null;
  /** The plan that was proposed before this one was asked for, as the person saw it, their edits included. */
  readonly last?: string;
}

export interface Goal extends GoalDefinition {
  readonly goalId: string;
  readonly status: GoalStatus;
  readonly statusReason: string | null;
  readonly origin: Origin;
  readonly repo: RepoSnapshot;
  readonly plan: readonly PlanRevision[];
  /** Missing and null: no model was asked for a plan, or that has ended. */
  readonly planning?: Planning | null;
  /** How often a model was asked for a plan. */
  readonly plannings?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
}

export const BLANK_DEFINITION: Omit<GoalDefinition, "title"> = {
  priority: "normal",
  tags: [],
  problemStatement: "",
  successCriteria: [],
  nonGoals: [],
  constraints: [],
  assumptions: [],
  risks: [],
  owner: "",
  stakeholders: [],
};

export interface NewGoal {
  readonly goalId: string;
  readonly definition: GoalDefinition;
  readonly origin: Origin;
  readonly repo: RepoSnapshot;
}

export function createGoal(taken: Goal | undefined, wanted: NewGoal, moment: Moment): Decision<string> {
  if (taken) {
    return refuse("conflict", "GOAL_EXISTS", `Goal ${wanted.goalId} exists already.`, "Run the command again.");
  }
  const problem = problemWithTitle(wanted.definition.title);
  if (problem)
    return refuse("usage", "TITLE_INVALID", problem, "Give the goal a one-line title of up to 200 characters.");
  const { goalId, definition, origin, repo } = wanted;
  return accept(
    [
      {
        type: "goal.created",
        actor: moment.actor,
        goalId,
        because: "asked-for",
        data: { ...definition, origin, repo },
      },
    ],
    goalId,
  );
}

export function updateGoal(
  goal: Goal | undefined,
  goalId: string,
  changes: Partial<GoalDefinition>,
  moment: Moment,
): Decision<string> {
  if (!goal) return noSuchGoal(goalId);
  if (goal.status === "archived") {
    return refuse(
      "conflict",
      "GOAL_ARCHIVED",
      `Goal ${goalId} is archived and no longer changes.`,
      "Create a new goal instead.",
    );
  }
  if (changes.title !== undefined) {
    const problem = problemWithTitle(changes.title);
    if (problem)
      return refuse("usage", "TITLE_INVALID", problem, "Give the goal a one-line title of up to 200 characters.");
  }
  if (Object.keys(changes).length === 0) {
    return refuse("usage", "NOTHING_TO_CHANGE", "No change was given.", "Name a field, e.g. --title or --priority.");
  }
  return accept(
    [{ type: "goal.updated", actor: moment.actor, goalId, because: "asked-for", data: { changes } }],
    goalId,
  );
}

const MOVE_EVENTS = {
  paused: "goal.paused",
  active: "goal.resumed",
  completed: "goal.completed",
  cancelled: "goal.cancelled",
  archived: "goal.archived",
} as const;

/** The event that makes that move; the caller has asked `mayMove` or uses `moveGoal`. */
export function goalMoveEvent(
  goal: Goal,
  to: GoalStatus,
  moment: Moment,
  because: string,
  reason: string | null,
): NewEvent {
  return { type: MOVE_EVENTS[to], actor: moment.actor, goalId: goal.goalId, because, data: { reason } };
}

export function moveGoal(
  goal: Goal | undefined,
  goalId: string,
  to: GoalStatus,
  moment: Moment,
  reason: string | null = null,
): Decision<string> {
  if (!goal) return noSuchGoal(goalId);
  if (!mayMove(GOAL_MOVES, goal.status, to)) {
    return refuse(
      "conflict",
      "GOAL_MOVE_FORBIDDEN",
      `Goal ${goalId} is ${goal.status}; it cannot become ${to}.`,
      nextStepForGoal(goal, to),
    );
  }
  return accept([goalMoveEvent(goal, to, moment, "asked-for", reason)], goalId);
}

function nextStepForGoal(goal: Goal, wanted: GoalStatus): string {
  if (goal.status === wanted) return "There is nothing to do.";
  if (wanted === "archived") return `Finish it or run 'overseer goal cancel ${goal.goalId}' first.`;
  const possible = GOAL_MOVES[goal.status];
  if (possible.length === 0) return "An archived goal stays as it is; create a new one with 'overseer goal create'.";
  return `From ${goal.status} it can become ${possible.join(" or ")}.`;
}

export function noSuchGoal(goalId: string): Decision<never> {
  return refuse(
    "not-found",
    "GOAL_UNKNOWN",
    `There is no goal ${goalId}.`,
    "'overseer goal list --all' shows them all.",
  );
}

export function problemWithTitle(title: string): string | undefined {
  if (title.trim() === "") return "The title is empty.";
  if (title.length > 200) return `The title has ${title.length} characters; 200 is the limit.`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(title)) return "The title holds a line break or another control character.";
  return undefined;
}

/** How an event changes a goal. Total: an event that is not about the goal returns it as it was. */
export function applyToGoal(goal: Goal | undefined, event: EventOf): Goal | undefined {
  if (event.type === "goal.created") {
    const { origin, repo, ...definition } = event.data;
    return {
      goalId: event.goalId ?? "",
      ...definition,
      status: "active",
      statusReason: null,
      origin,
      repo,
      plan: [],
      createdAt: event.at,
      updatedAt: event.at,
      endedAt: null,
    };
  }
  if (!goal) return undefined;
  switch (event.type) {
    case "goal.updated":
      return { ...goal, ...event.data.changes, updatedAt: event.at };
    case "goal.paused":
      return withStatus(goal, "paused", event.at, event.data.reason);
    case "goal.resumed":
      return withStatus(goal, "active", event.at, event.data.reason);
    case "goal.completed":
      return withStatus(goal, "completed", event.at, event.data.reason);
    case "goal.cancelled":
      return withStatus(goal, "cancelled", event.at, event.data.reason);
    case "goal.archived":
      return withStatus(goal, "archived", event.at, event.data.reason);
    case "plan.accepted":
      return {
        ...goal,
        plan: [...goal.plan, { ...event.data, at: event.at }],
        ...(goal.planning ? { planning: null } : {}),
        updatedAt: event.at,
      };
    case "plan.wanted": {
      const wanted = { ...event.data, status: "wanted" as const, since: event.at, detail: null, until: null };
      const last = goal.planning?.proposal?.raw ?? goal.planning?.last;
      const planning = { ...wanted, proposal: null, ...(last === undefined ? {} : { last }) };
      return { ...goal, planning, plannings: event.data.number, updatedAt: event.at };
    }
    case "plan.waits":
    case "plan.proposed":
    case "plan.failed":
      return { ...goal, planning: movePlanning(goal.planning, event), updatedAt: event.at };
    case "plan.dropped":
      if (goal.planning?.number !== event.data.number) return goal;
      return { ...goal, planning: null, updatedAt: event.at };
    default:
      return goal;
  }
}

function movePlanning(
  planning: Planning | null | undefined,
  event: EventOf<"plan.waits" | "plan.proposed" | "plan.failed">,
): Planning | null {
  if (planning?.number !== event.data.number) return planning ?? null;
  const moved = { ...planning, since: event.at, detail: null, until: null, proposal: null };
  switch (event.type) {
    case "plan.waits":
      // Since when it waits, not when it was last tried.
      return {
        ...moved,
        ...{ status: "waits", detail: event.data.detail, until: event.data.until },
        since: planning.status === "waits" ? planning.since : event.at,
      };
    case "plan.proposed": {
      const { number: _number, ...proposal } = event.data;
      return { ...moved, status: "proposed", proposal };
    }
    default:
      return { ...moved, status: "failed", detail: event.data.problems[0] ?? "there is no plan that holds" };
  }
}

function withStatus(goal: Goal, status: GoalStatus, at: number, reason: string | null): Goal {
  const ended = status === "completed" || status === "cancelled";
  return { ...goal, status, statusReason: reason, updatedAt: at, endedAt: ended ? at : goal.endedAt };
}
