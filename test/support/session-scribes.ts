/**
 * The same story as each agent CLI would write it down: samples of the shapes in which sessions lie on disk, made here
 * so that a contract can hold for all readers. Written after the CLIs' own files; nothing is copied from any.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type Uses = "shell" | "read" | "edit";

/** One moment of a story; `at` is in seconds. Calls with the same step are one message of the model. */
export type Moment = { readonly at: number } & (
  | { readonly person: string }
  | { readonly program: string }
  | { readonly says: string; readonly tokens?: number }
  | { readonly call: string; readonly uses: Uses; readonly what: string; readonly step: string }
  | { readonly result: string; readonly text: string; readonly exit?: number }
);

export interface Scribe {
  readonly runtime: string;
  /** A call and its result stand at one place, so neither can come first. */
  readonly pairs?: boolean;
  /** It tells of no sub-agents. */
  readonly alone?: boolean;
  /** Broken things are whole parts rather than lines. */
  readonly document?: boolean;
  /** Its record of what was said tells how full the context was, for a model with a window of 200,000. */
  readonly window?: number;
  /** Writes the story below the directory and returns the file to read. */
  write(directory: string, story: readonly Moment[], sub?: boolean): string;
}

const START = Date.parse("2026-03-04T05:00:00.000Z");
const iso = (at: number) => new Date(START + at * 1000).toISOString();
const ms = (at: number) => START + at * 1000;

