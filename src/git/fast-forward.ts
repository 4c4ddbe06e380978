/**
 * Moving a checkout forward, all or nothing. Git writes the files first, then the index, and the branch last; stopped in
 * between (a full disk, a filter that fails, a kill, a power cut) it leaves the checkout half-way, as if somebody had
 * edited it. So each move is noted before it is begun, and what did not arrive is taken back: by the process that began
 * it, or by the next one that finds the note.
 *
 * The one that began it has just seen that the checkout was clean, so that everything there is git's. The next one takes
 * back only what is certain: files that are as the new commit has them, missing or empty. The rest may be somebody's.
 */
import { dirname, join } from "node:path";
import { OverseerError } from "#errors.ts";
import type { ExecResult } from "#sys/exec.ts";
import * as args from "./arguments.ts";
import { diskFull, type GitRunOptions, type GitTools } from "./git.ts";
import { withScratch } from "./raw-view.ts";
import { branchTip, within } from "./repository.ts";

export interface CheckoutMove {
  readonly checkout: string;
  /** The checkout's own git dir. */
  readonly gitDir: string;
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

/** Filters may fetch what a file stands for; a deadline in the middle of it would be one more way to stop half-way. */
const MOVE_TIMEOUT_MS = 60 * 60_000;

export interface Forward {
  /** Git's answer; unless it is a success nothing has changed. */
  readonly result: ExecResult;
  /** But for these, which cannot be put back now, because their filter fails for the old version too. */
  readonly stuck: readonly string[];
}

/** Throws DISK_FULL, with nothing changed either. */
export async function moveForward(tools: GitTools, repository: string, move: CheckoutMove): Promise<Forward> {
  await assertRoom(tools, repository, move);
  const note = noteOf(repository, move.checkout);
  await tools.files.makeDir(dirname(note));
  await tools.files.remove(note);
  await tools.files.append(note, JSON.stringify(move));
  const result = await tools.git
    .attempt(args.fastForward(move.to), { ...within(move.checkout), timeoutMs: MOVE_TIMEOUT_MS })
    .catch(async (error: unknown) => {
      const code = error instanceof OverseerError ? error.code : "";
      // Whatever else it was, the next one looks; only a lock that somebody holds is sure to have touched nothing.
      const over = STOPPED_HALF_WAY.has(code)
        ? (await undo(tools, repository, move, "all")).length === 0
        : code === "GIT_LOCKED";
      if (over) await tools.files.remove(note);
      throw error;
    });
  let stuck: readonly string[] = [];
  if (result.code !== 0 && !refusedUntouched(result)) {
    // A git that was killed leaves its lock, and it was ours.
    if (result.signal !== null) await tools.files.remove(join(move.gitDir, "index.lock"));
    stuck = await undo(tools, repository, move, "all");
  }
  if (stuck.length === 0) await tools.files.remove(note);
  return { result, stuck };
}

const STOPPED_HALF_WAY: ReadonlySet<string> = new Set(["DISK_FULL", "GIT_TIMED_OUT", "GIT_OUTPUT_TOO_LARGE"]);

/** Whether a move was begun by somebody who did not come to its end, or is at it now. */
export async function isMoveNoted(tools: GitTools, repository: string): Promise<boolean> {
  return ((await tools.files.list(notesIn(repository))) ?? []).length > 0;
}

/**
 * Takes back what somebody left half-way. Only for whoever is alone in moving branches. Repeatable; what cannot be put
 * back yet keeps its note, and until then it counts as what it looks like, a change that is not committed.
 */
export async function settleNotedMoves(tools: GitTools, repository: string): Promise<void> {
  for (const name of (await tools.files.list(notesIn(repository))) ?? []) {
    const note = join(notesIn(repository), name);
    const move = parseNote(await tools.files.read(note));
    const there = move !== undefined && (await tools.files.facts(move.checkout)) !== undefined;
    // Whoever began it may be dead and its git still at it; that one holds the index until it is done.
    if (there && (await tools.files.facts(join(move.gitDir, "index.lock"))) !== undefined) continue;
    const stuck = there ? await undo(tools, repository, move, "certain") : [];
    if (stuck.length === 0) await tools.files.remove(note);
  }
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
function parseNote(text: string | undefined): CheckoutMove | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as CheckoutMove);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Git looked at everything first and touched nothing. */
function refusedUntouched({ stderr }: ExecResult): boolean {
  return /would be (overwritten|removed)|Not possible to fast-forward/.test(stderr);
}

/** With this much free nobody looks how much is needed. */
const AMPLE_BYTES = 1024 * 1024 * 1024;
/** For git's own files, and what most file systems round a file up to. */
const SPARE_BYTES = 1024 * 1024;
const BLOCK_BYTES = 4096;

async function assertRoom(tools: GitTools, repository: string, move: CheckoutMove): Promise<void> {
  const free = await tools.files.freeBytes(move.checkout);
  if (free >= AMPLE_BYTES) return;
  const changes = await entriesBetween(tools, repository, move.from, move.to);
  const written = changes.flatMap(({ now }) => (now && now.mode !== GITLINK ? [now.oid] : []));
  const sizes = await tools.git.run(args.objectSizes(), { cwd: repository, stdin: `${written.join("\n")}\n` });
  let needed = SPARE_BYTES;
  for (const size of sizes.split("\n")) needed += Math.ceil(Number(size) / BLOCK_BYTES) * BLOCK_BYTES;
  if (needed <= free) return;
  const [need, have] = [needed, free].map((bytes) => `${Math.ceil(bytes / 1024)} KB`);
  throw diskFull(`No space left on the disk for the new files of ${move.checkout}: ${need} needed, ${have} free.`);
}

const GITLINK = "160000";

interface Version {
  readonly mode: string;
  readonly oid: string;
}

interface Entry {
  readonly path: string;
  readonly was: Version | undefined;
  readonly now: Version | undefined;
}

async function entriesBetween(tools: GitTools, repository: string, from: string, to: string): Promise<Entry[]> {
  const fields = (await tools.git.run(args.changedEntries(from, to), { cwd: repository })).split("\0");
  const entries: Entry[] = [];
  const version = (mode: string, oid: string) => (/^0+$/.test(mode) ? undefined : { mode, oid });
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [wasMode = "", nowMode = "", wasOid = "", nowOid = ""] = (fields[at] ?? "").slice(1).split(" ");
    entries.push({ path: fields[at + 1] ?? "", was: version(wasMode, wasOid), now: version(nowMode, nowOid) });
  }
  return entries;
}

