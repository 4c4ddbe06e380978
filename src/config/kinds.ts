/**
 * The few kinds of values a configuration key can have. Each builder takes the default and one sentence for people and
 * gives a zod schema that knows both, so that schema.ts reads like a document and nothing is said twice.
 * Defaults are written as a user would write them ("2m"); what comes out is what code wants (120000).
 * Built with zod's small face (zod/mini): a hundred and seventy keys are made at every start, and its parts are cheaper.
 * A key that may be left unset is null, never absent: `config show` can then always name every key.
 */
import * as z from "zod/mini";
import { DURATION_PATTERN, formatDuration, formatSize, parseDuration, parseSize, SIZE_PATTERN } from "./units.ts";

/** How the kind of a key is carried through the JSON Schema, where editors overlook it and `explain` reads it. */
export const KIND = "x-kind";
/** Likewise the bounds of durations and sizes, which JSON Schema cannot compare. */
export const BOUNDS = "x-bounds";
/** Likewise a name or value the example file may show where there is no default. */
export const SAMPLE = "x-sample";
/** Likewise the key of a map's groups that a plain text in place of the group stands for. */
export const SHORT = "x-short";
export type KeyKind = "duration" | "size" | "number" | "switch" | "choice" | "text" | "list" | "map" | "group";

interface Bounds<T> {
  readonly min?: T;
  readonly max?: T;
}

/** Nothing here waits longer than a year; a longer span is a slip of the pen. */
const LONGEST = "365d";

export function duration(fallback: string, description: string, bounds: Bounds<string> = {}) {
  return z.prefault(durationText(bounds), fallback).register(z.globalRegistry, durationMeta(description, bounds));
}

export function durationOrNone(description: string, bounds: Bounds<string> = {}) {
  const inner = z.nullable(durationText(bounds));
  return z.prefault(inner, null).register(z.globalRegistry, durationMeta(description, bounds));
}

export function size(fallback: string, description: string, bounds: Bounds<string> = {}) {
  const inner = unitText({ parse: parseSize, print: formatSize, example: "16KB", what: "a size", bounds });
  const meta = { description, [KIND]: "size", [BOUNDS]: bounds, pattern: SIZE_PATTERN.source };
  return z.prefault(inner, fallback).register(z.globalRegistry, meta);
}

export function count(fallback: number, description: string, bounds: Bounds<number> = {}) {
  return z._default(wholeNumber(bounds), fallback).register(z.globalRegistry, metaOf("number", description));
}

export function countOrNone(description: string, bounds: Bounds<number> = {}) {
  return orNone(wholeNumber(bounds)).register(z.globalRegistry, metaOf("number", description));
}

/** A number that need not be whole: a factor, a score. */
export function amount(fallback: number, description: string, bounds: Required<Bounds<number>>) {
  return z._default(anyNumber(bounds), fallback).register(z.globalRegistry, metaOf("number", description));
}

export function amountOrNone(description: string) {
  const inner = anyNumber({ min: 0, max: 1_000_000_000 });
  return orNone(inner).register(z.globalRegistry, metaOf("number", description));
}

export function percent(fallback: number, description: string) {
  return amount(fallback, description, { min: 0, max: 100 });
}

export function toggle(fallback: boolean, description: string) {
  return z._default(z.boolean(), fallback).register(z.globalRegistry, metaOf("switch", description));
}

export function choice<const T extends readonly [string, ...string[]]>(
  values: T,
  fallback: T[number],
  description: string,
) {
  return z.prefault(z.enum(values), fallback).register(z.globalRegistry, metaOf("choice", description));
}

export function choiceOrNone<const T extends readonly [string, ...string[]]>(values: T, description: string) {
  return orNone(z.enum(values)).register(z.globalRegistry, metaOf("choice", description));
}

/** Some of a few words, at least one. */
export function choices<const T extends readonly [string, ...string[]]>(
  values: T,
  fallback: T[number][],
  description: string,
) {
  const inner = z.array(z.enum(values)).check(z.minLength(1));
  return z.prefault(inner, fallback).register(z.globalRegistry, metaOf("list", description));
}

/** What a text must look like beyond not being empty, and an example that does. */
interface Form {
  readonly pattern: RegExp;
  readonly like: string;
}

