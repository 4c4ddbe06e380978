/**
 * Locks between the processes of one machine, by path: the one hand on a repository, a checkout, a place for checks. Two
 * implementations pass the same suite (test/contract/locks.suite.ts): store/sqlite/locks.ts and sim/virtual-locks.ts.
 */
export interface Lock {
  /** Gives it back; a second time changes nothing. */
  release(): void;
}

export interface Locks {
  /**
   * Takes the lock, or returns undefined while anybody has it, this process included; it waits for a holder no longer than
   * a moment. It is held until it is released or the process dies, however that happens; children do not inherit it.
   * Throws OverseerError `environment` where there can be no lock (no such directory, not writable, disk full), and then
   * nothing is held.
   */
  take(path: string): Lock | undefined;
}
