/**
 * A question to the store, as a value: the SQL text that both databases share (`?1` parameters, no reaching into
 * JSON), how its rows are read, and what the memory store answers instead. The two answers stand side by side so
 * that they cannot drift; the contract suite asks both.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Entities, EntityKind } from "#domain/model/fold.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { AgentHealth, HealthChange } from "#domain/watch/health.ts";
import type { SqlValue } from "./tables.ts";

export type Row = Readonly<Record<string, unknown>>;

/** The tables of the memory store. Maps keep insertion order; answers that have an order sort themselves. */
export interface MemoryTables {
  readonly entities: { readonly [K in EntityKind]: ReadonlyMap<string, Entities[K]> };
  readonly events: readonly EventOf[];
  /** Telemetry, which lies beside the domain: by attempt, and never rebuilt from the log. */
  readonly pulses: ReadonlyMap<number, Pulse>;
  readonly signals: ReadonlyMap<number, readonly Signal[]>;
  readonly health: ReadonlyMap<number, AgentHealth>;
  readonly healthChanges: readonly HealthChange[];
  /** The same of all attempts, in the order of recording. */
  readonly recorded: readonly RecordedSignal[];
}

/** A signal, whose it is, and its place among all that were recorded; places grow in the order of recording. */
export interface RecordedSignal {
  readonly place: number;
  readonly attempt: number;
  readonly signal: Signal;
}

export interface Query<T> {
  readonly sql: string;
  readonly args: readonly SqlValue[];
  read(rows: readonly Row[]): T;
  memory(tables: MemoryTables): T;
}

/** Rows that hold one JSON document each. */
export function docs<E>(rows: readonly Row[]): E[] {
  return rows.map((row) => JSON.parse(String(row.doc)) as E);
}

export function firstDoc<E>(rows: readonly Row[]): E | undefined {
  const row = rows[0];
  return row ? (JSON.parse(String(row.doc)) as E) : undefined;
}

/** A question that is answered by documents. */
export function listDocs<E>(sql: string, args: readonly SqlValue[], memory: Query<E[]>["memory"]): Query<E[]> {
  return { sql, args, read: (rows) => docs<E>(rows), memory };
}

/** The same by one, or by none. */
export function findDoc<E>(
  sql: string,
  args: readonly SqlValue[],
  memory: Query<E | undefined>["memory"],
): Query<E | undefined> {
  return { sql, args, read: (rows) => firstDoc<E>(rows), memory };
}

/** The upper end of the range of strings that begin with `prefix`. */
export function afterPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Those of the memory store for which it holds, by their number. */
export function attemptsIn(tables: MemoryTables, holds: (attempt: Attempt) => boolean): Attempt[] {
  return [...tables.entities.attempt.values()].filter(holds).sort((a, b) => a.attempt - b.attempt);
}
