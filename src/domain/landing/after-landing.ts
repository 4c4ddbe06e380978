/**
 * What each outcome of trying to land leads to: what overreaches is asked about, a conflict or a failed gate goes back to
 * the author, a checkout in which something is in the way is waited for. Landing closes node, assignment and claim in one
 * decision with the commit as evidence.
 */

import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { actionDecided } from "#domain/model/action.ts";
import { verdictOf } from "#domain/model/check.ts";
import type { Claim, LandingStrategy, PreparedLanding } from "#domain/model/claim.ts";
import { NOT_HOLDING_OPTIONS, OVERREACH_OPTIONS, TAKEN_BACK_OPTIONS } from "#domain/model/claim.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Fate, LookAgain, Merge } from "#domain/model/merge.ts";
import { isQueued, recordFate } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen, liftBlock, nodeKey } from "#domain/model/work.ts";
import { afterLandDecided, type LandedNow } from "./after-command.ts";
import { describeEnd, describeGate, describeTakenBack, describeTargetRed, type LandingEnd } from "./landing-end.ts";
import type { Overreach } from "./overreach.ts";
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
import { recordTakenBack } from "./take-back.ts";

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
    return refuse("conflict", "CLAIM_GONE", "The work to land is no longer claimed.", "Nothing was changed.");
  }
  const same = claim.prepared?.to === prepared.to && claim.prepared.from === prepared.from;
  if (same) return accept([], null);
  return accept([claimEvent(node, claim, "landing.prepared", "merged-cleanly", prepared, moment)], null);
}

/**
 * What follows from it for the claim, and for its entry in the queue in the same decision. Pass it through `settled`:
 * landing makes dependents ready.
 */
export function afterLanding(
  seen: ClaimSeen & { readonly merge?: Merge | undefined },
  commit: string,
  end: LandingEnd,
  policy: ReturnPolicy,
  moment: Moment,
): Decision<AfterLanding> {
  const { merge } = seen;
  const looks = merge?.looks ?? 0;
  const decision = decideClaimAfter(seen, commit, end, { ...policy, looks }, moment);
  const fate = decision.ok ? fateOfClaim(decision, end) : undefined;
  if (!decision.ok || !fate || !merge || !isQueued(merge)) return decision;
  return accept([...decision.events, recordFate(merge, fate, policy.lookAgain ?? AT_ONCE, moment.now)], decision.value);
}

const AT_ONCE: LookAgain = { base: 0, max: 0, tries: Number.POSITIVE_INFINITY };

/** Undefined where the entry stays as it is. */
function fateOfClaim(
  { events, value }: Extract<Decision<AfterLanding>, { ok: true }>,
  end: LandingEnd,
): Fate | undefined {
  const detail = queueDetail(events);
  switch (value.kind) {
    case "done":
      return end.kind === "landed" ? end : undefined;
    case "waiting":
      return { kind: "waiting", detail, ...(end.kind === "held" ? { until: end.until } : {}) };
    case "asked":
    case "blocked":
      if (!events.some(({ type }) => type === "work.returned"))
        return { kind: "parked", because: "a-person-is-needed", detail };
      return { kind: "refused", because: "did-not-hold", detail };
    case "returned":
    case "requeued":
      return { kind: "refused", because: "did-not-hold", detail };
    default:
      return undefined;
  }
}

function queueDetail(events: readonly NewEvent[]): string {
  for (const event of events) {
    if (event.type === "landing.refused" || event.type === "landing.waiting") return event.data.detail;
  }
  return "it does not hold";
}

/** How often something was in the way before, as the entry in the queue has it. */
type LandingPolicy = ReturnPolicy & { readonly looks: number };

