/**
 * A second dialect of hooks and another set of tool names, which the scripted agent speaks when it is started with
 * `--dialect plain`. Nothing in it is called as in Claude Code: it shows that hooks and rules know no CLI.
 */
import type { ToolVocabulary } from "#domain/core/tools.ts";
import { type HookMoment, REFUSED } from "#domain/permit/hook-moments.ts";
import { errorClass } from "#runtimes/error-class.ts";
import type { HookCall, HookDialect, HookPayload } from "#runtimes/hook-dialect.ts";

export const PLAIN = "plain";

export const PLAIN_TOOLS: ToolVocabulary = {
  names: {
    read: ["view"],
    search: [],
    edit: ["put", "change"],
    shell: ["sh"],
    web: [],
    subagent: [],
    "ask-user": [],
  },
  also: {},
  pathArguments: ["target"],
  commandArgument: "line",
};

export const PLAIN_EVENTS: Readonly<Partial<Record<HookMoment, string>>> = {
  SessionStart: "chat.open",
  UserPromptSubmit: "words.in",
  PreToolUse: "tool.ask",
  PostToolUse: "tool.done",
  PostToolUseFailure: "tool.broke",
  PostToolBatch: "step.end",
  Notification: "note",
  Stop: "turn.rest",
  StopFailure: "turn.broke",
  SessionEnd: "chat.close",
};

export const PLAIN_HOOKS: HookDialect = {
  name: PLAIN,
  tools: PLAIN_TOOLS,
  read: (payload) => ({
    session: textOf(payload.chat),
    source: textOf(payload.why),
    cwd: textOf(payload.where),
    sub: "",
    subType: "",
    turn: textOf(payload.turn),
    call: readCall(payload.step),
    calls: (Array.isArray(payload.steps) ? payload.steps : []).map(readCall),
    text: payload.words,
    reason: textOf(payload.why),
    byTask: false,
    goesOn: false,
    cause: payload.why === "rate_limit" ? "quota" : "unknown",
  }),
  readMeter: () => undefined,
  deny: (reason) => JSON.stringify({ allow: false, say: `${REFUSED}${reason}` }),
  context: (_moment, text) => JSON.stringify({ say: text }),
  block: (text) => JSON.stringify({ again: text }),
};

function readCall(step: unknown): HookCall {
  const { key, name, with: input, outcome } = objectOf(step);
  const { ok, text, ms } = objectOf(outcome);
  return {
    id: textOf(key),
    tool: textOf(name),
    input: objectOf(input),
    result: text,
    failed: ok === false ? errorClass(textOf(text)) : null,
    ms: typeof ms === "number" ? ms : null,
  };
}

function objectOf(value: unknown): HookPayload {
  return typeof value === "object" && value !== null ? (value as HookPayload) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
