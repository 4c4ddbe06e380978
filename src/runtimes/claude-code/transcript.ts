/**
 * What Claude Code writes down of its own conversation, one JSON object per line. Of an agent on its own screen it is
 * the only place that says what was spent, what really reached the model, and that a person pressed Escape: no hook tells
 * any of these. Lines of kinds that are not known are passed over; the format is the CLI's own and grows with it.
 */
import { useOf } from "#domain/core/tools.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { errorClass } from "#runtimes/error-class.ts";
import { contentText, type Json, jsonObject, objectOf, textOf } from "#runtimes/json.ts";
import type { Tokens, TranscriptLine, TranscriptReader } from "#runtimes/runtime.ts";
import { causeOfNotice, isNotice, resetIn } from "./api-failure.ts";
import { reserveOf } from "./compaction.ts";
import { CLAUDE_TOOLS } from "./tools.ts";
import { largerTokens, readHookText, sumTokens, tokensBeyond, wireTokens } from "./wire.ts";

const NOTHING: TranscriptLine = { signals: [], heard: "", said: "", calls: [] };

interface Spent {
  readonly tokens: Tokens;
  /** How full the context is after it, as the fullest of its lines says. */
  readonly filled: number;
  readonly told: number;
}

export function transcriptReader(session: string): TranscriptReader {
  const spent = new Map<string, Spent>();
  /** Calls under way, by their ids. */
  const tools = new Map<string, string>();
  let begun = false;
  let context = 0;
  /** The turn as its hooks name it: what is told here and there is one fact. */
  let prompt = "";

  function assistant(line: Json, ofSubagent: boolean, at: number): Signal[] {
    const message = objectOf(line.message);
    const id = textOf(message.id);
    if (message.model === "<synthetic>") return ofSubagent ? [] : notice(line, prompt, at);
    if (id === "") return [];
    const signals: Signal[] = [];
    const model = textOf(message.model) || null;
    if (!begun && !ofSubagent) {
      begun = true;
      const version = textOf(line.version) || null;
      signals.push({
        kind: "session.started",
        source: session,
        phase: "transcript",
        at,
        data: { session, model, version, ...reserveOf(version ?? "") },
      });
    }
    const tokens = wireTokens(objectOf(message.usage));
    // Each block of a message is a line with the message's numbers so far: only what was added counts again.
    const before = spent.get(id);
    const added = tokensBeyond(tokens, before?.tokens);
    const told = before?.told ?? 0;
    if (added === undefined || sumTokens(tokens) === 0) return signals;
    const filled = Math.max(sumTokens(tokens), before?.filled ?? 0);
    if (!ofSubagent) context = filled;
    spent.set(id, { tokens: largerTokens(tokens, before?.tokens), filled, told: told + 1 });
    const data = { ...added, contextTokens: context, contextWindow: null };
    signals.push({ kind: "usage", source: id, phase: `usage${told}`, at, data });
    return signals;
  }

  function begin(line: Json): void {
    for (const block of blocksOf(line)) {
      if (block.type === "tool_use") tools.set(textOf(block.id), textOf(block.name));
    }
  }

  function endCalls(line: Json): TranscriptLine["calls"] {
    return blocksOf(line).flatMap((block) => {
      const id = textOf(block.tool_use_id);
      const tool = block.type === "tool_result" ? tools.get(id) : undefined;
      if (tool === undefined) return [];
      tools.delete(id);
      const ok = block.is_error !== true;
      return [
        {
          id,
          tool,
          does: useOf(CLAUDE_TOOLS, tool),
          ok,
          errorClass: ok ? null : errorClass(contentText(block.content)),
        },
      ];
    });
  }

  return {
    read(text, ofSubagent) {
      const line = jsonObject(text);
      if (!line) return NOTHING;
      const at = Date.parse(textOf(line.timestamp)) || 0;
      if (line.type === "assistant") {
        const said = ofSubagent ? "" : contentText(objectOf(line.message).content);
        begin(line);
        return { signals: assistant(line, ofSubagent, at), heard: "", said, calls: [] };
      }
      const calls = line.type === "user" ? endCalls(line) : [];
      if (line.type === "user" && !ofSubagent) prompt = textOf(line.promptId) || prompt;
      if (ofSubagent) return { ...NOTHING, calls };
      const heard = readHeardText(line);
      return { signals: interruption(line, heard, at), heard, said: "", calls };
    },
  };
}

function blocksOf(line: Json): Json[] {
  const { content } = objectOf(line.message);
  return Array.isArray(content) ? content.map(objectOf) : [];
}

/** What the line put before the model: what was typed, what a hook added. Tool results are not ours to recognise. */
function readHeardText(line: Json): string {
  if (line.type === "attachment") return readHookText(objectOf(line.attachment));
  if (line.type !== "user") return "";
  return contentText(objectOf(line.message).content);
}

/** What the CLI says in the model's name: the provider has failed, and with it the turn. */
function notice(line: Json, prompt: string, at: number): Signal[] {
  const text = contentText(objectOf(line.message).content);
  if (!isNotice(text) && line.isApiErrorMessage !== true) return [];
  const source = prompt || textOf(line.uuid) || `failed-${at}`;
  const cause = causeOfNotice(text);
  const detail = text.slice(0, DETAIL);
  const failure = { cause, detail, resetsAt: cause === "quota" ? resetIn(text, at) : null };
  const end = { ok: false, reason: "api_error", text: detail, costUsd: null };
  return [
    // Of the two that tell it this one knows when a limit ends.
    { kind: "api.failed", source, phase: "transcript", at, data: failure },
    { kind: "turn.ended", source, phase: "turn.ended", at, data: end },
  ];
}

const DETAIL = 500;

/** A turn that a person interrupted: no hook says so. */
function interruption(line: Json, heard: string, at: number): Signal[] {
  if (line.type !== "user" || !heard.startsWith("[Request interrupted by user")) return [];
  const data = { ok: false, reason: "interrupted", text: "", costUsd: null };
  return [{ kind: "turn.ended", source: textOf(line.uuid) || `interrupted-${at}`, phase: "turn.ended", at, data }];
}
