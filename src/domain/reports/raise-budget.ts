/**
 * A person grants more than a budget allows: by a command for one node or goal, or as the answer to the question that a
 * spent budget asked. An answer that could not be followed is refused instead of being taken: the question would be gone,
 * and the agents paused for ever.
 */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import {
  allowanceOf,
  CONTINUE_ANSWER,
  describeAmount,
  LEAVE_ANSWER,
  STOP_ANSWER,
  scopeToRaise,
} from "#domain/model/budget-words.ts";
import type { BudgetCondition, Condition } from "#domain/model/condition.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { ALLOWANCE_KEYS, type Allowance, type Spendable } from "#domain/model/limits.ts";

/** From now on at least so much. Agents do not grant themselves anything. */
export function raiseBudget(
  scope: string,
  raised: Partial<Allowance>,
  about: { readonly goalId?: string; readonly nodeId?: string },
  conditions: readonly Condition[],
  moment: Moment,
): Decision<string> {
  if (moment.actor.startsWith("agent:")) {
    const hint = "Ask for it: overseer ask <question>.";
    return refuse("conflict", "BUDGET_NOT_YOURS", "An agent cannot raise a budget; a person does.", hint);
  }
  if (Object.values(raised).every((one) => one === undefined || one === 0)) {
    return refuse("usage", "BUDGET_EMPTY", "Nothing to raise.", "Say how much: --tokens 2M, --cost 10 or --time 3h.");
  }
  for (const one of conditions) {
    if (one.kind !== "budget" || !one.active || one.what === undefined || scopeToRaise(one) !== scope) continue;
    const raisedTo = raised[ALLOWANCE_KEYS[one.what]];
    const spent = countSpent(one, moment.now);
    if (typeof raisedTo === "number" && raisedTo <= spent) return refuseAsSpent(one.what, spent, raisedTo);
  }
  return accept([makeRaise(scope, raised, about, "raised-by-hand", moment)], scope);
}

function makeRaise(
  scope: string,
  raised: Partial<Allowance>,
  about: { readonly goalId?: string; readonly nodeId?: string },
  because: string,
  moment: Moment,
): NewEvent {
  return { type: "budget.raised", actor: moment.actor, ...about, because, data: { scope, raised } };
}

/** The spent budget that this question is about; undefined for any other question, and when it binds no more. */
export function findAskedBudget(conditions: readonly Condition[], questionId: string): BudgetCondition | undefined {
  const found = conditions.find((one) => one.kind === "budget" && one.active && one.questionId === questionId);
  return found?.kind === "budget" ? found : undefined;
}

export interface BudgetAnswer {
  readonly events: readonly NewEvent[];
  /** The attempt that is to be stopped, its work the person's. */
  readonly stops: number | null;
}

/** What the words of a person mean for a spent budget, besides ending its question. */
export function answerAboutBudget(budget: BudgetCondition, answer: string, moment: Moment): Decision<BudgetAnswer> {
  const { what = "tokens", limit = 0 } = budget;
  const plain = answer.trim().toLowerCase();
  if (plain === LEAVE_ANSWER) return accept([], { events: [], stops: null });
  const stops = attemptOf(budget);
  if (plain === STOP_ANSWER && stops !== null) return accept([], { events: [], stops });
  const spent = countSpent(budget, moment.now);
  const wanted = plain === CONTINUE_ANSWER ? { by: true, amount: limit } : parseRaise(plain, what);
  if (wanted === undefined) {
    return refuse(
      "usage",
      "ANSWER_NOT_UNDERSTOOD",
      `That does not say what becomes of the budget: ${answer.slice(0, 80)}`,
      `Answer "${CONTINUE_ANSWER}", "raise by …" or "raise to …" with ${UNITS[what]}, ${stops === null ? "" : `"${STOP_ANSWER}" `}or "${LEAVE_ANSWER}".`,
    );
  }
  const raisedTo = wanted.by ? Math.max(spent, limit) + wanted.amount : wanted.amount;
  if (raisedTo <= spent) return refuseAsSpent(what, spent, raisedTo);
  const [goalId, nodeId] = budget.node?.split("/") ?? [
    budget.scope.startsWith("goal:") ? budget.scope.slice("goal:".length) : undefined,
  ];
  const about = { ...(goalId === undefined ? {} : { goalId }), ...(nodeId === undefined ? {} : { nodeId }) };
  const event = makeRaise(scopeToRaise(budget), allowanceOf(what, raisedTo), about, "a-person-answered", moment);
  return accept([], { events: [event], stops: null });
}

function refuseAsSpent(what: Spendable, spent: number, raisedTo: number): Decision<never> {
  return refuse(
    "usage",
    "BUDGET_STILL_SPENT",
    `${describeAmount(what, spent)} are spent already, so ${describeAmount(what, raisedTo)} would change nothing.`,
    `Say more than that; an answer may also say "raise by …".`,
  );
}

const UNITS: Readonly<Record<Spendable, string>> = {
  tokens: "a number of tokens like 500k or 2M",
  cost: "US dollars like 5",
  time: "a duration like 90m or 2h",
};

function attemptOf({ scope }: BudgetCondition): number | null {
  return scope.startsWith("agent:") ? Number(scope.slice("agent:".length)) : null;
}

/** Time passes while an agent is paused, and counts. */
function countSpent({ what, spent = 0, spentAt = 0 }: BudgetCondition, now: number): number {
  return what === "time" ? spent + Math.max(0, now - spentAt) : spent;
}

const RAISE = /^(?:raise (by|to) |(\+))\s*(.+)$/;
const AMOUNTS: Readonly<
  Record<Spendable, { readonly form: RegExp; readonly units: Readonly<Record<string, number>> }>
> = {
  tokens: { form: /^(\d+(?:\.\d+)?) ?([km]?)(?: tokens?)?$/, units: { "": 1, k: 1e3, m: 1e6 } },
  cost: { form: /^(?:\$ ?)?(\d+(?:\.\d+)?) ?(|\$|usd|dollars?)$/, units: {} },
  time: { form: /^(\d+(?:\.\d+)?) ?(s|m|min|h|d)$/, units: { s: 1e3, m: 6e4, min: 6e4, h: 36e5, d: 864e5 } },
};

/** `raise by 500k`, `+2h`, `raise to $20`; undefined for anything else. */
function parseRaise(text: string, what: Spendable): { readonly by: boolean; readonly amount: number } | undefined {
  const [, word, plus, rest = ""] = RAISE.exec(text) ?? [];
  const amount = parseAmount(rest, what);
  if (amount === undefined || (word === undefined && plus === undefined)) return undefined;
  return { by: word !== "to", amount };
}

/** What a person means by an amount of this; undefined for what is none. */
export function parseAmount(text: string, what: Spendable): number | undefined {
  const { form, units } = AMOUNTS[what];
  const [, number, unit = ""] = form.exec(text.trim().toLowerCase()) ?? [];
  const amount = number === undefined ? Number.NaN : Number(number) * (units[unit] ?? 1);
  // What cannot be counted any more is a slip of the finger, and infinite would be stored as no limit at all.
  return amount <= Number.MAX_SAFE_INTEGER ? amount : undefined;
}
