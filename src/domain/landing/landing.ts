/**
 * When checked work may become part of the target branch, and what each outcome of trying leads to. A diff that leaves
 * its scope, or touches what judges it, never lands without a person; a conflict or a failed gate goes back to the
 * author; a checkout with uncommitted changes is waited for. Landing closes node, assignment and claim in one decision
 * with the commit as evidence. How branches are merged and moved is git/landing.ts; queue and tiers come on top.
 */

import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { inScope, normalScope } from "#domain/core/scope.ts";
import { actionDecided } from "#domain/model/action.ts";
import type { Receipt } from "#domain/model/check.ts";
import { verdictOf } from "#domain/model/check.ts";
import type {
  Claim,
  LandedSubmodule,
  LandingStrategy,
  OpenClaim,
  PreparedLanding,
  TakenBackConsent,
} from "#domain/model/claim.ts";
import { NOT_HOLDING_OPTIONS, OVERREACH_OPTIONS, TAKEN_BACK_OPTIONS } from "#domain/model/claim.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Merge, MergeTier } from "#domain/model/merge.ts";
import { isQueued, mergeEvent } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen, liftBlock, nodeKey } from "#domain/model/work.ts";
import { setsUpAgents } from "#domain/permit/agent-files.ts";
import { pushDecided } from "./remote.ts";
import type { ClaimSeen, Failure, NotHeld, ReturnPolicy } from "./report-done.ts";
import {
  askPersonAboutClaim,
  blockOnChecks,
  claimEvent,
  claimWord,
  failureOf,
  finishNode,
  returnClaim,
} from "./report-done.ts";
import { isBelow, type Links, patternBehind, placesBehind } from "./tracked-links.ts";

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
  const { assignmentId, commit, turn } = claim;
  const may = mayLand(node, mode);
  const state = claim.verdict === null ? "claimed" : may.ok ? "checked" : "landing";
  return { assignmentId, goalId, workNodeId, commit, state, mayLand: may.ok, turn };
}

/** A review is due: said once, and not again while it lasts. */
export function waitForReview(node: WorkNode, moment: Moment): Decision<null> {
  const { claim } = node;
  if (!claim || claim.waiting?.for === "review") return accept([], null);
  const data = { commit: claim.commit, for: "review", detail: "waiting for review", files: [] } as const;
  return accept([claimEvent(node, claim, "landing.waiting", "review-due", data, moment)], null);
}

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
  /** A checkout of the target is not clean; nothing was touched. */
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

export type AfterLanding =
  | { readonly kind: "done" }
  | { readonly kind: "waiting" }
  | { readonly kind: "again" }
  | NotHeld
  | { readonly kind: "blocked" }
  | { readonly kind: "stale" };

/** The intention, before the branch is moved. Refused when the claim does not stand any more. */
export function prepareLanding(
  node: WorkNode | undefined,
  commit: string,
  prepared: PreparedLanding,
  moment: Moment,
): Decision<null> {
  const { claim } = node ?? {};
  if (!node || !claim || claim.commit !== commit || claim.verdict === null || node.status !== "in_progress") {
    return refuse("conflict", "CLAIM_GONE", "What was to be landed is not claimed any more.", "Nothing was changed.");
  }
  const same = claim.prepared?.to === prepared.to && claim.prepared.from === prepared.from;
  if (same) return accept([], null);
  return accept([claimEvent(node, claim, "landing.prepared", "merged-cleanly", prepared, moment)], null);
}

