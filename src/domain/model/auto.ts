/**
 * Auto mode as the log knows it: which tasks were taken from the pool and what became of them, who may work on them, and
 * what keeps the next one from being taken. Two conditions, folded like the others: `auto` for the pool, `workers` for the
 * places. Pure.
 */
import type { EventOf } from "./event.ts";

/** Where tasks come from beside the plans of goals; trackers will be others. */
export const POOL_SOURCES = ["command", "directory"] as const;
export type PoolSource = (typeof POOL_SOURCES)[number];

/** A task of the pool that is not over. */
export interface PoolTask {
  readonly goalId: string;
  readonly source: PoolSource;
  /** What the same task would be known by: its words, or its file and what that holds. */
  readonly key: string;
  readonly takenAt: number;
}

/** How a task of the pool ended. */
export const POOL_OUTCOMES = ["landed", "unchanged", "cancelled"] as const;
export type PoolOutcome = (typeof POOL_OUTCOMES)[number];

/** Why auto mode ended by itself: something it stands on is broken. */
export interface HardFailure {
  /** Stable, for scripts and for whoever repairs it. */
  readonly code: string;
  readonly problem: string;
  readonly hint: string;
}

export interface AutoCondition {
  readonly kind: "auto";
  readonly conditionId: string;
  readonly active: boolean;
  readonly since: number;
  readonly updatedAt: number;
  readonly open: readonly PoolTask[];
  /** Everything ever taken, and what became of it. */
  readonly taken: number;
  readonly outcomes: Readonly<Record<PoolOutcome, number>>;
  /** Since auto mode was last started: how many tasks were taken, and what those that are over have cost. */
  readonly run: { readonly startedAt: number; readonly taken: number; readonly costUsd: number };
  readonly lastTakenAt: number | null;
  readonly lastEndedAt: number | null;
  /** The last asking of the command whose answer is in the log. */
  readonly lastPull: string | null;
  /** Files whose tasks were taken, or refused, by key; those that are gone from the directory are forgotten. */
  readonly files: Readonly<Record<string, string>>;
  /** Since when the pool has nothing; null while it has. */
  readonly emptySince: number | null;
  /** The task that the pool gave once more although it is open (FAIL-4); null once it gave another. */
  readonly repeated: { readonly goalId: string; readonly at: number; readonly times: number } | null;
  /** Files that cannot be a task, each with why. */
  readonly refused: Readonly<Record<string, string>>;
  readonly paused: { readonly at: number; readonly by: string; readonly reason: string | null } | null;
  readonly failure: (HardFailure & { readonly at: number }) | null;
}

/** A place of auto mode: one of its own (`auto-1` …), or one that a person has set up by name. */
export interface Worker {
  readonly name: string;
  /** Made by auto mode, which takes it away again where fewer are wanted. */
  readonly made: boolean;
  /** Auto mode gives it no task; a person does, by name. */
  readonly excluded: boolean;
  readonly capability: string | null;
  readonly runtime: string | null;
  readonly model: string | null;
  readonly addedAt: number;
}

export interface WorkersCondition {
  readonly kind: "workers";
  readonly conditionId: string;
  readonly active: boolean;
  readonly since: number;
  readonly updatedAt: number;
  readonly workers: readonly Worker[];
}

export const AUTO = "auto";
export const WORKERS = "workers";

/** Names that only auto mode gives. */
const AUTO_NAME = /^auto-[1-9][0-9]{0,3}$/;

export function isAutoName(name: string): boolean {
  return AUTO_NAME.test(name);
}

/**
 * Whether it is the name of a place: one of auto mode's own, or a standing worker that auto mode gives tasks to. Whoever has
 * the place has the name, so it is promised to nobody; and it is beside the places of everybody else.
 */
export function isPlaceName(name: string, workers: readonly Worker[]): boolean {
  return isAutoName(name) || workers.some((one) => one.name === name && !one.excluded);
}

/** `auto-1` … `auto-N`. */
export function autoNames(concurrency: number): string[] {
  return Array.from({ length: concurrency }, (_, index) => `auto-${index + 1}`);
}

