/**
 * Moving a checkout forward, all or nothing, and never over what somebody has written before git's own last look; from
 * there until git comes to a file, what is saved into that file is overwritten, as by any pull.
 *
 * What takes long comes first: filters run before anything is touched (prepared-contents.ts), and then it is looked
 * again. The move itself is git's own fast-forward, through a view that has an index of its own (moving-view.ts), while
 * the user's index is locked as git locks it. At its end git moves the branch by compare-and-set, in a hook of the view,
 * and puts the new index in the place of the old one while the branch is locked for that: so it comes to its end, or is
 * taken back, also when we die. What is stopped half-way all the same (a full disk, a kill of git, a power cut) is taken
 * back by the process that began it, or, since each move is noted before it is begun, by the next one.
 *
 * The index goes first, because a user's commit reads the branch before the index, and the index before it locks that.
 * Whoever has read the new branch so finds the new index; whoever has read the old branch is refused by git. The other way
 * round a commit on the new branch was made of the old index, and took out what had landed (docs/decisions/0015).
 *
 * Taken back is only what is certainly ours: a file that is as the new commit has it, the beginning of that, missing or
 * empty. One that is unlike both is somebody's, and stays.
 */

import { dirname, join } from "node:path";
import type { ExecResult } from "#sys/exec.ts";
import { describeMet, findMet, type Obstacle } from "./checkouts.ts";
import { diskFull, type GitTools, LOCK_BACKOFF_MS } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { type CheckoutMove, isCheckedOut, isHeld, type Note, noteOf, putIndex, theirIndex } from "./move-notes.ts";
import { type MovingView, makeMovingView } from "./moving-view.ts";
import { FILTER_TIMEOUT_MS, type Prepared, prepareContents, withIndex } from "./prepared-contents.ts";
import { withScratch } from "./raw-view.ts";
import { changeRefs } from "./refs.ts";
import { branchTip } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { type Entry, entriesBetween, GITLINK } from "./tree-entries.ts";
import { takeBack } from "./undo-move.ts";

/** Unless it is moved, nothing has changed. */
export type Forward =
  | { readonly kind: "moved" }
  /** The branch is not at `from` any more, or not checked out there. */
  | { readonly kind: "lost" }
  | { readonly kind: "in-the-way"; readonly detail: string; readonly files: readonly string[] }
  /** Git would not, or was stopped; `stuck` are files that cannot be put back now, or are somebody's by now. */
  | { readonly kind: "stopped"; readonly said: string; readonly stuck: readonly string[] };

/** Whether something is in the way. */
type Look = () => Promise<Obstacle | undefined>;

/** Files, branch and index. Throws DISK_FULL, with nothing changed either. */
export function moveForward(tools: GitTools, repository: string, move: CheckoutMove, look: Look): Promise<Forward> {
  return moving(tools, repository, move, look, "branch");
}

/** Files and index of a checkout whose branch has been moved already. */
export function moveFiles(tools: GitTools, repository: string, move: CheckoutMove, look: Look): Promise<Forward> {
  return moving(tools, repository, move, look, "files");
}

async function moving(
  tools: GitTools,
  repository: string,
  move: CheckoutMove,
  look: Look,
  takes: "branch" | "files",
): Promise<Forward> {
  const entries = await entriesBetween(tools, repository, move.from, move.to);
  await assertRoom(tools, repository, move, entries);
  return withScratch(tools, repository, async (scratch) => {
    const prepared = await prepareContents(tools, move, entries, scratch);
    if ("failed" in prepared) return { kind: "stopped", said: describeGitFailure(prepared.failed), stuck: [] };
    const obstacle = prepared.files.length === 0 ? undefined : await look();
    if (obstacle) return { kind: "in-the-way", ...obstacle };
    const note: Note = { ...move, lock: `overseer ${tools.ids.next("")}\n`, index: join(scratch, "index") };
    const path = noteOf(repository, move.checkout);
    await tools.files.makeDir(dirname(path));
    await tools.files.write(path, JSON.stringify(note));
    const lock = join(move.gitDir, "index.lock");
    if (!(await takeLock(tools, lock, note.lock ?? ""))) {
      await tools.files.remove(path);
      const detail = `a git is at work in ${move.checkout} or was stopped there: ${lock}; remove it if none runs`;
      return { kind: "in-the-way", detail, files: [] };
    }
    const forward = await underLock(tools, repository, { move, entries, prepared, scratch, note, path, lock, takes });
    if (forward.kind !== "stopped" || forward.stuck.length === 0) await tools.files.remove(path);
    return forward;
  });
}