/** What follows from it. Pass the decision through `settled`: landing makes dependents ready. */
export function afterLanding(
  seen: ClaimSeen,
  commit: string,
  end: LandingEnd,
  policy: ReturnPolicy,
  moment: Moment,
): Decision<AfterLanding> {
  const { node } = seen;
  const { claim } = node;
  if (!claim || claim.commit !== commit || !isOpen(node)) return accept([], { kind: "stale" });
  switch (end.kind) {
    case "landed":
      return completeLanding(seen, claim, end, policy, moment);
    case "moved":
      return accept([], { kind: "again" });
    case "dirty":
      return waitForObstacle(node, claim, { ...end, for: "checkout" }, policy, moment);
    case "remote":
      return waitForObstacle(node, claim, { ...end, for: "remote", files: [] }, policy, moment);
    case "held":
      return waitForModel(node, claim, end, moment);
    case "target-red":
      return blockOnTarget(node, claim, end, moment);
    case "taken-back":
      return askAboutTakenBack(node, claim, end, policy, moment);
    case "overreach":
      return askAboutOverreach(node, claim, end, policy, moment);
    case "gate": {
      const refusal = refuseLanding(node, claim, end.target, gateDetail(end.receipts), [], "gate-failed", moment);
      if (verdictOf(end.receipts) === "did_not_run") {
        return accept([refusal, blockOnChecks(node, claim, end.receipts, moment)], { kind: "blocked" });
      }
      const failure = failureOf(end.receipts, `your work merged into ${end.target}`);
      return withFirst(refusal, returnClaim(seen, claim, { ...failure, because: "gate-failed" }, policy, moment));
    }
    case "conflict": {
      const failure = conflictFailure(end);
      const { target, onto, files } = end;
      const data = { commit: claim.commit, target, onto, detail: failure.what, files };
      const refusal = claimEvent(node, claim, "landing.refused", failure.because, data, moment);
      const rounds = policy.authorRounds ?? policy.rounds;
      return withFirst(refusal, returnClaim(seen, claim, failure, { ...policy, rounds }, moment));
    }
    case "missing": {
      const failure = missingFailure(claim);
      const refusal = refuseLanding(node, claim, end.target, failure.what, [], failure.because, moment);
      return withFirst(refusal, returnClaim(seen, claim, failure, policy, moment));
    }
  }
}

/** One decision: what landed, the node with the commit as its evidence, its assignment, and its agent asked to stop. */
function completeLanding(
  seen: ClaimSeen,
  claim: Claim,
  end: Extract<LandingEnd, { kind: "landed" }>,
  policy: ReturnPolicy,
  moment: Moment,
): Decision<AfterLanding> {
  const { target, from, to, strategy, already } = end;
  const sent = policy.push === true ? [pushDecided({ target, commit: to }, moment)] : [];
  const { submodules = [] } = end;
  const more = submodules.length > 0 ? { submodules } : {};
  const data = { commit: claim.commit, target, from, to, strategy, already, ...more };
  const news = claimEvent(seen.node, claim, "landing.landed", already ? "already-landed" : "landed", data, moment);
  const receipts = [
    ...claim.receipts.filter(({ on, verdict }) => on === "done" && verdict === "pass"),
    ...end.receipts,
  ];
  const unique = receipts.filter(
    (one, index) => receipts.findIndex(({ checkId }) => checkId === one.checkId) === index,
  );
  const node = { ...seen.node };
  const out = node.status === "blocked" ? liftBlock(node, "landed", null, moment) : [];
  const now = out.length > 0 ? ({ ...node, status: "in_progress" } as const) : node;
  const word = claimWord(claim, unique, to);
  const ends = finishNode({ ...seen, node: now }, word, "landed", moment);
  return accept([news, ...out, ...ends, requestReap(seen.node, claim, moment), ...sent], { kind: "done" });
}

/** WT-2: decided with the landing itself, so that no worktree is forgotten, whoever lands it and whatever dies. */
function requestReap(node: WorkNode, claim: Claim, moment: Moment): NewEvent {
  const { attempt, agent, assignmentId } = claim;
  const request = {
    ...{ goalId: node.goalId, nodeId: node.workNodeId, assignmentId, agent, attempt },
    actionId: `clean:${attempt}`,
    kind: "clean",
    because: "landed",
    notBefore: moment.now,
    payload: { reason: "Its work has landed." },
  } as const;
  return actionDecided(request, moment);
}

