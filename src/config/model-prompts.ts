/**
 * The texts with which models are asked, by the id under which a use of them is recorded. A file of the same name in
 * `.overseer/prompts/` is used instead of ours; every use is recorded with the hash of what was really used.
 */
import { nearest } from "#domain/core/nearest.ts";
import { OverseerError } from "#errors.ts";
import answerQuestion from "#prompts/models/answer-question.md" with { type: "text" };
import diagnoseStall from "#prompts/models/diagnose-stall.md" with { type: "text" };
import planGoal from "#prompts/models/plan-goal.md" with { type: "text" };
import reimagineChange from "#prompts/models/reimagine-change.md" with { type: "text" };
import resolveConflict from "#prompts/models/resolve-conflict.md" with { type: "text" };
import splitNode from "#prompts/models/split-node.md" with { type: "text" };
import triageFailure from "#prompts/models/triage-failure.md" with { type: "text" };
import { type Ground, PROMPTS_DIR, resolveConfigured } from "./places.ts";
import type { ReadDir } from "./read-dir.ts";

export interface ModelPrompt {
  readonly id: string;
  readonly text: string;
  /** It is the user's own, not ours. */
  readonly own?: true;
}

export const RESOLVE_CONFLICT: ModelPrompt = { id: "resolve-conflict", text: resolveConflict };
export const REIMAGINE_CHANGE: ModelPrompt = { id: "reimagine-change", text: reimagineChange };
export const PLAN_GOAL: ModelPrompt = { id: "plan-goal", text: planGoal };
export const SPLIT_NODE: ModelPrompt = { id: "split-node", text: splitNode };
export const DIAGNOSE_STALL_PROMPT: ModelPrompt = { id: "diagnose-stall", text: diagnoseStall };

export const TRIAGE_FAILURE_PROMPT: ModelPrompt = { id: "triage-failure", text: triageFailure };

export const ANSWER_QUESTION: ModelPrompt = { id: "answer-question", text: answerQuestion };

/** Every text a user may replace. */
export const MODEL_PROMPTS: readonly ModelPrompt[] = [
  ANSWER_QUESTION,
  DIAGNOSE_STALL_PROMPT,
  PLAN_GOAL,
  REIMAGINE_CHANGE,
  RESOLVE_CONFLICT,
  SPLIT_NODE,
  TRIAGE_FAILURE_PROMPT,
];

/** By its id; refused with the nearest name where there is none. */
export function findPromptById(id: string): ModelPrompt {
  const found = MODEL_PROMPTS.find((one) => one.id === id);
  if (found) return found;
  const ids = MODEL_PROMPTS.map((one) => one.id);
  const meant = nearest(id, ids);
  const hint = meant === undefined ? `There are ${ids.join(", ")}.` : `Did you mean ${meant}?`;
  throw new OverseerError("not-found", "PROMPT_UNKNOWN", `There is no prompt "${id.slice(0, 80)}".`, hint);
}

/** As it is printed: a shell has emptied the file already into which that is to be written. */
export async function loadPrintedPrompt(files: ReadDir, ground: Ground, ours: ModelPrompt): Promise<ModelPrompt> {
  const own = await files.read(resolveConfigured(ground, `${PROMPTS_DIR}/${ours.id}.md`).path);
  return own?.trim() === "" ? ours : loadModelPrompt(files, ground, ours);
}

/** The user's own text where there is one, else ours. Throws a config error for one that cannot be used. */
export async function loadModelPrompt(files: ReadDir, ground: Ground, ours: ModelPrompt): Promise<ModelPrompt> {
  const name = `${PROMPTS_DIR}/${ours.id}.md`;
  const own = await files.read(resolveConfigured(ground, name).path);
  if (own === undefined || own === ours.text) return ours;
  const problem = findPromptProblem(own, ours);
  if (problem !== undefined) {
    const hint = `Correct ${name}, or delete it and run 'overseer config accept' to use ours; 'overseer config prompt ${ours.id} --built-in' prints that.`;
    throw new OverseerError("config", "PROMPT_INVALID", `${name}: ${problem}`, hint);
  }
  return { id: ours.id, text: own, own: true };
}

/** Files of that folder that are no text of ours under another name: they would be there for nothing. */
export async function listStrangePrompts(files: ReadDir, ground: Ground): Promise<string[]> {
  const listed = (await files.list(resolveConfigured(ground, PROMPTS_DIR).path)) ?? [];
  const known = MODEL_PROMPTS.map(({ id }) => `${id}.md`);
  return listed
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearest(name, known);
      return `prompts/${name} is not used: ${meant === undefined ? `there are ${known.join(", ")}` : `did you mean ${meant}?`}`;
    });
}

/** A text without a place for its material would ask a model about nothing; a place nobody fills would stay as it is. */
function findPromptProblem(text: string, ours: ModelPrompt): string | undefined {
  const wanted = listPlaces(ours.text);
  const given = listPlaces(text);
  const unknown = given.find((one) => !wanted.includes(one));
  if (unknown !== undefined) {
    const meant = nearest(unknown, wanted);
    return `there is no {{${unknown}}}${meant === undefined ? `; there are ${wanted.map((one) => `{{${one}}}`).join(", ")}` : `; did you mean {{${meant}}}?`}.`;
  }
  const missing = wanted.find((one) => !given.includes(one));
  return missing === undefined ? undefined : `it has no {{${missing}}}, so the model would not be told of it.`;
}

function listPlaces(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name ?? ""))];
}

/** How a text is told apart from another one of its id. */
export function hashPrompt({ text }: Pick<ModelPrompt, "text">): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
}