async function takeLock(tools: GitTools, lock: string, text: string): Promise<boolean> {
  for (const waitMs of LOCK_BACKOFF_MS) {
    if (await tools.files.create(lock, text)) return true;
    await tools.clock.sleep(waitMs);
  }
  return tools.files.create(lock, text);
}

interface Step {
  readonly move: CheckoutMove;
  readonly entries: readonly Entry[];
  readonly prepared: Prepared;
  readonly scratch: string;
  readonly note: Note;
  /** Where the note lies. */
  readonly path: string;
  readonly lock: string;
  readonly takes: "branch" | "files";
}

async function underLock(tools: GitTools, repository: string, step: Step): Promise<Forward> {
  const { move, lock } = step;
  let changed: "nothing" | "files" | "branch" = "nothing";
  try {
    const index = await copyOfIndex(tools, step, "index");
    await copyOfIndex(tools, step, INDEX_BEFORE);
    const other = await otherwise(tools, repository, step, index);
    if (other) {
      await tools.files.remove(lock);
      return other;
    }
    const view = { ...move, repository, index, scratch: step.scratch, prepared: step.prepared };
    const { env, settings } = await makeMovingView(tools, { ...view, ...lastSteps(step, index) });
    changed = "files";
    const options = { cwd: move.checkout, env, timeoutMs: FILTER_TIMEOUT_MS };
    const result = await tools.git.attempt([...settings, ...landingArgs.fastForward(move.to)], options);
    if ((await isDone(tools, repository, step)) || (result.code === 0 && (await takesBranch(tools, step)))) {
      changed = "branch";
      if (await isHeld(tools, lock, step.note)) await putIndex(tools, step.note, lock);
      return { kind: "moved" };
    }
    const stuck = wasRefusedUntouched(result) ? [] : await takeAllBack(tools, repository, step);
    await tools.files.remove(lock);
    return result.code === 0 ? { kind: "lost" } : { kind: "stopped", said: describeGitFailure(result), stuck };
  } catch (error) {
    // With the branch moved, lock and note stay: the next one finds in them what is left to do.
    if (changed === "branch" || (changed === "files" && (await isDone(tools, repository, step)))) throw error;
    const stuck = changed === "files" ? await takeAllBack(tools, repository, step) : [];
    await tools.files.remove(lock);
    if (stuck.length === 0) await tools.files.remove(step.path);
    throw error;
  }
}

/** What git does at the end of the move, as long as each succeeds. */
function lastSteps({ move, takes, lock, path, scratch }: Step, index: string): Pick<MovingView, "after" | "locked"> {
  const put = ["mv", "-f", index, theirIndex(move)];
  const release = ["rm", "-f", path, lock];
  if (takes === "files") return { after: [put, release] };
  const hooks = join(scratch, "branch-hooks");
  return { after: [branchCommand(move, hooks), release], locked: { hooks, step: put } };
}

const INDEX_BEFORE = "index-before";

/** The files, and the index where it was changed already; the lock is still ours. */
async function takeAllBack(tools: GitTools, repository: string, step: Step): Promise<readonly string[]> {
  const { move, entries, scratch, note } = step;
  const before = join(scratch, INDEX_BEFORE);
  const isPut = note.index !== undefined && (await tools.files.facts(note.index)) === undefined;
  if (isPut && (await tools.files.facts(before)) !== undefined) await tools.files.rename(before, theirIndex(move));
  else if (isPut) await tools.files.remove(theirIndex(move));
  return takeBack(tools, repository, move, entries);
}

/** Whether git has brought it to its end, or so far that only the index is wanting. */
async function isDone(tools: GitTools, repository: string, { move, note, lock, takes }: Step): Promise<boolean> {
  if (!(await isHeld(tools, lock, note))) return true;
  return takes === "branch" && (await branchTip(tools, repository, move.branch)) === move.to;
}

/** Where git's hook could not run, index and branch are moved here, in the same order. */
async function takesBranch(tools: GitTools, { move, takes, note }: Step): Promise<boolean> {
  if (takes === "files") return true;
  if (note.index !== undefined && (await tools.files.facts(note.index)) !== undefined)
    await tools.files.rename(note.index, theirIndex(move));
  return takeBranch(tools, move);
}

