/**
 * Everything that ever happened, as one union. The log is the truth and every table of the domain is a fold of it,
 * so an event says enough to be folded (data), to be found (ids) and to be understood (actor, because).
 * Events outlive code: a type is never renamed or re-used, and a changed payload gets a new version and an upcast
 * (upcast.ts).
 */

import type { Actor } from "#domain/core/actor.ts";
import type { ActionKind, ActionPayloads } from "./action.ts";
import type { Advice, Triage } from "./advice.ts";
import type {
  AssignmentTarget,
  BlockedAssignment,
  DispatchMode,
  DispatchResult,
  RecoveryPolicy,
} from "./assignment.ts";
import type {
  AttemptEnd,
  AttemptPlan,
  AttemptSeals,
  ProcessMark,
  SlingStep,
  StepState,
  Usage,
  WorktreePart,
} from "./attempt.ts";
import type { HardFailure, PoolOutcome, PoolSource, Worker } from "./auto.ts";
import type { CheckMoment, Receipt } from "./check.ts";
import type {
  LandedSubmodule,
  LandingStrategy,
  LandingWait,
  PreparedLanding,
  SentBack,
  TakenBackConsent,
} from "./claim.ts";
import type { DispatchCap } from "./condition.ts";
import type { CrystallizationBody, Evidence } from "./crystallization.ts";
import type { GoalDefinition, Origin, Planning, PlanRevision, Priority, Proposal, RepoSnapshot } from "./goal.ts";
import type { LeadSession } from "./lead.ts";
import type { LearningBody, LearningOutcome, LearningSource } from "./learning.ts";
import type { Allowance, BudgetOrigin, Spendable } from "./limits.ts";
import type { MergeTier, PushWish, TakesBack } from "./merge.ts";
import type { Letter, SyncUrgency } from "./message.ts";
import type { KeptNews } from "./news.ts";
import type { ReportStatus } from "./protocol.ts";
import type { ProviderCause } from "./provider-cause.ts";
import type { ChannelName } from "./question.ts";
import type { PaceLevel } from "./role.ts";

import type { BlockedReason, NodeDefinition } from "./work.ts";

interface Reason {
  readonly reason: string | null;
}

/** A step of recovery: the how-many-eth of its kind, what for, and until when nothing follows. */
interface Step {
  readonly number: number;
  readonly cause: string;
  readonly backoffUntil: number;
}

interface Spending {
  /** `agent:47`, `goal:goal_x`, `day:2026-03-01`. */
  readonly scope: string;
  readonly what: Spendable;
  readonly spent: number;
  readonly limit: number;
  /** Whose limit it is, and of which role where it is that role's; an older version did not say. */
  readonly by?: BudgetOrigin;
  readonly role?: string;
}

/** The catalogue: what each type of event carries. docs/events.md is made from this list, by test. */
export interface EventData {
  "goal.created": GoalDefinition & { readonly origin: Origin; readonly repo: RepoSnapshot };
  "goal.updated": { readonly changes: Partial<GoalDefinition> };
  "goal.paused": Reason;
  "goal.resumed": Reason;
  "goal.completed": Reason;
  "goal.cancelled": Reason;
  "goal.archived": Reason;

  "plan.accepted": Omit<PlanRevision, "at">;
  /** A model is to be asked for a plan. */
  "plan.wanted": Pick<Planning, "number" | "remark" | "scout" | "accept">;
  /** No model can be asked for it now. */
  "plan.waits": { readonly number: number; readonly detail: string; readonly until: number };
  "plan.proposed": Proposal & { readonly number: number };
  /** There is no answer that holds; what was wrong with each, and where the answers lie. */
  "plan.failed": {
    readonly number: number;
    readonly problems: readonly string[];
    readonly rejected: readonly string[];
    readonly logPath: string;
  };
  "plan.dropped": { readonly number: number; readonly reason: string | null };

