/**
 * What one tick knows: the part of the store that is open, what the agents are seen to do, and the numbers by which it
 * is judged. Plain data, made by whoever observes (engine/tick.ts, the simulator, a test); rules read nothing else, so
 * the same snapshot always leads to the same decisions. No Date, no port, no function in it.
 */

import type { FleetLimits, Room } from "#domain/agents/admission.ts";
import type { Backoff } from "#domain/core/backoff.ts";
import type { Action } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { OpenClaim } from "#domain/model/claim.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { LadderLimits, Recovery } from "#domain/model/ladder-state.ts";
import type { AgentLimits, Allowance, OwnLimits } from "#domain/model/limits.ts";
import type { Question } from "#domain/model/question.ts";
import type { UsageTotals } from "#domain/model/usage-totals.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { Fingerprint } from "#domain/signals/fingerprint.ts";
import type { Pulse } from "#domain/signals/pulse.ts";

/** Where a piece of evidence was seen. Two of one source are one witness. */
export const EVIDENCE_SOURCES = [
  "process",
  "agent",
  "terminal",
  "effort",
  "commit",
  "tree",
  "check",
  "report",
  "finding",
] as const;
export type EvidenceSource = (typeof EVIDENCE_SOURCES)[number];

/**
 * `gone`: a sign of death. `alive`: it is there, and no more. `active`: the agent did something. `progress`: the work
 * got on (a commit, a changed file, a check's result, an accepted report; for who only reads, a first look or something
 * told). A step that was completed is `active` and no more: only progress gives budgets back (HEALTH-3). `dialog`: it waits for a person's answer.
 */
export const EVIDENCE_CLAIMS = ["gone", "alive", "active", "progress", "dialog"] as const;
export type EvidenceClaim = (typeof EVIDENCE_CLAIMS)[number];

export interface LivenessEvidence {
  readonly source: EvidenceSource;
  readonly says: EvidenceClaim;
  /** When it was so, wall clock ms. */
  readonly at: number;
  /** `proof`: the kernel or the parent says so. `weak`: it may mean something else. */
  readonly reliability: "proof" | "strong" | "weak";
}

/** One living attempt as it is seen now. */
export interface AgentSeen {
  readonly attempt: Attempt;
  readonly pulse: Pulse | null;
  /** There is a pulse, and it cannot be used: what the agent does is not known before its next signal. */
  readonly isPulseUnusable?: boolean;
  readonly evidence: readonly LivenessEvidence[];
  /** The watcher's own time since the pulse last moved; null when it has not watched long enough to say. */
  readonly quietMs: number | null;
  /**
   * The watcher's own time since the processes below its CLI last used the processor, read or wrote; null when it has
   * not watched long enough to say, or cannot see them. Missing where nobody looked.
   */
  readonly toolsStillMs?: number | null;
  readonly waiting: WaitingMessages;
  /** Runtime and profile: whose quota it uses. */
  readonly account: string;
  /** What its last words say about its silence; only where it seems stale, and they say anything. */
  readonly fingerprint?: Fingerprint;
}

/** What lies in an agent's inbox. */
export interface WaitingMessages {
  readonly queued: number;
  readonly handed: number;
  /** Dispatches that the agent has not been seen to take. */
  readonly unseen: readonly string[];
  /** Since when the oldest of them waits; null when nothing does. */
  readonly since: number | null;
}

export const NO_MESSAGES: WaitingMessages = { queued: 0, handed: 0, unseen: [], since: null };

