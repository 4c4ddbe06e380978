/**
 * Opens a store by its address: a path, or the name of a kind and what that kind understands, as in `sqlite:<path>`.
 * Another database is a folder beside sqlite/ and a line in KINDS; nobody else knows which one it is.
 */
import { OverseerError } from "#errors.ts";
import type { Lock } from "#sys/locks.ts";
import type { HealthLog } from "./health-log.ts";
import type { Asker, OpenOptions, PreparedStore, PrepareOptions, StoreKind } from "./kind.ts";
import type { Query } from "./query.ts";
import type { SignalLog, SignalLogOptions } from "./signal-log.ts";
import { sqlite } from "./sqlite/kind.ts";
import { sqliteLocks } from "./sqlite/locks.ts";
import type { Store } from "./store.ts";

const KINDS: ReadonlyMap<string, StoreKind> = new Map([["sqlite", sqlite]]);

interface Address {
  readonly address: string;
}

/** The address of the store that keeps its state in that directory. */
export function addressIn(state: string): string {
  return `${state}/overseer.db`;
}

export async function openForReading({ address, ...options }: Address & OpenOptions): Promise<Store> {
  const { kind, place } = resolveAddress(address);
  return kind.openForReading(place, options);
}

export async function openForWriting({ address, ...options }: Address & OpenOptions): Promise<Store> {
  const { kind, place } = resolveAddress(address);
  return kind.openForWriting(place, options);
}

export function openSignalLog(address: string, options: SignalLogOptions = {}): SignalLog {
  const { kind, place } = resolveAddress(address);
  return kind.openSignalLog(place, options);
}

export function openHealthLog(address: string, options: { readonly busyMs?: number } = {}): HealthLog {
  const { kind, place } = resolveAddress(address);
  return kind.openHealthLog(place, options);
}

export async function askOnce<T>(address: string, query: Query<T>, busyMs: number): Promise<T> {
  const { kind, place } = resolveAddress(address);
  return kind.askOnce(place, query, busyMs);
}

export function openAsker(address: string): Asker {
  const { kind, place } = resolveAddress(address);
  return kind.openAsker(place);
}

export async function inspectStore(address: string): ReturnType<StoreKind["inspect"]> {
  const { kind, place } = resolveAddress(address);
  return kind.inspect(place);
}

export async function prepareStore({ address, ...options }: Address & PrepareOptions): Promise<PreparedStore> {
  const { kind, place } = resolveAddress(address);
  return kind.prepare(place, options);
}

export function identityAt(address: string): string | undefined {
  const { kind, place } = resolveAddress(address);
  return kind.identityAt(place);
}

export function watchStore(address: string, onWrite: () => void): () => void {
  const { kind, place } = resolveAddress(address);
  return kind.watch(place, onWrite);
}

/** A lock that ends with its holder, however that ends; undefined while somebody else has it. */
export function takeLockAt(path: string): Lock | undefined {
  return sqliteLocks.take(path);
}

function resolveAddress(address: string): { readonly kind: StoreKind; readonly place: string } {
  const [, name = "sqlite", place = address] = /^([a-z][a-z0-9+]+):(?:\/\/)?(.*)$/s.exec(address) ?? [];
  const kind = KINDS.get(name);
  if (kind) return { kind, place };
  // Only its kind is said: what follows may hold a password.
  throw new OverseerError(
    "config",
    "STORE_KIND_UNKNOWN",
    `Overseer cannot keep its store in "${name}:".`,
    `Use a path or one of ${[...KINDS.keys()].map((known) => `${known}:<path>`).join(", ")}; a newer version may know more kinds.`,
  );
}
