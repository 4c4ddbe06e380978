/**
 * What the pool command's end means (AUTO-2): a task, nothing for now, or a failure of the ground that auto mode stands on.
 * Its exit code is judged first, and by nothing but numbers; what it printed is a task or none, never an instruction to us.
 * A pool that prints more than a task may have, or no text, is as broken as one that exits 1. Pure.
 */
import type { HardFailure } from "#domain/model/auto.ts";

/** One run of the command, as far as it got. */
export interface PoolRun {
  /** Its exit code; null where a signal ended it, or nobody could see its end. */
  readonly code: number | null;
  /** It did not end in time and was ended. */
  readonly hung: boolean;
  readonly stdout: string;
  /** How many bytes that was; another number than its text has says that it was no text. */
  readonly bytes: number;
  /** More was printed than was kept. */
  readonly overflowed: boolean;
  /** The end of what it said beside its answer. */
  readonly stderr: string;
}

export type PoolAnswer =
  | { readonly kind: "task"; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "failed"; readonly failure: HardFailure };

/** Exit codes with a meaning of their own: the seed's. */
const NONE_READY = 4;
const CLAIM_LIMIT = 3;

export interface AnswerLimits {
  /** The longest task, in bytes. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export function readPoolAnswer(run: PoolRun, { maxBytes, timeoutMs }: AnswerLimits): PoolAnswer {
  const { code } = run;
  if (code === NONE_READY) return { kind: "none" };
  if (code === null) return fail(run, ...(run.hung ? sayHung(timeoutMs) : SAY_KILLED));
  if (run.overflowed || (code === 0 && run.bytes > maxBytes)) {
    return fail(run, "POOL_OUTPUT", `printed more than a task may have (${maxBytes} bytes)`, LONG_HINT);
  }
  if (code === CLAIM_LIMIT)
    return fail(run, "POOL_CLAIM_LIMIT", "says that too many tasks are claimed (exit 3)", CLAIM_HINT);
  if (code !== 0) return fail(run, "POOL_FAILED", `ended with ${code}`, code === 127 ? MISSING_HINT : FAILED_HINT);
  if (!isText(run.stdout, run.bytes)) return fail(run, "POOL_OUTPUT", "printed something that is not text", TEXT_HINT);
  const text = run.stdout.trim();
  return text === "" ? { kind: "none" } : { kind: "task", text };
}

const FAILED_HINT =
  "Run the command by hand, fix it, then 'overseer up --auto'. Exit 4, or no output, says that there is no task now.";
const MISSING_HINT =
  "Its program was not found: check auto.taskPoolCommand and the PATH of whoever runs 'overseer up --auto'.";
const CLAIM_HINT = "Its tasks are not given back: look into the tracker behind it, then 'overseer up --auto'.";
const LONG_HINT =
  "Have it print one task, shorter than store.caps.payload; logs/task_pool.log has the beginning of what it printed.";
const TEXT_HINT = "Have it print one task as UTF-8 text; logs/task_pool.log has what it printed.";
const SAY_KILLED = [
  "POOL_FAILED",
  "was ended by a signal, or what it printed could not be kept (is the disk full?)",
  FAILED_HINT,
] as const;

function sayHung(timeoutMs: number): readonly [string, string, string] {
  const hint = "Find out what it waits for, or raise auto.taskPoolTimeout, then 'overseer up --auto'.";
  return ["POOL_HUNG", `had not ended after ${timeoutMs / 1000} s and was ended`, hint];
}

function fail({ stderr }: PoolRun, code: string, what: string, hint: string): PoolAnswer {
  const said = stderr.replace(/\s+/g, " ").trim().slice(-SAID_CHARS);
  const problem = `The task pool command ${what}.${said === "" ? "" : ` It said: "${said}".`}`;
  return { kind: "failed", failure: { code, problem, hint } };
}

const SAID_CHARS = 300;

/** Read as UTF-8, what is none becomes other signs, and they take more room than what was there. */
export function isText(read: string, bytes: number): boolean {
  return !read.includes("\u0000") && new TextEncoder().encode(read).byteLength === bytes;
}
