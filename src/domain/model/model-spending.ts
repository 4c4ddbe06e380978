/**
 * What calls of models have cost, folded from their events: today, by goal, by what was asked for. Part of what budgets
 * and `metrics` show; whether another call is made is model-calls.ts.
 */
import type { Condition, ModelsCondition } from "./condition.ts";
import type { EventOf } from "./event.ts";
import { dayOf, NOTHING_SPENT, type Spent, sum } from "./usage-totals.ts";

/** What a model is asked for where an agent is stuck. */
export const DIAGNOSE_STALL = "diagnose-stall";
/** And where one has died or failed again and again; both count for planner.diagnosesPerHour. */
export const TRIAGE_FAILURE = "triage-failure";

/** More than any tick may start. */
const CALLS_REMEMBERED = 100;

/** What was asked and did not reach a model (too long, held back) has cost nothing and counts as no call. */
export function applyToModels(known: Condition | undefined, event: EventOf<"model.asked">): ModelsCondition {
  const before = known?.kind === "models" ? known : undefined;
  const { purpose, tries, ok, durationMs } = event.data;
  const spent = toSpent(event.data);
  const day = dayOf(event.at);
  const goals = { ...before?.goals };
  if (event.goalId !== undefined && tries > 0) goals[event.goalId] = sum(goals[event.goalId], spent);
  const so = before?.purposes[purpose] ?? { asked: 0, answered: 0, ...NOTHING_SPENT };
  return {
    conditionId: "models",
    kind: "models",
    active: true,
    since: before?.since ?? event.at,
    updatedAt: event.at,
    day,
    spent: sum(before?.day === day ? before.spent : undefined, spent),
    goals,
    purposes: {
      ...before?.purposes,
      [purpose]: { ...sum(so, spent), asked: so.asked + 1, answered: so.answered + (ok ? 1 : 0) },
    },
    lately:
      tries === 0
        ? (before?.lately ?? [])
        : [...(before?.lately ?? []), event.at - durationMs].slice(-CALLS_REMEMBERED),
    ...noteDiagnosis(before, event),
  };
}

/** Nobody is asked about more stalls in an hour than are remembered. */
function noteDiagnosis(
  before: ModelsCondition | undefined,
  { at, data: { purpose, tries } }: EventOf<"model.asked">,
): Pick<ModelsCondition, "diagnoses"> {
  const known = before?.diagnoses ?? [];
  const diagnoses =
    (purpose === DIAGNOSE_STALL || purpose === TRIAGE_FAILURE) && tries > 0
      ? [...known, at].slice(-CALLS_REMEMBERED)
      : known;
  return diagnoses.length === 0 ? {} : { diagnoses };
}

function toSpent({ tries, tokens, costUsd, durationMs }: EventOf<"model.asked">["data"]): Spent {
  if (tries === 0) return NOTHING_SPENT;
  return { ...NOTHING_SPENT, ...tokens, costUsd: costUsd ?? 0, turns: tries, workingMs: durationMs };
}
