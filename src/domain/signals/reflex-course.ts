/**
 * The course an agent's work takes, as the reflex sees it: steps, what they brought, and the last calls with what came
 * of them. Folded into the pulse with every signal, so it is small, bounded, and O(1) to bring forward. It does not
 * know the role: how much patience a course deserves is the rules' business (reflex.ts).
 *
 * A step is one message of the model with its tools, however many: what they do side by side counts once. A step that
 * changed something sets everything back to zero; one that brought something new (a file not read before, another
 * search, a job that still runs) is no idling either, and one that only waits is no step without progress. A call that
 * the CLI cancelled because another one failed was never made.
 *
 * Fields with a question mark were added later: a course without them was written by an earlier version.
 */

import { digest, failureIn, isSimilar, resultHash, shapeOf } from "#domain/core/similarity.ts";
import type { Blocker, CallKind } from "./reflex-call.ts";
import {
  describeCall,
  describeError,
  fileOf,
  findBlocker,
  isBare,
  isFailure,
  isInVain,
  isOutOfTime,
  kindOf,
  missingProgram,
  nameFailure,
  programOf,
  programSought,
  readShellCommand,
  saysRunning,
} from "./reflex-call.ts";
import type { Signal } from "./signal.ts";
import { CANCELLED } from "./signal.ts";

/** One call as it is remembered. */
export interface CourseCall {
  readonly id: string;
  readonly tool: string;
  /** What its arguments were, exactly and roughly. */
  readonly args: string;
  readonly shape: string;
  readonly kind: CallKind;
  /** What a shell was to run; empty for other tools. */
  readonly program: string;
  /** Null while it runs. */
  readonly failed: boolean | null;
  /** What counts as the failing tool; empty when nothing does. */
  readonly part: string;
  readonly result: string;
  /** Its error says nothing beyond that there was one. */
  readonly bare: boolean;
  /** Something was changed by it. */
  readonly progress: boolean;
  /** The step it belongs to, by number. */
  readonly step?: number;
  /** The head of its error (similarity.ts). */
  readonly error?: string;
  /** The program it looks for. */
  readonly seeks?: string;
  /** The call in words, and what its error says: both are quoted in sentences, neither is compared. */
  readonly words?: string;
  readonly says?: string;
  /** The file it edits, by a short name. */
  readonly file?: string;
}

/** What fails round after round: which call, how many rounds it got no better, the fewest failures, and when. */
export interface Rounds {
  readonly shape: string;
  /** The error it fails with each time; a check may fail with any. */
  readonly error?: string;
  readonly rounds: number;
  readonly best: number | null;
  readonly step: number;
}

/** Something is tried or asked for again and again: how often, and at which step last. */
interface Tries {
  readonly times: number;
  readonly step: number;
}

export interface Course {
  readonly steps: number;
  /** The message the running step belongs to, where the runtime names it. */
  readonly step: string | null;
  /** Steps since something was changed. */
  readonly sinceProgress: number;
  /** Those of them that brought nothing new. */
  readonly idle: number;
  /** The running step has brought something new already. */
  readonly fresh: boolean;
  /** Steps that failed beyond those that did not. */
  readonly strain: number;
  /** The strain before the running step, and what has come of the step. */
  readonly strainBefore?: number;
  readonly stepFailed?: boolean;
  readonly stepChanged?: boolean;
  /** The running step counts as one without progress; one that only waits does not. */
  readonly counted?: boolean;
  /** So many calls in a row were the same. */
  readonly run: number;
  /** The last call, in words. */
  readonly doing: string;
  readonly calls: readonly CourseCall[];
  /** What was looked at, by short names, the newest last. */
  readonly looked: readonly string[];
  /** What checks said last, by what was run. */
  readonly checks: readonly (readonly [args: string, result: string])[];
  /** The context is being replaced by a summary; nobody needs to be told that it is full. */
  readonly compacting: boolean;
  /** The step at which was last steered about each kind of trouble. */
  readonly steered: Readonly<Record<string, number>>;
  /** How many times on end that was. */
  readonly told?: Readonly<Record<string, number>>;
  /** The failures that each of them was about, by short names. */
  readonly voiced?: Readonly<Record<string, readonly string[]>>;
  /** Checks that keep failing, and other calls that keep failing with one error; the newest last. */
  readonly failing?: readonly Rounds[];
  /** A program that is not there and is looked for. */
  readonly hunt?: (Tries & { readonly program: string }) | null;
  /** Something only a person can solve, as long as nothing shows that it was. */
  readonly blocker?: (Tries & { readonly what: Blocker; readonly shape: string }) | null;
  /** Steps on end that asked for a job which still runs, and how full the context was before the first. */
  readonly polled?: (Tries & { readonly from: number }) | null;
  /** How many tokens the context held last. */
  readonly filled?: number;
  /** It was said once to hold far less: twice, and it was emptied. */
  readonly dips?: boolean;
  /** The last steering: what others on the wheel ask before they speak about the same. */
  readonly lastSteering: { readonly cause: string; readonly step: number; readonly at: number } | null;
}

