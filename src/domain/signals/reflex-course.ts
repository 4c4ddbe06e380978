/**
 * The course an agent's work takes, as the reflex sees it: steps, what they brought, and the last calls with what came
 * of them. Folded into the pulse with every signal, so it is small, bounded, and O(1) to bring forward. It does not
 * know the role: how much patience a course deserves is the rules' business (reflex.ts).
 *
 * A step is one message of the model with its tools. A step that changed something sets everything back to zero; one
 * that brought something new (a file not read before, another search, a job that still runs) is no idling either.
 */

import { digest, resultHash, shapeOf } from "#domain/core/similarity.ts";
import type { CallKind } from "./reflex-call.ts";
import {
  describeCall,
  isBare,
  isFailure,
  kindOf,
  nameFailure,
  programOf,
  readShellCommand,
  saysRunning,
} from "./reflex-call.ts";
import type { Signal } from "./signal.ts";

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
  /** Failures beyond successes. */
  readonly strain: number;
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
  /** The last steering: what others on the wheel ask before they speak about the same. */
  readonly lastSteering: { readonly cause: string; readonly step: number; readonly at: number } | null;
}

export const COURSE_CALLS = 16;
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
    case "turn.ended": {
      const calls = course.calls.filter((call) => call.failed !== null);
      // Whoever stopped by itself has said what there was to say; the next word is somebody else's.
      return signal.data.ok
        ? { ...course, calls, step: null, sinceProgress: 0, idle: 0, strain: Math.floor(course.strain / 2) }
        : { ...course, calls, step: null };
    }
    case "committed":
      return { ...course, sinceProgress: 0, idle: 0, strain: strainAfter(course.strain, false, true) };
    case "process.exited":
      return { ...course, step: null, compacting: false, calls: course.calls.filter((call) => call.failed !== null) };
    case "compaction.started":
      return { ...course, compacting: true };
    case "compaction.ended":
    case "compacted":
      return { ...course, compacting: false };
    default:
      return course;
  }
}

function startCall(course: Course, signal: Signal<"tool.started">): Course {
  const { tool, does, args, argsHash, step = null, shape } = signal.data;
  const running = course.calls.some((call) => call.failed === null);
  const begins = step === null ? !running : step !== course.step;
  const program = readShellCommand({ tool, does, args });
  const call: CourseCall = {
    id: signal.source,
    tool,
    args: argsHash,
    shape: shape ?? shapeOf(args),
    kind: kindOf({ tool, does, args }),
    program: program === undefined ? "" : programOf(program),
    failed: null,
    part: "",
    result: "",
    bare: false,
    progress: false,
  };
  return {
    ...course,
    steps: course.steps + (begins ? 1 : 0),
    step,
    sinceProgress: course.sinceProgress + (begins ? 1 : 0),
    idle: course.idle + (begins ? 1 : 0),
    fresh: begins ? false : course.fresh,
    doing: describeCall({ tool, args }),
    calls: [...course.calls.filter((one) => one.id !== call.id), call].slice(-COURSE_CALLS),
  };
}

function endCall(course: Course, signal: Signal<"tool.ended">): Course {
  const before = course.calls.find((call) => call.id === signal.source);
  if (before?.failed !== null) return course; // a sub-agent's, forgotten, or told already
  const call = withResult(before, signal);
  if (call.kind === "book") return { ...course, calls: course.calls.filter((one) => one.id !== call.id) };
  const name = lookName(call);
  const known = name !== "" && course.looked.includes(name);
  const lastSaid = course.checks.find(([args]) => args === call.args)?.[1];
  const progress = isProgress(call, known, lastSaid);
  const firstCheck = call.kind === "check" && lastSaid === undefined;
  const isNew = progress || firstCheck || call.kind === "wait" || (name !== "" && !known && !call.failed);
  const counted = { ...call, progress };
  const calls =
    call.kind === "wait" && !call.failed
      ? course.calls.filter((one) => one.id !== call.id)
      : course.calls.map((one) => (one.id === call.id ? counted : one));
  const last = course.calls.findLast((one) => one.failed !== null);
  const again = last !== undefined && last.tool === call.tool && last.args === call.args && last.result === call.result;
  const forgiven = isNew && !course.fresh && !progress ? 1 : 0;
  return {
    ...course,
    calls,
    sinceProgress: progress ? 0 : course.sinceProgress,
    idle: progress ? 0 : Math.max(0, course.idle - forgiven),
    fresh: course.fresh || isNew,
    strain: strainAfter(course.strain, call.failed === true && !firstCheck, progress),
    run: again ? course.run + 1 : 1,
    looked: name === "" || known ? course.looked : [...course.looked, name].slice(-LOOKED),
    checks:
      call.kind === "check"
        ? [...course.checks.filter(([args]) => args !== call.args), [call.args, call.result] as const].slice(-CHECKS)
        : course.checks,
  };
}

function withResult(call: CourseCall, { data }: Signal<"tool.ended">): CourseCall {
  const failed = isFailure(call.program, data);
  const waits = saysRunning(data.result) && (call.kind === "other" || call.kind === "check" || call.kind === "read");
  return {
    ...call,
    kind: waits ? "wait" : call.kind,
    failed,
    part: failed ? nameFailure(call.tool, call.program, call.kind, data) : "",
    result: data.resultHash ?? resultHash(data.result),
    bare: failed && isBare(data.result),
  };
}

/** A changed file, a commit, a report; a check that says something else than the last time. The same again is none. */
function isProgress(call: CourseCall, known: boolean, lastSaid: string | undefined): boolean {
  if (call.kind === "check") return lastSaid !== undefined && lastSaid !== call.result;
  return !call.failed && !known && (call.kind === "edit" || call.kind === "commit" || call.kind === "report");
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
      return digest(`${call.tool} ${call.result}`).slice(0, SHORT);
    default:
      return digest(`${call.tool} ${call.args}`).slice(0, SHORT);
  }
}

function strainAfter(strain: number, failed: boolean, progress: boolean): number {
  if (progress) return Math.max(0, strain - 3);
  return failed ? strain + 1 : Math.max(0, strain - 1);
}
