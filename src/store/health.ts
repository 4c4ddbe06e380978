/** Questions about how agents do, as the watch has judged them; a HealthLog writes it (health-log.ts). */
import type { AgentHealth, HealthChange } from "#domain/watch/health.ts";
import type { MemoryTables, Query } from "./query.ts";
import { findDoc, listDocs } from "./query.ts";

export function healthOf(attempt: number): Query<AgentHealth | undefined> {
  return findDoc("select doc from health where attempt = ?1", [attempt], (tables) => tables.health.get(attempt));
}

/** Of all who live. */
export function healthOfLiving(): Query<AgentHealth[]> {
  return listDocs(
    "select h.doc from health h join attempts a on a.attempt = h.attempt where a.status <> 'ended' order by h.attempt",
    [],
    (tables) =>
      [...tables.health.values()]
        .filter(({ attempt }) => (tables.entities.attempt.get(String(attempt))?.status ?? "ended") !== "ended")
        .sort((a, b) => a.attempt - b.attempt),
  );
}

/** What changed in it, the newest first; `agent` narrows it to one name. */
export function latestHealthChanges(limit: number, agent?: string): Query<HealthChange[]> {
  return listDocs(
    `select doc from diagnoses ${agent === undefined ? "" : "where agent = ?2"} order by id desc limit ?1`,
    agent === undefined ? [limit] : [limit, agent],
    (tables: MemoryTables) =>
      tables.healthChanges
        .filter((change) => agent === undefined || change.agent === agent)
        .slice(-limit)
        .reverse(),
  );
}