/** Every number the rules judge by. */
export interface Limits {
  /** False: nothing is dispatched nor recovered; the tick only records itself. */
  readonly enabled: boolean;
  readonly idleAfterMs: number;
  readonly startingLimitMs: number;
  readonly toolLimitMs: number;
  readonly minimumAgeMs: number;
  readonly zombieAfterMs: number;
  readonly loopRepeats: number;
  readonly ladder: LadderLimits;
  readonly fleet: FleetLimits;
  readonly quotaBackoff: Backoff;
  readonly provider: {
    /** So long a CLI may try by itself before that counts as a failure of its provider. */
    readonly patienceMs: number;
    readonly backoff: Backoff;
  };
  readonly massDeath: { readonly count: number; readonly withinMs: number };
  readonly budgets: {
    /** Share, 0 to 1, at which a warning is given. */
    readonly warnAt: number;
    readonly agent: Allowance;
    readonly goal: Allowance;
    readonly day: Allowance;
  };
  /** Whose quota new agents will use, unless their node or role names a runtime of its own. */
  readonly defaultAccount: string;
  /** The same by role, of those that name one. */
  readonly roleAccounts: Readonly<Record<string, string>>;
  /** Roles whose sessions may be given the next piece of work; none unless a role says so. */
  readonly continuing: readonly string[];
  /** What names its agent may continue in the session of another (policy.allowCrossAgent). */
  readonly crossAgent: boolean;
  readonly defaultCapability: string;
  /** Roles that only read: what they find is their progress. */
  readonly readOnly: readonly string[];
  /** The model with which a fresh agent tries where one of that role is stuck, by role; those that allow one. */
  readonly strongerModels: Readonly<Record<string, string>>;
  readonly planner: {
    /** Why no model is asked about work that is stuck, as a clause; null where one is. */
    readonly off: string | null;
    readonly replansPerNode: number;
    /** The ladder waits no longer than this for a model to say how work is split. */
    readonly splitWithinMs: number;
    readonly diagnoseStalls: boolean;
    readonly diagnosesPerHour: number;
    /** Nor longer than this for what it says about a stall. */
    readonly diagnoseWithinMs: number;
  };
  /** A model's opinion on failures; null where none is asked. It is waited for no longer than this. */
  readonly triage: { readonly withinMs: number } | null;
  /** How many workers auto mode has of its own; null where it does not run. */
  readonly auto: { readonly concurrency: number } | null;
  /** What roles say for their agents, by name; those that say nothing are left out. */
  readonly roles: Readonly<Record<string, OwnLimits>>;
}

/** The fleet's limits for an agent whose role and node say nothing. */
export function agentLimits({ idleAfterMs, startingLimitMs, toolLimitMs, ladder, budgets }: Limits): AgentLimits {
  return { idleAfterMs, startingLimitMs, toolLimitMs, patienceMs: ladder.patienceMs, budget: budgets.agent };
}

/** An attempt, and how full its session is. */
export interface SessionSeen {
  readonly attempt: Attempt;
  readonly pulse: Pulse | null;
}

export interface Snapshot {
  readonly now: number;
  /** Why this tick runs. */
  readonly reason: string;
  readonly limits: Limits;
  /** Goals that are active or paused, and cancelled ones that still have living agents. */
  readonly goals: readonly Goal[];
  /** All nodes of those goals. */
  readonly nodes: readonly WorkNode[];
  /** Live assignments. */
  readonly assignments: readonly Assignment[];
  readonly agents: readonly AgentSeen[];
  /** The last attempt of every node that nobody works on, and all that ended within the mass-death window. */
  readonly ended: readonly Attempt[];
  /** The newest attempts, living or not; only where a role lets a session continue with other work. */
  readonly sessions: readonly SessionSeen[];
  readonly recoveries: readonly Recovery[];
  readonly conditions: readonly Condition[];
  /** Actions that are not over. */
  readonly actions: readonly Action[];
  /** Ids of actions that ended lately: what was done or given up is not asked for again under the same name. */
  readonly lately: readonly string[];
  /** Those of them that were given up, or not wanted any more, with why. */
  readonly givenUp: readonly Pick<Action, "actionId" | "problem">[];
  readonly questions: readonly Question[];
  readonly claims: readonly OpenClaim[];
  readonly usage: UsageTotals;
  readonly room: Room;
  readonly frozen: boolean;
  /** When it was thawed last, wall clock ms; 0 when it never was. */
  readonly thawedAt: number;
  readonly safeMode: boolean;
  /** Why nothing may be started under the settings as they are, as a clause; null when it may. */
  readonly held: string | null;
  /** The daemon only watches: nobody is started, and nothing is checked or landed. */
  readonly watching: boolean;
  /** How long the watcher stood still since its last look, where that is longer than it should be; else 0. */
  readonly skippedMs: number;
  /** Starts within the last minute, wall clock ms. */
  readonly recentStarts: readonly number[];
  /** What the log says since the last tick's cursor, for telling outcomes to whoever asked. */
  readonly news: readonly EventOf[];
  /** The last event the news were read up to. */
  readonly newsUpTo: number;
}
