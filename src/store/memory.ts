/**
 * The store in memory: the same log, fold and door as the real one, without a disk. Simulations and rule tests run
 * on it; it passes the same contract suite as SQLite, so what they show holds there too. What agents are seen to do is
 * kept beside it in the same way (`signals`), with the same fence and each signal once.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Entity, EntityKind } from "#domain/model/fold.ts";
import type { Learning } from "#domain/model/learning.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { beat, newPulse } from "#domain/signals/pulse.ts";
import type { Steering } from "#domain/signals/reflex.ts";
import { afterSteering } from "#domain/signals/reflex.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { AgentHealth, HealthChange } from "#domain/watch/health.ts";
import { BEGINNING, gapInLog, notEmpty } from "./continuity.ts";
import type { Folded } from "./folding.ts";
import { Folding } from "./folding.ts";
import type { HealthLog } from "./health-log.ts";
import { CHANGES_KEPT } from "./health-log.ts";
import type { MemoryTables, RecordedSignal } from "./query.ts";
import { compareText } from "./query.ts";
import type { Caps } from "./seal.ts";
import { DEFAULT_CAPS, seal, sealStored } from "./seal.ts";
import { searchByReading } from "./search.ts";
import type { SignalLog } from "./signal-log.ts";
import { DEFAULT_SIGNAL_CAPS, sealSignal } from "./signal-log.ts";
import type { Commit, CommitOutcome, DumpRow, ReadResults, Reads, Store } from "./store.ts";
import { ENTITY_KINDS } from "./tables.ts";

type EntityMaps = { [K in EntityKind]: Map<string, Entity> };

/** Signals are as unlimited here as a test is short. */
export interface MemoryStore extends Store {
  readonly signals: SignalLog;
  readonly health: HealthLog;
}

export function memoryStore(options: { caps?: Partial<Caps>; identity?: string } = {}): MemoryStore {
  const identity = options.identity ?? `s_${crypto.randomUUID()}`;
  const caps = { ...DEFAULT_CAPS, ...options.caps };
  let events: EventOf[] = [];
  let entities = emptyMaps();
  let versions = new Map<string, number>();
  let mark = 0;
  const isLiving = (attempt: number) => {
    const known = entities.attempt.get(String(attempt)) as Attempt | undefined;
    return known !== undefined && known.status !== "ended";
  };
  const telemetry = new MemorySignalLog(isLiving);
  const watched = new MemoryHealthLog(isLiving);

  const tables = (): MemoryTables => ({
    entities: entities as unknown as MemoryTables["entities"],
    events,
    pulses: telemetry.pulses,
    signals: telemetry.kept,
    health: watched.now,
    healthChanges: watched.changes,
    recorded: telemetry.recorded,
  });
  const fold = () =>
    new Folding((ref) => {
      const entity = entities[ref.kind].get(ref.id);
      return entity && { entity, version: versions.get(`${ref.kind} ${ref.id}`) ?? 0 };
    });
  const keep = (folded: Iterable<Folded>) => {
    for (const { kind, id, entity, version } of folded) {
      if (!entity) continue;
      entities[kind].set(id, entity);
      versions.set(`${kind} ${id}`, version);
    }
  };
  const see = <R extends Reads>(reads: R): ReadResults<R> => {
    const now = tables();
    const seen: Record<string, unknown> = {};
    for (const name of Object.keys(reads)) seen[name] = reads[name]?.memory(now);
    return seen as ReadResults<R>;
  };
  const add = (sealed: readonly EventOf[]) => {
    const folding = fold();
    for (const event of sealed) folding.take(event);
    keep(folding.listChanged());
    events.push(...sealed);
    mark += 1;
  };

  return {
    signals: telemetry,
    health: watched,
    async commit<R extends Reads, T>(request: Commit<R, T>): Promise<CommitOutcome<T>> {
      const decision = request.decide(see(request.reads));
      if (!decision.ok) return decision;
      const next = (events.at(-1)?.seq ?? 0) + 1;
      const sealed = decision.events.map((event, index) => seal(event, { seq: next + index, at: request.at }, caps));
      if (sealed.length > 0) add(sealed);
      return { ok: true, value: decision.value, events: sealed };
    },
    async read(reads) {
      return see(reads);
    },
    search: {
      find: async (words, limit) => searchByReading(entities.learning.values() as Iterable<Learning>, words, limit),
    },
    async log({ after, limit }) {
      return events.filter((event) => event.seq > after).slice(0, limit);
    },
    async append(placed) {
      let expected = (events.at(-1)?.seq ?? 0) + 1;
      for (const event of placed) {
        if (event.seq !== expected) throw gapInLog(expected, event.seq);
        expected += 1;
      }
      add(placed.map((event) => sealStored(event, caps)));
    },
    async restore(placed) {
      if (events.some((event) => event.type !== BEGINNING)) throw notEmpty();
      placed.forEach((event, index) => {
        if (event.seq !== index + 1) throw gapInLog(index + 1, event.seq);
      });
      const before = events;
      events = [];
      try {
        add(placed.map((event) => sealStored(event, caps)));
      } catch (error) {
        events = before;
        throw error;
      }
    },
    async rebuild() {
      const log = events;
      entities = emptyMaps();
      versions = new Map();
      events = [];
      add(log);
      return { events: log.length, entities: versions.size };
    },
    async dump() {
      return dumpOf(entities, versions);
    },
    async changeMark() {
      return mark;
    },
    async identity() {
      return identity;
    },
    async standing() {
      return { kind: "follows" };
    },
    async close() {},
  };
}

