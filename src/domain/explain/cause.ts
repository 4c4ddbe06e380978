/**
 * The step that answers "why?": of everything that happened, the one that made the thing what it is now. The other steps
 * are the log, in which what only confirms another step is folded.
 */
import type { EventOf } from "#domain/model/event.ts";

export interface Sentence {
  readonly seq: number;
  readonly at: number;
  readonly text: string;
}

/** A sentence and the event it tells. */
export interface ToldStep extends Sentence {
  readonly event: EventOf;
}

/** Which events make something what it is, by its status; where a line has several lists, the first that occurred wins. */
export const CAUSES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  // goals
  active: [["goal.created", "goal.resumed", "plan.accepted", "assignment.active"]],
  paused: [["goal.paused"]],
  completed: [["goal.completed"]],
  archived: [["goal.archived"]],
  // nodes and assignments
  todo: [["work.added", "work.redefined"]],
  queued: [["work.queued", "work.requeued", "work.unblocked", "assignment.created"]],
  stalled: [["assignment.stalled"]],
  blocked: [["work.blocked", "assignment.blocked"]],
  done: [
    ["landing.landed", "work.overridden"],
    ["work.done", "assignment.done"],
  ],
  cancelled: [["work.cancelled", "goal.cancelled", "assignment.cancelled"]],
  // questions
  open: [["question.asked", "question.escalated"]],
  answered: [["question.answered"]],
  withdrawn: [["question.withdrawn"]],
};

/** Null where nothing was told. Without an event that fits the status (in progress), the last step that says something. */
export function causeOf(steps: readonly ToldStep[], status: string): ToldStep | null {
  for (const types of CAUSES[status] ?? []) {
    const found = steps.findLast(({ event }) => types.includes(event.type));
    if (found) return found;
  }
  return steps.findLast(({ event }) => !isReceipt(event)) ?? steps.at(-1) ?? null;
}

const RECEIPTS: ReadonlySet<string> = new Set([
  "assignment.delivered",
  "message.moved",
  "message.requeued",
  "update.taken",
  "question.notified",
  "merge.testing",
]);

/** It only confirms that another step arrived or goes its way. */
export function isReceipt(event: EventOf): boolean {
  return RECEIPTS.has(event.type) || (event.type === "check.finished" && event.data.verdict === "pass");
}

/** Of receipts that follow each other only the last is told, with their number. */
export function foldReceipts(story: readonly Sentence[], receipts: ReadonlySet<number>): Sentence[] {
  const folded: Sentence[] = [];
  let run = 0;
  for (const step of story) {
    run = receipts.has(step.seq) ? run + 1 : 0;
    if (run > 1) folded.pop();
    folded.push(run > 1 ? { ...step, text: `${step.text} (${run} receipts)` } : step);
  }
  return folded;
}