  "work.added": NodeDefinition & { readonly revision: number };
  "work.redefined": { readonly definition: NodeDefinition; readonly revision: number };
  "work.queued": Reason;
  "work.started": Reason;
  "work.requeued": Reason;
  "work.blocked": { readonly blocked: BlockedReason };
  "work.unblocked": Reason;
  "work.done": {
    readonly summary: string;
    readonly evidence: Evidence;
    readonly crystallizationId: string | null;
    /** Nothing of ours checked it; it stands on somebody's word. */
    readonly unverified: boolean;
  };
  "work.cancelled": Reason;
  "work.overridden": { readonly to: "done" | "cancelled"; readonly reason: string };
  /** A report of done: a claim on a commit, and no more than that. */
  "work.claimed": {
    readonly commit: string;
    readonly base: string;
    readonly branch: string | null;
    readonly noChangeReason: string | null;
    readonly summary: string;
    readonly evidence: Evidence;
    readonly crystallizationId: string | null;
    readonly tree?: string;
    /** The same as what a person sent back before; who, when, and in which words. */
    readonly unchanged?: Pick<SentBack, "words" | "by" | "at">;
  };
  "work.checked": {
    readonly commit: string;
    readonly verdict: "pass" | "unverified";
    readonly checks: readonly string[];
  };
  /** The claim did not hold; whoever made it keeps working. */
  "work.returned": {
    readonly commit: string;
    readonly round: number;
    readonly reason: string;
    /** A person's own words, where a person sent it back; and the tree that they saw. */
    readonly words?: string;
    readonly tree?: string;
  };
  /** A person took its landing back: the node stays done, and what it brought is out of the target. */
  "work.taken_back": {
    readonly target: string;
    /** What the target had become by the landing. */
    readonly landed: string;
    /** The commit that takes it back; null where nothing of it was left to be taken out. */
    readonly commit: string | null;
    readonly reason: string | null;
  };
  /** The same is to be done once more, as a node of its own. */
  "work.given_anew": { readonly as: string; readonly reason: string | null };

  "check.started": {
    readonly checkId: string;
    readonly name: string;
    readonly on: CheckMoment;
    readonly commit: string;
    readonly tree: string;
    readonly command: string;
    readonly logPath: string;
  };
  "check.finished": Receipt;

  /** Written before the branch is moved, so that a repeat knows its own work. */
  "landing.prepared": PreparedLanding;
  "landing.landed": {
    readonly commit: string;
    readonly target: string;
    readonly from: string;
    readonly to: string;
    readonly strategy: LandingStrategy;
    /** It was in the target already when we came. */
    readonly already: boolean;
    /** Submodules that now point to commits which no remote of theirs has. */
    readonly submodules?: readonly LandedSubmodule[];
  };
  "landing.refused": {
    readonly commit: string;
    readonly target: string;
    readonly detail: string;
    readonly files: readonly string[];
    /** The commit that it conflicts with, where it does. */
    readonly onto?: string;
    /** Commits that were taken out of the target and would come back with it. */
    readonly takenBack?: readonly string[];
  };
  "landing.waiting": { readonly commit: string } & Pick<LandingWait, "for" | "detail" | "files">;
  "landing.approved": {
    readonly commit: string;
    readonly reason: string | null;
    /** A word about what was taken out of the target and would come back, and about nothing else. */
    readonly takenBack?: TakenBackConsent;
  };
  /** A git of the user's that had read the index before wrote it back after the landing: what landed was staged as taken out. */
  "landing.index_mended": { readonly target: string; readonly to: string; readonly files: readonly string[] };
  /** The very next commit of the user's has files of it as they were before the landing, and does not say why. */
  "landing.undone": {
    readonly target: string;
    readonly to: string;
    readonly commit: string;
    readonly files: readonly string[];
  };

  /** The target here was behind the remote's and has caught up. */
  "remote.followed": { readonly remote: string; readonly target: string; readonly from: string; readonly to: string };
  "remote.pushed": PushWish;
  "remote.refused": PushWish & { readonly detail: string };

