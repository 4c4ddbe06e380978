/**
 * The Gemini CLI's chats as they lie on disk: `tmp/<project>/chats/session-<time>-<id>.json`, one document, or `.jsonl`
 * in newer versions, where a message may be written again as it grows and lines that begin with `$` change what was
 * told. A message holds its calls with their results. Also what `--output-format stream-json` prints, where calls and
 * results are lines of their own and words come in pieces.
 */
import { errorClass } from "#runtimes/error-class.ts";
import { contentText, type Json, listOf, numberOf, objectOf, textOf, timeOf } from "#runtimes/json.ts";
import { readProviderFailure } from "#runtimes/provider-failure.ts";
import type { FileEars, SessionEars, SessionFormat, ValueReader } from "#runtimes/session-format.ts";
import type { ToldResult } from "#runtimes/session-writer.ts";
import { GEMINI_TOOLS } from "./tools.ts";

export const GEMINI_SESSIONS: SessionFormat = {
  runtime: "gemini",
  tools: GEMINI_TOOLS,
  listHomes: ({ GEMINI_CLI_HOME: own, HOME: home }) => [`${own || home || ""}/.gemini/tmp`],
  owns: (value) =>
    (typeof value.sessionId === "string" && (typeof value.projectHash === "string" || Array.isArray(value.messages))) ||
    (value.type === "gemini" && value.timestamp !== undefined) ||
    isOfStream(value),
  read: (file) => new GeminiRecord(file),
};

/** Others print lines of these types, too; what they hold is named so by this CLI alone. */
function isOfStream(value: Json): boolean {
  switch (value.type) {
    case "init":
      return typeof value.session_id === "string" && typeof value.model === "string";
    case "tool_use":
      return typeof value.tool_name === "string" && typeof value.tool_id === "string";
    case "tool_result":
      return typeof value.tool_id === "string" && typeof value.status === "string";
    default:
      return false;
  }
}

/** Which of the two it is, the first line of a type that only one of them has tells; what came before it is kept. */
class GeminiRecord implements ValueReader {
  private reader: ValueReader | undefined;
  private readonly early: Json[] = [];

  constructor(private readonly file: FileEars) {}

  take(value: Json): void {
    if (this.reader === undefined && value.type === "message" && this.early.length < EARLY) {
      this.early.push(value);
      return;
    }
    this.reader ??= isOfStream(value) ? new Printed(this.file) : new Chat(this.file);
    for (const one of this.early.splice(0)) this.reader.take(one);
    this.reader.take(value);
  }

  end(): void {
    this.reader?.end?.();
  }
}

const EARLY = 20;

class Printed implements ValueReader {
  private readonly session: SessionEars;
  private model = "";
  private step = 0;
  /** The running step has results already: the next call is another step's. */
  private answered = true;
  private words = "";

  constructor(file: FileEars) {
    this.session = file.session();
  }

  take(line: Json): void {
    const at = timeOf(line.timestamp) || timeOf(line.ts);
    if (line.type === "message" && line.role === "assistant") {
      this.words += contentText(line.content);
      // Pieces of one message follow each other; the whole of it is said when something else comes.
      if (line.delta === true) return;
    }
    this.say(at);
    switch (line.type) {
      case "init":
        this.model = textOf(line.model) || this.model;
        this.session.begin(textOf(line.session_id), this.model || null, null, at);
        break;
      case "message":
        if (line.role === "user") this.session.hearPerson(at);
        break;
      case "tool_use":
        if (this.answered) this.step += 1;
        this.answered = false;
        this.session.call({
          ...{ id: textOf(line.tool_id), tool: textOf(line.tool_name), input: objectOf(line.parameters) },
          ...{ step: `step ${this.step}`, at },
        });
        break;
      case "tool_result":
        this.answered = true;
        this.session.finishCall({ id: textOf(line.tool_id), at, ...readEnd(line.status, readOutput(line)) });
        break;
      case "error":
      case "result":
        this.noteFailure(line, at);
    }
  }

  end(): void {
    this.say(0);
  }

  private say(at: number): void {
    if (this.words === "") return;
    this.session.say(this.words, at);
    this.words = "";
  }

