/**
 * One tick: look, decide, write down. What the store holds is read and decided on inside one transaction, so nothing can
 * change in between; what has to be looked at outside of it (processes, load, time) is gathered first and handed in.
 * Nothing is done here: the outbox is drained by whoever calls (engine/outbox.ts). Reading changes nothing.
 */

import { autoNow } from "#act/auto/auto-settings.ts";
import { settleLeftMove } from "#act/landing/lock.ts";
import { rulesNow } from "#act/landing/rules.ts";
import { measureRoom } from "#act/room.ts";
import type { Settings } from "#act/settings/settings.ts";
import { isWatchingOnly } from "#act/watching-only.ts";
import { hasBudgets, limitsOf, type RoleSays } from "#config/limits.ts";
import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import { readSafeMode } from "#control/status.ts";
import type { World } from "#control/world.ts";
import type { Room } from "#domain/agents/admission.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { describeHold } from "#domain/health/settings.ts";
import { claimInSnapshot, type LandingMode } from "#domain/landing/may-land.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { type Condition, TICK } from "#domain/model/condition.ts";
import { accept } from "#domain/model/decision.ts";
import { resolveLimits } from "#domain/model/limits.ts";
import type { Message } from "#domain/model/message.ts";
import { isWorthTurn } from "#domain/model/message.ts";
import { DAY_MS, startOfDay, type UsageTotals, usageTotals } from "#domain/model/usage-totals.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Fingerprint } from "#domain/signals/fingerprint.ts";
import { FINGERPRINT_KINDS, FINGERPRINT_MESSAGES, fingerprintOf } from "#domain/signals/fingerprint.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { accountOf } from "#domain/tick/account.ts";
import { canMove } from "#domain/tick/can-move.ts";
import { decide } from "#domain/tick/decide.ts";
import type { Judgement } from "#domain/tick/liveness.ts";
import { listRecordedProgress } from "#domain/tick/progress.ts";
import type {
  AgentSeen,
  Limits,
  LivenessEvidence,
  SessionSeen,
  Snapshot,
  WaitingMessages,
} from "#domain/tick/snapshot.ts";
import { agentLimits, NO_MESSAGES } from "#domain/tick/snapshot.ts";
import { OverseerError } from "#errors.ts";
import {
  actionsGivenUpSince,
  actionsOverSince,
  openActions,
  openRecoveries,
  presentConditions,
} from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { attemptsSince, latestAttempts, livingAttempts } from "#store/attempts.ts";
import { theFleet } from "#store/fleet.ts";
import { lastSignals, latestPulses, seePulsesOfLiving } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import {
  attemptsForBudgets,
  endOfLog,
  goalsForTick,
  lastAttemptsOfReady,
  lastReports,
  listEndedSince,
  listUndeliveredMessages,
  liveAssignments,
  nodesForTick,
  outcomesAfter,
} from "#store/tick.ts";

/** What has to be looked at outside the store. Reading only; an agent that cannot be looked at has no entry. */
export interface Observer {
  evidence(
    living: readonly Attempt[],
    pulses: ReadonlyMap<number, Pulse>,
  ): Promise<ReadonlyMap<number, readonly LivenessEvidence[]>>;
  /** How long each pulse has stood still by the watcher's own clock; an attempt it has only just met has no entry. */
  quiet(pulses: ReadonlyMap<number, Pulse>): ReadonlyMap<number, number>;
  /** How long the processes of each running tool call have done nothing, by the same clock; unknown ones are left out. */
  toolsStill(living: readonly Attempt[], pulses: ReadonlyMap<number, Pulse>): ReadonlyMap<number, number>;
  /**
   * The same without waiting for anybody: whether processes live is looked at now, what took longer is as the last look
   * found it. Starts no process, and leaves nothing behind by which the next look would see another thing.
   */
  glance(living: readonly Attempt[], pulses: ReadonlyMap<number, Pulse>): Glance;
  /** How long the watcher stood still since it last looked, or how far the wall clock was set, where that is much; else 0. */
  measureSkippedMs(): number;
}