  /** A branch is on its way into the target; `since` is when it could first have landed. */
  "merge.queued": {
    readonly mergeId: string;
    readonly target: string;
    readonly branch: string;
    readonly commit: string;
    readonly priority: Priority;
    readonly since: number;
    /** The landing that it takes back. */
    readonly takesBack?: TakesBack;
  };
  "merge.testing": { readonly mergeId: string; readonly batch: string; readonly size: number };
  "merge.waiting": {
    readonly mergeId: string;
    readonly detail: string | null;
    readonly notBefore: number;
    /** Where this look does not count. */
    readonly looks?: number;
  };
  "merge.parked": { readonly mergeId: string; readonly detail: string };
  "merge.landed": { readonly mergeId: string; readonly from: string; readonly to: string; readonly tier: MergeTier };
  /** A conflict was resolved, and what came out has landed; the files by the names of their contents. */
  "merge.resolved": {
    readonly path: string;
    readonly base: string;
    readonly ours: string;
    readonly theirs: string;
    readonly result: string;
    readonly tier: MergeTier;
  };
  "merge.ended": { readonly mergeId: string; readonly to: "refused" | "withdrawn"; readonly detail: string };

  /** A model was asked; prompt and answer lie in the log that is named. */
  "model.asked": {
    readonly callId: string;
    readonly purpose: string;
    readonly prompt: string;
    readonly promptHash: string;
    /** The text was the user's own. */
    readonly ownPrompt?: true;
    readonly model: string | null;
    readonly tries: number;
    readonly ok: boolean;
    readonly problems: readonly string[];
    readonly inputBytes: number;
    readonly costUsd: number | null;
    /** What all tries together read and wrote; null where nobody said. */
    readonly tokens?: Omit<Usage, "costUsd" | "turns" | "toolCalls"> | null;
    readonly durationMs: number;
    readonly logPath: string;
  };

  "assignment.created": {
    readonly target: AssignmentTarget;
    readonly recoveryPolicy: RecoveryPolicy;
    readonly idleAfterMs: number;
    readonly dueEveryMs?: number;
  };
  "assignment.dispatched": {
    /** Whose session it was sent to, where that is not the agent's own (DISP-3). */
    readonly target?: string;
    readonly dispatchId: string;
    readonly mode: DispatchMode;
    readonly instruction: string;
    readonly instructionHash: string;
    readonly expectedNextUpdateAt: number | null;
  };
  "assignment.delivered": {
    readonly dispatchId: string;
    readonly result: DispatchResult;
    readonly runId: string | null;
    readonly notes: string;
  };
  "assignment.active": Reason;
  "assignment.stalled": Reason;
  "assignment.blocked": { readonly blocked: BlockedAssignment };
  "assignment.done": Reason;
  "assignment.cancelled": Reason;
  /** The steps of recovery; each says how long the next one waits. */
  "assignment.nudged": Step & {
    readonly dispatchId: string;
    readonly severity: "hint" | "warning" | "critical";
    readonly instructionHash: string;
  };
  "assignment.status_requested": {
    readonly dispatchId: string;
    readonly dueAt: number;
    readonly instructionHash: string;
  };
  "assignment.resent": Step & {
    readonly dispatchId: string;
    /** It had been seen: given again on purpose, under a new id. */
    readonly rerun: boolean;
    readonly instructionHash: string;
  };
  /** A model is asked how its work can be split into smaller pieces. */
  "assignment.replanning": { readonly number: number; readonly cause: string };
  "assignment.replan_skipped": { readonly reason: string };
  /** A fresh agent with the stronger model of its role; once for each node. */
  "assignment.strengthened": Step & { readonly model: string };
  /** What a model said about the stall: what the ladder may do of it, and what it may not. */
  "assignment.diagnosed": {
    readonly diagnosis: string;
    readonly actions: readonly Advice[];
    readonly refused: readonly { readonly advice: Advice; readonly reason: string }[];
    readonly model: string | null;
    readonly promptHash: string;
    /** It was about an agent that has died or failed, and not about a stall. */
    readonly triage?: Triage;
  };
  "assignment.diagnosis_failed": { readonly reason: string };
  /** The ladder came to the next piece of such advice, and took it or not. */
  "assignment.advised": {
    readonly advice: Advice;
    readonly refused: string | null;
    readonly backoffUntil: number | null;
  };
  "assignment.reassigning": Step;
  "assignment.parked": Step;
  "assignment.escalated": Step & { readonly questionId: string };
  "assignment.restarting": Step & { readonly after: number };
  /** Signs of death that do not prove it; judged again while they stay the same. */
  "assignment.doubted": { readonly key: string; readonly signs: readonly string[] };
  /** Evidence that the work makes progress; the budgets of recovery come back. */
  "assignment.progressed": { readonly source: string; readonly seenAt: number };

