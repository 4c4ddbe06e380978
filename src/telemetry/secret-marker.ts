/** The mark that stands where a secret was, and patterns that are compiled when they are first needed. */

export function marker(kind: string): string {
  return `[redacted:${kind}]`;
}

export function isMarker(text: string): boolean {
  return /^\[redacted:[a-z0-9-]{1,40}\]?(?:[\])},;.\s]|\\[nr])*$/.test(text);
}

/** Compiles on first use: a hook that never meets a secret never pays for the patterns. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
