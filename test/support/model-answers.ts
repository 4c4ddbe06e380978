/**
 * What the scripted model answers to a conversation: pure, and derived from the conversation alone. The conversation is
 * gone through from its beginning, user messages are heard and answers given before are given again in thought, until
 * the one that is asked for now. So the position in the script is never stored, and nothing here can get out of step.
 *
 * Beside the script, a prompt may say what the provider does at which answer (`modelPrompt`): that is between markers
 * of its own, because the scripted agent, which has no provider, must not stumble over it.
 */
import { renderScript, type Script, type Step, withoutScripts } from "#runtimes/scripted/language.ts";
import { CLOSING_TEXT, type Move, toToolCall } from "#runtimes/scripted/moves.ts";
import { hear, NOTHING_IN_MIND, nextScript, nextStep, overhear, type Play } from "#runtimes/scripted/play.ts";

/** The part of a Messages request that is looked at. */
export interface Body {
  readonly model: string;
  readonly stream?: boolean;
  readonly system?: string | readonly ContentBlock[];
  readonly messages: readonly BodyMessage[];
  readonly tools?: readonly { readonly name?: string }[];
  readonly [field: string]: unknown;
}

export interface BodyMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly ContentBlock[];
}

export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

export interface ToolCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  /** How often; without it, for ever. */
  readonly times?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** What the provider does at one answer, counted from 0 since the message that says so. */
export interface AnswerOptions {
  readonly usage?: Partial<Usage>;
  readonly delayMs?: number;
  readonly error?: ErrorAnswer;
  /** Hangs up instead of answering. */
  readonly hangUp?: boolean;
  /** The line breaks in the middle of the first block. */
  readonly cut?: boolean;
  /** An error event in the middle of the first block. */
  readonly midError?: { readonly type: string; readonly message: string };
  /** An answer of its own before the script continues: these calls, all at once. */
  readonly calls?: readonly ToolCall[];
}

export type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: ToolCall["input"] };

export interface Answer {
  readonly kind: "conversation" | "helper" | "compaction";
  /** Tells answers of one conversation apart. */
  readonly key: string;
  readonly blocks: readonly AnswerBlock[];
  readonly usage: Usage;
  readonly delayMs: number;
  readonly error?: ErrorAnswer;
  readonly hangUp?: boolean;
  readonly cut?: boolean;
  readonly midError?: AnswerOptions["midError"];
}

const OPTIONS_START = "@@MODEL";
const OPTIONS_END = "@@DONE";

/** A prompt with a script in it, and what the provider does at which of its answers. */
export function modelPrompt(
  words: string,
  steps: readonly Step[],
  answers: Readonly<Record<number, AnswerOptions>> = {},
): string {
  const script = steps.length === 0 ? "" : ` ${renderScript(steps)}`;
  if (Object.keys(answers).length === 0) return `${words}${script}`;
  // Written without "@", so that scripts inside (prompts of sub-agents) are not taken for one of this prompt.
  const options = JSON.stringify(answers).replaceAll("@", "\\u0040");
  return `${words}${script} ${OPTIONS_START}${options}${OPTIONS_END}`;
}

const USUAL: Usage = { inputTokens: 1_000, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function answerTo(body: Body, speed: number): Answer {
  const plain = { key: "", usage: USUAL, delayMs: 0 };
  const last = body.messages.at(-1);
  const asked = last === undefined ? "" : blockTexts(last.content).join("\n");
  if (asked.includes("Your task is to create a detailed summary")) {
    const state = replay(body.messages.slice(0, -1), speed).state;
    return { ...plain, kind: "compaction", blocks: [{ type: "text", text: summary(state) }] };
  }
  if ((body.tools ?? []).length === 0) {
    return { ...plain, kind: "helper", blocks: [{ type: "text", text: "A scripted session" }] };
  }
  const { state } = replay(body.messages, speed);
  const { answer } = compose(state, speed);
  return { ...answer, kind: "conversation", key: String(state.answers) };
}

/** All texts of a request, in order: system prompt first. */
export function textsOf(body: Body): string[] {
  const system = typeof body.system === "string" ? [body.system] : blockTexts(body.system ?? []);
  return [...system, ...body.messages.flatMap((message) => blockTexts(message.content))];
}

interface State {
  readonly play: Play;
  readonly scripts: ReadonlyMap<string, Script>;
  readonly options: Readonly<Record<number, AnswerOptions>>;
  /** Answers given since the message that brought the options, or the last script. */
  readonly answers: number;
  readonly replies: readonly string[];
  /** The last answer called tools, and their results are what is answered now. */
  readonly busy: boolean;
}

const BEGINNING: State = {
  play: NOTHING_IN_MIND,
  scripts: new Map(),
  options: {},
  answers: 0,
  replies: [],
  busy: false,
};

function replay(messages: readonly BodyMessage[], speed: number): { state: State } {
  let state = BEGINNING;
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") {
      state = isSynthetic(message) ? { ...state, busy: false } : compose(state, speed).state;
      continue;
    }
    for (const [part, text] of blockTexts(message.content, "text").entries()) {
      state = heard(state, `${index}.${part}`, text, message.role);
    }
  }
  return { state };
}

