/**
 * A claim: somebody's word that a node is done, tied to one commit. Until checks that we run have passed on that very
 * commit it is a word and nothing more; until it has landed, the node is still in progress. The claim lies with its
 * node and stands on the commit, not on the agent: an agent that dies after reporting takes nothing with it. This file
 * knows what a claim is and how events change it; what may be claimed, and what follows, is decided in report-done.ts
 * and after-landing.ts.
 */
import { type Actor, nameOfActor } from "#domain/core/actor.ts";
import type { Receipt } from "./check.ts";
import type { Evidence } from "./crystallization.ts";
import type { EventOf } from "./event.ts";
import type { MergeTier } from "./merge.ts";

export type LandingStrategy = "merge" | "squash";

/** A submodule that the target now has at a commit which no remote of it has. */
export interface LandedSubmodule {
  readonly path: string;
  readonly commit: string;
  /** Where the project keeps the commit; null when it could not be kept. */
  readonly ref: string | null;
  /** The user's own repository of that submodule has it too. */
  readonly brought: boolean;
  readonly problem?: string;
}

/** What is about to become the target's tip, written down before the branch is moved: so a repeat knows its own work. */
export interface PreparedLanding {
  readonly target: string;
  readonly from: string;
  readonly to: string;
  readonly tree: string;
  readonly strategy: LandingStrategy;
  /** The tree that was gated, where it landed in a batch with others. */
  readonly gateTree?: string;
  readonly tier?: MergeTier;
}

/** Why a checked claim has not landed, where that is nobody's fault: it is looked at again. */
export interface LandingWait {
  readonly for: "review" | "checkout" | "remote" | "model";
  readonly detail: string;
  readonly files: readonly string[];
  readonly looks: number;
  readonly since: number;
  readonly lastAt: number;
}

/** Commits that a person took out of the target, and that this work would bring in again. */
export interface TakenBack {
  readonly commits: readonly string[];
  /** What a person said when asked: only what its author did on top of them, or all of it. */
  readonly consent: TakenBackConsent | null;
}

export type TakenBackConsent = "own" | "all";

/** A person's no to a commit, in their words; whoever continues with the work has to answer it. */
export interface SentBack {
  readonly commit: string;
  /** What the commit holds: made again under another name, it is still what was sent back. */
  readonly tree?: string;
  readonly words: string;
  readonly by: string;
  readonly at: number;
  /** The attempt that reported the same once more, and was told so. */
  readonly toldTo?: number;
}

/** Refused once to each author: what it reports is what a person sent back. */
export const SENT_BACK_UNCHANGED = "SENT_BACK_UNCHANGED";

export interface Claim {
  readonly attempt: number;
  readonly agent: string;
  readonly assignmentId: string;
  /** What is claimed to be the work; the base itself when nothing had to be changed. */
  readonly commit: string;
  readonly base: string;
  /** Null where there is nothing to land. */
  readonly branch: string | null;
  /** Why nothing had to be changed, in the agent's words. */
  readonly noChangeReason: string | null;
  readonly summary: string;
  readonly evidence: Evidence;
  readonly crystallizationId: string | null;
  readonly claimedAt: number;
  /** `unverified`: no check is configured, so it stands on somebody's word. */
  readonly verdict: "pass" | "unverified" | null;
  readonly checkedAt: number | null;
  readonly receipts: readonly Receipt[];
  /** Rises when it gets another chance (its block is gone, a person lets it land): what was tried before is due again. */
  readonly turn: number;
  /** Who let it land, where a person was asked. */
  readonly approvedBy: string | null;
  readonly prepared: PreparedLanding | null;
  readonly waiting: LandingWait | null;
  readonly takenBack?: TakenBack;
  readonly tree?: string;
  /** It is what a person sent back, claimed once more: only a person lets it land, who is told so. */
  readonly unchanged?: Pick<SentBack, "words" | "by" | "at">;
}