/** What is in the way, and what a person is told when it stays there. */
interface InTheWay {
  readonly for: "checkout" | "remote";
  readonly target: string;
  readonly detail: string;
  readonly files: readonly string[];
  readonly diverged?: true;
}

const IN_THE_WAY: Readonly<
  Record<InTheWay["for"], { readonly because: string; readonly atLast: string; readonly advice: string }>
> = {
  checkout: {
    because: "checkout-not-clean",
    atLast: "checkout-never-clean",
    advice: "Commit or put away what is there",
  },
  remote: {
    because: "remote-not-followed",
    atLast: "remote-needs-a-person",
    advice: "Bring the two together, or see to the remote",
  },
};

function waitForObstacle(
  node: WorkNode,
  claim: Claim,
  end: InTheWay,
  policy: ReturnPolicy,
  moment: Moment,
): Decision<AfterLanding> {
  const { commit } = claim;
  const { detail, files } = end;
  const words = IN_THE_WAY[end.for];
  const data = { commit, for: end.for, detail, files } as const;
  const waiting = claimEvent(node, claim, "landing.waiting", words.because, data, moment);
  const looks = (claim.waiting?.for === end.for ? claim.waiting.looks : 0) + 1;
  if (end.diverged !== true && looks < (policy.dirtyTries ?? Number.POSITIVE_INFINITY))
    return accept([waiting], { kind: "waiting" });
  const label = nodeKey(node.goalId, node.workNodeId);
  const because = words.atLast;
  const often = looks === 1 ? "" : ` I have looked ${looks} times.`;
  const text = `${label} by ${claim.agent} is finished and cannot land on ${end.target}: ${detail}.${often} ${words.advice}; then let me try again.`;
  const blocked = {
    kind: "human",
    detail,
    needs: `answer ${policy.questionId}, or 'overseer accept ${label}'`,
  } as const;
  return accept(
    [
      waiting,
      askPersonAboutClaim(node, claim, policy.questionId, text, NOT_HOLDING_OPTIONS, because, moment),
      claimEvent(node, claim, "work.blocked", because, { blocked }, moment),
    ],
    { kind: "asked" },
  );
}

/** Nobody is asked: what holds the model back (a quota, a budget) has its own way to people. */
function waitForModel(
  node: WorkNode,
  claim: Claim,
  end: Extract<LandingEnd, { kind: "held" }>,
  moment: Moment,
): Decision<AfterLanding> {
  const detail = `it conflicts with ${end.target}, and ${end.detail}`;
  const data = { commit: claim.commit, for: "model", detail, files: [] } as const;
  return accept([claimEvent(node, claim, "landing.waiting", "model-held-back", data, moment)], { kind: "waiting" });
}

/** The claim stays: when the target is whole again, `work unblock` lets the same commit land. */
function blockOnTarget(
  node: WorkNode,
  claim: Claim,
  end: Extract<LandingEnd, { kind: "target-red" }>,
  moment: Moment,
): Decision<AfterLanding> {
  const label = nodeKey(node.goalId, node.workNodeId);
  const failing = end.receipts.filter(({ verdict }) => verdict === "fail").map(({ name }) => name);
  const detail = `${failing.join(", ")} already fails on ${end.target} itself`;
  const needs = `fix ${end.target}, then 'overseer work unblock ${label}'`;
  const blocked = { kind: "environment", detail, needs } as const;
  return accept(
    [
      refuseLanding(node, claim, end.target, detail, [], "target-already-failing", moment),
      claimEvent(node, claim, "work.blocked", "target-already-failing", { blocked }, moment),
    ],
    { kind: "blocked" },
  );
}

const OVERREACH: Readonly<Record<Overreach["kind"], { readonly what: string; readonly because: string }>> = {
  outside_scope: { what: "it changes files outside of its scope", because: "outside-scope" },
  protected: { what: "it changes files that only a person may let through", because: "protected-files" },
  dropped_side: {
    what: "its resolution of a conflict leaves markers, or nothing of what one side had added",
    because: "side-dropped",
  },
};

