/**
 * Full text by FTS5. The index is kept by triggers on `learnings` (migration 12), so it is right after a commit and after a
 * rebuild alike. Words are handed over as quoted strings, each the beginning of a word: nothing in them is syntax.
 */
import type { Database } from "bun:sqlite";
import { queryWords } from "#store/search.ts";

const FIND = `select l.id from learnings_text t join learnings l on l.id = t.id
  where learnings_text match ?1 order by l.rank desc, l.id limit ?2`;

export function searchText(db: Database, words: string, limit: number): string[] {
  const wanted = queryWords(words);
  if (wanted.length === 0) return [];
  const match = wanted.map((word) => `"${word}"*`).join(" ");
  return db
    .query<{ id: string }, [string, number]>(FIND)
    .all(match, limit)
    .map(({ id }) => id);
}
