/** The sentences about auto mode: its pool, its tasks, its workers. */
import type { PoolOutcome } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";

/** Undefined where the event is about something else. */
export function autoSentence(event: EventOf, who: string): string | undefined {
  switch (event.type) {
    case "auto.started":
      return `Auto mode began: ${count(event.data.concurrency, "worker")}, ${tellSources(event.data.sources)}${tellLimits(event.data)}.`;
    case "auto.paused":
      return `${who} paused auto mode: no more tasks are taken${saying(event.data.reason)}.`;
    case "auto.resumed":
      return `${who} let auto mode take tasks again${saying(event.data.reason)}.`;
    case "auto.failed":
      return `Auto mode ended by itself (${event.data.code}). ${event.data.problem}`;
    case "pool.taken":
      return event.data.source === "directory"
        ? `It is a task of the pool's directory (${event.data.key.split("#")[0]}).`
        : "It is a task that the pool's command gave.";
    case "pool.repeated":
      return "The pool gave this task once more while it is open; it is not done twice.";
    case "pool.refused":
      return `A file of the pool was not taken (${event.data.key.split("#")[0]}): ${event.data.problem}.`;
    case "pool.empty":
      return "The pool has no task now; it is asked again from time to time.";
    case "pool.forgotten":
      return `${count(event.data.keys.length, "file")} of the pool went away.`;
    case "pool.ended":
      return ENDED[event.data.outcome] ?? "The pool's task is over.";
    case "worker.added":
      return event.data.made
        ? `Auto mode made the worker ${event.data.name}.`
        : `${who} added the worker ${event.data.name}.`;
    case "worker.removed":
      return `The worker ${event.data.name} was taken away.`;
    default:
      return undefined;
  }
}

/** An outcome of a later version is told plainly. */
const ENDED: Readonly<Record<string, string | undefined>> = {
  landed: "The pool's task is done.",
  unchanged: "The pool's task ended without a change.",
  cancelled: "The pool's task was cancelled.",
} satisfies Record<PoolOutcome, string>;

function tellSources(sources: EventOf<"auto.started">["data"]["sources"]): string {
  const pool = sources.map((one) => ({ command: "tasks from a command", directory: "tasks from a directory" })[one]);
  return ["work on goals", ...pool].join(", ");
}

function tellLimits({ tasks, budgetUsd }: EventOf<"auto.started">["data"]): string {
  const most = [...(tasks === null ? [] : [count(tasks, "task")]), ...(budgetUsd === null ? [] : [`$${budgetUsd}`])];
  return most.length === 0 ? "" : `, up to ${most.join(" and ")}`;
}

function saying(reason: string | null): string {
  return reason ? `, saying "${reason.trim().replace(/\.+$/, "")}"` : "";
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}
