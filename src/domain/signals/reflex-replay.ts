/**
 * The rules over a recorded course of work: what would have been said where, and, where somebody has said what there is
 * to be noticed, how often the rules were right. Pure, so that a trace gives the same answer everywhere.
 */
import type { Pulse } from "./pulse.ts";
import { beat, newPulse } from "./pulse.ts";
import type { Anomaly, ReflexRules } from "./reflex.ts";
import { ANOMALIES, afterSteering, decideSteering } from "./reflex.ts";
import type { Signal } from "./signal.ts";

export interface Trace {
  readonly name: string;
  /** The role it was recorded under; null when nobody said so. */
  readonly role: string | null;
  /** What is to be noticed; null when nobody has said so. */
  readonly labels: readonly string[] | null;
  /** What may be noticed as well, and counts neither way. */
  readonly may: readonly string[];
  readonly signals: readonly Signal[];
}

export interface Fired {
  readonly anomaly: Anomaly;
  readonly step: number;
  readonly at: number;
  readonly text: string;
}

export interface Replayed {
  readonly name: string;
  readonly labels: readonly string[] | null;
  readonly may: readonly string[];
  readonly fired: readonly Fired[];
  readonly steps: number;
  /** How long it was at work: a night in between is no work. */
  readonly workMs: number;
}

/** A pause longer than this is counted as this. */
const LONGEST_PAUSE_MS = 5 * 60_000;

export function replay(trace: Trace, rules: ReflexRules): Replayed {
  let pulse: Pulse = newPulse(0, trace.name);
  let judged = 0;
  let workMs = 0;
  let last = trace.signals[0]?.at ?? 0;
  const fired: Fired[] = [];
  for (const signal of trace.signals) {
    workMs += Math.min(Math.max(0, signal.at - last), LONGEST_PAUSE_MS);
    last = Math.max(last, signal.at);
    pulse = beat(pulse, signal);
    const { course } = pulse;
    const boundary = signal.kind === "tool.ended" && course?.calls.every((call) => call.failed !== null);
    if (!boundary || course === undefined || course.steps === judged) continue;
    judged = course.steps;
    const steering = decideSteering(pulse, rules);
    if (!steering) continue;
    pulse = afterSteering(pulse, steering, signal.at);
    fired.push({ anomaly: steering.anomaly, step: steering.step, at: signal.at, text: steering.text });
  }
  const { name, labels, may } = trace;
  return { name, labels, may, fired, steps: pulse.course?.steps ?? 0, workMs };
}

export interface Score {
  readonly anomaly: Anomaly;
  readonly episodes: number;
  readonly noticed: number;
  readonly missed: number;
  /** Traces in which it was said without reason. */
  readonly falseAlarms: number;
  readonly precision: number;
  readonly recall: number;
}

export interface Tally {
  readonly traces: number;
  readonly labelled: number;
  readonly healthy: number;
  readonly scores: readonly Score[];
  readonly healthyHours: number;
  /** Sentences said to agents that were well. */
  readonly healthyAlarms: number;
  readonly falseAlarmsPerHour: number;
}

/** How right the rules were, over the traces that say what there is to be noticed. */
export function tally(replayed: readonly Replayed[]): Tally {
  const labelled = replayed.filter((one) => one.labels !== null);
  const healthy = labelled.filter((one) => one.labels?.length === 0);
  const healthyHours = healthy.reduce((sum, one) => sum + one.workMs, 0) / 3_600_000;
  const healthyAlarms = healthy.reduce((sum, one) => sum + one.fired.length, 0);
  return {
    traces: replayed.length,
    labelled: labelled.length,
    healthy: healthy.length,
    scores: ANOMALIES.map((anomaly) => scoreOf(anomaly, labelled)),
    healthyHours,
    healthyAlarms,
    falseAlarmsPerHour: healthyHours === 0 ? 0 : healthyAlarms / healthyHours,
  };
}

function scoreOf(anomaly: Anomaly, labelled: readonly Replayed[]): Score {
  const hasFired = (one: Replayed) => one.fired.some((fired) => fired.anomaly === anomaly);
  const due = labelled.filter((one) => one.labels?.includes(anomaly));
  const noticed = due.filter(hasFired).length;
  const falseAlarms = labelled.filter(
    (one) => hasFired(one) && !one.labels?.includes(anomaly) && !one.may.includes(anomaly),
  ).length;
  return {
    anomaly,
    episodes: due.length,
    noticed,
    missed: due.length - noticed,
    falseAlarms,
    precision: noticed + falseAlarms === 0 ? 1 : noticed / (noticed + falseAlarms),
    recall: due.length === 0 ? 1 : noticed / due.length,
  };
}
