/**
 * The Copilot CLI's sessions as they lie on disk: `session-state/<session>/events.jsonl`, one event per line with its
 * time. Calls of a sub-agent name the call that started it and are a session of their own.
 */
import { errorClass } from "#runtimes/error-class.ts";
import { contentText, type Json, listOf, numberOf, objectOf, textOf, timeOf } from "#runtimes/json.ts";
import { readProviderFailure } from "#runtimes/provider-failure.ts";
import type { FileEars, SessionEars, SessionFormat, ValueReader } from "#runtimes/session-format.ts";
import { COPILOT_TOOLS } from "./tools.ts";

export const COPILOT_SESSIONS: SessionFormat = {
  runtime: "copilot",
  tools: COPILOT_TOOLS,
  listHomes: ({ COPILOT_HOME: own, XDG_STATE_HOME: state, HOME: home }) => [
    `${own || (state ? `${state}/.copilot` : `${home ?? ""}/.copilot`)}/session-state`,
  ],
  owns: (value) =>
    typeof value.data === "object" &&
    /^(?:session|user|assistant|tool|hook|system|subagent)\.\w+$/.test(textOf(value.type)),
  read: (file) => new Events(file),
};

class Events implements ValueReader {
  private model = "";
  private limit = 0;
  /** The message a call was asked for in, until it begins. */
  private readonly asked = new Map<string, string>();
  /** Whose a call is, until it ends. */
  private readonly owners = new Map<string, SessionEars>();

  constructor(private readonly file: FileEars) {}

  take(line: Json): void {
    const at = timeOf(line.timestamp);
    const data = objectOf(line.data);
    const session = this.sessionOf(data);
    switch (line.type) {
      case "session.start":
      case "session.resume":
        this.model = textOf(data.selectedModel) || this.model;
        if (line.type === "session.start")
          session.begin(textOf(data.sessionId), this.model || null, textOf(data.copilotVersion) || null, at);
        break;
      case "session.model_change":
        this.model = textOf(data.newModel) || this.model;
        break;
      case "user.message":
        if (isPerson(data)) session.hearPerson(at);
        break;
      case "assistant.message":
        this.message(data, session, at);
        break;
      case "assistant.usage":
        this.count(data, session, at);
        break;
      case "tool.execution_start":
        this.call(data, session, at);
        break;
      case "tool.execution_complete":
        this.result(data, session, at);
        break;
      case "session.truncation":
      case "session.usage_info":
        this.limit = numberOf(data.tokenLimit) || this.limit;
        break;
      case "session.compaction_complete":
        session.compact(numberOf(data.preCompactionTokens), "auto", at);
        break;
      case "session.error":
        session.fail(readProviderFailure(textOf(data.message)), at);
        break;
      case "model.call_failure":
        session.fail(readProviderFailure(`${numberOf(data.statusCode) || ""} ${textOf(data.errorMessage)}`), at);
        break;
      case "abort":
        session.interrupt(at);
    }
  }

  private sessionOf(data: Json): SessionEars {
    const parent = textOf(data.parentToolCallId);
    return parent === "" ? this.file.session() : this.file.session(parent, { sub: true });
  }

  private message(data: Json, session: SessionEars, at: number): void {
    const step = textOf(data.messageId);
    session.say(textOf(data.content), at, step);
    for (const asked of listOf(data.toolRequests)) this.asked.set(textOf(asked.toolCallId), step);
  }

  private call(data: Json, session: SessionEars, at: number): void {
    const id = textOf(data.toolCallId);
    this.model = textOf(data.model) || this.model;
    this.owners.set(id, session);
    const step = this.asked.get(id);
    this.asked.delete(id);
    session.call({ id, tool: textOf(data.toolName), input: objectOf(data.arguments), step, at });
  }

  private result(data: Json, session: SessionEars, at: number): void {
    const id = textOf(data.toolCallId);
    const { content } = objectOf(data.result);
    const error = objectOf(data.error);
    const text = textOf(error.message) || (typeof content === "string" ? content : contentText(content));
    const exit = /<(?:exited with|shellId: \S+ completed with) exit code (-?\d+)>|exited with exit code (-?\d+)/.exec(
      text.slice(-400),
    );
    const code = exit?.[1] ?? exit?.[2];
    const ok = data.success !== false && (code === undefined || code === "0");
    const kind = code !== undefined && code !== "0" ? `exit-${code}` : errorClass(text);
    (this.owners.get(id) ?? session).finishCall({ id, ok, text, errorClass: ok ? null : kind, at });
    this.owners.delete(id);
  }

  private count(data: Json, session: SessionEars, at: number): void {
    const inputTokens = numberOf(data.inputTokens);
    const outputTokens = numberOf(data.outputTokens);
    const cacheReadTokens = numberOf(data.cacheReadTokens);
    const model = textOf(data.model) || this.model;
    session.use({
      id: "",
      model,
      inputTokens: Math.max(0, inputTokens - cacheReadTokens),
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens: numberOf(data.cacheWriteTokens),
      contextTokens: inputTokens + outputTokens,
      contextWindow: this.limit || null,
      at,
    });
  }
}

/** Other sources than a person are named. */
function isPerson(data: Json): boolean {
  const source = textOf(data.source);
  return (source === "" || source === "user") && textOf(data.content).trim() !== "";
}
