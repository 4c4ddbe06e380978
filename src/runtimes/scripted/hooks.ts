/**
 * Hooks as a coding agent calls them: found in a settings file, given a JSON payload, understood by exit code and JSON
 * on stdout, or, asked by HTTP, by status and body. The start of a session is never asked by HTTP, as in the real thing. Exit 2 blocks, any other failure and every timeout lets things pass (unless the hook
 * says `onFailure: block`): whatever refuses calls must not rely on the kindness of this file, and the tests of our own hooks
 * need it to be as unkind as the real thing. Hooks of other types (prompt) are not played here.
 */
import { readFileSync } from "node:fs";
import { messageOf, OverseerError } from "#errors.ts";
import { signalGroup, type ToolInput } from "./tools.ts";

export type HookName =
  | "SessionStart"
  | "SessionEnd"
  | "UserPromptSubmit"
  | "PreToolUse"
  | "PostToolUse"
  | "PostToolUseFailure"
  | "PostToolBatch"
  | "Stop"
  | "StopFailure";

export interface HookVerdict {
  /** Why it must not happen (or, at Stop, why to continue); undefined: nothing against it. */
  readonly blocked: string | undefined;
  /** The turn is to end now. */
  readonly stopped: boolean;
  /** What the model gets to read. */
  readonly context: readonly string[];
  readonly updatedInput: Readonly<Record<string, unknown>> | undefined;
}

interface Hook {
  /** What it is called by in a refusal, and what makes two of them the same: its command, or its URL. */
  readonly command: string;
  /** Set where it is asked by HTTP. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly failsClosed: boolean;
  readonly background: boolean;
}

interface HookGroup {
  readonly matcher: string;
  readonly hooks: readonly Hook[];
}

/** How the agent speaks with its hooks and what it calls its tools: as Claude Code does, or otherwise (plain-speech.ts). */
export interface Speech {
  /** A tool and its arguments, by its own names. */
  tool(name: string, input: ToolInput): { readonly name: string; readonly input: ToolInput };
  /** The hooks in its settings. */
  read(settings: unknown): HookTable;
  payload(event: HookName, common: ToolInput, fields: ToolInput): object;
  /** What a hook that ended well has printed. */
  verdict(label: string, output: Readonly<Record<string, unknown>>): HookVerdict;
}

export const CLAUDE_SPEECH: Speech = {
  tool: (name, input) => ({ name, input }),
  read: (settings) =>
    new Map(
      Object.entries(record(field(settings, "hooks"))).map(([event, groups]) => [event, list(groups).map(hookGroup)]),
    ),
  payload: (event, common, fields) => ({ ...common, hook_event_name: event, ...fields }),
  verdict: toVerdict,
};

export type HookTable = ReadonlyMap<string, readonly HookGroup[]>;

const DEFAULT_TIMEOUT_SECONDS = 60;
/** Events at which plain words on stdout are for the model. */
const SPEAKING: readonly HookName[] = ["SessionStart", "UserPromptSubmit"];

/** `settings` is a file or inline JSON, as on the command line. */
export function loadHooks(settings: string | undefined, speech: Speech = CLAUDE_SPEECH): HookTable {
  if (settings === undefined) return new Map();
  const json = settings.trimStart().startsWith("{") ? settings : readSettings(settings);
  return speech.read(parseJson(json, settings));
}

export class Hooks {
  constructor(
    private readonly table: HookTable,
    /** What every payload carries, and what the hooks inherit. */
    private readonly common: Readonly<Record<string, unknown>>,
    private readonly env: Readonly<Record<string, string>>,
    private readonly speech: Speech = CLAUDE_SPEECH,
  ) {}

  has(event: HookName): boolean {
    return this.table.has(event);
  }

  /** Runs all that match, side by side, and puts their answers together. `subject` is what matchers look at. */
  async call(event: HookName, fields: Record<string, unknown>, subject = ""): Promise<HookVerdict> {
    const hooks = this.matching(event, subject);
    if (hooks.length === 0) return { blocked: undefined, stopped: false, context: [], updatedInput: undefined };
    const payload = JSON.stringify(this.speech.payload(event, this.common, fields));
    const label = subject === "" || event === "SessionStart" ? event : `${event}:${subject}`;
    const runs = hooks.map(async (hook) => {
      const run = this.run(hook, payload);
      return hook.background ? NO_OPINION : answerOf(this.speech, event, label, hook, await run);
    });
    const answers = await Promise.all(runs);
    return {
      blocked: answers.find((answer) => answer.blocked !== undefined)?.blocked,
      stopped: answers.some((answer) => answer.stopped),
      context: answers.flatMap((answer) => answer.context),
      updatedInput: answers.find((answer) => answer.updatedInput !== undefined)?.updatedInput,
    };
  }

  /** The same command in two places runs once. */
  private matching(event: HookName, subject: string): Hook[] {
    const groups = (this.table.get(event) ?? []).filter((group) => matches(group.matcher, subject));
    const hooks = groups.flatMap((group) => group.hooks);
    const asked = event === "SessionStart" ? hooks.filter(({ headers }) => headers === undefined) : hooks;
    return [...new Map(asked.map((hook) => [hook.command, hook])).values()];
  }

