/**
 * What a person has said about recorded work, one line of JSON per finding: that something was wrong with the agent from
 * one call to another, that a sentence to it was wrong, or that a whole session was looked through. It knows how lines
 * are read and written; what they mean for a score is replay-score.ts.
 */

import { ANOMALIES } from "./reflex-rules.ts";

/** What labels may name, beside anomalies of the reflex: how the last words of a turn are to be read. */
export const READ_FROM_WORDS = ["last-words", "provider"] as const;

const NAMES: ReadonlySet<string> = new Set([...ANOMALIES, ...READ_FROM_WORDS]);

/** Something was wrong with the agent, from one call to another. */
export interface WindowLabel {
  readonly what: "window";
  readonly file: string;
  readonly runtime: string;
  readonly anomaly: string;
  readonly from: LabelledCall;
  readonly to: LabelledCall;
  /** Not sure: it counts neither way. */
  readonly sure: boolean;
  /** A person read this sentence and says that it was wrong: nothing was to be said here. */
  readonly wrong: boolean;
  readonly note: string;
  /** The sentence it was said about, where it was one. */
  readonly said?: string;
}

/** By its own name where the line gives it, else by its number in the file, from 1; or the step, where calls have no names. */
export interface LabelledCall {
  readonly id: string | null;
  readonly ordinal: number | null;
  readonly step?: number;
}

/** The whole file was looked through: what is not in a window of it was well. */
export interface ScreenedLabel {
  readonly what: "screened";
  readonly file: string;
  readonly runtime: string;
  readonly calls: number | null;
  readonly hours: number | null;
}

export type Label = WindowLabel | ScreenedLabel;

/** The label of a line; a text says why it is none. Undefined: there is nothing in the line. */
export function readLabel(line: string): Label | string | undefined {
  if (line.trim() === "") return undefined;
  const value = objectIn(line);
  if (value === undefined) return "it is not JSON";
  const { file, kind, anomaly } = value;
  if (typeof file !== "string" || file === "") return "it names no file";
  const runtime = typeof kind === "string" ? kind : "";
  if (value.screened === true) {
    return { what: "screened", file, runtime, calls: numberIn(value.calls), hours: numberIn(value.hours) };
  }
  if (typeof anomaly !== "string" || anomaly === "") return "it names no anomaly";
  if (!NAMES.has(anomaly)) return `it names no anomaly that is known: ${JSON.stringify(anomaly.slice(0, 40))}`;
  const step = numberIn(value.step);
  const atStep = step === null ? undefined : { id: null, ordinal: null, step };
  const from = callIn(value.fromId, value.from) ?? atStep;
  const to = callIn(value.toId ?? value.fromId, value.to ?? value.from) ?? atStep;
  if (from === undefined || to === undefined) return "it names no calls (from and to)";
  return {
    what: "window",
    file,
    runtime,
    anomaly,
    from,
    to,
    sure: value.certainty !== "maybe",
    wrong: value.wrong === true,
    note: typeof value.note === "string" ? value.note : "",
    ...(typeof value.said === "string" ? { said: value.said } : {}),
  };
}

/** Of what was said about one sentence the last word counts. */
export function withoutOvertaken(labels: readonly Label[]): readonly Label[] {
  const last = new Map(labels.flatMap((label) => (isAboutSentence(label) ? [[nameOf(label), label] as const] : [])));
  return labels.filter((label) => !isAboutSentence(label) || last.get(nameOf(label)) === label);
}

function isAboutSentence(label: Label): label is WindowLabel {
  return label.what === "window" && label.said !== undefined;
}

function nameOf({ file, said }: WindowLabel): string {
  return `${said} ${file}`;
}

/** The line of a label, as `readLabel` understands it. */
export function writeLabel(label: WindowLabel): string {
  const { file, runtime: kind, anomaly, from, to, sure, wrong, note, said } = label;
  return JSON.stringify({
    file,
    kind,
    anomaly,
    from: from.ordinal === null ? undefined : `#${from.ordinal}`,
    to: to.ordinal === null ? undefined : `#${to.ordinal}`,
    fromId: from.id ?? undefined,
    toId: to.id ?? undefined,
    step: from.step,
    certainty: sure ? "sure" : "maybe",
    wrong: wrong || undefined,
    said,
    note: note === "" ? undefined : note,
  });
}

function objectIn(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function numberIn(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function callIn(id: unknown, place: unknown): LabelledCall | undefined {
  const number = typeof place === "number" ? place : Number(/^#?(\d+)$/.exec(String(place ?? ""))?.[1] ?? Number.NaN);
  const ordinal = Number.isInteger(number) ? number : null;
  const named = typeof id === "string" && id !== "" ? id : null;
  return named === null && ordinal === null ? undefined : { id: named, ordinal };
}
