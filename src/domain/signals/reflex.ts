/**
 * The innermost ring: what is wrong with an agent, judged from its pulse alone, and the one sentence it hears about it.
 * Deterministic, without a model and without I/O; whoever calls decides what it may cost. Nothing is judged without a
 * role's doctrine. The same rules serve the agent's own hook, the runner that keeps its report, and an overseer on
 * another machine that has only the report (salute.ts).
 */

import { paceOf } from "./pace.ts";
import type { Pulse } from "./pulse.ts";
import { BLOCKERS, type Blocker } from "./reflex-call.ts";
import type { Course, CourseCall } from "./reflex-course.ts";
import { NEW_COURSE } from "./reflex-course.ts";
import {
  type CourseStep,
  lastOf,
  mayRepeat,
  OSCILLATION,
  OSCILLATION_WINDOW,
  repetitionFinding,
  stepsIn,
} from "./reflex-repetition.ts";
import { ANOMALIES, type Anomaly, type AnomalyFinding, type ReflexRules } from "./reflex-rules.ts";
import { nameCall, nameTroubles, quoteError } from "./reflex-words.ts";
import { steeringText } from "./steering-text.ts";

/** What cannot wait for a radio check: a step may fill much, and then the context is emptied. */
const AT_ONCE: ReadonlySet<Anomaly> = new Set(["emergency", "context-urgent", "context"]);
/** What is so until the context is emptied, and is said once until then. */
const CLIMBS: ReadonlySet<Anomaly> = new Set(["context-urgent", "context"]);
/** What the agent can do nothing about is told to a person and not to it (course-watch.ts). */
const FOR_PEOPLE: ReadonlySet<Anomaly> = new Set(["blocked"]);
/** What of a pulse the rules look at. */
export type ReflexPulse = Pick<Pulse, "contextTokens" | "contextWindow" | "compactReserve" | "course">;

export interface Steering extends AnomalyFinding {
  readonly step: number;
  readonly text: string;
  /** The how-many-eth time on end; once where nobody counted. */
  readonly times?: number;
}

/** So many patiences may pass with nothing changed while there is always something new to be read. */
const LOOKING_PATIENCE = 20;
/** COOL-1: the pause doubles while the same goes on, up to so many times the first one. */
const LONGEST_PAUSE = 8;
/** Urgent is so many percent of the window before the CLI replaces the context by itself. */
const BEFORE_COMPACTION = 1.5;
/** A check that failed so many rounds without getting better. */
const CHURN_ROUNDS = 15;
const HUNT_TIMES = 6;
const POLLING_TIMES = 10;
/** And so much of the window, in percent, has been filled by it. */
const POLLING_FILL = 25;
/** What only a person can solve is so when it was met in so many steps, the last of them not long ago. */
const BLOCKED_TIMES = 2;
const NOT_LONG_AGO = 6;

/** Everything that is wrong now, the most urgent first. */
export function findingsIn(pulse: ReflexPulse, rules: ReflexRules): readonly AnomalyFinding[] {
  const course = pulse.course ?? NEW_COURSE;
  if (course.steps === 0) return contextFinding(pulse, rules);
  const steps = stepsIn(course);
  const found = [
    ...findAtOnce(pulse, course, rules),
    ...findBlocked(course),
    ...cascadeFinding(steps, rules),
    ...repetitionFinding(course, steps, rules),
    ...effortFinding(pulse, course),
    ...stallFinding(course, rules),
  ];
  return found.length < 2
    ? found
    : found.toSorted((one, other) => ANOMALIES.indexOf(one.anomaly) - ANOMALIES.indexOf(other.anomaly));
}

/** What cannot wait for a radio check; it can be told from a few numbers. */
function findAtOnce(pulse: ReflexPulse, course: Course, rules: ReflexRules): readonly AnomalyFinding[] {
  return [...paceFinding(course, rules), ...contextFinding(pulse, rules)];
}

/**
 * What the agent is to hear after this step, if anything: at radio checks, and at once when its context fills up or
 * the level is emergency. `everyStep` is for whoever sees only some of the steps and cannot wait for the right one.
 */
