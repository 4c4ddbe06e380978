/**
 * The store's contract. `commit` is the only way the domain changes: what a rule needs is read inside one immediate
 * transaction, the pure rule decides on it, its events are appended and folded into the tables, or nothing is.
 * Everything is a Promise because PostgreSQL will be; SQLite answers synchronously behind it, with no await inside a
 * transaction. Two implementations pass the same suite (test/contract/store.suite.ts): memory.ts and sqlite/store.ts.
 */

import type { Refusal } from "#domain/core/refusal.ts";
import type { Continuity } from "#domain/health/high-water.ts";
import type { Decision } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { EntityKind } from "#domain/model/fold.ts";
import type { Query } from "./query.ts";
import type { Search } from "./search.ts";

export type Reads = Readonly<Record<string, Query<unknown>>>;
export type ReadResults<R extends Reads> = { readonly [K in keyof R]: R[K] extends Query<infer T> ? T : never };

export interface Commit<R extends Reads, T> {
  /** Wall clock of the decision, ms; every event of this commit carries it. */
  readonly at: number;
  readonly reads: R;
  /** Pure and synchronous. It may run more than once when the database was busy. */
  readonly decide: (seen: ReadResults<R>) => Decision<T>;
}

export type CommitOutcome<T> =
  | { readonly ok: true; readonly value: T; readonly events: readonly EventOf[] }
  | { readonly ok: false; readonly refusal: Refusal };

/** One row of a table, for comparing stores: everything but the order of columns. */
export interface DumpRow {
  readonly kind: EntityKind;
  readonly id: string;
  readonly version: number;
  readonly doc: unknown;
}

export interface Store {
  /**
   * Decides and writes in one transaction. A refusal is a value and writes nothing. Rejects with OverseerError
   * `environment` when the store cannot be used (busy beyond its patience, full disk, read-only, corrupt), and then
   * nothing was written.
   */
  commit<R extends Reads, T>(request: Commit<R, T>): Promise<CommitOutcome<T>>;
  /** Reads one consistent state; never writes. */
  read<R extends Reads>(reads: R): Promise<ReadResults<R>>;
  /** Full text over what was learned. */
  readonly search: Search;
  /** The log in order, a page at a time, lifted to present versions. */
  log(page: { readonly after: number; readonly limit: number }): Promise<readonly EventOf[]>;
  /**
   * Appends events that already have their place (import, recovery). They must follow on from what is there without
   * a gap; rejects otherwise and writes nothing of that call.
   */
  append(events: readonly EventOf[]): Promise<void>;
  /**
   * Puts a whole log, from its first event, in the place of one that says nothing yet: an empty one, or one that only
   * tells that Overseer was set up. Rejects with STORE_NOT_EMPTY, or as `append` does, and then nothing was written.
   */
  restore(events: readonly EventOf[]): Promise<void>;
  /**
   * Folds the whole log again and makes the tables equal to that, whatever they held. Readers see the old tables until
   * the new ones are complete.
   */
  rebuild(): Promise<{ readonly events: number; readonly entities: number }>;
  /** All tables, ordered by kind and id: two stores are equal when their dumps are. */
  dump(): Promise<readonly DumpRow[]>;
  /** A number that changes whenever anybody commits; for followers that wait. */
  changeMark(): Promise<number>;
  /**
   * Which store this is: a random name that it got when it was made. Its copies and backups have the same one, so it
   * tells another repository's store from this one's, not a copied directory from its original.
   */
  identity(): Promise<string>;
  /** Whether it continues from the furthest place that was ever seen of it; one of which nothing was seen does. */
  standing(): Promise<Continuity>;
  close(): Promise<void>;
}
