/**
 * Whether checked work may become part of the target branch now, and a person's word that lets it: past a review, or
 * past files that only a person may let through. What comes of trying is after-landing.ts.
 */

import type { Moment } from "#domain/core/actor.ts";
import { type Refused, refuse } from "#domain/core/refusal.ts";
import { type Claim, type OpenClaim, tellUnchanged } from "#domain/model/claim.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen, liftBlock, nodeKey } from "#domain/model/work.ts";
import { claimEvent } from "./report-done.ts";

export type LandingMode = "review" | "auto";

/** Whether a claim may be landed now; otherwise why not. */
export function mayLand(
  node: WorkNode,
  mode: LandingMode,
):
  | { readonly ok: true; readonly claim: Claim; readonly branch: string }
  | { readonly ok: false; readonly why: "no-claim" | "unchecked" | "blocked" | "nothing-to-land" | "review" } {
  const { claim } = node;
  if (node.status === "blocked") return { ok: false, why: "blocked" };
  if (!claim || node.status !== "in_progress") return { ok: false, why: "no-claim" };
  if (claim.verdict === null) return { ok: false, why: "unchecked" };
  if (claim.branch === null) return { ok: false, why: "nothing-to-land" };
  // What a person sent back and gets once more lands by nobody else's word, whatever the mode.
  if ((mode === "review" || claim.unchanged) && claim.approvedBy === null) return { ok: false, why: "review" };
  return { ok: true, claim, branch: claim.branch };
}

/** The claim as the tick sees it; undefined where there is nothing for it to do. */
export function claimInSnapshot(node: WorkNode, mode: LandingMode): OpenClaim | undefined {
  const { claim, goalId, workNodeId } = node;
  if (!claim || node.status !== "in_progress") return undefined;
  const { assignmentId, commit, turn, claimedAt } = claim;
  const may = mayLand(node, mode);
  const state = claim.verdict === null ? "claimed" : may.ok ? "checked" : "landing";
  const reviewDue = !may.ok && may.why === "review" && claim.waiting?.for !== "review";
  const known = { assignmentId, goalId, workNodeId, commit, state, mayLand: may.ok, turn, claimedAt } as const;
  if (reviewDue) return { ...known, reviewDue, reviewDetail: describeReview(claim) };
  return may.ok && claim.waiting?.for === "review" ? { ...known, reviewedSince: claim.waiting.since } : known;
}

/** What a reviewer has to know first. */
function describeReview({ unchanged }: Claim): string {
  return unchanged === undefined ? "waiting for review" : `waiting for review; ${tellUnchanged(unchanged)}`;
}

/** A review is due: said once, and not again while it lasts. */
export function waitForReview(node: WorkNode, moment: Moment): Decision<null> {
  const { claim } = node;
  if (!claim || claim.waiting?.for === "review") return accept([], null);
  const data = { commit: claim.commit, for: "review", detail: describeReview(claim), files: [] } as const;
  return accept([claimEvent(node, claim, "landing.waiting", "review-due", data, moment)], null);
}

/** As many signs as git itself shows of a commit. */
const CLEAR_BEGINNING = 7;

/**
 * A person's word is about the commit that they were shown (whole or its beginning), not about what was reported since.
 * Undefined where that one is claimed, none was named, or nothing is claimed at all, which is said by others.
 */
export function refuseOtherCommit({ claim, ...node }: WorkNode, shown: string | undefined): Refused | undefined {
  if (!claim || shown === undefined) return undefined;
  const label = nodeKey(node.goalId, node.workNodeId);
  const hint = `'overseer review ${label}' shows it.`;
  if (shown.length < CLEAR_BEGINNING) {
    const message = `A commit is named by at least ${CLEAR_BEGINNING} signs of its id.`;
    return refuse("usage", "COMMIT_UNCLEAR", message, hint);
  }
  if (claim.commit.startsWith(shown.toLowerCase())) return undefined;
  const message = `${label} has reported another commit since (${claim.commit.slice(0, 12)}): review it again.`;
  return refuse("conflict", "CLAIM_CHANGED", message, hint);
}

/** A person lets it land: past a review, or past files that only a person may let through. */
export function approveLanding(node: WorkNode, reason: string | null, moment: Moment): Decision<string> {
  const { claim } = node;
  const label = nodeKey(node.goalId, node.workNodeId);
  if (!claim || !isOpen(node)) {
    return refuse(
      "conflict",
      "NOTHING_TO_LAND",
      `${label} has nothing waiting to land.`,
      `Run 'overseer why ${label}'.`,
    );
  }
  if (claim.verdict === null) {
    return refuse(
      "conflict",
      "NOT_CHECKED",
      `The work claimed for ${label} has not passed its checks.`,
      `'overseer why ${label}' shows their progress.`,
    );
  }
  const out = node.status === "blocked" ? liftBlock(node, "approved", reason, moment) : [];
  const approved = claimEvent(node, claim, "landing.approved", "approved", { commit: claim.commit, reason }, moment);
  return accept(claim.approvedBy === null ? [...out, approved] : out, label);
}