  "agent.slung": AttemptPlan;
  "agent.step": { readonly step: SlingStep; readonly state: StepState; readonly terminal?: unknown };
  /** `launchHash`: of the files that its runner is started with. */
  "agent.starting": { readonly launchHash?: string };
  "agent.started": { readonly runner: ProcessMark; readonly seals?: AttemptSeals };
  "agent.leg": { readonly process: ProcessMark; readonly session: string };
  "agent.paused": { readonly now: boolean; readonly reason: string | null };
  "agent.resumed": Reason;
  /** `resume`: its work is put aside, and the same agent continues with it when its time comes. */
  "agent.stop_requested": Reason & { readonly resume?: boolean };
  "agent.interrupt_requested": Reason;
  /** Its repository was moved; where its worktree is now. */
  "agent.relocated": { readonly worktree: string };
  "agent.ended": AttemptEnd;
  /** Git's own files of its worktree are spoiled, or it is gone: nobody can work there. `wip` keeps what could be read. */
  "agent.worktree_broken": { readonly part: WorktreePart; readonly detail: string; readonly wip: string | null };
  /** Its worktree was to go and stays: it holds what no ref can keep. */
  "agent.worktree_kept": { readonly detail: string };
  "agent.fenced": { readonly what: string };
  /** It made a call that the permit had not let pass: its hooks are off. It is stopped. */
  "agent.unguarded": { readonly tool: string; readonly call: string };
  /** The reflex said something to the agent in its own hook. */
  "agent.steered": { readonly anomaly: string; readonly fact: string; readonly step: number; readonly text: string };
  /** A person says that a steering was wrong. `steering`: its place in the log. */
  "agent.steering_refuted": {
    readonly steering: number;
    readonly anomaly: string;
    readonly step: number;
    readonly reason: string | null;
  };
  /** Its PACE level is another now, for better or worse. */
  "agent.pace": { readonly from: PaceLevel; readonly to: PaceLevel; readonly idle: number; readonly strain: number };
  /** It has met again and again what only a person can solve; nothing, once that is past. */
  "agent.blocked": { readonly what: string | null; readonly fact: string };
  /** It has nothing to do until one of these speaks; `on` is empty when anybody may. */
  "agent.waiting": { readonly on: readonly string[] };
  "agent.woken": { readonly by: string };
  /** It was told that more messages wait than were put before it. */
  "agent.announced": { readonly left: number };

  /** It had outlived its terminal, and was given another in which it can be watched. */
  "agent.terminal_regained": { readonly terminal: unknown };

  /** The user's checkout was another after an agent's turn than before it; by whose hand is not known. */
  "checkout.changed": {
    readonly what: readonly ("head" | "index" | "files")[];
    readonly before: string;
    readonly after: string;
  };

  "message.queued": Letter;
  "message.handed": { readonly messageId: string; readonly handedAs: string };
  "message.seen": { readonly messageId: string };
  "message.requeued": { readonly messageId: string; readonly reason: string };
  /** It goes to the agent and attempt that the event is about, who continued with the work. */
  "message.moved": { readonly messageId: string };
  "message.expired": { readonly messageId: string; readonly reason: string };
  "message.dead_lettered": { readonly messageId: string; readonly reason: string };

  "crystallization.recorded": CrystallizationBody & { readonly crystallizationId: string };

  /** Somebody found out what others may want to know. */
  "learning.found": LearningBody;
  /** Somebody else found the same. */
  "learning.confirmed": { readonly learningId: string; readonly via: LearningSource; readonly source: string };
  /** It was said to those whom it concerns; each has a message of its own, queued in the same commit. */
  "learning.relayed": {
    readonly learningId: string;
    readonly to: readonly {
      readonly agent: string;
      readonly attempt: number;
      readonly node: string;
      readonly messageId: string;
      readonly urgency: SyncUrgency;
    }[];
  };
  /** An agent that asked for its context was shown it. */
  "learning.offered": { readonly learningId: string };
  /** What came of it, for those whose part in it is over. */
  "learning.judged": {
    readonly learningId: string;
    readonly verdicts: readonly {
      readonly attempt: number;
      readonly outcome: LearningOutcome;
      readonly seen: boolean;
      readonly saved: boolean;
    }[];
  };
  "learning.forgotten": { readonly learningId: string; readonly reason: string | null };

