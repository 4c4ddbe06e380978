/**
 * Names for new things: a prefix and ten characters of Crockford base32 (no I, L, O, U, so they survive being read
 * aloud). The source is a port, so a simulation or a test mints the same ones every time.
 */
export interface Ids {
  /** A new id with that prefix, e.g. `next("goal_")` → `goal_7ZK3M0QX2A`. */
  next(prefix: string): string;
}

export const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
