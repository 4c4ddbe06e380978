/**
 * Claude Code's transcripts as they lie on disk: `projects/<directory>/<session>.jsonl`, and for each sub-agent
 * `<session>/subagents/agent-<id>.jsonl`. Older versions write sub-agents between the lines of their parent; each is a
 * session of its own here. Lines of kinds that are not known say nothing about the work and are passed over.
 */
import { errorClass } from "#runtimes/error-class.ts";
import { contentText, type Json, listOf, numberOf, objectOf, textOf, timeOf } from "#runtimes/json.ts";
import type { Tokens } from "#runtimes/runtime.ts";
import type { FileEars, SessionEars, SessionFormat, ValueReader } from "#runtimes/session-format.ts";
import { reserveOf } from "./compaction.ts";
import { apiFailure } from "./stream.ts";
import { CLAUDE_TOOLS } from "./tools.ts";
import { largerTokens, readHookText, sumTokens, tokensBeyond, wireTokens } from "./wire.ts";

const KINDS = new Set(["assistant", "user", "system", "summary", "attachment", "progress", "queue-operation"]);

export const CLAUDE_SESSIONS: SessionFormat = {
  runtime: "claude-code",
  tools: CLAUDE_TOOLS,
  listHomes: ({ CLAUDE_CONFIG_DIR: own, HOME: home }) => [`${own || `${home ?? ""}/.claude`}/projects`],
  owns: (value) =>
    KINDS.has(textOf(value.type)) &&
    ("sessionId" in value || "parentUuid" in value || "leafUuid" in value || isMessage(value)),
  read: (file) => new Transcript(file),
};

function isMessage({ type, message }: Json): boolean {
  return (type === "assistant" || type === "user") && typeof message === "object" && message !== null;
}

class Transcript implements ValueReader {
  private readonly main: SessionEars;
  /** Which sub-agent a line between the parent's belongs to, where only its place in the tree says so. */
  private readonly chains = new Map<string, string>();
  private readonly spent = new Map<string, { readonly tokens: Tokens; readonly filled: number }>();
  private begun = false;

  constructor(private readonly file: FileEars) {
    this.main = file.session();
  }

  take(line: Json): void {
    const at = timeOf(line.timestamp);
    const sub = line.isSidechain === true;
    const session = sub ? this.subSession(line) : this.main;
    if (line.type === "assistant") this.assistant(line, session, at);
    else if (line.type === "user") this.user(line, session, sub, at);
    else if (line.type === "system") this.system(line, session, at);
    else if (line.type === "attachment") session.hearHook?.(at, readHookText(objectOf(line.attachment)));
  }

  private subSession(line: Json): SessionEars {
    const uuid = textOf(line.uuid);
    const above = this.chains.get(textOf(line.parentUuid));
    const key = textOf(line.agentId) || above || `sub-${uuid || this.chains.size}`;
    if (uuid !== "") this.chains.set(uuid, key);
    return this.file.session(key, { sub: true });
  }

  private assistant(line: Json, session: SessionEars, at: number): void {
    const message = objectOf(line.message);
    const model = textOf(message.model);
    if (model === "<synthetic>" || line.isApiErrorMessage === true) {
      this.ownWords(line, session, at);
      return;
    }
    if (!this.begun) {
      this.begun = true;
      session.begin(
        textOf(line.sessionId),
        model || null,
        textOf(line.version) || null,
        at,
        // The CLI takes another maker's model for one of its own: when it empties that one's window is not known.
        OWN_MODELS.test(model) ? reserveOf(textOf(line.version)) : {},
      );
    }
    const step = textOf(message.id);
    this.count(message, step, session, at);
    for (const [index, block] of blocksOf(message).entries()) {
      if (block.type === "text") session.say(textOf(block.text), at, `${textOf(line.uuid)}.${index}`);
      if (block.type === "tool_use") {
        session.call({ id: textOf(block.id), tool: textOf(block.name), input: objectOf(block.input), step, at });
      }
    }
  }