export const COURSE_CALLS = 16;
/** Of calls side by side so many are followed, and so many kept once the next step begins. */
const STEP_CALLS = 8;
const STEP_KEPT = 4;
const FAILING = 4;
/** A hunt that rests for so many steps has ended. */
const HUNT_RESTS = 12;
/** Waiting that rests for more steps has ended. */
const POLL_RESTS = 3;
/** A context that shrank to less than this was emptied, whether or not somebody said so. */
const EMPTIED = 0.7;
const LOOKED = 48;
const CHECKS = 8;
const SHORT = 6;

export const NEW_COURSE: Course = {
  steps: 0,
  step: null,
  sinceProgress: 0,
  idle: 0,
  fresh: false,
  strain: 0,
  run: 0,
  doing: "",
  calls: [],
  looked: [],
  checks: [],
  compacting: false,
  steered: {},
  lastSteering: null,
};

/** The course after one more signal. */
export function follow(course: Course, signal: Signal): Course {
  switch (signal.kind) {
    case "tool.started":
      return signal.data.sub === null ? startCall(course, signal) : course;
    case "tool.ended":
      return endCall(course, signal);
    case "usage":
      return noteFilled(course, signal.data.contextTokens);
    case "turn.ended": {
      const calls = course.calls.filter((call) => call.failed !== null);
      const open = { ...course, calls, step: null };
      if (!signal.data.ok) return open;
      // Whoever stopped by itself has said what there was to say; the next word is somebody else's.
      const strain = Math.floor(course.strain / 2);
      return { ...open, sinceProgress: 0, idle: 0, strain, strainBefore: strain, told: {}, polled: null };
    }
    case "committed": {
      const strain = strainAfter(course.strain, false, true);
      return { ...course, sinceProgress: 0, idle: 0, strain, strainBefore: strain };
    }
    case "process.exited":
      return { ...course, step: null, compacting: false, calls: course.calls.filter((call) => call.failed !== null) };
    case "compaction.started":
      return { ...course, compacting: true };
    case "compaction.ended":
    case "compacted":
      return { ...withoutContextWords(course), compacting: false };
    default:
      return course;
  }
}

function noteFilled(course: Course, tokens: number): Course {
  if (tokens === course.filled) return course;
  if (tokens >= EMPTIED * (course.filled ?? 0))
    return { ...course, filled: tokens, ...(course.dips ? { dips: false } : {}) };
  // One small number between large ones is a message of another context, such as a sub-agent's.
  return course.dips ? { ...withoutContextWords(course), filled: tokens, dips: false } : { ...course, dips: true };
}

/** The context is another: what was said about the old one may be said again. */
function withoutContextWords(course: Course): Course {
  const { context: _one, "context-urgent": _other, ...steered } = course.steered;
  return { ...course, steered, filled: 0, dips: false };
}

function startCall(course: Course, signal: Signal<"tool.started">): Course {
  const { tool, does, args, argsHash, step = null, shape } = signal.data;
  const running = course.calls.some((call) => call.failed === null);
  const begins = step === null ? !running : step !== course.step;
  const number = course.steps + (begins ? 1 : 0);
  if (!begins && countOf(course.calls, number) >= STEP_CALLS) return course;
  const command = readShellCommand({ tool, does, args });
  const kind = kindOf({ tool, does, args });
  const seeks = command === undefined ? undefined : programSought(command, course.hunt?.program);
  const file = fileOf({ does, args });
  const call: CourseCall = {
    id: signal.source,
    tool,
    args: argsHash,
    shape: shape ?? shapeOf(args),
    kind,
    program: command === undefined ? "" : programOf(command),
    failed: null,
    part: "",
    result: "",
    bare: false,
    progress: false,
    step: number,
    ...(seeks === undefined ? {} : { seeks }),
    words: describeCall({ tool, args }),
    ...(file === undefined ? {} : { file: digest(file).slice(0, SHORT) }),
  };
  const counts = kind !== "wait" && (begins || course.counted === false);
  const before = course.calls.filter((one) => one.id !== call.id);
  return {
    ...course,
    steps: number,
    step,
    sinceProgress: course.sinceProgress + (counts ? 1 : 0),
    idle: course.idle + (begins ? 1 : 0),
    fresh: begins ? false : course.fresh,
    counted: begins ? counts : counts || (course.counted ?? true),
    // Its own lists are not what it was doing.
    doing: kind === "book" ? course.doing : (call.words ?? ""),
    calls: [...(begins ? keepCalls(before, course.steps) : before), call],
    ...(begins ? { strainBefore: course.strain, stepFailed: false, stepChanged: false } : {}),
  };
}

