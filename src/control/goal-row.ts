/**
 * A goal in one line, as lists and `status` show it. Apart from the other views, because `status` runs again and again
 * and needs nothing of them.
 */
import type { GoalStatus, Priority } from "#domain/model/goal.ts";
import type { Progress } from "#domain/plans/rollup.ts";
import { percentOf } from "#domain/plans/rollup.ts";
import type { GoalOverview } from "#store/goals.ts";

export interface GoalRow {
  readonly goalId: string;
  readonly title: string;
  readonly status: GoalStatus;
  readonly priority: Priority;
  readonly progress: Progress;
  readonly nodes: number;
  readonly queued: number;
  readonly inProgress: number;
  readonly blocked: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function goalRow(row: GoalOverview): GoalRow {
  const { leaves, leavesDone, ...rest } = row;
  const percent = percentOf(leavesDone, leaves, row.status === "completed");
  return { ...rest, progress: { done: leavesDone, total: leaves, percent } };
}
