/**
 * How agents do, for people and programs (HEALTH-1, STAT-1): what the watch kept of each, what an agent was last seen to do,
 * what changed lately, and how the supervision itself has run. Reads only; the judging is the watch's (engine/watch.ts).
 */
import type { RingPulse } from "#domain/health/daemon-life.ts";
import { describeTriage } from "#domain/model/advice.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { ToolCall } from "#domain/signals/pulse.ts";
import type { Freshness } from "#domain/watch/freshness.ts";
import { judgeFreshness } from "#domain/watch/freshness.ts";
import type { AgentHealth, HealthChange } from "#domain/watch/health.ts";
import { OverseerError } from "#errors.ts";
import { countEvents, eventsMatching } from "#store/events.ts";
import { healthOf, healthOfLiving, latestHealthChanges } from "#store/health.ts";
import { pulseOf } from "#store/signals.ts";
import { daemonStatus } from "./daemon-status.ts";
import { type LearningStats, learningStats } from "./learnings.ts";
import { resolveAgent } from "./names.ts";
import type { World } from "./world.ts";

/** What one agent was last seen to do (HEALTH-1). */
export interface HealthSnapshot {
  /** How many turns it has ended; what older programs call its iteration. */
  readonly iteration: number;
  readonly tokens: number;
  readonly costUsd: number;
  readonly contextTokens: number;
  readonly contextWindow: number | null;
  /** From 0 to 1; null where the window is not known. */
  readonly contextFill: number | null;
  /** The newest last; `ms` as it was measured, null while it runs. */
  readonly calls: readonly Pick<ToolCall, "tool" | "ok" | "errorClass" | "ms">[];
  readonly lastActAt: number | null;
  /** When its work was last seen to get on: a changed file, a commit. */
  readonly lastChangeAt: number | null;
  readonly lastCommitAt: number | null;
  readonly lastProgressAt: number | null;
  readonly sinceProgressMs: number | null;
  /** Its last words, as they were kept: without secrets, and cut. */
  readonly lastText: string;
}

export interface HealthView {
  readonly health: AgentHealth;
  readonly snapshot: HealthSnapshot | null;
  readonly changes: readonly HealthChange[];
}

/** Everybody at work, by number; who was not looked at yet is not among them. */
export async function listHealth(world: World): Promise<AgentHealth[]> {
  const { rows } = await (await world.reader()).read({ rows: healthOfLiving() });
  const limits = await readFreshnessLimits(world);
  return rows.map((row) => ({ ...row, freshness: freshnessNow(world, row, limits) }));
}

/** How many changes are shown of one agent. */
const CHANGES_SHOWN = 5;

export async function readHealth(world: World, word: string): Promise<HealthView> {
  const store = await world.reader();
  const meant = await resolveAgent(store, word);
  const { health, pulse, changes } = await store.read({
    health: healthOf(meant.attempt),
    pulse: pulseOf(meant.attempt),
    changes: latestHealthChanges(CHANGES_SHOWN, meant.agent),
  });
  if (!health) {
    throw new OverseerError(
      "not-found",
      "HEALTH_UNKNOWN",
      `${attemptLabel(meant)} was not looked at yet.`,
      "The daemon looks every watch.every while it runs ('overseer up'), unless watch.enabled is false.",
    );
  }
  const limits = await readFreshnessLimits(world);
  const now = world.clock.now();
  return {
    health: { ...health, freshness: freshnessNow(world, health, limits) },
    snapshot: pulse
      ? {
          iteration: pulse.turns,
          tokens: pulse.usage.inputTokens + pulse.usage.outputTokens,
          costUsd: pulse.usage.costUsd,
          contextTokens: pulse.contextTokens,
          contextWindow: pulse.contextWindow,
          contextFill: pulse.contextWindow ? pulse.contextTokens / pulse.contextWindow : null,
          calls: pulse.calls.map(({ tool, ok, errorClass, ms }) => ({ tool, ok, errorClass, ms })),
          lastActAt: pulse.lastActAt,
          lastChangeAt: pulse.lastChangeAt,
          lastCommitAt: pulse.lastCommitAt ?? null,
          lastProgressAt: pulse.lastProgressAt,
          sinceProgressMs: pulse.lastProgressAt === null ? null : Math.max(0, now - pulse.lastProgressAt),
          lastText: pulse.lastText,
        }
      : null,
    changes: changes.filter(({ attempt }) => attempt === meant.attempt),
  };
}

