/**
 * What the production code reaches, read off its text: names that nothing outside the tests uses, words that nothing
 * writes, keys that nothing reads. Text and not syntax trees, so that it takes a second; it may take something for reached
 * that is not, and hardly the other way round.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Source {
  readonly path: string;
  readonly text: string;
}

/** Every file of src that is shipped and is no twin of a port. */
export function productionSources(): Source[] {
  const root = join(import.meta.dir, "../..");
  return [...new Bun.Glob("{src,sim}/**/*.ts").scanSync(root)]
    .filter((path) => !/\.(?:test|d)\.ts$|\/virtual-|\/fake|^src\/sim\//.test(path))
    .toSorted()
    .map((path) => ({ path, text: withoutComments(readFileSync(join(root, path), "utf8")) }));
}

function withoutComments(text: string): string {
  return text.replace(/^\s*\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, "");
}

const EXPORTED = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm;

/** Exported functions, classes and values that no production code uses, as `path name`; also those used only by such. */
export function findUnused(sources: readonly Source[]): string[] {
  const unused = new Set<string>();
  for (let left = sources; ; ) {
    const uses = countWords(left);
    const found = left.flatMap(({ path, text }) =>
      [...text.matchAll(EXPORTED)]
        .map(([, name = ""]) => name)
        .filter((name) => uses.get(name) === 1)
        .map((name) => `${path} ${name}`)
        .filter((one) => !unused.has(one)),
    );
    if (found.length === 0) return [...unused].toSorted();
    for (const one of found) unused.add(one);
    left = withoutNames(left, found);
  }
}

function countWords(sources: readonly Source[]): Map<string, number> {
  const uses = new Map<string, number>();
  for (const { text } of sources) {
    // An import is no use, but for one under another name.
    const code = text.replace(/^import [^;]*;/gm, (all) => (/ as (?!const)/.test(all) ? all : ""));
    for (const [word] of code.matchAll(/[A-Za-z_$][\w$]*/g)) uses.set(word, (uses.get(word) ?? 0) + 1);
  }
  return uses;
}

function withoutNames(sources: readonly Source[], names: readonly string[]): Source[] {
  return sources.map(({ path, text }) => {
    const own = names.filter((one) => one.startsWith(`${path} `)).map((one) => one.slice(path.length + 1));
    return { path, text: own.reduce((code, name) => code.replace(declarationOf(name), ""), text) };
  });
}

/** A declaration at the top of a file ends with the first line that begins with its closing bracket, or on its own. */
function declarationOf(name: string): RegExp {
  return new RegExp(
    String.raw`^export (?:async )?(?:function\*?|const|class) ${name}\b(?:.*;$|[\s\S]*?^[)}\]].*$)`,
    "m",
  );
}

/** Files that only tell of what was written: a word in them is read. */
const READERS = /^src\/(?:domain\/model\/event\.ts|domain\/explain\/|cli\/)/;

/** Of these words, those that some production code hands on or puts into something, and does not only look for. */
export function findWritten(sources: readonly Source[], words: readonly string[]): Set<string> {
  const code = withoutNames(sources, findUnused(sources)).filter(({ path }) => !READERS.test(path));
  return new Set(words.filter((word) => code.some(({ text }) => isWrittenIn(text, word))));
}

function isWrittenIn(text: string, word: string): boolean {
  for (let at = text.indexOf(`"${word}"`); at >= 0; at = text.indexOf(`"${word}"`, at + 1)) {
    const before = text.slice(Math.max(0, at - 400), at);
    if (/(?:case|[!=]==|[|<])\s*$/.test(before)) continue;
    if (/^\s*:/.test(text.slice(at + word.length + 2))) continue; // a key of a table
    if (enclosing(before) !== "[") return true;
  }
  return false;
}

/** The bracket that is open at the end of a text; a list of words is looked through, a call or a value is not. */
function enclosing(before: string): string | undefined {
  let closed = 0;
  for (let at = before.length - 1; at >= 0; at -= 1) {
    const sign = before[at] ?? "";
    if (")]}".includes(sign)) closed += 1;
    else if ("([{".includes(sign)) {
      if (closed === 0) return sign;
      closed -= 1;
    }
  }
  return undefined;
}

/** Of these dotted keys, those whose last word no code outside of the schema mentions: nobody can read such a key. */
export function findUnread(sources: readonly Source[], keys: readonly string[]): string[] {
  const uses = countWords(sources.filter(({ path }) => !/^src\/config\/(?:schema|not-built)\.ts$/.test(path)));
  return keys.filter((key) => !uses.has(key.slice(key.lastIndexOf(".") + 1)));
}
