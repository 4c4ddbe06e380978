/**
 * The one way to ask a model: a template with an id and a hash, bounded input, an answer in JSON that a schema and a
 * judge accept, and a few tries to repair it with the errors in hand. Whoever calls hands in how the model is reached,
 * so this file knows no program, no clock and no store; it decides when an answer is one.
 */
import type { ZodType } from "zod";
import { hashPrompt, type ModelPrompt } from "#config/model-prompts.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { clip } from "#telemetry/bounds.ts";

export interface ModelQuestion<T> {
  readonly prompt: ModelPrompt;
  readonly values: Readonly<Record<string, string>>;
  readonly schema: ZodType<T>;
  /** What is wrong with an answer that has the right shape, each as a sentence. */
  judge(answer: T): readonly string[];
  readonly maxInputBytes: number;
  /** How often an invalid answer is sent back. */
  readonly repairs: number;
  /** No further try once this much was spent; null is no limit. */
  readonly maxCostUsd: number | null;
  /** What the values would take at least, where they were not read because that is known to be too long. */
  readonly atLeastBytes?: number;
}

/** No answer that holds is longer; what is, is not even parsed. */
export function mostAnswerBytes({ maxInputBytes }: Pick<ModelQuestion<unknown>, "maxInputBytes">): number {
  return Math.max(256 * 1024, 4 * maxInputBytes);
}

export interface ModelReply {
  readonly text: string;
  readonly costUsd: number | null;
  readonly tokens: ReplyTokens | null;
}

export interface ReplyTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface ModelOutcome<T> {
  readonly answer: T | undefined;
  /** The JSON it was read from; empty where there is none. */
  readonly raw: string;
  /** Why there is none; empty when there is one. */
  readonly problems: readonly string[];
  /** What was wrong with each answer that was sent back or was the last one, the oldest first. */
  readonly rejected: readonly string[];
  /** Nobody answered at all: not reached, or not in time. Null where the last try brought an answer. */
  readonly unreached: "unreached" | "too-slow" | null;
  readonly tries: number;
  readonly costUsd: number | null;
  readonly tokens: ReplyTokens | null;
  readonly promptHash: string;
  readonly inputBytes: number;
}

/** How a question ends that nobody was asked. */
export const NOT_ASKED = {
  ...{ answer: undefined, raw: "", problems: [], rejected: [], unreached: null, tries: 0 },
  ...{ costUsd: null, tokens: null, promptHash: "", inputBytes: 0 },
} as const;

/** A model that did not answer within its time; it is told apart from one that cannot be reached. */
export const MODEL_TOO_SLOW = "MODEL_TOO_SLOW";

/** Asks until an answer holds or the tries are used up. A call that throws is a problem, and the last try. */
export async function askModel<T>(
  question: ModelQuestion<T>,
  call: (prompt: string) => Promise<ModelReply>,
): Promise<ModelOutcome<T>> {
  const { text } = question.prompt;
  const promptHash = hashPrompt(question.prompt);
  const tooLong = (inputBytes: number): ModelOutcome<T> => {
    const problems = [`The question is too long: ${inputBytes} of ${question.maxInputBytes} bytes.`];
    return { ...NOT_ASKED, problems, promptHash, inputBytes };
  };
  const least = Buffer.byteLength(text) + (question.atLeastBytes ?? 0);
  if (least > question.maxInputBytes) return tooLong(least);
  const first = fillTemplate(text, question.values);
  const inputBytes = Buffer.byteLength(first);
  if (inputBytes > question.maxInputBytes) return tooLong(inputBytes);
  return { ...(await inTries(question, first, call)), promptHash, inputBytes };
}

