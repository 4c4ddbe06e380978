/**
 * The one way to ask a model: a template with an id and a hash, bounded input, an answer in JSON that a schema and a
 * judge accept, and a few tries to repair it with the errors in hand. Whoever calls hands in how the model is reached,
 * so this file knows no program, no clock and no store; it decides when an answer is one.
 */
import type { ZodType } from "zod";
import type { ModelPrompt } from "#config/model-prompts.ts";
import { messageOf } from "#errors.ts";

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
  /** Why there is none; empty when there is one. */
  readonly problems: readonly string[];
  readonly tries: number;
  readonly costUsd: number | null;
  readonly tokens: ReplyTokens | null;
  readonly promptHash: string;
  readonly inputBytes: number;
}

/** Asks until an answer holds or the tries are used up. A call that throws is a problem, and the last try. */
export async function askModel<T>(
  question: ModelQuestion<T>,
  call: (prompt: string) => Promise<ModelReply>,
): Promise<ModelOutcome<T>> {
  const { text } = question.prompt;
  const promptHash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
  const tooLong = (inputBytes: number): ModelOutcome<T> => {
    const problems = [`The question is too long: ${inputBytes} of ${question.maxInputBytes} bytes.`];
    return { answer: undefined, problems, tries: 0, costUsd: null, tokens: null, promptHash, inputBytes };
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
  let problems: readonly string[] = [];
  let costUsd: number | null = null;
  let tokens: ReplyTokens | null = null;
  let tries = 0;
  let prompt = first;
  while (tries <= question.repairs) {
    tries += 1;
    const reply = await call(prompt).catch((error: unknown) => messageOf(error));
    if (typeof reply === "string") return { answer: undefined, problems: [reply], tries, costUsd, tokens };
    if (reply.costUsd !== null) costUsd = (costUsd ?? 0) + reply.costUsd;
    tokens = plus(tokens, reply.tokens);
    const read = readAnswer(question, reply.text);
    problems = read.problems;
    if (read.answer !== undefined && problems.length === 0) {
      return { answer: read.answer, problems, tries, costUsd, tokens };
    }
    if (question.maxCostUsd !== null && (costUsd ?? 0) >= question.maxCostUsd) break;
    prompt = `${first}\n\n${repairWords(problems)}`;
  }
  return { answer: undefined, problems, tries, costUsd, tokens };
}

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

function repairWords(problems: readonly string[]): string {
  const listed = problems.map((problem) => `- ${problem}`).join("\n");
  return `Your last answer could not be used:\n${listed}\nAnswer again, with one JSON object and nothing else.`;
}

function readAnswer<T>(
  question: ModelQuestion<T>,
  text: string,
): { readonly answer: T | undefined; readonly problems: readonly string[] } {
  const value = jsonOf(text);
  if (value === undefined) return { answer: undefined, problems: ["It is not one JSON object."] };
  const parsed = question.schema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "The answer"}: ${message}`);
    return { answer: undefined, problems: problems.slice(0, 10) };
  }
  return { answer: parsed.data, problems: question.judge(parsed.data) };
}

/** The whole answer as JSON, or as one fenced block of it; JSON somewhere inside of prose is no answer. */
function jsonOf(text: string): unknown {
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
  try {
    return JSON.parse(bare) ?? undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
