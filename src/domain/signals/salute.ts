/**
 * SALUTE: the small report each agent with a role keeps as a file: size, activity, location, unit, time, equipment, and
 * how it stands. It carries what the reflex judges by, so that whoever has only the file can judge by the same rules.
 * The health in it is the reflex's word, not the agent's. Pure; writing it is the runner's (runner/course-watch.ts).
 */

import type { PaceLevel } from "#domain/model/role.ts";
import { paceOf } from "./pace.ts";
import type { Pulse } from "./pulse.ts";
import type { ReflexPulse } from "./reflex.ts";
import { fillOf, findingsIn } from "./reflex.ts";
import { NEW_COURSE } from "./reflex-course.ts";
import type { Anomaly, ReflexRules } from "./reflex-rules.ts";

/** Who and where an agent is: what does not change while it lives. */
export interface SaluteUnit {
  readonly agent: string;
  readonly attempt: number;
  readonly role: string;
  readonly capability: string;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly task: string;
  readonly runtime: string;
  readonly worktree: string;
  readonly branch: string;
}

export type SaluteHealth = "ok" | "degraded" | "critical";
export type SaluteState = "working" | "idle" | "ended";

export interface Salute {
  readonly v: 1;
  readonly size: { readonly steps: number; readonly turns: number; readonly toolCalls: number };
  readonly activity: { readonly doing: string; readonly inTurn: boolean; readonly stepsSinceProgress: number };
  readonly location: Pick<SaluteUnit, "worktree" | "branch">;
  readonly unit: Pick<SaluteUnit, "agent" | "attempt" | "role" | "capability" | "goalId" | "workNodeId" | "task">;
  readonly time: { readonly at: string; readonly startedAt: string | null; readonly lastSignalAt: string | null };
  readonly equipment: {
    readonly runtime: string;
    readonly model: string | null;
    readonly contextFillPercent: number;
    readonly tokens: number;
    readonly costUsd: number;
  };
  readonly status: {
    readonly state: SaluteState;
    readonly health: SaluteHealth;
    readonly pace: PaceLevel;
    readonly anomalies: readonly Anomaly[];
    /** It is steered by its own hooks. */
    readonly reflex: boolean;
  };
  /** What the rules look at, and the rules. */
  readonly evidence: ReflexPulse;
  readonly rules: ReflexRules;
}

export interface SaluteInput {
  readonly pulse: Pulse;
  readonly unit: SaluteUnit;
  readonly rules: ReflexRules;
  readonly reflex: boolean;
  readonly ended: boolean;
  /** Times as text, because the domain has no clock. */
  readonly iso: (at: number) => string;
  readonly now: number;
}

export function saluteOf({ pulse, unit, rules, reflex, ended, iso, now }: SaluteInput): Salute {
  const course = pulse.course ?? NEW_COURSE;
  const anomalies = findingsIn(pulse, rules).map(({ anomaly }) => anomaly);
  const { agent, attempt, role, capability, goalId, workNodeId, task, runtime, worktree, branch } = unit;
  const { usage, contextTokens, contextWindow, compactReserve } = pulse;
  const time = (at: number | null) => (at === null ? null : iso(at));
  return {
    v: 1,
    size: { steps: course.steps, turns: pulse.turns, toolCalls: usage.toolCalls },
    activity: { doing: course.doing, inTurn: pulse.inTurn, stepsSinceProgress: course.sinceProgress },
    location: { worktree, branch },
    unit: { agent, attempt, role, capability, goalId, workNodeId, task },
    time: { at: iso(now), startedAt: time(pulse.firstAt), lastSignalAt: time(pulse.lastAt) },
    equipment: {
      runtime,
      model: pulse.model,
      contextFillPercent: Math.floor(fillOf(pulse)),
      tokens: usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      costUsd: usage.costUsd,
    },
    status: {
      state: ended ? "ended" : pulse.inTurn ? "working" : "idle",
      health: healthOf(anomalies),
      pace: paceOf(course, rules.doctrine),
      anomalies,
      reflex,
    },
    evidence: { contextTokens, contextWindow, ...(compactReserve === undefined ? {} : { compactReserve }), course },
    rules,
  };
}

function healthOf(anomalies: readonly Anomaly[]): SaluteHealth {
  if (anomalies.some((one) => one === "emergency" || one === "context-urgent")) return "critical";
  return anomalies.length > 0 ? "degraded" : "ok";
}

/** On the role's interval and on change of what somebody would act on. */
export function isSaluteDue(last: Salute | undefined, next: Salute): boolean {
  if (!last) return true;
  const { saluteIntervalSteps } = next.rules.doctrine;
  return next.size.steps - last.size.steps >= saluteIntervalSteps || standing(last) !== standing(next);
}

function standing({ status }: Salute): string {
  return `${status.state} ${status.health} ${status.pace} ${status.anomalies.join()}`;
}

/** The history with one more line, at most `keep` of them. */
export function withSalute(history: string, salute: Salute, keep: number): string {
  const lines = history.split("\n").filter((line) => line !== "");
  return `${[...lines, JSON.stringify(salute)].slice(-keep).join("\n")}\n`;
}

export const saluteLatest = (directory: string, agent: string): string => `${directory}/${agent}_latest.json`;
export const saluteHistory = (directory: string, agent: string): string => `${directory}/${agent}_history.ndjson`;
/** A sentence for an agent from an overseer elsewhere; its hook takes it away. */
export const steeringFile = (directory: string, agent: string): string => `${directory}/${agent}_steering.json`;
/** What an overseer elsewhere leaves when an agent is in an emergency. */
export const emergencyFile = (directory: string, agent: string): string => `${directory}/${agent}_emergency.json`;

/** A sentence on its way between two machines. */
export interface SteeringNote {
  readonly v: 1;
  readonly agent: string;
  readonly attempt: number;
  readonly anomaly: string;
  readonly step: number;
  readonly text: string;
  readonly at: string;
}

const LONGEST_NOTE = 800;

/** The sentence, when it is one for this attempt; another machine's file is believed no further than that. */
export function sentenceIn(note: unknown, attempt: number): string | undefined {
  if (typeof note !== "object" || note === null) return undefined;
  const { v, attempt: of, text } = note as Partial<SteeringNote>;
  if (v !== 1 || of !== attempt || typeof text !== "string" || !text.startsWith("[SUPERVISOR] ")) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u001f\u007f<>]+/g, " ").slice(0, LONGEST_NOTE);
}
