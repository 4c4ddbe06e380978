/**
 * Moving a checkout forward, all or nothing, and never over what somebody has written before git's own last look; from
 * there until git comes to a file, what is saved into that file is overwritten, as by any pull.
 *
 * What takes long comes first: filters run before anything is touched (prepared-contents.ts), and then it is looked
 * again. The move itself is git's own fast-forward, through a view that has an index of its own (moving-view.ts), while
 * the user's index is locked as git locks it. At its end git moves the branch by compare-and-set and puts the new index
 * in the place of the old one, in a hook of the view: so it comes to its end, or is taken back, also when we die. What
 * is stopped half-way all the same (a full disk, a kill of git, a power cut) is taken back by the process that began it,
 * or, since each move is noted before it is begun, by the next one.
 *
 * Taken back is only what is certainly ours: a file that is as the new commit has it, the beginning of that, missing or
 * empty. One that is unlike both is somebody's, and stays.
 */
import { basename, dirname, join } from "node:path";
import type { ExecResult } from "#sys/exec.ts";
import type { FileFacts } from "#sys/files.ts";
import * as args from "./arguments.ts";
import type { Obstacle } from "./checkouts.ts";
import { diskFull, type GitRunOptions, type GitTools, LOCK_BACKOFF_MS } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { makeMovingView } from "./moving-view.ts";
import { FILTER_TIMEOUT_MS, type Prepared, prepareContents, withIndex } from "./prepared-contents.ts";
import { withScratch } from "./raw-view.ts";
import { changeRefs } from "./refs.ts";
import { branchTip, within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { type Entry, entriesBetween, GITLINK, type Version } from "./tree-entries.ts";

export interface CheckoutMove {
  readonly checkout: string;
  /** The checkout's own git dir. */
  readonly gitDir: string;
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

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

/** What is written down before a move is begun. */
interface Note extends CheckoutMove {
  /** What our lock of the user's index holds. */
  readonly lock?: string;
  /** The index that takes the place of the user's; while git works on it, a lock is beside it. */
  readonly index?: string;
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
  const { move, entries, lock } = step;
  let changed: "nothing" | "files" | "branch" = "nothing";
  try {
    const index = await copyOfIndex(tools, step);
    const other = await otherwise(tools, repository, step, index);
    if (other) {
      await tools.files.remove(lock);
      return other;
    }
    const view = { ...move, repository, index, scratch: step.scratch, prepared: step.prepared };
    const { env, settings } = await makeMovingView(tools, { ...view, after: lastSteps(step, index) });
    changed = "files";
    const options = { cwd: move.checkout, env, timeoutMs: FILTER_TIMEOUT_MS };
    const result = await tools.git.attempt([...settings, ...landingArgs.fastForward(move.to)], options);
    if ((await isDone(tools, repository, step)) || (result.code === 0 && (await takesBranch(tools, step)))) {
      changed = "branch";
      if (await isHeld(tools, lock, step.note)) await putIndex(tools, step.note, lock);
      return { kind: "moved" };
    }
    const stuck = wasRefusedUntouched(result) ? [] : await takeBack(tools, repository, move, entries);
    await tools.files.remove(lock);
    return result.code === 0 ? { kind: "lost" } : { kind: "stopped", said: describeGitFailure(result), stuck };
  } catch (error) {
    // With the branch moved, lock and note stay: the next one finds in them what is left to do.
    if (changed === "branch" || (changed === "files" && (await isDone(tools, repository, step)))) throw error;
    const stuck = changed === "files" ? await takeBack(tools, repository, move, entries) : [];
    await tools.files.remove(lock);
    if (stuck.length === 0) await tools.files.remove(step.path);
    throw error;
  }
}

/** What git does at the end of the move, as long as each succeeds. */
function lastSteps({ move, takes, lock, path }: Step, index: string): string[][] {
  const branch = takes === "branch" ? [branchCommand(move)] : [];
  return [...branch, ["mv", "-f", index, theirIndex(move)], ["rm", "-f", path, lock]];
}

/** Whether git has brought it to its end, or so far that only the index is wanting. */
async function isDone(tools: GitTools, repository: string, { move, note, lock, takes }: Step): Promise<boolean> {
  if (!(await isHeld(tools, lock, note))) return true;
  return takes === "branch" && (await branchTip(tools, repository, move.branch)) === move.to;
}

/** Where git's hook could not run, the branch is moved here. */
async function takesBranch(tools: GitTools, { move, takes }: Step): Promise<boolean> {
  return takes === "files" || takeBranch(tools, move);
}

/** Whether the index is locked, and by this move. */
async function isHeld(tools: GitTools, lock: string, note: Note): Promise<boolean> {
  return note.lock !== undefined && (await tools.files.read(lock)) === note.lock;
}

/** Whoever moves the branch has it looked at by the index last. Repeatable. */
async function putIndex(tools: GitTools, { gitDir, index }: Note, lock: string): Promise<void> {
  const made = index !== undefined && (await tools.files.facts(index)) !== undefined;
  if (made) await tools.files.rename(index, join(gitDir, "index"));
  await tools.files.remove(lock);
}

async function copyOfIndex(tools: GitTools, { move, scratch }: Step): Promise<string> {
  const [theirs, ours] = [theirIndex(move), join(scratch, "index")];
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
  const unlike = await tools.git.attempt(landingArgs.indexUnlike(move.from), options);
  if (unlike.code === 0) return undefined;
  const where = `in ${move.checkout}, where ${move.branch} is checked out`;
  return { kind: "in-the-way", detail: `there are staged changes ${where}`, files: [] };
}

async function isCheckedOut(tools: GitTools, { checkout, branch }: CheckoutMove): Promise<boolean> {
  const head = await tools.git.attempt(args.symbolicRef("HEAD"), within(checkout));
  return head.stdout.trim() === `refs/heads/${branch}`;
}

function theirIndex({ gitDir }: CheckoutMove): string {
  return join(gitDir, "index");
}

/** The same by git's hook, which has git's settings. */
function branchCommand({ gitDir, branch, from, to }: CheckoutMove): string[] {
  const message = `merge ${to}: Fast-forward`;
  return ["git", `--git-dir=${gitDir}`, "update-ref", "-m", message, `refs/heads/${branch}`, to, from];
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

/** Whether a move was begun by somebody who did not come to its end, or is at it now. */
export async function isMoveNoted(tools: GitTools, repository: string): Promise<boolean> {
  return ((await tools.files.list(notesIn(repository))) ?? []).length > 0;
}

/**
 * Takes back what somebody left half-way, or brings to its end what only wanted its index. Only for whoever is alone in
 * moving branches. Repeatable; what cannot be put back yet keeps its note, and until then it counts as what it looks
 * like, a change that is not committed.
 */
export async function settleNotedMoves(tools: GitTools, repository: string): Promise<void> {
  for (const name of (await tools.files.list(notesIn(repository))) ?? []) {
    const path = join(notesIn(repository), name);
    const written = parseNote(await tools.files.read(path));
    const note = written && (await relocateNote(tools, repository, written));
    const there = note !== undefined && (await tools.files.facts(note.checkout)) !== undefined;
    if (!there || (await settle(tools, repository, note))) await tools.files.remove(path);
  }
}

/** The note as it reads where the repository is now; undefined when it is about a checkout of the one it was copied from. */
async function relocateNote(tools: GitTools, repository: string, note: Note): Promise<Note | undefined> {
  const before = note.gitDir.replace(/\/worktrees\/[^/]+$/, "");
  if (before === repository) return note;
  const project = (gitDir: string) => (basename(gitDir) === ".git" ? dirname(gitDir) : gitDir);
  const [from, to] = [project(before), project(repository)];
  const isWithin = (path: string) => path === from || path.startsWith(`${from}/`);
  const follow = (path: string) => (isWithin(path) ? `${to}${path.slice(from.length)}` : path);
  if (!isWithin(note.checkout)) {
    const [there, here] = [await tools.files.facts(before), await tools.files.facts(repository)];
    if (there !== undefined && there.inode !== here?.inode) return undefined;
  }
  const index = note.index === undefined ? {} : { index: follow(note.index) };
  return { ...note, ...index, checkout: follow(note.checkout), gitDir: follow(note.gitDir) };
}

/** True when nothing is left of it. */
async function settle(tools: GitTools, repository: string, note: Note): Promise<boolean> {
  const lock = join(note.gitDir, "index.lock");
  const ours = await isHeld(tools, lock, note);
  const held = ours || (await tools.files.facts(lock)) !== undefined;
  // Whoever began it may be dead and its git still at it; that one holds our index, or the user's, until it is done.
  if (held && (!ours || (await isAtWork(tools, note)))) return false;
  const tip = await branchTip(tools, repository, note.branch);
  const here = await isCheckedOut(tools, note);
  if (ours && tip === note.to) await putIndex(tools, note, lock);
  const entries = await entriesBetween(tools, repository, note.from, note.to);
  const stuck =
    tip !== note.to && (ours || (here && tip === note.from)) ? await takeBack(tools, repository, note, entries) : [];
  if (ours) await tools.files.remove(lock);
  if (here && tip === note.to) await indexTo(tools, note.checkout, entries, "now");
  if (here && tip === note.from) await indexTo(tools, note.checkout, entries, "was");
  return stuck.length === 0;
}

async function isAtWork(tools: GitTools, { index }: Note): Promise<boolean> {
  return index !== undefined && (await tools.files.facts(`${index}.lock`)) !== undefined;
}

function notesIn(repository: string): string {
  return join(repository, "overseer", "moving");
}

/** One for each checkout, so that one that cannot be put back yet is not forgotten over another. */
function noteOf(repository: string, checkout: string): string {
  const name = new Bun.CryptoHasher("sha256").update(checkout).digest("hex").slice(0, 16);
  return join(notesIn(repository), `${name}.json`);
}

/** Undefined for a note that was not written to its end: then nothing was moved yet. */
function parseNote(text: string | undefined): Note | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Note);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
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

/** The files as they were, of those that are ours. Answers with the ones that could not be, or that are somebody's. */
async function takeBack(
  tools: GitTools,
  repository: string,
  { checkout }: CheckoutMove,
  entries: readonly Entry[],
): Promise<readonly string[]> {
  return withScratch(tools, repository, async (scratch) => {
    const [before, after] = [join(scratch, "before"), join(scratch, "after")];
    const unlikeBefore = await differing(tools, checkout, before, versions(entries, "was"));
    const unlikeAfter = await differing(tools, checkout, after, versions(entries, "now"));
    const back: Entry[] = [];
    const stuck: string[] = [];
    for (const entry of entries) {
      const { path, was, now } = entry;
      if (await isAsBefore(tools, checkout, entry, unlikeBefore)) continue;
      const arrived = now !== undefined && now.mode !== GITLINK && !unlikeAfter.has(path);
      const hasBegun = async () => isBegun(tools, { checkout, scratch, after }, entry);
      if (arrived || (await isEmptyOrGone(tools, checkout, entry)) || (await hasBegun())) back.push(entry);
      // A new submodule is an empty directory; whatever lies in it since is not ours.
      else if (was || now?.mode !== GITLINK) stuck.push(path);
    }
    for (const { path, was } of back) if (!was || was.mode === GITLINK) await removeFile(tools, checkout, path);
    const wanted: string[] = [];
    for (const { path, was } of back) {
      if (!was) continue;
      // Git would put directories in the place of a link that somebody has made above it.
      if (!(await isReached(tools, checkout, path))) stuck.push(path);
      else if (was.mode === GITLINK) await tools.files.makeDir(join(checkout, path));
      // A directory in which something has been put since is not removed for it.
      else if (await isFullDirectory(tools, join(checkout, path))) stuck.push(path);
      else wanted.push(path);
    }
    return [...stuck, ...(await writeFromIndex(tools, wanted, withFilters(checkout, before)))];
  });
}

async function isAsBefore(
  tools: GitTools,
  checkout: string,
  { path, was, now }: Entry,
  unlikeBefore: ReadonlySet<string>,
): Promise<boolean> {
  if (was && was.mode !== GITLINK) return !unlikeBefore.has(path);
  const facts = await factsBelow(tools, checkout, path);
  if (was) return facts?.kind === "directory";
  // Git makes no directory of that name: one that is there is somebody's, and a new file has not arrived.
  return facts === undefined || (facts.kind === "directory" && now?.mode !== GITLINK);
}

/** Whether nothing but directories leads there; through a link it would be another place. */
async function isReached(tools: GitTools, checkout: string, path: string): Promise<boolean> {
  const parts = path.split("/").slice(0, -1);
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const facts = await tools.files.facts(join(checkout, ...parts.slice(0, depth)));
    if (facts === undefined) return true;
    if (facts.kind !== "directory") return false;
  }
  return true;
}

async function factsBelow(tools: GitTools, checkout: string, path: string): Promise<FileFacts | undefined> {
  return (await isReached(tools, checkout, path)) ? tools.files.facts(join(checkout, path)) : undefined;
}

/** Git was stopped in the middle of writing this file: what is there is the beginning of it. */
async function isBegun(
  tools: GitTools,
  { checkout, scratch, after }: { readonly checkout: string; readonly scratch: string; readonly after: string },
  { path, now }: Entry,
): Promise<boolean> {
  const facts = await factsBelow(tools, checkout, path);
  if (facts?.kind !== "file" || !now?.mode.startsWith("100")) return false;
  const whole = join(scratch, "whole");
  const options = { ...withFilters(checkout, after), stdin: `${path}\0` };
  const made = await tools.git.attempt(landingArgs.checkoutBelow(whole), options);
  if (made.code !== 0 || (await tools.files.facts(join(whole, path)))?.kind !== "file") return false;
  return tools.files.isBeginningOf(join(checkout, path), join(whole, path));
}

async function isFullDirectory(tools: GitTools, path: string): Promise<boolean> {
  if ((await tools.files.facts(path))?.kind !== "directory") return false;
  return ((await tools.files.list(path)) ?? []).length > 0;
}

function withFilters(checkout: string, index: string): GitRunOptions {
  return { ...withIndex(checkout, index), timeoutMs: FILTER_TIMEOUT_MS };
}

/** All at once, and where that fails one by one, so that one filter does not keep the others away. */
async function writeFromIndex(tools: GitTools, paths: readonly string[], options: GitRunOptions): Promise<string[]> {
  if (paths.length === 0) return [];
  const stdin = paths.map((path) => `${path}\0`).join("");
  if ((await tools.git.attempt(landingArgs.checkoutFromIndex(), { ...options, stdin })).code === 0) return [];
  const stuck: string[] = [];
  for (const path of paths) {
    const alone = await tools.git.attempt(landingArgs.checkoutFromIndex(), { ...options, stdin: `${path}\0` });
    if (alone.code !== 0) stuck.push(path);
  }
  return stuck;
}

/** A directory that holds something is no reason to stop yet: it may be ours, and gone when its files are. */
async function isEmptyOrGone(tools: GitTools, checkout: string, { path, was }: Entry): Promise<boolean> {
  const facts = await factsBelow(tools, checkout, path);
  if (facts?.kind === "directory") return was !== undefined || !(await isFullDirectory(tools, join(checkout, path)));
  return facts === undefined || (facts.kind === "file" && facts.size === 0);
}

function versions(entries: readonly Entry[], which: "was" | "now"): string[] {
  return entries.flatMap((entry) => {
    const version = entry[which];
    return version && version.mode !== GITLINK ? [`${version.mode} ${version.oid} 0\t${entry.path}\0`] : [];
  });
}

/** Which of these the checkout has otherwise, or not at all. The private index is kept for later. */
async function differing(
  tools: GitTools,
  checkout: string,
  index: string,
  records: readonly string[],
): Promise<Set<string>> {
  if (records.length === 0) return new Set();
  const options = withFilters(checkout, index);
  await tools.git.run(landingArgs.indexFromRecords(), { ...options, stdin: records.join("") });
  await tools.git.attempt(snapshotArgs.indexRefresh(), options);
  const listed = await tools.git.run(landingArgs.unlikeIndex(), options);
  return new Set(listed.split("\0").filter((path) => path !== ""));
}

/** The file, and the directories above it that hold nothing else. Never more than that, whatever is put there now. */
async function removeFile(tools: GitTools, checkout: string, path: string): Promise<void> {
  for (let each = path; each !== "."; each = dirname(each)) {
    if (!(await isReached(tools, checkout, each))) return;
    await tools.files.removeUnlessFull(join(checkout, each));
    if ((await tools.files.facts(join(checkout, each))) !== undefined) return;
  }
}

/** Entries of the index that are the other commit's become this one's; what was staged otherwise stays. */
async function indexTo(
  tools: GitTools,
  checkout: string,
  entries: readonly Entry[],
  which: "was" | "now",
): Promise<void> {
  const listed = await tools.git.run(args.listStagedContent(), within(checkout));
  const staged = new Map(
    listed.split("\0").flatMap((record) => {
      const found = /^\S (\d+) ([0-9a-f]+) 0\t([\s\S]+)$/.exec(record);
      return found ? [[found[3] ?? "", `${found[1]} ${found[2]}`] as const] : [];
    }),
  );
  const text = (version: Version | undefined) => (version ? `${version.mode} ${version.oid}` : undefined);
  const records = entries.flatMap((entry) => {
    const [wanted, other] = which === "was" ? [entry.was, entry.now] : [entry.now, entry.was];
    const there = staged.get(entry.path);
    if (there === text(wanted) || there !== text(other)) return [];
    const none = `0 ${"0".repeat(other?.oid.length ?? 40)}`;
    return [`${text(wanted) ?? none} 0\t${entry.path}\0`];
  });
  if (records.length === 0) return;
  await tools.git.run(landingArgs.indexFromRecords(), { ...within(checkout), stdin: records.join("") });
  await tools.git.attempt(snapshotArgs.indexRefresh(), within(checkout));
}
