/**
 * How agents do, for people and programs (HEALTH-1, STAT-1): what the watch kept of each, what an agent was last seen to do,
 * what changed lately, and how the supervision itself has run. Reads only; the judging is the watch's (engine/watch.ts).
 */

import type { Attention } from "#domain/health/attention.ts";
import { reasonUnwatched } from "#domain/health/attention.ts";
import type { RingPulse } from "#domain/health/daemon-life.ts";
import { parseHeartbeat } from "#domain/health/daemon-life.ts";
import { describeTriage } from "#domain/model/advice.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Exemptions } from "#domain/model/supervision.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Pulse, ToolCall } from "#domain/signals/pulse.ts";
import { RECENT_CALLS } from "#domain/signals/pulse.ts";
import { describeCall } from "#domain/signals/reflex-call.ts";
import { latestProgress } from "#domain/tick/liveness.ts";
import { listPulseProgress, listRecordedProgress } from "#domain/tick/progress.ts";
import type { AgentHealth, HealthChange } from "#domain/watch/health.ts";
import { OverseerError } from "#errors.ts";
import { livingAttempts } from "#store/attempts.ts";
import { countEvents, countStopsByPeople, eventsMatching } from "#store/events.ts";
import { healthOf, healthOfLiving, latestHealthChanges } from "#store/health.ts";
import { lastSignals, pulseOf } from "#store/signals.ts";
import { lastReports } from "#store/tick.ts";
import { nodeById } from "#store/work.ts";
import { runFiles } from "#sys/run-files.ts";
import { redact } from "#telemetry/redact.ts";
import { daemonStatus, listSwitchedOff } from "./daemon-status.ts";
import { type LearningStats, learningStats } from "./learnings.ts";
import { freshnessNow } from "./life-words.ts";
import { resolveAgent } from "./names.ts";
import { readRoles } from "./stuck-agents.ts";
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
  readonly calls: readonly CallSeen[];
  readonly lastActAt: number | null;
  /** When it last completed something, whatever it was: a tool that worked, a turn that ended well. */
  readonly lastStepAt: number | null;
  readonly lastChangeAt: number | null;
  readonly lastCommitAt: number | null;
  /** When its work last progressed, as the ladder counts it (HEALTH-3): a changed file, a commit, a check, a report. */
  readonly lastProgressAt: number | null;
  readonly sinceProgressMs: number | null;
  /** Its last words, as they were kept: without secrets, and cut. */
  readonly lastText: string;
}

/** One call; `what` is the tool with what it was called for, without secrets, and cut. */
export interface CallSeen extends Pick<ToolCall, "tool" | "ok" | "errorClass" | "ms"> {
  readonly what: string;
}

/** How an agent does, and from what it is exempt; null where it is supervised like everybody. */
export interface HealthRow extends AgentHealth {
  readonly exempt: Exemptions | null;
}

export interface FleetHealth {
  readonly agents: readonly HealthRow[];
  readonly attention: Attention;
}

export interface HealthView {
  /** As the last look had it, also of one that has ended since. */
  readonly health: HealthRow;
  readonly snapshot: HealthSnapshot | null;
  readonly changes: readonly HealthChange[];
  readonly attention: Attention;
  /** When and why it ended; null while it lives. */
  readonly ended: AgentEnded | null;
}

export interface AgentEnded {
  /** Wall clock, ms. */
  readonly at: number;
  readonly why: string;
}

/** Everybody at work, by number; who was not looked at yet is not among them. */
export async function listHealth(world: World): Promise<FleetHealth> {
  const { rows, living } = await (await world.reader()).read({ rows: healthOfLiving(), living: livingAttempts() });
  const limits = await readFreshnessLimits(world);
  const exempt = new Map(living.map((one) => [one.attempt, one.exempt ?? null]));
  const agents = rows.map((row) => ({
    ...row,
    freshness: freshnessNow(world, row, limits),
    exempt: exempt.get(row.attempt) ?? null,
  }));
  return { agents, attention: await readAttention(world, rows) };
}

/** Whether anybody looks; the heartbeat of a life that is over still says when it last did. */
async function readAttention(world: World, seen: readonly { readonly since: number }[]): Promise<Attention> {
  const config = await world.config();
  const { state, supervision } = await daemonStatus(world, config);
  const beat = parseHeartbeat(world.readNow(runFiles(world.root.state).heartbeat));
  const looked = beat?.rings.find(({ ring }) => ring === "watch")?.lastAt ?? null;
  const newest = seen.length === 0 ? null : Math.max(...seen.map(({ since }) => since));
  return {
    unwatched: reasonUnwatched({ state, supervision, enabled: config.watch.enabled }),
    judgedAt: looked ?? newest,
  };
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
  const ended = tellEnd(meant);
  if (!health && ended) {
    const message = `${attemptLabel(meant)} has ended (${ended.why}) and was never looked at.`;
    const hint = `'overseer agents show ${attemptLabel(meant)}' tells of its life.`;
    throw new OverseerError("not-found", "HEALTH_UNKNOWN", message, hint);
  }
  if (!health) {
    throw new OverseerError(
      "not-found",
      "HEALTH_UNKNOWN",
      `${attemptLabel(meant)} was not looked at yet.`,
      "The daemon looks every watch.every while it runs ('overseer up'), unless watch.enabled is false.",
    );
  }
  const limits = await readFreshnessLimits(world);
  const freshness = ended ? "unknown" : freshnessNow(world, health, limits);
  return {
    health: { ...health, freshness, exempt: meant.exempt ?? null },
    snapshot: pulse ? await readSnapshot(world, meant, pulse) : null,
    changes: changes.filter(({ attempt }) => attempt === meant.attempt),
    attention: await readAttention(world, [health]),
    ended,
  };
}

