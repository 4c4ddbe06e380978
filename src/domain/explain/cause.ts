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
    ["landing.landed", "work.overridden", "work.taken_back"],
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

/** What only confirms that another step arrived or goes its way, and in what two of them are alike. */
export function receiptKind(event: EventOf): string | undefined {
  switch (event.type) {
    case "message.moved":
    case "message.requeued":
    case "merge.testing":
      return event.type;
    case "assignment.delivered":
      return `${event.type} ${event.data.result}`;
    case "update.taken":
      return `${event.type} ${event.actor} ${event.data.status}`;
    case "question.notified":
      return `${event.type} ${event.data.channel} ${event.data.ok}`;
    case "check.finished":
      return event.data.verdict === "pass" ? `${event.type} ${event.data.name}` : undefined;
    default:
      return undefined;
  }
}

export function isReceipt(event: EventOf): boolean {
  return receiptKind(event) !== undefined;
}

/** Of like receipts that follow each other only the last is told, with their number. */
export function foldReceipts(story: readonly Sentence[], receipts: ReadonlyMap<number, string>): Sentence[] {
  const folded: Sentence[] = [];
  let run = 0;
  let last: string | undefined;
  for (const step of story) {
    const kind = receipts.get(step.seq);
    run = kind === undefined ? 0 : kind === last ? run + 1 : 1;
    last = kind;
    if (run > 1) folded.pop();
    folded.push(run > 1 ? { ...step, text: `${step.text} (${run} of these)` } : step);
  }
  return folded;
}