  /** What the CLI says in the model's name; after a failure of the provider that is all there is of it. */
  private ownWords(line: Json, session: SessionEars, at: number): void {
    const text = contentText(objectOf(line.message).content);
    if (line.isApiErrorMessage === true || SAYS_FAILED.test(text)) session.fail(apiFailure(line, text, null), at);
  }

  /** Once for each message, whose blocks repeat the numbers; where one of them says more, that is added. */
  private count(message: Json, id: string, session: SessionEars, at: number): void {
    const tokens = wireTokens(objectOf(message.usage));
    const before = this.spent.get(id);
    const added = tokensBeyond(tokens, before?.tokens);
    const contextTokens = Math.max(sumTokens(tokens), before?.filled ?? 0);
    if (contextTokens === 0 || id === "" || added === undefined) return;
    this.spent.set(id, { tokens: largerTokens(tokens, before?.tokens), filled: contextTokens });
    session.use({ id, model: textOf(message.model), ...added, contextTokens, at });
  }

  private user(line: Json, session: SessionEars, sub: boolean, at: number): void {
    const { content } = objectOf(line.message);
    let results = 0;
    for (const block of blocksOf({ content })) {
      if (block.type !== "tool_result") continue;
      results += 1;
      const text = contentText(block.content);
      const ok = block.is_error !== true;
      const kind = ok ? null : errorClass(text);
      session.finishCall({ id: textOf(block.tool_use_id), ok, text, errorClass: kind, at });
    }
    const text = contentText(content).trim();
    if (INTERRUPTED.test(text)) session.interrupt(at);
    else if (results > 0) return;
    else if (!sub && isPersonSpeaking(line, text)) session.hearPerson(at, text);
    else if (line.isMeta !== true) session.hearProgram(at, text);
  }

  private system(line: Json, session: SessionEars, at: number): void {
    if (line.subtype === "compact_boundary") {
      const about = objectOf(line.compactMetadata ?? line.compact_metadata);
      session.compact(numberOf(about.preTokens ?? about.pre_tokens), textOf(about.trigger) || "auto", at);
    }
    if (line.subtype === "api_error") {
      const cause = textOf(objectOf(line.error).message) || textOf(line.content) || "unknown";
      const data = { attempt: numberOf(line.retryAttempt), cause: cause.slice(0, 200) };
      session.retry({ ...data, delayMs: Math.round(numberOf(line.retryInMs)) }, at);
    }
  }
}

const OWN_MODELS = /claude|sonnet|opus|haiku/i;
const INTERRUPTED = /^\[Request interrupted by user/;
const SAYS_FAILED =
  /^API Error\b|^You've hit your|usage limit|session limit|run \/login|credit balance|prompt is too long/i;
/** What programs put into a person's place: the CLI itself, its jobs, other agents. */
const NOT_A_PERSON =
  /^<(?:local-command|bash-stdout|bash-stderr|task-notification|system-reminder|teammate-message|user-memory-input)|^Caveat: The messages below were generated|^This session is being continued from a previous conversation/;

function isPersonSpeaking(line: Json, text: string): boolean {
  if (line.isMeta === true || line.isCompactSummary === true || line.isVisibleInTranscriptOnly === true) return false;
  const from = textOf(objectOf(line.origin).kind);
  if (from !== "" && from !== "human" && from !== "user") return false;
  const words = text.replace(BESIDE, "").trim();
  return words === "" ? hasImage(line) : !NOT_A_PERSON.test(words);
}

/** What editors and the CLI add to a person's words. */
const BESIDE = /<(ide_\w+|system-reminder)>[\s\S]*?<\/\1>/g;

function hasImage(line: Json): boolean {
  return blocksOf(objectOf(line.message)).some(({ type }) => type === "image" || type === "document");
}

function blocksOf({ content }: Json): readonly Json[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
}
