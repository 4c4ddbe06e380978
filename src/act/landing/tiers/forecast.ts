/**
 * What is known of a conflict before anybody touches it: which of its files settle themselves, and which would be
 * somebody's to resolve. It asks the same questions as resolve.ts in the same words, and leaves nothing behind: objects
 * and lists go to the directory it is given.
 */
import { join } from "node:path";
import type { ActParts } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import type { ForecastFile } from "#domain/landing/tier-forecast.ts";
import { conflictOf } from "#git/conflict.ts";
import type { Store } from "#store/store.ts";
import { findSettlement, isForModel, unionSettings } from "./resolve.ts";

export interface OutlookParts extends Pick<ActParts, "git" | "files" | "root"> {
  readonly store: Pick<Store, "read">;
  readonly config: Pick<Config, "landing" | "planner">;
}

/** No files where the two have no common history. */
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