  "question.asked": { readonly questionId: string; readonly text: string; readonly options: readonly string[] };
  "question.answered": { readonly questionId: string; readonly answer: string };
  "question.withdrawn": { readonly questionId: string; readonly reason: string };
  /** It was put before people by one channel, or that failed. */
  "question.notified": {
    readonly questionId: string;
    readonly channel: ChannelName;
    /** 0 when it was asked; one more with every time it was raised again. */
    readonly round: number;
    readonly ok: boolean;
    readonly detail: string;
  };
  "question.acknowledged": { readonly questionId: string; readonly via: string };
  "question.escalated": { readonly questionId: string; readonly round: number; readonly reason: string };
  /** An answer came by a channel or a token, and was not taken. */
  "answer.refused": {
    /** Its question; null where not even that could be read. */
    readonly question: string | null;
    readonly via: string;
    readonly code: string;
    readonly reason: string;
  };

  /** Somebody was told what happened, or that failed and is tried again; without subjects, the log is read from here on. */
  "news.told": {
    readonly channel: string;
    readonly cursor: number;
    readonly ok: boolean;
    readonly detail: string;
    readonly subjects: readonly string[];
    readonly kept: readonly KeptNews[];
  };

  /** A person's own sessions may lead here; the log is read for them from there on. */
  "lead.on": { readonly cursor: number };
  "lead.off": Record<string, never>;
  /** That session leads from now on. */
  "lead.taken": LeadSession;
  "lead.released": { readonly session: string };
  /** Letters were made for it of everything up to there. */
  "lead.read": { readonly cursor: number; readonly letters: number };

  /** An agent's report was understood and did something. */
  "update.taken": {
    readonly via: "block" | "command" | "kept";
    readonly status: ReportStatus | null;
    /** The handoff says something new. */
    readonly changed: boolean;
    /** Which of the agent's requests said it: each counts once, however it comes. */
    readonly request?: string;
  };
  "update.refused": {
    readonly via: "block" | "command" | "kept";
    readonly code: string;
    readonly reason: string;
    /** The agent was asked to send it again. */
    readonly askedAgain: boolean;
    readonly request?: string;
  };

  "action.decided": {
    readonly actionId: string;
    readonly kind: ActionKind;
    readonly payload: ActionPayloads[ActionKind];
    readonly notBefore: number;
  };
  "action.taken": { readonly actionId: string; readonly by: string; readonly until: number };
  "action.done": { readonly actionId: string; readonly result: string | null };
  "action.failed": {
    readonly actionId: string;
    readonly problem: string;
    readonly tries: number;
    readonly retryAt: number;
    /** What is in the way of any start like it; the code of its error. */
    readonly cause?: string;
  };
  /** What it waited for is there sooner than was thought. */
  "action.hastened": { readonly actionId: string; readonly dueAt: number };
  "action.dropped": { readonly actionId: string; readonly kind: ActionKind; readonly reason: string };

