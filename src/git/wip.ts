/**
 * Snapshots of uncommitted work, under `refs/overseer/wip/<assignment>/<n>`. A snapshot is one commit whose tree is
 * the worktree, byte for byte; its first parent is the commit that was checked out, its second a commit whose tree is
 * what was staged. (On a branch without commits the staged one is the only parent.) So any git can show it
 * (`git show <ref>`), nothing of the user's moves, and git keeps the objects as long as the ref stands.
 *
 * Not kept, only listed in the message: ignored files, submodules, files over a limit (50 MB unless set). Bringing one back is
 * wip-restore.ts.
 */
import { OverseerError } from "#errors.ts";
import * as args from "./arguments.ts";
import type { Git, GitTools } from "./git.ts";
import { changeRefs, listRefs } from "./refs.ts";
import { OVERSEER_IDENTITY } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { isAboutMissing, isWhole, MOST_REWRITES, notWhole } from "./whole.ts";
import { type Capture, captureWorktree, type SkippedPath } from "./wip-capture.ts";
import { readWipMessage, type WipNotes, writeWipMessage } from "./wip-message.ts";

export const WIP_PREFIX = "refs/overseer/wip/";
/** How many snapshots of one assignment are kept unless set; the oldest goes first. */
export const WIP_KEPT = 10;

/** How much is kept, as the caller's configuration says. */
export interface WipLimits {
  /** Snapshots of one assignment; the oldest goes first. */
  readonly keep: number;
  /** Larger files are listed in a snapshot but not kept. */
  readonly maxFileBytes: number;
}

export interface WipRef {
  readonly ref: string;
  readonly assignment: string;
  readonly number: number;
  readonly commit: string;
  /** When it was taken; ms. */
  readonly at: number;
}

/** A snapshot read from its commit. */
export interface WipContent extends WipNotes {
  readonly commit: string;
  readonly worktreeTree: string;
}

export interface WipRequest {
  readonly worktree: string;
  readonly assignment: string;
  /** Refuses a worktree of any other repository. */
  readonly expectedCommonDir?: string;
  /** Refs of this assignment that must survive the pruning of old ones. */
  readonly protect?: readonly string[];
  readonly limits?: WipLimits;
}

export type WipOutcome =
  /** Files and index are exactly as committed: there is nothing to keep. */
  | { readonly kind: "clean"; readonly head: string; readonly notKept: readonly SkippedPath[] }
  /** "same": the last snapshot already holds exactly this. */
  | {
      readonly kind: "saved" | "same";
      readonly ref: string;
      readonly commit: string;
      readonly notKept: readonly SkippedPath[];
      readonly conflicts: readonly string[];
    };

/**
 * Keeps what is uncommitted in a worktree. May be called at any time and twice: equal content makes no second
 * snapshot. What somebody's git gc took away in between is written again. Throws NOT_THE_WORKTREE or WORKTREE_MISSING
 * (nothing to keep there), DISK_FULL, GIT_FAILED, NOT_KEPT_WHOLE; then no ref was written. Never changes HEAD, index, files, or their times.
 */
export async function snapshotWip(tools: GitTools, request: WipRequest): Promise<WipOutcome> {
  assertAssignment(request.assignment);
  for (let round = 1; round <= MOST_REWRITES; round += 1) {
    try {
      const { outcome, cwd, head } = await snapshotOnce(tools, request);
      if (outcome.kind === "clean" || (await isWhole(tools, cwd, outcome.commit, head))) return outcome;
      await changeRefs(tools.git, cwd, [{ kind: "delete", ref: outcome.ref, from: outcome.commit }]);
    } catch (error) {
      if (!isAboutMissing(error)) throw error;
    }
  }
  throw notWhole(`The uncommitted work in ${request.worktree}`);
}

interface Taken {
  readonly outcome: WipOutcome;
  readonly cwd: string;
  readonly head: string | undefined;
}

async function snapshotOnce(tools: GitTools, request: WipRequest): Promise<Taken> {
  const capture = await captureWorktree(tools, {
    path: request.worktree,
    expectedCommonDir: request.expectedCommonDir,
    maxFileBytes: request.limits?.maxFileBytes,
  });
  return keepCapture(tools, request, capture);
}

