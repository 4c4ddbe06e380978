/**
 * The grammar of scripts: a value as JSON or YAML gave it becomes steps, or a sentence that names the step and the
 * field at fault. Strict on purpose: a misspelt field that is overlooked would make a test pass for the wrong reason.
 * Written by hand because the simulator, the model server and every agent load it, and a schema library costs more
 * than the rest of them together.
 */
import { patternExpression } from "./pattern.ts";
import {
  DEATH_SIGNALS,
  DEATHS,
  type Once,
  SCRIPTED_STATUSES,
  type Script,
  type ScriptError,
  type Step,
  type StepKind,
  type Update,
} from "./steps.ts";

/** Checks a value that was read from JSON or YAML. */
export function parseScript(value: unknown): Script | ScriptError {
  try {
    const budget = { steps: MAX_STEPS };
    return { steps: readSteps(value, { where: "script", depth: 0, budget }) };
  } catch (error) {
    if (error instanceof Mistake) return { error: error.message };
    throw error;
  }
}

const MAX_STEPS = 10_000;
const MAX_DEPTH = 8;
/** What a timer can hold. */
const LONGEST_MS = 2 ** 31 - 1;

/** Thrown inside this file only. */
class Mistake extends Error {}

interface ParseContext {
  readonly where: string;
  readonly depth: number;
  /** Shared by the whole script: YAML aliases can make a short text endless. */
  readonly budget: { steps: number };
}

function readSteps(value: unknown, place: ParseContext): Step[] {
  if (!Array.isArray(value)) throw new Mistake(`${place.where}: expected a list of steps, got ${describeType(value)}.`);
  if (place.depth > MAX_DEPTH) throw new Mistake(`${place.where}: steps are nested deeper than ${MAX_DEPTH} levels.`);
  if (value.length === 0) throw new Mistake(`${place.where}: the list of steps is empty.`);
  return value.map((item: unknown, index) => readStep(item, { ...place, where: `${place.where}, step ${index + 1}` }));
}

function readStep(value: unknown, place: ParseContext): Step {
  place.budget.steps -= 1;
  if (place.budget.steps < 0) throw new Mistake(`${place.where}: a script has at most ${MAX_STEPS} steps.`);
  const [verb, content] = verbOf(value, place.where);
  const reader = VERBS[verb];
  const at = { ...place, where: `${place.where} (${verb})`, depth: place.depth + 1 };
  const fields = new Fields(verb, asFields(content, reader.short, at), at);
  const step = reader.read(fields);
  fields.finish();
  return step;
}

function verbOf(value: unknown, where: string): [StepKind, unknown] {
  if (typeof value === "string" && isVerb(value)) return [value, {}];
  if (!isRecord(value)) throw new Mistake(`${where}: expected {verb: …}, got ${describeType(value)}.`);
  const keys = Object.keys(value);
  const [key] = keys;
  if (key === undefined || keys.length > 1) {
    throw new Mistake(`${where}: a step has exactly one verb, got ${keys.length === 0 ? "none" : keys.join(", ")}.`);
  }
  if (!isVerb(key)) throw new Mistake(`${where}: unknown verb "${key}". Known: ${Object.keys(VERBS).join(", ")}.`);
  return [key, value[key]];
}

function isVerb(text: string): text is StepKind {
  return Object.hasOwn(VERBS, text);
}

