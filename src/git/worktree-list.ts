/**
 * What `git worktree list --porcelain` says, as values; with -z where git has it (2.36), in lines otherwise. Pure.
 */

export interface WorktreeEntry {
  readonly path: string;
  /** Undefined for a bare repository or a branch without commits. */
  readonly head?: string;
  /** The full ref, `refs/heads/…`; undefined when detached or bare. */
  readonly branch?: string;
  readonly bare: boolean;
  readonly detached: boolean;
  /** The reason given, "" when none was; undefined when not locked. */
  readonly locked?: string;
  /** Why git would prune it; undefined when it would not. */
  readonly prunable?: string;
}

export function parseWorktreeList(output: string): WorktreeEntry[] {
  const separator = output.includes("\0") ? "\0" : "\n";
  return output
    .split(separator + separator)
    .map((block) => block.split(separator).filter((line) => line !== ""))
    .filter((lines) => lines.length > 0)
    .map(parseEntry);
}

function parseEntry(lines: readonly string[]): WorktreeEntry {
  const values = new Map<string, string>();
  for (const line of lines) {
    const space = line.indexOf(" ");
    if (space < 0) values.set(line, "");
    else values.set(line.slice(0, space), line.slice(space + 1));
  }
  const head = values.get("HEAD");
  return {
    path: values.get("worktree") ?? "",
    head: head === undefined || /^0+$/.test(head) ? undefined : head,
    branch: values.get("branch"),
    bare: values.has("bare"),
    detached: values.has("detached"),
    locked: values.get("locked"),
    prunable: values.get("prunable"),
  };
}