/** Gives a capture its number, unless the last snapshot of the assignment holds exactly that, or there is nothing to keep. */
export async function keepCapture(
  tools: GitTools,
  request: Pick<WipRequest, "assignment" | "protect" | "limits">,
  capture: Capture,
): Promise<Taken> {
  const notKept = capture.skipped;
  const { head, commonDir: cwd } = capture.worktree;
  if (head !== undefined && (await isAsCommitted(tools.git, capture, head))) {
    return { outcome: { kind: "clean", head, notKept }, cwd, head };
  }
  for (;;) {
    const known = await listWip(tools.git, { cwd, assignment: request.assignment });
    const last = known.at(-1);
    if (last !== undefined && (await holdsExactly(tools.git, cwd, last.commit, capture))) {
      const { ref, commit } = last;
      return { outcome: { kind: "same", ref, commit, notKept, conflicts: capture.conflicts }, cwd, head };
    }
    const number = (last?.number ?? 0) + 1;
    const ref = `${WIP_PREFIX}${request.assignment}/${number}`;
    const commit = await commitCapture(tools, capture, `Work in progress of ${request.assignment}, ${number}`);
    // Somebody else may have taken this number meanwhile; then theirs is the last one, and we look again.
    if (!(await changeRefs(tools.git, cwd, [{ kind: "create", ref, to: commit }]))) continue;
    const kept = { protect: request.protect ?? [], keep: request.limits?.keep ?? WIP_KEPT };
    await dropOldest(tools.git, cwd, [...known, { ref, commit }], kept);
    return { outcome: { kind: "saved", ref, commit, notKept, conflicts: capture.conflicts }, cwd, head };
  }
}

/** Snapshots of one assignment or of all, oldest first. Empty when there are none. */
export async function listWip(git: Git, place: { cwd: string; assignment?: string }): Promise<WipRef[]> {
  if (place.assignment !== undefined) assertAssignment(place.assignment);
  const entries = await listRefs(git, place.cwd, WIP_PREFIX + (place.assignment ?? ""));
  return entries
    .flatMap(({ ref, oid, at }) => {
      const [assignment, number, ...rest] = ref.slice(WIP_PREFIX.length).split("/");
      if (assignment === undefined || !/^\d+$/.test(number ?? "") || rest.length > 0) return [];
      return [{ ref, assignment, number: Number(number), commit: oid, at }];
    })
    .sort((a, b) => (a.assignment === b.assignment ? a.number - b.number : a.assignment < b.assignment ? -1 : 1));
}

/** In how many files each differs from what was checked out; those that git cannot tell are left out. */
export async function countWipFiles(git: Git, cwd: string, commits: readonly string[]): Promise<Map<string, number>> {
  if (commits.length === 0) return new Map();
  const stdin = `${commits.join("\n")}\n`;
  const { code, stdout } = await git.attempt(snapshotArgs.listFilesOfCommits(), { cwd, stdin });
  if (code !== 0) return new Map();
  return new Map(
    stdout.split("\0").flatMap((part): [string, number][] => {
      const [commit = "", ...files] = part.split("\n").filter((line) => line !== "");
      return commit === "" ? [] : [[commit, files.length]];
    }),
  );
}

/** What a snapshot holds. Throws `not-found` WIP_MISSING when the ref is gone or names something else. */
export async function readWip(git: Git, place: { cwd: string; ref: string }): Promise<WipContent> {
  const resolved = await git.attempt(args.resolveCommitArguments(place.ref), { cwd: place.cwd });
  const commit = resolved.stdout.trim();
  if (resolved.code === 0 && commit !== "") {
    const content = parseWipCommit(commit, await git.run(snapshotArgs.commitText(commit), { cwd: place.cwd }));
    if (content !== undefined) return content;
    const branch = `These are commits: 'git branch <name> ${place.ref}' brings them back.`;
    throw new OverseerError("not-found", "WIP_MISSING", `${place.ref} is no snapshot of files.`, branch);
  }
  const hint = "'overseer worktree restore' shows the snapshots there are.";
  throw new OverseerError("not-found", "WIP_MISSING", `There is no snapshot ${place.ref}.`, hint);
}

