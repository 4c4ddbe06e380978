/**
 * Names for new things: a prefix and ten characters of Crockford base32 (no I, L, O, U, so they survive being read
 * aloud). The source is a port, so a simulation or a test mints the same ones every time.
 */
import { makeToken } from "./attempt-token.ts";

export interface Ids {
  /** A new id with that prefix, e.g. `next("goal_")` → `goal_7ZK3M0QX2A`. */
  next(prefix: string): string;
  /** A secret of 24 bytes, as text. */
  secret(): string;
}

export const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** How many characters follow the prefix: 50 bits, so a store of a million ids meets a collision once in 2,000 lives. */
export const ID_LENGTH = 10;

/** Ids from the cryptographic source of the runtime: no two processes of a fleet can mint the same sequence. */
export function systemIds(): Ids {
  return {
    next: (prefix) => prefix + crockford(crypto.getRandomValues(new Uint8Array(ID_LENGTH))),
    secret: makeToken,
  };
}

/** One character per byte. 256 is a multiple of 32, so taking the low five bits favours no character. */
export function crockford(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += CROCKFORD.charAt(byte & 31);
  return text;
}