async function copyOfIndex(tools: GitTools, { move, scratch }: Step, name: string): Promise<string> {
  const [theirs, ours] = [theirIndex(move), join(scratch, name)];
  // A repository in which nothing was ever added has none.
  if ((await tools.files.facts(theirs)) === undefined) return ours;
  await tools.files.copy(theirs, ours);
  const shared = (await tools.files.list(move.gitDir))?.some((name) => name.startsWith("sharedindex."));
  if (shared) await tools.git.attempt(landingArgs.indexUnsplit(), withIndex(move.checkout, ours));
  return ours;
}

/** The last look, with the index locked: nobody switches branches or stages anything now. */
async function otherwise(tools: GitTools, repository: string, step: Step, index: string): Promise<Forward | undefined> {
  const { move } = step;
  const expected = step.takes === "branch" ? move.from : move.to;
  if ((await branchTip(tools, repository, move.branch)) !== expected) return { kind: "lost" };
  if (!(await isCheckedOut(tools, move))) return { kind: "lost" };
  const options = withIndex(move.checkout, index);
  // With the filters as they are, so that git need not ask them about a file that was only touched.
  if (step.prepared.files.length > 0)
    await tools.git.attempt(snapshotArgs.indexRefresh(), { ...options, timeoutMs: FILTER_TIMEOUT_MS });
  const staged = (await tools.git.run(landingArgs.listStaged(move.from), options))
    .split("\0")
    .filter((path) => path !== "");
  const met = await findMet(tools, move.checkout, staged, step.entries);
  if (met.length === 0) return undefined;
  const where = `in ${move.checkout}, where ${move.branch} is checked out`;
  return { kind: "in-the-way", detail: describeMet(where), files: met };
}

/** The same by git's hook, which has git's settings. */
function branchCommand({ gitDir, branch, from, to }: CheckoutMove, hooks: string): string[] {
  const message = `merge ${to}: Fast-forward`;
  return [
    "git",
    "-c",
    `core.hooksPath=${hooks}`,
    `--git-dir=${gitDir}`,
    "update-ref",
    "-m",
    message,
    `refs/heads/${branch}`,
    to,
    from,
  ];
}

/** Asked in the checkout, so that its own log of where it was has it too. */
function takeBranch(tools: GitTools, { checkout, branch, from, to }: CheckoutMove): Promise<boolean> {
  return changeRefs(
    tools.git,
    checkout,
    [{ kind: "update", ref: `refs/heads/${branch}`, from, to }],
    `merge ${to}: Fast-forward`,
  );
}

function describeGitFailure({ signal, stderr }: ExecResult): string {
  return signal === null ? (stderr.trim().split("\n")[0] ?? "") : `it was ended by ${signal}`;
}

/** Git looked at everything first and touched nothing. */
function wasRefusedUntouched({ stderr }: ExecResult): boolean {
  return /would be (overwritten|removed)|would lose untracked files|Not possible to fast-forward/.test(stderr);
}

/** With this much free nobody looks how much is needed. */
const AMPLE_BYTES = 1024 * 1024 * 1024;
/** For git's own files, and what most file systems round a file up to. */
const SPARE_BYTES = 1024 * 1024;
const BLOCK_BYTES = 4096;

async function assertRoom(
  tools: GitTools,
  repository: string,
  move: CheckoutMove,
  changes: readonly Entry[],
): Promise<void> {
  const free = await tools.files.freeBytes(move.checkout);
  if (free >= AMPLE_BYTES) return;
  const written = changes.flatMap(({ now }) => (now && now.mode !== GITLINK ? [now.oid] : []));
  const sizes = await tools.git.run(landingArgs.objectSizes(), { cwd: repository, stdin: `${written.join("\n")}\n` });
  let needed = SPARE_BYTES;
  for (const size of sizes.split("\n")) needed += Math.ceil(Number(size) / BLOCK_BYTES) * BLOCK_BYTES;
  if (needed <= free) return;
  const [need, have] = [needed, free].map((bytes) => `${Math.ceil(bytes / 1024)} KB`);
  throw diskFull(`No space left on the disk for the new files of ${move.checkout}: ${need} needed, ${have} free.`);
}
