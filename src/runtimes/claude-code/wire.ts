/** What the Messages API puts on the wire, as far as several readers of Claude Code need it. */
import { type Json, numberOf, textOf } from "#runtimes/json.ts";
import type { Tokens } from "#runtimes/runtime.ts";

/** `usage` as the Messages API gives it. */
export function wireTokens(usage: Json): Tokens {
  return {
    inputTokens: numberOf(usage.input_tokens),
    outputTokens: numberOf(usage.output_tokens),
    cacheReadTokens: numberOf(usage.cache_read_input_tokens),
    cacheWriteTokens: numberOf(usage.cache_creation_input_tokens),
  };
}

/** What the numbers of a message say beyond what they said before; undefined when that is nothing. */
export function tokensBeyond(now: Tokens, before: Tokens | undefined): Tokens | undefined {
  if (before === undefined) return now;
  const inputTokens = Math.max(0, now.inputTokens - before.inputTokens);
  const outputTokens = Math.max(0, now.outputTokens - before.outputTokens);
  const cacheReadTokens = Math.max(0, now.cacheReadTokens - before.cacheReadTokens);
  const cacheWriteTokens = Math.max(0, now.cacheWriteTokens - before.cacheWriteTokens);
  const added = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens === 0 ? undefined : added;
}

/** Of each number the larger one: the lines of one message may each know a part. */
export function largerTokens(one: Tokens, other: Tokens | undefined): Tokens {
  return {
    inputTokens: Math.max(one.inputTokens, other?.inputTokens ?? 0),
    outputTokens: Math.max(one.outputTokens, other?.outputTokens ?? 0),
    cacheReadTokens: Math.max(one.cacheReadTokens, other?.cacheReadTokens ?? 0),
    cacheWriteTokens: Math.max(one.cacheWriteTokens, other?.cacheWriteTokens ?? 0),
  };
}

/** How many tokens the context holds after a message with these numbers. */
export function sumTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Tokens): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

/** What a hook put before the model, of an attachment in a transcript; nothing of any other attachment. */
export function readHookText({ type, content }: Json): string {
  if (type !== "hook_additional_context") return "";
  return Array.isArray(content) ? content.map(textOf).join("\n") : textOf(content);
}
