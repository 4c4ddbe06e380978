/**
 * The tiers that ask a model, once the author has had its rounds or is gone: first with the conflict, then with the
 * change to be made again on top of the target. conservation.ts has the last word on every file.
 */
import { z } from "zod";
import { askWithinBudget, type Held, type ModelAskResult } from "#act/ask-model.ts";
import type { ActParts } from "#act/parts.ts";
import { type ModelPrompt, REIMAGINE_CHANGE, RESOLVE_CONFLICT } from "#config/model-prompts.ts";
import type { Config } from "#config/schema.ts";
import { conservationProblems, type Sides } from "#domain/landing/conservation.ts";
import { bytesOf, type ConflictFile, isOfLines, readSideText, writeBlob } from "#git/conflict.ts";
import type { ModelQuestion } from "#planner/ask-model.ts";
import { type Conflicted, type Foreseen, formatPaths, type Resolution, type SettledFile, type Tier } from "./tier.ts";

export const AI_RESOLVE: Tier = {
  name: "ai-resolve",
  isEnabled: ({ aiResolve }) => aiResolve,
  forecast: (facts) => (fitsModel(facts) ? `A model is asked about ${formatPaths(facts.open)}.` : undefined),
  resolve: (given) => byModel(given, RESOLVE_CONFLICT, "ai-resolve"),
};

export const REIMAGINE: Tier = {
  name: "reimagine",
  isEnabled: ({ reimagine }) => reimagine,
  forecast: (facts) =>
    fitsModel(facts) ? `A model makes the change to ${formatPaths(facts.open)} again on top of the target.` : undefined,
  resolve: (given) => byModel(given, REIMAGINE_CHANGE, "reimagine"),
};

function fitsModel({ open }: Foreseen): boolean {
  return open.every(({ forModel }) => forModel);
}

const ANSWER = z.strictObject({
  content: z.string(),
  superseded: z
    .array(z.strictObject({ side: z.enum(["ours", "theirs"]), line: z.string(), reason: z.string() }))
    .max(200)
    .default([]),
});

/** Each open file by one question to a model; as before as soon as one of them has no answer that holds. */
async function byModel(given: Conflicted, prompt: ModelPrompt, purpose: Tier["name"]): Promise<Conflicted | Held> {
  const { parts, open } = given;
  const settled: SettledFile[] = [...given.settled];
  const found: Resolution[] = [];
  const unresolved = { ...given, asked: true };
  const topics = await topicsOf(given, open);
  for (const [index, topic] of (topics ?? []).entries()) {
    const { file, mode } = topic;
    const first = !given.asked && index === 0;
    const said = await askAbout(given, topic, { prompt, purpose, first });
    if (said.kind !== "answered") return said.kind === "held" ? said : unresolved;
    const oid = await writeBlob(parts.git, parts.root.gitCommonDir, said.answer.content);
    const { path, base, ours, theirs } = file;
    settled.push({ path, mode, oid });
    found.push({ path, base: base?.oid ?? "", ours: ours?.oid ?? "", theirs: theirs?.oid ?? "", result: oid });
  }
  return topics ? { ...given, settled, found, open: [] } : unresolved;
}

/** A file that a model may be asked about. */
interface Topic {
  readonly file: ConflictFile;
  readonly mode: string;
  readonly bytes: number;
  /** Not read where that alone is more than a model is given. */
  readonly sides: Sides;
}

const UNREAD: Sides = { base: "", ours: "", theirs: "" };

interface TopicParts {
  readonly parts: Pick<ActParts, "git" | "root">;
  readonly config: Pick<Config, "planner">;
}

/** Is this a file that a model would be given: of lines, and not too long? */
export async function isForModel(given: TopicParts, file: ConflictFile): Promise<boolean> {
  const [topic] = (await topicsOf(given, [file])) ?? [];
  return topic !== undefined && topic.bytes <= given.config.planner.maxInput;
}

/**
 * Undefined when one of them is nothing for a model: then the others would be asked about in vain. The longest comes
 * first, because it is the one that may be too long.
 */
async function topicsOf({ parts, config }: TopicParts, open: readonly ConflictFile[]): Promise<Topic[] | undefined> {
  const repository = parts.root.gitCommonDir;
  const topics: Topic[] = [];
  for (const file of open) {
    const { base, ours, theirs } = file;
    if (!isOfLines(file) || !ours) return undefined;
    const bytes = await bytesOf(parts.git, repository, [base, ours, theirs]);
    const read = async (side: ConflictFile["base"]) => readSideText(parts.git, repository, side);
    const fits = bytes <= config.planner.maxInput;
    const sides = fits ? { base: await read(base), ours: await read(ours), theirs: await read(theirs) } : UNREAD;
    if (Object.values(sides).some((text: string) => text.includes("\0"))) return undefined;
    topics.push({ file, mode: ours.mode, bytes, sides });
  }
  return topics.sort((one, other) => other.bytes - one.bytes);
}

async function askAbout(
  { parts, config, seen, claim }: Conflicted,
  { file, sides, bytes }: Topic,
  { prompt, purpose, first }: { readonly prompt: ModelPrompt; readonly purpose: string; readonly first: boolean },
): Promise<ModelAskResult<z.infer<typeof ANSWER>>> {
  const { goalId, workNodeId: nodeId } = seen.node;
  const question: ModelQuestion<z.infer<typeof ANSWER>> = {
    prompt,
    values: { ...sides, path: file.path, objective: seen.node.objective },
    atLeastBytes: bytes,
    schema: ANSWER,
    judge: (one) => [
      ...conservationProblems(sides, one.content, one.superseded),
      ...findBrokenJson(file.path, sides, one.content),
    ],
    maxInputBytes: config.planner.maxInput,
    repairs: config.planner.repairs,
    maxCostUsd: config.budgets.agent.cost,
  };
  return askWithinBudget(parts, question, {
    purpose,
    model: config.landing.model,
    timeoutMs: config.landing.modelTimeout,
    about: { goalId, nodeId, assignmentId: claim.assignmentId, agent: claim.agent, attempt: claim.attempt },
    first,
  });
}

/** A file that both sides have as JSON stays JSON. */
function findBrokenJson(path: string, sides: Sides, content: string): string[] {
  const broken = path.endsWith(".json") && isJson(sides.ours) && isJson(sides.theirs) && !isJson(content);
  return broken ? ["The file is JSON, and the result is not."] : [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
