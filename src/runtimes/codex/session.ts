/**
 * Codex' sessions as they lie on disk: `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, one record per line
 * with its time; earlier versions wrote the bare items. A sub-agent's session is a file of its own that says so in its
 * first line. The same words may stand there twice, as what the model was given and as what was shown; only one counts.
 */
import { errorClass } from "#runtimes/error-class.ts";
import { contentText, type Json, jsonObject, numberOf, objectOf, textOf, timeOf } from "#runtimes/json.ts";
import { readProviderFailure } from "#runtimes/provider-failure.ts";
import type { FileEars, SessionEars, SessionFormat, ValueReader } from "#runtimes/session-format.ts";
import { CODEX_TOOLS } from "./tools.ts";

const RECORDS = new Set(["session_meta", "response_item", "event_msg", "turn_context", "compacted"]);
const ITEMS = new Set(["message", "function_call", "function_call_output", "local_shell_call", "reasoning"]);

export const CODEX_SESSIONS: SessionFormat = {
  runtime: "codex",
  tools: CODEX_TOOLS,
  listHomes: ({ CODEX_HOME: own, HOME: home }) => {
    const base = own || `${home ?? ""}/.codex`;
    return [`${base}/sessions`, `${base}/archived_sessions`];
  },
  owns: (value, path) =>
    (RECORDS.has(textOf(value.type)) && typeof value.payload === "object") ||
    (/(?:^|\/)rollout-[^/]*\.jsonl?$/.test(path) &&
      (ITEMS.has(textOf(value.type)) || (typeof value.id === "string" && value.timestamp !== undefined))),
  read: (file) => new Rollout(file),
};

class Rollout implements ValueReader {
  private writer: SessionEars | undefined;
  private sub = false;
  private model = "";
  private step = 0;
  /** The running step has results already: the next call is another step's. */
  private answered = true;
  /** Newer files tell a person's words as an event; then what the model was given is not looked at for them. */
  private hasEvents = false;
  private tokens = 0;
  private searches = 0;

  constructor(private readonly file: FileEars) {}

  take(line: Json): void {
    const at = timeOf(line.timestamp);
    const payload = objectOf(line.payload);
    switch (line.type) {
      case "session_meta":
        this.begin(payload, at);
        break;
      case "turn_context":
        this.model = textOf(payload.model) || this.model;
        break;
      case "compacted":
        this.session().compact(this.tokens, "auto", at);
        break;
      case "event_msg":
        this.event(payload, at);
        break;
      case "response_item":
        this.item(payload, at);
        break;
      default:
        if (ITEMS.has(textOf(line.type)) || line.call_id !== undefined) this.item(line, at);
        else if (typeof line.id === "string" && line.type === undefined) this.begin(line, at);
    }
  }

  private session(): SessionEars {
    this.writer ??= this.file.session("", { sub: this.sub });
    return this.writer;
  }

  private begin(meta: Json, at: number): void {
    if (this.writer !== undefined) return;
    this.sub = isOfSubagent(meta);
    this.session().begin(textOf(meta.id), null, textOf(meta.cli_version) || null, at || timeOf(meta.timestamp));
  }

  private event(event: Json, at: number): void {
    switch (event.type) {
      case "user_message":
        this.hasEvents = true;
        if (!this.sub) this.session().hearPerson(at);
        break;
      case "token_count":
        this.count(objectOf(event.info), at);
        break;
      case "turn_aborted":
        this.session().interrupt(at);
        break;
      case "error":
      case "stream_error": {
        const text = textOf(event.message);
        if (event.type === "error") this.session().fail(readProviderFailure(text), at);
        else this.session().retry({ attempt: 1, cause: text.slice(0, 200), delayMs: 0 }, at);
      }
    }
  }

  private count(info: Json, at: number): void {
    const last = objectOf(info.last_token_usage);
    const cached = numberOf(last.cached_input_tokens);
    const contextTokens = numberOf(last.total_tokens) || numberOf(last.input_tokens) + numberOf(last.output_tokens);
    this.tokens = contextTokens || this.tokens;
    this.session().use({
      id: "",
      model: this.model,
      inputTokens: Math.max(0, numberOf(last.input_tokens) - cached),
      outputTokens: numberOf(last.output_tokens),
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
      contextTokens,
      contextWindow: numberOf(info.model_context_window) || null,
      at,
    });
  }

  private item(item: Json, at: number): void {
    switch (item.type) {
      case "message":
        this.message(item, at);
        break;
      case "function_call":
        this.call(item, objectOf(jsonObject(textOf(item.arguments)) ?? item.arguments), at);
        break;
      case "custom_tool_call":
        this.call(item, { input: textOf(item.input) }, at);
        break;
      case "local_shell_call":
        this.call({ ...item, name: "local_shell" }, objectOf(item.action), at);
        break;
      case "web_search_call":
        this.search(item, at);
        break;
      case "function_call_output":
      case "custom_tool_call_output":
        this.result(item, at);
    }
  }

