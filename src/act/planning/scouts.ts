/**
 * Questions about the repository that are answered before a plan is made: each by one more question to a model, with the
 * files that it names, as git has them. Nothing is run and nothing is written; what nobody can answer is said to be so.
 */
import { z } from "zod";
import { askWithinBudget, type Held, type ModelCall } from "#act/ask-model.ts";
import type { ActParts } from "#act/parts.ts";
import { ANSWER_QUESTION } from "#config/model-prompts.ts";
import { findNamedPaths } from "#domain/plans/named-paths.ts";
import { asMaterial } from "#domain/plans/plan-material.ts";
import { readTextAt } from "#git/commit-contents.ts";
import { clip } from "#telemetry/bounds.ts";
import { redact } from "#telemetry/redact.ts";

const ANSWER = z.strictObject({ answer: z.string().min(1).max(4_000) });

/** What is kept of one answer, so that the plan's own question stays short enough. */
const MOST_ANSWER_BYTES = 2_000;
const MOST_FILES = 5;

export interface ScoutParts {
  readonly parts: ActParts;
  /** The commit that is looked at, and every path it has. */
  readonly base: string;
  readonly tracked: readonly string[];
  /** What the repository looks like. */
  readonly repository: string;
  readonly maxInputBytes: number;
  readonly call: ModelCall;
}

/** Questions and answers as text; held as soon as nobody may be asked. */
export async function askScouts(given: ScoutParts, questions: readonly string[]): Promise<string | Held> {
  const found: string[] = [];
  for (const question of questions) {
    const said = await askWithinBudget(
      given.parts,
      {
        prompt: ANSWER_QUESTION,
        values: {
          question: asMaterial(redact(question)),
          repository: clip(given.repository, Math.floor(given.maxInputBytes / 4)),
          files: await readNamedFiles(given, question),
        },
        schema: ANSWER,
        judge: () => [],
        maxInputBytes: given.maxInputBytes,
        repairs: 1,
        maxCostUsd: null,
      },
      { ...given.call, purpose: "scout" },
    );
    if (said.kind === "held") return said;
    const answer = said.kind === "answered" ? said.answer.answer : "(nobody could answer that)";
    found.push(`Question: ${question}\nAnswer: ${clip(redact(answer), MOST_ANSWER_BYTES)}`);
  }
  return found.join("\n\n");
}

async function readNamedFiles(given: ScoutParts, question: string): Promise<string> {
  const { parts, base, tracked, maxInputBytes } = given;
  const paths = findNamedPaths(question, tracked).slice(0, MOST_FILES);
  const room = Math.floor(maxInputBytes / 2 / Math.max(1, paths.length));
  const texts = await Promise.all(
    paths.map(async (path) => {
      const text = await readTextAt(parts.git, parts.root.gitCommonDir, base, path, room);
      return text === undefined ? [] : [`File ${path}:\n${clip(redact(text), room)}`];
    }),
  );
  return asMaterial(texts.flat().join("\n\n"));
}
