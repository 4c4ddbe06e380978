/**
 * Reading JSON that somebody else's program wrote: nothing in it is trusted to be there or to be of its kind, and what
 * is not is simply empty. Shared by everything that reads Claude Code's stream and files.
 */
import type { Tokens } from "#runtimes/runtime.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Undefined for half a line, for nonsense, and for anything nested deeper than the stack. */
export function jsonObject(text: string): Json | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** The text of a message's content, which is a text or a list of blocks. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => textOf(objectOf(block).text)).join("\n");
}

/** `usage` as the Messages API gives it. */
export function wireTokens(usage: Json): Tokens {
  return {
    inputTokens: numberOf(usage.input_tokens),
    outputTokens: numberOf(usage.output_tokens),
    cacheReadTokens: numberOf(usage.cache_read_input_tokens),
    cacheWriteTokens: numberOf(usage.cache_creation_input_tokens),
  };
}
