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
import type { Goal } from "#domain/model/goal.ts";
import { isOpen, readNoChanges, type WorkNode } from "#domain/model/work.ts";
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

/**
 * Files that are gone from the directory and may be forgotten: one whose task is open may come back, and would be done twice
 * (FAIL-4).
 */
export function listForgotten(auto: AutoCondition | undefined, gone: readonly string[]): string[] {
  const { open = [], files = {} } = auto ?? {};
  const isMany = Object.keys(files).length > MOST_FILES;
  // A directory that is away for a moment, or on another branch, must not have everything done again when it is back.
  return gone.filter((key) => !open.some((one) => one.key === key) && (isMany || files[key] === ""));
}

/** So many files are remembered although they are gone. */
const MOST_FILES = 2_000;

export type TakenTask =
  | { readonly kind: "taken"; readonly goalId: string }
  | { readonly kind: "repeated"; readonly goalId: string }
  /** It is in the log: somebody took it before they died. */
  | { readonly kind: "known" };

export function takeTask(
  seen: { readonly auto: AutoCondition | undefined; readonly named: Goal | undefined },
  goalId: string,
  task: PulledTask,
  moment: Moment,
): Decision<TakenTask> {
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

/**
 * What ends with a task of the pool, once: nothing while it is open. A goal of which nothing is left to be done, and nothing
 * was done, goes on until a person says what that means; this one has nobody who would, so it ends too (AUTO-5).
 */
export function endTask(
  goalId: string,
  seen: {
    readonly auto: AutoCondition | undefined;
    readonly goal: Goal | undefined;
    readonly nodes: readonly WorkNode[];
  },
  costUsd: number,
  moment: Moment,
): NewEvent[] {
  const { auto, goal, nodes } = seen;
  const isKnown = auto?.open.some((one) => one.goalId === goalId) === true;
  const outcome = isKnown ? judgeEnd(goal, nodes) : undefined;
  if (outcome === undefined) return [];
  const ended: NewEvent = {
    ...{ type: "pool.ended", actor: moment.actor, goalId, because: outcome },
    data: { outcome, costUsd },
  };
  if (goal?.status !== "active") return [ended];
  const reason = outcome === "unchanged" ? "its task ended without a change" : "its task was cancelled";
  const closed: NewEvent = {
    ...{ type: "goal.cancelled", actor: moment.actor, goalId, because: outcome },
    data: { reason },
  };
  return [closed, ended];
}

/** How a task of the pool ended; undefined while it is open. A goal that is gone was cancelled. */
export function judgeEnd(goal: Goal | undefined, nodes: readonly WorkNode[]): PoolOutcome | undefined {
  if (!goal) return "cancelled";
  if (goal.status === "paused") return undefined;
  if (goal.status === "active" && (nodes.length === 0 || nodes.some(isOpen))) return undefined;
  const leaves = nodes.filter(({ leaf }) => leaf);
  if (leaves.some(({ status }) => status === "done")) return "landed";
  return leaves.some(({ statusReason }) => readNoChanges(statusReason) !== undefined) ? "unchanged" : "cancelled";
}