  /** `cap`: which limit holds it back; `until`: when it is looked at again at the latest, where that is known. */
  "dispatch.deferred": {
    readonly reason: string;
    readonly waiting: number;
    readonly cap?: DispatchCap;
    readonly until?: number;
  };
  "dispatch.resumed": { readonly after: string };
  /** No agent can be started, for a reason that is none of its task's; `questionId`: null when it was answered. */
  "dispatch.failing": {
    readonly cause: string;
    readonly problem: string;
    readonly nodes: readonly string[];
    readonly questionId: string | null;
  };
  "dispatch.works": { readonly cause: string };
  /** The disk has less free than must stay so; a person is asked, once until it has enough again. */
  "disk.short": { readonly freeBytes: number; readonly neededBytes: number; readonly questionId: string };
  "disk.enough": { readonly freeBytes: number };
  /** The watch judges by thresholds alone: what it judges by otherwise cannot be read or judged, or no tick comes to its end. */
  "watch.degraded": { readonly problem: string };
  "watch.restored": { readonly steps: number };
  "quota.tripped": { readonly account: string; readonly until: number; readonly trips: number };
  "quota.probing": { readonly account: string };
  "quota.restored": { readonly account: string; readonly attempts: readonly number[] };
  /** A provider fails an account; nothing of it is started, nudged or replaced until it works again. */
  "provider.failed": {
    readonly account: string;
    readonly cause: ProviderCause;
    readonly detail: string;
    readonly until: number;
    readonly failures: number;
    /** What a person is asked about it; null while nobody is needed. */
    readonly questionId: string | null;
  };
  /** `turns`: how many the agent that tries has had so far. */
  "provider.probing": { readonly account: string; readonly turns: number; readonly questionId: string | null };
  "provider.restored": {
    readonly account: string;
    readonly cause: ProviderCause;
    readonly attempts: readonly number[];
  };
  /** Or that more died with them; where no older version said so, when the first is tried. */
  "fleet.mass_death": {
    readonly attempts: readonly number[];
    readonly nodes: readonly string[];
    readonly probeAt?: number;
  };
  /** So many nodes may start again; the next stage waits until these live. */
  "fleet.restoring": { readonly stage: number; readonly nodes: readonly string[] };
  "fleet.restored": { readonly stages: number };
  "budget.warned": Spending;
  /** The limit is reached; its agents have one turn to hand over. */
  "budget.exceeded": Spending & { readonly turns: Readonly<Record<string, number>> };
  "budget.paused": { readonly scope: string; readonly agents: readonly number[]; readonly questionId?: string };
  /** A person grants more: `node:goal_x/T1`, `goal:goal_x`, `day:2026-03-01`. At least this much from now on; null is no limit. */
  "budget.raised": { readonly scope: string; readonly raised: Partial<Allowance> };
  /** What a person lets it cost, whatever is configured. */
  "budget.limited": { readonly scope: string; readonly limit: Partial<Allowance> };
  "budget.cleared": { readonly scope: string };
  /** The machine slept, or the loop stood still: nothing was judged by how long it was silent. */
  "time.skipped": { readonly ms: number };

  "overseer.tick": {
    readonly reason: string;
    readonly didWork: boolean;
    readonly actions: number;
    /** Up to which event of the log outcomes have been told. */
    readonly cursor: number;
  };
  /** A daemon takes tasks from the pool from now on; with which sources and how many places. */
  "auto.started": {
    readonly instance: string;
    readonly sources: readonly PoolSource[];
    readonly concurrency: number;
    /** No more tasks than this are taken, and no more dollars spent on them; null is no limit. */
    readonly tasks: number | null;
    readonly budgetUsd: number | null;
    /** The daemon before it was killed, and was told the same: what it took and spent counts on. */
    readonly continues?: boolean;
  };
  "auto.paused": Reason;
  "auto.resumed": Reason;
  /** Something that auto mode stands on is broken, and it ends by itself. */
  "auto.failed": HardFailure;
  /** A task of the pool is a goal from here on; `pull` says in answer to which asking of the command. */
  "pool.taken": { readonly source: PoolSource; readonly key: string; readonly pull: string | null };
  /** The pool gave a task that is open already; it is not done twice. */
  "pool.repeated": { readonly pull: string };
  /** A file of the pool that cannot be a task. */
  "pool.refused": { readonly key: string; readonly problem: string };
  /** The pool has nothing now; said once, until it gave something again. */
  "pool.empty": { readonly sources: readonly PoolSource[] };
  /** Files of the pool that are gone. */
  "pool.forgotten": { readonly keys: readonly string[] };
  /** A task of the pool is over. */
  "pool.ended": { readonly outcome: PoolOutcome; readonly costUsd: number };
  "worker.added": Omit<Worker, "addedAt">;
  "worker.removed": { readonly name: string };