async function inTries<T>(
  question: ModelQuestion<T>,
  first: string,
  call: (prompt: string) => Promise<ModelReply>,
): Promise<Omit<ModelOutcome<T>, "promptHash" | "inputBytes">> {
  const rejected: string[] = [];
  let problems: readonly string[] = [];
  let costUsd: number | null = null;
  let tokens: ReplyTokens | null = null;
  let tries = 0;
  let prompt = first;
  const end = (more: Partial<ModelOutcome<T>>) => ({
    ...{ answer: undefined, raw: "", problems, rejected, unreached: null, tries, costUsd, tokens },
    ...more,
  });
  while (tries <= question.repairs) {
    tries += 1;
    const reply = await call(prompt).catch((error: unknown) => ({ error }));
    if ("error" in reply) {
      const { error } = reply;
      const isSlow = error instanceof OverseerError && error.code === MODEL_TOO_SLOW;
      return end({ problems: [messageOf(error)], unreached: isSlow ? "too-slow" : "unreached" });
    }
    if (reply.costUsd !== null) costUsd = (costUsd ?? 0) + reply.costUsd;
    tokens = plus(tokens, reply.tokens);
    const read = readAnswer(question, reply.text);
    problems = read.problems;
    if (read.answer !== undefined && problems.length === 0) return end({ answer: read.answer, raw: read.raw });
    rejected.push(clip(problems.join(" "), MOST_REJECTED_BYTES));
    if (question.maxCostUsd !== null && (costUsd ?? 0) >= question.maxCostUsd) break;
    prompt = `${first}\n\n${repairWords(problems, clip(reply.text.trim(), mostShownAgain(question, first, reply.text)))}`;
  }
  return end({});
}

/** What is kept of what was wrong with one answer. */
const MOST_REJECTED_BYTES = 2_000;
/** So many problems of one answer are told; the rest is often the same mistake again. */
const MOST_TOLD = 20;

function plus(one: ReplyTokens | null, other: ReplyTokens | null): ReplyTokens | null {
  if (one === null || other === null) return one ?? other;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/** One pass: what a value holds is material and is not filled in again. */
function fillTemplate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole);
}

function repairWords(problems: readonly string[], answer: string): string {
  const listed = problems.map((problem) => `- ${problem}`).join("\n");
  const last = `--- BEGIN your last answer\n${answer}\n--- END your last answer`;
  return `${last}\n\nYour last answer could not be used:\n${listed}\nAnswer again with all of it corrected: one JSON object and nothing else.`;
}

/** A repair needs the answer that is to be repaired, as far as there is room for it. */
function mostShownAgain<T>(question: ModelQuestion<T>, first: string, answer: string): number {
  if (answer.length > mostAnswerBytes(question)) return TOO_LONG_SHOWN;
  return Math.max(LEAST_SHOWN_AGAIN, question.maxInputBytes - Buffer.byteLength(first) - SPARE_BYTES);
}
/** Of one that is too long by far only the beginning: what is wrong with it is its length. */
const TOO_LONG_SHOWN = 200;
const LEAST_SHOWN_AGAIN = 4_000;
const SPARE_BYTES = 4_000;

function readAnswer<T>(
  question: ModelQuestion<T>,
  text: string,
): { readonly answer: T | undefined; readonly raw: string; readonly problems: readonly string[] } {
  const none = (problems: readonly string[]) => ({
    answer: undefined,
    raw: "",
    problems: problems.slice(0, MOST_TOLD),
  });
  const most = mostAnswerBytes(question);
  if (text.length > most) return none([`It is longer than the ${most} bytes an answer may have.`]);
  const bare = stripFence(text);
  const value = parseJson(bare);
  if (value === undefined)
    return none([`It is not one JSON object. It begins: ${JSON.stringify(clip(text.trim(), 120))}.`]);
  const parsed = question.schema.safeParse(value);
  if (!parsed.success) {
    return none(parsed.error.issues.map(({ path, message }) => `${path.join(".") || "The answer"}: ${message}`));
  }
  return { answer: parsed.data, raw: bare.trim(), problems: question.judge(parsed.data).slice(0, MOST_TOLD) };
}

/** The whole answer, or what is in it where it is one fenced block; JSON somewhere inside of prose is no answer. */
function stripFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