/**
 * Index and files as they were, where the branch has not moved and is still checked out there. Answers with the files
 * that could not be written.
 */
async function undo(
  tools: GitTools,
  repository: string,
  move: CheckoutMove,
  which: "all" | "certain",
): Promise<readonly string[]> {
  const { checkout, branch, from, to } = move;
  if ((await branchTip(tools, repository, branch)) !== from) return [];
  const head = await tools.git.attempt(args.symbolicRef("HEAD"), within(checkout));
  if (head.stdout.trim() !== `refs/heads/${branch}`) return [];
  const entries = await entriesBetween(tools, repository, from, to);
  const files = entries.filter(({ was, now }) => was?.mode !== GITLINK && now?.mode !== GITLINK);
  const stuck = await withScratch(tools, repository, async (scratch) => {
    const [before, after] = [join(scratch, "before"), join(scratch, "after")];
    const unlikeBefore = await differing(tools, checkout, before, versions(files, "was"));
    const unlikeAfter = await differing(tools, checkout, after, versions(files, "now"));
    const back: Entry[] = [];
    for (const entry of files) {
      const { path, was, now } = entry;
      if (was ? !unlikeBefore.has(path) : (await tools.files.facts(join(checkout, path))) === undefined) continue;
      const arrived = now !== undefined && !unlikeAfter.has(path);
      if (which === "all" || arrived || (await isEmptyOrGone(tools, join(checkout, path)))) back.push(entry);
    }
    // The last moment in which a git that outlived us could have come to its end.
    if ((await branchTip(tools, repository, branch)) !== from) return undefined;
    for (const { path, was } of back) if (!was) await removeFile(tools, checkout, path);
    const wanted = back.flatMap(({ path, was }) => (was ? [path] : []));
    return written(tools, wanted, withIndex(checkout, before));
  });
  if (stuck === undefined) return [];
  await indexAsBefore(tools, checkout, entries);
  return stuck;
}

