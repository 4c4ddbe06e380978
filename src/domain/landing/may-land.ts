/**
 * Whether checked work may become part of the target branch now, and a person's word that lets it: past a review, or
 * past files that only a person may let through. What comes of trying is after-landing.ts.
 */

import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import type { Claim, OpenClaim } from "#domain/model/claim.ts";
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
  if (mode === "review" && claim.approvedBy === null) return { ok: false, why: "review" };
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
  return reviewDue ? { ...known, reviewDue } : known;
}

/** A review is due: said once, and not again while it lasts. */
export function waitForReview(node: WorkNode, moment: Moment): Decision<null> {
  const { claim } = node;
  if (!claim || claim.waiting?.for === "review") return accept([], null);
  const data = { commit: claim.commit, for: "review", detail: "waiting for review", files: [] } as const;
  return accept([claimEvent(node, claim, "landing.waiting", "review-due", data, moment)], null);
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