function countOf(calls: readonly CourseCall[], step: number): number {
  let count = 0;
  for (const call of calls) if (call.step === step) count += 1;
  return count;
}

/** Of many calls side by side a few are kept, those first that changed something or failed. */
function keepCalls(calls: readonly CourseCall[], last: number): readonly CourseCall[] {
  let kept = calls;
  if (countOf(calls, last) > STEP_KEPT) {
    const side = calls.filter((call) => call.step === last);
    const telling = [...side.filter((call) => call.progress || call.failed), ...side].slice(0, STEP_KEPT);
    kept = calls.filter((call) => call.step !== last || telling.includes(call));
  }
  return kept.slice(1 - COURSE_CALLS);
}

function endCall(course: Course, signal: Signal<"tool.ended">): Course {
  const before = course.calls.find((call) => call.id === signal.source);
  if (before?.failed !== null) return course; // a sub-agent's, forgotten, or told already
  const without = () => course.calls.filter((one) => one.id !== before.id);
  if (signal.data.errorClass === CANCELLED) return { ...course, calls: without() };
  const call = withResult(before, signal);
  if (call.kind === "book") return { ...course, calls: without() };
  const name = lookName(call);
  const known = name !== "" && course.looked.includes(name);
  const lastSaid = course.checks.find(([args]) => args === call.args)?.[1];
  const progress = isProgress(call, known, lastSaid);
  const advanced = progress || (call.kind === "report" && !call.failed && !known);
  const firstCheck = call.kind === "check" && lastSaid === undefined;
  const waits = call.kind === "wait" && !call.failed;
  const isNew = advanced || firstCheck || call.kind === "wait" || (name !== "" && !known && !call.failed);
  const counted = { ...call, progress };
  const forgiven = isNew && !course.fresh && !advanced ? 1 : 0;
  // That it only waits shows in its result; whatever else the step does counts.
  const uncounted =
    waits && before.kind !== "wait" && course.counted !== false && countOf(course.calls, course.steps) === 1;
  const stepFailed = course.stepFailed === true || (call.failed === true && !firstCheck);
  const stepChanged = course.stepChanged === true || progress;
  return {
    ...course,
    calls: waits ? without() : course.calls.map((one) => (one.id === call.id ? counted : one)),
    sinceProgress: advanced ? 0 : Math.max(0, course.sinceProgress - (uncounted ? 1 : 0)),
    idle: advanced ? 0 : Math.max(0, course.idle - forgiven),
    fresh: course.fresh || isNew,
    counted: uncounted ? false : (course.counted ?? true),
    strain: strainAfter(course.strainBefore ?? course.strain, stepFailed, stepChanged),
    strainBefore: course.strainBefore ?? course.strain,
    stepFailed,
    stepChanged,
    run: runAfter(course, call),
    // What failed was not seen, and what it would have changed was not changed.
    looked: name === "" || known || call.failed ? course.looked : [...course.looked, name].slice(-LOOKED),
    checks:
      call.kind === "check"
        ? [...course.checks.filter(([args]) => args !== call.args), [call.args, call.result] as const].slice(-CHECKS)
        : course.checks,
    ...failingAfter(course, call, signal),
    ...huntAfter(course, call, signal),
    ...blockerAfter(course, call, signal),
    ...followPolling(course, waits, advanced),
  };
}

/** Of calls side by side the first to end is compared. */
function runAfter({ calls, run }: Course, call: CourseCall): number {
  const last = calls.findLast((one) => one.failed !== null);
  if (!last) return 1;
  if (last.step !== undefined && last.step === call.step) return run;
  return isSameCall(last, call) ? run + 1 : 1;
}

/** The very same call with the same result; an edit that worked is the same whatever the file looks like by now. */
export function isSameCall(one: CourseCall, other: CourseCall): boolean {
  if (one.tool !== other.tool || one.args !== other.args || one.failed !== other.failed) return false;
  return one.result === other.result || (one.kind === "edit" && one.program === "" && !one.failed);
}

function withResult(call: CourseCall, { data }: Signal<"tool.ended">): CourseCall {
  const failed = isFailure(call.program, data);
  const waits = saysRunning(data.result) && (call.kind === "other" || call.kind === "check" || call.kind === "read");
  // Where the runtime kept nothing of the whole result, its beginning has to do.
  const error =
    failed && !isOutOfTime(data.result) ? (data.failure ?? failureIn(data.result, false, false))?.head : undefined;
  const says = failed ? describeError(data) : undefined;
  return {
    ...call,
    kind: waits ? "wait" : call.kind,
    failed,
    part: failed ? nameFailure(call.tool, call.program, call.kind, data) : "",
    result: data.resultHash ?? resultHash(data.result),
    bare: failed && isBare(data),
    ...(error === undefined ? {} : { error }),
    ...(says === undefined ? {} : { says }),
  };
}

