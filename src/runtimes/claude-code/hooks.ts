/** Claude Code's hooks: what it says on their standard input, and what it reads from them. Other CLIs copy the shape. */
import { REFUSED } from "#domain/permit/hook-moments.ts";
import { errorClass } from "#runtimes/error-class.ts";
import type { HookCall, HookDialect, HookFact, HookPayload } from "#runtimes/hook-dialect.ts";
import { causeOfNotice, isNotice, resetIn } from "./api-failure.ts";
import { CLAUDE_TOOLS } from "./tools.ts";

/** Enough of an error to know its class by. */
const LOOKED_AT = 1000;

export const CLAUDE_HOOKS: HookDialect = {
  name: "claude-code",
  tools: CLAUDE_TOOLS,
  read: readFact,
  readMeter(payload) {
    const costUsd = field(payload.cost, "total_cost_usd");
    const window = field(payload.context_window, "context_window_size");
    if (typeof costUsd !== "number" || !Number.isFinite(costUsd) || costUsd < 0) return undefined;
    const contextWindow = typeof window === "number" && window > 0 ? window : null;
    return { session: word(payload.session_id), costUsd, contextWindow };
  },
  readReset: resetIn,
  deny: (reason) =>
    JSON.stringify({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: `${REFUSED}${reason}`,
      },
    }),
  context: (moment, text) => JSON.stringify({ hookSpecificOutput: { hookEventName: moment, additionalContext: text } }),
  block: (text) => JSON.stringify({ decision: "block", reason: text }),
};

function readFact(payload: HookPayload): HookFact {
  const { prompt, message, compact_summary: summary, last_assistant_message: last } = payload;
  const gaveUp = typeof last === "string" && isNotice(last);
  return {
    session: word(payload.session_id),
    source: word(payload.source),
    cwd: typeof payload.cwd === "string" ? payload.cwd : "",
    sub: word(payload.agent_id),
    subType: word(payload.agent_type),
    turn: word(payload.prompt_id),
    call: readCall(payload, failureOf(payload)),
    calls: readCalls(payload.tool_calls),
    text: prompt ?? message ?? summary ?? last,
    reason: word(payload.reason ?? payload.trigger ?? payload.notification_type),
    byTask: typeof prompt === "string" && prompt.startsWith("<task-notification>"),
    goesOn: hasBackgroundAgents(payload.background_tasks),
    gaveUp,
    cause:
      payload.error === undefined
        ? gaveUp
          ? causeOfNotice(last)
          : "unknown"
        : causeOf(word(payload.error), `${last} ${payload.error_details}`),
  };
}

function readCall(payload: HookPayload, failed: string | null): HookCall {
  const { tool_input: input, duration_ms: ms } = payload;
  return {
    id: word(payload.tool_use_id),
    tool: word(payload.tool_name),
    input: typeof input === "object" && input !== null ? (input as HookPayload) : {},
    result: payload.tool_response ?? payload.error,
    failed,
    ms: typeof ms === "number" ? ms : null,
  };
}

function failureOf({ error, is_interrupt: interrupted }: HookPayload): string | null {
  if (interrupted === true) return "interrupted";
  return typeof error === "string" ? errorClass(error.slice(0, LOOKED_AT)) : null;
}

function readCalls(value: unknown): HookCall[] {
  const calls: HookCall[] = [];
  if (Array.isArray(value)) for (const call of value as HookPayload[]) calls.push(readCall(call, failureIn(call)));
  return calls;
}

/** A step does not say which calls failed; what the model reads of them does. */
function failureIn({ tool_response: response }: HookPayload): string | null {
  const text = typeof response === "string" ? response : Array.isArray(response) ? JSON.stringify(response) : "";
  const failed =
    /^\s*(?:Error: |Exit code [1-9]|<tool_use_error>|Cancelled: parallel tool call|[A-Z]\w*Error\b|InputValidationError|\w+:\w+ hook error)/.test(
      text,
    );
  return failed ? errorClass(text.slice(0, LOOKED_AT)) : null;
}

/** It waits for agents of its own and is woken by them: that is work, and another Stop comes. */
function hasBackgroundAgents(tasks: unknown): boolean {
  if (!Array.isArray(tasks)) return false;
  return tasks.some((task) => task?.type === "subagent" && task?.status === "running");
}

/** What StopFailure calls the failure, in our words. */
function causeOf(error: string, text: string): HookFact["cause"] {
  if (/prompt is too long|prompt_too_long/i.test(text)) return "too_long";
  if (error === "rate_limit") return "quota";
  if (error === "authentication_failed" || error === "oauth_org_not_allowed") return "auth";
  if (error === "billing_error") return "billing";
  if (error === "model_not_found" || /issue with the selected model/i.test(text)) return "model";
  if (/unable to connect|connection error|timed? ?out/i.test(text)) return "network";
  if (error === "server_error" || error === "overloaded") return "overloaded";
  return "unknown";
}

function field(value: unknown, name: string): unknown {
  return (value as HookPayload | null | undefined)?.[name];
}

function word(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 200) : "";
}
