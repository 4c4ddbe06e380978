/** Ids from a seed: a simulation and its replay mint the same ones, so their logs can be compared as text. */
import { crockford, ID_LENGTH, type Ids } from "./ids.ts";
import { makeSeededChance } from "./virtual-chance.ts";

export function makeSeededIds(seed: number): Ids {
  const chance = makeSeededChance(seed);
  let secrets = 0;
  return {
    next: (prefix) => prefix + crockford(Uint8Array.from({ length: ID_LENGTH }, () => chance.next() * 256)),
    // Counted, so that the ids are the same whether anybody wanted a secret or not.
    secret: () => `ovtk_${(++secrets).toString(16).padStart(48, "0")}`,
  };
}
