/**
 * A goal somebody asked for in a sentence, for which a model is asked for the plan (DO-1). Goal, wish and limit are one
 * decision: whoever is killed in between has begun all of it or nothing, and no model is asked before the limit holds.
 */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { Goal, RepoSnapshot } from "#domain/model/goal.ts";
import { applyToGoal, BLANK_DEFINITION, createGoal } from "#domain/model/goal.ts";
import { requestPlan, type WantedPlan } from "./planning.ts";
import { takeTitle } from "./short-name.ts";

export interface SentenceWish {
  readonly goalId: string;
  readonly text: string;
  /** What it may cost in US dollars; null for what is configured. */
  readonly limit: number | null;
  readonly repo: RepoSnapshot;
  readonly wanted: WantedPlan;
}

/** How one knows the goals that `overseer do` began. */
export const SENTENCE_ORIGIN = "do";

export function goalFromSentence(taken: Goal | undefined, wish: SentenceWish, moment: Moment): Decision<number> {
  const { goalId, repo, limit } = wish;
  const text = wish.text.trim();
  const title = takeTitle(text);
  if (title === "") {
    return refuse("usage", "SENTENCE_EMPTY", "Nothing to do was said.", 'Say it in a sentence: overseer do "…".');
  }
  if (limit !== null && moment.actor.startsWith("agent:")) {
    const hint = "Leave out --budget.";
    return refuse("conflict", "BUDGET_NOT_YOURS", "An agent does not say what work may cost; a person does.", hint);
  }
  const definition = { ...BLANK_DEFINITION, title, problemStatement: text === title ? "" : text };
  const made = createGoal(taken, { goalId, definition, origin: { kind: SENTENCE_ORIGIN }, repo }, moment);
  if (!made.ok) return made;
  const goal = made.events.reduce<Goal | undefined>(
    (known, event) => applyToGoal(known, { ...event, seq: 0, at: moment.now, v: 1 } as EventOf),
    undefined,
  );
  if (!goal) throw new Error("creating a goal made none");
  const wanted = requestPlan(goal, wish.wanted, moment);
  if (!wanted.ok) return wanted;
  return accept([...made.events, ...limitCost(goalId, limit, moment), ...wanted.events], wanted.value);
}

function limitCost(goalId: string, limit: number | null, { actor }: Moment): NewEvent[] {
  if (limit === null) return [];
  const data = { scope: `goal:${goalId}`, limit: { cost: limit } };
  return [{ type: "budget.limited", actor, goalId, because: "asked-for", data }];
}
