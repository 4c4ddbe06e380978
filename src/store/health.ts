/** Questions about how agents do, as the watch has judged them; a HealthLog writes it (health-log.ts). */
import type { AgentHealth, HealthChange } from "#domain/watch/health.ts";
import { healthChangeIn, healthIn } from "#domain/watch/health-shape.ts";
import type { Query, Row } from "./query.ts";

/** Undefined also where what was kept cannot be used. */
export function healthOf(attempt: number): Query<AgentHealth | undefined> {
  return {
    sql: "select attempt, doc from health where attempt = ?1",
    args: [attempt],
    read: (rows) => usableHealth(rows)[0],
    memory: (tables) => tables.health.get(attempt),
  };
}

/** Of all who live; what cannot be used is left out. */
export function healthOfLiving(): Query<AgentHealth[]> {
  return {
    sql: `select h.attempt, h.doc from health h join attempts a on a.attempt = h.attempt
      where a.status <> 'ended' order by h.attempt`,
    args: [],
    read: usableHealth,
    memory: (tables) =>
      [...tables.health.values()]
        .filter(({ attempt }) => (tables.entities.attempt.get(String(attempt))?.status ?? "ended") !== "ended")
        .sort((a, b) => a.attempt - b.attempt),
  };
}

function usableHealth(rows: readonly Row[]): AgentHealth[] {
  return rows.flatMap(({ attempt, doc }) => healthIn(String(doc), Number(attempt)) ?? []);
}

/** What changed in it, the newest first; `agent` narrows it to one name. */
export function latestHealthChanges(limit: number, agent?: string): Query<HealthChange[]> {
  return {
    sql: `select doc from diagnoses ${agent === undefined ? "" : "where agent = ?2"} order by id desc limit ?1`,
    args: agent === undefined ? [limit] : [limit, agent],
    read: (rows) => rows.flatMap(({ doc }) => healthChangeIn(String(doc)) ?? []),
    memory: (tables) =>
      tables.healthChanges
        .filter((change) => agent === undefined || change.agent === agent)
        .slice(-limit)
        .reverse(),
  };
}
