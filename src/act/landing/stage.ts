/**
 * Merging a candidate onto a commit, in the object database: what the target would become, and whether it may. Nobody
 * sees it yet, and nothing of the user's is touched; done again, it makes the same commit.
 */

import type { Held } from "#act/ask-model.ts";
import { withCheckWorktree } from "#act/checks/check.ts";
import type { ActParts } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import { filesNamedBy } from "#domain/landing/check-files.ts";
import { consentTo, type LandingEnd } from "#domain/landing/landing-end.ts";
import { branchMessage, landingMessage, type MessageRules } from "#domain/landing/landing-message.ts";
import { type LandingLimits, limitsBehindLinks, type Overreach, overreach } from "#domain/landing/overreach.ts";
import { followLinks } from "#domain/landing/tracked-links.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { keepStaged } from "#git/claim-refs.ts";
import {
  type BranchMove,
  type MergeResult,
  type MergeWish,
  mergeInto,
  mergeInWorktree,
  sameAttributes,
  writeCommit,
} from "#git/landing.ts";
import { messagesOf, replayOnto } from "#git/replay.ts";
import { readTrackedLinks, regularFiles } from "#git/repository.ts";
import { type DroppedCommit, findTakenBack } from "#git/taken-back.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import type { Candidate } from "./candidate.ts";
import { judgeAuthorResolution } from "./tiers/author.ts";
import { resolveConflict } from "./tiers/list.ts";
import type { Resolved } from "./tiers/tier.ts";

export interface Staged extends Pick<Resolved, "tree" | "tier" | "found"> {
  readonly kind: "staged";
  readonly move: BranchMove;
}

/** Merges it onto `from`, which is the target or what a batch has made of it so far. Writes objects only. */
export async function stage(candidate: Candidate, from: string, inBatch: boolean): Promise<Staged | LandingEnd> {
  const { parts, entry, target, strategy, work } = candidate;
  const { commit } = entry;
  const taken = await listDropped(candidate, from);
  const consent = work ? consentTo(work.claim, taken) : undefined;
  if (taken.length > 0 && consent === undefined) return { kind: "taken-back", target, commits: taken };
  const left = consent === "own" ? toLeftOut(taken) : undefined;
  const merged = left ? await replayOwn(parts, { target: from, commit, ...left }) : await merge(candidate, from);
  if (merged.kind === "missing") return { kind: "missing", target };
  const files = merged.kind === "conflict" ? merged.files : [];
  // A merge of the two tips, by whomever, would bring in what must not come along.
  if (merged.kind === "conflict" && left) {
    return { kind: "conflict", target, onto: from, files, strategy, without: taken[0]?.commit ?? from };
  }
  const joined = await bringTogether(candidate, from, merged, { inBatch, judged: left === undefined });
  if (joined === undefined) return { kind: "conflict", target, onto: from, files, strategy };
  if ("kind" in joined) return { ...joined, target };
  const { tree, changes, tier, found } = joined;
  if (changes.length === 0) {
    return { kind: "landed", target, from, to: from, strategy, already: true, receipts: [] };
  }
  const over = await findOverreach(candidate, from, joined);
  if (over) return { kind: "overreach", target, over };
  const to = await writeCommit(parts.git, parts.root.gitCommonDir, {
    tree,
    parents: strategy === "merge" ? [from, commit] : [from],
    message: await messageFor(candidate, { target: from, commit, ...left }),
    at: work?.claim.claimedAt ?? entry.queuedAt,
  });
  await keepStaged(parts.git, parts.root.gitCommonDir, entry.mergeId, to);
  sameAttributes(parts.git, from, to, changes);
  return { kind: "staged", move: { branch: target, from, to, changes }, tree, tier, found };
}

type Joined = Resolved & { readonly dropped?: readonly string[] };

/** By git alone, or by the tiers where a claim stands behind it; undefined when it is its author's or a person's to resolve. */
async function bringTogether(
  { parts, config, work }: Candidate,
  from: string,
  merged: Exclude<MergeResult, { kind: "missing" }>,
  { inBatch, judged }: { readonly inBatch: boolean; readonly judged: boolean },
): Promise<Joined | Held | undefined> {
  if (merged.kind === "conflict") {
    return work && merged.files.length > 0 ? resolveConflict({ parts, config, ...work }, from, inBatch) : undefined;
  }
  const { tree, changes } = merged;
  const author = work && judged && changes.length > 0 ? await judgeAuthorResolution({ parts, ...work }) : undefined;
  return author ? { tree, changes, tier: "author", ...author } : { tree, changes, tier: "clean-merge", found: [] };
}

