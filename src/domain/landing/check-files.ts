/**
 * The files that a check's command names, as in `sh check.sh` or `node scripts/test.mjs`: whoever changes them changes
 * what judges the work, so they are protected without anybody having to say so. Only words that are a path count, seen
 * from the top of the repository or from where a `cd` before them leads; what a variable, a pattern or a directory
 * stands for does not, nor what `test` and `[` look at, which is what is judged. Which of them are files is git's to say.
 */
import { normalScope } from "#domain/core/scope.ts";
import { shellCommands } from "#domain/core/shell-words.ts";

/** Relative paths without `./` and `..`, each once. */
export function filesNamedBy(command: string, nesting = 0): string[] {
  const found = new Set<string>();
  let place = "";
  for (const { words, redirects } of shellCommands(command)) {
    const [program, ...operands] = words;
    if (program?.text === "cd") {
      place = normalizePath(place, operands[0]?.text ?? "") ?? place;
      continue;
    }
    const looksOnly = program?.text === "test" || program?.text === "[";
    const inputs = redirects.filter(({ op }) => op === "<").map(({ target }) => target);
    for (const word of [...(looksOnly ? [] : words), ...inputs]) {
      if (word.expands) continue;
      // `sh -c 'sh check.sh'`: a command line in a word.
      if (/\s/.test(word.text) && nesting < 2)
        for (const inner of filesNamedBy(word.text, nesting + 1)) found.add(inner);
      const value = /^--?[\w-]+=(.+)$/s.exec(word.text)?.[1] ?? word.text;
      const path = value.startsWith("-") ? undefined : normalizePath(place, value);
      if (path !== undefined) found.add(path);
    }
  }
  return [...found];
}

/** Undefined when it leaves the repository, or is none of its paths. */
function normalizePath(place: string, path: string): string | undefined {
  if (path.startsWith("/")) return undefined;
  const parts: string[] = [];
  for (const part of `${place}/${path}`.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return normalScope(parts.join("/"));
}
