/**
 * Names that were typed in part. A beginning counts when it tells one thing from another: `goal_` begins every goal's id and
 * names none, however few there are; and `T1` is not a short `T12`, because whoever types a number means that number.
 */

/**
 * The beginnings to look for when somebody typed `word` for an id of the form `<fixed>7ZK3M0QX2A`, in this order; ids are read
 * aloud, so small letters mean capitals, and what all ids begin with may be left out. Empty when nothing distinguishes.
 */
export function beginningsOf(word: string, fixed: string): readonly string[] {
  const typed = word.trim();
  const hasFixed = typed.slice(0, fixed.length).toLowerCase() === fixed.toLowerCase();
  const own = hasFixed ? typed.slice(fixed.length) : typed;
  if (own === "") return [];
  return [...new Set([`${fixed}${own}`, `${fixed}${own.toUpperCase()}`])];
}

/** Whether `word` is a beginning of `name` that says more than `fixed` and cuts no number in two. */
export function isShortFor(word: string, name: string, fixed = ""): boolean {
  if (word.length <= fixed.length || word.length >= name.length || !name.startsWith(word)) return false;
  return !(/\d$/.test(word) && /^\d/.test(name.slice(word.length)));
}

/** A few names in a sentence: `a, b, c and 4 more`. */
export function listSome(names: readonly string[], most = 4): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}