/** What only a person may let through, and nobody has. A person's own branch is that person's word. */
async function findOverreach(
  { parts, config, work }: Candidate,
  from: string,
  { changes, dropped = [] }: Joined,
): Promise<Overreach | undefined> {
  if (!work || work.claim.approvedBy !== null) return undefined;
  const limits = await limitsFor(parts, config, work.seen.attempt, from);
  const paths = changes.map(({ path }) => path);
  return overreach(paths, limits) ?? (dropped.length > 0 ? { kind: "dropped_side", files: dropped } : undefined);
}

/** What a person took out of the target and would come back with this one. */
async function listDropped({ parts, entry, target, work }: Candidate, from: string): Promise<DroppedCommit[]> {
  const what = { branch: target, from, commit: entry.commit };
  if (!work) return findTakenBack(parts.git, parts.root.gitCommonDir, { ...what, tips: [] });
  const { goalId, nodeId } = work.order;
  const { attempts } = await (await parts.writer()).read({ attempts: attemptsOfNode(goalId, nodeId) });
  return listDroppedOfNode(parts, attempts, what);
}

/** The same for whoever only looks. `attempts` are all of the node. */
export function listDroppedOfNode(
  parts: Pick<ActParts, "git" | "root">,
  attempts: readonly Attempt[],
  what: { readonly branch: string; readonly from: string; readonly commit: string },
): Promise<DroppedCommit[]> {
  // The first one began on the target; a later one may have begun on the work of the one before it.
  const first = attempts.reduce<Attempt | undefined>(
    (least, one) => (least && least.attempt < one.attempt ? least : one),
    undefined,
  );
  return findTakenBack(parts.git, parts.root.gitCommonDir, { ...what, tips: first ? [first.base] : [] });
}

type LeftOut = Required<Pick<MergeWish, "without" | "skipped">>;

/** With a dropped commit everything below it goes; with a copy of one only the copy. */
function toLeftOut(taken: readonly DroppedCommit[]): LeftOut | undefined {
  if (taken.length === 0) return undefined;
  const ids = (copied: boolean) =>
    taken.filter(({ copyOf }) => (copyOf !== undefined) === copied).map(({ commit }) => commit);
  return { without: ids(false), skipped: ids(true) };
}

/** Only what its author has committed on top of these. */
async function replayOwn(parts: ActParts, wish: MergeWish): Promise<MergeResult> {
  if (!(await parts.git.git.probe()).mergeTreeWriteTree) return { kind: "conflict", files: [] };
  return replayOnto(parts.git, parts.root.gitCommonDir, wish);
}

/** A squash is the rebased branch as one commit: where the tips do not merge, its commits are brought over one by one. */
async function merge({ parts, entry: { commit }, strategy }: Candidate, target: string): Promise<MergeResult> {
  const repository = parts.root.gitCommonDir;
  if ((await parts.git.git.probe()).mergeTreeWriteTree) {
    const merged = await mergeInto(parts.git, repository, { target, commit });
    if (merged.kind !== "conflict" || strategy !== "squash") return merged;
    const replayed = await replayOnto(parts.git, repository, { target, commit });
    return replayed.kind === "clean" ? replayed : merged;
  }
  return withCheckWorktree(parts, ({ path }) => mergeInWorktree(parts.git, repository, { target, commit, path }));
}

async function messageFor({ parts, config, entry, strategy, work }: Candidate, wish: MergeWish): Promise<string> {
  const { stripAttribution } = config.landing;
  const plain = { strategy, stripAttribution };
  // What a squash tells of the commits it stands for; a merge has them in its history.
  const rules: MessageRules =
    strategy === "merge" ? plain : { ...plain, squashed: await messagesOf(parts.git, parts.root.gitCommonDir, wish) };
  return work ? landingMessage(work.seen.node, work.claim, rules) : branchMessage(entry.branch, rules);
}

/** The scope of the attempt that made the claim, the files of all checks, and those that their commands name in `target`. */
export async function limitsFor(
  parts: Pick<ActParts, "git" | "root">,
  { checks }: Pick<Config, "checks">,
  attempt: Attempt | undefined,
  target: string,
): Promise<LandingLimits> {
  const all = Object.values(checks);
  const named = [...new Set(all.flatMap(({ command }) => filesNamedBy(command)))];
  const repository = parts.root.gitCommonDir;
  const links = await readTrackedLinks(parts.git, repository, target);
  const ways = named.flatMap((path) => followLinks(path, links) ?? []).filter(({ place }) => place !== "");
  const places = [...new Set(ways.map(({ place }) => place))];
  const files = new Set(await regularFiles(parts.git, repository, target, places));
  // Whoever turns a link on the way there names another file by the same word.
  const turned = ways.filter(({ place }) => files.has(place)).flatMap((way) => way.links);
  const limits = { scope: attempt?.scope ?? null, protected: all.flatMap((check) => check.protected) };
  return limitsBehindLinks({ ...limits, judges: [...files], linked: turned }, links);
}
