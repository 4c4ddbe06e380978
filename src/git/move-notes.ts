/**
 * The note of a move that is begun, and what its finder does with it: each move of a checkout is noted before anything is
 * touched, so that what was stopped half-way (a kill, a power cut) is taken back, or brought to its end where only the
 * index is wanting, by the next one.
 */

import { basename, dirname, join } from "node:path";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import { branchTip, within } from "./repository.ts";
import { entriesBetween } from "./tree-entries.ts";
import { indexTo, takeBack } from "./undo-move.ts";

export interface CheckoutMove {
  readonly checkout: string;
  /** The checkout's own git dir. */
  readonly gitDir: string;
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

/** What is written down before a move is begun. */
export interface Note extends CheckoutMove {
  /** What our lock of the user's index holds. */
  readonly lock?: string;
  /** The index that takes the place of the user's; while git works on it, a lock is beside it. */
  readonly index?: string;
}

/** Who lives now, as far as can be seen. */
export interface GitsAtWork {
  /** Whether a process has this word in its command. */
  isNamed(word: string): boolean;
  /** Whether a git may be at work in or below one of these. */
  isIn(places: readonly string[]): Promise<boolean>;
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
export async function settleNotedMoves(tools: GitTools, repository: string, gits: GitsAtWork): Promise<void> {
  for (const name of (await tools.files.list(notesIn(repository))) ?? []) {
    const path = join(notesIn(repository), name);
    const written = parseNote(await tools.files.read(path));
    const note = written && (await relocateNote(tools, repository, written));
    const there = note !== undefined && (await tools.files.facts(note.checkout)) !== undefined;
    if (!there || (await settle(tools, repository, note, gits))) await tools.files.remove(path);
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
async function settle(tools: GitTools, repository: string, note: Note, gits: GitsAtWork): Promise<boolean> {
  const lock = join(note.gitDir, "index.lock");
  const ours = await isHeld(tools, lock, note);
  const held = ours || (await tools.files.facts(lock)) !== undefined;
  // Whoever began it may be dead and its git still at it; that one holds our index, or the user's, until it is done.
  if (held && (!ours || (await isAtWork(tools, note)))) return false;
  if (!(await releaseBranch(tools, repository, note, gits))) return false;
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

/**
 * Whoever is killed while git has the branch locked for our move leaves that lock and the one of HEAD. The branch's has in it
 * where it was to be moved, which nobody but us knows; HEAD's is empty, so nobody else's git may be at work there. False
 * while one may still hold them.
 */
async function releaseBranch(tools: GitTools, repository: string, note: Note, gits: GitsAtWork): Promise<boolean> {
  const { checkout, gitDir, branch, to } = note;
  const lock = join(repository, "refs/heads", `${branch}.lock`);
  if ((await tools.files.read(lock))?.trim() !== to) return true;
  if (gits.isNamed(to)) return false;
  const head = join(gitDir, "HEAD.lock");
  const facts = await tools.files.facts(head);
  if (facts !== undefined && (facts.size > 0 || (await gits.isIn([checkout, gitDir, repository])))) return false;
  if (facts !== undefined) await tools.files.remove(head);
  await tools.files.remove(lock);
  return true;
}

async function isAtWork(tools: GitTools, { index }: Note): Promise<boolean> {
  return index !== undefined && (await tools.files.facts(`${index}.lock`)) !== undefined;
}

/** Whether the index is locked, and by this move. */
export async function isHeld(tools: GitTools, lock: string, note: Note): Promise<boolean> {
  return note.lock !== undefined && (await tools.files.read(lock)) === note.lock;
}

/** Whoever moves the branch has it looked at by the index last. Repeatable. */
export async function putIndex(tools: GitTools, { gitDir, index }: Note, lock: string): Promise<void> {
  const made = index !== undefined && (await tools.files.facts(index)) !== undefined;
  if (made) await tools.files.rename(index, join(gitDir, "index"));
  await tools.files.remove(lock);
}

export async function isCheckedOut(tools: GitTools, { checkout, branch }: CheckoutMove): Promise<boolean> {
  const head = await tools.git.attempt(args.symbolicRef("HEAD"), within(checkout));
  return head.stdout.trim() === `refs/heads/${branch}`;
}

export function theirIndex({ gitDir }: CheckoutMove): string {
  return join(gitDir, "index");
}

function notesIn(repository: string): string {
  return join(repository, "overseer", "moving");
}

/** One for each checkout, so that one that cannot be put back yet is not forgotten over another. */
export function noteOf(repository: string, checkout: string): string {
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
