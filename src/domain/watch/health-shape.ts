/**
 * Whether what was kept of an agent's health can be used. What cannot is as if it had never been judged: the next look
 * writes it again.
 */
import { hasFields, isBoolean, isCount, isString, maybe, oneOf, tryJson } from "#domain/core/shape.ts";
import { FRESHNESSES } from "./freshness.ts";
import { type AgentHealth, type HealthChange, LIFE_PHASES, RECOMMENDATIONS } from "./health.ts";

const SAID = {
  ...{ attempt: isCount, agent: isString, goalId: isString, workNodeId: isString, status: isString, because: isString },
  ...{ phase: oneOf(LIFE_PHASES), freshness: oneOf(FRESHNESSES), confidence: isCount, diagnosis: isString },
  recommendation: oneOf(RECOMMENDATIONS),
  ...{ next: maybe(isString), nextAt: maybe(isCount), nudges: isCount, nextNudge: maybe(isString) },
};

const isHealth = hasFields({
  ...SAID,
  since: isCount,
  quiet: maybe(hasFields({ mark: isString, since: hasFields({ boot: isString, ms: isCount }), seen: isBoolean })),
});

const isChange = hasFields({ ...SAID, at: isCount, was: maybe(isString) });

/** The health of that attempt in a text; undefined where it cannot be used. */
export function healthIn(text: string, attempt: number): AgentHealth | undefined {
  const value = tryJson(text);
  return isHealth(value) && (value as AgentHealth).attempt === attempt ? (value as AgentHealth) : undefined;
}

export function healthChangeIn(text: string): HealthChange | undefined {
  const value = tryJson(text);
  return isChange(value) ? (value as HealthChange) : undefined;
}
