/** A goal made on the fly from a prompt: one phase, one task, whose objective is the prompt itself (SLING-4). */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Goal } from "#domain/model/goal.ts";
import { BLANK_DEFINITION } from "#domain/model/goal.ts";
import type { PlannedNode } from "./plan.ts";
import { DEFAULT_PLAN_LIMITS } from "./plan.ts";
import { createPlannedGoal } from "./planned-goal.ts";
import type { GoalTree } from "./settle.ts";

export interface PromptWish {
  readonly goalId: string;
  readonly prompt: string;
  readonly tags: readonly string[];
}

/** The task that a prompt's goal has. */
export const PROMPTED_NODE = "T1";

/** Answers with the goal as it will stand once the events are written, so that its task can be dispatched in the same breath. */
export function goalFromPrompt(taken: Goal | undefined, wanted: PromptWish, moment: Moment): Decision<GoalTree> {
  const { goalId, prompt, tags } = wanted;
  if (prompt.trim() === "") {
    return refuse("usage", "PROMPT_EMPTY", "The prompt is empty.", 'Say what is to be done: --prompt "…".');
  }
  const title = titleOf(prompt);
  const definition = { ...BLANK_DEFINITION, title, tags };
  const provenance = { source: "file" as const, rejected: [], raw: "", change: "made from a prompt" };
  const plan = { phases: phasesFor(title, prompt), limits: DEFAULT_PLAN_LIMITS, provenance };
  const made = createPlannedGoal(taken, { goalId, definition, origin: { kind: "prompt" }, repo: {} }, plan, moment);
  return made.ok ? accept(made.events, made.value.tree) : made;
}

/** The first line that says something, as a title may be. */
function titleOf(prompt: string): string {
  const line = prompt.split("\n").find((text) => text.trim() !== "") ?? "";
  return (
    line
      .replace(/\p{Cc}/gu, " ")
      .trim()
      .slice(0, 120) || "Work given by prompt"
  );
}

function phasesFor(title: string, prompt: string): PlannedNode[] {
  const task: PlannedNode = {
    id: PROMPTED_NODE,
    name: title,
    objective: prompt,
    expectedOutcome: "",
    acceptance: ["What the prompt asks for is done."],
    definitionOfDone: "",
    deps: [],
    blocks: [],
    hints: {},
    tags: [],
    children: [],
  };
  return [{ ...task, id: "P1", objective: title, children: [task] }];
}
