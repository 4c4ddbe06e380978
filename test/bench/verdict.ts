/**
 * What a measurement says: the figure in the unit of its aim, whether the aim holds, and the words for both. Also when
 * a run was disturbed. Pure, so that a table test holds it.
 */
import type { Aim, RowOf, Unit } from "./aims.ts";
import type { Measured } from "./row.ts";

/** `informs` has no aim, `absent` nothing to measure yet, `failed` no figure although there should be one. */
export type Verdict = "holds" | "short" | "informs" | "absent" | "failed";

/** One row of a run, as it is kept in the history. */
export interface Result {
  readonly name: string;
  readonly aim: Aim;
  readonly verdict: Verdict;
  /** In the unit of the aim; null where nothing was measured. */
  readonly value: number | null;
  readonly workMs?: number;
  readonly floorMs?: number;
  readonly turns?: number;
  readonly note?: string;
}

export function resultOf({ name, aim }: Pick<RowOf, "name" | "aim">, measured: Measured | Error): Result {
  if (measured instanceof Error) return { name, aim, verdict: "failed", value: null, note: measured.message };
  if ("absent" in measured) return { name, aim, verdict: "absent", value: null, note: measured.absent };
  const { turns, note } = measured;
  const said = note === undefined ? {} : { note };
  if ("value" in measured) {
    return { name, aim, verdict: verdictOf(aim, measured.value), value: rounded(measured.value), turns, ...said };
  }
  const ratio = measured.workMs / measured.floorMs;
  const [workMs, floorMs] = [rounded(measured.workMs), rounded(measured.floorMs)];
  return { name, aim, verdict: verdictOf(aim, ratio), value: rounded(ratio), workMs, floorMs, turns, ...said };
}

export function verdictOf({ most, least }: Aim, value: number): Verdict {
  if (!Number.isFinite(value)) return "failed";
  if (most === undefined && least === undefined) return "informs";
  // Judged as it is printed: nobody should read "2.50 of at most 2.5" and find it short.
  const shown = rounded(value, 2);
  return shown <= (most ?? Number.POSITIVE_INFINITY) && shown >= (least ?? 0) ? "holds" : "short";
}

const rounded = (value: number, digits = 3) => Number(value.toFixed(digits));

export function aimText({ unit, most, least }: Aim): string {
  if (most !== undefined) return `≤ ${figure(most, unit, false)}`;
  return least === undefined ? "none" : `≥ ${figure(least, unit, false)}`;
}

export function valueText({ value, aim, verdict }: Pick<Result, "value" | "aim" | "verdict">): string {
  return value === null ? verdict : figure(value, aim.unit, true);
}

/** What stands behind the figure. */
export function behindText({ workMs, floorMs, turns, note }: Result): string {
  const both = workMs === undefined || floorMs === undefined ? [] : [`${span(workMs)} to ${span(floorMs)}`];
  const often = turns === undefined || turns === 1 ? [] : [`${turns} turns`];
  return [...both, ...often, ...(note === undefined ? [] : [note])].join(", ");
}

function figure(value: number, unit: Unit, measured: boolean): string {
  const plain = (digits: number) =>
    value.toLocaleString("en", { minimumFractionDigits: measured ? digits : 0, maximumFractionDigits: digits });
  if (unit === "×") return `${plain(2)} ×`;
  if (unit === "ms") return span(value, measured);
  if (unit === "%") return `${plain(2)} %`;
  if (unit === "MB") return `${plain(1)} MB`;
  return unit === "/s" ? `${plain(0)} /s` : `${plain(1)} a tick`;
}

function span(ms: number, measured = true): string {
  const [value, unit, digits] = ms >= 1_000 ? [ms / 1000, "s", 2] : [ms, "ms", 1];
  const shown = { minimumFractionDigits: measured ? digits : 0, maximumFractionDigits: digits };
  return `${value.toLocaleString("en", shown)} ${unit}`;
}

export interface Load {
  readonly cores: number;
  readonly before: number;
  readonly after: number;
}

/** The bench itself is one busy process, at times two; what goes beyond that was somebody else. */
const OWN_LOAD = 1.5;

/** Why a run should not be trusted, or null. Ratios bear a little company, wall time and percentages do not. */
export function disturbance({ cores, before, after }: Load): string | null {
  if (before > cores / 2) return `the machine was busy before it began (load ${before.toFixed(2)} on ${cores} cores)`;
  if (after > cores / 2 + OWN_LOAD) return `something else ran beside it (load ${after.toFixed(2)} at the end)`;
  return null;
}

/** How many of each verdict, the good ones first. */
export function tally(results: readonly Pick<Result, "verdict">[]): string {
  const order: readonly Verdict[] = ["holds", "short", "failed", "absent", "informs"];
  const words: Record<Verdict, string> = {
    holds: "hold",
    short: "fall short",
    failed: "failed",
    absent: "have nothing to measure yet",
    informs: "have no aim",
  };
  return order
    .map((verdict) => [verdict, results.filter((one) => one.verdict === verdict).length] as const)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${count} ${words[verdict]}`)
    .join(", ");
}
