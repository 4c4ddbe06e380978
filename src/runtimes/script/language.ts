/**
 * The words a scripted agent understands: one small language for demo, tests, simulator and model server. A script is
 * a JSON or YAML list of steps, each an object with one key, its verb; it travels inside the task text between two
 * markers, so whoever passes the text on (a prompt, a mail, a spec file) needs to know nothing about it.
 *
 * This file knows the words, finds them in a text and writes them into one. It plays nothing: `walk.ts` unrolls a
 * script, `moves.ts` says what a step looks like as a tool call. Scripts come from outside, so nothing here throws:
 * a mistake is a sentence that names the step.
 */

export const SCRIPT_START = "@@SCRIPT";
export const SCRIPT_END = "@@END";

export const REPORT_STATUSES = ["todo", "in_progress", "blocked", "done", "cancelled"] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

export const DEATHS = ["now", "mid-edit", "mid-commit"] as const;
export const DEATH_SIGNALS = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGSEGV"] as const;

/** The fields of the status update that an agent may send; all but the status are optional and merged by the reader. */
export interface Update {
  readonly status: ReportStatus;
  readonly goalId?: string;
  readonly workNodeId?: string;
  readonly summary?: string;
  readonly next?: string;
  readonly blockers?: readonly string[];
  readonly evidence?: {
    readonly filesTouched?: readonly string[];
    readonly testsRun?: readonly string[];
    readonly commits?: readonly string[];
  };
}

export type EditStep =
  | { readonly kind: "edit"; readonly file: string; readonly content: string }
  | { readonly kind: "edit"; readonly file: string; readonly append: string }
  | { readonly kind: "edit"; readonly file: string; readonly replace: string; readonly with: string };

/** What every count of tokens is from here on; a field left out keeps its value. */
export interface UsageStep {
  readonly kind: "usage";
  /** Tokens the model reads for each message: this is the fill of its context. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly contextWindow?: number;
  /** Per message. */
  readonly costUsd?: number;
}

/** Steps that are played one by one. Everything else in the language unrolls into these. */
export type PlainStep =
  | { readonly kind: "say"; readonly text: string }
  /** The model is silent for a while: no tool runs. */
  | { readonly kind: "think"; readonly ms: number }
  | { readonly kind: "read"; readonly file: string }
  | EditStep
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "commit"; readonly message: string }
  | ({ readonly kind: "report" /** Also told by this command. */; readonly cli?: readonly string[] } & Update)
  /** With `ms` a tool runs that long; without, the turn ends and the next message goes on with the script. */
  | { readonly kind: "wait"; readonly ms?: number }
  /** The turn fails; with an exit code the process leaves too. */
  | { readonly kind: "fail"; readonly message: string; readonly exitCode?: number; readonly once?: boolean }
  /** For ever: in thought (nothing is heard of the agent) or in a tool that never returns. */
  | { readonly kind: "hang"; readonly in: "thought" | "tool"; readonly once?: boolean }
  /** So many lines of so many bytes, as text of the agent or as noise on stderr. */
  | { readonly kind: "flood"; readonly lines: number; readonly bytes: number; readonly to: "text" | "stderr" }
  /** From here on: hear messages and do nothing about them; "deaf" does not even take them. */
  | { readonly kind: "ignore"; readonly messages: "none" | "content" | "deaf" }
  /** The provider refuses `attempts` times, `retryAfterMs` apart; then it works again, or the turn gives up. */
  | {
      readonly kind: "quota";
      readonly attempts: number;
      readonly retryAfterMs: number;
      readonly givesUp: boolean;
      /** Wall clock, as the provider would print it. */
      readonly resetsAt?: string;
      readonly once?: boolean;
    }
  | {
      readonly kind: "die";
      readonly at: (typeof DEATHS)[number];
      readonly signal: (typeof DEATH_SIGNALS)[number];
      /** Dies the first time only: a new life in the same place goes past it. */
      readonly once?: boolean;
    }
  /** Leaves a child in a session of its own, deaf to SIGHUP. It lives a bounded time, whatever the speed. */
  | { readonly kind: "orphan"; readonly seconds: number; readonly bareEnvironment?: boolean }
  | UsageStep;