  /** A warning ends nothing. */
  private noteFailure(line: Json, at: number): void {
    const { message } = objectOf(line.error);
    const text = textOf(message) || textOf(line.message);
    const failed = line.type === "result" ? line.status === "error" : line.severity === "error";
    if (failed) this.session.fail(readProviderFailure(text), at);
  }
}

function readOutput({ output, error }: Json): string {
  return textOf(output) || textOf(objectOf(error).message);
}

class Chat implements ValueReader {
  private writer: SessionEars | undefined;
  private sub = false;
  private readonly heard = new Set<string>();

  constructor(private readonly file: FileEars) {}

  take(value: Json): void {
    if (typeof value.sessionId === "string" && value.type === undefined) {
      this.sub = value.kind === "subagent";
      this.session().begin(value.sessionId, null, null, timeOf(value.startTime));
    }
    const set = objectOf(value.$set);
    for (const message of [...listOf(value.messages), ...listOf(set.messages)]) this.message(message);
    if (typeof value.type === "string") this.message(value);
  }

  private session(): SessionEars {
    this.writer ??= this.file.session("", { sub: this.sub });
    return this.writer;
  }

  private message(message: Json): void {
    const at = timeOf(message.timestamp);
    const id = textOf(message.id);
    const told = this.heard.has(id);
    if (id !== "") this.heard.add(id);
    const text = contentText(message.content);
    if (message.type === "user") {
      if (!told && !this.sub && text.trim() !== "") this.session().hearPerson(at);
      return;
    }
    if (message.type === "error" && !told) this.session().fail(readProviderFailure(text), at);
    if (message.type === "info" && !told && /cancelled|interrupted/i.test(text)) this.session().interrupt(at);
    if (message.type !== "gemini") return;
    // Words come before the calls of the same message.
    if (!told || text !== "") this.say(text, at, id);
    for (const call of listOf(message.toolCalls)) this.call(call, id, at);
    this.count(message, id, at);
  }

  private readonly said = new Set<string>();
  private say(text: string, at: number, id: string): void {
    if (this.said.has(id)) return;
    if (text.trim() !== "" && id !== "") this.said.add(id);
    this.session().say(text, at, id);
  }

  private call(call: Json, step: string, messageAt: number): void {
    const id = textOf(call.id);
    const at = timeOf(call.timestamp) || messageAt;
    this.session().call({ id, tool: textOf(call.name), input: objectOf(call.args), step, at: messageAt || at });
    const { status } = call;
    if (status !== "success" && status !== "error" && status !== "cancelled") return;
    this.session().finishCall({ id, at, ...readEnd(status, readResponse(call)) });
  }

  private readonly counted = new Set<string>();
  private count(message: Json, id: string, at: number): void {
    const tokens = objectOf(message.tokens);
    const input = numberOf(tokens.input);
    if (input === 0 || this.counted.has(id)) return;
    this.counted.add(id);
    const cached = numberOf(tokens.cached);
    const outputTokens = numberOf(tokens.output) + numberOf(tokens.thoughts);
    this.session().use({
      id,
      model: textOf(message.model),
      inputTokens: Math.max(0, input - cached),
      outputTokens,
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
      contextTokens: input + outputTokens,
      at,
    });
  }
}

/** A shell that failed is a success with an exit code in it. */
function readEnd(status: unknown, text: string): Pick<ToldResult, "ok" | "text" | "errorClass"> {
  const exit = /^Exit Code: (-?\d+)$/im.exec(text)?.[1];
  const ok = status === "success" && (exit === undefined || exit === "0");
  const kind =
    status === "cancelled" ? "interrupted" : exit !== undefined && exit !== "0" ? `exit-${exit}` : errorClass(text);
  return { ok, text, errorClass: ok ? null : kind };
}

/** What came back to the model; where that is missing, what was shown. */
function readResponse(call: Json): string {
  const answers = listOf(call.result).map(({ functionResponse }) => objectOf(objectOf(functionResponse).response));
  const told = answers.map(({ output, error }) => textOf(error) || textOf(output)).join("\n");
  if (told !== "") return told;
  return typeof call.resultDisplay === "string" ? call.resultDisplay : "";
}