function decideClaimAfter(
  seen: ClaimSeen,
  commit: string,
  end: LandingEnd,
  policy: LandingPolicy,
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
      const refusal = refuseLanding(node, claim, end.target, describeGate(end.receipts), [], "gate-failed", moment);
      if (verdictOf(end.receipts) === "did_not_run") {
        return accept([refusal, blockOnChecks(node, claim, end.receipts, moment)], { kind: "blocked" });
      }
      const failure = failureOf(end.receipts, `commit ${short(claim.commit)} merged into ${end.target}`);
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
  const landing = nodeKey(seen.node.goalId, seen.node.workNodeId);
  const sent = followLanding(policy, { target, commit: to, landing }, moment);
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

/** What the user wants done with every landing. */
function followLanding(
  policy: { readonly push?: boolean; readonly afterLand?: boolean },
  landed: LandedNow,
  moment: Moment,
): NewEvent[] {
  const { target, commit } = landed;
  return [
    ...(policy.push === true ? [pushDecided({ target, commit }, moment)] : []),
    ...(policy.afterLand === true ? [afterLandDecided(landed, moment)] : []),
  ];
}

/** The same decision asks its agent to stop; until that has ended there is nothing to remove. */
const REAP_AFTER_MS = 2_000;

/** WT-2: decided with the landing itself, so that no worktree is forgotten, whoever lands it and whatever dies. */
function requestReap(node: WorkNode, claim: Claim, moment: Moment): NewEvent {
  const { attempt, agent, assignmentId } = claim;
  const request = {
    ...{ goalId: node.goalId, nodeId: node.workNodeId, assignmentId, agent, attempt },
    actionId: `clean:${attempt}`,
    kind: "clean",
    because: "landed",
    notBefore: moment.now + REAP_AFTER_MS,
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
    advice: "Finish, commit, stash or move away what is there, or work on another branch",
  },
  remote: {
    because: "remote-not-followed",
    atLast: "remote-needs-a-person",
    advice: "Bring the two together, or fix the remote",
  },
};

function waitForObstacle(
  node: WorkNode,
  claim: Claim,
  end: InTheWay,
  policy: LandingPolicy,
  moment: Moment,
): Decision<AfterLanding> {
  const { commit } = claim;
  const { detail, files } = end;
  const words = IN_THE_WAY[end.for];
  const data = { commit, for: end.for, detail, files } as const;
  const waiting = claimEvent(node, claim, "landing.waiting", words.because, data, moment);
  const looks = policy.looks + 1;
  if (end.diverged !== true && looks < (policy.lookAgain?.tries ?? Number.POSITIVE_INFINITY))
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
  const detail = describeTargetRed(end);
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
  outside_scope: { what: "it changes files outside its scope", because: "outside-scope" },
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
  const text = `${label} by ${claim.agent} cannot land without a person: ${what} (${named}). Land it?`;
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
  const text = `${label} by ${claim.agent} cannot land without a person: ${detail} (${named}). Landing all of it brings them in again; its own commits can be landed without them; sent back, its author is to run 'git rebase --onto ${target} ${short(commits[0]?.commit ?? "")}'. What should happen?`;
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

function short(commit: string): string {
  return commit.slice(0, 10);
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

const INTEGRATE: Readonly<Record<LandingStrategy, (target: string) => string>> = {
  merge: (target) => `Merge ${target} into your branch ('git merge ${target}')`,
  squash: (target) => `Rebase your branch on ${target} ('git rebase ${target}')`,
};

function conflictFailure({ target, files, strategy, without }: Extract<LandingEnd, { kind: "conflict" }>): Failure {
  const integrate = without
    ? `Take only your own commits to ${target} ('git rebase --onto ${target} ${short(without)}')`
    : INTEGRATE[strategy ?? "merge"](target);
  return {
    what: `the branch conflicts with ${target} in ${files.length} ${files.length === 1 ? "file" : "files"}`,
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

/** A branch that a person brought: what is in the way is waited for, everything else is for that person to put right. */
export function afterBrought(
  entry: Merge | undefined,
  end: LandingEnd,
  policy: { readonly lookAgain: LookAgain; readonly push: boolean; readonly afterLand?: boolean },
  moment: Moment,
): Decision<{ readonly kind: "done" | "waiting" | "blocked" | "stale" }> {
  if (!entry || !isQueued(entry)) return accept([], { kind: "stale" });
  const fate = fateOfBrought(entry, end, policy.lookAgain.tries);
  const news = recordFate(entry, fate, policy.lookAgain, moment.now);
  if (fate.kind !== "landed") return accept([news], { kind: fate.kind === "refused" ? "blocked" : "waiting" });
  const sent = followLanding(policy, { target: entry.target, commit: fate.to, landing: entry.branch }, moment);
  return accept([news, ...recordTakenBack(entry, fate), ...sent], { kind: "done" });
}

function fateOfBrought(entry: Merge, end: LandingEnd, tries: number): Fate {
  if (end.kind === "landed") return end;
  const detail = describeEnd(end, entry.branch);
  const diverged = end.kind === "remote" && end.diverged === true;
  const inTheWay = end.kind === "dirty" || end.kind === "moved" || (end.kind === "remote" && !diverged);
  if (!inTheWay) return { kind: "refused", because: diverged ? "diverged" : end.kind, detail };
  if (entry.looks + 1 >= tries) return { kind: "parked", because: "never-clean", detail };
  return { kind: "waiting", detail };
}
