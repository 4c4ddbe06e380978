/**
 * What a diff may not do without a person: leave its scope, or touch what judges it or what sets up agents.
 */

import { inScope, normalScope } from "#domain/core/scope.ts";
import { setsUpAgents } from "#domain/permit/agent-files.ts";
import { isBelow, type Links, patternBehind, placesBehind } from "./tracked-links.ts";

/** What a diff may not do without a person. */
export interface LandingLimits {
  /** Null: free everywhere. Empty: a role that changes nothing. */
  readonly scope: readonly string[] | null;
  /** Patterns of files that judge the work. */
  readonly protected: readonly string[];
  /** Files that the checks' commands name, as they stand in the target. */
  readonly judges: readonly string[];
  /** Links on the way to those, and what protected links lead to; a directory stands for all that is below it. */
  readonly linked?: readonly string[];
}

export type Overreach =
  | { readonly kind: "outside_scope"; readonly files: readonly string[] }
  | { readonly kind: "protected"; readonly files: readonly string[] }
  /** Its author resolved a conflict in these, and one side is gone. */
  | { readonly kind: "dropped_side"; readonly files: readonly string[] };

/**
 * Files that this diff must not touch by itself: Overseer's own, what sets up agents and what the checks depend on first,
 * then whatever lies outside of the scope. Undefined when there is none. Names that are not ordinary paths count as outside.
 */
export function overreach(files: readonly string[], limits: LandingLimits): Overreach | undefined {
  const isGuarded = guardOf(limits);
  const linked = new Set(limits.linked?.map((place) => place.toLowerCase()));
  const guarded = files.filter((file) => isGuarded(file) || isBelow(file.toLowerCase(), linked));
  if (guarded.length > 0) return { kind: "protected", files: guarded };
  const { scope } = limits;
  const outside = scope === null ? [] : files.filter((file) => !inScope(file, scope));
  return outside.length > 0 ? { kind: "outside_scope", files: outside } : undefined;
}

/** Whether the name alone protects a file. */
function guardOf({ protected: listed, judges: named }: LandingLimits): (file: string) => boolean {
  const patterns = listed.flatMap(guardPatterns);
  const judges = new Set(named.map((file) => file.toLowerCase()));
  return (file) =>
    isOurs(file) || setsUpAgents(file) || judges.has(file.toLowerCase()) || inScope(file.toLowerCase(), patterns);
}

/** The same limits, behind the links that the target tracks as well. */
export function limitsBehindLinks(limits: LandingLimits, links: Links): LandingLimits {
  if (links.size === 0) return limits;
  const behind = limits.protected.flatMap((pattern) => patternBehind(pattern, links) ?? []);
  const wider = { ...limits, protected: [...limits.protected, ...behind.map(({ place }) => place)] };
  const passed = [...(limits.linked ?? []), ...behind.flatMap((way) => way.links)];
  return { ...wider, linked: [...passed, ...placesBehind(links, guardOf(wider))] };
}

/**
 * Protection errs on the side of asking: a name without a slash is meant wherever it stands, however a path is written
 * it means the same file, and so does a name that another file system takes for it.
 */
function guardPatterns(pattern: string): string[] {
  const normal = normalScope(pattern.replace(/^\/+/, "").toLowerCase());
  if (normal === undefined) return [];
  return normal.includes("/") ? [normal] : [normal, `**/${normal}`];
}

/** Git never tracks `.git`; what could still pose as it, or lies with us, is nothing an agent lands. */
function isOurs(file: string): boolean {
  const lower = file.toLowerCase();
  return lower === ".overseer" || lower.startsWith(".overseer/") || isStrange(file);
}

/** A backslash is a legal sign in a name; a scope cannot speak of it, so it is judged like any other file. */
function isStrange(file: string): boolean {
  return !file.includes("\\") && normalScope(file) === undefined;
}