/** Node and claim stay; a person's consent (`landing.approved`) lets the same commit land. */
function askAboutOverreach(
  node: WorkNode,
  claim: Claim,
  end: Extract<LandingEnd, { kind: "overreach" }>,
  policy: ReturnPolicy,
  moment: Moment,
): Decision<AfterLanding> {
  const { what, because } = OVERREACH[end.over.kind];
  const { files } = end.over;
  const label = nodeKey(node.goalId, node.workNodeId);
  const named = `${files.slice(0, 5).join(", ")}${files.length > 5 ? ` and ${files.length - 5} more` : ""}`;
  const text = `${label} by ${claim.agent} cannot land by itself: ${what} (${named}). Land it?`;
  const blocked = { kind: "human", detail: `${what}: ${named}`, needs: `answer ${policy.questionId}` } as const;
  return accept(
    [
      refuseLanding(node, claim, end.target, what, files, because, moment),
      askPersonAboutClaim(node, claim, policy.questionId, text, OVERREACH_OPTIONS, because, moment),
      claimEvent(node, claim, "work.blocked", because, { blocked }, moment),
    ],
    { kind: "asked" },
  );
}

/** Node and claim stay; what is to become of these commits is for a person to say, whatever was accepted before. */
function askAboutTakenBack(
  node: WorkNode,
  claim: Claim,
  end: Extract<LandingEnd, { kind: "taken-back" }>,
  policy: ReturnPolicy,
  moment: Moment,
): Decision<AfterLanding> {
  const { target, commits } = end;
  const label = nodeKey(node.goalId, node.workNodeId);
  const shown = commits.slice(0, 5).map(({ commit, subject }) => `${short(commit)} ${subject}`);
  const named = `${shown.join(", ")}${commits.length > 5 ? ` and ${commits.length - 5} more` : ""}`;
  const detail = describeTakenBack(target, commits);
  const because = "brings-back";
  const text = `${label} by ${claim.agent} cannot land by itself: ${detail} (${named}). Landing all of it brings them in again; its own commits can be landed without them; sent back, its author is to run 'git rebase --onto ${target} ${short(commits[0]?.commit ?? "")}'. What should happen?`;
  const blocked = { kind: "human", detail: `${detail}: ${named}`, needs: `answer ${policy.questionId}` } as const;
  const ids = commits.map(({ commit }) => commit);
  const refusal = { commit: claim.commit, target, detail, files: [], takenBack: ids };
  return accept(
    [
      claimEvent(node, claim, "landing.refused", because, refusal, moment),
      askPersonAboutClaim(node, claim, policy.questionId, text, TAKEN_BACK_OPTIONS, because, moment),
      claimEvent(node, claim, "work.blocked", because, { blocked }, moment),
    ],
    { kind: "asked" },
  );
}

