/**
 * Repetition in a course: the same call made again in vain, whatever was done in between, and two calls that fail in
 * turn. What counts as the same, and what was overcome since, is decided here.
 */
import { isSimilar } from "#domain/core/similarity.ts";
import { isSameProgram } from "./reflex-call.ts";
import type { Course, CourseCall } from "./reflex-course.ts";
import { COURSE_CALLS, isSameCall } from "./reflex-course.ts";
import type { AnomalyFinding, ReflexRules } from "./reflex-rules.ts";
import { nameCall, nameTroubles, tellRepetition } from "./reflex-words.ts";

export const OSCILLATION = 4;
export const OSCILLATION_WINDOW = 6;

/**
 * Enough calls that may be the same are near together: so many within few steps, or more within many. Of several side
 * by side each is counted, which errs on the right side.
 */
export function mayRepeat(
  steps: readonly CourseStep[],
  { repeats, soon, all }: { readonly repeats: number; readonly soon: number; readonly all: number },
): boolean {
  const calls: CourseCall[] = [];
  for (const step of steps.slice(-all)) for (const call of step.calls) calls.push(call);
  const from = calls.length - countCalls(steps.slice(-soon));
  for (let at = calls.length - 1; at >= repeats - 1; at -= 1) {
    const one = calls[at];
    let near = 0;
    let count = 0;
    let inVain = 0;
    for (let of = at; of >= 0; of -= 1) {
      const other = calls[of];
      if (!one || one.tool !== other?.tool || one.failed !== other.failed) continue;
      if (one.failed && isInVainAgain(one, other)) inVain += 1;
      if (!mayBeSame(one, other)) continue;
      count += 1;
      if (of >= from) near += 1;
    }
    if (near >= repeats || count > 2 * repeats || inVain >= repeats) return true;
  }
  return false;
}

function countCalls(steps: readonly CourseStep[]): number {
  let count = 0;
  for (const { calls } of steps) count += calls.length;
  return count;
}

/** What must hold of two calls of a tool that are the same thing tried again, and is quickly seen. */
function mayBeSame(one: CourseCall, other: CourseCall): boolean {
  if (one.result === other.result) return true;
  return one.failed
    ? one.error !== undefined && one.error === other.error
    : one.kind === "edit" && one.args === other.args;
}

/** The calls of one message, as far as they have ended. */
export interface CourseStep {
  readonly calls: readonly CourseCall[];
  readonly changed: boolean;
}

/** Calls of a course that an earlier version wrote are a step each. */
export function stepsIn(course: Course): readonly CourseStep[] {
  const steps: { calls: CourseCall[]; changed: boolean }[] = [];
  let last: number | undefined;
  for (const call of course.calls) {
    if (call.failed === null) continue;
    const open = steps.at(-1);
    if (open && call.step !== undefined && call.step === last) {
      open.calls.push(call);
      open.changed ||= call.progress;
    } else steps.push({ calls: [call], changed: call.progress });
    last = call.step;
  }
  return steps;
}

/**
 * The steps as they were after each of those since the last radio check, the newest first: what happened between two
 * checks counts, unless something was changed since. Each is a list that ends with the step it is about.
 */
function momentsOf(steps: readonly CourseStep[], rules: ReflexRules): readonly (readonly CourseStep[])[] {
  const changed = steps.findLastIndex((step) => step.changed);
  const back = Math.min(rules.doctrine.radioCheckSteps, steps.length - 1 - changed);
  return Array.from({ length: Math.max(0, back) }, (_, at) => steps.slice(0, steps.length - at));
}

export function repetitionFinding(course: Course, all: readonly CourseStep[], rules: ReflexRules): AnomalyFinding[] {
  const inVain = Math.max(longRun(course, rules), roundsInVain(course, rules));
  const whole = { repeats: rules.loopRepeats, soon: all.length, all: all.length };
  if (inVain === 0 && !mayRepeat(all, whole) && !mayOscillate(all)) return [];
  let count = inVain;
  let call = inVain === 0 ? undefined : inVainOf(course, rules);
  for (const steps of momentsOf(all, rules)) {
    const repeated = isOscillating(steps) ? OSCILLATES : repetitionsIn(steps, rules.loopRepeats);
    if (repeated === 0 || isOvercome(steps, all.slice(steps.length))) continue;
    if (repeated === OSCILLATES) return [oscillationFinding(steps)];
    if (repeated > count) call = findRepeated(steps);
    count = Math.max(count, repeated);
  }
  return count === 0 ? [] : [loopFinding(count, call, all)];
}