/** All at once, and where that fails one by one, so that one filter does not keep the others away. */
async function written(tools: GitTools, paths: readonly string[], options: GitRunOptions): Promise<string[]> {
  if (paths.length === 0) return [];
  const stdin = paths.map((path) => `${path}\0`).join("");
  if ((await tools.git.attempt(args.checkoutFromIndex(), { ...options, stdin })).code === 0) return [];
  const stuck: string[] = [];
  for (const path of paths) {
    const alone = await tools.git.attempt(args.checkoutFromIndex(), { ...options, stdin: `${path}\0` });
    if (alone.code !== 0) stuck.push(path);
  }
  return stuck;
}

async function isEmptyOrGone(tools: GitTools, path: string): Promise<boolean> {
  const facts = await tools.files.facts(path);
  return facts === undefined || facts.kind === "directory" || (facts.kind === "file" && facts.size === 0);
}

function versions(entries: readonly Entry[], which: "was" | "now"): string[] {
  return entries.flatMap((entry) => {
    const version = entry[which];
    return version ? [`${version.mode} ${version.oid} 0\t${entry.path}\0`] : [];
  });
}

function withIndex(checkout: string, index: string) {
  const { cwd, env } = within(checkout);
  return { cwd, env: { ...env, GIT_INDEX_FILE: index }, timeoutMs: MOVE_TIMEOUT_MS };
}

/** Which of these the checkout has otherwise, or not at all. The private index is kept for later. */
async function differing(
  tools: GitTools,
  checkout: string,
  index: string,
  records: readonly string[],
): Promise<Set<string>> {
  if (records.length === 0) return new Set();
  const options = withIndex(checkout, index);
  await tools.git.run(args.indexFromRecords(), { ...options, stdin: records.join("") });
  await tools.git.attempt(args.indexRefresh(), options);
  const listed = await tools.git.run(args.unlikeIndex(), options);
  return new Set(listed.split("\0").filter((path) => path !== ""));
}

/** The file, and the directories above it that hold nothing else. */
async function removeFile(tools: GitTools, checkout: string, path: string): Promise<void> {
  await tools.files.remove(join(checkout, path));
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    if ((await tools.files.list(join(checkout, above)))?.length !== 0) return;
    await tools.files.remove(join(checkout, above));
  }
}

/** Entries of the index that are the new commit's become the old one's again; what was staged otherwise stays. */
async function indexAsBefore(tools: GitTools, checkout: string, entries: readonly Entry[]): Promise<void> {
  const listed = await tools.git.run(args.stagedContent(), within(checkout));
  const staged = new Map(
    listed.split("\0").flatMap((record) => {
      const found = /^\S (\d+) ([0-9a-f]+) 0\t([\s\S]+)$/.exec(record);
      return found ? [[found[3] ?? "", `${found[1]} ${found[2]}`] as const] : [];
    }),
  );
  const text = (version: Version | undefined) => (version ? `${version.mode} ${version.oid}` : undefined);
  const records = entries.flatMap(({ path, was, now }) => {
    const there = staged.get(path);
    if (there === text(was) || there !== text(now)) return [];
    return [was ? `${was.mode} ${was.oid} 0\t${path}\0` : `0 ${"0".repeat(now?.oid.length ?? 40)} 0\t${path}\0`];
  });
  if (records.length === 0) return;
  await tools.git.run(args.indexFromRecords(), { ...within(checkout), stdin: records.join("") });
  await tools.git.attempt(args.indexRefresh(), within(checkout));
}