export type Step =
  | PlainStep
  /** Without `times`: for ever. */
  | { readonly kind: "loop"; readonly times?: number; readonly steps: readonly Step[] }
  /** One file, back and forth between two contents. */
  | {
      readonly kind: "oscillate";
      readonly file: string;
      readonly between: readonly [string, string];
      readonly times?: number;
    }
  /** Reports done, with evidence that does not exist. */
  | { readonly kind: "lie"; readonly summary: string; readonly commits?: readonly string[] }
  /** Puts a question (by `cli`, when given) and ends the turn until somebody answers. */
  | {
      readonly kind: "ask";
      readonly question: string;
      readonly options?: readonly string[];
      readonly cli?: readonly string[];
    }
  /** Holds for the whole script, wherever it stands. The pattern is plain text, or /a regular expression/i. */
  | { readonly kind: "on"; readonly message: string; readonly do: readonly Step[] };

export type Verb = Step["kind"];
export type Script = { readonly steps: readonly Step[] };
export type ScriptError = { readonly error: string };

/** Finds the last script in a text that can be read. An error tells about the last one when none can; undefined: there is none. */
export function findScript(text: string): Script | ScriptError | undefined {
  let firstError: ScriptError | undefined;
  let start = text.lastIndexOf(SCRIPT_START);
  for (let tries = 0; start >= 0 && tries < MAX_CANDIDATES; tries += 1) {
    const bodyStart = start + SCRIPT_START.length;
    const end = text.indexOf(SCRIPT_END, bodyStart);
    const found = end < 0 ? { error: `${SCRIPT_START} has no ${SCRIPT_END}.` } : readBody(text.slice(bodyStart, end));
    if ("steps" in found) return found;
    firstError ??= found;
    start = start === 0 ? -1 : text.lastIndexOf(SCRIPT_START, start - 1);
  }
  return firstError;
}

/** The text around its scripts: what a person would have written, and all that patterns are looked for in. */
export function withoutScripts(text: string): string {
  const parts = text.split(SCRIPT_START);
  const outside = parts.slice(1).map((part) => {
    const end = part.indexOf(SCRIPT_END);
    return end < 0 ? part : part.slice(end + SCRIPT_END.length);
  });
  return [parts[0] ?? "", ...outside].join("");
}

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

/**
 * The script as a text with its markers. It is one line of JSON in which every character that a prompt, a shell, a
 * fence or an escaping mailer could trip over is written as an escape, so it can be quoted anywhere, also inside
 * another script.
 */
export function renderScript(steps: readonly Step[]): string {
  const json = JSON.stringify(steps.map(written));
  return `${SCRIPT_START}${json.replace(/[<>&`'$@\u007f-\uffff]/g, escaped)}${SCRIPT_END}`;
}

/** A pattern of `on message`: /…/flags is a regular expression, anything else is looked for as it stands, in any case. */
export function matchesPattern(pattern: string, text: string): boolean {
  const expression = patternExpression(pattern);
  if (expression === undefined) return text.toLowerCase().includes(pattern.toLowerCase());
  return expression instanceof RegExp && expression.test(text);
}

/** Milliseconds as they pass at this speed: 10 means ten times as fast. */
export function scaledMs(ms: number, speed: number): number {
  return Math.round(ms / speed);
}

const MAX_CANDIDATES = 64;
const MAX_STEPS = 10_000;
const MAX_DEPTH = 8;
const MAX_YAML_CHARACTERS = 1_000_000;
/** What a timer can hold. */
const LONGEST_MS = 2 ** 31 - 1;

class Mistake extends Error {}