function loopFinding(count: number, call: CourseCall | undefined, all: readonly CourseStep[]): AnomalyFinding {
  // Of a long course the call itself may be forgotten.
  if (call === undefined) return { anomaly: "loop", fact: `the same call failed ${count} times with the same result` };
  const alike = all.flatMap(({ calls }) => calls.filter((one) => isSameTry(one, call, true)));
  const fact = tellRepetition(count, call, alike);
  return { anomaly: "loop", fact, ...(call.failed ? { about: nameTroubles([call]) } : {}) };
}

function oscillationFinding(steps: readonly CourseStep[]): AnomalyFinding {
  const both = steps.flatMap(firstFailure).slice(-2);
  const fact = `you go back and forth between two calls that both fail, ${both.map(nameCall).join(" and ")}`;
  return { anomaly: "oscillation", fact, about: nameTroubles(both) };
}

/** Which call of the last step it is that was made again. */
function findRepeated(steps: readonly CourseStep[]): CourseCall | undefined {
  const counts = (steps.at(-1)?.calls ?? []).map(
    (call) => [call, Math.max(countSteps(steps, call, true), call.failed ? countInVain(steps, call) : 0)] as const,
  );
  return counts.reduce<(typeof counts)[number] | undefined>(
    (most, one) => (one[1] > (most?.[1] ?? 0) ? one : most),
    undefined,
  )?.[0];
}

/** The call of a long row, or the one that fails round after round. */
function inVainOf(course: Course, rules: ReflexRules): CourseCall | undefined {
  if (longRun(course, rules) > 0) return course.calls.findLast((call) => call.failed !== null);
  const rounds = roundsInVain(course, rules);
  const most = course.failing?.find((one) => one.error !== undefined && one.rounds === rounds);
  return most === undefined ? undefined : lastOf(course, most.shape);
}

export function lastOf({ calls }: Course, shape: string): CourseCall | undefined {
  return calls.findLast((call) => call.failed !== null && call.shape === shape);
}

const OSCILLATES = -1;

/** Most work is neither, and that is quickly seen. */
function mayOscillate(steps: readonly CourseStep[]): boolean {
  let failed = 0;
  for (const { calls } of steps) if (calls.some((call) => call.failed)) failed += 1;
  return failed >= OSCILLATION;
}

/** A row of the very same call that is longer than what is remembered call by call. */
function longRun({ run, calls }: Course, { loopRepeats }: ReflexRules): number {
  const last = calls.findLast((call) => call.failed !== null);
  return run >= loopRepeats && last && !last.progress && last.kind !== "wait" ? run : 0;
}

/** The call was made once more since, and something else came of it. */
function isOvercome(steps: readonly CourseStep[], later: readonly CourseStep[]): boolean {
  const last = steps.at(-1)?.calls ?? [];
  return last.some((one) => one.failed && isMadeGood(one, later));
}

/** The same or nearly the same worked later on. */
function isMadeGood(failed: CourseCall, later: readonly CourseStep[]): boolean {
  return later.some(({ calls }) =>
    calls.some((call) => !call.failed && failed.tool === call.tool && isSimilar(failed.shape, call.shape)),
  );
}

/** A call that fails with the same error round after round, whatever was changed in between. */
function roundsInVain({ failing, steps }: Course, { loopRepeats, doctrine }: ReflexRules): number {
  const most = failing?.find(
    ({ error, rounds, step }) =>
      error !== undefined && rounds >= 2 * loopRepeats - 1 && steps - step < doctrine.radioCheckSteps,
  );
  return most?.rounds ?? 0;
}

/** In how many steps a call of the last one was made in vain; 0 when that is no loop. */
function repetitionsIn(steps: readonly CourseStep[], repeats: number): number {
  const last = steps.at(-1);
  if (!last || last.changed) return 0;
  const changed = steps.findLastIndex((step) => step.changed);
  const soon = steps.slice(changed + 1).slice(-(2 * repeats - 1));
  // With changes in between it takes twice as often: each of them was a try.
  const inAll = steps.slice(-4 * repeats);
  let most = 0;
  for (const call of last.calls) {
    let count = countSteps(soon, call, true);
    if (count < repeats && call.failed) count = countInVain(inAll, call);
    if (count < repeats) {
      count = countSteps(inAll, call, false);
      if (count < Math.min(2 * repeats, COURSE_CALLS)) continue;
    }
    most = Math.max(most, count);
  }
  return most;
}