export function decideSteering(pulse: ReflexPulse, rules: ReflexRules, everyStep = false): Steering | undefined {
  const course = pulse.course ?? NEW_COURSE;
  const onCheck = everyStep || course.steps % rules.doctrine.radioCheckSteps === 0;
  // Between two checks most of it need not even be looked for.
  const found = onCheck ? findingsIn(pulse, rules) : findAtOnce(pulse, course, rules);
  const due = found.find(
    ({ anomaly, about }) =>
      !FOR_PEOPLE.has(anomaly) &&
      (onCheck || AT_ONCE.has(anomaly)) &&
      !voicesOf(course, anomaly, about).some((voice) => isCooling(course, voice, rules)),
  );
  if (!due) return undefined;
  const times = Math.max(...voicesOf(course, due.anomaly, due.about).map((voice) => timesOnEnd(course, voice, rules)));
  return { ...due, step: course.steps, text: steeringText(due, course, rules), times };
}

/**
 * One cause, one voice: the anomaly, and those by which the same failures were told before. That a level of PACE gives
 * way to another is news.
 */
function voicesOf({ voiced }: Course, anomaly: Anomaly, about: AnomalyFinding["about"]): readonly Anomaly[] {
  if (about === undefined || voiced === undefined) return [anomaly];
  const others = ANOMALIES.filter(
    (one) =>
      one !== anomaly && !(isLevel(one) && isLevel(anomaly)) && voiced[one]?.some((trouble) => about.includes(trouble)),
  );
  return [anomaly, ...others];
}

function isLevel(anomaly: Anomaly): boolean {
  return anomaly === "contingent" || anomaly === "emergency";
}

/**
 * COOL-1: said not long ago. While the same goes on the pause doubles; a full context is said once until it is emptied,
 * and whoever was told that it is urgent needs no warning.
 */
export function isCooling(course: Course, anomaly: Anomaly, rules: Pick<ReflexRules, "cooldownSteps">): boolean {
  if (anomaly === "context" && course.steered["context-urgent"] !== undefined) return true;
  const last = course.steered[anomaly];
  if (last === undefined) return false;
  return CLIMBS.has(anomaly) || course.steps - last < pauseAfter(course.told?.[anomaly] ?? 1, rules);
}

function pauseAfter(times: number, { cooldownSteps }: Pick<ReflexRules, "cooldownSteps">): number {
  return Math.max(1, cooldownSteps * Math.min(2 ** (times - 1), LONGEST_PAUSE));
}

/** What comes back long after its pause is something new. */
function timesOnEnd(course: Course, anomaly: Anomaly, rules: ReflexRules): number {
  const last = course.steered[anomaly];
  const times = course.told?.[anomaly] ?? 0;
  if (last === undefined || times === 0) return 1;
  return course.steps - last <= 2 * pauseAfter(times, rules) ? times + 1 : 1;
}

/** The pulse after the agent was told. */
export function afterSteering<P extends ReflexPulse>(pulse: P, steering: Steering, at: number): P {
  const course = pulse.course ?? NEW_COURSE;
  const { anomaly, step, times = 1, about } = steering;
  return {
    ...pulse,
    course: {
      ...course,
      steered: { ...course.steered, [anomaly]: step },
      told: { ...course.told, [anomaly]: times },
      ...(about === undefined ? {} : { voiced: { ...course.voiced, [anomaly]: about } }),
      lastSteering: { cause: anomaly, step, at },
    },
  };
}

/** What only a person can solve and the agent has met again and again, in the words of a question. */
export function blockerOf({ blocker, steps }: Course): { readonly what: Blocker; readonly fact: string } | undefined {
  if (!blocker || blocker.times < BLOCKED_TIMES || steps - blocker.step > NOT_LONG_AGO) return undefined;
  return { what: blocker.what, fact: BLOCKERS[blocker.what] };
}

/**
 * Might one more step with one call be something to be told about? May be wrong only by saying yes: where it says no,
 * a hook need not look at all.
 */