function save(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const saveLines = (path: string, values: readonly unknown[]) =>
  save(path, `${values.map((value) => JSON.stringify(value)).join("\n")}\n`);

type CallMoment = Extract<Moment, { call: string }>;
const resultOf = (story: readonly Moment[], id: string) =>
  story.find((one): one is Extract<Moment, { result: string }> => "result" in one && one.result === id);

const claude: Scribe = {
  runtime: "claude-code",
  window: 200_000,
  write(directory, story, sub = false) {
    const names = { shell: "Bash", read: "Read", edit: "Edit" };
    const inputs = (one: CallMoment) =>
      one.uses === "shell" ? { command: one.what } : { file_path: one.what, new_string: "x" };
    const own = { sessionId: "s1", version: "2.1.0", ...(sub ? { isSidechain: true, agentId: "a1" } : {}) };
    const lines = story.map((one, index) => {
      const line = {
        ...own,
        uuid: `u${index}`,
        parentUuid: index === 0 ? null : `u${index - 1}`,
        timestamp: iso(one.at),
      };
      if ("person" in one) return { ...line, type: "user", message: { role: "user", content: one.person } };
      if ("program" in one)
        return {
          ...line,
          type: "user",
          message: { role: "user", content: `<task-notification>${one.program}</task-notification>` },
        };
      if ("result" in one) {
        const failed = (one.exit ?? 0) !== 0;
        const content = failed ? `Exit code ${one.exit}\n${one.text}` : one.text;
        const block = { type: "tool_result", tool_use_id: one.result, content, ...(failed ? { is_error: true } : {}) };
        return {
          ...line,
          type: "user",
          message: { role: "user", content: [block] },
          toolUseResult: { stdout: one.text },
        };
      }
      const usage = {
        input_tokens: 10,
        cache_read_input_tokens: ("says" in one && one.tokens) || 1_000,
        output_tokens: 5,
      };
      const content =
        "says" in one
          ? [{ type: "text", text: one.says }]
          : [{ type: "tool_use", id: one.call, name: names[one.uses], input: inputs(one) }];
      const id = "says" in one ? `msg-${index}` : one.step;
      const message = { id, role: "assistant", model: "claude-sonnet-4-5-20250929", content, usage };
      return { ...line, type: "assistant", message };
    });
    return saveLines(join(directory, sub ? "s1/subagents/agent-a1.jsonl" : "s1.jsonl"), [
      { type: "file-history-snapshot", messageId: "x", snapshot: {} },
      ...lines,
    ]);
  },
};

const codex: Scribe = {
  runtime: "codex",
  window: 200_000,
  write(directory, story, sub = false) {
    const item = (at: number, payload: object) => ({ timestamp: iso(at), type: "response_item", payload });
    const event = (at: number, payload: object) => ({ timestamp: iso(at), type: "event_msg", payload });
    const lines = story.flatMap((one): object[] => {
      const words = (role: string, kind: string, text: string) =>
        item(one.at, { type: "message", role, content: [{ type: kind, text }] });
      if ("person" in one)
        return [words("user", "input_text", one.person), event(one.at, { type: "user_message", message: one.person })];
      if ("program" in one)
        return [words("user", "input_text", `<environment_context>${one.program}</environment_context>`)];
      if ("says" in one) {
        const last = { input_tokens: one.tokens ?? 1_000, cached_input_tokens: 0, output_tokens: 0 };
        const info = { last_token_usage: last, model_context_window: 200_000 };
        return [words("assistant", "output_text", one.says), event(one.at, { type: "token_count", info })];
      }
      if ("call" in one) {
        if (one.uses === "edit") {
          const input = `*** Begin Patch\n*** Update File: ${one.what}\n@@\n+x\n*** End Patch`;
          return [item(one.at, { type: "custom_tool_call", call_id: one.call, name: "apply_patch", input })];
        }
        const args = one.uses === "shell" ? { command: ["bash", "-lc", one.what] } : { path: one.what };
        const name = one.uses === "shell" ? "shell" : "view_image";
        return [item(one.at, { type: "function_call", name, call_id: one.call, arguments: JSON.stringify(args) })];
      }
      const output = JSON.stringify({
        output: one.text,
        metadata: { exit_code: one.exit ?? 0, duration_seconds: 0.1 },
      });
      return [item(one.at, { type: "function_call_output", call_id: one.result, output })];
    });
    const meta = { id: "s1", cwd: "/repo", cli_version: "0.50.0", source: sub ? { subagent: "review" } : "cli" };
    return saveLines(join(directory, "rollout-2026-03-04T05-00-00-s1.jsonl"), [
      { timestamp: iso(0), type: "session_meta", payload: meta },
      { timestamp: iso(0), type: "turn_context", payload: { model: "gpt-5-codex" } },
      ...lines,
    ]);
  },
};

const copilot: Scribe = {
  runtime: "copilot",
  write(directory, story, sub = false) {
    const names = { shell: "bash", read: "view", edit: "edit" };
    const more = sub ? { parentToolCallId: "p1" } : {};
    const lines = story.map((one, index) => {
      const line = (type: string, data: object) => ({
        type,
        data: { ...data, ...more },
        id: `e${index}`,
        timestamp: iso(one.at),
        parentId: null,
      });
      if ("person" in one) return line("user.message", { content: one.person, attachments: [] });
      if ("program" in one) return line("user.message", { content: one.program, source: "system" });
      if ("says" in one)
        return line("assistant.message", { messageId: `m${index}`, content: one.says, toolRequests: [] });
      if ("call" in one) {
        const input = one.uses === "shell" ? { command: one.what } : { path: one.what };
        return line("tool.execution_start", { toolCallId: one.call, toolName: names[one.uses], arguments: input });
      }
      const content = `${one.text}\n<exited with exit code ${one.exit ?? 0}>`;
      return line("tool.execution_complete", { toolCallId: one.result, success: true, result: { content } });
    });
    const start = { type: "session.start", data: { sessionId: "s1", copilotVersion: "0.0.400" }, timestamp: iso(0) };
    return saveLines(join(directory, "s1/events.jsonl"), [start, ...lines]);
  },
};

const pi: Scribe = {
  runtime: "pi",
  alone: true,
  window: 200_000,
  write(directory, story) {
    const names = { shell: "bash", read: "read", edit: "edit" };
    const lines = story.map((one, index) => {
      const entry = {
        type: "message",
        id: `e${index}`,
        parentId: index === 0 ? null : `e${index - 1}`,
        timestamp: iso(one.at),
      };
      const usage = { input: ("says" in one && one.tokens) || 100, output: 5, cacheRead: 0, cacheWrite: 0 };
      const answer = { role: "assistant", model: "claude-sonnet-4-5", usage, stopReason: "stop" };
      const text = (words: string) => [{ type: "text", text: words }];
      if ("person" in one) return { ...entry, message: { role: "user", content: text(one.person) } };
      if ("program" in one) return { ...entry, type: "custom", data: one.program };
      if ("says" in one) return { ...entry, message: { ...answer, content: text(one.says) } };
      if ("call" in one) {
        const input = one.uses === "shell" ? { command: one.what } : { path: one.what };
        const content = [{ type: "toolCall", id: one.call, name: names[one.uses], arguments: input }];
        return { ...entry, id: one.step, message: { ...answer, content, stopReason: "toolUse" } };
      }
      const failed = (one.exit ?? 0) !== 0;
      const content = text(failed ? `${one.text}\n\nCommand exited with code ${one.exit}` : one.text);
      return { ...entry, message: { role: "toolResult", toolCallId: one.result, content, isError: failed } };
    });
    const header = { type: "session", version: 3, id: "s1", timestamp: iso(0), cwd: "/repo" };
    return saveLines(join(directory, "2026-03-04_s1.jsonl"), [header, ...lines]);
  },
};

/** Messages of a runtime that keeps a call and its result together. */
function geminiMessages(story: readonly Moment[]): object[] {
  const names = { shell: "run_shell_command", read: "read_file", edit: "replace" };
  const done = new Set<string>();
  return story.flatMap((one, index): object[] => {
    const message = { id: `m${index}`, timestamp: iso(one.at) };
    if ("person" in one) return [{ ...message, type: "user", content: [{ text: one.person }] }];
    if ("program" in one) return [{ ...message, type: "info", content: one.program }];
    if ("says" in one) {
      const tokens = { input: one.tokens ?? 1_000, output: 0, cached: 0, thoughts: 0, total: 0 };
      return [{ ...message, type: "gemini", content: one.says, model: "gemini-2.5-pro", tokens }];
    }
    if ("result" in one || done.has(one.step)) return [];
    done.add(one.step);
    const calls = story.filter((other): other is CallMoment => "call" in other && other.step === one.step);
    const toolCalls = calls.map((call) => {
      const result = resultOf(story, call.call);
      const args = call.uses === "shell" ? { command: call.what } : { file_path: call.what };
      const output = result?.exit ? `Output: ${result.text}\nExit Code: ${result.exit}` : (result?.text ?? "");
      const told = { functionResponse: { id: call.call, name: names[call.uses], response: { output } } };
      const own = { id: call.call, name: names[call.uses], args };
      return result
        ? { ...own, status: "success", timestamp: iso(result.at), result: [told] }
        : { ...own, status: "executing" };
    });
    return [{ ...message, id: one.step, type: "gemini", content: "", model: "gemini-2.5-pro", toolCalls }];
  });
}

const geminiLines: Scribe = {
  runtime: "gemini",
  pairs: true,
  window: 1_048_576,
  write(directory, story, sub = false) {
    const head = { sessionId: "s1", projectHash: "h", startTime: iso(0), kind: sub ? "subagent" : "main" };
    const told = geminiMessages(story).flatMap((one) => [one, { $set: { lastUpdated: iso(0) } }, one]);
    return saveLines(join(directory, "chats/session-2026-03-04T05-00-s1.jsonl"), [head, ...told]);
  },
};

const geminiDocument: Scribe = {
  ...geminiLines,
  document: true,
  write(directory, story, sub = false) {
    const head = { sessionId: "s1", projectHash: "h", startTime: iso(0), ...(sub ? { kind: "subagent" } : {}) };
    const text = JSON.stringify({ ...head, messages: geminiMessages(story) }, null, 2);
    return save(join(directory, "chats/session-2026-03-04T05-00-s1.json"), text);
  },
};

/** What the CLI prints line by line; it knows no program that speaks and no sub-agent. */
const geminiPrinted: Scribe = {
  runtime: "gemini",
  alone: true,
  write(directory, story) {
    const names = { shell: "run_shell_command", read: "read_file", edit: "replace" };
    const lines = story.flatMap((one): object[] => {
      const line = { timestamp: iso(one.at) };
      if ("person" in one) return [{ type: "message", ...line, role: "user", content: one.person }];
      if ("program" in one) return [{ type: "error", ...line, severity: "warning", message: one.program }];
      if ("says" in one) {
        const half = one.says.length >> 1;
        const pieces = [one.says.slice(0, half), one.says.slice(half)];
        return pieces.map((content) => ({ type: "message", ...line, role: "assistant", content, delta: true }));
      }
      if ("call" in one) {
        const parameters = one.uses === "shell" ? { command: one.what } : { file_path: one.what };
        return [{ type: "tool_use", ...line, tool_name: names[one.uses], tool_id: one.call, parameters }];
      }
      const output = one.exit ? `Output: ${one.text}\nExit Code: ${one.exit}` : one.text;
      return [{ type: "tool_result", ...line, tool_id: one.result, status: "success", output }];
    });
    const init = { type: "init", timestamp: iso(0), session_id: "s1", model: "gemini-2.5-pro" };
    return saveLines(join(directory, "printed.jsonl"), [lines[0], init, ...lines.slice(1)]);
  },
};

interface OpenCodeMessage {
  readonly info: { readonly id: string; readonly [more: string]: unknown };
  readonly parts: readonly object[];
}

function openCodeMessages(story: readonly Moment[]): OpenCodeMessage[] {
  const names = { shell: "bash", read: "read", edit: "edit" };
  const done = new Set<string>();
  return story.flatMap((one, index): OpenCodeMessage[] => {
    const id = `msg_${String(index).padStart(4, "0")}`;
    const info = { id, sessionID: "ses_1", time: { created: ms(one.at) } };
    const answer = { ...info, role: "assistant", modelID: "claude-sonnet-4-5", providerID: "anthropic" };
    const part = { id: `prt_${index}`, sessionID: "ses_1", messageID: id };
    if ("person" in one)
      return [{ info: { ...info, role: "user" }, parts: [{ ...part, type: "text", text: one.person }] }];
    if ("program" in one)
      return [
        { info: { ...info, role: "user" }, parts: [{ ...part, type: "text", text: one.program, synthetic: true }] },
      ];
    if ("says" in one) {
      const tokens = { input: one.tokens ?? 1_000, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
      return [{ info: { ...answer, tokens }, parts: [{ ...part, type: "text", text: one.says }] }];
    }
    if ("result" in one || done.has(one.step)) return [];
    done.add(one.step);
    const calls = story.filter((other): other is CallMoment => "call" in other && other.step === one.step);
    const parts = calls.map((call, at) => {
      const result = resultOf(story, call.call);
      const input = call.uses === "shell" ? { command: call.what } : { filePath: call.what };
      const time = { start: ms(call.at), end: result && ms(result.at) };
      const metadata = call.uses === "shell" ? { exit: result?.exit ?? 0 } : {};
      const state = result
        ? { status: "completed", input, output: result.text, metadata, time }
        : { status: "running", input, time };
      return { ...part, id: `prt_${index}_${at}`, type: "tool", callID: call.call, tool: names[call.uses], state };
    });
    return [{ info: answer, parts }];
  });
}

const SESSION = {
  id: "ses_1",
  projectID: "p1",
  directory: "/repo",
  title: "t",
  version: "1.0.0",
  time: { created: ms(0) },
};

const openCodeStorage: Scribe = {
  runtime: "opencode",
  pairs: true,
  document: true,
  window: 200_000,
  write(directory, story, sub = false) {
    for (const { info, parts } of openCodeMessages(story)) {
      save(join(directory, `storage/message/ses_1/${info.id}.json`), JSON.stringify(info));
      for (const [at, part] of parts.entries())
        save(join(directory, `storage/part/${info.id}/prt_${at}.json`), JSON.stringify(part));
    }
    const session = { ...SESSION, ...(sub ? { parentID: "ses_0" } : {}) };
    return save(join(directory, "storage/session/p1/ses_1.json"), JSON.stringify(session));
  },
};

const openCodeExport: Scribe = {
  ...openCodeStorage,
  write(directory, story, sub = false) {
    const info = { ...SESSION, ...(sub ? { parentID: "ses_0" } : {}) };
    return save(join(directory, "export.json"), JSON.stringify({ info, messages: openCodeMessages(story) }));
  },
};

export const SCRIBES: Readonly<Record<string, Scribe>> = {
  "Claude Code": claude,
  Codex: codex,
  "Copilot CLI": copilot,
  pi,
  "Gemini CLI, lines": geminiLines,
  "Gemini CLI, document": geminiDocument,
  "Gemini CLI, printed": geminiPrinted,
  "OpenCode, storage": openCodeStorage,
  "OpenCode, export": openCodeExport,
};