  "daemon.started": {
    readonly instance: string;
    readonly pid: number;
    readonly version: string;
    readonly supervision: boolean;
    /** It starts nobody and lands nothing. */
    readonly watching?: boolean;
    /** An earlier one that never said goodbye. */
    readonly previous: { readonly instance: string; readonly pid: number; readonly lastBeatAt: number | null } | null;
  };
  "daemon.adopted": {
    readonly instance: string;
    readonly agents: readonly { readonly agent: string; readonly attempt: number; readonly pid: number }[];
    /** Attempts that the log calls living and whose process is gone. */
    readonly lost: readonly { readonly agent: string; readonly attempt: number }[];
  };
  "daemon.stopped": { readonly instance: string; readonly reason: string };
  /** Values as a person would write them, redacted; null where the key was not there. */
  "config.changed": {
    readonly changes: readonly { readonly key: string; readonly from: unknown; readonly to: unknown }[];
  };
  "config.refused": { readonly problem: string };
  "fleet.frozen": Reason;
  "fleet.thawed": Reason;

  "overseer.initialised": { readonly version: string; readonly targetBranch: string | null };
  /** The repository was renamed or moved, and is followed. */
  "overseer.moved": { readonly from: string; readonly to: string };
  "overseer.store.corrupt": { readonly movedTo: readonly string[]; readonly problem: string };
  "overseer.store.recovered": { readonly events: number; readonly lost: number; readonly from: string };
}

export type EventType = keyof EventData;

/** What an event is about; the columns by which the log is searched. */
export interface EventSubject {
  readonly goalId?: string | undefined;
  /** The node's id inside its goal, e.g. `T1.1`. */
  readonly nodeId?: string | undefined;
  readonly assignmentId?: string | undefined;
  readonly agent?: string | undefined;
  readonly attempt?: number | undefined;
}

type NewEventOf<T extends EventType> = EventSubject & {
  readonly type: T;
  readonly actor: Actor;
  /** The reason as a phrase that can be searched for in src/domain, e.g. `dependencies-met`. */
  readonly because: string;
  readonly data: EventData[T];
};

/** What a rule returns: an event that has not been given its place in the log yet. */
export type NewEvent = { [T in EventType]: NewEventOf<T> }[EventType];

/** An event in the log. */
export type EventOf<T extends EventType = EventType> = {
  [K in T]: NewEventOf<K> & {
    /** Its place in the log: no gaps, no repeats. */
    readonly seq: number;
    /** Wall clock, ms. */
    readonly at: number;
    readonly v: number;
  };
}[T];