export function isNearTrouble(pulse: ReflexPulse, rules: ReflexRules): boolean {
  const course = pulse.course ?? NEW_COURSE;
  const { maxStepsWithoutProgress: patience } = rules.doctrine;
  if (isNearFull(pulse, course, rules)) return true;
  if (course.idle >= patience || course.sinceProgress >= LOOKING_PATIENCE * patience) return true;
  const next = paceOf({ idle: course.idle + 1, strain: course.strain + 1 }, rules.doctrine);
  if (next === "contingent" || next === "emergency") return true;
  if (isNearEffort(course, rules.loopRepeats)) return true;
  const steps = stepsIn(course);
  const failing = new Set<string>();
  for (const { calls } of steps.slice(1 - rules.cascadeWindow))
    for (const { part } of calls) if (part) failing.add(part);
  if (failing.size >= rules.cascadeTools - 1) return true;
  let failed = 0;
  for (const { calls } of steps.slice(1 - OSCILLATION_WINDOW)) if (calls.some((call) => call.failed)) failed += 1;
  if (failed >= OSCILLATION - 1 || course.run >= rules.loopRepeats - 1) return true;
  // What is so now may still be told at the next check.
  const { loopRepeats: repeats } = rules;
  if (mayRepeat(steps, { repeats: repeats - 1, soon: 2 * repeats - 2, all: 4 * repeats - 1 })) return true;
  return repetitionFinding(course, steps, rules).length > 0;
}

/** One step may fill much. */
function isNearFull(pulse: ReflexPulse, { steered }: Course, rules: ReflexRules): boolean {
  if (steered["context-urgent"] !== undefined) return false;
  const urgent = urgentAt(pulse, rules);
  const next = steered.context === undefined ? Math.min(rules.contextWarn, urgent) : urgent;
  return fillOf(pulse) > next - 5;
}

function isNearEffort({ failing, hunt, polled }: Course, loopRepeats: number): boolean {
  return (
    (failing?.some(({ error, rounds }) => rounds >= (error === undefined ? CHURN_ROUNDS : 2 * loopRepeats - 1) - 1) ??
      false) ||
    (hunt?.times ?? 0) >= HUNT_TIMES - 1 ||
    (polled?.times ?? 0) >= POLLING_TIMES - 1
  );
}

/** How full the context is, in percent; 0 while its size is not known. */
export function fillOf({ contextTokens, contextWindow }: Pick<ReflexPulse, "contextTokens" | "contextWindow">): number {
  return contextWindow === null || contextWindow <= 0 ? 0 : (100 * contextTokens) / contextWindow;
}

function partOf(call: CourseCall): readonly string[] {
  return call.part ? [call.part] : [];
}

function paceFinding(course: Course, rules: ReflexRules): AnomalyFinding[] {
  const level = paceOf(course, rules.doctrine);
  if (level !== "contingent" && level !== "emergency") return [];
  // Whoever has just changed something is on a way out, and needs no other.
  if (level === "contingent" && course.stepChanged) return [];
  const failing = paceOf({ idle: 0, strain: course.strain }, rules.doctrine) === level;
  if (!failing) return [{ anomaly: level, fact: `${course.idle} steps led nowhere` }];
  const failed = course.calls.filter((call) => call.failed === true);
  const last = failed.at(-1);
  const lately = last === undefined ? "" : `, lately ${nameCall(last)}${quoteError(last)}`;
  const fact = `${course.strain} steps failed and were not fixed${lately}`;
  return [{ anomaly: level, fact, about: nameTroubles(failed.slice(-course.strain)) }];
}

function contextFinding(pulse: ReflexPulse, rules: ReflexRules): AnomalyFinding[] {
  if (pulse.course?.compacting) return [];
  const fill = fillOf(pulse);
  const fact = `your context is ${Math.floor(fill)} % full`;
  const urgent = urgentAt(pulse, rules);
  if (fill > urgent) return [{ anomaly: "context-urgent", fact }];
  return fill > Math.min(rules.contextWarn, urgent - 1) ? [{ anomaly: "context", fact }] : [];
}

