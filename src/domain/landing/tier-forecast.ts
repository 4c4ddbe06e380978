/**
 * Which of the tiers of MERGE-2 a conflict would come to, said before anything is done: the same order as act/landing/tiers/resolve.ts
 * takes them in, judged by what is known without asking anybody. A lockfile's command has not run and a model has not
 * answered at this point, so what is said is who would be next, not how it ends.
 */
import type { MergeTier } from "#domain/model/merge.ts";

/** What settles a file in conflict without anybody being asked. */
export type SettledBy =
  /** The very same three files were resolved before. */
  | { readonly kind: "recorded" }
  /** It is declared as a file in which both sides are kept. */
  | { readonly kind: "union" }
  /** Made anew by its own tool. */
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

export interface ForecastFacts {
  /** None where the two have no common history. */
  readonly files: readonly ForecastFile[];
  /** Null for a branch that a person brought. */
  readonly author: ForecastAuthor | null;
  readonly tiers: {
    readonly mechanical: boolean;
    readonly author: boolean;
    readonly aiResolve: boolean;
    readonly reimagine: boolean;
  };
  readonly authorRounds: number;
}

export interface Forecast {
  readonly tier: MergeTier;
  /** One sentence: who does what. */
  readonly how: string;
}

export function tierForecast({ files, author, tiers, authorRounds }: ForecastFacts): Forecast {
  if (files.length === 0) {
    return { tier: "person", how: "It has no history in common with the target: only a person can bring it in." };
  }
  // Nobody resolves anything on a person's own branch for them.
  if (author === null) {
    return { tier: "person", how: `No agent stands behind it: resolve ${formatFiles(files)} on the branch yourself.` };
  }
  const open = tiers.mechanical ? files.filter(({ by }) => by === null) : files;
  if (open.length === 0)
    return { tier: "auto-resolve", how: `Without asking anybody: ${files.map(describeResolution).join("; ")}.` };
  const round = author.rounds + 1;
  const roundsLeft = round < authorRounds;
  if (tiers.author && author.living && roundsLeft) {
    const which = `round ${round} of ${authorRounds}`;
    return { tier: "author", how: `${author.label} is at work and gets ${formatFiles(open)} back (${which}).` };
  }
  if (open.every(({ forModel }) => forModel)) {
    if (tiers.aiResolve) return { tier: "ai-resolve", how: `A model is asked about ${formatFiles(open)}.` };
    if (tiers.reimagine) {
      return { tier: "reimagine", how: `A model makes the change to ${formatFiles(open)} again on top of the target.` };
    }
  }
  if (!roundsLeft)
    return { tier: "person", how: `Its rounds are used up: a person is asked about ${formatFiles(open)}.` };
  return {
    tier: "author",
    how: author.living
      ? `${author.label} gets ${formatFiles(open)} back.`
      : `${author.label} is gone: its task is dispatched again, with the conflict in ${formatFiles(open)}.`,
  };
}

const MOST_NAMED = 5;

function formatFiles(files: readonly ForecastFile[]): string {
  const names = files.slice(0, MOST_NAMED).map(({ path }) => path);
  const more = files.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}

function describeResolution({ path, by }: ForecastFile): string {
  switch (by?.kind) {
    case "recorded":
      return `${path} as it was resolved before`;
    case "lockfile":
      return `${path} made anew by '${by.command}'`;
    default:
      return `${path} with both sides, as a union file`;
  }
}
