/**
 * File scopes: which paths belong to one agent alone. A scope is a list of repository paths; a directory stands for
 * everything below it, and `*`, `**` and `?` mean what they mean in .gitignore. Brackets mean themselves, because
 * `app/[id]/page.tsx` is a file. Two scopes overlap when some path could belong to both; where `**` makes that hard to
 * tell, they are taken to overlap: refusing a sling costs a minute, and two agents in one file cost an afternoon.
 */
import { type Refused, refuse } from "./refusal.ts";

/** The path as it is compared: no `./`, no trailing slash. Undefined when it leaves the repository or names nothing. */
export function normalScope(path: string): string | undefined {
  const parts: string[] = [];
  if (path.startsWith("/") || path.includes("\\") || path.includes("\0")) return undefined;
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") return undefined;
    parts.push(part);
  }
  if (parts.length === 0 || parts[0] === ".git" || parts[0] === ".overseer") return undefined;
  return parts.join("/");
}

/** All of them normal, or the refusal that names the first that is not. */
export function checkScope(
  paths: readonly string[],
): { readonly ok: true; readonly scope: readonly string[] } | Extract<Refused, { ok: false }> {
  const scope: string[] = [];
  for (const path of paths) {
    const normal = normalScope(path);
    if (normal === undefined) {
      return refuse(
        "usage",
        "SCOPE_INVALID",
        `"${path.slice(0, 80)}" is not a path inside the repository that an agent may have.`,
        "Give paths relative to the top of the repository, e.g. --files src/parser --files 'docs/*.md'.",
      ) as Extract<Refused, { ok: false }>;
    }
    if (!scope.includes(normal)) scope.push(normal);
  }
  return { ok: true, scope };
}

/** The first pair that overlaps, or undefined. */
export function overlap(a: readonly string[], b: readonly string[]): readonly [string, string] | undefined {
  for (const left of a) {
    for (const right of b) {
      if (segmentsOverlap(left.split("/"), right.split("/"))) return [left, right];
    }
  }
  return undefined;
}

function segmentsOverlap(a: readonly string[], b: readonly string[]): boolean {
  const [left, ...restA] = a;
  const [right, ...restB] = b;
  // One ends: what it names holds everything below it.
  if (left === undefined || right === undefined) return true;
  if (left === "**" || right === "**") return true;
  return wordsOverlap(left, right) && segmentsOverlap(restA, restB);
}

/** Two patterns with more pairs of places than this are taken to overlap: whoever writes so many wants to be waited for. */
const MOST_PLACES = 4_096;

/** Could one name match both patterns? Exact: every pair of places in the two patterns is looked at once. */
function wordsOverlap(a: string, b: string): boolean {
  if (!isPattern(a)) return isPattern(b) ? fits(b, a) : a === b;
  if (!isPattern(b)) return fits(a, b);
  if (a.length * b.length > MOST_PLACES) return true;
  const [left, right] = [[...a], [...b]];
  // reached[j]: some name matches the first i signs of the one and the first j of the other.
  let reached: boolean[] = Array.from({ length: right.length + 1 }, () => false);
  for (let i = 0; i <= left.length; i += 1) {
    const next: boolean[] = [];
    for (let j = 0; j <= right.length; j += 1) {
      const [x, y] = [left[i - 1], right[j - 1]];
      // A star stands for nothing, or swallows one more sign of the other side.
      const byStar = (x === "*" || y === "*") && (reached[j] === true || next[j - 1] === true);
      const bySign = x !== undefined && y !== undefined && signsMeet(x, y) && reached[j - 1] === true;
      next[j] = (i === 0 && j === 0) || byStar || bySign;
    }
    reached = next;
  }
  return reached[right.length] === true;
}

function signsMeet(x: string, y: string): boolean {
  return x === y || x === "?" || y === "?";
}

function isPattern(word: string): boolean {
  return word.includes("*") || word.includes("?");
}

/** True when the path lies inside the scope. */
export function inScope(path: string, scope: readonly string[]): boolean {
  const normal = normalScope(path);
  if (normal === undefined) return false;
  return scope.some((entry) => covers(entry.split("/"), normal.split("/")));
}

/** As a star in a name: `**` is tried short first, and only the last one has to be lengthened when the rest does not fit. */
function covers(entry: readonly string[], path: readonly string[]): boolean {
  let at = 0;
  let folder = 0;
  let stars = -1;
  let starsAt = 0;
  for (;;) {
    const head = entry[at];
    // What it names holds everything below it.
    if (head === undefined) return true;
    const name = path[folder];
    if (head === "**") {
      stars = at;
      starsAt = folder;
      at += 1;
    } else if (name !== undefined && fits(head, name)) {
      at += 1;
      folder += 1;
    } else if (stars >= 0 && starsAt < path.length) {
      starsAt += 1;
      folder = starsAt;
      at = stars + 1;
    } else return false;
  }
}

/** A pattern of one segment against a name: a star is tried short first and lengthened when the rest does not fit. */
function fits(pattern: string, name: string): boolean {
  const [signs, letters] = [[...pattern], [...name]];
  let at = 0;
  let star = -1;
  let starAt = 0;
  for (let letter = 0; letter < letters.length; ) {
    const sign = signs[at];
    if (sign === "*") {
      star = at;
      starAt = letter;
      at += 1;
    } else if (sign === "?" || (sign !== undefined && sign === letters[letter])) {
      at += 1;
      letter += 1;
    } else if (star >= 0) {
      at = star + 1;
      starAt += 1;
      letter = starAt;
    } else return false;
  }
  return signs.slice(at).every((sign) => sign === "*");
}
