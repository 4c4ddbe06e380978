/**
 * The tiers of MERGE-2 that run where git alone cannot bring two sides together, in the order in which they are asked.
 * What `merge --dry-run` foresees and what a landing does walk the same list. Each yields a tree that is gated like any
 * other, or nothing, and none may drop a side: domain/landing/conservation.ts has the last word on every file.
 */
import { join } from "node:path";
import type { Held } from "#act/ask-model.ts";
import type { ActParts } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import type { MergeTier } from "#domain/model/merge.ts";
import { conflictOf, treeWith } from "#git/conflict.ts";
import { changesBetween } from "#git/landing.ts";
import type { Store } from "#store/store.ts";
import { AUTHOR } from "./author.ts";
import { AUTO_RESOLVE, findSettlement, unionSettings } from "./auto-resolve.ts";
import { AI_RESOLVE, isForModel, REIMAGINE } from "./model.ts";
import {
  type Conflicted,
  type ForecastAuthor,
  type ForecastFile,
  formatPaths,
  type Resolved,
  type Tier,
} from "./tier.ts";

export const TIERS: readonly Tier[] = [AUTO_RESOLVE, AUTHOR, AI_RESOLVE, REIMAGINE];

/** Undefined when it stays a conflict: for its author, or for a person. */
export async function resolveConflict(
  job: Pick<Conflicted, "parts" | "config" | "seen" | "claim">,
  from: string,
  inBatch: boolean,
): Promise<Resolved | Held | undefined> {
  const { parts, config, claim } = job;
  if (!(await parts.git.git.probe()).mergeTreeWriteTree) return undefined;
  const merge = { target: from, commit: claim.commit };
  const conflict = await conflictOf(parts.git, parts.root.gitCommonDir, merge);
  if (conflict === undefined) return undefined;
  let state: Conflicted = { ...job, from, conflict, settled: [], open: conflict.files, found: [], asked: false };
  for (const { name, isEnabled, resolve, inBatch: alsoInBatch } of TIERS) {
    if (!isEnabled(config.landing.tiers) || (inBatch && !alsoInBatch)) continue;
    const said = await resolve(state);
    if (said === "left-to-author") return undefined;
    if ("kind" in said) return said;
    if (said.open.length === 0) return finish(said, name);
    state = said;
  }
  return undefined;
}

async function finish({ parts, from, conflict, settled, found }: Conflicted, tier: MergeTier): Promise<Resolved> {
  const repository = parts.root.gitCommonDir;
  const tree = settled.length === 0 ? conflict.tree : await treeWith(parts.git, repository, conflict.tree, settled);
  return { tree, changes: await changesBetween(parts.git, repository, from, tree), tier, found };
}

export interface ForecastFacts {
  /** None where the two have no common history. */
  readonly files: readonly ForecastFile[];
  /** Null for a branch that a person brought. */
  readonly author: ForecastAuthor | null;
  readonly tiers: Config["landing"]["tiers"];
  readonly authorRounds: number;
}

export interface Forecast {
  readonly tier: MergeTier;
  /** One sentence: who does what. */
  readonly how: string;
}

/**
 * Which tier a conflict would come to, judged by what is known without asking anybody. A lockfile's command has not run
 * and a model has not answered at this point, so what is said is who would be next, not how it ends.
 */
export function forecastTier({ files, author, tiers, authorRounds }: ForecastFacts): Forecast {
  if (files.length === 0) {
    return { tier: "person", how: "It has no history in common with the target: only a person can merge it." };
  }
  // Nobody resolves anything on a person's own branch for them.
  if (author === null) {
    return { tier: "person", how: `It has no agent: resolve ${formatPaths(files)} on the branch yourself.` };
  }
  const open = AUTO_RESOLVE.isEnabled(tiers) ? files.filter(({ by }) => by === null) : files;
  for (const { name, isEnabled, forecast } of TIERS) {
    const how = isEnabled(tiers) ? forecast({ files, open, author, authorRounds }) : undefined;
    if (how !== undefined) return { tier: name, how };
  }
  const named = formatPaths(open);
  if (author.rounds + 1 >= authorRounds) {
    return { tier: "person", how: `Its rounds are used up: a person is asked about ${named}.` };
  }
  const how = author.living
    ? `${author.label} gets ${named} back.`
    : `${author.label} is gone: its task is dispatched again, with the conflict in ${named}.`;
  return { tier: "author", how };
}

export interface OutlookParts extends Pick<ActParts, "git" | "files" | "root"> {
  readonly store: Pick<Store, "read">;
  readonly config: Pick<Config, "landing" | "planner">;
}

/**
 * What is known of a conflict before anybody touches it. It leaves nothing behind: objects and lists go to the directory
 * it is given. No files where the two have no common history.
 */
export async function conflictOutlook(
  parts: OutlookParts,
  merge: { readonly target: string; readonly commit: string; readonly objects: string },
): Promise<ForecastFile[]> {
  const repository = parts.root.gitCommonDir;
  const { config, store } = parts;
  const { files = [] } = (await conflictOf(parts.git, repository, merge)) ?? {};
  const union = await unionSettings(parts, config.landing.unionFiles, join(merge.objects, "union-attributes"));
  const left = union && (await conflictOf(parts.git, repository, { ...merge, settings: union }));
  const open = new Set((left?.files ?? files).map(({ path }) => path));
  const found: ForecastFile[] = [];
  for (const file of files) {
    const { path } = file;
    const by = open.has(path) ? await findSettlement(parts, store, config, file) : ({ kind: "union" } as const);
    const forModel = by === undefined && (await isForModel({ parts, config }, file));
    const known = by?.kind === "recorded" ? ({ kind: "recorded" } as const) : by;
    found.push({ path, by: known ?? null, forModel });
  }
  return found;
}
