/**
 * The innermost ring: what is wrong with an agent, judged from its pulse alone, and the one sentence it hears about it.
 * Deterministic, without a model and without I/O; whoever calls decides what it may cost. Nothing is judged without a
 * role's doctrine. The same rules serve the agent's own hook, the runner that keeps its report, and an overseer on
 * another machine that has only the report (salute.ts).
 */

import { isSimilar } from "#domain/core/similarity.ts";
import type { Doctrine, PaceLevel, Role } from "#domain/model/role.ts";
import { paceOf } from "./pace.ts";
import type { Pulse } from "./pulse.ts";
import type { Course, CourseCall } from "./reflex-course.ts";
import { COURSE_CALLS, NEW_COURSE } from "./reflex-course.ts";

/** In the order of urgency: of several, the first is what the agent hears. */
export const ANOMALIES = [
  "emergency",
  "context-urgent",
  "cascade",
  "oscillation",
  "loop",
  "contingent",
  "stall",
  "context",
] as const;
export type Anomaly = (typeof ANOMALIES)[number];

export interface ReflexRules {
  readonly role: string;
  readonly doctrine: Doctrine;
  readonly readOnly: boolean;
  /** What the agent hears at each level. */
  readonly pace: Readonly<Record<PaceLevel, string>>;
  readonly cooldownSteps: number;
  readonly contextWarn: number;
  readonly contextUrgent: number;
  readonly loopRepeats: number;
  readonly cascadeTools: number;
  readonly cascadeWindow: number;
}

export interface ReflexSettings extends Omit<ReflexRules, "role" | "doctrine" | "readOnly" | "pace"> {
  readonly radioCheckSteps: number;
}

/** The rules for a role under the fleet's settings: of two radio checks the oftener one counts. */
export function rulesFor(
  role: Pick<Role, "capability" | "doctrine" | "readOnly" | "pace">,
  { radioCheckSteps, ...settings }: ReflexSettings,
): ReflexRules {
  const { cooldownSteps, contextWarn, contextUrgent, loopRepeats, cascadeTools, cascadeWindow } = settings;
  const oftener = Math.min(role.doctrine.radioCheckSteps, radioCheckSteps);
  return {
    role: role.capability,
    doctrine: { ...role.doctrine, radioCheckSteps: oftener },
    readOnly: role.readOnly,
    pace: role.pace,
    cooldownSteps,
    contextWarn,
    contextUrgent,
    loopRepeats,
    cascadeTools,
    cascadeWindow,
  };
}

/** What of a pulse the rules look at. */
export type ReflexPulse = Pick<Pulse, "contextTokens" | "contextWindow" | "course">;

export interface AnomalyFinding {
  readonly anomaly: Anomaly;
  /** The evidence as a clause: "you made the same call 3 times". */
  readonly fact: string;
}

export interface Steering extends AnomalyFinding {
  readonly step: number;
  readonly text: string;
}

/** So many patiences may pass with nothing changed while there is always something new to be read. */
const LOOKING_PATIENCE = 4;
const OSCILLATION = 4;
const OSCILLATION_WINDOW = 6;

/** Everything that is wrong now, the most urgent first. */
export function findingsIn(pulse: ReflexPulse, rules: ReflexRules): readonly AnomalyFinding[] {
  const course = pulse.course ?? NEW_COURSE;
  if (course.steps === 0) return contextFinding(pulse, rules);
  const found = [
    ...paceFinding(course, rules),
    ...contextFinding(pulse, rules),
    ...cascadeFinding(course, rules),
    ...repetitionFinding(course, rules),
    ...stallFinding(course, rules),
  ];
  return found.toSorted((one, other) => ANOMALIES.indexOf(one.anomaly) - ANOMALIES.indexOf(other.anomaly));
}

/**
 * What the agent is to hear after this step, if anything: at radio checks, and at once when its context runs out or
 * the level is emergency. `everyStep` is for whoever sees only some of the steps and cannot wait for the right one.
 */
export function decideSteering(pulse: ReflexPulse, rules: ReflexRules, everyStep = false): Steering | undefined {
  const course = pulse.course ?? NEW_COURSE;
  const onCheck = everyStep || course.steps % rules.doctrine.radioCheckSteps === 0;
  const due = findingsIn(pulse, rules).find(
    ({ anomaly }) =>
      (onCheck || anomaly === "emergency" || anomaly === "context-urgent") && !isCooling(course, anomaly, rules),
  );
  return due && { ...due, step: course.steps, text: steeringText(due, course, rules) };
}

/** COOL-1: said not long ago. Emergency is always said, but never twice in one step. */
export function isCooling(course: Course, anomaly: Anomaly, rules: Pick<ReflexRules, "cooldownSteps">): boolean {
  const last = course.steered[anomaly];
  if (last === undefined) return false;
  return anomaly === "emergency" ? last >= course.steps : course.steps - last < Math.max(1, rules.cooldownSteps);
}

