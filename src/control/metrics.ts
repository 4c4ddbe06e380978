/** What sessions took and cost (METRIC-1), computed from the attempts and their pulses; no counter is stored twice. */
import type { ClaimCount } from "#domain/landing/unproven-claims.ts";
import { countClaims, NO_CLAIMS } from "#domain/landing/unproven-claims.ts";
import type { Attempt, Usage } from "#domain/model/attempt.ts";
import { NO_USAGE, sumOfUsage } from "#domain/model/attempt.ts";
import { presentConditions } from "#store/actions.ts";
import { latestAttempts } from "#store/attempts.ts";
import { countByReason, eventsMatching } from "#store/events.ts";
import { listLandedMerges } from "#store/merges.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import type { World } from "./world.ts";

export interface SessionMetric extends ClaimCount {
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

export interface Total extends Usage, ClaimCount {
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
  /** What the reflex said over all time, and how much of it a person called wrong. */
  readonly steerings: readonly SteeringTotal[];
}

export interface SteeringTotal {
  readonly anomaly: string;
  readonly said: number;
  readonly wrong: number;
}

export interface ModelTotal extends Usage {
  readonly purpose: string;
  readonly asked: number;
  readonly answered: number;
}

/** More reports of done than this has no session; the log is read no further back. */
const CLAIMS_PER_SESSION = 20;

export async function metrics(world: World, last: number): Promise<Metrics> {
  const { attempts, pulses, landed, conditions, said, wrong, claimed, returned } = await (await world.reader()).read({
    attempts: latestAttempts(last),
    claimed: eventsMatching({ type: "work.claimed", newest: true, limit: CLAIMS_PER_SESSION * last }),
    returned: eventsMatching({ type: "work.returned", newest: true, limit: CLAIMS_PER_SESSION * last }),
    landed: listLandedMerges(last),
    pulses: pulsesOfLiving(),
    conditions: presentConditions(),
    said: countByReason("agent.steered"),
    wrong: countByReason("agent.steering_refuted"),
  });
  const models = conditions.find((one) => one.kind === "models");
  const now = world.clock.now();
  const claims = countClaims([...claimed, ...returned]);
  const tiers = new Map(landed.map(({ attempt, tier }) => [attempt, tier]));
  const sessions = attempts.map((attempt) => ({
    ...sessionOf(attempt, pulses.find((pulse) => pulse.attempt === attempt.attempt)?.usage, now),
    mergeTier: tiers.get(attempt.attempt) ?? null,
    ...(claims.get(attempt.attempt) ?? NO_CLAIMS),
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
    steerings: Object.entries(said)
      .map(([anomaly, count]) => ({ anomaly, said: count, wrong: wrong[anomaly] ?? 0 }))
      .sort((a, b) => b.said - a.said),
  };
}

function sessionOf(
  attempt: Attempt,
  running: Usage | undefined,
  now: number,
): Omit<SessionMetric, "mergeTier" | keyof ClaimCount> {
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
    const sum = sums.get(name) ?? { key: name, sessions: 0, durationMs: 0, ...NO_CLAIMS, ...NO_USAGE };
    const usage = sumOfUsage([sum, session.usage]);
    sums.set(name, {
      key: name,
      sessions: sum.sessions + 1,
      durationMs: sum.durationMs + session.durationMs,
      claims: sum.claims + session.claims,
      unproven: sum.unproven + session.unproven,
      ...usage,
    });
  }
  return [...sums.values()].sort((a, b) => b.costUsd - a.costUsd || b.durationMs - a.durationMs);
}
