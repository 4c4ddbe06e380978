/**
 * What a tier of MERGE-2 is: a way to bring two sides together where git alone cannot. Each says before anything is done
 * whether it would be its turn, and does it; tiers.ts has the list and walks it for both. To add one: a file here that
 * exports a `Tier`, its name in domain/model/merge.ts, and its place in the list.
 */
import type { Held } from "#act/ask-model.ts";
import type { Candidate, WorkBehind } from "#act/landing/candidate.ts";
import type { Config } from "#config/schema.ts";
import type { MergeTier } from "#domain/model/merge.ts";
import type { Conflict, ConflictFile } from "#git/conflict.ts";
import type { FileChange } from "#git/landing.ts";

export interface Tier {
  readonly name: MergeTier;
  /** It costs nothing and asks nobody, so it is tried for what a batch may become too. */
  readonly inBatch?: true;
  isEnabled(tiers: Config["landing"]["tiers"]): boolean;
  /** One sentence: who would do what. Undefined when it would not be its turn. */
  forecast(facts: Foreseen): string | undefined;
  /** As far as it got; with nothing left open, the conflict is resolved. */
  resolve(conflict: Conflicted): Promise<Conflicted | Held | "left-to-author">;
}

/** A conflict on its way through the tiers. */
export interface Conflicted extends Pick<Candidate, "parts" | "config">, Pick<WorkBehind, "seen" | "claim"> {
  /** The commit it is merged onto. */
  readonly from: string;
  readonly conflict: Conflict;
  readonly settled: readonly SettledFile[];
  readonly open: readonly ConflictFile[];
  /** Worth keeping once it has landed. */
  readonly found: readonly Resolution[];
  /** A model was asked about it before. */
  readonly asked: boolean;
}

export interface SettledFile {
  readonly path: string;
  readonly mode: string;
  readonly oid: string;
}

export interface Resolution {
  readonly path: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  readonly result: string;
}

export interface Resolved {
  readonly tree: string;
  readonly changes: readonly FileChange[];
  readonly tier: MergeTier;
  /** What was found out on the way, worth keeping once it has landed. */
  readonly found: readonly Resolution[];
}

/** What settles a file in conflict without anybody being asked. */
export type SettledBy =
  /** The very same three files were resolved before. */
  | { readonly kind: "recorded" }
  /** It is declared as a file in which both sides are kept. */
  | { readonly kind: "union" }
  /** Made again by its own tool. */
  | { readonly kind: "lockfile"; readonly command: string };

export interface ForecastFile {
  readonly path: string;
  /** Null where somebody has to resolve it. */
  readonly by: SettledBy | null;
  /** Lines that fit into what a model is given. */
  readonly forModel: boolean;
}

/** Who stands behind the branch. */
export interface ForecastAuthor {
  readonly label: string;
  readonly living: boolean;
  /** How often its work came back before. */
  readonly rounds: number;
}

/** What is known of a conflict before anybody touches it. */
export interface Foreseen {
  readonly files: readonly ForecastFile[];
  /** Those that do not settle themselves. */
  readonly open: readonly ForecastFile[];
  readonly author: ForecastAuthor;
  readonly authorRounds: number;
}

const MOST_NAMED = 5;

export function formatPaths(files: readonly ForecastFile[]): string {
  const names = files.slice(0, MOST_NAMED).map(({ path }) => path);
  const more = files.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}
