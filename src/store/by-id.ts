/** Questions that every noun has: one document by its id, and those whose id begins so. */
import type { Entities, EntityKind } from "#domain/model/fold.ts";
import type { Query } from "./query.ts";
import { afterPrefix, compareText, docs, firstDoc } from "./query.ts";
import { TABLES } from "./tables.ts";

export function docById<K extends EntityKind>(kind: K, id: string): Query<Entities[K] | undefined> {
  return {
    sql: `select doc from ${TABLES[kind].table} where id = ?1`,
    args: [id],
    read: (rows) => firstDoc<Entities[K]>(rows),
    memory: (tables) => tables.entities[kind].get(id),
  };
}

export function docsWithPrefix<K extends EntityKind>(kind: K, prefix: string, limit: number): Query<Entities[K][]> {
  return {
    sql: `select doc from ${TABLES[kind].table} where id >= ?1 and id < ?2 order by id limit ?3`,
    args: [prefix, afterPrefix(prefix), limit],
    read: (rows) => docs<Entities[K]>(rows),
    memory: (tables) =>
      [...tables.entities[kind]]
        .filter(([id]) => id.startsWith(prefix))
        .sort(([a], [b]) => compareText(a, b))
        .map(([, entity]) => entity)
        .slice(0, limit),
  };
}