/** `say: hello` is short for `say: {text: hello}`; `hang:` and `hang: true` say no more than `hang`. */
function asFields(content: unknown, short: string, place: ParseContext): Record<string, unknown> {
  if (isRecord(content)) return content;
  if (content === null || content === undefined) return {};
  if (Array.isArray(content)) throw new Mistake(`${place.where}: expected fields, got a list.`);
  return { [short]: content };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describeType(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "fields";
  return typeof value === "string" ? `"${value.slice(0, 40)}"` : `a ${typeof value}`;
}

/** The fields of one step, each taken once; what is left over at the end is a mistake. */
class Fields {
  private readonly taken: string[] = [];

  constructor(
    private readonly verb: StepKind,
    private readonly values: Record<string, unknown>,
    private readonly place: ParseContext,
  ) {}

  finish(): void {
    const extra = Object.keys(this.values).find((key) => !this.taken.includes(key));
    if (extra !== undefined) {
      throw new Mistake(`${this.place.where}: unknown field "${extra}". Known: ${this.taken.join(", ")}.`);
    }
  }

  has(name: string): boolean {
    return this.values[name] !== undefined && this.values[name] !== null;
  }

  text(name: string): string {
    const value = this.maybeText(name);
    if (value === undefined) throw this.mistake(name, "is missing");
    return value;
  }

  maybeText(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    throw this.mistake(name, `must be text, got ${describeType(value)}`);
  }

  path(name: string): string {
    const value = this.text(name);
    if (value === "" || value.includes("\0")) throw this.mistake(name, "must be a path");
    return value;
  }

  maybeWhole(name: string, lowest: number, highest: number): number | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= lowest && value <= highest) return value;
    throw this.mistake(name, `must be a whole number from ${lowest} to ${highest}`);
  }

  maybeAmount(name: string): number | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value + 0;
    throw this.mistake(name, "must be a number that is not negative");
  }

  maybeMs(name: string): number | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const ms = durationMs(value);
    if (ms === undefined || ms > LONGEST_MS)
      throw this.mistake(name, `must be milliseconds or a time like "2s", "500ms"`);
    return ms;
  }

  maybeFlag(name: string): boolean | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.mistake(name, "must be true or false");
  }

  maybeOnce(name: string): Once | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === "boolean" || value === "anywhere") return value;
    throw this.mistake(name, 'must be true, false or "anywhere"');
  }

  maybeOneOf<T extends string>(name: string, known: readonly T[]): T | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const match = known.find((item) => item === value);
    if (match === undefined) throw this.mistake(name, `must be one of ${known.join(", ")}, got ${describeType(value)}`);
    return match;
  }

  maybeTexts(name: string): string[] | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.mistake(name, "must be a list of texts");
    return value.map((item: unknown) => {
      if (typeof item === "string") return item;
      throw this.mistake(name, `must be a list of texts, one is ${describeType(item)}`);
    });
  }

  maybeArgv(name: string): string[] | undefined {
    const argv = this.maybeTexts(name);
    if (argv?.length === 0 || argv?.some((part) => part.includes("\0"))) throw this.mistake(name, "must be a command");
    return argv;
  }

  maybeGroup<T>(name: string, read: (fields: Fields) => T): T | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (!isRecord(value)) throw this.mistake(name, "must have fields of its own");
    const inner = new Fields(this.verb, value, { ...this.place, where: `${this.place.where}, ${name}` });
    const group = read(inner);
    inner.finish();
    return group;
  }

  steps(name: string): Step[] {
    const steps = readSteps(this.take(name), { ...this.place, where: `${this.place.where}, ${name}` });
    if (steps.some((step) => step.kind === "on"))
      throw this.mistake(name, `may not hold "on": it belongs to the whole script`);
    return steps;
  }

  mistake(name: string, what: string): Mistake {
    return new Mistake(`${this.place.where}: "${name}" ${what}.`);
  }

  private take(name: string): unknown {
    if (!this.taken.includes(name)) this.taken.push(name);
    return this.values[name] ?? undefined;
  }
}

function durationMs(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
  const parts = typeof value === "string" ? /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/.exec(value) : null;
  if (parts === null) return undefined;
  const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[parts[2] ?? ""] ?? 1;
  return Math.round(Number(parts[1]) * unit);
}

interface VerbReader {
  /** The field meant when the verb has a bare value. */
  readonly short: string;
  readonly read: (fields: Fields) => Step;
}

const VERBS: Readonly<Record<StepKind, VerbReader>> = {
  say: { short: "text", read: (f) => ({ kind: "say", text: f.text("text") }) },
  think: { short: "ms", read: (f) => ({ kind: "think", ms: f.maybeMs("ms") ?? 1_000 }) },
  read: { short: "file", read: (f) => ({ kind: "read", file: f.path("file") }) },
  edit: { short: "file", read: readEdit },
  run: { short: "command", read: (f) => ({ kind: "run", command: f.path("command") }) },
  commit: { short: "message", read: (f) => ({ kind: "commit", message: f.path("message") }) },
  report: {
    short: "status",
    read: (f) => ({ kind: "report", ...readUpdate(f), ...optional({ cli: f.maybeArgv("cli") }) }),
  },
  ask: {
    short: "question",
    read: (f) => ({
      kind: "ask",
      question: f.text("question"),
      ...optional({ options: f.maybeTexts("options"), cli: f.maybeArgv("cli") }),
    }),
  },
  wait: { short: "for", read: readWait },
  fail: {
    short: "message",
    read: (f) => ({
      kind: "fail",
      message: f.maybeText("message") ?? "The script says so.",
      ...optional({ exitCode: f.maybeWhole("exitCode", 0, 255), once: f.maybeOnce("once") }),
    }),
  },
  hang: { short: "in", read: readHang },
  loop: {
    short: "times",
    read: (f) => ({
      kind: "loop",
      ...optional({ times: f.maybeWhole("times", 1, 1_000_000) }),
      steps: f.steps("steps"),
    }),
  },
  oscillate: { short: "file", read: readOscillate },
  flood: {
    short: "bytes",
    read: (f) => ({
      kind: "flood",
      lines: f.maybeWhole("lines", 1, 10_000_000) ?? 1,
      bytes: f.maybeWhole("bytes", 0, 100_000_000) ?? 1_000,
      to: f.maybeOneOf("to", ["text", "stderr"]) ?? "text",
    }),
  },
  lie: {
    short: "summary",
    read: (f) => ({
      kind: "lie",
      summary: f.maybeText("summary") ?? "Everything is done and all tests pass.",
      ...optional({ commits: f.maybeTexts("commits") }),
    }),
  },
  ignore: { short: "messages", read: readIgnore },
  quota: {
    short: "resetsAt",
    read: (f) => ({
      kind: "quota",
      attempts: f.maybeWhole("attempts", 1, 1_000) ?? 2,
      retryAfterMs: f.maybeMs("retryAfterMs") ?? 500,
      givesUp: f.maybeFlag("givesUp") ?? f.has("resetsAt"),
      ...optional({ resetsAt: readInstant(f, "resetsAt"), once: f.maybeOnce("once") }),
    }),
  },
  die: {
    short: "at",
    read: (f) => ({
      kind: "die",
      at: f.maybeOneOf("at", DEATHS) ?? "now",
      signal: f.maybeOneOf("signal", DEATH_SIGNALS) ?? "SIGKILL",
      ...optional({ once: f.maybeOnce("once") }),
    }),
  },
  orphan: {
    short: "seconds",
    read: (f) => ({
      kind: "orphan",
      seconds: f.maybeWhole("seconds", 1, 60) ?? 60,
      ...optional({ bareEnvironment: f.maybeFlag("bareEnvironment") }),
    }),
  },
  usage: {
    short: "inputTokens",
    read: (f) => ({
      kind: "usage",
      ...optional({
        inputTokens: f.maybeWhole("inputTokens", 0, 1e12),
        outputTokens: f.maybeWhole("outputTokens", 0, 1e12),
        cacheReadTokens: f.maybeWhole("cacheReadTokens", 0, 1e12),
        contextWindow: f.maybeWhole("contextWindow", 1, 1e12),
        costUsd: f.maybeAmount("costUsd"),
      }),
    }),
  },
  on: { short: "message", read: readOn },
};

