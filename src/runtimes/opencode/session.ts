/**
 * OpenCode's sessions as they lie on disk: `storage/session/<project>/<session>.json`, and beside it a directory of
 * messages for each session and one of parts for each message; or all of it in one document, as `opencode export`
 * writes it. A call and its result are one part. A session with a parent is a sub-agent's.
 */
import { errorClass } from "#runtimes/error-class.ts";
import { type Json, listOf, numberOf, objectOf, textOf, timeOf } from "#runtimes/json.ts";
import { readProviderFailure } from "#runtimes/provider-failure.ts";
import type {
  BrokenPart,
  FileEars,
  SessionDisk,
  SessionEars,
  SessionFormat,
  ValueReader,
} from "#runtimes/session-format.ts";
import { OPENCODE_TOOLS } from "./tools.ts";

export const OPENCODE_SESSIONS: SessionFormat = {
  runtime: "opencode",
  tools: OPENCODE_TOOLS,
  listHomes: ({ XDG_DATA_HOME: data, HOME: home }) => [
    `${data || `${home ?? ""}/.local/share`}/opencode/storage/session`,
  ],
  owns: (value) =>
    /^ses/.test(textOf(value.id)) ||
    /^ses/.test(textOf(objectOf(value.info).id)) ||
    /^ses/.test(textOf(value.sessionID)) ||
    /^ses/.test(textOf(objectOf(value.info).sessionID)),
  read: (file) => new Conversation(file),
  listParts: collectParts,
  isPart: (path) => /\/(?:message|part)\/(?:[^/]+\/)?(?:ses|msg)_?[^/]*\/[^/]+\.json$/.test(path),
};

/** Each message with its parts, as an exported document has them. */
function* collectParts(path: string, session: Json, disk: SessionDisk): Generator<Json | BrokenPart> {
  const id = textOf(session.id);
  const storage = /^(.*?)\/session\/(?:.*\/)?[^/]+\.json$/.exec(path)?.[1];
  if (storage === undefined || id === "") return;
  if (!isPlainName(id)) {
    yield { broken: path };
    return;
  }
  const places = [
    { messages: `${storage}/message/${id}`, parts: (message: string) => `${storage}/part/${message}` },
    {
      messages: `${storage}/session/message/${id}`,
      parts: (message: string) => `${storage}/session/part/${id}/${message}`,
    },
  ];
  for (const place of places) {
    for (const name of disk.list(place.messages)) {
      const info = disk.load(`${place.messages}/${name}`);
      if (info === undefined || !isPlainName(textOf(info.id))) yield { broken: `${place.messages}/${name}` };
      else yield* withParts(info, place.parts(textOf(info.id)), disk);
    }
  }
}

/** An id becomes a part of paths; one that could lead elsewhere is nobody's. */
function isPlainName(id: string): boolean {
  return /^[\w-]{1,200}$/.test(id);
}

function* withParts(info: Json, directory: string, disk: SessionDisk): Generator<Json | BrokenPart> {
  const parts: Json[] = [];
  for (const name of disk.list(directory)) {
    const part = disk.load(`${directory}/${name}`);
    if (part === undefined) yield { broken: `${directory}/${name}` };
    else parts.push(part);
  }
  yield { info, parts };
}

class Conversation implements ValueReader {
  private writer: SessionEars | undefined;
  private sub = false;

  constructor(private readonly file: FileEars) {}

  take(value: Json): void {
    const info = objectOf(value.info);
    if (Array.isArray(value.messages)) {
      this.begin(info);
      for (const message of listOf(value.messages)) this.message(objectOf(message.info), listOf(message.parts));
    } else if (value.info === undefined) this.begin(value);
    else this.message(info, listOf(value.parts));
  }

  private session(): SessionEars {
    this.writer ??= this.file.session("", { sub: this.sub });
    return this.writer;
  }

  private begin(session: Json): void {
    this.sub = textOf(session.parentID) !== "";
    const at = timeOf(objectOf(session.time).created);
    this.session().begin(textOf(session.id), null, textOf(session.version) || null, at);
  }

  private message(info: Json, parts: readonly Json[]): void {
    const at = timeOf(objectOf(info.time).created);
    if (info.role === "user") {
      const words = parts.some((part) => part.type === "text" && part.synthetic !== true);
      if (words && !this.sub) this.session().hearPerson(at);
      return;
    }
    for (const part of parts) this.part(part, textOf(info.id), at);
    const ended = timeOf(objectOf(info.time).completed) || at;
    this.count(info, ended);
    this.error(objectOf(info.error), ended);
  }

  private part(part: Json, message: string, at: number): void {
    const time = objectOf(part.time);
    if (part.type === "text") this.session().say(textOf(part.text), timeOf(time.start) || at, textOf(part.id));
    if (part.type === "compaction") this.session().compact(0, "auto", at);
    if (part.type === "tool") this.tool(part, message, at);
    // Versions whose messages have several steps say so in parts of their own.
    if (part.type === "step-start") this.steps += 1;
  }
  private steps = 0;

  private tool(part: Json, message: string, at: number): void {
    const state = objectOf(part.state);
    const time = objectOf(state.time);
    const id = textOf(part.callID) || textOf(part.id);
    const begun = timeOf(time.start) || at;
    const step = `${message} ${this.steps}`;
    this.session().call({ id, tool: textOf(part.tool), input: objectOf(state.input), step, at: begun });
    if (state.status !== "completed" && state.status !== "error") return;
    const exit = objectOf(state.metadata).exit;
    const text = state.status === "error" ? textOf(state.error) : textOf(state.output);
    const ok = state.status === "completed" && (typeof exit !== "number" || exit === 0);
    const kind = typeof exit === "number" && exit !== 0 ? `exit-${exit}` : errorClass(text);
    this.session().finishCall({ id, ok, text, errorClass: ok ? null : kind, at: timeOf(time.end) || begun });
  }

  private count(info: Json, at: number): void {
    const tokens = objectOf(info.tokens);
    const cache = objectOf(tokens.cache);
    const counted = {
      inputTokens: numberOf(tokens.input),
      outputTokens: numberOf(tokens.output) + numberOf(tokens.reasoning),
      cacheReadTokens: numberOf(cache.read),
      cacheWriteTokens: numberOf(cache.write),
    };
    const contextTokens = Object.values(counted).reduce((sum, count) => sum + count, 0);
    this.session().use({ id: textOf(info.id), model: textOf(info.modelID), ...counted, contextTokens, at });
  }

  private error(error: Json, at: number): void {
    const name = textOf(error.name);
    if (name === "") return;
    if (/abort/i.test(name)) this.session().interrupt(at);
    else this.session().fail(readProviderFailure(`${name} ${textOf(objectOf(error.data).message)}`), at);
  }
}
