/**
 * Path arithmetic for the hot path: POSIX, on text only, never touching the disk. It exists because node:path would be
 * loaded by every hook; rooms that are not hot use node:path.
 */

/** Something in it is empty, a dot, or two. */
const NEEDS_WORK = /\/(?:\.{0,2})(?:\/|$)/;

/** `path` seen from `base` (absolute), without `.`, `..`, doubled or trailing slashes. */
export function resolvePath(base: string, path: string): string {
  if (path.startsWith("/") && path.length > 1 && !NEEDS_WORK.test(path)) return path;
  const kept: string[] = [];
  for (const segment of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  return `/${kept.join("/")}`;
}

/** The directory above; the top is its own parent. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** True for the directory itself and everything below it. Both must be absolute and normal. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}
