/**
 * Which of the paths that somebody has changed and not committed a move has something to do with. Two paths meet where
 * they are the same, or where one would have to be a directory for the other. A changed .gitattributes meets all that
 * lies below it: it says how those files are written. Pure.
 */
import { isAttributes } from "./prepared-contents.ts";

export function meetingPaths(
  changed: readonly string[],
  moved: readonly string[],
  { foldCase } = { foldCase: false },
): readonly string[] {
  const nameOf = (path: string) => (foldCase ? path.normalize("NFC").toLowerCase() : path);
  const touched = new Set<string>();
  /** Everything above a path that is moved. */
  const above = new Set<string>([""]);
  for (const path of moved) {
    const name = nameOf(path);
    touched.add(name);
    for (const dir of dirsAbove(name)) above.add(dir);
  }
  return changed.filter((path) => {
    const name = nameOf(path);
    if (touched.has(name) || above.has(name) || dirsAbove(name).some((dir) => touched.has(dir))) return true;
    return (
      isAttributes(name) && moved.length > 0 && above.has(name.slice(0, -".gitattributes".length).replace(/\/$/, ""))
    );
  });
}

/** From the nearest to the farthest. */
function dirsAbove(path: string): string[] {
  const dirs: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) dirs.push(path.slice(0, at));
  return dirs;
}
