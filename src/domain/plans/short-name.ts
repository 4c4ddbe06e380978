/**
 * Names for work that somebody asked for in a sentence: the line that is its title, and a short id of its goal that one
 * can read and type, `goal_add-rate-limiting`. The text has to be redacted before: ids are kept as they are.
 */

/** The first line that says something, as a name may be; empty where there is none. */
export function takeTitle(text: string): string {
  const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
  return line
    .replace(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, 120);
}

const MOST_WORDS = 4;
const MOST_SIGNS = 32;
/** Words that say nothing about which work it is. */
const SMALL_WORDS = new Set(
  "a an and are as at be by can could every for from have in into is it its of on or our please should so some that the their them then there this to up us we with would you your".split(
    " ",
  ),
);

/**
 * The id of a goal for that text, none of those that are taken: `goal_fix-login`, then `goal_fix-login-2`. Undefined
 * where the text has no words of letters an id may have; then any id is as good.
 */
export function nameGoal(text: string, taken: ReadonlySet<string>): string | undefined {
  const words = listWords(takeTitle(text));
  const telling = words.filter((word) => !SMALL_WORDS.has(word));
  let name = "";
  for (const word of (telling.length > 0 ? telling : words).slice(0, MOST_WORDS)) {
    const longer = name === "" ? word.slice(0, MOST_SIGNS) : `${name}-${word}`;
    if (longer.length > MOST_SIGNS) break;
    name = longer;
  }
  if (!/[a-z]/.test(name)) return undefined;
  for (let number = 1; ; number += 1) {
    const id = `goal_${name}${number === 1 ? "" : `-${number}`}`;
    if (!taken.has(id)) return id;
  }
}

/** Small letters without accents; `don't` is one word, and what was redacted is none. */
function listWords(title: string): string[] {
  const plain = title
    .replaceAll(/\[redacted[^\]]*\]/gi, " ")
    .normalize("NFKD")
    .replaceAll(/[\p{M}'’]/gu, "")
    .toLowerCase();
  return plain.match(/[a-z0-9]+/g) ?? [];
}