export interface Glance {
  readonly evidence: ReadonlyMap<number, readonly LivenessEvidence[]>;
  readonly toolsStill: ReadonlyMap<number, number>;
  readonly quiet: ReadonlyMap<number, number>;
}

export interface Ticked {
  readonly ok: boolean;
  readonly didWork: boolean;
  readonly actions: number;
  readonly judged: ReadonlyMap<number, Judgement>;
  readonly nextDueAt: number | null;
  /** See tick-contract.ts. */
  readonly open: boolean;
}

/** Outcomes told in one tick at most; the rest follows in the next. */
const NEWS_AT_ONCE = 500;
/** How far back a session is looked for that could go on with other work. */
const LATEST_SESSIONS = 100;

/** Rejects as the store does; nothing was written then. */
export async function tick(world: World, observer: Observer, reason: string): Promise<Ticked> {
  await settleLeftMove(world);
  const store = await world.writer();
  const outside = await lookOutside(world, observer);
  const now = world.clock.now();
  const cursor = await readToldCursor(world);
  const sessions = outside.limits.continuing.length > 0 ? LATEST_SESSIONS : 0;
  const outcome = await store.commit({
    at: now,
    reads: {
      goals: goalsForTick(cursor),
      nodes: nodesForTick(cursor),
      assignments: liveAssignments(),
      living: livingAttempts(),
      seenPulses: seePulsesOfLiving(),
      messages: listUndeliveredMessages(),
      ended: lastAttemptsOfReady(),
      lately: actionsOverSince(now - DAY_MS),
      givenUp: actionsGivenUpSince(now - DAY_MS),
      endedLately: listEndedSince(now - outside.limits.massDeath.withinMs),
      recoveries: openRecoveries(),
      conditions: presentConditions(),
      actions: openActions(),
      questions: openQuestions(),
      fleet: theFleet(),
      started: outside.budgeted ? attemptsForBudgets(startOfDay(now) - DAY_MS) : attemptsSince(now - 60_000),
      news: outcomesAfter(cursor, NEWS_AT_ONCE),
      end: endOfLog(),
      reports: lastReports(),
      latest: latestAttempts(sessions),
      latestPulses: latestPulses(sessions),
    },
    decide: (seen) => {
      const {
        living,
        seenPulses,
        messages,
        started,
        news,
        end,
        reports,
        endedLately,
        fleet,
        latest,
        latestPulses,
        ...rest
      } = seen;
      const ended = new Map([...rest.ended, ...endedLately].map((attempt) => [attempt.attempt, attempt]));
      const byAttempt = new Map(seenPulses.pulses.map((pulse) => [pulse.attempt, pulse]));
      const unusable = new Set(seenPulses.unusable.map(({ attempt }) => attempt));
      const waiting = waitingOf(messages);
      const nodes = new Map(seen.nodes.map((node) => [nodeKey(node.goalId, node.workNodeId), node]));
      const agents = living.map((attempt) => {
        const agent = agentSeen(attempt, byAttempt, waiting, outside);
        return {
          ...agent,
          ...(unusable.has(attempt.attempt) ? { isPulseUnusable: true } : {}),
          evidence: [...agent.evidence, ...listRecordedProgress(agent, outside.limits, reports, nodes)],
        };
      });
      const snapshot: Snapshot = {
        ...rest,
        ...{ now, reason, agents, news, ended: [...ended.values()] },
        sessions: listSessions(latest, latestPulses),
        limits: outside.limits,
        claims: seen.nodes.flatMap((node) => claimInSnapshot(node, outside.landingMode) ?? []),
        usage: usageOf(agents, started, seen.conditions, now),
        room: outside.room,
        frozen: fleet?.status === "frozen",
        thawedAt: fleet?.status === "moving" ? fleet.since : 0,
        safeMode: outside.safeMode,
        held: outside.held,
        watching: outside.watching,
        skippedMs: outside.skippedMs,
        recentStarts: started.map((attempt) => attempt.createdAt).filter((at) => !hasPassed(at, 60_000, now)),
        newsUpTo: news.length < NEWS_AT_ONCE ? end : (news.at(-1)?.seq ?? cursor),
      };
      const decided = decide(snapshot);
      const { judged, didWork, actions, nextDueAt } = decided;
      const open = canMove(snapshot, judged);
      return accept(decided.events, { ok: true, didWork, actions: actions.length, judged, nextDueAt, open });
    },
  });
  return outcome.ok
    ? outcome.value
    : { ok: false, didWork: false, actions: 0, judged: new Map(), nextDueAt: null, open: false };
}