/** What a person may answer where the work touches what only a person may let through. */
export const OVERREACH_OPTIONS = ["land it", "send it back"] as const;
/** Where it began on commits that were taken out of the target since. */
export const TAKEN_BACK_OPTIONS = ["land only its own commits", "land all of it", "send it back"] as const;
/** And where it does not hold, and its author has used up its rounds. */
export const NOT_HOLDING_OPTIONS = ["try again", "cancel it"] as const;

/** Enough for every check on both trees of the last tries; the log has them all. */
const RECEIPTS_KEPT = 20;

/** How an event changes the claim of a node. Total; an event that is not about it returns it as it was. */
export function applyToClaim(claim: Claim | undefined, event: EventOf): Claim | undefined {
  switch (event.type) {
    case "work.claimed":
      return {
        ...event.data,
        attempt: event.attempt ?? 0,
        agent: event.agent ?? "",
        assignmentId: event.assignmentId ?? "",
        claimedAt: event.at,
        verdict: null,
        checkedAt: null,
        // The same tree may be claimed again after a word was corrected; its verdicts still hold.
        receipts: claim?.receipts ?? [],
        turn: 1,
        approvedBy: null,
        prepared: null,
        waiting: null,
      };
    case "work.returned":
    case "work.requeued":
    case "work.done":
    case "work.cancelled":
      return undefined;
    case "work.started":
      return claim && event.assignmentId === claim.assignmentId
        ? { ...claim, turn: claim.turn + 1, waiting: null }
        : undefined;
    default:
      return claim ? applyToStanding(claim, event) : undefined;
  }
}

function applyToStanding(claim: Claim, event: EventOf): Claim {
  switch (event.type) {
    case "check.finished":
      return { ...claim, receipts: [...claim.receipts, event.data].slice(-RECEIPTS_KEPT) };
    case "work.checked":
      return event.data.commit === claim.commit
        ? { ...claim, verdict: event.data.verdict, checkedAt: event.at, waiting: null }
        : claim;
    case "landing.prepared":
      return { ...claim, prepared: event.data, waiting: null };
    case "landing.refused": {
      const { takenBack: commits } = event.data;
      return commits ? { ...claim, takenBack: { commits, consent: null } } : claim;
    }
    case "landing.approved": {
      const again = { ...claim, turn: claim.turn + 1, waiting: null };
      const { takenBack: consent } = event.data;
      if (!consent) return { ...again, approvedBy: event.actor };
      // A word about these commits and nothing else: what else a person must let through is asked for by itself.
      return claim.takenBack ? { ...again, takenBack: { ...claim.takenBack, consent } } : again;
    }
    case "landing.waiting": {
      const { for: what, detail, files } = event.data;
      const before = claim.waiting?.for === what ? claim.waiting : undefined;
      return {
        ...claim,
        waiting: {
          for: what,
          detail,
          files,
          looks: (before?.looks ?? 0) + 1,
          since: before?.since ?? event.at,
          lastAt: event.at,
        },
      };
    }
    default:
      return claim;
  }
}

/** A report of done, and how far it has been looked into. */
export interface OpenClaim {
  readonly assignmentId: string;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly commit: string | null;
  /** `claimed`: not checked. `checked`: waits to land. `landing`: it is in the queue or waits for a person. */
  readonly state: "claimed" | "checked" | "landing";
  /** Landing needs no person's word, or has it. */
  readonly mayLand: boolean;
  /** Rises when the same commit gets another chance; what is done for it is done once for each. */
  readonly turn?: number;
  /** A claim made again, on the same commit too, is another one. */
  readonly claimedAt: number;
  /** A person has to review it, and that was not said yet. */
  readonly reviewDue?: boolean;
  /** And in which words it is said. */
  readonly reviewDetail?: string;
  /** Since when it waited for a review that it needs no more: a daemon before this one left landing to people. */
  readonly reviewedSince?: number;
}

/** For whoever reviews it: `unchanged since ada sent it back ("add an accent")`. */
export function tellUnchanged({ words, by }: NonNullable<Claim["unchanged"]>): string {
  const text = words.trim().replace(/\s+/g, " ");
  const clipped = text.length > 200 ? `${text.slice(0, 199)}…` : text;
  return `unchanged since ${nameOfActor(by as Actor)} sent it back ("${clipped}")`;
}