/** As a clause, for claims and for branches that a person brought. */
export function describeTakenBack(target: string, commits: readonly TakenBackCommit[]): string {
  const what = commits.length === 1 ? "a commit that was" : `${commits.length} commits that were`;
  const copied = commits.every(({ copyOf }) => copyOf !== undefined);
  return `it ${copied ? "has a copy of" : "began on"} ${what} taken out of ${target} since`;
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

/** A person lets it land: past a review, or past files that only a person may let through. */
export function approveLanding(node: WorkNode, reason: string | null, moment: Moment): Decision<string> {
  const { claim } = node;
  const label = nodeKey(node.goalId, node.workNodeId);
  if (!claim || !isOpen(node)) {
    return refuse(
      "conflict",
      "NOTHING_TO_LAND",
      `${label} has nothing that waits to be landed.`,
      `Run 'overseer why ${label}'.`,
    );
  }
  if (claim.verdict === null) {
    return refuse(
      "conflict",
      "NOT_CHECKED",
      `What is claimed for ${label} has not passed its checks.`,
      `'overseer why ${label}' says how far they are.`,
    );
  }
  const out = node.status === "blocked" ? liftBlock(node, "approved", reason, moment) : [];
  const approved = claimEvent(node, claim, "landing.approved", "approved", { commit: claim.commit, reason }, moment);
  return accept(claim.approvedBy === null ? [...out, approved] : out, label);
}

function withFirst(first: NewEvent, decision: Decision<AfterLanding>): Decision<AfterLanding> {
  return decision.ok ? accept([first, ...decision.events], decision.value) : decision;
}

function refuseLanding(
  node: WorkNode,
  claim: Claim,
  target: string,
  detail: string,
  files: readonly string[],
  because: string,
  moment: Moment,
): NewEvent {
  const data = { commit: claim.commit, target, detail, files };
  return claimEvent(node, claim, "landing.refused", because, data, moment);
}

function gateDetail(receipts: readonly Receipt[]): string {
  const bad = receipts.filter(({ verdict }) => verdict !== "pass");
  return bad.map(({ name, why }) => `the check ${name} on the merged tree: ${why ?? "unknown"}`).join("; ");
}

const INTEGRATE: Readonly<Record<LandingStrategy, (target: string) => string>> = {
  merge: (target) => `Merge ${target} into your branch ('git merge ${target}')`,
  squash: (target) => `Rebase your branch on ${target} ('git rebase ${target}')`,
};

function conflictFailure({ target, files, strategy, without }: Extract<LandingEnd, { kind: "conflict" }>): Failure {
  const integrate = without
    ? `Take only your own commits to ${target} ('git rebase --onto ${target} ${short(without)}')`
    : INTEGRATE[strategy ?? "merge"](target);
  return {
    what: `your branch conflicts with ${target} in ${files.length} ${files.length === 1 ? "file" : "files"}`,
    material: files.join("\n"),
    hint: `${integrate}, keep what both sides meant, commit, run the checks, and report done again.`,
    because: "merge-conflict",
  };
}

function missingFailure(claim: Claim): Failure {
  return {
    what: `the commit ${claim.commit.slice(0, 10)} that was reported is not in the repository any more`,
    material: "",
    hint: "Commit your work on your branch and report done again.",
    because: "commit-missing",
  };
}

/** What the outcome means for its place in the queue: part of the same decision, so that the two never disagree. */
export function afterInQueue(
  merge: Merge | undefined,
  decision: Decision<AfterLanding>,
  end: LandingEnd,
  /** When what is in the way is looked at again. */
  nextLook: number,
  moment: Moment,
): Decision<AfterLanding> {
  if (!merge || !isQueued(merge) || !decision.ok) return decision;
  const quiet: Moment = { now: moment.now, actor: "overseer" };
  const { events, value } = decision;
  const add = (event: NewEvent) => accept([...events, event], value);
  const detail = queueDetail(events);
  switch (value.kind) {
    case "done":
      if (end.kind !== "landed") return decision;
      return add(
        mergeEvent(
          merge,
          "merge.landed",
          "landed",
          { from: end.from, to: end.to, tier: end.tier ?? "clean-merge" },
          quiet,
        ),
      );
    case "waiting":
      return add(mergeEvent(merge, "merge.waiting", "not-yet", { detail, notBefore: nextLook }, quiet));
    case "asked":
    case "blocked": {
      const gone = events.some(({ type }) => type === "work.returned");
      if (!gone) return add(mergeEvent(merge, "merge.parked", "a-person-is-needed", { detail }, quiet));
      return add(mergeEvent(merge, "merge.ended", "did-not-hold", { to: "refused", detail }, quiet));
    }
    case "returned":
    case "requeued":
      return add(mergeEvent(merge, "merge.ended", "did-not-hold", { to: "refused", detail }, quiet));
    default:
      return decision;
  }
}

function queueDetail(events: readonly NewEvent[]): string {
  for (const event of events) {
    if (event.type === "landing.refused" || event.type === "landing.waiting") return event.data.detail;
  }
  return "it does not hold";
}
