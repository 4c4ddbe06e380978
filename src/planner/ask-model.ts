/**
 * The one way to ask a model: a template with an id and a hash, bounded input, an answer in JSON that a schema and a
 * judge accept, and a few tries to repair it with the errors in hand. Whoever calls hands in how the model is reached,
 * so this file knows no program, no clock and no store; it decides when an answer is one.
 */
import type { ZodType } from "zod";
import type { ModelPrompt } from "#config/model-prompts.ts";

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
}

export interface ModelReply {
  readonly text: string;
  readonly costUsd: number | null;
}

export interface ModelOutcome<T> {
  readonly answer: T | undefined;
  /** Why there is none; empty when there is one. */
  readonly problems: readonly string[];
  readonly tries: number;
  readonly costUsd: number | null;
  readonly promptHash: string;
  readonly inputBytes: number;
}

/** Asks until an answer holds or the tries are used up. Throws only what `call` throws. */
export async function askModel<T>(
  question: ModelQuestion<T>,
  call: (prompt: string) => Promise<ModelReply>,
): Promise<ModelOutcome<T>> {
  const first = filled(question.prompt.text, question.values);
  const promptHash = new Bun.CryptoHasher("sha256").update(question.prompt.text).digest("hex").slice(0, 16);
  const inputBytes = Buffer.byteLength(first);
  const state = { tries: 0, costUsd: null as number | null, problems: [] as readonly string[] };
  const outcome = (answer: T | undefined): ModelOutcome<T> => ({ answer, ...state, promptHash, inputBytes });
  if (inputBytes > question.maxInputBytes) {
    state.problems = [`The question is too long: ${inputBytes} of ${question.maxInputBytes} bytes.`];
    return outcome(undefined);
  }
  let prompt = first;
  while (state.tries <= question.repairs) {
    state.tries += 1;
    const reply = await call(prompt);
    if (reply.costUsd !== null) state.costUsd = (state.costUsd ?? 0) + reply.costUsd;
    const read = readAnswer(question, reply.text);
    state.problems = read.problems;
    if (read.answer !== undefined && read.problems.length === 0) return outcome(read.answer);
    if (question.maxCostUsd !== null && (state.costUsd ?? 0) >= question.maxCostUsd) break;
    prompt = `${first}\n\n${repairWords(read.problems)}`;
  }
  return outcome(undefined);
}

/** One pass: what a value holds is material and is not filled in again. */
function filled(text: string, values: Readonly<Record<string, string>>): string {
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