function written(step: Step): Record<string, unknown> {
  const { kind, ...fields } = step;
  if (step.kind === "loop") return { loop: { ...fields, steps: step.steps.map(written) } };
  if (step.kind === "on") return { on: { ...fields, do: step.do.map(written) } };
  return { [kind]: fields };
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A body as it stands, or as it looks after being quoted once: inside a JSON string, or as a quotation of a mail. */
function readBody(body: string): Script | ScriptError {
  let first: ScriptError | undefined;
  for (const form of [body, unquotedJson(body), unquotedMail(body)]) {
    if (form === undefined) continue;
    const value = readNotation(form);
    const script = "error" in value ? value : parseScript(value.value);
    if ("steps" in script) return script;
    first ??= script;
  }
  return first ?? { error: "The script is empty." };
}

function readNotation(text: string): { value: unknown } | ScriptError {
  const json = attempt(() => JSON.parse(text) as unknown);
  if ("value" in json) return json;
  if (text.length > MAX_YAML_CHARACTERS) return { error: `The script is not JSON: ${json.error}` };
  const yaml = attempt(() => Bun.YAML.parse(text));
  if ("value" in yaml) return yaml;
  return { error: `The script is neither JSON (${json.error}) nor YAML (${yaml.error}).` };
}

function attempt(read: () => unknown): { value: unknown } | ScriptError {
  try {
    return { value: read() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function unquotedJson(body: string): string | undefined {
  if (!body.includes('\\"') && !body.includes("\\n")) return undefined;
  const read = attempt(() => JSON.parse(`"${body}"`) as unknown);
  return "value" in read && typeof read.value === "string" ? read.value : undefined;
}

function unquotedMail(body: string): string | undefined {
  return /^\s*>/m.test(body) ? body.replace(/^[ \t]*> ?/gm, "") : undefined;
}

function patternExpression(pattern: string): RegExp | string | undefined {
  const parts = /^\/(.+)\/([a-z]*)$/s.exec(pattern);
  if (parts === null) return undefined;
  const read = attempt(() => new RegExp(parts[1] ?? "", (parts[2] ?? "").replace(/[gy]/g, "")));
  return "error" in read ? read.error : (read.value as RegExp);
}

interface Place {
  readonly where: string;
  readonly depth: number;
  /** Shared by the whole script: YAML aliases can make a short text endless. */
  readonly budget: { steps: number };
}

function readSteps(value: unknown, place: Place): Step[] {
  if (!Array.isArray(value)) throw new Mistake(`${place.where}: expected a list of steps, got ${described(value)}.`);
  if (place.depth > MAX_DEPTH) throw new Mistake(`${place.where}: steps are nested deeper than ${MAX_DEPTH} levels.`);
  if (value.length === 0) throw new Mistake(`${place.where}: the list of steps is empty.`);
  return value.map((item: unknown, index) => readStep(item, { ...place, where: `${place.where}, step ${index + 1}` }));
}

function readStep(value: unknown, place: Place): Step {
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

function verbOf(value: unknown, where: string): [Verb, unknown] {
  if (typeof value === "string" && isVerb(value)) return [value, {}];
  if (!isRecord(value)) throw new Mistake(`${where}: expected {verb: …}, got ${described(value)}.`);
  const keys = Object.keys(value);
  const [key] = keys;
  if (key === undefined || keys.length > 1) {
    throw new Mistake(`${where}: a step has exactly one verb, got ${keys.length === 0 ? "none" : keys.join(", ")}.`);
  }
  if (!isVerb(key)) throw new Mistake(`${where}: unknown verb "${key}". Known: ${Object.keys(VERBS).join(", ")}.`);
  return [key, value[key]];
}

function isVerb(text: string): text is Verb {
  return Object.hasOwn(VERBS, text);
}

/** `say: hello` is short for `say: {text: hello}`; `hang:` and `hang: true` say no more than `hang`. */
function asFields(content: unknown, short: string, place: Place): Record<string, unknown> {
  if (isRecord(content)) return content;
  if (content === null || content === undefined) return {};
  if (Array.isArray(content)) throw new Mistake(`${place.where}: expected fields, got a list.`);
  return { [short]: content };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function described(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "string" ? `"${value.slice(0, 40)}"` : `a ${typeof value}`;
}

/** The fields of one step, each taken once; what is left over at the end is a mistake. */
class Fields {
  private readonly taken: string[] = [];

  constructor(
    private readonly verb: Verb,
    private readonly values: Record<string, unknown>,
    private readonly place: Place,
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
    throw this.mistake(name, `must be text, got ${described(value)}`);
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

  maybeOneOf<T extends string>(name: string, known: readonly T[]): T | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const match = known.find((item) => item === value);
    if (match === undefined) throw this.mistake(name, `must be one of ${known.join(", ")}, got ${described(value)}`);
    return match;
  }

  maybeTexts(name: string): string[] | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.mistake(name, "must be a list of texts");
    return value.map((item: unknown) => {
      if (typeof item === "string") return item;
      throw this.mistake(name, `must be a list of texts, one is ${described(item)}`);
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

const VERBS: Readonly<Record<Verb, VerbReader>> = {
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
      ...optional({ exitCode: f.maybeWhole("exitCode", 0, 255), once: f.maybeFlag("once") }),
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
      ...optional({ resetsAt: readInstant(f, "resetsAt"), once: f.maybeFlag("once") }),
    }),
  },
  die: {
    short: "at",
    read: (f) => ({
      kind: "die",
      at: f.maybeOneOf("at", DEATHS) ?? "now",
      signal: f.maybeOneOf("signal", DEATH_SIGNALS) ?? "SIGKILL",
      ...optional({ once: f.maybeFlag("once") }),
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
    status: f.maybeOneOf("status", REPORT_STATUSES) ?? "in_progress",
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
  return { kind: "hang", in: where ?? "thought", ...optional({ once: f.maybeFlag("once") }) };
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