/** Rounds of what fails: they begin again when it works, and a check's when it fails less than ever before. */
function failingAfter(course: Course, call: CourseCall, { data }: Signal<"tool.ended">): Pick<Course, "failing"> {
  if (call.program === "" || call.kind === "wait" || call.kind === "search") return {};
  const isCheck = call.kind === "check";
  const failing = course.failing ?? [];
  if (!isCheck && !call.failed && failing.length === 0) return {};
  const failure = isCheck ? (data.failure ?? failureIn(data.result, data.ok, true)) : undefined;
  const known = failing.find(
    ({ shape, error }) => shape === call.shape && (isCheck || !call.failed || error === call.error),
  );
  const fails = call.failed === true || (failure?.count ?? 0) > 0;
  if (!fails && !known) return {};
  const others = failing.filter((one) => one !== known);
  if (!fails) return { failing: others };
  if (known?.step === call.step) return {};
  const best = known?.best ?? null;
  const count = failure?.count ?? null;
  const better = known === undefined || (count !== null && best !== null && count < best);
  const next: Rounds = {
    shape: call.shape,
    ...(isCheck || call.error === undefined ? {} : { error: call.error }),
    rounds: better ? 1 : known.rounds + 1,
    best: count === null ? best : Math.min(count, best ?? count),
    step: course.steps,
  };
  return { failing: [...others, next].slice(-FAILING) };
}

function huntAfter({ hunt, steps }: Course, call: CourseCall, { data }: Signal<"tool.ended">): Pick<Course, "hunt"> {
  const missing = call.program === "" ? undefined : (missingProgram(data) ?? (isInVain(data) ? call.seeks : undefined));
  if (missing === undefined) {
    const found = hunt && (call.seeks === hunt.program || call.program === hunt.program) && !call.failed;
    return found ? { hunt: null } : {};
  }
  if (hunt?.program !== missing || steps - hunt.step > HUNT_RESTS) {
    // What is looked for once does not end the hunt for something else.
    return hunt && steps - hunt.step <= HUNT_RESTS && hunt.times > 1
      ? {}
      : { hunt: { program: missing, times: 1, step: steps } };
  }
  // The same failure again is no further search.
  return hunt.step === steps || call.seeks !== missing
    ? {}
    : { hunt: { program: missing, times: hunt.times + 1, step: steps } };
}

function blockerAfter(
  { blocker, steps }: Course,
  call: CourseCall,
  { data }: Signal<"tool.ended">,
): Pick<Course, "blocker"> {
  if (data.ok) {
    const solved =
      blocker && (call.kind === "commit" ? blocker.what === "signing" : isSimilar(blocker.shape, call.shape));
    return solved ? { blocker: null } : {};
  }
  // What a search or a read prints was written by somebody else, and a check may well be about missing credentials.
  const isTold = call.kind === "search" || call.kind === "read" || call.kind === "check";
  const what = isTold ? undefined : findBlocker(data.result);
  if (what === undefined) return {};
  if (blocker?.what !== what) return { blocker: { what, shape: call.shape, times: 1, step: steps } };
  return blocker.step === steps
    ? {}
    : { blocker: { ...blocker, shape: call.shape, times: blocker.times + 1, step: steps } };
}

/** A look aside does not end the waiting; a change does. */
function followPolling({ polled, filled, steps }: Course, waits: boolean, advanced: boolean): Pick<Course, "polled"> {
  if (!waits) return polled && advanced ? { polled: null } : {};
  if (!polled || steps - polled.step > POLL_RESTS) return { polled: { times: 1, step: steps, from: filled ?? 0 } };
  return polled.step === steps ? {} : { polled: { ...polled, times: polled.times + 1, step: steps } };
}

/** A changed file, a commit; a check that says something else than the last time. The same again is none. */
function isProgress(call: CourseCall, known: boolean, lastSaid: string | undefined): boolean {
  if (call.kind === "check") return lastSaid !== undefined && lastSaid !== call.result;
  return !call.failed && !known && (call.kind === "edit" || call.kind === "commit");
}

/** What makes a look a new one: other words to search for, something else to be read. Empty: never a look. */
function lookName(call: CourseCall): string {
  switch (call.kind) {
    case "wait":
    case "book":
      return "";
    case "read":
    case "other":
      // Read again after a change it says something new; said again it does not.
      return digest(`${call.tool} ${call.args} ${call.result}`).slice(0, SHORT);
    default:
      return digest(`${call.tool} ${call.args}`).slice(0, SHORT);
  }
}

function strainAfter(strain: number, failed: boolean, progress: boolean): number {
  const failures = failed ? 1 : 0;
  if (progress) return Math.max(0, strain - 3) + failures;
  return failed ? strain + 1 : Math.max(0, strain - 1);
}
