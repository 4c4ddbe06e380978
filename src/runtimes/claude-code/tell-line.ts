/**
 * A line of stream-json as somebody reads it who wants all of it: signals keep the beginning of a call and of its result,
 * and the transcript of a remediation has to hold both whole. Never throws: a line that is no JSON is told as it is.
 */
import { contentText, type Json, jsonObject, objectOf, textOf } from "#runtimes/json.ts";
import type { ToldPart } from "#runtimes/runtime.ts";

export function tellLine(line: string): readonly ToldPart[] {
  const text = line.trim();
  if (text === "") return [];
  const value = jsonObject(text);
  if (value === undefined) return [{ kind: "noise", text }];
  switch (value.type) {
    case "assistant":
      return blocksOf(value).flatMap(tellSaid);
    case "user":
      // What we said ourselves comes back as a replay; whoever listens has written it down already.
      return value.isReplay === true ? [] : blocksOf(value).flatMap(tellResult);
    case "result":
      return [{ kind: "turn", text: tellTurn(value) }];
    case "system":
      return value.subtype === "init" ? [{ kind: "session", text: tellSession(value) }] : tellRetry(value);
    default:
      return [];
  }
}

function tellSaid(block: Json): ToldPart[] {
  if (block.type === "text") return [{ kind: "words", text: textOf(block.text) }];
  if (block.type === "thinking") return [{ kind: "thought", text: textOf(block.thinking) }];
  if (block.type !== "tool_use") return [];
  return [{ kind: "call", text: `${textOf(block.name)} ${JSON.stringify(block.input ?? {}, null, 2)}` }];
}

function tellResult(block: Json): ToldPart[] {
  if (block.type === "text") return [{ kind: "noise", text: textOf(block.text) }];
  if (block.type !== "tool_result") return [];
  return [{ kind: block.is_error === true ? "failure" : "result", text: contentText(block.content) }];
}

function tellTurn(line: Json): string {
  const reason = textOf(line.terminal_reason) || textOf(line.subtype) || "unknown";
  return `${line.is_error === true ? "failed" : "ended"}: ${reason}\n${textOf(line.result)}`.trim();
}

function tellSession(line: Json): string {
  return `session ${textOf(line.session_id)}, model ${textOf(line.model)}, version ${textOf(line.claude_code_version)}`;
}

function tellRetry(line: Json): ToldPart[] {
  return line.subtype === "api_retry"
    ? [{ kind: "noise", text: `the provider is asked again: ${textOf(line.error)}` }]
    : [];
}

function blocksOf(line: Json): Json[] {
  const { content } = objectOf(line.message);
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(objectOf) : [];
}
