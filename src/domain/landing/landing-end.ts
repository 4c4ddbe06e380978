/** How an attempt to land ended, as git and the gate saw it. What follows from it is after-landing.ts. */

import type { Receipt } from "#domain/model/check.ts";
import type { Claim, LandedSubmodule, LandingStrategy, TakenBackConsent } from "#domain/model/claim.ts";
import type { MergeTier } from "#domain/model/merge.ts";
import type { Overreach } from "./overreach.ts";

/** How an attempt to land ended, as git and the gate saw it. */
export type LandingEnd =
  | {
      readonly kind: "landed";
      readonly target: string;
      readonly from: string;
      readonly to: string;
      readonly strategy: LandingStrategy;
      readonly already: boolean;
      readonly receipts: readonly Receipt[];
      readonly tier?: MergeTier;
      readonly submodules?: readonly LandedSubmodule[];
    }
  | {
      readonly kind: "conflict";
      readonly target: string;
      /** The commit that it conflicts with. */
      readonly onto: string;
      readonly files: readonly string[];
      /** What its author is told to do follows from how it is to land. */
      readonly strategy?: LandingStrategy;
      /** The last commit that is not its author's and must not come along. */
      readonly without?: string;
    }
  /** It would bring in again what was taken out of the target; nothing was touched. The newest first. */
  | { readonly kind: "taken-back"; readonly target: string; readonly commits: readonly TakenBackCommit[] }
  | { readonly kind: "overreach"; readonly target: string; readonly over: Overreach }
  /** The gate on the merged tree failed, or could not run. */
  | { readonly kind: "gate"; readonly target: string; readonly receipts: readonly Receipt[] }
  /** The same checks fail on the target itself: nobody's branch is to blame. */
  | { readonly kind: "target-red"; readonly target: string; readonly receipts: readonly Receipt[] }
  /** What lies in a checkout of the target is in the way; nothing was touched. */
  | {
      readonly kind: "dirty";
      readonly target: string;
      readonly checkout: string;
      readonly detail: string;
      readonly files: readonly string[];
    }
  /** It conflicts, and the model that is to resolve it may not be asked now. */
  | { readonly kind: "held"; readonly target: string; readonly detail: string; readonly until: number }
  /** The remote could not be followed; nothing was touched. `diverged`: only a person can bring the two together. */
  | { readonly kind: "remote"; readonly target: string; readonly detail: string; readonly diverged?: true }
  /** The target kept moving under our hands; nothing was touched, and it is tried again. */
  | { readonly kind: "moved"; readonly target: string }
  /** The commit is not there any more. */
  | { readonly kind: "missing"; readonly target: string };

/** The checks that did not pass, as a clause. */
export function describeGate(receipts: readonly Receipt[]): string {
  const bad = receipts.filter(({ verdict }) => verdict !== "pass");
  return bad.map(({ name, why }) => `the check ${name} on the merged tree: ${why ?? "unknown"}`).join("; ");
}

export interface TakenBackCommit {
  readonly commit: string;
  readonly subject: string;
  /** The one that was taken out, where this one only changes the same. */
  readonly copyOf?: string;
}

/** Whether a person has said what is to become of these commits; undefined while nobody has. */
export function consentTo(claim: Claim, taken: readonly TakenBackCommit[]): TakenBackConsent | undefined {
  const { takenBack } = claim;
  const named = new Set(takenBack?.commits);
  return taken.every(({ commit }) => named.has(commit)) ? (takenBack?.consent ?? undefined) : undefined;
}

/** As a clause, for claims and for branches that a person brought. */
export function describeTakenBack(target: string, commits: readonly TakenBackCommit[]): string {
  const what = commits.length === 1 ? "a commit that was" : `${commits.length} commits that were`;
  const copied = commits.every(({ copyOf }) => copyOf !== undefined);
  return `it ${copied ? "has a copy of" : "began on"} ${what} taken out of ${target} since`;
}

/** Why it did not land, as a clause, for whoever brought the branch. */
export function describeEnd(end: LandingEnd, branch: string): string {
  switch (end.kind) {
    case "landed":
      return "";
    case "conflict":
      return end.files.length === 0
        ? "it has no history in common with the target"
        : `it conflicts with the target in ${end.files.slice(0, 5).join(", ")}`;
    case "taken-back":
      return bringsBack(end.target, branch, end.commits);
    case "overreach":
      return `it changes ${end.over.files.slice(0, 5).join(", ")}`;
    case "gate":
      return describeGate(end.receipts);
    case "target-red":
      return describeTargetRed(end);
    case "missing":
      return "its commit is not in the repository any more";
    case "moved":
      return "the target kept moving";
    case "dirty":
    case "held":
    case "remote":
      return end.detail;
  }
}

export function describeTargetRed({ target, receipts }: Extract<LandingEnd, { kind: "target-red" }>): string {
  const failing = receipts.filter(({ verdict }) => verdict === "fail").map(({ name }) => name);
  return `${failing.join(", ")} already fails on ${target} itself`;
}

/** A person's word for a branch is no word for what was taken out of its target; that takes a hand of their own. */
function bringsBack(target: string, branch: string, taken: readonly TakenBackCommit[]): string {
  const [last] = taken;
  const named = taken.slice(0, 5).map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`);
  const own = `'git rebase --onto ${target} ${last?.commit.slice(0, 10)} ${branch}' leaves them out`;
  return `${describeTakenBack(target, taken)} (${named.join(", ")}); ${own}, 'git merge ${branch}' brings them in again`;
}
