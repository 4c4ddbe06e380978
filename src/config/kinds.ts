/**
 * The few kinds of values a configuration key can have. Each builder takes the default and one sentence for people and
 * gives a zod schema that knows both, so that schema.ts reads like a document and nothing is said twice.
 * Defaults are written as a user would write them ("2m"); what comes out is what code wants (120000).
 * A key that may be left unset is null, never absent: `config show` can then always name every key.
 */
import { z } from "zod";
import { DURATION_PATTERN, formatDuration, formatSize, parseDuration, parseSize, SIZE_PATTERN } from "./units.ts";

/** How the kind of a key is carried through the JSON Schema, where editors overlook it and `explain` reads it. */
export const KIND = "x-kind";
/** Likewise the bounds of durations and sizes, which JSON Schema cannot compare. */
export const BOUNDS = "x-bounds";
/** Likewise a name or value the example file may show where there is no default. */
export const SAMPLE = "x-sample";
export type Kind = "duration" | "size" | "number" | "switch" | "choice" | "text" | "list" | "map" | "group";

interface Bounds<T> {
  readonly min?: T;
  readonly max?: T;
}

/** Nothing here waits longer than a year; a longer span is a slip of the pen. */
const LONGEST = "365d";

export function duration(fallback: string, description: string, bounds: Bounds<string> = {}) {
  return durationText(bounds).prefault(fallback).meta(durationMeta(description, bounds));
}

export function durationOrNone(description: string, bounds: Bounds<string> = {}) {
  return durationText(bounds).nullable().prefault(null).meta(durationMeta(description, bounds));
}

export function size(fallback: string, description: string, bounds: Bounds<string> = {}) {
  const inner = unitText({ parse: parseSize, print: formatSize, example: "16KB", what: "a size", bounds });
  const meta = { description, [KIND]: "size", [BOUNDS]: bounds, pattern: SIZE_PATTERN.source };
  return inner.prefault(fallback).meta(meta);
}

export function count(fallback: number, description: string, bounds: Bounds<number> = {}) {
  return wholeNumber(bounds).default(fallback).meta(numberMeta(description));
}

export function countOrNone(description: string, bounds: Bounds<number> = {}) {
  return wholeNumber(bounds).nullable().default(null).meta(numberMeta(description));
}

/** A number that need not be whole: a factor, a score. */
export function amount(fallback: number, description: string, bounds: Required<Bounds<number>>) {
  return z.number().min(bounds.min).max(bounds.max).default(fallback).meta(numberMeta(description));
}

export function amountOrNone(description: string) {
  return z.number().min(0).max(1_000_000_000).nullable().default(null).meta(numberMeta(description));
}

export function percent(fallback: number, description: string) {
  return z.number().min(0).max(100).default(fallback).meta(numberMeta(description));
}

export function toggle(fallback: boolean, description: string) {
  return z
    .boolean()
    .default(fallback)
    .meta({ description, [KIND]: "switch" });
}

export function choice<const T extends readonly [string, ...string[]]>(
  values: T,
  fallback: T[number],
  description: string,
) {
  return z
    .enum(values)
    .prefault(fallback)
    .meta({ description, [KIND]: "choice" });
}

export function choiceOrNone<const T extends readonly [string, ...string[]]>(values: T, description: string) {
  return z
    .enum(values)
    .nullable()
    .default(null)
    .meta({ description, [KIND]: "choice" });
}

/** Some of a few words, at least one. */
export function choices<const T extends readonly [string, ...string[]]>(
  values: T,
  fallback: T[number][],
  description: string,
) {
  return z
    .array(z.enum(values))
    .min(1)
    .prefault(fallback)
    .meta({ description, [KIND]: "list" });
}

/** What a text must look like beyond not being empty, and an example that does. */
interface Form {
  readonly pattern: RegExp;
  readonly like: string;
}

export function text(fallback: string, description: string, form?: Form) {
  return line(form).prefault(fallback).meta(textMeta(description));
}

export function requiredText(description: string, sample: string) {
  return line().meta({ ...textMeta(description), [SAMPLE]: sample });
}

export function textOrNone(description: string, form?: Form) {
  return line(form).nullable().default(null).meta(textMeta(description));
}

/** A regular expression, tried out at once, so that a broken one is found here and not during a night's work. */
export function patternOrNone(description: string) {
  const compiles = (source: string) => {
    try {
      return new RegExp(source) instanceof RegExp;
    } catch {
      return false;
    }
  };
  const inner = line().refine(compiles, { error: "must be a valid regular expression" });
  return inner.nullable().default(null).meta(textMeta(description));
}

export function texts(description: string, form?: Form) {
  return z
    .array(line(form))
    .prefault([])
    .meta({ description, [KIND]: "list" });
}

/** Names of the user's choosing, each with one line of text. */
export function textMap(description: string) {
  return z
    .preprocess(emptyForNull, z.record(line(), line()))
    .prefault({})
    .meta({ description, [KIND]: "map" });
}

/** Keys that belong together. An empty heading (`watch:` with everything below it commented out) means the defaults. */
export function group<S extends z.core.$ZodLooseShape>(description: string, shape: S) {
  return z
    .preprocess(emptyForNull, z.strictObject(shape))
    .prefault({} as never)
    .meta({ description, [KIND]: "group" });
}

/** Names of the user's choosing, each a group with the same keys. */
export function named<S extends z.core.$ZodLooseShape>(description: string, name: Form, shape: S) {
  const entry = z.preprocess(emptyForNull, z.strictObject(shape));
  return z
    .preprocess(emptyForNull, z.record(line(name), entry))
    .prefault({})
    .meta({ description, [KIND]: "map", [SAMPLE]: name.like });
}

function emptyForNull(value: unknown): unknown {
  return value === null ? {} : value;
}

function line(form?: Form) {
  const any = z.string().min(1);
  return form ? any.regex(form.pattern, { error: `must look like ${form.like}` }) : any;
}

function wholeNumber({ min = 0, max = 1_000_000_000 }: Bounds<number>) {
  return z.int().min(min).max(max);
}

function durationText({ min, max = LONGEST }: Bounds<string>) {
  const bounds = min === undefined ? { max } : { min, max };
  return unitText({ parse: parseDuration, print: formatDuration, example: "2m", what: "a duration", bounds });
}

interface Unit {
  parse(text: string): number | undefined;
  print(value: number): string;
  readonly example: string;
  readonly what: string;
  readonly bounds: Bounds<string>;
}

/** Text with a unit in, a number out. A bare 0 needs no unit, and YAML reads it as a number. */
function unitText({ parse, print, example, what, bounds }: Unit) {
  const least = parse(bounds.min ?? "") ?? 0;
  const most = parse(bounds.max ?? "") ?? Number.MAX_SAFE_INTEGER;
  return z.preprocess(
    (value) => (value === 0 ? print(0) : value),
    z.string({ error: () => `must be ${what} with its unit, like ${example}` }).transform((written, context) => {
      const value = parse(written);
      if (value !== undefined && value >= least && value <= most) return value;
      const message =
        value === undefined
          ? `must be ${what} like ${example}`
          : value < least
            ? `must be at least ${print(least)}`
            : `must be at most ${print(most)}`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }),
  );
}

function durationMeta(description: string, bounds: Bounds<string>) {
  return { description, [KIND]: "duration", [BOUNDS]: bounds, pattern: DURATION_PATTERN.source };
}

function numberMeta(description: string) {
  return { description, [KIND]: "number" };
}

function textMeta(description: string) {
  return { description, [KIND]: "text" };
}