const FRESH: Omit<AutoCondition, "conditionId" | "since" | "updatedAt" | "active" | "kind"> = {
  open: [],
  taken: 0,
  outcomes: { landed: 0, unchanged: 0, cancelled: 0 },
  run: { startedAt: 0, taken: 0, costUsd: 0 },
  lastTakenAt: null,
  lastEndedAt: null,
  lastPull: null,
  files: {},
  emptySince: null,
  repeated: null,
  refused: {},
  paused: null,
  failure: null,
};

type AutoEvent = EventOf<
  | "auto.started"
  | "auto.paused"
  | "auto.resumed"
  | "auto.failed"
  | "pool.taken"
  | "pool.repeated"
  | "pool.refused"
  | "pool.empty"
  | "pool.forgotten"
  | "pool.ended"
>;

/** How an event changes what is known of the pool. Total. */
export function applyToAuto(known: AutoCondition | undefined, event: AutoEvent): AutoCondition {
  const { at } = event;
  const before: AutoCondition = known ?? {
    ...{ kind: "auto", conditionId: AUTO, active: true, since: at, updatedAt: at },
    ...FRESH,
  };
  const now = { ...before, updatedAt: at };
  switch (event.type) {
    case "auto.started":
      return {
        ...now,
        failure: null,
        // Whoever was killed is followed by one that goes on with what was counted; askings that were cut off were told.
        run: event.data.continues ? now.run : { startedAt: at, taken: 0, costUsd: 0 },
        refused: Object.fromEntries(Object.entries(now.refused).filter(([key]) => isFileKey(key))),
      };
    case "auto.paused":
      return { ...now, paused: { at, by: event.actor, reason: event.data.reason } };
    case "auto.resumed":
      return { ...now, paused: null };
    case "auto.failed":
      return { ...now, failure: { ...event.data, at } };
    case "pool.taken": {
      const { source, key, pull } = event.data;
      const task: PoolTask = { goalId: event.goalId ?? "", source, key, takenAt: at };
      return {
        ...now,
        open: [...now.open, task],
        taken: now.taken + 1,
        run: { ...now.run, taken: now.run.taken + 1 },
        ...{ lastTakenAt: at, emptySince: null, repeated: null },
        lastPull: pull ?? now.lastPull,
        files: source === "directory" ? { ...now.files, [key]: task.goalId } : now.files,
      };
    }
    case "pool.repeated": {
      const goalId = event.goalId ?? "";
      const times = now.repeated?.goalId === goalId ? now.repeated.times + 1 : 1;
      return { ...now, repeated: { goalId, at, times }, lastPull: event.data.pull };
    }
    case "pool.refused": {
      const { key, problem } = event.data;
      // An asking that was cut off is no file, and is not looked for in the directory.
      const files = isFileKey(key) ? { ...now.files, [key]: "" } : now.files;
      return { ...now, files, refused: { ...now.refused, [key]: problem } };
    }
    case "pool.empty":
      return { ...now, emptySince: now.emptySince ?? at };
    case "pool.forgotten":
      return { ...now, files: without(now.files, event.data.keys), refused: without(now.refused, event.data.keys) };
    case "pool.ended": {
      const { outcome, costUsd } = event.data;
      return {
        ...now,
        open: now.open.filter(({ goalId }) => goalId !== event.goalId),
        outcomes: { ...now.outcomes, [outcome]: now.outcomes[outcome] + 1 },
        run: { ...now.run, costUsd: now.run.costUsd + costUsd },
        lastEndedAt: at,
        repeated: now.repeated?.goalId === event.goalId ? null : now.repeated,
      };
    }
    default:
      return now;
  }
}

/** A file is known by its name and what it holds. */
function isFileKey(key: string): boolean {
  return key.includes("#");
}

function without(record: Readonly<Record<string, string>>, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}

/** How an event changes who the workers are. Total; the last of them going leaves an empty list. */
export function applyToWorkers(
  known: WorkersCondition | undefined,
  event: EventOf<"worker.added" | "worker.removed">,
): WorkersCondition {
  const { at } = event;
  const common = {
    kind: "workers",
    conditionId: WORKERS,
    active: true,
    since: known?.since ?? at,
    updatedAt: at,
  } as const;
  const others = (known?.workers ?? []).filter(({ name }) => name !== event.data.name);
  if (event.type === "worker.removed") return { ...common, workers: others };
  const { name, made, excluded, capability, runtime, model } = event.data;
  const worker: Worker = { name, made, excluded, capability, runtime, model, addedAt: at };
  return { ...common, workers: [...others, worker] };
}
