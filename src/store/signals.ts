/** Questions about what agents were seen to do: their signals and pulses, which a SignalLog writes (signal-log.ts). */
import type { Pulse } from "#domain/signals/pulse.ts";
import { pulseIn } from "#domain/signals/pulse-shape.ts";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import type { Query, RecordedSignal, Row } from "./query.ts";

/** Undefined also where it cannot be used. */
export function pulseOf(attempt: number): Query<Pulse | undefined> {
  return {
    sql: "select attempt, doc from pulses where attempt = ?1",
    args: [attempt],
    read: (rows) => usablePulses(rows)[0],
    memory: (tables) => tables.pulses.get(attempt),
  };
}

/** The pulses in rows of `attempt` and `doc`; one that cannot be used is left out, and stops nobody. */
export function usablePulses(rows: readonly Row[]): Pulse[] {
  return rows.flatMap(({ attempt, doc }) => pulseIn(String(doc), Number(attempt)) ?? []);
}

/** The pulses of those at work, and who has one that cannot be used. */
export interface PulsesSeen {
  readonly pulses: readonly Pulse[];
  readonly unusable: readonly { readonly attempt: number; readonly agent: string }[];
}

export function seePulsesOfLiving(): Query<PulsesSeen> {
  return {
    sql: `select p.attempt, a.agent, p.doc from pulses p join attempts a on a.attempt = p.attempt
      where a.status <> 'ended' order by p.attempt`,
    args: [],
    read: (rows) => {
      const pulses = usablePulses(rows);
      // Mostly all of them.
      if (pulses.length === rows.length) return { pulses, unusable: [] };
      const usable = new Set(pulses.map(({ attempt }) => attempt));
      const all = rows.map(({ attempt, agent }) => ({ attempt: Number(attempt), agent: String(agent) }));
      return { pulses, unusable: all.filter(({ attempt }) => !usable.has(attempt)) };
    },
    memory: (tables) => ({
      pulses: [...tables.pulses.values()]
        .filter((pulse) => (tables.entities.attempt.get(String(pulse.attempt))?.status ?? "ended") !== "ended")
        .sort((a, b) => a.attempt - b.attempt),
      unusable: [],
    }),
  };
}

/** Those of them that can be used. */
export function pulsesOfLiving(): Query<readonly Pulse[]> {
  const { sql, args, read, memory } = seePulsesOfLiving();
  return { sql, args, read: (rows) => read(rows).pulses, memory: (tables) => memory(tables).pulses };
}

/** Of the newest attempts, the newest first. */
export function latestPulses(limit: number): Query<Pulse[]> {
  return {
    sql: "select attempt, doc from pulses order by attempt desc limit ?1",
    args: [limit],
    read: usablePulses,
    memory: (tables) => [...tables.pulses.values()].sort((a, b) => b.attempt - a.attempt).slice(0, limit),
  };
}

/** How much the contexts of models can hold, as agents have told it lately. */
export function contextWindows(): Query<Record<string, number>> {
  return {
    sql: "select attempt, doc from pulses order by attempt desc limit 50",
    args: [],
    read: (rows) => windowsIn(usablePulses(rows)),
    memory: (tables) => windowsIn([...tables.pulses.values()].sort((a, b) => b.attempt - a.attempt).slice(0, 50)),
  };
}

function windowsIn(newestFirst: readonly Pulse[]): Record<string, number> {
  return Object.fromEntries(
    newestFirst
      .toReversed()
      .flatMap(({ model, contextWindow }) => (model && contextWindow ? [[model, contextWindow]] : [])),
  );
}

/** A signal and its place among all that were recorded; places grow in the order of recording. */
export interface PlacedSignal {
  readonly place: number;
  readonly signal: Signal;
}

/** What was recorded of an attempt after that place, by whomever; the oldest first. */
export function signalsAfter(attempt: number, place: number, limit: number): Query<PlacedSignal[]> {
  return {
    sql: "select id, source, phase, at, kind, data from signals where id > ?2 and attempt = ?1 order by id limit ?3",
    args: [attempt, place, limit],
    read: (rows) => rows.map(({ id, ...row }) => ({ place: Number(id), signal: signalOfRow(row) })),
    memory: (tables) =>
      (tables.signals.get(attempt) ?? [])
        .map((signal, index) => ({ place: index + 1, signal }))
        .filter((one) => one.place > place)
        .slice(0, limit),
  };
}

/** What was recorded of anybody after that place, of these kinds where some are named; the oldest first. */
export function signalsOfAll(
  place: number,
  limit: number,
  kinds: readonly SignalKind[] = [],
): Query<readonly RecordedSignal[]> {
  const those = kinds.map((_, index) => `?${index + 3}`).join(", ");
  return {
    sql: `select id, attempt, source, phase, at, kind, data from signals
      where id > ?1 ${kinds.length === 0 ? "" : `and kind in (${those})`} order by id limit ?2`,
    args: [place, limit, ...kinds],
    read: (rows) =>
      rows.map(({ id, attempt, ...row }) => ({
        place: Number(id),
        attempt: Number(attempt),
        signal: signalIfWhole(row),
      })),
    memory: (tables) =>
      tables.recorded
        .filter((one) => one.place > place && (kinds.length === 0 || kinds.includes(one.signal.kind)))
        .slice(0, limit),
  };
}

/** The place of the newest of all; 0 before the first. */
export function lastPlace(): Query<number> {
  return {
    sql: "select coalesce(max(id), 0) as place from signals",
    args: [],
    read: (rows) => Number(rows[0]?.place ?? 0),
    memory: (tables) => tables.recorded.at(-1)?.place ?? 0,
  };
}

/** The last signals of these kinds, the oldest first. */
export function lastSignals(attempt: number, kinds: readonly SignalKind[], limit: number): Query<Signal[]> {
  return {
    sql: `select source, phase, at, kind, data from signals
      where attempt = ?1 and kind in (${kinds.map((_, index) => `?${index + 3}`).join(", ")}) order by id desc limit ?2`,
    args: [attempt, limit, ...kinds],
    read: (rows) => rows.map(signalOfRow).reverse(),
    memory: (tables) => (tables.signals.get(attempt) ?? []).filter(({ kind }) => kinds.includes(kind)).slice(-limit),
  };
}

export function signalsOf(attempt: number, limit: number): Query<Signal[]> {
  return {
    sql: "select source, phase, at, kind, data from signals where attempt = ?1 order by id desc limit ?2",
    args: [attempt, limit],
    read: (rows) => rows.map(signalOfRow).reverse(),
    memory: (tables) => (tables.signals.get(attempt) ?? []).slice(-limit),
  };
}

/** One whose data are spoiled has none, so that it does not hide those behind it. */
function signalIfWhole(row: Row): Signal {
  try {
    return signalOfRow(row);
  } catch {
    return { ...row, data: null } as unknown as Signal;
  }
}

function signalOfRow(row: Row): Signal {
  return { ...row, data: JSON.parse(String(row.data)) } as unknown as Signal;
}