/** The pulse after the agent was told. */
export function afterSteering<P extends ReflexPulse>(pulse: P, { anomaly, step }: Steering, at: number): P {
  const course = pulse.course ?? NEW_COURSE;
  return {
    ...pulse,
    course: {
      ...course,
      steered: { ...course.steered, [anomaly]: step },
      lastSteering: { cause: anomaly, step, at },
    },
  };
}

/**
 * Might one more step with one call be something to be told about? May be wrong only by saying yes: where it says no,
 * a hook need not look at all.
 */
export function isNearTrouble(pulse: ReflexPulse, rules: ReflexRules): boolean {
  const course = pulse.course ?? NEW_COURSE;
  const { maxStepsWithoutProgress: patience } = rules.doctrine;
  if (fillOf(pulse) > rules.contextWarn - 5 || findingsIn(pulse, rules).length > 0) return true;
  if (course.idle >= patience || course.sinceProgress >= LOOKING_PATIENCE * patience) return true;
  const next = paceOf({ idle: course.idle + 1, strain: course.strain + 1 }, rules.doctrine);
  if (next === "contingent" || next === "emergency") return true;
  const calls = listFinished(course);
  const failing = new Set(calls.slice(-(rules.cascadeWindow - 1)).flatMap((call) => (call.part ? [call.part] : [])));
  if (failing.size >= rules.cascadeTools - 1) return true;
  if (calls.slice(-(OSCILLATION_WINDOW - 1)).filter((call) => call.failed).length >= OSCILLATION - 1) return true;
  return mayRepeat(calls, course.run, rules.loopRepeats);
}

function mayRepeat(calls: readonly CourseCall[], run: number, repeats: number): boolean {
  if (run >= repeats - 1) return true;
  const alike = (among: readonly CourseCall[]) =>
    Math.max(0, ...among.map((one) => among.filter((other) => hasSameOutcome(one, other)).length));
  return (
    alike(calls.slice(-(2 * repeats - 2))) >= repeats - 1 || alike(calls.slice(-(4 * repeats - 1))) >= 2 * repeats - 1
  );
}

/** How full the context is, in percent; 0 while its size is not known. */
export function fillOf({ contextTokens, contextWindow }: Pick<ReflexPulse, "contextTokens" | "contextWindow">): number {
  return contextWindow === null || contextWindow <= 0 ? 0 : (100 * contextTokens) / contextWindow;
}

function listFinished(course: Course): readonly CourseCall[] {
  return course.calls.filter((call) => call.failed !== null);
}

function paceFinding(course: Course, rules: ReflexRules): AnomalyFinding[] {
  const level = paceOf(course, rules.doctrine);
  if (level !== "contingent" && level !== "emergency") return [];
  const failing = course.strain >= course.idle;
  const fact = failing ? `${course.strain} calls failed and were not fixed` : `${course.idle} steps led nowhere`;
  return [{ anomaly: level, fact }];
}

function contextFinding(pulse: ReflexPulse, rules: ReflexRules): AnomalyFinding[] {
  if (pulse.course?.compacting) return [];
  const fill = fillOf(pulse);
  const fact = `your context is ${Math.floor(fill)} % full`;
  if (fill > rules.contextUrgent) return [{ anomaly: "context-urgent", fact }];
  return fill > rules.contextWarn ? [{ anomaly: "context", fact }] : [];
}

/**
 * The calls as they were after each of those since the last radio check, the newest first: what happened between two
 * checks counts, unless something was changed since. Each is a list that ends with the call it is about.
 */
function momentsOf(course: Course, rules: ReflexRules): readonly (readonly CourseCall[])[] {
  const calls = listFinished(course);
  const changed = calls.findLastIndex((call) => call.progress);
  const back = Math.min(rules.doctrine.radioCheckSteps, calls.length - 1 - changed);
  return Array.from({ length: Math.max(0, back) }, (_, at) => calls.slice(0, calls.length - at));
}

function cascadeFinding(course: Course, rules: ReflexRules): AnomalyFinding[] {
  const failingIn = (calls: readonly CourseCall[]) => [
    ...new Set(calls.slice(-rules.cascadeWindow).flatMap((call) => (call.part ? [call.part] : []))),
  ];
  const failing = momentsOf(course, rules)
    .map(failingIn)
    .find((parts) => parts.length >= rules.cascadeTools);
  if (!failing) return [];
  return [{ anomaly: "cascade", fact: `${failing.length} different tools failed in a row (${failing.join(", ")})` }];
}

function repetitionFinding(course: Course, rules: ReflexRules): AnomalyFinding[] {
  const moments = momentsOf(course, rules);
  if (moments.some(isOscillating)) {
    return [{ anomaly: "oscillation", fact: "you go back and forth between two calls that both fail" }];
  }
  const count = Math.max(0, ...moments.map((calls) => repetitionsIn(calls, rules.loopRepeats)), longRun(course, rules));
  return count === 0 ? [] : [{ anomaly: "loop", fact: `you made the same call ${count} times with the same result` }];
}