/** Drops all but the newest `keep` snapshots of an assignment; returns those dropped. Repeatable; missing is fine. */
export async function pruneWip(git: Git, place: { cwd: string; assignment: string; keep: number }): Promise<WipRef[]> {
  const known = await listWip(git, place);
  const dropped = known.slice(0, Math.max(0, known.length - place.keep));
  // One by one: a ref that somebody else dropped first must not keep the others alive.
  for (const { ref, commit } of dropped) await changeRefs(git, place.cwd, [{ kind: "delete", ref, from: commit }]);
  return dropped;
}

/** A commit that holds a capture, not yet named by any ref. Also what a recovery ref of a dirty worktree points to. */
export async function commitCapture(
  tools: GitTools,
  capture: Capture,
  subject: string,
  /** Of which repository inside a worktree it is, if of one. */
  inside?: WipNotes["inside"],
): Promise<string> {
  const { git, clock } = tools;
  const { head, branchRef, commonDir } = capture.worktree;
  const date = `${Math.floor(clock.now() / 1000)} +0000`;
  const env = {
    GIT_AUTHOR_NAME: OVERSEER_IDENTITY.name,
    GIT_AUTHOR_EMAIL: OVERSEER_IDENTITY.email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: OVERSEER_IDENTITY.name,
    GIT_COMMITTER_EMAIL: OVERSEER_IDENTITY.email,
    GIT_COMMITTER_DATE: date,
  };
  const parents = head === undefined ? [] : [head];
  const options = { cwd: commonDir, env };
  const staged = await git.run(snapshotArgs.commitTree(capture.indexTree, parents), {
    ...options,
    stdin: `${subject}: what was staged\n`,
  });
  const message = writeWipMessage(subject, { ...capture, head, branchRef, inside });
  const commit = await git.run(snapshotArgs.commitTree(capture.worktreeTree, [...parents, staged.trim()]), {
    ...options,
    stdin: message,
  });
  return commit.trim();
}

export function parseWipCommit(commit: string, text: string): WipContent | undefined {
  const body = text.indexOf("\n\n");
  const tree = /^tree ([0-9a-f]+)$/m.exec(text.slice(0, body))?.[1];
  const notes = readWipMessage(text.slice(body + 2));
  return tree === undefined || notes === undefined ? undefined : { ...notes, commit, worktreeTree: tree };
}

export function assertAssignment(assignment: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(assignment)) return;
  const hint = "Assignments look like A_7ZK3M0QX2A; `overseer agents` shows them.";
  throw new OverseerError("usage", "ASSIGNMENT_INVALID", `"${assignment}" is not the id of an assignment.`, hint);
}

/** True when files and index are exactly what `head` holds. */
export async function isAsCommitted(git: Git, capture: Capture, head: string): Promise<boolean> {
  if (capture.conflicts.length > 0 || capture.intents.length > 0) return false;
  if (capture.indexTree !== capture.worktreeTree) return false;
  const tree = await git.run(snapshotArgs.resolveTree(head), { cwd: capture.worktree.commonDir });
  return tree.trim() === capture.worktreeTree;
}

async function holdsExactly(git: Git, cwd: string, commit: string, capture: Capture): Promise<boolean> {
  const content = parseWipCommit(commit, await git.run(snapshotArgs.commitText(commit), { cwd }));
  return (
    content !== undefined &&
    content.worktreeTree === capture.worktreeTree &&
    content.indexTree === capture.indexTree &&
    content.head === capture.worktree.head &&
    content.intents.join("\n") === capture.intents.join("\n") &&
    content.conflicts.join("\n") === capture.conflicts.join("\n")
  );
}

async function dropOldest(
  git: Git,
  cwd: string,
  known: readonly { ref: string; commit: string }[],
  { protect, keep }: { readonly protect: readonly string[]; readonly keep: number },
): Promise<void> {
  for (const { ref, commit } of known.slice(0, Math.max(0, known.length - keep))) {
    if (!protect.includes(ref)) await changeRefs(git, cwd, [{ kind: "delete", ref, from: commit }]);
  }
}
