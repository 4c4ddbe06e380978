/**
 * How agents do, beside the domain: one row for each attempt as the watch judged it last, and a bounded history of what
 * changed. Telemetry like the pulse: written by the daemon in short steps, never through the log. Two implementations pass
 * the same suite (test/contract/health-log.suite.ts): memory.ts and sqlite/health-log.ts. Questions about them are in
 * health.ts.
 */
import type { AgentHealth, HealthChange } from "#domain/watch/health.ts";

export interface HealthLog {
  /**
   * Keeps these as how those attempts do, and adds the changes to the history, in their order; all of it or nothing. Of an
   * attempt that has ended, or that nobody knows, nothing is kept: it may have ended while it was judged (EDGE-1). Rejects
   * with OverseerError `environment` when the store cannot be written now.
   */
  note(now: readonly AgentHealth[], changes: readonly HealthChange[]): Promise<void>;
  close(): void;
}

/** So many changes are kept, of all agents together; the oldest go. */
export const CHANGES_KEPT = 5_000;
