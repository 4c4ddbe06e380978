/**
 * What a verb needs from outside: the machine's ports, the repository's root, the store, the configuration, and who
 * is asking. main.ts builds the real one; tests and the simulator hand in another.
 */
import type { Config } from "#config/schema.ts";
import type { Actor } from "#domain/actor.ts";
import type { Decision } from "#domain/refusal.ts";
import { OverseerError } from "#errors.ts";
import type { Outcome, Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";
import type { Exec } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";
import type { Ids } from "#sys/ids.ts";
import type { Processes } from "#sys/processes.ts";
import type { Root } from "#sys/root.ts";

export interface World {
  readonly root: Root;
  readonly actor: Actor;
  /** The environment this process was started with; children get it, or what is allowed of it. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly files: Files;
  readonly exec: Exec;
  readonly processes: Processes;
  /** The store, opened for reading only: reading commands never write. */
  reader(): Promise<Store>;
  /** The store, opened for writing. */
  writer(): Promise<Store>;
  config(): Promise<Config>;
}

/** The value of a commit; a refusal becomes the error that doors know how to say. */
export function orThrow<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  const { kind, code, message, hint } = outcome.refusal;
  throw new OverseerError(kind, code, message, hint);
}

/** Throws when a rule has already said no. */
export function assertAllowed(refusal: Decision<never> | undefined): void {
  if (refusal && !refusal.ok) orThrow({ ok: false, refusal: refusal.refusal });
}
