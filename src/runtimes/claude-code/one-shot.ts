/**
 * How the answer of a one-shot call is understood: the result line that Claude Code, and the scripted agent with it,
 * prints with `--output-format json`. Failures of the provider come as results too, so a call that was given up because
 * of a limit is told apart from an answer: nothing is wrong with the question, only with the moment.
 */
import { messageOf, OverseerError } from "#errors.ts";
import { type Json, jsonObject, numberOf, objectOf } from "#runtimes/json.ts";
import type { OneShotAnswer, OneShotLimit } from "#runtimes/runtime.ts";
import { apiFailure } from "./stream.ts";
import { wireTokens } from "./wire.ts";

export function parseOneShotAnswer(stdout: string): OneShotAnswer | OneShotLimit {
  try {
    const line = jsonObject(stdout.trim());
    if (line === undefined) throw new Error(stdout.trim() === "" ? "it said nothing" : `it said ${excerpt(stdout)}`);
    if (line.is_error === true) return toLimitOrThrow(line);
    if (typeof line.result !== "string") throw new Error(`it said ${excerpt(stdout)}`);
    const costUsd = typeof line.total_cost_usd === "number" ? numberOf(line.total_cost_usd) : null;
    return { text: line.result, costUsd, tokens: line.usage === undefined ? null : wireTokens(objectOf(line.usage)) };
  } catch (error) {
    throw new OverseerError(
      "environment",
      "ANSWER_UNREADABLE",
      `The agent's answer could not be read: ${messageOf(error)}.`,
      "Try again; 'overseer doctor' shows whether the agent CLI works.",
      { cause: error },
    );
  }
}

function toLimitOrThrow(line: Json): OneShotLimit {
  const said = typeof line.result === "string" ? line.result : "";
  const { cause, detail, resetsAt } = apiFailure(line, said, null);
  if (cause === "quota") return { limited: { resetsAt, detail } };
  throw new Error(detail === "" ? "it failed without a word" : `it failed: ${detail}`);
}

function excerpt(text: string): string {
  return text.trim().slice(0, 200);
}
