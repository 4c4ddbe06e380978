/**
 * Where something like a goal was done before: the commits and files whose words are those of the sentence. Words that
 * many files share say little, rare ones much; endings do not count. No model, no index: names and subjects alone.
 */

export interface CommitSeen {
  /** Short, as git shows it. */
  readonly id: string;
  readonly subject: string;
  /** In which files it differs from its first parent; of very many only the first. */
  readonly files: readonly string[];
}

export interface SimilarChanges {
  readonly commits: readonly CommitSeen[];
  readonly files: readonly string[];
}

const MOST_FILES = 15;
const MOST_COMMITS = 6;
const MOST_FILES_OF_COMMIT = 6;
const MOST_TOUCHED = 40;

/** The best first; empty where nothing matches. */
export function findSimilar(
  sentence: string,
  paths: readonly string[],
  commits: readonly CommitSeen[],
): SimilarChanges {
  const wanted = new Set(listWords(sentence));
  if (wanted.size === 0) return { commits: [], files: [] };
  const ofPaths = paths.map((path) => ({ one: path, hits: findHits(path, wanted) }));
  const files = rank(ofPaths, paths.length, (path) => (isAside(path) ? 0.2 : 1));
  const weigh = weights(ofPaths, paths.length);
  const ofCommits = commits.map((commit) => ({ one: commit, hits: findHits(commit.subject, wanted) }));
  // One that touched everything says nothing of what it was about.
  const weighFiles = (commit: CommitSeen) =>
    commit.files.length > MOST_TOUCHED
      ? 0
      : Math.max(0, ...commit.files.map((file) => sum(findHits(file, wanted), weigh) * (isAside(file) ? 0.2 : 1)));
  const told = rank(
    ofCommits,
    commits.length,
    () => 1,
    (commit) => weighFiles(commit) / 2,
  );
  return {
    files: files.slice(0, MOST_FILES),
    commits: told.slice(0, MOST_COMMITS).map((one) => ({ ...one, files: one.files.slice(0, MOST_FILES_OF_COMMIT) })),
  };
}

interface Hit<T> {
  readonly one: T;
  readonly hits: readonly string[];
}

/** The best first, without those that share nothing. What is equally good stays in its order. */
function rank<T>(all: readonly Hit<T>[], count: number, trust: (one: T) => number, extra = (_: T) => 0): T[] {
  const weigh = weights(all, count);
  return all
    .map(({ one, hits }) => ({ one, score: sum(hits, weigh) * trust(one) + extra(one) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ one }) => one);
}

function sum(hits: readonly string[], weigh: (word: string) => number): number {
  return hits.reduce((total, word) => total + weigh(word), 0);
}

function weights(all: readonly Hit<unknown>[], count: number): (word: string) => number {
  const found = new Map<string, number>();
  for (const { hits } of all) for (const word of hits) found.set(word, (found.get(word) ?? 0) + 1);
  return (word) => Math.log(1 + (count + 1) / (found.get(word) ?? 1));
}

function findHits(text: string, wanted: ReadonlySet<string>): string[] {
  return [...new Set(listWords(text))].filter((word) => wanted.has(word));
}

/** What is made, copied or only looked at: seldom where a change is made. */
const ASIDE =
  /(?:^|\/)(?:node_modules|vendor|third[_-]party|dist|build|out|target|coverage|generated|__snapshots__|snapshots|fixtures|testdata|assets|images|locales?|i18n)\/|\.(?:lock|snap|min\.\w+|map|svg|png|jpe?g|gif|ico|pdf)$/i;

export function isAside(path: string): boolean {
  return ASIDE.test(path);
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  "the and for with from that this into onto over when where what which are was were has have not but its our your their all any can should would must may make made add added use used using new get set let via per non out off one two more most some than then them they also only just like such each both about after before between without within".split(
    " ",
  ),
);

const MOST_WORDS = 60;

/** Lower case, without endings; `rateLimiter_v2` is three. */
export function listWords(text: string): string[] {
  const parts = text
    .slice(0, 2_000)
    .replace(/(\p{Ll})(?=\p{Lu})/gu, "$1 ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  const words = parts.filter((word) => word.length > 2 && !STOP_WORDS.has(word) && !/^\d+$/.test(word));
  return words.slice(0, MOST_WORDS).map(cutEnding);
}

/** `limits`, `limiting`, `limiter` and `limited` are one word. Rough, and the same for both sides. */
function cutEnding(word: string): string {
  const cut = word.replace(/(?:ing|ers?|ed|es|s|e)$/, "");
  return cut.length < 3 ? word : cut.replace(/([^aeiou])\1$/, "$1");
}
