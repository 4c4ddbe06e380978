/**
 * What the guard hands to a remediation: the failure it saw, the daemon's registration as it last saw it, and who asks.
 * It travels as a file, because the two processes share nothing else. A file that was cut off, or that another version
 * wrote, is refused with a sentence: a remediation of half a failure would repair the wrong thing.
 */

/** Raised when a field changes its meaning; a new field that may be missing does not raise it. */
export const REMEDY_CONTEXT_VERSION = 1;

export interface RemedyContext {
  readonly v: typeof REMEDY_CONTEXT_VERSION;
  readonly failure: {
    /** In the guard's words: `exited`, `heartbeat`, `config` … */
    readonly kind: string;
    readonly detail: string;
    /** ms. */
    readonly at: number;
  };
  /** daemon.json as the guard last read it; null when there was none. */
  readonly registration: Readonly<Record<string, unknown>> | null;
  readonly guard: { readonly pid: number; readonly since: number };
  /** The guard's own count: 2 when a first remediation of this failure came to nothing. */
  readonly try: 1 | 2;
}

/** What came of a remediation, for whoever asked for it. */
export interface RemedyResult {
  readonly outcome: "finished" | "crashed" | "unguarded" | "stopped" | "not-started";
  /** Why it did not finish, as a clause; null when it did. */
  readonly why: string | null;
  /** The file with the transcript. */
  readonly log: string;
  readonly durationMs: number;
  readonly tries: number;
}

export type RemedyContextReading =
  | { readonly ok: true; readonly context: RemedyContext }
  | { readonly ok: false; readonly problem: string };

/** Reads the text of a context file. Never throws. */
export function readRemedyContext(text: string): RemedyContextReading {
  const value = parseObject(text);
  if (value === undefined) return no("it is not a whole JSON object; it may have been cut off");
  if (value.v !== REMEDY_CONTEXT_VERSION) {
    const said = typeof value.v === "number" || typeof value.v === "string" ? String(value.v).slice(0, 20) : "none";
    return no(`it is of version ${said}, and this program reads version ${REMEDY_CONTEXT_VERSION}`);
  }
  const { failure, registration, guard, try: attempt } = value;
  if (!isObject(failure) || !isText(failure.kind) || !isText(failure.detail) || !isNumber(failure.at)) {
    return no("its failure has no kind, detail and time");
  }
  if (registration !== null && !isObject(registration)) return no("its registration is neither an object nor null");
  if (!isObject(guard) || !isNumber(guard.pid) || !isNumber(guard.since)) return no("it does not say which guard asks");
  if (attempt !== 1 && attempt !== 2) return no("its try is neither 1 nor 2");
  const { kind, detail, at } = failure;
  const { pid, since } = guard;
  return {
    ok: true,
    context: {
      v: REMEDY_CONTEXT_VERSION,
      failure: { kind, detail, at },
      registration,
      guard: { pid, since },
      try: attempt,
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

function no(problem: string): RemedyContextReading {
  return { ok: false, problem };
}

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