export function text(fallback: string, description: string, form?: Form) {
  return z.prefault(line(form), fallback).register(z.globalRegistry, metaOf("text", description));
}

export function textWithoutDefault(description: string, sample: string) {
  return line().register(z.globalRegistry, { ...metaOf("text", description), [SAMPLE]: sample });
}

export function textOrNone(description: string, form?: Form) {
  return orNone(line(form)).register(z.globalRegistry, metaOf("text", description));
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
  const inner = line().check(z.refine(compiles, { error: "must be a valid regular expression" }));
  return orNone(inner).register(z.globalRegistry, metaOf("text", description));
}

export function texts(description: string, form?: Form) {
  return z.prefault(z.array(line(form)), []).register(z.globalRegistry, metaOf("list", description));
}

/** Names of the user's choosing, each with one line of text. */
export function textMap(description: string) {
  const inner = orEmpty(z.record(line(), line()));
  return z.prefault(inner, {}).register(z.globalRegistry, metaOf("map", description));
}

/** Keys that belong together. An empty heading (`watch:` with everything below it commented out) means the defaults. */
export function group<S extends z.core.$ZodLooseShape>(description: string, shape: S) {
  return z.prefault(orEmpty(z.strictObject(shape)), {}).register(z.globalRegistry, metaOf("group", description));
}

/** Names of the user's choosing, each a group with the same keys. */
export function groupMap<S extends z.core.$ZodLooseShape>(
  description: string,
  name: Form,
  shape: S,
  short?: keyof S & string,
) {
  const entry = z.strictObject(shape);
  const inner = orEmpty(z.record(line(name), short === undefined ? orEmpty(entry) : orShort(entry, short)));
  const meta = {
    ...metaOf("map", description),
    [SAMPLE]: name.like,
    ...(short === undefined ? {} : { [SHORT]: short }),
  };
  return z.prefault(inner, {}).register(z.globalRegistry, meta);
}

/** A group or a map as it stands in a file. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function orNone<T extends z.core.$ZodType>(inner: T) {
  return z._default(z.nullable(inner), null);
}

function orEmpty<T extends z.core.$ZodType>(inner: T) {
  const emptyForNull = z.transform((value: unknown): unknown => (value === null ? {} : value));
  // The inner schema takes anything and judges it; its static input type is narrower than what it must face.
  return z.pipe(emptyForNull, inner as T & z.core.$ZodType<unknown, unknown>);
}

/** `tests: npm test` for `tests: {command: npm test}`. */
function orShort<T extends z.core.$ZodType>(inner: T, key: string) {
  const spelledOut = z.transform((value: unknown): unknown =>
    value === null ? {} : typeof value === "string" ? { [key]: value } : value,
  );
  return z.pipe(spelledOut, inner as T & z.core.$ZodType<unknown, unknown>);
}

function line(form?: Form) {
  if (!form) return z.string().check(z.minLength(1));
  return z.string().check(z.minLength(1), z.regex(form.pattern, { error: `must look like ${form.like}` }));
}

function wholeNumber({ min = 0, max = 1_000_000_000 }: Bounds<number>) {
  return z.int().check(z.minimum(min), z.maximum(max));
}

function anyNumber({ min, max }: Required<Bounds<number>>) {
  return z.number().check(z.minimum(min), z.maximum(max));
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
  const toNumber = z.transform((written: string, context) => {
    const value = parse(written);
    if (value !== undefined && value >= least && value <= most) return value;
    const message =
      value === undefined
        ? `must be ${what} like ${example}`
        : value < least
          ? `must be at least ${print(least)}`
          : `must be at most ${print(most)}`;
    context.issues.push({ code: "custom", message, input: written });
    return z.NEVER;
  });
  return z.pipe(
    z.transform((value: unknown) => (value === 0 ? print(0) : value)),
    z.pipe(z.string({ error: () => `must be ${what} with its unit, like ${example}` }), toNumber),
  );
}

function durationMeta(description: string, bounds: Bounds<string>) {
  return { ...metaOf("duration", description), [BOUNDS]: bounds, pattern: DURATION_PATTERN.source };
}

function metaOf(kind: KeyKind, description: string) {
  return { description, [KIND]: kind };
}
