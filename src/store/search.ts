/**
 * Full text over what was learned: a port, because each database has a way of its own. Whoever is asked answers with ids
 * of learnings that are kept, in which every word of the query begins a word of the text, its tags or its paths; those of
 * the highest rank first. The query is words and nothing else: quotes, operators and signs of any query language mean
 * nothing and never fail. Two implementations pass the same suite (test/contract/search.suite.ts): memory.ts and
 * sqlite/search.ts.
 */
import type { Learning } from "#domain/model/learning.ts";
import { compareText } from "./query.ts";

export interface Search {
  /** Empty where the query has no words. */
  find(words: string, limit: number): Promise<readonly string[]>;
}

/** More words than this find nothing more precisely. */
const MOST_WORDS = 20;
const LONGEST_WORD = 64;

/** The words of a text as they are compared: letters and digits, small, without accents. */
export function searchWords(text: string): string[] {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return [...plain.matchAll(/[\p{L}\p{N}]+/gu)].map(([word]) => word);
}

/** The words that a query asks for. */
export function queryWords(query: string): string[] {
  return [...new Set(searchWords(query.slice(0, 2_000)).map((word) => word.slice(0, LONGEST_WORD)))].slice(
    0,
    MOST_WORDS,
  );
}

/** The answer of a database that has no index of its own. */
export function searchByReading(learnings: Iterable<Learning>, query: string, limit: number): string[] {
  const wanted = queryWords(query);
  if (wanted.length === 0) return [];
  return [...learnings]
    .filter(({ status, text, tags, paths }) => {
      if (status !== "kept") return false;
      const there = searchWords([text, ...tags, ...paths].join(" "));
      return wanted.every((word) => there.some((one) => one.startsWith(word)));
    })
    .sort((a, b) => b.rank - a.rank || compareText(a.learningId, b.learningId))
    .slice(0, limit)
    .map(({ learningId }) => learningId);
}