  /** Never rejects: a hook that cannot even be started has failed like any other. */
  private async run(hook: Hook, payload: string): Promise<HookRun> {
    try {
      return hook.headers
        ? await ask(hook.command, hook.headers, hook, payload)
        : await this.runToItsEnd(hook, payload);
    } catch (error) {
      return { code: undefined, stdout: "", stderr: messageOf(error) };
    }
  }

  private async runToItsEnd(hook: Hook, payload: string): Promise<HookRun> {
    const child = Bun.spawn(["sh", "-c", hook.command], {
      cwd: String(this.common.cwd),
      env: { ...this.env },
      detached: true,
      stdin: new Blob([payload]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), hook.timeoutMs);
    });
    const ended = await Promise.race([output, late]);
    clearTimeout(timer);
    if (ended === undefined) {
      signalGroup(child.pid, "SIGKILL");
      return { code: undefined, stdout: "", stderr: "timed out" };
    }
    return { code: ended[2], stdout: ended[0], stderr: ended[1] };
  }
}

async function ask(
  url: string,
  headers: Readonly<Record<string, string>>,
  { timeoutMs }: Hook,
  body: string,
): Promise<HookRun> {
  const sent = { "content-type": "application/json", ...headers };
  const answer = await fetch(url, { method: "POST", headers: sent, body, signal: AbortSignal.timeout(timeoutMs) });
  if (!answer.ok) return { code: undefined, stdout: "", stderr: `HTTP ${answer.status}` };
  const said = (await answer.text()).trim();
  const isObject = said === "" || said.startsWith("{");
  return isObject ? { code: 0, stdout: said, stderr: "" } : { code: undefined, stdout: "", stderr: "not JSON" };
}

interface HookRun {
  /** Undefined when it did not come to an end of its own. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

const NO_OPINION: HookVerdict = { blocked: undefined, stopped: false, context: [], updatedInput: undefined };

function answerOf(speech: Speech, event: HookName, label: string, hook: Hook, run: HookRun): HookVerdict {
  if (run.code === 2) return { ...NO_OPINION, blocked: `[${hook.command}]: ${run.stderr.trim()}` };
  if (run.code !== 0) {
    const why = `${run.stderr.trim()}; blocking because onFailure is "block"`;
    return hook.failsClosed ? { ...NO_OPINION, blocked: why } : NO_OPINION;
  }
  const words = run.stdout.trim();
  if (!words.startsWith("{")) {
    const heard = words !== "" && SPEAKING.includes(event);
    return heard ? { ...NO_OPINION, context: [`${label} hook success: ${words}`] } : NO_OPINION;
  }
  try {
    return speech.verdict(label, record(JSON.parse(words)));
  } catch (error) {
    return { ...NO_OPINION, context: [`${label} hook printed something that is not JSON: ${messageOf(error)}`] };
  }
}

function toVerdict(label: string, output: Readonly<Record<string, unknown>>): HookVerdict {
  const specific = record(output.hookSpecificOutput);
  const reason = String(specific.permissionDecisionReason ?? output.reason ?? "no reason given");
  const denied = specific.permissionDecision === "deny" || output.decision === "block";
  const context = specific.additionalContext;
  const input = specific.updatedInput;
  return {
    blocked: denied ? reason : undefined,
    stopped: output.continue === false,
    context: typeof context === "string" && context !== "" ? [`${label} hook additional context: ${context}`] : [],
    updatedInput: typeof input === "object" && input !== null ? record(input) : undefined,
  };
}

function matches(matcher: string, subject: string): boolean {
  if (matcher === "" || matcher === "*" || subject === "") return true;
  try {
    return new RegExp(`^(?:${matcher})$`).test(subject);
  } catch {
    // Not an expression, so it can only be meant as the name itself.
    return matcher === subject;
  }
}

function hookGroup(value: unknown): HookGroup {
  const matcher = field(value, "matcher");
  return {
    matcher: typeof matcher === "string" ? matcher : "",
    hooks: list(field(value, "hooks")).flatMap((hook) => {
      const byHttp = field(hook, "type") === "http";
      const command = field(hook, byHttp ? "url" : "command");
      if ((!byHttp && field(hook, "type") !== "command") || typeof command !== "string") return [];
      const seconds = Number(field(hook, "timeout") ?? DEFAULT_TIMEOUT_SECONDS);
      return [
        {
          command,
          ...(byHttp ? { headers: record(field(hook, "headers")) as Record<string, string> } : {}),
          timeoutMs: (Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_TIMEOUT_SECONDS) * 1_000,
          failsClosed: field(hook, "onFailure") === "block",
          background: field(hook, "async") === true,
        },
      ];
    }),
  };
}

function readSettings(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new OverseerError(
      "config",
      "SETTINGS_MISSING",
      `Settings file not found: ${path}.`,
      "Write it before starting the agent.",
      {
        cause,
      },
    );
  }
}

function parseJson(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new OverseerError(
      "config",
      "SETTINGS_BROKEN",
      `The settings are not JSON: ${where.slice(0, 80)}.`,
      "Fix them.",
      { cause },
    );
  }
}

function field(value: unknown, name: string): unknown {
  return record(value)[name];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
