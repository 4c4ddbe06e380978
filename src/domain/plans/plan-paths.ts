/** Which paths a task of a model's plan may name: what is there, or what could come to be beside it. */
import { nearest } from "#domain/core/nearest.ts";
import { normalScope, overlap } from "#domain/core/scope.ts";

/** What is there. */
export interface Layout {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

export function layoutOf(tracked: readonly string[]): Layout {
  const folders = new Set<string>();
  for (const path of tracked) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return { files: new Set(tracked), folders };
}

/** So many folders that are not there yet may lead to a new file. */
const MOST_NEW_FOLDERS = 2;
/** A space is never optional between two runs: a name that almost fits would be tried in every possible way. */
const PATH_LIKE = /^[\p{L}\p{N}_.@+$~#()[\]{}=,&!%*?-]+(?: [\p{L}\p{N}_.@+$~#()[\]{}=,&!%*?-]+)*$/u;
const LONGEST_NAME = 100;
/** Patterns are compared with each other: a few stars say what is meant, and many take for ever. */
const MOST_STARS = 3;

/** Why a task cannot have that path, as the rest of a sentence. What is no path at all is told with the rules of every plan. */
export function findPathProblem(file: string, { files, folders }: Layout): string | undefined {
  const path = normalScope(file);
  if (path === undefined) return undefined;
  const parts = path.split("/");
  if (parts.some((part) => canMean(part, ".git")) || canMean(parts[0] ?? "", ".overseer")) {
    return "that is not for agents to change.";
  }
  if (parts.some((part) => part.length > LONGEST_NAME || !PATH_LIKE.test(part)))
    return "that does not look like a path.";
  if (path.split("*").length - 1 > MOST_STARS)
    return `a path has at most ${MOST_STARS} stars; name the folder instead.`;
  const fixed = parts.slice(0, findPattern(parts));
  const whole = fixed.join("/");
  if (fixed.length === 0 || files.has(whole) || folders.has(whole) || files.size === 0) return undefined;
  let there = fixed.length;
  for (; there > 0 && !folders.has(fixed.slice(0, there).join("/")); there -= 1) {
    const before = fixed.slice(0, there).join("/");
    if (files.has(before)) return `${before} is a file, and nothing can lie below it.`;
  }
  const slip = findSlip(fixed, there, { files, folders });
  if (slip !== undefined) return `it is not there. Did you mean ${slip}?`;
  const isPattern = fixed.length < parts.length;
  const newFolders = fixed.length - there - (isPattern ? 0 : 1);
  if (newFolders <= MOST_NEW_FOLDERS) return undefined;
  return `${there === 0 ? "nothing of that path is there" : `only ${fixed.slice(0, there).join("/")} is there`}, and so many new folders are not plausible.`;
}

/** Also by a pattern, as `.gi?` means `.git`; one of stars alone means everything, and so nothing in particular. */
function canMean(part: string, name: string): boolean {
  return !/^\*[*.]*$/.test(part) && overlap([part.toLowerCase()], [name]) !== undefined;
}

function findPattern(parts: readonly string[]): number {
  const at = parts.findIndex((part) => /[*?]/.test(part));
  return at < 0 ? parts.length : at;
}

/** The path that was meant, where one folder's name has a slip and the rest is there under the right one. */
function findSlip(parts: readonly string[], there: number, { files, folders }: Layout): string | undefined {
  const wrong = parts[there];
  if (wrong === undefined || there === parts.length - 1) return undefined;
  const above = parts.slice(0, there).join("/");
  const prefix = above === "" ? "" : `${above}/`;
  const beside = [...folders]
    .filter((folder) => folder.startsWith(prefix) && !folder.slice(prefix.length).includes("/"))
    .map((folder) => folder.slice(prefix.length));
  const meant = nearest(wrong, beside);
  if (meant === undefined) return undefined;
  const path = `${prefix}${[meant, ...parts.slice(there + 1)].join("/")}`;
  return files.has(path) || folders.has(path) ? path : undefined;
}