export async function listHealthChanges(
  world: World,
  { agent, limit }: { readonly agent?: string; readonly limit: number },
): Promise<HealthChange[]> {
  const store = await world.reader();
  const name = agent === undefined ? undefined : (await resolveAgent(store, agent)).agent;
  const own = name === undefined ? {} : { agent: name };
  const { changes, said } = await store.read({
    changes: latestHealthChanges(limit, name),
    said: eventsMatching({ type: "assignment.diagnosed", newest: true, limit, ...own }),
  });
  return [...changes, ...said.flatMap(showTriage)].sort((a, b) => b.at - a.at).slice(0, limit);
}

/** What a model said about an agent that had failed (WATCH-2), beside what the rules have seen. */
function showTriage(event: EventOf): HealthChange[] {
  if (event.type !== "assignment.diagnosed" || !event.data.triage) return [];
  const { diagnosis, triage } = event.data;
  const next = { restart: null, fresh: "reassign", person: "ask" } as const;
  return [
    {
      ...{ attempt: event.attempt ?? 0, agent: event.agent ?? "" },
      ...{ goalId: event.goalId ?? "", workNodeId: event.nodeId ?? "" },
      ...{
        at: event.at,
        was: null,
        status: "dead",
        because: "a-model-was-asked",
        phase: "zombie",
        freshness: "unknown",
      },
      confidence: triage.failure === "unclear" ? 0.3 : 0.6,
      diagnosis: `A model says: "${diagnosis.replace(/\s+/g, " ").trim()}"; ${describeTriage(triage)}.`,
      recommendation: triage.recommend === "restart" ? "continue" : "escalate",
      ...{ next: next[triage.recommend], nextAt: null, nudges: 0, nextNudge: null },
    },
  ];
}

async function readFreshnessLimits(world: World) {
  const { watch } = await world.config();
  return { staleAfterMs: watch.staleAfter, veryStaleAfterMs: watch.veryStaleAfter };
}

/** What stood still at the last look has stood still since, as far as this boot knows; the rest is as it was seen then. */
function freshnessNow(
  { clock }: World,
  { freshness, quiet }: AgentHealth,
  limits: { readonly staleAfterMs: number; readonly veryStaleAfterMs: number },
): Freshness {
  if (!quiet || quiet.since.boot !== clock.boot()) return "unknown";
  if (freshness === "fresh") return freshness;
  return judgeFreshness(quiet, { boot: clock.boot(), ms: clock.monotonic() }, limits);
}

/** How supervision has run (STAT-1); what is counted is of the whole log, the loops of this life of the daemon. */
export interface SupervisionStats {
  readonly rings: readonly RingPulse[];
  /** Words to agents that were stuck, and others by the reflex in their own loop. */
  readonly nudges: number;
  readonly steerings: number;
  readonly resends: number;
  readonly pauses: number;
  readonly reassigned: number;
  readonly escalated: number;
  /** Agents that were told to end, by a person or a rule. */
  readonly aborts: number;
  /** How often agents were judged by thresholds alone. */
  readonly degraded: number;
  /** What agents found out, and what came of passing it on. */
  readonly learnings: LearningStats;
}

const COUNTED = {
  nudges: "assignment.nudged",
  steerings: "agent.steered",
  resends: "assignment.resent",
  pauses: "assignment.parked",
  reassigned: "assignment.reassigning",
  escalated: "assignment.escalated",
  aborts: "agent.stop_requested",
  degraded: "watch.degraded",
} as const;

export async function readSupervisionStats(world: World): Promise<SupervisionStats> {
  const types = Object.values(COUNTED);
  const { counts } = await (await world.reader()).read({ counts: countEvents(types) });
  const { rings } = await daemonStatus(world, await world.config());
  const counted = Object.fromEntries(Object.entries(COUNTED).map(([name, type]) => [name, counts.get(type) ?? 0]));
  return { rings, ...(counted as Record<keyof typeof COUNTED, number>), learnings: await learningStats(world) };
}
