/** What sessions took and cost (METRIC-1), computed from the attempts and their pulses; no counter is stored twice. */
import type { Attempt, Usage } from "#domain/model/attempt.ts";
import { NO_USAGE, sumOfUsage } from "#domain/model/attempt.ts";
import { presentConditions } from "#store/actions.ts";
import { latestAttempts } from "#store/attempts.ts";
import { listLandedMerges } from "#store/merges.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import type { World } from "./world.ts";

export interface SessionMetric {
  readonly agent: string;
  readonly attempt: number;
  readonly capability: string;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly durationMs: number;
  readonly exit: string;
  /** The tier by which its branch was merged; null until it has landed. */
  readonly mergeTier: string | null;
  readonly usage: Usage;
}

export interface Total extends Usage {
  readonly key: string;
  readonly sessions: number;
  readonly durationMs: number;
}

export interface Metrics {
  readonly sessions: readonly SessionMetric[];
  readonly byAgent: readonly Total[];
  readonly byCapability: readonly Total[];
  readonly byGoal: readonly Total[];
  /** What Overseer itself has asked models for, over all time; part of what its goal has taken. */
  readonly models: readonly ModelTotal[];
}

export interface ModelTotal extends Usage {
  readonly purpose: string;
  readonly asked: number;
  readonly answered: number;
}

export async function metrics(world: World, last: number): Promise<Metrics> {
  const { attempts, pulses, landed, conditions } = await (await world.reader()).read({
    attempts: latestAttempts(last),
    landed: listLandedMerges(last),
    pulses: pulsesOfLiving(),
    conditions: presentConditions(),
  });
  const models = conditions.find((one) => one.kind === "models");
  const now = world.clock.now();
  const tiers = new Map(landed.map(({ attempt, tier }) => [attempt, tier]));
  const sessions = attempts.map((attempt) => ({
    ...sessionOf(attempt, pulses.find((pulse) => pulse.attempt === attempt.attempt)?.usage, now),
    mergeTier: tiers.get(attempt.attempt) ?? null,
  }));
  return {
    sessions,
    byAgent: totals(sessions, (session) => session.agent),
    byCapability: totals(sessions, (session) => session.capability),
    byGoal: withModels(
      totals(sessions, (session) => session.goalId),
      models?.goals ?? {},
    ),
    models: Object.entries(models?.purposes ?? {}).map(([purpose, { workingMs: _, ...spent }]) => ({
      purpose,
      ...spent,
    })),
  };
}

function sessionOf(attempt: Attempt, running: Usage | undefined, now: number): Omit<SessionMetric, "mergeTier"> {
  const from = attempt.startedAt ?? attempt.createdAt;
  return {
    agent: attempt.agent,
    attempt: attempt.attempt,
    capability: attempt.capability,
    goalId: attempt.goalId,
    workNodeId: attempt.workNodeId,
    startedAt: attempt.startedAt,
    endedAt: attempt.endedAt,
    durationMs: Math.max(0, (attempt.endedAt ?? now) - from),
    exit: attempt.end?.cause ?? attempt.status,
    usage: attempt.end?.usage ?? running ?? NO_USAGE,
  };
}

/** A goal has taken what its agents took, and what was asked of models for it. */
function withModels(goals: readonly Total[], models: Readonly<Record<string, Usage>>): Total[] {
  return goals.map((goal) => {
    const more = models[goal.key];
    return more ? { ...goal, ...sumOfUsage([goal, more]) } : goal;
  });
}

function totals(sessions: readonly SessionMetric[], key: (session: SessionMetric) => string): Total[] {
  const sums = new Map<string, Total>();
  for (const session of sessions) {
    const name = key(session);
    const sum = sums.get(name) ?? { key: name, sessions: 0, durationMs: 0, ...NO_USAGE };
    const usage = sumOfUsage([sum, session.usage]);
    sums.set(name, {
      key: name,
      sessions: sum.sessions + 1,
      durationMs: sum.durationMs + session.durationMs,
      ...usage,
    });
  }
  return [...sums.values()].sort((a, b) => b.costUsd - a.costUsd || b.durationMs - a.durationMs);
}
