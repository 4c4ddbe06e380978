/**
 * What a plan will take: agents, time, tokens and cost, from finished work of the same role and runtime, with its spread.
 * Nothing is invented: of a kind of which fewer than three pieces are finished here, nothing is said. The spread of a whole
 * plan is what it takes if all its pieces take little, or all take much; what goes wrong and is done again is in it as far
 * as it happened before.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import { sumOfUsage } from "#domain/model/attempt.ts";
import type { ExecutionHints } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import { type CriticalPath, findCriticalPath } from "./critical-path.ts";
import { listPieces, type PlanPart } from "./plan-pieces.ts";
import { schedulePlan } from "./plan-schedule.ts";

/** What one finished piece of work took, all its attempts together. */
export interface FinishedWork {
  readonly capability: string;
  readonly runtime: string;
  /** Without what lay between its attempts, and without the wait for a review at their ends. */
  readonly workingMs: number;
  readonly tokens: number;
  readonly costUsd: number;
}

/** An attempt on work that is done, and when its agent last did something, as far as that is kept. */
export interface FinishedTry {
  readonly attempt: Attempt;
  readonly lastActAt: number | null;
}

export interface Spread {
  readonly low: number;
  readonly median: number;
  readonly high: number;
  /** The least and the most, because there are few; else the quartiles. */
  readonly isRange: boolean;
}

/** Which role a piece goes to, and on which runtime. */
export interface WorkKind {
  readonly capability: string;
  readonly runtime: string;
}

export interface KindCount extends WorkKind {
  /** How many pieces of the plan are of it. */
  readonly pieces: number;
  readonly finished: number;
  /** Enough of it is finished to estimate the rest. */
  readonly isKnown: boolean;
}

export interface PlanEstimate {
  readonly pieces: number;
  readonly places: number;
  /** At work at once if there were a place for everybody. */
  readonly width: number;
  /** At work at once with the places that there are. */
  readonly agents: number;
  readonly rounds: number;
  readonly path: CriticalPath;
  /** How many of the pieces are of a kind that is known. */
  readonly estimated: number;
  /** Null unless all of them are. */
  readonly time: Spread | null;
  /** Of those that are; null where none is. */
  readonly tokens: Spread | null;
  readonly cost: Spread | null;
  readonly kinds: readonly KindCount[];
}

/** What a piece gets that says nothing itself. */
export interface KindDefaults extends WorkKind {
  /** By role. */
  readonly runtimes: Readonly<Record<string, string>>;
}

export interface EstimateGrounds {
  readonly finished: readonly FinishedWork[];
  readonly defaults: KindDefaults;
  readonly places: number;
}

/** Fewer say nothing about the next one. */
export const FEWEST_FINISHED = 3;
/** From so many on a spread is told by its quartiles: one that went astray no longer counts. */
const ENOUGH_FOR_QUARTILES = 8;

export function measureSpread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const isRange = sorted.length < ENOUGH_FOR_QUARTILES;
  const [low, high] = isRange ? [0, 1] : [0.25, 0.75];
  return { low: quantile(sorted, low), median: quantile(sorted, 0.5), high: quantile(sorted, high), isRange };
}

function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? 0;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}

/** Those with an agent still on them are left out, and those that a person led: their pace is not an agent's. */
export function listFinishedWork(tries: readonly FinishedTry[]): FinishedWork[] {
  const byNode = new Map<string, FinishedTry[]>();
  for (const one of tries) {
    const key = nodeKey(one.attempt.goalId, one.attempt.workNodeId);
    const known = byNode.get(key);
    if (known) known.push(one);
    else byNode.set(key, [one]);
  }
  return [...byNode.values()].flatMap((all) => {
    const last = all.reduce((a, b) => (b.attempt.attempt > a.attempt.attempt ? b : a)).attempt;
    const usages = all.flatMap(({ attempt }) => attempt.end?.usage ?? []);
    if (usages.length < all.length || all.some(({ attempt }) => attempt.interactive)) return [];
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd } = sumOfUsage(usages);
    return [
      {
        capability: last.capability,
        runtime: last.runtime,
        workingMs: all.reduce((sum, one) => sum + measureWork(one), 0),
        tokens: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens,
        costUsd,
      },
    ];
  });
}

