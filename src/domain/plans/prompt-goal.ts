/** A goal made on the fly from a prompt: one phase, one task, whose objective is the prompt itself (SLING-4). */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Goal, Origin } from "#domain/model/goal.ts";
import { BLANK_DEFINITION } from "#domain/model/goal.ts";
import type { ExecutionHints } from "#domain/model/work.ts";
import type { PlannedNode } from "./plan.ts";
import { DEFAULT_PLAN_LIMITS } from "./plan.ts";
import { createPlannedGoal } from "./planned-goal.ts";
import type { GoalTree } from "./settle.ts";
import { takeTitle } from "./short-name.ts";

export interface PromptWish {
  readonly goalId: string;
  readonly prompt: string;
  readonly tags: readonly string[];
  /** What its title is taken from, where the prompt holds more than words. */
  readonly words?: string;
  /** What its agent needs, where it is not slung at once with all that. */
  readonly hints?: ExecutionHints;
  /** Where it came from, where not from somebody who typed it. */
  readonly origin?: Origin;
}

/** The task that a prompt's goal has. */
export const PROMPTED_NODE = "T1";

/** Answers with the goal as it will stand once the events are written, so that its task can be dispatched in the same breath. */
export function goalFromPrompt(taken: Goal | undefined, wanted: PromptWish, moment: Moment): Decision<GoalTree> {
  const { goalId, prompt, tags } = wanted;
  if (prompt.trim() === "") {
    return refuse("usage", "PROMPT_EMPTY", "The prompt is empty.", 'Say what is to be done: --prompt "…".');
  }
  const title = takeTitle(wanted.words ?? prompt) || "Work given by prompt";
  const definition = { ...BLANK_DEFINITION, title, tags };
  const provenance = { source: "file" as const, rejected: [], raw: "", change: "made from a prompt" };
  const plan = { phases: phasesFor(title, wanted), limits: DEFAULT_PLAN_LIMITS, provenance };
  const { origin = { kind: "prompt" } } = wanted;
  const made = createPlannedGoal(taken, { goalId, definition, origin, repo: {} }, plan, moment);
  return made.ok ? accept(made.events, made.value.tree) : made;
}

function phasesFor(title: string, { prompt, hints = {} }: PromptWish): PlannedNode[] {
  const task: PlannedNode = {
    id: PROMPTED_NODE,
    name: title,
    objective: prompt,
    expectedOutcome: "",
    acceptance: ["What the prompt asks for is done."],
    definitionOfDone: "",
    deps: [],
    blocks: [],
    hints,
    tags: [],
    children: [],
  };
  return [{ ...task, id: "P1", objective: title, hints: {}, children: [task] }];
}