/** Every type, in the order of the catalogue; the compiler refuses a list that misses one. */
export const EVENT_TYPES = Object.keys({
  "goal.created": 0,
  "goal.updated": 0,
  "goal.paused": 0,
  "goal.resumed": 0,
  "goal.completed": 0,
  "goal.cancelled": 0,
  "goal.archived": 0,
  "plan.accepted": 0,
  "plan.wanted": 0,
  "plan.waits": 0,
  "plan.proposed": 0,
  "plan.failed": 0,
  "plan.dropped": 0,
  "work.added": 0,
  "work.redefined": 0,
  "work.queued": 0,
  "work.started": 0,
  "work.requeued": 0,
  "work.blocked": 0,
  "work.unblocked": 0,
  "work.done": 0,
  "work.cancelled": 0,
  "work.overridden": 0,
  "work.claimed": 0,
  "work.checked": 0,
  "work.returned": 0,
  "work.taken_back": 0,
  "work.given_anew": 0,
  "check.started": 0,
  "check.finished": 0,
  "landing.prepared": 0,
  "landing.landed": 0,
  "landing.refused": 0,
  "landing.waiting": 0,
  "landing.approved": 0,
  "landing.index_mended": 0,
  "landing.undone": 0,
  "remote.followed": 0,
  "remote.pushed": 0,
  "remote.refused": 0,
  "merge.queued": 0,
  "merge.testing": 0,
  "merge.waiting": 0,
  "merge.parked": 0,
  "merge.landed": 0,
  "merge.ended": 0,
  "merge.resolved": 0,
  "model.asked": 0,
  "assignment.created": 0,
  "assignment.dispatched": 0,
  "assignment.delivered": 0,
  "assignment.active": 0,
  "assignment.stalled": 0,
  "assignment.blocked": 0,
  "assignment.done": 0,
  "assignment.cancelled": 0,
  "assignment.nudged": 0,
  "assignment.status_requested": 0,
  "assignment.resent": 0,
  "assignment.replanning": 0,
  "assignment.replan_skipped": 0,
  "assignment.strengthened": 0,
  "assignment.diagnosed": 0,
  "assignment.diagnosis_failed": 0,
  "assignment.advised": 0,
  "assignment.reassigning": 0,
  "assignment.parked": 0,
  "assignment.escalated": 0,
  "assignment.restarting": 0,
  "assignment.doubted": 0,
  "assignment.progressed": 0,
  "agent.slung": 0,
  "agent.step": 0,
  "agent.starting": 0,
  "agent.started": 0,
  "agent.leg": 0,
  "agent.paused": 0,
  "agent.resumed": 0,
  "agent.stop_requested": 0,
  "agent.interrupt_requested": 0,
  "agent.relocated": 0,
  "agent.ended": 0,
  "agent.worktree_broken": 0,
  "agent.worktree_kept": 0,
  "agent.fenced": 0,
  "agent.unguarded": 0,
  "agent.steered": 0,
  "agent.steering_refuted": 0,
  "agent.pace": 0,
  "agent.blocked": 0,
  "agent.waiting": 0,
  "agent.woken": 0,
  "agent.announced": 0,
  "agent.terminal_regained": 0,
  "checkout.changed": 0,
  "message.queued": 0,
  "message.handed": 0,
  "message.seen": 0,
  "message.requeued": 0,
  "message.moved": 0,
  "message.expired": 0,
  "message.dead_lettered": 0,
  "crystallization.recorded": 0,
  "learning.found": 0,
  "learning.confirmed": 0,
  "learning.relayed": 0,
  "learning.offered": 0,
  "learning.judged": 0,
  "learning.forgotten": 0,
  "question.asked": 0,
  "question.answered": 0,
  "question.withdrawn": 0,
  "question.notified": 0,
  "question.acknowledged": 0,
  "question.escalated": 0,
  "answer.refused": 0,
  "news.told": 0,
  "lead.on": 0,
  "lead.off": 0,
  "lead.taken": 0,
  "lead.released": 0,
  "lead.read": 0,
  "update.taken": 0,
  "update.refused": 0,
  "action.decided": 0,
  "action.taken": 0,
  "action.done": 0,
  "action.failed": 0,
  "action.hastened": 0,
  "action.dropped": 0,
  "dispatch.deferred": 0,
  "dispatch.resumed": 0,
  "dispatch.failing": 0,
  "dispatch.works": 0,
  "disk.short": 0,
  "disk.enough": 0,
  "watch.degraded": 0,
  "watch.restored": 0,
  "quota.tripped": 0,
  "quota.probing": 0,
  "quota.restored": 0,
  "provider.failed": 0,
  "provider.probing": 0,
  "provider.restored": 0,
  "fleet.mass_death": 0,
  "fleet.restoring": 0,
  "fleet.restored": 0,
  "budget.warned": 0,
  "budget.exceeded": 0,
  "budget.paused": 0,
  "budget.raised": 0,
  "budget.limited": 0,
  "budget.cleared": 0,
  "time.skipped": 0,
  "overseer.tick": 0,
  "auto.started": 0,
  "auto.paused": 0,
  "auto.resumed": 0,
  "auto.failed": 0,
  "pool.taken": 0,
  "pool.repeated": 0,
  "pool.refused": 0,
  "pool.empty": 0,
  "pool.forgotten": 0,
  "pool.ended": 0,
  "worker.added": 0,
  "worker.removed": 0,
  "daemon.started": 0,
  "daemon.adopted": 0,
  "daemon.stopped": 0,
  "config.changed": 0,
  "config.refused": 0,
  "fleet.frozen": 0,
  "fleet.thawed": 0,
  "overseer.initialised": 0,
  "overseer.moved": 0,
  "overseer.store.corrupt": 0,
  "overseer.store.recovered": 0,
} satisfies Record<EventType, 0>) as readonly EventType[];