function readEdit(f: Fields): Step {
  const file = f.path("file");
  const content = f.maybeText("content");
  const append = f.maybeText("append");
  const replace = f.maybeText("replace");
  const replacement = f.maybeText("with");
  if ([content, append, replace].filter((way) => way !== undefined).length !== 1) {
    throw f.mistake("file", "needs exactly one of content, append, replace");
  }
  if ((replace === undefined) !== (replacement === undefined)) throw f.mistake("with", "goes together with replace");
  if (replace === "") throw f.mistake("replace", "must say what is replaced");
  if (content !== undefined) return { kind: "edit", file, content };
  if (append !== undefined) return { kind: "edit", file, append };
  return { kind: "edit", file, replace: replace ?? "", with: replacement ?? "" };
}

function readUpdate(f: Fields): Update {
  return {
    status: f.maybeOneOf("status", SCRIPTED_STATUSES) ?? "in_progress",
    ...optional({
      goalId: f.maybeText("goalId"),
      workNodeId: f.maybeText("workNodeId"),
      summary: f.maybeText("summary"),
      next: f.maybeText("next"),
      blockers: f.maybeTexts("blockers"),
      evidence: f.maybeGroup("evidence", (inner) =>
        optional({
          filesTouched: inner.maybeTexts("filesTouched"),
          testsRun: inner.maybeTexts("testsRun"),
          commits: inner.maybeTexts("commits"),
        }),
      ),
    }),
  };
}

/** `wait: message`, `wait: 2s`, `wait: {ms: 200}`; `for` is only ever the short form. */
function readWait(f: Fields): Step {
  const ms = f.maybeMs("ms");
  if (ms !== undefined) return { kind: "wait", ms };
  if (!f.has("for") || f.maybeText("for") === "message") return { kind: "wait" };
  return { kind: "wait", ...optional({ ms: f.maybeMs("for") }) };
}

function readHang(f: Fields): Step {
  const where = f.has("in") && f.maybeText("in") !== "true" ? f.maybeOneOf("in", ["thought", "tool"]) : undefined;
  return { kind: "hang", in: where ?? "thought", ...optional({ once: f.maybeOnce("once") }) };
}

function readOscillate(f: Fields): Step {
  const file = f.path("file");
  const [one, other, ...rest] = f.maybeTexts("between") ?? [];
  if (one === undefined || other === undefined || rest.length > 0) throw f.mistake("between", "must be two contents");
  return {
    kind: "oscillate",
    file,
    between: [one, other],
    ...optional({ times: f.maybeWhole("times", 1, 1_000_000) }),
  };
}

function readIgnore(f: Fields): Step {
  const value = f.maybeText("messages") ?? "true";
  if (value === "true") return { kind: "ignore", messages: "content" };
  if (value === "false") return { kind: "ignore", messages: "none" };
  return { kind: "ignore", messages: f.maybeOneOf("messages", ["none", "content", "deaf"]) ?? "content" };
}

function readInstant(f: Fields, name: string): string | undefined {
  const value = f.maybeText(name);
  if (value !== undefined && !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value)) {
    throw f.mistake(name, 'must be a time like "2030-01-31T12:00:00Z"');
  }
  return value;
}

function readOn(f: Fields): Step {
  const message = f.path("message");
  const expression = patternExpression(message);
  if (typeof expression === "string") throw f.mistake("message", `is not a regular expression: ${expression}`);
  return { kind: "on", message, do: f.steps("do") };
}

/** The fields that have a value: a key with undefined would not survive being written and read again. */
function optional<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