interface Outside {
  readonly limits: Limits;
  readonly budgeted: boolean;
  readonly room: Room;
  readonly evidence: ReadonlyMap<number, readonly LivenessEvidence[]>;
  readonly quiet: ReadonlyMap<number, number>;
  readonly toolsStill: ReadonlyMap<number, number>;
  readonly fingerprints: ReadonlyMap<number, Fingerprint>;
  readonly landingMode: LandingMode;
  readonly safeMode: boolean;
  readonly held: string | null;
  readonly watching: boolean;
  readonly skippedMs: number;
}

async function lookOutside(world: World, observer: Observer): Promise<Outside> {
  const config = await world.config();
  const store = await world.writer();
  const skippedMs = observer.measureSkippedMs();
  const { living, seenPulses, conditions } = await store.read({
    ...{ living: livingAttempts(), seenPulses: seePulsesOfLiving() },
    conditions: presentConditions(),
  });
  const byAttempt = new Map(seenPulses.pulses.map((pulse) => [pulse.attempt, pulse]));
  const settings = await world.settings();
  const limits = await readLimitsNow(world);
  return {
    limits,
    budgeted: hasBudgets(limits.budgets, conditions),
    room: measureRoom(await world.room(), config),
    evidence: await observer.evidence(living, byAttempt),
    quiet: observer.quiet(byAttempt),
    toolsStill: observer.toolsStill(living, byAttempt),
    fingerprints: await fingerprints(store, living, byAttempt, limits, world.clock.now()),
    landingMode: (await rulesNow(world)).mode,
    safeMode: (await readSafeMode(world)) !== null,
    held: await judgeHold(settings),
    watching: await isWatchingOnly(world),
    skippedMs,
  };
}

/** Every number that anybody is judged by now, what roles say for their agents included. */
export async function readLimitsNow(world: World): Promise<Limits> {
  const auto = await autoNow(world);
  return {
    ...limitsOf(await world.config(), await readRoleSays(world, await world.settings())),
    auto: auto && { concurrency: auto.concurrency },
  };
}

/** The limits that roles set for their agents. Roles that cannot be read set none; `doctor` and sling say what is wrong. */
async function readRoleSays({ root }: World, { files, config }: Settings): Promise<RoleSays | undefined> {
  try {
    const roles = [...(await loadRoles(files, roleSources(root, config))).byCapability];
    return {
      limits: Object.fromEntries(roles.flatMap(([name, { limits }]) => (limits ? [[name, limits]] : []))),
      runtimes: Object.fromEntries(roles.flatMap(([name, { runtime }]) => (runtime ? [[name, runtime]] : []))),
      strongerModels: Object.fromEntries(
        roles.flatMap(([name, { strongerModel }]) => (strongerModel ? [[name, strongerModel]] : [])),
      ),
      continuing: roles.flatMap(([name, { continueSession }]) => (continueSession ? [name] : [])),
      readOnly: roles.flatMap(([name, { readOnly }]) => (readOnly ? [name] : [])),
    };
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") return undefined;
    throw error;
  }
}

/** Why nothing may be started; where nothing is in the way, what this tick decides under is confirmed by that. */
async function judgeHold(settings: Settings): Promise<string | null> {
  if (settings.hold === null) await settings.keep();
  return describeHold(settings.hold);
}

