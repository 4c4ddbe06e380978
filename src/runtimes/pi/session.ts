/**
 * pi's sessions as they lie on disk: `agent/sessions/<directory>/<time>_<id>.jsonl`, a header and one entry per line.
 * Entries form a tree; a branch that was left is told where it stands in the file, because it was worked on then.
 */
import { errorClass } from "#runtimes/error-class.ts";
import { contentText, type Json, listOf, numberOf, objectOf, textOf, timeOf } from "#runtimes/json.ts";
import { readProviderFailure } from "#runtimes/provider-failure.ts";
import type { FileEars, SessionEars, SessionFormat, ValueReader } from "#runtimes/session-format.ts";
import { PI_TOOLS } from "./tools.ts";

export const PI_SESSIONS: SessionFormat = {
  runtime: "pi",
  tools: PI_TOOLS,
  listHomes: ({ PI_CODING_AGENT_DIR: own, HOME: home }) => [`${own || `${home ?? ""}/.pi/agent`}/sessions`],
  owns: (value) =>
    (value.type === "session" && typeof value.cwd === "string" && value.timestamp !== undefined) ||
    (value.type === "message" && "parentId" in value && typeof objectOf(value.message).role === "string"),
  read: (file) => new Entries(file),
};

class Entries implements ValueReader {
  private readonly session: SessionEars;
  private tokens = 0;

  constructor(file: FileEars) {
    this.session = file.session();
  }

  take(entry: Json): void {
    const at = timeOf(entry.timestamp);
    if (entry.type === "session") this.session.begin(textOf(entry.id), null, null, at);
    if (entry.type === "compaction") this.session.compact(numberOf(entry.tokensBefore) || this.tokens, "auto", at);
    if (entry.type === "message") this.message(objectOf(entry.message), textOf(entry.id), at);
  }

  private message(message: Json, id: string, at: number): void {
    const text = contentText(message.content);
    if (message.role === "user") this.session.hearPerson(at);
    if (message.role === "toolResult") {
      const ok = message.isError !== true;
      const exit = /Command exited with code (\d+)\s*$/.exec(text)?.[1];
      const kind = exit === undefined ? errorClass(text) : `exit-${exit}`;
      this.session.finishCall({ id: textOf(message.toolCallId), ok, text, errorClass: ok ? null : kind, at });
    }
    if (message.role !== "assistant") return;
    this.session.say(text, at, id);
    for (const block of listOf(message.content)) {
      if (block.type !== "toolCall") continue;
      const input = objectOf(block.arguments);
      this.session.call({ id: textOf(block.id), tool: textOf(block.name), input, step: id, at });
    }
    this.count(message, id, at);
    if (message.stopReason === "error") {
      this.session.fail(readProviderFailure(textOf(message.errorMessage)), at);
      // It tries again by itself; whoever speaks next was woken by that.
      this.session.hearProgram(at);
    }
    if (message.stopReason === "aborted") this.session.interrupt(at);
  }

  private count(message: Json, id: string, at: number): void {
    const usage = objectOf(message.usage);
    const counted = {
      inputTokens: numberOf(usage.input),
      outputTokens: numberOf(usage.output),
      cacheReadTokens: numberOf(usage.cacheRead),
      cacheWriteTokens: numberOf(usage.cacheWrite),
    };
    const contextTokens = Object.values(counted).reduce((sum, count) => sum + count, 0);
    this.tokens = contextTokens || this.tokens;
    this.session.use({ id, model: textOf(message.model), ...counted, contextTokens, at });
  }
}
