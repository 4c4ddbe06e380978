/**
 * An overseer that has only the reports of agents on other machines: the same rules, on what the report carries. It
 * steers those whose own hooks do not; of one that is steered by itself it only takes notice, because two hands on one
 * wheel are worse than none. Pure: files are control/salute-watch.ts's.
 */
import type { PaceLevel } from "#domain/model/role.ts";
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

/** A report as another machine wrote it; undefined when it is none, or one of a form this version does not know. */
export function saluteIn(value: unknown): Salute | undefined {
  const salute = value as Partial<Salute> | null;
  const whole =
    typeof value === "object" &&
    salute?.v === 1 &&
    /^[a-z][a-z0-9-]{0,30}$/.test(salute.unit?.agent ?? "") &&
    Number.isSafeInteger(salute.unit?.attempt) &&
    typeof salute.time?.at === "string" &&
    Array.isArray(salute.status?.anomalies) &&
    Array.isArray(salute.evidence?.course?.calls) &&
    Number.isSafeInteger(salute.rules?.doctrine?.maxStepsWithoutProgress) &&
    (salute.rules?.doctrine?.radioCheckSteps ?? 0) > 0;
  return whole ? (salute as Salute) : undefined;
}