/** From which fill on it is urgent: just before the CLI replaces the context by itself, where that is known. */
function urgentAt({ contextWindow, compactReserve }: ReflexPulse, { contextUrgent }: ReflexRules): number {
  if (!compactReserve || contextWindow === null) return contextUrgent;
  return Math.min(contextUrgent, (100 * (contextWindow - compactReserve)) / contextWindow - BEFORE_COMPACTION);
}

function findBlocked(course: Course): AnomalyFinding[] {
  const met = blockerOf(course);
  return met ? [{ anomaly: "blocked", fact: met.fact }] : [];
}

/** Much effort that brings little: a check that gets no better, a program that is not there, a job that is asked for. */
function effortFinding({ contextWindow }: ReflexPulse, course: Course): AnomalyFinding[] {
  const found: AnomalyFinding[] = [];
  const { hunt, polled, steps } = course;
  if (hunt && hunt.times >= HUNT_TIMES && steps - hunt.step < NOT_LONG_AGO) {
    const fact = `you have looked ${hunt.times} times for ${hunt.program}, and it is not there`;
    found.push({ anomaly: "hunt", fact });
  }
  const worst = course.failing?.find(
    ({ error, rounds, step }) => error === undefined && rounds >= CHURN_ROUNDS && steps - step < NOT_LONG_AGO,
  );
  if (worst) {
    const call = lastOf(course, worst.shape);
    const which = call === undefined ? "" : `: ${nameCall(call)}${quoteError(call)}`;
    const fact = `the same check has failed ${worst.rounds} times and is no better${which}`;
    found.push({ anomaly: "churn", fact, ...(call === undefined ? {} : { about: nameTroubles([call]) }) });
  }
  if (polled && contextWindow && polled.times >= POLLING_TIMES && steps - polled.step < NOT_LONG_AGO / 2) {
    const share = (100 * ((course.filled ?? 0) - polled.from)) / contextWindow;
    const fact = `asking ${polled.times} times for a job that still runs has filled ${Math.floor(share)} % of your context`;
    if (share >= POLLING_FILL) found.push({ anomaly: "polling", fact });
  }
  return found;
}

/** Different tools that fail close together, and go on to: what was over before the check is not worth a word. */
function cascadeFinding(all: readonly CourseStep[], rules: ReflexRules): AnomalyFinding[] {
  const steps = all.slice(-rules.cascadeWindow);
  const recent = steps.slice(steps.findLastIndex((step) => step.changed) + 1);
  // A step of which anything worked stands on firm ground.
  const failed = recent.filter(
    ({ calls }) => calls.every((call) => call.failed) && calls.some((call) => call.part !== ""),
  );
  // One look aside does not end it.
  if (failed.length < 2 || !recent.slice(-2).some((step) => step === failed.at(-1))) return [];
  const failing = [...new Set(failed.flatMap(({ calls }) => calls.flatMap(partOf)))];
  if (failing.length < rules.cascadeTools) return [];
  const calls = failed.flatMap((step) => step.calls.filter(({ part }) => part !== ""));
  const last = calls.at(-1);
  const which = last === undefined ? "" : `, the last one ${nameCall(last)}${quoteError(last)}`;
  const fact = `${failing.length} different tools failed in a row: ${failing.join(", ")}${which}`;
  // Ground that gives way is news, whatever was said of one of the failures: it has a voice of its own.
  return [{ anomaly: "cascade", fact }];
}

function stallFinding(course: Course, rules: ReflexRules): AnomalyFinding[] {
  const { maxStepsWithoutProgress: patience } = rules.doctrine;
  const level = paceOf(course, rules.doctrine);
  // From contingent on it is told as that: one cause, one voice.
  if (level === "contingent" || level === "emergency") return [];
  if (course.idle > patience) return [{ anomaly: "stall", fact: `${course.idle} steps made no progress` }];
  // Said once more only when as long has passed again.
  const long = LOOKING_PATIENCE * patience;
  const hasHeard = course.steered.stall !== undefined && course.steps - course.steered.stall < long;
  const looking = !rules.readOnly && course.sinceProgress > long && !hasHeard;
  return looking ? [{ anomaly: "stall", fact: `${course.sinceProgress} steps changed nothing` }] : [];
}