function tellEnd({ status, endedAt, updatedAt, end, stopRequested }: Attempt): AgentEnded | null {
  if (status !== "ended") return null;
  const cause = (end?.cause ?? "ended").replaceAll("_", " ");
  return { at: endedAt ?? updatedAt, why: (end?.cause === "stopped" ? stopRequested?.reason : null) ?? cause };
}

async function readSnapshot(world: World, attempt: Attempt, pulse: Pulse): Promise<HealthSnapshot> {
  const { goalId, workNodeId } = attempt;
  const { started, reports, node } = await (await world.reader()).read({
    started: lastSignals(attempt.attempt, ["tool.started"], 2 * RECENT_CALLS),
    reports: lastReports(),
    node: nodeById(goalId, workNodeId),
  });
  const roles = await readRoles(world, await world.config());
  const readOnly = [...roles].flatMap(([name, role]) => (role.readOnly ? [name] : []));
  const nodes = new Map(node ? [[nodeKey(goalId, workNodeId), node]] : []);
  const recorded = listRecordedProgress({ attempt, pulse }, { readOnly }, reports, nodes);
  const lastProgressAt = latestProgress({ evidence: [...listPulseProgress(pulse), ...recorded] })?.at ?? null;
  const args = new Map(started.flatMap((one) => (one.kind === "tool.started" ? [[one.source, one.data.args]] : [])));
  const what = (tool: string, id: string) => describeCall({ tool, args: redact(args.get(id) ?? "") });
  return {
    iteration: pulse.turns,
    tokens: pulse.usage.inputTokens + pulse.usage.outputTokens,
    costUsd: pulse.usage.costUsd,
    contextTokens: pulse.contextTokens,
    contextWindow: pulse.contextWindow,
    contextFill: pulse.contextWindow ? pulse.contextTokens / pulse.contextWindow : null,
    calls: pulse.calls.map(({ tool, ok, errorClass, ms, id }) => ({ tool, what: what(tool, id), ok, errorClass, ms })),
    lastActAt: pulse.lastActAt,
    lastStepAt: pulse.lastProgressAt,
    lastChangeAt: pulse.lastChangeAt,
    lastCommitAt: pulse.lastCommitAt ?? null,
    lastProgressAt,
    sinceProgressMs: lastProgressAt === null ? null : Math.max(0, world.clock.now() - lastProgressAt),
    lastText: pulse.lastText,
  };
}

export interface LatestChanges {
  /** The newest first. */
  readonly changes: readonly HealthChange[];
  readonly attention: Attention;
}

export async function listHealthChanges(
  world: World,
  { agent, limit }: { readonly agent?: string; readonly limit: number },
): Promise<LatestChanges> {
  const store = await world.reader();
  const name = agent === undefined ? undefined : (await resolveAgent(store, agent)).agent;
  const own = name === undefined ? {} : { agent: name };
  const { changes, said } = await store.read({
    changes: latestHealthChanges(limit, name),
    said: eventsMatching({ type: "assignment.diagnosed", newest: true, limit, ...own }),
  });
  const all = [...changes, ...said.flatMap(showTriage)].sort((a, b) => b.at - a.at).slice(0, limit);
  const attention = await readAttention(
    world,
    changes.map(({ at }) => ({ since: at })),
  );
  return { changes: all, attention };
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
  return (await world.config()).watch;
}

/** A loop that is switched off turns all the same, and does nothing. */
export interface RingView extends RingPulse {
  readonly off: boolean;
}

/** Which switch stops which loop (CONF-3); without supervision none of them does anything. */
const SWITCHES: Readonly<Record<string, string>> = { tick: "reconcile", watch: "watch", sync: "sync" };

/** How supervision has run (STAT-1); what is counted is of the whole log, the loops of this life of the daemon. */
export interface SupervisionStats {
  readonly rings: readonly RingView[];
  /** Words to agents that were stuck, and others by the reflex in their own loop. */
  readonly nudges: number;
  readonly steerings: number;
  readonly resends: number;
  readonly pauses: number;
  readonly reassigned: number;
  readonly escalated: number;
  /** Agents that a person stopped, by `stop` or in answer to a spent budget; nothing else ends one that could still work. */
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
  degraded: "watch.degraded",
} as const;

export async function readSupervisionStats(world: World): Promise<SupervisionStats> {
  const types = Object.values(COUNTED);
  const { counts, aborts } = await (await world.reader()).read({
    counts: countEvents(types),
    aborts: countStopsByPeople(),
  });
  const config = await world.config();
  const daemon = await daemonStatus(world, config);
  const off = listSwitchedOff(config, daemon);
  const rings = daemon.rings.map((ring) => ({
    ...ring,
    off: off.includes("supervision") || off.includes(SWITCHES[ring.ring] ?? ring.ring),
  }));
  const counted = Object.fromEntries(Object.entries(COUNTED).map(([name, type]) => [name, counts.get(type) ?? 0]));
  const steps = { ...(counted as Record<keyof typeof COUNTED, number>), aborts };
  return { rings, ...steps, learnings: await learningStats(world) };
}