function heard(state: State, id: string, text: string, role: string): State {
  if (role === "system" || /^\s*<system-reminder>/.test(text)) {
    const mails = [...text.matchAll(MID_TURN)].map((match) => match[1] ?? "");
    if (mails.length > 0) {
      return mails.reduce((now, mail, index) => heardMessage(now, `${id}.${index}`, mail), state);
    }
    if (!text.includes("hook additional context")) return state;
    return { ...state, play: overhear(state.play, state.scripts, text) };
  }
  if (CLI_WORDS.test(text)) return { ...state, busy: false };
  return heardMessage(state, id, text);
}

/** What the CLI itself says where a person would: after an interrupt, a kill, or a command of its own. */
const CLI_WORDS = /^\s*(\[Request interrupted by user|Continue from where you left off\.|<command-|<local-command)/;

/** How the CLI passes on what was said during a turn; the words after the message are its own. */
const MID_TURN =
  /The user sent a new message while you were working:\n([\s\S]*?)(?=\n\n(?:This is how Claude Code|IMPORTANT: After)|\n?<\/system-reminder>|$)/g;

function heardMessage(state: State, id: string, text: string): State {
  const given = heldIn(text);
  if (given) return { ...given, busy: false };
  const options = optionsIn(text);
  const { play, script, reply } = hear(state.play, state.scripts, { id, text: withoutOptions(text), busy: state.busy });
  const scripts = script === undefined ? state.scripts : new Map([...state.scripts, [id, script]]);
  return {
    ...state,
    play,
    scripts,
    ...(options === undefined ? (script === undefined ? {} : { options: {}, answers: 0 }) : { options, answers: 0 }),
    replies: reply === undefined ? state.replies : [...state.replies, reply],
  };
}

/** The next answer, and the state after giving it. */
function compose(before: State, speed: number): { answer: Omit<Answer, "kind" | "key">; state: State } {
  const options = before.options[before.answers] ?? {};
  const { calls, usage: wanted, delayMs = 0, ...trouble } = options;
  if (calls) {
    const usage = { ...usageOf(before.play), ...wanted };
    const blocks = calls.map(({ tool, input }) => toolUse(tool, input));
    return {
      answer: { blocks, usage, delayMs, ...trouble },
      state: { ...before, answers: before.answers + 1, busy: true },
    };
  }
  const { blocks, play, pauseMs, error } = played(before.play, before.scripts, speed, before.replies);
  const busy = blocks.some((block) => block.type === "tool_use");
  const closing: AnswerBlock[] = blocks.length > 0 || error ? blocks : [{ type: "text", text: CLOSING_TEXT }];
  return {
    answer: {
      blocks: closing,
      usage: { ...usageOf(play), ...wanted },
      delayMs: delayMs + pauseMs,
      ...(error ? { error } : {}),
      ...trouble,
    },
    state: { ...before, play, replies: [], answers: before.answers + 1, busy },
  };
}

interface Played {
  blocks: AnswerBlock[];
  play: Play;
  pauseMs: number;
  error?: ErrorAnswer;
}

/** Steps up to the first that hands the turn to the CLI: a tool call, an end of the turn, a refusal. */
function played(before: Play, scripts: State["scripts"], speed: number, replies: readonly string[]): Played {
  const turn: Played = { blocks: replies.map((text) => ({ type: "text", text })), play: before, pauseMs: 0 };
  for (;;) {
    const next = nextStep(turn.play, scripts);
    if (next === undefined) {
      const queued = nextScript(turn.play);
      if (queued === undefined) return turn;
      turn.play = queued;
      continue;
    }
    turn.play = next.play;
    const move = toToolCall(next.step, speed);
    if (move.kind === "refusal") {
      turn.error = refusal(move);
      if (move.givesUp) return turn;
      continue;
    }
    if (makeMove(turn, move)) return turn;
  }
}

/** True when the answer ends with it. */
function makeMove(turn: Played, move: Exclude<Move, { kind: "refusal" }>): boolean {
  switch (move.kind) {
    case "text":
      turn.blocks.push({ type: "text", text: move.text });
      return false;
    case "end-turn":
      turn.blocks.push({ type: "text", text: move.text });
      return true;
    case "pause":
      turn.pauseMs += move.ms;
      return false;
    case "flood":
      for (let line = 0; line < move.lines; line += 1) turn.blocks.push({ type: "text", text: "x".repeat(move.bytes) });
      return false;
    case "tool":
      if (move.readFirst !== undefined) turn.blocks.push(toolUse("Read", { file_path: move.readFirst }));
      turn.blocks.push(toolUse(move.tool, move.input));
      return true;
    case "none":
      return false;
  }
}

function refusal(move: Extract<Move, { kind: "refusal" }>): ErrorAnswer {
  return {
    status: move.status,
    type: move.status === 429 ? "rate_limit_error" : "invalid_request_error",
    message: move.message,
    ...(move.givesUp ? {} : { times: move.attempts }),
    ...(move.status === 429 ? { headers: { "retry-after": String(Math.ceil(move.retryAfterMs / 1000)) } } : {}),
  };
}

function toolUse(name: string, input: ToolCall["input"]): AnswerBlock {
  const id = `toolu_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
  return { type: "tool_use", id, name, input };
}

function usageOf(play: Play): Usage {
  const { inputTokens, outputTokens, cacheReadTokens } = play.usage;
  return {
    ...USUAL,
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
  };
}

function optionsIn(text: string): Record<number, AnswerOptions> | undefined {
  const start = text.lastIndexOf(OPTIONS_START);
  const end = text.indexOf(OPTIONS_END, start);
  if (start < 0 || end < 0) return undefined;
  const written = text.slice(start + OPTIONS_START.length, end);
  return JSON.parse(written) as Record<number, AnswerOptions>;
}

function withoutOptions(text: string): string {
  const start = text.lastIndexOf(OPTIONS_START);
  const end = text.indexOf(OPTIONS_END, start);
  return start < 0 || end < 0 ? text : text.slice(0, start) + text.slice(end + OPTIONS_END.length);
}

const HELD_START = "@@HELD";
const HELD_END = "@@DONE";

/** A summary that lets the script continue where it was: the conversation before it is gone. */
function summary(state: State): string {
  const held = JSON.stringify({ ...state, scripts: [...state.scripts], replies: [] }).replaceAll("@", "\\u0040");
  const words = withoutScripts("The conversation so far was summarised by the scripted model.");
  return `<analysis>Looked back.</analysis>\n<summary>${words} ${HELD_START}${held}${HELD_END}</summary>`;
}

function heldIn(text: string): State | undefined {
  const start = text.lastIndexOf(HELD_START);
  const end = text.indexOf(HELD_END, start);
  if (start < 0 || end < 0) return undefined;
  const held = JSON.parse(text.slice(start + HELD_START.length, end)) as State & { scripts: [string, Script][] };
  return { ...held, scripts: new Map(held.scripts) };
}

/** What the CLI puts into the mouth of the model by itself: after a failure, and where a killed session continues. */
function isSynthetic(message: BodyMessage): boolean {
  return blockTexts(message.content).some((text) => /^(API Error:|No response requested\.)/.test(text));
}

/** The texts of a content; with `only`, of blocks of that type alone, else of tool calls and results too. */
function blockTexts(content: unknown, only?: "text"): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: ContentBlock) => {
    if (block.type === "text") return [block.text ?? ""];
    if (only) return [];
    if (block.type === "tool_result") return blockTexts(block.content);
    return block.type === "tool_use" ? [JSON.stringify(block.input)] : [];
  });
}