/** A row of the very same call that is longer than what is remembered call by call. */
function longRun({ run, calls }: Course, { loopRepeats }: ReflexRules): number {
  const last = calls.findLast((call) => call.failed !== null);
  return run >= loopRepeats && last && !last.progress ? run : 0;
}

/** How often the last call was made in vain; 0 when that is no loop. */
function repetitionsIn(calls: readonly CourseCall[], repeats: number): number {
  const last = calls.at(-1);
  if (!last || last.progress) return 0;
  const changed = calls.findLastIndex((call) => call.progress);
  const count = (among: readonly CourseCall[]) => among.filter((call) => isSameAgain(call, last)).length;
  const soon = count(calls.slice(changed + 1).slice(-(2 * repeats - 1)));
  if (soon >= repeats) return soon;
  // With changes in between it takes twice as often: each of them was a try.
  const inAll = count(calls.slice(-4 * repeats));
  return inAll >= Math.min(2 * repeats, COURSE_CALLS) ? inAll : 0;
}

/** A fails, B fails, A fails, B fails; looking around in between changes nothing, changing something does. */
function isOscillating(calls: readonly CourseCall[]): boolean {
  const recent = calls.slice(-OSCILLATION_WINDOW);
  const failed = recent.slice(recent.findLastIndex((call) => call.progress) + 1).filter((call) => call.failed);
  const [a, b, c, d] = failed.slice(-OSCILLATION);
  if (!a || !b || !c || !d || recent.at(-1) !== d) return false;
  return isSameAgain(a, c) && isSameAgain(b, d) && !isSameAgain(a, b) && !isSameAgain(c, d);
}

function hasSameOutcome(one: CourseCall, other: CourseCall): boolean {
  return one.tool === other.tool && one.failed === other.failed && one.result === other.result;
}

/** The same tool with the same outcome, after the same or similar arguments, or with the same error that says something. */
function isSameAgain(one: CourseCall, other: CourseCall): boolean {
  if (!hasSameOutcome(one, other)) return false;
  if (one.args === other.args || (one.failed && !one.bare)) return true;
  // Searching and reading with other words is looking further, whatever is found.
  return one.kind !== "search" && one.kind !== "read" && one.kind !== "edit" && isSimilar(one.shape, other.shape);
}

function stallFinding(course: Course, rules: ReflexRules): AnomalyFinding[] {
  const { maxStepsWithoutProgress: patience } = rules.doctrine;
  const level = paceOf(course, rules.doctrine);
  // From contingent on it is told as that: one cause, one voice.
  if (level === "contingent" || level === "emergency") return [];
  if (course.idle > patience) return [{ anomaly: "stall", fact: `${course.idle} steps made no progress` }];
  const looking = !rules.readOnly && course.sinceProgress > LOOKING_PATIENCE * patience;
  return looking ? [{ anomaly: "stall", fact: `${course.sinceProgress} steps changed nothing` }] : [];
}

/** STEER-1: the tag, the anomaly, one action; two or three sentences. */
function steeringText({ anomaly, fact }: AnomalyFinding, course: Course, rules: ReflexRules): string {
  const said = `[SUPERVISOR] ${HEADINGS[anomaly]}: ${fact}${course.doing === "" ? "" : `, lately ${course.doing}`}.`;
  const action = ACTIONS[anomaly];
  return action === undefined ? `${said} ${paceText(rules, anomaly)}` : `${said} ${action}`;
}

function paceText({ pace }: ReflexRules, anomaly: Anomaly): string {
  return (anomaly === "emergency" ? pace.emergency : pace.contingent).replace(/\s+/g, " ").trim();
}

const HEADINGS: Readonly<Record<Anomaly, string>> = {
  emergency: "PACE emergency",
  "context-urgent": "Your context is nearly exhausted",
  cascade: "Several tools are failing",
  oscillation: "You are going back and forth",
  loop: "You are repeating yourself",
  contingent: "PACE contingent",
  stall: "You appear stalled",
  context: "Your context is filling up",
};

/** One action each; at PACE levels the role says what to do. */
const ACTIONS: Readonly<Partial<Record<Anomaly, string>>> = {
  "context-urgent":
    "Finish only the step at hand, commit what is sound, and answer now with what is done and what is left.",
  cascade:
    "Stop executing and verify the ground first: the directory you are in, the paths you use, and that the tools are there.",
  oscillation: "Leave both ways: find out why the first one fails before you run anything else.",
  loop: "Doing it again will not change the result, so take a different approach.",
  stall:
    "Reassess: say in one sentence what holds you up, then take a smaller or different step, or ask if only somebody else can settle it.",
  context: "Wrap up the task at hand and commit it before you begin anything else.",
};
