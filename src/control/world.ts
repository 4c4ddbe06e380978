/**
 * What a verb needs from outside: the machine's ports, the repository's root, the store, the configuration, and who
 * is asking. main.ts builds the real one; tests and the simulator hand in another.
 */
import type { ActParts } from "#act/parts.ts";
import type { Actor } from "#domain/core/actor.ts";
import { LIST_LIMIT, refuseOversized } from "#domain/core/bounds.ts";
import type { Decision } from "#domain/model/decision.ts";
import { orThrow } from "#errors.ts";
import type { Store } from "#store/store.ts";

export interface World extends ActParts {
  readonly actor: Actor;
  /** The store, opened for reading only: reading commands never write. */
  reader(): Promise<Store>;
  /** A small file that is replaced whole, read at once; undefined when there is none (sys/read-now.ts). */
  readNow(path: string): string | undefined;
}

/** The same world with somebody else in front of it. Its parts are still made only when they are asked for. */
export function speakingAs(world: World, actor: Actor): World {
  const parts = Object.getOwnPropertyDescriptors(world);
  return Object.defineProperties({}, { ...parts, actor: { value: actor, enumerable: true } }) as World;
}

/** Throws when a rule has already said no. */
export function assertAllowed(refusal: Decision<never> | undefined): void {
  if (refusal && !refusal.ok) orThrow({ ok: false, refusal: refusal.refusal });
}

/** Throws when a text handed in is longer than what one event may hold, so that somebody can still shorten it. */
export async function assertFits(world: World, handedIn: unknown): Promise<void> {
  const { store } = await world.config();
  assertAllowed(refuseOversized(handedIn, { field: store.caps.payload, list: LIST_LIMIT, key: "store.caps.payload" }));
}
