/** What is known of auto mode, for tests of its rules. */
import { type AutoCondition, applyToAuto, type PoolTask, type Worker } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";
import { T0 } from "./samples.ts";

const STARTED: EventOf<"auto.started"> = {
  ...{ type: "auto.started", actor: "overseer", because: "asked-for", seq: 1, at: T0, v: 1 },
  data: { instance: "i", sources: ["command"], concurrency: 2, tasks: null, budgetUsd: null },
};

export function autoWith(parts: Partial<AutoCondition> = {}): AutoCondition {
  return { ...applyToAuto(undefined, STARTED), ...parts };
}

export function poolTaskWith(parts: Partial<PoolTask> = {}): PoolTask {
  return { goalId: "goal_A", source: "command", key: "k", takenAt: T0, ...parts };
}

export function workerWith(name: string, parts: Partial<Worker> = {}): Worker {
  const made = name.startsWith("auto-");
  return { name, made, excluded: false, capability: null, runtime: null, model: null, addedAt: T0, ...parts };
}