  private message(item: Json, at: number): void {
    const text = contentText(item.content);
    if (item.role === "assistant") this.session().say(text, at, textOf(item.id));
    else if (item.role === "user" && !this.hasEvents && !this.sub && !NOT_A_PERSON.test(text.trim()))
      this.session().hearPerson(at);
  }

  private call(item: Json, input: Json, at: number): void {
    if (this.answered) this.step += 1;
    this.answered = false;
    const name = textOf(item.name);
    const id = textOf(item.call_id) || textOf(item.id);
    const command = readCommand(input);
    const patch = name === "apply_patch" ? textOf(input.input) || textOf(input.patch) : findPatch(command);
    const step = `step ${this.step}`;
    if (patch !== undefined) {
      const path = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/m.exec(patch)?.[1] ?? "";
      this.session().call({ id, tool: "apply_patch", input: { path, patch }, step, at });
    } else {
      this.session().call({ id, tool: name, input: command === undefined ? input : { ...input, command }, step, at });
    }
  }

  /** Made by the provider itself: what it found is told to the model alone. */
  private search(item: Json, at: number): void {
    this.searches += 1;
    const id = textOf(item.id) || `search ${this.searches}`;
    this.call({ call_id: id, name: "web_search" }, objectOf(item.action), at);
    this.session().finishCall({ id, ok: item.status !== "failed", text: "", errorClass: "error", at });
    this.answered = true;
  }

  private result(item: Json, at: number): void {
    this.answered = true;
    const { text, ok, exit } = readOutput(item.output);
    const kind = exit === null ? errorClass(text) : `exit-${exit}`;
    this.session().finishCall({ id: textOf(item.call_id), ok, text, errorClass: ok ? null : kind, at });
  }
}

function isOfSubagent(meta: Json): boolean {
  const { source } = meta;
  return source === "subagent" || objectOf(source).subagent !== undefined;
}

/** The words of a shell tool: a text, or a list in which a shell is told by `-c` what to run. */
function readCommand(input: Json): string | undefined {
  const { command, cmd } = input;
  if (typeof command === "string") return command;
  if (typeof cmd === "string") return cmd;
  const words = Array.isArray(command) ? command.filter((word) => typeof word === "string") : undefined;
  if (words === undefined) return undefined;
  const told = IS_SHELL.test(words[0] ?? "") ? words.findIndex((word) => /^-(?:\w*c|command)$|^\/c$/i.test(word)) : -1;
  return words.slice(told + 1).join(" ");
}

const IS_SHELL = /(?:^|[\\/])(?:(?:ba|z|da)?sh|pwsh|powershell|cmd)(?:\.exe)?$/i;

/** Models also hand a patch to a program of that name in their shell. */
function findPatch(command: string | undefined): string | undefined {
  return command !== undefined && /(?:^|[\s;&|])apply_?patch\b/.test(command) && command.includes("*** Begin Patch")
    ? command
    : undefined;
}

interface Output {
  readonly text: string;
  readonly ok: boolean;
  readonly exit: number | null;
}

const EXIT = /^(?:Exit code:|Process exited with code|exited with code|failed in sandbox .*exit code) (-?\d+)/im;
const HEAD = 600;
const FAILED =
  /^(?:execution error|failed (?:to|in) |error:|apply_patch verification failed|exec_command failed|unsupported call|aborted by user|sandbox error|unable to )/i;

/** A text, a JSON text with `output` and `metadata.exit_code`, or a list of blocks. */
function readOutput(output: unknown): Output {
  if (typeof output !== "string") {
    const { content, success } = objectOf(output);
    const text = Array.isArray(output) ? contentText(output) : textOf(content);
    return judgeOutput(text, success === false);
  }
  const inner = output.startsWith("{") ? jsonObject(output) : undefined;
  if (inner === undefined || typeof inner.output !== "string") return judgeOutput(output, false);
  const { exit_code: code } = objectOf(inner.metadata);
  const exit = typeof code === "number" ? code : null;
  return { text: inner.output, ok: exit === null || exit === 0, exit };
}

function judgeOutput(text: string, failed: boolean): Output {
  const found = EXIT.exec(text.slice(0, HEAD))?.[1];
  const exit = found === undefined ? null : Number(found);
  return { text: withoutHeading(text), ok: !failed && (exit ?? 0) === 0 && !FAILED.test(text), exit };
}

/** What stands before the output itself differs at every run. */
function withoutHeading(text: string): string {
  const at = text.slice(0, HEAD).search(/^Output:$/m);
  return at < 0 ? text : text.slice(at + "Output:\n".length);
}

/** What the CLI puts into a person's place. */
const NOT_A_PERSON =
  /^<(?:environment_context|user_instructions|turn_aborted|skill|ENVIRONMENT_CONTEXT|permissions|subagent_notification|user_shell_command)|^# AGENTS\.md instructions/;