async function fingerprints(
  store: Store,
  living: readonly Attempt[],
  pulses: ReadonlyMap<number, Pulse>,
  limits: Limits,
  now: number,
): Promise<ReadonlyMap<number, Fingerprint>> {
  const { assignments } = await store.read({ assignments: liveAssignments() });
  const found = new Map<number, Fingerprint>();
  for (const attempt of listSeeminglyStale(living, pulses, assignments, limits, now)) {
    const fingerprint = await readFingerprint(store, attempt);
    if (fingerprint) found.set(attempt, fingerprint);
  }
  return found;
}

/** What the last words of an agent say about its silence. */
export async function readFingerprint(store: Store, attempt: number): Promise<Fingerprint | undefined> {
  const { recent } = await store.read({ recent: lastSignals(attempt, FINGERPRINT_KINDS, FINGERPRINT_MESSAGES) });
  return fingerprintOf(recent);
}

/** Those whose last words are worth reading, and nobody else: most agents are at work, and reading costs. */
export function listSeeminglyStale(
  living: readonly Attempt[],
  pulses: ReadonlyMap<number, Pulse>,
  assignments: readonly Assignment[],
  limits: Limits,
  now: number,
): number[] {
  const idleAfter = new Map(assignments.map((one) => [one.assignmentId, one.idleAfterMs]));
  return living.flatMap(({ attempt, assignmentId, role }) => {
    const lastActAt = pulses.get(attempt)?.lastActAt ?? null;
    const whenGivenOut = idleAfter.get(assignmentId);
    if (lastActAt === null || whenGivenOut === undefined) return [];
    const { idleAfterMs } = resolveLimits(agentLimits(limits), limits.roles[role]);
    return now - lastActAt < Math.min(whenGivenOut, idleAfterMs) ? [] : [attempt];
  });
}

/** The place in the log up to which outcomes were told. */
async function readToldCursor(world: World): Promise<number> {
  const { conditions } = await (await world.writer()).read({ conditions: presentConditions() });
  const last = conditions.find((condition) => condition.conditionId === TICK);
  return last?.kind === "tick" ? last.cursor : 0;
}

export function agentSeen(
  attempt: Attempt,
  pulses: ReadonlyMap<number, Pulse>,
  waiting: ReadonlyMap<number, WaitingMessages>,
  outside: Pick<Outside, "evidence" | "quiet" | "toolsStill" | "fingerprints">,
): AgentSeen {
  const number = attempt.attempt;
  const fingerprint = outside.fingerprints.get(number);
  return {
    attempt,
    pulse: pulses.get(number) ?? null,
    evidence: outside.evidence.get(number) ?? [],
    quietMs: outside.quiet.get(number) ?? null,
    toolsStillMs: outside.toolsStill.get(number) ?? null,
    waiting: waiting.get(number) ?? NO_MESSAGES,
    account: accountOf(attempt.runtime),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
}

function listSessions(attempts: readonly Attempt[], pulses: readonly Pulse[]): SessionSeen[] {
  const byAttempt = new Map(pulses.map((pulse) => [pulse.attempt, pulse]));
  return attempts.map((attempt) => ({ attempt, pulse: byAttempt.get(attempt.attempt) ?? null }));
}

function waitingOf(messages: readonly Message[]): Map<number, WaitingMessages> {
  const byAttempt = new Map<number, { queued: number; handed: number; unseen: string[]; since: number }>();
  for (const { attempt, status, kind, dispatchId, createdAt } of messages) {
    if (status === "queued" && !isWorthTurn({ kind })) continue; // it is on its way to nobody before there is a turn
    const known = byAttempt.get(attempt) ?? { queued: 0, handed: 0, unseen: [], since: createdAt };
    known.since = Math.min(known.since, createdAt);
    if (status === "queued") known.queued += 1;
    else known.handed += 1;
    if (dispatchId !== null) known.unseen.push(dispatchId);
    byAttempt.set(attempt, known);
  }
  return byAttempt;
}

function usageOf(
  agents: readonly AgentSeen[],
  attempts: readonly Attempt[],
  conditions: readonly Condition[],
  now: number,
): UsageTotals {
  const models = conditions.find((one) => one.kind === "models");
  const living = agents.map(({ attempt, pulse }) => ({ attempt, usage: pulse?.usage }));
  return usageTotals(living, attempts, models, now);
}
