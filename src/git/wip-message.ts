/**
 * The text of a snapshot's commit: one sentence for people, then one line per fact, each with a path in git's quoted
 * form at its end. It is the only record of what the two trees cannot say: which commit was checked out, what was not
 * kept, what was conflicted. Pure; what `writeWipMessage` wrote, `readWipMessage` reads.
 */
import type { QuotedPath } from "./quoted-path.ts";
import type { SkippedPath, SkipReason } from "./wip-capture.ts";

export interface WipNotes {
  /** What was checked out; undefined on a branch without commits. */
  readonly head?: string;
  /** The full ref; undefined when detached. */
  readonly branchRef?: string;
  readonly indexTree: string;
  readonly skipped: readonly SkippedPath[];
  readonly conflicts: readonly QuotedPath[];
  readonly intents: readonly QuotedPath[];
  /** Of a repository inside a worktree: where it lay, and whether the commit it had checked out is nowhere else. */
  readonly inside?: { readonly path: QuotedPath; readonly ownCommits: boolean };
  /** Ignored paths beyond those listed. */
  readonly ignoredMore: number;
}

/** Ignored directories are listed as one line each, yet a build can leave thousands of single files. */
export const LISTED_IGNORED = 200;

const REASONS: readonly SkipReason[] = ["ignored", "submodule", "repository", "large", "unreadable", "special"];

export function writeWipMessage(subject: string, notes: Omit<WipNotes, "ignoredMore">): string {
  const ignored = notes.skipped.filter((each) => each.reason === "ignored");
  const others = notes.skipped.filter((each) => each.reason !== "ignored");
  const lines = [
    `Overseer-Head: ${notes.head ?? "none"}`,
    ...(notes.branchRef === undefined ? [] : [`Overseer-Branch: ${notes.branchRef}`]),
    `Overseer-Index-Tree: ${notes.indexTree}`,
    ...(notes.inside ? [`Overseer-Inside: ${notes.inside.ownCommits ? "commits" : "files"} ${notes.inside.path}`] : []),
    ...notes.conflicts.map((path) => `Overseer-Conflict: ${path}`),
    ...notes.intents.map((path) => `Overseer-Intent: ${path}`),
    ...others.map((each) => `Overseer-Not-Kept: ${each.reason} ${each.path}`),
    ...ignored.slice(0, LISTED_IGNORED).map((each) => `Overseer-Not-Kept: ignored ${each.path}`),
    ...(ignored.length > LISTED_IGNORED ? [`Overseer-Ignored-More: ${ignored.length - LISTED_IGNORED}`] : []),
  ];
  return `${subject}\n\n${lines.join("\n")}\n`;
}

/** Undefined when the text is not a snapshot's. */
export function readWipMessage(message: string): WipNotes | undefined {
  const values = new Map<string, string[]>();
  for (const line of message.split("\n")) {
    const found = /^Overseer-([A-Za-z-]+): (.*)$/.exec(line);
    if (found?.[1] === undefined || found[2] === undefined) continue;
    values.set(found[1], [...(values.get(found[1]) ?? []), found[2]]);
  }
  const head = values.get("Head")?.[0];
  const indexTree = values.get("Index-Tree")?.[0];
  if (head === undefined || indexTree === undefined) return undefined;
  const inside = /^(commits|files) (.+)$/.exec(values.get("Inside")?.[0] ?? "");
  return {
    ...(inside?.[2] === undefined ? {} : { inside: { path: inside[2], ownCommits: inside[1] === "commits" } }),
    head: head === "none" ? undefined : head,
    branchRef: values.get("Branch")?.[0],
    indexTree,
    skipped: (values.get("Not-Kept") ?? []).flatMap(readSkipped),
    conflicts: values.get("Conflict") ?? [],
    intents: values.get("Intent") ?? [],
    ignoredMore: Number(values.get("Ignored-More")?.[0] ?? 0),
  };
}

function readSkipped(text: string): SkippedPath[] {
  const space = text.indexOf(" ");
  const reason = REASONS.find((each) => each === text.slice(0, space));
  return reason === undefined ? [] : [{ reason, path: text.slice(space + 1) }];
}
