/** A goal made on the fly from a prompt: one phase, one task, whose objective is the prompt itself (SLING-4). */
import type { Moment } from "./actor.ts";
import type { EventOf } from "./event.ts";
import type { Goal } from "./goal.ts";
import { applyToGoal, BLANK_DEFINITION, createGoal } from "./goal.ts";
import type { PlannedNode } from "./plan.ts";
import { acceptPlan, DEFAULT_PLAN_LIMITS } from "./plan.ts";
import type { Decision } from "./refusal.ts";
import { accept, refuse } from "./refusal.ts";
import { settled } from "./settle.ts";

export interface PromptedNode {
  readonly goalId: string;
  readonly nodeId: string;
}

export function goalFromPrompt(
  taken: Goal | undefined,
  wanted: { readonly goalId: string; readonly prompt: string; readonly tags: readonly string[] },
  moment: Moment,
): Decision<PromptedNode> {
  const { goalId, prompt, tags } = wanted;
  if (prompt.trim() === "") {
    return refuse("usage", "PROMPT_EMPTY", "The prompt is empty.", 'Say what is to be done: --prompt "…".');
  }
  const title = titleOf(prompt);
  const definition = { ...BLANK_DEFINITION, title, tags };
  const made = createGoal(taken, { goalId, definition, origin: { kind: "prompt" }, repo: {} }, moment);
  if (!made.ok) return made;
  const goal = made.events.reduce<Goal | undefined>(
    (known, event) => applyToGoal(known, { ...event, seq: 0, at: moment.now, v: 1 } as EventOf),
    undefined,
  );
  if (!goal) return refuse("conflict", "GOAL_EXISTS", `Goal ${goalId} exists already.`, "Run the command again.");
  const provenance = { source: "file" as const, rejected: [], raw: "", change: "made from a prompt" };
  const planned = settled(
    { goal, nodes: [] },
    acceptPlan(goal, [], phasesFor(title, prompt), DEFAULT_PLAN_LIMITS, provenance, moment),
    moment,
  );
  if (!planned.ok) return planned;
  return accept([...made.events, ...planned.events], { goalId, nodeId: "T1" });
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
    id: "T1",
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
