/**
 * File scopes: which paths belong to one agent alone. A scope is a list of repository paths; a directory stands for
 * everything below it, and `*`, `**` and `?` mean what they mean in .gitignore. Two scopes overlap when some path
 * could belong to both; where patterns make that hard to tell, they are taken to overlap, because refusing a sling
 * costs a minute and two agents in one file cost an afternoon.
 */
import type { Decision } from "./refusal.ts";
import { refuse } from "./refusal.ts";

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
export function checkedScope(
  paths: readonly string[],
): { readonly ok: true; readonly scope: readonly string[] } | Extract<Decision<never>, { ok: false }> {
  const scope: string[] = [];
  for (const path of paths) {
    const normal = normalScope(path);
    if (normal === undefined) {
      return refuse(
        "usage",
        "SCOPE_INVALID",
        `"${path.slice(0, 80)}" is not a path inside the repository that an agent may have.`,
        "Give paths relative to the top of the repository, e.g. --files src/parser --files 'docs/*.md'.",
      ) as Extract<Decision<never>, { ok: false }>;
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

/** Could one name match both patterns? Exact for plain names and for one pattern against a name. */
function wordsOverlap(a: string, b: string): boolean {
  const wildA = /[*?[]/.test(a);
  const wildB = /[*?[]/.test(b);
  if (!wildA && !wildB) return a === b;
  if (wildA && wildB) return true;
  return wildA ? matchesWord(a, b) : matchesWord(b, a);
}

/** A pattern of one segment against a name. A bracket is taken to match: see the top. */
function matchesWord(pattern: string, name: string): boolean {
  if (pattern.includes("[")) return true;
  const source = [...pattern].map((sign) => (sign === "*" ? ".*" : sign === "?" ? "." : escaped(sign))).join("");
  return new RegExp(`^${source}$`, "su").test(name);
}

function escaped(sign: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(sign) ? `\\${sign}` : sign;
}

/** True when the path lies inside the scope. */
export function inScope(path: string, scope: readonly string[]): boolean {
  const normal = normalScope(path);
  if (normal === undefined) return false;
  return scope.some((entry) => covers(entry.split("/"), normal.split("/")));
}

function covers(entry: readonly string[], path: readonly string[]): boolean {
  const [head, ...rest] = entry;
  if (head === undefined) return true;
  const [name, ...below] = path;
  if (head === "**") return rest.length === 0 || covers(rest, path) || (name !== undefined && covers(entry, below));
  if (name === undefined) return false;
  const fits = /[*?]/.test(head) ? matchesWord(head, name) : head === name;
  return fits && covers(rest, below);
}
