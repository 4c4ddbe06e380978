/**
 * The lines a stream-json agent prints, as values, and the sums that stand in them. Pure: ids and times are handed in.
 * Shapes follow what Claude Code prints, as far as a driver may rely on it; nothing here decides when a line is due.
 */

export interface ScriptedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly contextWindow: number;
  /** Per message; null: reckoned from the tokens. */
  readonly costUsd: number | null;
}

export const USUAL_USAGE: ScriptedUsage = {
  inputTokens: 1_000,
  outputTokens: 50,
  cacheReadTokens: 0,
  contextWindow: 200_000,
  costUsd: null,
};

/** What was spent: in one turn, or in the life of the process. */
export interface ScriptedSpending {
  readonly messages: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly costUsd: number;
}

export const NO_SCRIPTED_SPENDING: ScriptedSpending = {
  messages: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  costUsd: 0,
};

export function addUsage(spent: ScriptedSpending, usage: ScriptedUsage): ScriptedSpending {
  const reckoned = usage.inputTokens * 3e-6 + usage.outputTokens * 15e-6 + usage.cacheReadTokens * 3e-7;
  return {
    messages: spent.messages + 1,
    inputTokens: spent.inputTokens + usage.inputTokens,
    outputTokens: spent.outputTokens + usage.outputTokens,
    cacheReadTokens: spent.cacheReadTokens + usage.cacheReadTokens,
    costUsd: spent.costUsd + (usage.costUsd ?? reckoned),
  };
}

export function messageUsage(usage: { inputTokens: number; outputTokens: number; cacheReadTokens: number }): object {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
  };
}

/** How a turn ended. */
export type TurnEnd =
  | { readonly kind: "completed" }
  | { readonly kind: "hook-stopped" }
  /** A hook refused the prompt: no model was asked. */
  | { readonly kind: "prompt-blocked"; readonly reason: string }
  | { readonly kind: "interrupted"; readonly during: "tool" | "thought" }
  | { readonly kind: "failed"; readonly status: number; readonly message: string };

export interface TurnFacts {
  readonly session: string;
  readonly uuid: string;
  readonly model: string;
  readonly durationMs: number;
  readonly lastText: string;
  readonly turn: ScriptedSpending;
  readonly total: ScriptedSpending;
  readonly contextWindow: number;
  readonly denials: readonly object[];
}

export function resultLine(end: TurnEnd, facts: TurnFacts): Record<string, unknown> {
  const interrupted = end.kind === "interrupted";
  return {
    type: "result",
    subtype: interrupted ? "error_during_execution" : "success",
    is_error: interrupted || end.kind === "failed",
    api_error_status: end.kind === "failed" ? end.status : null,
    duration_ms: facts.durationMs,
    duration_api_ms: facts.durationMs,
    num_turns: end.kind === "prompt-blocked" ? 0 : Math.max(1, facts.turn.messages),
    ...(interrupted ? {} : { result: resultText(end, facts.lastText) }),
    stop_reason: end.kind === "completed" ? "end_turn" : null,
    session_id: facts.session,
    total_cost_usd: facts.total.costUsd,
    usage: messageUsage(facts.turn),
    modelUsage: {
      [facts.model]: {
        inputTokens: facts.total.inputTokens,
        outputTokens: facts.total.outputTokens,
        cacheReadInputTokens: facts.total.cacheReadTokens,
        cacheCreationInputTokens: 0,
        costUSD: facts.total.costUsd,
        contextWindow: facts.contextWindow,
        maxOutputTokens: 32_000,
      },
    },
    permission_denials: facts.denials,
    terminal_reason: terminalReason(end),
    uuid: facts.uuid,
  };
}

function resultText(end: TurnEnd, lastText: string): string {
  if (end.kind === "failed") return end.message;
  return end.kind === "prompt-blocked" ? end.reason : lastText;
}

function terminalReason(end: TurnEnd): string | null {
  switch (end.kind) {
    case "completed":
      return "completed";
    case "hook-stopped":
      return "hook_stopped";
    case "prompt-blocked":
      return null;
    case "interrupted":
      return end.during === "tool" ? "aborted_tools" : "aborted_streaming";
    case "failed":
      return "api_error";
  }
}
