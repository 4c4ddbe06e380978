/**
 * A configured command line as a list of words: blanks separate them, quotes hold them together. Nothing else means
 * anything, so no variable, pattern or second command can hide in it, and no shell is ever asked.
 */
export function splitCommandLine(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replace(
      /"([^"]*)"|'([^']*)'/g,
      (_whole, double: string | undefined, single: string | undefined) => double ?? single ?? "",
    ),
  );
}
