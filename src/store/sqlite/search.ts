/**
 * Full text by FTS5. The index is kept by triggers on `learnings` (migration 12), so it is right after a commit, and made
 * anew by a rebuild where it is not. Words are handed over as quoted strings, each the beginning of a word: nothing in them is syntax.
 */
import type { Database } from "bun:sqlite";
import { queryWords } from "#store/search.ts";

/** What the index holds and what it should hold; the order says nothing. */
const WRONG = `select
    (select count(*) from (select id, text, words from learnings_text except
       select id, text, words from learnings where status = 'kept')) +
    (select count(*) from (select id, text, words from learnings where status = 'kept' except
       select id, text, words from learnings_text)) +
    (select count(*) from learnings_text) - (select count(distinct id) from learnings_text) as wrong`;

/** How many rows of the index are missing, too many or not as the table has them. */
export function countWrongTexts(db: Database): number {
  return Number(db.query<{ wrong: number }, []>(WRONG).get()?.wrong ?? 0);
}

/** Makes the index anew from the table: triggers keep it, and mend nothing that was spoiled behind their back. */
export function putTextRight(db: Database): void {
  if (countWrongTexts(db) === 0 && isIndexSound(db)) return;
  db.run("delete from learnings_text");
  db.run("insert into learnings_text (id, text, words) select id, text, words from learnings where status = 'kept'");
  db.run("insert into learnings_text (learnings_text) values ('rebuild')");
}

function isIndexSound(db: Database): boolean {
  try {
    db.run("insert into learnings_text (learnings_text) values ('integrity-check')");
    return true;
  } catch {
    return false; // its words are not those of its rows
  }
}

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
