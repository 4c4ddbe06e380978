/**
 * One cycle of the watch (WATCH-1): look at every living agent, judge it by the tick's own rules, and keep how it does. It
 * acts on nobody: where the tick would have something to do now it says so, and the tick decides. Cheap enough to run every
 * few seconds over thousands: it asks for versions first and parses only documents that changed, starts no process, and
 * writes only what is another than before. What is done when it fails is degraded-watch.ts.
 */

import { rulesNow } from "#act/landing/rules.ts";
import { isWatchingOnly } from "#act/watching-only.ts";
import { listStoreHalts } from "#control/halted.ts";
import type { World } from "#control/world.ts";
import { type Look, measureSkip } from "#domain/core/elapsed.ts";
import { claimInSnapshot } from "#domain/landing/may-land.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Condition } from "#domain/model/condition.ts";
import { usageTotals } from "#domain/model/usage-totals.ts";
import type { Fingerprint } from "#domain/signals/fingerprint.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { type JudgedFleet, judgeFleet } from "#domain/tick/judge.ts";
import { barsFor } from "#domain/tick/ladder.ts";
import { listRecordedProgress } from "#domain/tick/progress.ts";
import type { Limits, Snapshot } from "#domain/tick/snapshot.ts";
import { type BootTime, followQuiet, forgiveQuiet, judgeFreshness, type Quiet } from "#domain/watch/freshness.ts";
import {
  type AgentHealth,
  evaluateHealth,
  findCauseForTick,
  hasChanged,
  isSameHealth,
  noteChange,
} from "#domain/watch/health.ts";
import { openActions, presentConditions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { theFleet } from "#store/fleet.ts";
import { healthOfLiving } from "#store/health.ts";
import type { HealthLog } from "#store/health-log.ts";
import type { Store } from "#store/store.ts";
import { lastReports } from "#store/tick.ts";
import {
  countWaitingMessages,
  type DocVersion,
  WATCHED_ASSIGNMENTS,
  WATCHED_ATTEMPTS,
  WATCHED_NODES,
  WATCHED_PULSES,
  WATCHED_RECOVERIES,
  type WatchedKind,
} from "#store/watch.ts";
import { agentSeen, listSeeminglyStale, type Observer, readFingerprint, readLimitsNow } from "./tick.ts";

export interface WatchPorts {
  /** What the tick sees the machine by; the same one, so that the two cannot disagree about what they saw. */
  observer(world: World): Promise<Observer>;
  /** Where health is kept; opened for one writing and closed. */
  openHealth(world: World): HealthLog;
}

export interface WatchCycle {
  /** How many were judged. */
  readonly agents: number;
  /** Whose health is another than at the last look. */
  readonly changed: readonly AgentHealth[];
  /** Why the tick should run now, each agent by name; empty when it would find nothing to do. */
  readonly causes: readonly string[];
  /** Whose pulse cannot be used: of them only their end can be told (DEGR-1). */
  readonly unjudged: readonly Pick<Attempt, "attempt" | "agent">[];
}

const NOBODY: WatchCycle = { agents: 0, changed: [], causes: [], unjudged: [] };

/** So many documents are asked for at once. */
const AT_ONCE = 500;

export class Watch {
  private readonly attempts = new Documents(WATCHED_ATTEMPTS);
  private readonly pulses = new Documents(WATCHED_PULSES);
  private readonly assignments = new Documents(WATCHED_ASSIGNMENTS);
  private readonly recoveries = new Documents(WATCHED_RECOVERIES);
  private readonly nodes = new Documents(WATCHED_NODES);
  /** The last words of those that seem stale, each read once as long as it says nothing more. */
  private words = new Map<number, { readonly beats: number; readonly fingerprint: Fingerprint | undefined }>();
  private quiets = new Map<number, Quiet>();
  /** Since when not one signal more of each is counted; a turn that began is heard, and is no act yet. */
  private unheard = new Map<number, Quiet>();
  /** As it is kept; undefined before the first look. */
  private kept: Map<number, AgentHealth> | undefined;
  private last: Look | null = null;

  constructor(private readonly parts: WatchPorts) {}

  /** Rejects when anything of what it needs cannot be read or judged; then it begins again from nothing. */
  async look(world: World): Promise<WatchCycle> {
    if ((await listStoreHalts(world)).length > 0) return NOBODY;
    try {
      return await this.lookAtAll(world);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Since when nothing at all is heard of an agent, if not one signal more was counted than at the last look. */
  readQuiet(attempt: number, beats: number): Quiet | undefined {
    const known = this.unheard.get(attempt);
    return known?.mark === String(beats) ? known : undefined;
  }

  /** Nothing that was read before is trusted any more; since when agents are quiet is still known. */
  private forget(): void {
    for (const one of [this.attempts, this.pulses, this.assignments, this.recoveries, this.nodes]) one.forget();
    this.words.clear();
    this.kept = undefined;
  }

  private async lookAtAll(world: World): Promise<WatchCycle> {
    const store = await world.reader();
    const config = await world.config();
    const limits = await readLimitsNow(world);
    await this.remember(store);
    const snapshot = await this.observe(world, store, limits);
    const fleet = judgeFleet(snapshot);
    const now = { boot: world.clock.boot(), ms: world.clock.monotonic() };
    this.forgiveSkipped(world, config.watch.every);
    const quiets = new Map<number, Quiet>();
    const unheard = new Map<number, Quiet>();
    const health = new Map<number, AgentHealth>();
    const causes: string[] = [];
    const freshnessLimits = { staleAfterMs: config.watch.staleAfter, veryStaleAfterMs: config.watch.veryStaleAfter };
    const spent = listSpent(snapshot.conditions);
    for (const seen of fleet.scene.agents) {
      const { attempt } = seen.attempt;
      const judgement = fleet.judged.get(attempt);
      if (!judgement) continue;
      const quiet = this.followOne(attempt, seen.pulse, now);
      if (quiet) quiets.set(attempt, quiet);
      unheard.set(attempt, followQuiet(this.unheard.get(attempt), String(seen.pulse?.beats ?? 0), now));
      const about = {
        ...{ seen, judgement, quiet: quiet ?? null },
        assignment: fleet.scene.assignment(seen.attempt.assignmentId),
        recovery: fleet.scene.findRecovery(seen.attempt),
        freshness: judgeFreshness(quiet, now, freshnessLimits),
        budgetSpent: spent.has(attempt),
        before: this.kept?.get(attempt),
      };
      const { patienceMs } = fleet.scene.limitsFor(seen.attempt);
      const one = evaluateHealth(about, snapshot.now, {
        ladder: limits.ladder,
        patienceMs,
        bars: barsFor(fleet.scene, seen),
      });
      health.set(attempt, one);
      const cause = findCauseForTick(one, about.recovery?.doubt?.key ?? null, judgement);
      if (cause !== undefined && !hasEndInSight(fleet, attempt)) causes.push(`${one.agent} ${cause}`);
    }
    const changed = await this.keep(world, health);
    this.quiets = quiets;
    this.unheard = unheard;
    const unjudged = fleet.scene.agents.flatMap(({ attempt, isPulseUnusable }) => (isPulseUnusable ? [attempt] : []));
    return { agents: health.size, changed, causes, unjudged };
  }

  /** What an earlier life of the watch kept. */
  private async remember(store: Store): Promise<void> {
    if (this.kept !== undefined) return;
    const { rows } = await store.read({ rows: healthOfLiving() });
    this.kept = new Map(rows.map((row) => [row.attempt, row]));
    for (const { attempt, quiet } of rows) if (quiet && !this.quiets.has(attempt)) this.quiets.set(attempt, quiet);
  }

  private followOne(attempt: number, pulse: Pulse | null, now: BootTime): Quiet | undefined {
    if (!pulse) return undefined;
    return followQuiet(this.quiets.get(attempt), `${pulse.acts ?? 0} ${pulse.lastActAt}`, now);
  }

  /** FRESH-1: while nobody looked, because the machine slept or this process was held, nobody grew stale. */
  private forgiveSkipped({ clock }: World, everyMs: number): void {
    const now = { monotonic: clock.monotonic(), wall: clock.now() };
    const skipped = this.last && measureSkip(this.last, now, everyMs);
    this.last = now;
    if (skipped?.by !== "watcher") return;
    for (const known of [this.quiets, this.unheard]) {
      for (const [attempt, quiet] of known) known.set(attempt, forgiveQuiet(quiet, skipped.ms));
    }
  }

  /** Writes what says something else than before, and answers with it. */
  private async keep(world: World, health: Map<number, AgentHealth>): Promise<readonly AgentHealth[]> {
    const before = this.kept ?? new Map<number, AgentHealth>();
    const changed = [...health.values()].filter((one) => !isSameHealth(before.get(one.attempt), one));
    const kept = new Map([...health].map(([attempt, one]) => [attempt, before.get(attempt) ?? one]));
    for (const one of changed) kept.set(one.attempt, one);
    const changes = changed.flatMap((one) => {
      const known = before.get(one.attempt);
      return hasChanged(known, one) ? [noteChange(one, known)] : [];
    });
    if (changed.length > 0) {
      const log = this.parts.openHealth(world);
      try {
        await log.note(changed, changes);
      } finally {
        log.close();
      }
    }
    this.kept = kept;
    return changed;
  }

  private async observe(world: World, store: Store, limits: Limits): Promise<Snapshot> {
    const observer = await this.parts.observer(world);
    const seen = await store.read({
      attempts: WATCHED_ATTEMPTS.versions(),
      pulses: WATCHED_PULSES.versions(),
      assignments: WATCHED_ASSIGNMENTS.versions(),
      recoveries: WATCHED_RECOVERIES.versions(),
      nodes: WATCHED_NODES.versions(),
      waiting: countWaitingMessages(),
      reports: lastReports(),
      conditions: presentConditions(),
      actions: openActions(),
      questions: openQuestions(),
      fleet: theFleet(),
    });
    const living = await this.attempts.refresh(store, seen.attempts);
    const pulses = new Map((await this.pulses.refresh(store, seen.pulses)).map((one) => [one.attempt, one]));
    const unusable = new Set(seen.pulses.map(({ id }) => Number(id)).filter((attempt) => !pulses.has(attempt)));
    const assignments = await this.assignments.refresh(store, seen.assignments);
    const recoveries = await this.recoveries.refresh(store, seen.recoveries);
    const nodes = await this.nodes.refresh(store, seen.nodes);
    const now = world.clock.now();
    const { mode } = await rulesNow(world);
    const stale = listSeeminglyStale(living, pulses, assignments, limits, now);
    const outside = {
      ...observer.glance(living, pulses),
      fingerprints: await this.readWords(store, stale, pulses),
    };
    const nodesByKey = new Map(nodes.map((node) => [WATCHED_NODES.idOf(node), node]));
    const { waiting, reports, fleet, conditions, actions, questions } = seen;
    const agents = living.map((attempt) => {
      const agent = agentSeen(attempt, pulses, waiting, outside);
      if (unusable.has(attempt.attempt)) return { ...agent, isPulseUnusable: true };
      const progress = listRecordedProgress(agent, limits, reports, nodesByKey);
      return progress.length === 0 ? agent : { ...agent, evidence: [...agent.evidence, ...progress] };
    });
    return {
      ...EMPTY_SNAPSHOT,
      ...{ now, limits, nodes, assignments, agents, recoveries, conditions, actions, questions },
      claims: nodes.flatMap((node) => claimInSnapshot(node, mode) ?? []),
      watching: await isWatchingOnly(world),
      thawedAt: fleet?.status === "moving" ? fleet.since : 0,
    };
  }

  private async readWords(
    store: Store,
    stale: readonly number[],
    pulses: ReadonlyMap<number, Pulse>,
  ): Promise<ReadonlyMap<number, Fingerprint>> {
    const words = new Map<number, { readonly beats: number; readonly fingerprint: Fingerprint | undefined }>();
    for (const attempt of stale) {
      const beats = pulses.get(attempt)?.beats ?? 0;
      const known = this.words.get(attempt);
      const fingerprint = known?.beats === beats ? known.fingerprint : await readFingerprint(store, attempt);
      words.set(attempt, { beats, fingerprint });
    }
    this.words = words;
    return new Map([...words].flatMap(([attempt, { fingerprint }]) => (fingerprint ? [[attempt, fingerprint]] : [])));
  }
}

/** What judging does not ask for. */
export const EMPTY_SNAPSHOT: Omit<Snapshot, "now" | "limits"> = {
  reason: "watch",
  goals: [],
  nodes: [],
  assignments: [],
  agents: [],
  ended: [],
  sessions: [],
  recoveries: [],
  conditions: [],
  actions: [],
  lately: [],
  givenUp: [],
  questions: [],
  claims: [],
  usage: usageTotals([], [], undefined, 0),
  room: { load: 0, maxLoad: 0, memoryBytes: 0, minMemoryBytes: 0, diskBytes: 0, minDiskBytes: 0 },
  frozen: false,
  thawedAt: 0,
  safeMode: false,
  held: null,
  watching: false,
  skippedMs: 0,
  recentStarts: [],
  news: [],
  newsUpTo: 0,
};

/** It is about to be ended, or its work about to go to another: nothing more follows for it. */
function hasEndInSight({ outbox }: JudgedFleet, attempt: number): boolean {
  return outbox.has("stop", attempt) || outbox.has("reassign", attempt);
}

/** Agents whose own budget is spent. */
function listSpent(conditions: readonly Condition[]): ReadonlySet<number> {
  return new Set(
    conditions.flatMap((one) =>
      one.kind === "budget" && one.active && one.phase !== "warned" && one.scope.startsWith("agent:")
        ? [Number(one.scope.slice("agent:".length))]
        : [],
    ),
  );
}

/** The documents of one kind as they were read last; only those of which there is another version are read again. */
class Documents<E> {
  private readonly known = new Map<string, { readonly version: number; readonly doc: E }>();
  private list: E[] = [];

  constructor(private readonly kind: WatchedKind<E>) {}

  forget(): void {
    this.known.clear();
    this.list = [];
  }

  /** All of them, in the order of the versions; what is gone since they were read is left out (EDGE-1). */
  async refresh(store: Store, versions: readonly DocVersion[]): Promise<E[]> {
    const stale = versions.filter(({ id, version }) => this.known.get(id)?.version !== version);
    // Mostly nothing of a kind has changed.
    if (stale.length === 0 && versions.length === this.list.length) return this.list;
    for (let from = 0; from < stale.length; from += AT_ONCE) {
      const some = stale.slice(from, from + AT_ONCE);
      const asked = new Map(some.map(({ id, version }) => [id, version]));
      for (const id of asked.keys()) this.known.delete(id);
      const { some: docs } = await store.read({ some: this.kind.some([...asked.keys()]) });
      for (const doc of docs) {
        const id = this.kind.idOf(doc);
        this.known.set(id, { version: asked.get(id) ?? -1, doc });
      }
    }
    this.list = versions.flatMap(({ id }) => this.known.get(id)?.doc ?? []);
    if (this.known.size > versions.length) this.dropOthers(versions);
    return this.list;
  }

  private dropOthers(versions: readonly DocVersion[]): void {
    const ids = new Set(versions.map(({ id }) => id));
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id);
  }
}
