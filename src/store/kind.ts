/**
 * A kind of database, as its folder provides it; open.ts has the list. Errors are OverseerErrors of the kind
 * `environment` with the next step in them, whatever the database itself says.
 */
import type { OverseerError } from "#errors.ts";
import type { HealthLog } from "./health-log.ts";
import type { Query } from "./query.ts";
import type { Caps } from "./seal.ts";
import type { SignalLog, SignalLogOptions } from "./signal-log.ts";
import type { Store } from "./store.ts";

export interface StoreKind {
  /** Never changes anything. Rejects with STORE_MISSING, STORE_OLD, STORE_NEWER, STORE_FOREIGN or STORE_CORRUPT. */
  openForReading(place: string, options: OpenOptions): Promise<Store>;
  /** For reading and writing; the same refusals. */
  openForWriting(place: string, options: OpenOptions): Promise<Store>;
  /** Throws when there is nothing there. */
  openSignalLog(place: string, options: SignalLogOptions): SignalLog;
  /** Throws when there is nothing there. */
  openHealthLog(place: string, options: { readonly busyMs?: number }): HealthLog;
  /** One question by a process that lives for it alone. Throws when it is not answered within `busyMs`. */
  askOnce<T>(place: string, query: Query<T>, busyMs: number): T | Promise<T>;
  /** The same for a process that stays; of the store that lies there now, whatever takes its place later. */
  openAsker(place: string): Asker;
  /** What state it is in, looked at without changing it. Never rejects for what it finds. */
  inspect(place: string): Promise<{ readonly state: StoreState; readonly problem?: OverseerError }>;
  /**
   * Makes the store if there is none, migrates an older one after a backup, and rebuilds tables that an older fold made.
   * Safe to repeat and to race; cut off, the next call continues it.
   */
  prepare(place: string, options: PrepareOptions): Promise<PreparedStore>;
  /** Which store lies there; undefined where none can be read, or one from before stores had an identity. */
  identityAt(place: string): string | undefined;
  /**
   * Calls `onWrite` as soon as anybody writes, where the system can tell; whoever relies on it looks by the clock as well.
   * Once for several writes, or for none that counts. Returns what ends it.
   */
  watch(place: string, onWrite: () => void): () => void;
}

export interface Asker {
  /** Throws when it is not answered within `busyMs`. */
  ask<T>(query: Query<T>, busyMs: number): T;
  close(): void;
}

export interface OpenOptions {
  readonly caps?: Partial<Caps>;
  /** For processes that stay: notice when the store is moved aside under an open connection. */
  readonly longLived?: boolean;
  /** Where the copy of the log is kept; whoever has other things to do, as a hook, leaves it out. */
  readonly backupDir?: string;
  /** For a process that drives an agent: the copy follows a moment later, because its reflexes cannot wait for the disk. */
  readonly copyLater?: boolean;
  /** How long a writer waits for its turn, when less than a person would. */
  readonly patienceMs?: number;
}

export interface PrepareOptions {
  readonly backupDir: string;
  readonly now: number;
  /** Which store one that is made here continues with; a new one where nothing is said. */
  readonly identity?: string;
  /** The highest number any attempt ever had; a store that is made here continues above it. */
  readonly attempts?: number;
}

export interface PreparedStore {
  readonly created: boolean;
  /** The schema it had before; null when it was not migrated. */
  readonly migratedFrom: number | null;
}

export type StoreState = "missing" | "misplaced" | "ready" | "old" | "newer" | "foreign" | "corrupt" | "unreadable";
