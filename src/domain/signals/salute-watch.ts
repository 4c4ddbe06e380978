/**
 * An overseer that has only the reports of agents on other machines: the same rules, on what the report carries. It
 * steers those whose own hooks do not; of one that is steered by itself it only takes notice, because two hands on one
 * wheel are worse than none. Pure: files are control/salute-watch.ts's.
 */
import { hasFields, isBoolean, isCount, isListOf, isString, maybe, oneOf } from "#domain/core/shape.ts";
import { PACE_LEVELS, type PaceLevel } from "#domain/model/role.ts";
import { isCourse } from "./pulse-shape.ts";
import type { Steering } from "./reflex.ts";
import { decideSteering } from "./reflex.ts";
import { NEW_COURSE } from "./reflex-course.ts";
import type { Salute } from "./salute.ts";

/** What is remembered of one agent between two looks. */
export interface Overlooked {
  readonly attempt: number;
  /** The report that was last judged. */
  readonly reportedAt: string;
  /** When a new report last came, by the overseer's own clock. */
  readonly changedAt: number;
  /** The step at which was last steered about what. */
  readonly steered: Readonly<Record<string, number>>;
  /** And how many times on end. */
  readonly told?: Readonly<Record<string, number>>;
  /** And about which failures. */
  readonly voiced?: Readonly<Record<string, readonly string[]>>;
  readonly standing: string;
  readonly pace?: PaceLevel;
  readonly silent: boolean;
}

export interface Overlooking {
  readonly memory: Overlooked;
  /** For a person to read. */
  readonly notes: readonly string[];
  /** To be left for the agent's hook. */
  readonly steering: Steering | undefined;
  readonly emergency: boolean;
  /** It was seen on its way before this emergency: an earlier one of the same attempt is another. */
  readonly isAnother: boolean;
  /** It has ended, or its side is gone: what was left for it and not taken is taken away. */
  readonly over: boolean;
}

export function overlook(
  before: Overlooked | undefined,
  salute: Salute,
  now: number,
  { goneAfterMs, maySteer = true }: { readonly goneAfterMs: number; readonly maySteer?: boolean },
): Overlooking {
  const { unit, status, time, evidence, rules } = salute;
  const label = `${unit.agent}#${unit.attempt}`;
  const known = before?.attempt === unit.attempt ? before : undefined;
  const news = known?.reportedAt !== time.at;
  const standing = `${status.state}, ${status.health}, PACE ${status.pace}`;
  const memory: Overlooked = {
    attempt: unit.attempt,
    reportedAt: time.at,
    changedAt: news ? now : (known?.changedAt ?? now),
    steered: known?.steered ?? {},
    told: known?.told ?? {},
    ...(known?.voiced === undefined ? {} : { voiced: known.voiced }),
    standing,
    pace: status.pace,
    silent: false,
  };
  const nothing = { memory, notes: [], steering: undefined, emergency: false, isAnother: false, over: false };
  if (status.state === "ended") {
    return { ...nothing, over: true, notes: known?.standing === standing ? [] : [`${label} has ended.`] };
  }
  if (now - memory.changedAt >= goneAfterMs) {
    const note = `${label} has not reported for ${Math.round((now - memory.changedAt) / 1000)} s: its host may be gone.`;
    return { ...nothing, memory: { ...memory, silent: true }, over: true, notes: known?.silent ? [] : [note] };
  }
  if (!news) return nothing;
  const course = evidence.course ?? NEW_COURSE;
  const steered = { ...course.steered, ...memory.steered };
  const told = { ...course.told, ...memory.told };
  const judged = { ...evidence, course: { ...course, steered, told, voiced: { ...course.voiced, ...memory.voiced } } };
  const steering = status.reflex || !maySteer ? undefined : decideSteering(judged, rules, true);
  const what = status.anomalies.length === 0 ? "" : ` (${status.anomalies.join(", ")})`;
  const isShown = known === undefined && !status.reflex && !maySteer;
  const changed = [
    ...(known?.standing === standing ? [] : [`${label}: ${standing}${what}`]),
    ...(isShown ? [`${label} is only shown: neither policy.allowAgents nor --allow names it.`] : []),
  ];
  return {
    ...nothing,
    memory: steering ? afterTelling(memory, steering) : memory,
    notes: steering ? [...changed, `${label} is told: ${steering.text}`] : changed,
    steering,
    emergency: status.pace === "emergency",
    isAnother: known?.pace !== undefined && known.pace !== "emergency",
  };
}

function afterTelling(memory: Overlooked, { anomaly, step, times = 1, about }: Steering): Overlooked {
  return {
    ...memory,
    steered: { ...memory.steered, [anomaly]: step },
    told: { ...memory.told, [anomaly]: times },
    ...(about === undefined ? {} : { voiced: { ...memory.voiced, [anomaly]: about } }),
  };
}

const isSalute = hasFields({
  size: hasFields({ steps: isCount, turns: isCount, toolCalls: isCount }),
  unit: hasFields({
    ...{ agent: isString, attempt: isCount, role: isString, capability: isString, goalId: isString },
    ...{ workNodeId: isString, task: isString },
  }),
  time: hasFields({ at: isString, startedAt: maybe(isString) }),
  status: hasFields({
    ...{
      state: isString,
      health: isString,
      pace: oneOf(PACE_LEVELS),
      anomalies: isListOf(isString),
      reflex: isBoolean,
    },
  }),
  evidence: hasFields({
    ...{ contextTokens: isCount, contextWindow: maybe(isCount), compactReserve: maybe(isCount), course: isCourse },
  }),
  rules: hasFields({
    ...{ role: isString, readOnly: isBoolean, cooldownSteps: isCount, contextWarn: isCount, contextUrgent: isCount },
    ...{ loopRepeats: isCount, cascadeTools: isCount, cascadeWindow: isCount },
    doctrine: hasFields({ saluteIntervalSteps: isCount, maxStepsWithoutProgress: isCount, radioCheckSteps: isCount }),
    pace: hasFields(Object.fromEntries(PACE_LEVELS.map((level) => [level, isString]))),
  }),
});

/** A report as another machine wrote it; undefined when it is none, or one of a form this version does not know. */
export function saluteIn(value: unknown): Salute | undefined {
  if (!isSalute(value)) return undefined;
  const salute = value as Salute;
  const { unit, rules } = salute;
  const isKnown =
    salute.v === 1 &&
    /^[a-z][a-z0-9-]{0,30}$/.test(unit.agent) &&
    Number.isSafeInteger(unit.attempt) &&
    Number.isSafeInteger(rules.doctrine.maxStepsWithoutProgress) &&
    rules.doctrine.radioCheckSteps > 0;
  return isKnown ? salute : undefined;
}
