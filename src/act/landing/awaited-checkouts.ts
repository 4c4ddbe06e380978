/**
 * Checkouts that landings wait for, watched by the daemon: as soon as one allows its landing, that is done, and nobody
 * waits for the next of the looks that lie ever further apart (ACC-2). What is watched are the times of a few files: those
 * that are in the way, HEAD and index. Only when one of them has changed git is asked, and that look does not count.
 */

import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { type Action, hastenAction } from "#domain/model/action.ts";
import { type Merge, queueWaitMs } from "#domain/model/merge.ts";
import { checkoutsOf, UNFINISHED } from "#git/checkouts.ts";
import { changesBetween, obstacleTo } from "#git/landing.ts";
import * as landingArgs from "#git/landing-arguments.ts";
import { branchTip } from "#git/repository.ts";
import { actionByKey, openActions } from "#store/actions.ts";
import { listQueuedMerges } from "#store/merges.ts";
import { nodeById } from "#store/work.ts";

/** Somebody may save once a second, and git takes its time with a large repository. */
const SPACING_MS = 2_000;
const MOST_FILES = 100;

type AwaitingParts = Pick<ActParts, "writer" | "git" | "files" | "clock" | "root">;

interface Seen {
  /** The wait that it was seen in. */
  readonly since: number;
  readonly blocked: boolean;
  readonly watched: readonly string[];
  readonly print: string;
  readonly lookedAt: number;
}

export class AwaitedCheckouts {
  private readonly seen = new Map<string, Seen>();

  /** Whether nothing was waiting at the last look: then nothing can be free before somebody queues or tries again. */
  get areNone(): boolean {
    return this.seen.size === 0;
  }

  /** The branches that do not have to wait any more, each made due. */
  async look(parts: AwaitingParts): Promise<string[]> {
    const store = await parts.writer();
    const { all } = await store.read({ all: listQueuedMerges() });
    const waiting = all.filter((one) => one.status === "waiting" && queueWaitMs(one, parts.clock.now()) > 0);
    const ids = new Set(waiting.map(({ mergeId }) => mergeId));
    for (const id of this.seen.keys()) if (!ids.has(id)) this.seen.delete(id);
    const free: string[] = [];
    for (const entry of waiting) {
      if ((await this.isFree(parts, entry)) && (await hastenLanding(parts, entry))) free.push(entry.branch);
    }
    return free;
  }

  private async isFree(parts: AwaitingParts, entry: Merge): Promise<boolean> {
    const before = this.seen.get(entry.mergeId);
    const now = parts.clock.monotonic();
    if (before?.since === entry.updatedAt) {
      if (now < before.lookedAt + SPACING_MS) return false;
      if ((await printOf(parts, before.watched)) === before.print) return false;
    }
    const wait = await waitOf(parts, entry);
    const since = entry.updatedAt;
    if (wait === undefined) {
      this.seen.set(entry.mergeId, { since, blocked: false, watched: [], print: "", lookedAt: now });
      return false;
    }
    const looked = await lookAt(parts, entry, wait.files);
    this.seen.set(entry.mergeId, { since, ...looked, lookedAt: now });
    if (looked.blocked) return false;
    // One that is free and was tried in vain waits for something that is not seen here; then its own looks decide.
    return before === undefined ? wait.certain : before.blocked;
  }
}

/** What a checkout is in the way with; undefined for whoever waits for something else. */
async function waitOf(
  parts: AwaitingParts,
  { goalId, workNodeId }: Merge,
): Promise<{ readonly files: readonly string[]; readonly certain: boolean } | undefined> {
  // A branch that a person brought does not say what it waits for.
  if (goalId === null || workNodeId === null) return { files: [], certain: false };
  const { node } = await (await parts.writer()).read({ node: nodeById(goalId, workNodeId) });
  const waiting = node?.claim?.waiting;
  return waiting?.for === "checkout" ? { files: waiting.files, certain: true } : undefined;
}

/** What is watched is noted before git looks: what changes meanwhile shows at the next look. */
async function lookAt(
  parts: AwaitingParts,
  entry: Merge,
  files: readonly string[],
  isAgain = false,
): Promise<Pick<Seen, "blocked" | "watched" | "print">> {
  const watched = await listWatched(parts, entry, files);
  const print = await printOf(parts, watched);
  const obstacle = await findObstacle(parts, entry);
  const isAll = obstacle === undefined || obstacle.files.slice(0, MOST_FILES).every((file) => files.includes(file));
  if (isAll || isAgain) return { blocked: obstacle !== undefined, watched, print };
  return lookAt(parts, entry, obstacle.files, true);
}

async function listWatched(parts: AwaitingParts, { target }: Merge, files: readonly string[]): Promise<string[]> {
  const checkouts = await checkoutsOf(parts.git, parts.root.gitCommonDir, target);
  return checkouts.flatMap(({ path, gitDir }) => [
    ...["HEAD", "index", "index.lock", ...UNFINISHED.map(([file]) => file)].map((name) => `${gitDir}/${name}`),
    ...files.slice(0, MOST_FILES).map((file) => `${path}/${file}`),
  ]);
}

async function printOf({ files }: AwaitingParts, paths: readonly string[]): Promise<string> {
  const facts = await Promise.all(paths.map((path) => files.facts(path)));
  return facts.map((one) => (one ? `${one.kind} ${one.size} ${one.mtimeMs} ${one.inode}` : "-")).join("|");
}

/**
 * By what the branch has changed since it left the target; the landing itself looks at what the merge changes. A git that
 * is at work there, or was stopped, holds a landing up whatever its files are.
 */
async function findObstacle(
  { git, files, root }: AwaitingParts,
  { target, commit }: Merge,
): Promise<{ readonly files: readonly string[] } | undefined> {
  for (const { gitDir } of await checkoutsOf(git, root.gitCommonDir, target)) {
    if ((await files.facts(`${gitDir}/index.lock`)) !== undefined) return { files: [] };
  }
  const repository = root.gitCommonDir;
  const from = await branchTip(git, repository, target);
  if (from === undefined) return undefined;
  const base = await git.git.attempt(landingArgs.mergeBase(from, commit), { cwd: repository });
  if (base.code !== 0) return undefined;
  const changes = await changesBetween(git, repository, base.stdout.trim(), commit);
  return obstacleTo(git, repository, { branch: target, from, to: commit, changes });
}

async function hastenLanding(parts: AwaitingParts, { mergeId, goalId, workNodeId }: Merge): Promise<boolean> {
  const store = await parts.writer();
  const { open } = await store.read({ open: openActions() });
  const isIts = ({ kind, actionId, ...of }: Action) =>
    kind === "land" &&
    (actionId === `land:${mergeId}` || (goalId !== null && of.goalId === goalId && of.workNodeId === workNodeId));
  const action = open.find(isIts);
  if (!action) return false;
  const moment = momentNow(parts);
  const outcome = await store.commit({
    at: moment.now,
    reads: { now: actionByKey(action.actionId) },
    decide: ({ now }) => hastenAction(now, "checkout-allows-it", moment),
  });
  return outcome.ok && outcome.value;
}
