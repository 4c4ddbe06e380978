/**
 * What a standstill is: what does not move, since when, whose turn it is, what ends it, and when it is looked at again by
 * itself; and everything that has to be known of a fleet to find them. Finding them is explain-fleet.ts.
 */
import type { Action } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { Planning } from "#domain/model/goal.ts";
import type { LadderLimits, Recovery } from "#domain/model/ladder-state.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";

export const STANDSTILL_KINDS = [
  "safe-mode",
  "frozen",
  "disk-full",
  "configuration",
  "settings",
  "no-daemon",
  "switched-off",
  "provider",
  "quota",
  "mass-death",
  "budget",
  "auto-failed",
  "auto-paused",
  "dispatch",
  "not-started",
  "not-done",
  "question",
  "review",
  "landing",
  "returned",
  "blocked",
  "never-ready",
  "no-plan",
  "plan-proposed",
  "plan-waits",
  "plan-failed",
  "goal-paused",
  "agent-dead",
  "not-answering",
  "stalled",
  "agent-paused",
  "agent-waits",
  "channel",
] as const;
export type StandstillKind = (typeof STANDSTILL_KINDS)[number];

export interface Standstill {
  readonly kind: StandstillKind;
  /** Whose turn it is: a person's, or it ends by itself, with time or by what others do. */
  readonly turn: "person" | "itself";
  /** One sentence with the command in it. Times are ISO 8601; whoever shows it to a person makes them short. */
  readonly text: string;
  /** What a person types next: what ends it, or where it ends by itself, what shows more of it. */
  readonly command: string;
  /** The nodes, goals or agents it is about; empty for the whole fleet. */
  readonly about: readonly string[];
  readonly sinceAt: number | null;
  /** When the next step comes by itself; null where only a person or somebody else's work ends it. */
  readonly nextAt: number | null;
}

export interface NextStep {
  readonly text: string;
  readonly nextAt: number | null;
}

export interface Explained {
  readonly standstills: readonly Standstill[];
  /** Null while nothing of the fleet moves at all. */
  readonly next: NextStep | null;
}

export interface GoalFact {
  readonly goalId: string;
  readonly title: string;
  readonly status: string;
  readonly nodes: number;
  /** Tasks that are ready and that nobody works on. */
  readonly queued: number;
  readonly inProgress: number;
  /** `total`: the tasks that were not cancelled. */
  readonly progress?: { readonly total: number };
  /** Tasks that ended because nothing was changed. */
  readonly unchanged?: number;
}

/** A plan that a model was asked for. */
export interface PlanningFact extends Pick<Planning, "status" | "since" | "detail" | "until"> {
  readonly goalId: string;
  readonly title: string;
  /** Of the plan that is proposed. */
  readonly nodeCount: number | null;
}

export interface AgentFact {
  readonly agent: string;
  readonly attempt: number;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly seen: string;
  readonly waitingOn: string | null;
  readonly pausedBecause?: string | null;
  readonly lastAt: number;
  readonly runtime?: string;
}

export interface QuestionFact {
  readonly questionId: string;
  /** Short for its id, where that is known. */
  readonly number?: number;
  readonly goalId: string | null;
  readonly workNodeId: string | null;
  readonly text: string;
  readonly options: readonly string[];
  readonly askedAt: number;
  /** Why nobody can have seen it; null where somebody can. */
  readonly unreached: string | null;
}

/** A way to people that does not get through at the moment. */
export interface ChannelFact {
  readonly channel: string;
  readonly sinceAt: number;
  readonly problem: string;
}

/** A model is asked how to split the work, or before that an agent with a stronger one tries. */
export type SplitForecast = { readonly by: "split" } | { readonly by: "stronger-model"; readonly model: string };

export interface FleetFacts {
  readonly now: number;
  readonly daemon: {
    readonly state: "running" | "stopped" | "died" | "not-beating" | "not-ticking";
    readonly sinceAt: number | null;
    readonly nextTickAt: number | null;
    /** When agents are next looked at, which has a tick run where something is due; missing where only ticks look. */
    readonly nextLookAt?: number;
    /** It ran in auto mode, or the one before it did and nobody has ended that. */
    readonly wasAuto?: boolean;
  };
  /** The repository is a copy: whose daemon and agents these are is not known. */
  readonly isCopy: boolean;
  /** Nothing can be written below the repository. */
  readonly isDiskFull: boolean;
  /** Auto mode runs: the pool is asked for tasks. */
  readonly asksPool: boolean;
  readonly frozen: { readonly since: number; readonly by: string; readonly reason: string | null } | null;
  readonly safeMode: { readonly since: string; readonly problem: string } | null;
  readonly configProblem: string | null;
  readonly hold: { readonly message: string; readonly hint: string } | null;
  readonly off: readonly string[];
  readonly goals: readonly GoalFact[];
  readonly plannings: readonly PlanningFact[];
  /** Of goals that are not over: what is in progress or blocked, and where something was cancelled what waits. */
  readonly nodes: readonly WorkNode[];
  readonly agents: readonly AgentFact[];
  readonly questions: readonly QuestionFact[];
  readonly stalled: readonly Assignment[];
  readonly recoveries: readonly Recovery[];
  /** How long a step has its time, by assignment; the fleet's where it is not in it. */
  readonly patienceMs: ReadonlyMap<string, number>;
  /** When the agent of an assignment last did something by itself, by assignment. */
  readonly quietSince: ReadonlyMap<string, number>;
  readonly ladder: LadderLimits | null;
  /** What comes of it when its work is to be split, by assignment; where nothing does, it is not in it. */
  readonly splits: ReadonlyMap<string, SplitForecast>;
  /** Assignments whose agents wait for their provider or quota: nothing is done to them, and the account's line says it. */
  readonly waitForAccount: ReadonlySet<string>;
  /** Assignments to whose agents nothing is said: what speaks is passed over. */
  readonly spared: ReadonlySet<string>;
  readonly conditions: readonly Condition[];
  readonly actions: readonly Action[];
  /** How often work may come back before a person is asked; null where nobody knows what is configured. */
  readonly fixRounds: number | null;
  readonly notStarted: readonly { readonly problem: string; readonly nodes: readonly string[] }[];
  readonly merges: readonly Merge[];
  readonly channels: readonly ChannelFact[];
}

/** The command that answers it. */
export function commandToAnswer(questionId: string): string {
  return `overseer answer ${questionId} <choice or text>`;
}

/** The same with what can be chosen. */
export function tellAnswer({
  questionId,
  number,
  options,
}: Pick<QuestionFact, "questionId" | "number" | "options">): string {
  const choices = options.map((option, at) => `${at + 1}. ${option}`).join(" / ");
  const command = number === undefined ? commandToAnswer(questionId) : `${questionId}: ${commandToAnswer(`${number}`)}`;
  return `${command}${choices === "" ? "" : `: ${choices}`}`;
}

/** The first command that a hint quotes. */
export function findCommand(hint: string): string | undefined {
  return /'(overseer [^']+)'/.exec(hint)?.[1];
}

/** A standstill that a person ends, unless it says otherwise. */
export function standstill(
  kind: StandstillKind,
  said: Pick<Standstill, "text" | "command"> & Partial<Omit<Standstill, "kind">>,
): Standstill {
  return { kind, turn: "person", about: [], sinceAt: null, nextAt: null, ...said };
}
