/**
 * Auto mode as people see it: each worker with its task and since when, what was completed, what went wrong, and why no task
 * is taken now. Pure: from what is folded, who lives, and what the daemon says of its last look at the pool.
 */
import type { AutoCondition, HardFailure, PoolTask, Worker } from "#domain/model/auto.ts";
import { autoNames, isAutoName } from "#domain/model/auto.ts";

export interface WorkerView {
  readonly name: string;
  /** Set up by a person. */
  readonly standing: boolean;
  readonly excluded: boolean;
  /** What its agent does, in words; "idle" where it has none. */
  readonly doing: string;
  readonly sinceAt: number | null;
  readonly attempt: number | null;
  /** `goal/node`, and what that is called. */
  readonly node: string | null;
  readonly task: string | null;
}

export interface AutoView {
  /** A daemon takes tasks now. */
  readonly on: boolean;
  readonly workers: readonly WorkerView[];
  readonly completed: number;
  /** Tasks that were cancelled, and those that wait for a person. */
  readonly errors: number;
  readonly open: readonly PoolTask[];
  /** Of those, on which nobody works, and which wait for a person. */
  readonly failed: readonly PoolTask[];
  readonly unchanged: number;
  readonly taken: number;
  /** Why no task is taken now, as a clause; null where that is not known, or nothing is in the way. */
  readonly why: string | null;
  readonly emptySinceAt: number | null;
  readonly pausedAt: number | null;
  readonly pausedReason: string | null;
  readonly failure: (HardFailure & { readonly at: number }) | null;
  readonly repeated: AutoCondition["repeated"];
  readonly refused: readonly { readonly file: string; readonly problem: string }[];
}

export interface AutoFacts {
  readonly auto: AutoCondition | undefined;
  readonly workers: readonly Worker[];
  /** Null where no daemon of auto mode lives. */
  readonly running: { readonly concurrency: number; readonly why: string | null } | null;
  readonly agents: readonly {
    readonly agent: string;
    readonly attempt: number;
    readonly goalId: string;
    readonly workNodeId: string;
    readonly doing: string;
    readonly doingAt: number;
    readonly task: string | null;
  }[];
  /** Goals of which something is blocked. */
  readonly blocked: ReadonlySet<string>;
}

/** Null where auto mode was never used. */
export function viewAuto({ auto, workers, running, agents, blocked }: AutoFacts): AutoView | null {
  if (!auto && workers.length === 0 && running === null) return null;
  const own = running === null ? [] : autoNames(running.concurrency);
  const living = agents.filter(({ agent }) => isAutoName(agent)).map(({ agent }) => agent);
  const made = [...new Set([...own, ...living])].toSorted(byNumber);
  const standing = workers.filter((one) => !one.made);
  const open = auto?.open ?? [];
  const failed = open.filter(({ goalId }) => blocked.has(goalId));
  const outcomes = auto?.outcomes ?? { landed: 0, unchanged: 0, cancelled: 0 };
  const view = (name: string, worker?: Worker): WorkerView => {
    const at = agents.find(({ agent }) => agent === name);
    return {
      ...{ name, standing: worker !== undefined, excluded: worker?.excluded ?? false },
      ...{ doing: at?.doing ?? "idle", sinceAt: at?.doingAt ?? null, attempt: at?.attempt ?? null },
      ...{ node: at ? `${at.goalId}/${at.workNodeId}` : null, task: at?.task ?? null },
    };
  };
  return {
    on: running !== null,
    workers: [...made.map((name) => view(name)), ...standing.map((one) => view(one.name, one))],
    completed: outcomes.landed,
    errors: outcomes.cancelled + failed.length,
    ...{ open, failed, unchanged: outcomes.unchanged, taken: auto?.taken ?? 0 },
    why: running?.why ?? null,
    emptySinceAt: auto?.emptySince ?? null,
    pausedAt: auto?.paused?.at ?? null,
    pausedReason: auto?.paused?.reason ?? null,
    failure: auto?.failure ?? null,
    repeated: auto?.repeated ?? null,
    refused: Object.entries(auto?.refused ?? {}).map(([key, problem]) => ({ file: key.split("#")[0] ?? key, problem })),
  };
}

function byNumber(one: string, other: string): number {
  return Number(one.slice("auto-".length)) - Number(other.slice("auto-".length));
}

/** The seed's line: `Auto mode: 4 workers, 12 tasks completed, 1 error`. */
export function summariseAuto({
  workers,
  completed,
  errors,
}: Pick<AutoView, "workers" | "completed" | "errors">): string {
  return `Auto mode: ${count(workers.length, "worker")}, ${count(completed, "task")} completed, ${count(errors, "error")}`;
}

/** What else there is to say of it, a sentence each. */
export function explainAuto(view: AutoView): string[] {
  const { failure, pausedAt, pausedReason, repeated, refused, on, why } = view;
  return [
    ...(failure === null ? [] : [`It ended by itself (${failure.code}): ${failure.problem} ${failure.hint}`]),
    ...(pausedAt === null
      ? []
      : [`Paused${pausedReason ? ` (${pausedReason})` : ""}: no more tasks are taken until 'overseer auto resume'.`]),
    ...(on
      ? []
      : ["Auto mode is OFF: no task is taken ('overseer up --auto'; where a daemon runs, 'overseer down' first)."]),
    ...(on && pausedAt === null && why !== null ? [`No task is taken now: ${why}.`] : []),
    ...(repeated === null
      ? []
      : [
          `The pool gave ${repeated.goalId} again${repeated.times > 1 ? ` (${repeated.times} times)` : ""} while it is open; it is not done twice.`,
        ]),
    ...refused.map(({ file, problem }) => `Not taken: ${file} (${problem}).`),
  ];
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}
