/**
 * A task of the pool becomes a goal with one task, in the commit that also remembers where it came from (AUTO-12): from
 * then on it is work like any other, and whoever dies in between has lost nothing. The same task again while it is open is
 * said and not done twice (FAIL-4). Pure.
 */
import type { Moment } from "#domain/core/actor.ts";
import { textHash } from "#domain/core/derived-id.ts";
import type { AutoCondition, PoolOutcome, PoolSource } from "#domain/model/auto.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { type Goal, goalMoveEvent } from "#domain/model/goal.ts";
import { readNoChanges, type WorkNode } from "#domain/model/work.ts";
import { goalFromPrompt } from "#domain/plans/prompt-goal.ts";

export interface PulledTask {
  readonly source: PoolSource;
  /** What the same task would be known by. */
  readonly key: string;
  /** In answer to which asking of the command; null for others. */
  readonly pull: string | null;
  readonly text: string;
  /** What its title is made of, where the text holds more than words. */
  readonly words: string;
}

/** What a task that a command printed is known by: its words. */
export function taskKey(text: string): string {
  return textHash(text.trim().replace(/\r\n/g, "\n"));
}

export type Taken =
  | { readonly kind: "taken"; readonly goalId: string }
  | { readonly kind: "repeated"; readonly goalId: string }
  /** It is in the log: somebody took it before they died. */
  | { readonly kind: "known" };

export function takeTask(
  seen: { readonly auto: AutoCondition | undefined; readonly named: Goal | undefined },
  goalId: string,
  task: PulledTask,
  moment: Moment,
): Decision<Taken> {
  const { auto } = seen;
  if (task.pull !== null && auto?.lastPull === task.pull) return accept([], { kind: "known" });
  if (task.source === "directory" && auto?.files[task.key] !== undefined) return accept([], { kind: "known" });
  const open = auto?.open.find(({ key }) => key === task.key);
  if (open && task.pull !== null) {
    const event: NewEvent = {
      ...{ type: "pool.repeated", actor: moment.actor, goalId: open.goalId, because: "is-open" },
      data: { pull: task.pull },
    };
    return accept([event], { kind: "repeated", goalId: open.goalId });
  }
  const wish = { goalId, prompt: task.text, words: task.words, tags: [], origin: { kind: `source:${task.source}` } };
  const made = goalFromPrompt(seen.named, wish, moment);
  if (!made.ok) return made;
  const event: NewEvent = {
    ...{ type: "pool.taken", actor: moment.actor, goalId, because: "a-worker-is-free" },
    data: { source: task.source, key: task.key, pull: task.pull },
  };
  return accept([...made.events, event], { kind: "taken", goalId });
}

/** How a task of the pool ended; undefined while it is open. A goal that is gone was cancelled. */
export function judgeEnd(goal: Goal | undefined, nodes: readonly WorkNode[]): PoolOutcome | undefined {
  if (!goal) return "cancelled";
  const leaves = nodes.filter(({ leaf }) => leaf);
  const isLeft = leaves.length > 0 && leaves.every(({ status }) => status === "cancelled");
  if (goal.status === "paused" || (goal.status === "active" && !isLeft)) return undefined;
  if (leaves.some(({ status }) => status === "done")) return "landed";
  return leaves.some(({ statusReason }) => readNoChanges(statusReason) !== undefined) ? "unchanged" : "cancelled";
}

export interface EndSeen {
  readonly auto: AutoCondition | undefined;
  readonly goal: Goal | undefined;
  readonly nodes: readonly WorkNode[];
  readonly costUsd: number;
}

/**
 * What is written down when a task of the pool is over. A goal of which everything was cancelled is left to a person
 * elsewhere; of one that the pool made nothing is to be decided, so it ends with its task.
 */
export function endTask({ auto, goal, nodes, costUsd }: EndSeen, goalId: string, moment: Moment): NewEvent[] {
  const outcome = judgeEnd(goal, nodes);
  if (outcome === undefined || auto?.open.some((one) => one.goalId === goalId) !== true) return [];
  const ended: NewEvent = {
    ...{ type: "pool.ended", actor: moment.actor, goalId, because: outcome },
    data: { outcome, costUsd },
  };
  if (goal?.status !== "active") return [ended];
  const reason = outcome === "unchanged" ? "Its task ended without a change." : "Its task was cancelled.";
  return [ended, goalMoveEvent(goal, "cancelled", moment, "task-over", reason)];
}