class MemorySignalLog implements SignalLog {
  readonly pulses = new Map<number, Pulse>();
  readonly kept = new Map<number, Signal[]>();
  recorded: RecordedSignal[] = [];
  private places = 0;
  private readonly known = new Set<string>();

  constructor(private readonly lives: (attempt: number) => boolean) {}

  async record(attempt: number, agent: string, signals: readonly Signal[]): Promise<Pulse | undefined> {
    if (!this.lives(attempt)) return undefined;
    let pulse = this.pulses.get(attempt) ?? newPulse(attempt, agent);
    const kept = this.kept.get(attempt) ?? [];
    this.kept.set(attempt, kept);
    for (const raw of signals) {
      const signal = sealSignal(raw, DEFAULT_SIGNAL_CAPS);
      const key = `${attempt} ${signal.source} ${signal.phase}`;
      if (this.known.has(key)) continue;
      this.known.add(key);
      kept.push(signal);
      this.places += 1;
      this.recorded.push({ place: this.places, attempt, signal });
      pulse = beat(pulse, signal);
    }
    this.pulses.set(attempt, pulse);
    return pulse;
  }

  async steer(
    attempt: number,
    at: number,
    judge: (pulse: Pulse) => Steering | undefined,
  ): Promise<Steering | undefined> {
    const pulse = this.lives(attempt) ? this.pulses.get(attempt) : undefined;
    const steering = pulse && judge(pulse);
    if (pulse && steering) this.pulses.set(attempt, afterSteering(pulse, steering, at));
    return steering;
  }

  async compact(before: number, most: number): Promise<number> {
    let gone = 0;
    for (const [attempt, signals] of this.kept) {
      const isMilestone = (signal: Signal, index: number) =>
        signals.findIndex(({ kind }) => kind === signal.kind) === index ||
        signals.findLastIndex(({ kind }) => kind === signal.kind) === index;
      const stay = signals.filter((signal, index) => {
        const goes = signal.at < before && gone < most && !isMilestone(signal, index);
        if (goes) gone += 1;
        return !goes;
      });
      this.kept.set(attempt, stay);
    }
    const left = new Set([...this.kept.values()].flat());
    this.recorded = this.recorded.filter(({ signal }) => left.has(signal));
    return gone;
  }

  close(): void {}
}

class MemoryHealthLog implements HealthLog {
  readonly now = new Map<number, AgentHealth>();
  readonly changes: HealthChange[] = [];

  constructor(private readonly lives: (attempt: number) => boolean) {}

  async note(now: readonly AgentHealth[], changes: readonly HealthChange[]): Promise<void> {
    for (const one of now) if (this.lives(one.attempt)) this.now.set(one.attempt, one);
    this.changes.push(...changes.filter(({ attempt }) => this.lives(attempt)));
    this.changes.splice(0, Math.max(0, this.changes.length - CHANGES_KEPT));
  }

  close(): void {}
}

function emptyMaps(): EntityMaps {
  return Object.fromEntries(ENTITY_KINDS.map((kind) => [kind, new Map()])) as unknown as EntityMaps;
}

function dumpOf(entities: EntityMaps, versions: ReadonlyMap<string, number>): DumpRow[] {
  return [...ENTITY_KINDS].sort(compareText).flatMap((kind) =>
    [...entities[kind]]
      .sort(([a], [b]) => compareText(a, b))
      .map(([id, entity]) => ({
        kind,
        id,
        version: versions.get(`${kind} ${id}`) ?? 0,
        doc: JSON.parse(JSON.stringify(entity)) as unknown,
      })),
  );
}
