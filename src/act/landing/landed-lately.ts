/**
 * Landings of the last minutes, watched by the daemon: whether a git of the user's that had read the index before wrote it
 * back afterwards (git/stale-index.ts). Where it is only staged, the index is put right before anybody commits it; where
 * it is committed already, people are told. What is watched are the times of a few files; git is asked only when one has changed.
 */
import type { ActParts } from "#act/parts.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import { checkoutsOf } from "#git/checkouts.ts";
import { branchTip } from "#git/repository.ts";
import { findUndoing, mendIndexes } from "#git/stale-index.ts";
import { eventsMatching } from "#store/events.ts";

type WatchParts = Pick<ActParts, "writer" | "git" | "files" | "clock" | "root">;
type Landed = EventOf<"landing.landed">;

/**
 * A git stands between reading the index and locking it for milliseconds, or for as long as what watches files for it takes.
 * Later, whoever has the old versions staged may well have done it.
 */
const STAGED_BY_NOBODY_MS = 60_000;
/** A commit on top of it that takes it out is looked for this long. */
const WATCHED_MS = 30 * 60_000;
const MOST_LANDINGS = 20;

export class LandedLately {
  private landings: readonly Landed[] | undefined;
  private watched: readonly string[] = [];
  private print = "";

  /** Something has landed since the last look. */
  renew(): void {
    this.landings = undefined;
  }

  /** What was found and written down. */
  async look(parts: WatchParts): Promise<NewEvent[]> {
    const now = parts.clock.now();
    if (this.landings === undefined) {
      this.landings = await readLandings(parts);
      this.watched = await listWatched(parts, this.landings);
      this.print = "";
    }
    const recent = this.landings.filter(({ at }) => now - at < WATCHED_MS);
    this.landings = recent;
    if (recent.length === 0) return [];
    const print = await printOf(parts, this.watched);
    if (print === this.print) return [];
    const found: NewEvent[] = [];
    for (const target of new Set(recent.map(({ data }) => data.target))) {
      const event = await lookAt(
        parts,
        recent.filter(({ data }) => data.target === target),
      );
      if (event) found.push(event);
    }
    const store = await parts.writer();
    if (found.length > 0) await store.commit({ at: now, reads: {}, decide: () => accept(found, null) });
    this.print = print;
    return found;
  }
}

async function readLandings(parts: WatchParts): Promise<readonly Landed[]> {
  const query = eventsMatching({ type: "landing.landed", newest: true, limit: MOST_LANDINGS });
  const { landings } = await (await parts.writer()).read({ landings: query });
  return landings.filter((event): event is Landed => event.type === "landing.landed" && !event.data.already);
}

async function listWatched(parts: WatchParts, landings: readonly Landed[]): Promise<string[]> {
  const repository = parts.root.gitCommonDir;
  const places: string[] = [];
  for (const target of new Set(landings.map(({ data }) => data.target))) {
    const checkouts = await checkoutsOf(parts.git, repository, target);
    places.push(`${repository}/logs/refs/heads/${target}`, `${repository}/refs/heads/${target}`);
    places.push(...checkouts.map(({ gitDir }) => `${gitDir}/index`));
  }
  return places;
}

/** The newest landing says where the branch was; the old index may be from before any of them. */
async function lookAt(parts: WatchParts, landings: readonly Landed[]): Promise<NewEvent | undefined> {
  const last = landings.at(-1);
  if (!last) return undefined;
  const repository = parts.root.gitCommonDir;
  const { goalId, nodeId } = last;
  const { target, to } = last.data;
  const about = { actor: "overseer", goalId, nodeId } as const;
  const isThere = (await branchTip(parts.git, repository, target)) === to;
  // Whoever stages it again means it.
  const mayMend = isThere && !(await isMended(parts, to));
  for (const { at, data } of landings.toReversed()) {
    const move = { branch: target, from: data.from, to };
    if (mayMend && parts.clock.now() - at < STAGED_BY_NOBODY_MS) {
      const files = await mendIndexes(parts.git, repository, move);
      if (files.length === 0) continue;
      return { ...about, type: "landing.index_mended", because: "index-from-before", data: { target, to, files } };
    }
    const undoing = isThere ? undefined : await findUndoing(parts.git, repository, move);
    if (!undoing || (await isTold(parts, undoing.commit))) continue;
    return { ...about, type: "landing.undone", because: "as-before-the-landing", data: { target, to, ...undoing } };
  }
  return undefined;
}

async function isMended(parts: WatchParts, to: string): Promise<boolean> {
  const query = eventsMatching({ type: "landing.index_mended", newest: true, limit: MOST_LANDINGS });
  const { mended } = await (await parts.writer()).read({ mended: query });
  return mended.some((event) => event.type === "landing.index_mended" && event.data.to === to);
}

async function isTold(parts: WatchParts, commit: string): Promise<boolean> {
  const query = eventsMatching({ type: "landing.undone", newest: true, limit: MOST_LANDINGS });
  const { told } = await (await parts.writer()).read({ told: query });
  return told.some((event) => event.type === "landing.undone" && event.data.commit === commit);
}

async function printOf({ files }: WatchParts, places: readonly string[]): Promise<string> {
  const facts = await Promise.all(places.map((path) => files.facts(path)));
  return facts.map((one) => (one ? `${one.size} ${one.mtimeMs} ${one.inode}` : "-")).join("|");
}