function measureWork({ attempt: { startedAt, endedAt }, lastActAt }: FinishedTry): number {
  if (startedAt === null || endedAt === null) return 0;
  const isWithin = lastActAt !== null && lastActAt >= startedAt && lastActAt <= endedAt;
  return Math.max(0, (isWithin ? lastActAt : endedAt) - startedAt);
}

/** As dispatch chooses them. */
export function resolveKind(hints: ExecutionHints, defaults: KindDefaults): WorkKind {
  const capability = hints.capability ?? hints.suggestedAgentType ?? defaults.capability;
  return { capability, runtime: hints.runtime ?? defaults.runtimes[capability] ?? defaults.runtime };
}

export function tellKind({ capability, runtime }: WorkKind): string {
  return `${capability} on ${runtime}`;
}

interface KindEstimate {
  readonly count: KindCount;
  readonly time: Spread;
  readonly tokens: Spread;
  readonly cost: Spread;
}

export function estimatePlan(parts: readonly PlanPart[], grounds: EstimateGrounds): PlanEstimate {
  const { defaults, places } = grounds;
  const pieces = listPieces(parts);
  const kindOf = new Map(pieces.map(({ id, definition }) => [id, resolveKind(definition.hints, defaults)]));
  const kinds = estimateKinds([...kindOf.values()], grounds.finished);
  const estimateOf = (id: string): KindEstimate | undefined => {
    const kind = kindOf.get(id);
    const found = kind && kinds.get(tellKind(kind));
    return found?.count.isKnown ? found : undefined;
  };
  const known = pieces.flatMap(({ id }) => estimateOf(id) ?? []);
  const takes = (which: "low" | "median" | "high") =>
    schedulePlan(parts, places, (id) => estimateOf(id)?.time[which]).length;
  const isAllKnown = pieces.length > 0 && known.length === pieces.length;
  return {
    pieces: pieces.length,
    places,
    width: schedulePlan(parts, Number.POSITIVE_INFINITY).peak,
    agents: schedulePlan(parts, places).peak,
    rounds: schedulePlan(parts, places).length,
    path: findCriticalPath(parts, (id) => estimateOf(id)?.time.median),
    estimated: known.length,
    time: isAllKnown
      ? {
          ...{ low: takes("low"), median: takes("median"), high: takes("high") },
          isRange: known.some(({ time }) => time.isRange),
        }
      : null,
    tokens: addSpreads(known.map(({ tokens }) => tokens)),
    cost: addSpreads(known.map(({ cost }) => cost)),
    kinds: [...kinds.values()].map(({ count }) => count),
  };
}

function estimateKinds(wanted: readonly WorkKind[], finished: readonly FinishedWork[]): Map<string, KindEstimate> {
  const kinds = new Map<string, KindEstimate>();
  for (const [name, all] of Map.groupBy(wanted, tellKind)) {
    const [kind] = all;
    if (!kind) continue;
    const same = finished.filter((one) => tellKind(one) === name);
    kinds.set(name, {
      count: { ...kind, pieces: all.length, finished: same.length, isKnown: same.length >= FEWEST_FINISHED },
      time: measureSpread(same.map(({ workingMs }) => workingMs)),
      tokens: measureSpread(same.map(({ tokens }) => tokens)),
      cost: measureSpread(same.map(({ costUsd }) => costUsd)),
    });
  }
  return kinds;
}

function addSpreads(all: readonly Spread[]): Spread | null {
  if (all.length === 0) return null;
  const add = (which: "low" | "median" | "high") => all.reduce((sum, one) => sum + one[which], 0);
  return { low: add("low"), median: add("median"), high: add("high"), isRange: all.some(({ isRange }) => isRange) };
}
