/** The words after `overseer guard`: which repository, whether only once, and what is passed on to `up`. Pure. */

export interface GuardWords {
  readonly root: string | undefined;
  readonly once: boolean;
  /** A service began it, not a person: a daemon that somebody took down stays down. */
  readonly respectsDown: boolean;
  readonly flags: readonly string[];
}

/** How the guard's program is called by a person, by itself and as part of the single binary. */
const CALLS = ["__daemon-guard", "guard", "run"];

export function readGuardWords(given: readonly string[]): GuardWords {
  // Only in front: a directory of tasks may be called "run".
  const begin = given.findIndex((word) => !CALLS.includes(word));
  const words = begin < 0 ? [] : given.slice(begin);
  const flags: string[] = [];
  let root: string | undefined;
  let once = false;
  let respectsDown = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--once") once = true;
    else if (word === "--respect-down") respectsDown = true;
    else if (word === "--root") {
      at += 1;
      root = words[at];
    } else if (word.startsWith("--root=")) root = word.slice("--root=".length);
    else flags.push(word);
  }
  return { root, once, respectsDown, flags };
}