/**
 * In how many steps the same was tried in vain, whatever was done in between. An edit of the file that worked ends it,
 * and one by a shell, which may have been of any file.
 */
function countInVain(steps: readonly CourseStep[], call: CourseCall): number {
  let count = 0;
  for (let at = steps.length - 1; at >= 0; at -= 1) {
    const { calls = [] } = steps[at] ?? {};
    if (call.file !== undefined && calls.some((one) => mayHaveEdited(one, call.file))) break;
    const same = calls.find((one) => one.failed && one.tool === call.tool && isInVainAgain(one, call));
    if (same && !isMadeGood(same, steps.slice(at + 1))) count += 1;
  }
  return count;
}

function mayHaveEdited({ kind, file, failed }: CourseCall, edited: string | undefined): boolean {
  return kind === "edit" && !failed && (file === undefined || file === edited);
}

/**
 * Two failures of a tool that are the same whatever the arguments are: edits of one file, whose errors quote it; and a
 * program that ends with the same unusual exit code, or out of time, and not a word.
 */
function isInVainAgain(one: CourseCall, other: CourseCall): boolean {
  if (one.file !== undefined) return one.file === other.file;
  if (one.bare || one.error !== undefined || one.kind === "wait" || other.kind === "wait") return false;
  return one.result === other.result && !other.bare && isSameProgram(one.program, other.program);
}

function countSteps(steps: readonly CourseStep[], call: CourseCall, byHead: boolean): number {
  let count = 0;
  for (const [at, { calls }] of steps.entries()) {
    const same = calls.find((one) => isSameAgain(one, call, byHead));
    if (same && !(same.failed && isMadeGood(same, steps.slice(at + 1)))) count += 1;
  }
  return count;
}

/** A fails, B fails, A fails, B fails; looking around in between changes nothing, changing something does. */
function isOscillating(steps: readonly CourseStep[]): boolean {
  const recent = steps.slice(-OSCILLATION_WINDOW);
  const failed = recent.slice(recent.findLastIndex((step) => step.changed) + 1).flatMap(firstFailure);
  const [a, b, c, d] = failed.slice(-OSCILLATION);
  if (!a || !b || !c || !d || !recent.at(-1)?.calls.includes(d)) return false;
  return isSameAgain(a, c) && isSameAgain(b, d) && !isSameTry(a, b) && !isSameTry(c, d);
}

/** Two names of a program that is not there are one try, and so are two edits of one file that both fail. */
function isSameTry(one: CourseCall, other: CourseCall, byHead = false): boolean {
  if (isSameAgain(one, other, byHead)) return true;
  return one.failed === true && other.failed === true && one.tool === other.tool && isInVainAgain(one, other);
}

function firstFailure({ calls }: CourseStep): readonly CourseCall[] {
  const failed = calls.find((call) => call.failed);
  return failed ? [failed] : [];
}

/**
 * The same thing tried again: the very same call; or the same tool with the same outcome, after similar arguments or
 * with an error that says something. `byHead`: an error may also quote the call, and be the same but for that.
 */
function isSameAgain(one: CourseCall, other: CourseCall, byHead = false): boolean {
  if (one.tool !== other.tool || one.failed !== other.failed) return false;
  // A server that is not up yet is waited for.
  if (one.kind === "wait" || other.kind === "wait") return false;
  if (isSameCall(one, other)) return true;
  if (byHead && one.failed && hasSameHead(one, other)) return true;
  if (one.result !== other.result) return false;
  // An exit code alone says something only of the same program.
  if (one.failed && !one.bare && (one.error !== undefined || one.program === other.program)) return true;
  // Searching and reading with other words is looking further, whatever is found.
  return (
    one.kind !== "search" &&
    one.kind !== "read" &&
    one.kind !== "edit" &&
    one.kind !== "report" &&
    isSimilar(one.shape, other.shape)
  );
}

/** Not of checks: what a failing test run says first is the same whatever fails. */
function hasSameHead(one: CourseCall, other: CourseCall): boolean {
  if (one.error === undefined || one.error !== other.error || one.program !== other.program) return false;
  if (one.kind === "check" || other.kind === "check") return false;
  return (one.kind !== "search" && one.kind !== "read") || isSimilar(one.shape, other.shape);
}
