/**
 * One hand-written YAML file, other than config.yaml, against one schema. Reading and finding places is the same as
 * for the configuration; only the sentences are made here, since these files have other keys.
 * Like there, positions are looked up only when there is something to point at.
 */
import { z } from "zod";
import { nearest } from "#domain/core/nearest.ts";
import { OverseerError } from "#errors.ts";
import { readValues } from "./load.ts";
import { listPlaced, namePath, type Problem, placeProblems } from "./placed.ts";

/** The checked value. `prepare` may change what was read before it is checked. Throws one config error for all faults. */
export function checkYaml<S extends z.ZodType>(
  file: string,
  text: string,
  schema: S,
  prepare: (values: unknown) => unknown = (values) => values,
): z.output<S> {
  const result = schema.safeParse(prepare(readFile(file, text)), { reportInput: true });
  if (result.success) return result.data;
  throw refusal(file, listPlaced(file, placeProblems(problemsOfSchema(result.error.issues, schema), text)));
}

/** The configuration's reader speaks of `overseer config`; its findings stand, the advice is ours. */
function readFile(file: string, text: string): unknown {
  try {
    return readValues(text, file);
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") throw refusal(file, error.message, error);
    throw error;
  }
}

function refusal(file: string, faults: string, cause?: unknown): OverseerError {
  return new OverseerError("config", "FILE_INVALID", faults, `Correct ${file}.`, { cause });
}

/** What people call a key elsewhere, and its name here, by word. */
export type OtherNames = Readonly<Record<string, string>>;

/** zod's findings as sentences, with the nearest name; the input has to be in them (`reportInput`). */
export function problemsOfSchema(
  issues: readonly z.core.$ZodIssue[],
  schema: z.ZodType,
  otherNames: OtherNames = {},
): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    if (issue.code !== "unrecognized_keys") return [{ path: issue.path, at: "key", text: describe(issue) }];
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      at: "key",
      text: unknownKey(key, issue.path, schema, otherNames),
    }));
  });
}

/** zod's words for kinds of values, in ours. */
const KINDS: Readonly<Record<string, string>> = {
  object: "a map of keys",
  record: "a map of names",
  array: "a list",
  string: "text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
};

function describe(issue: z.core.$ZodIssue): string {
  const path = namePath(issue.path);
  const missing = issue.input === undefined;
  if (issue.code === "invalid_value") {
    const values = issue.values.map(String);
    const meant = typeof issue.input === "string" ? nearest(issue.input, values) : undefined;
    const advice = meant === undefined ? "" : `; did you mean "${meant}"?`;
    const wanted = values.length === 1 ? values[0] : `one of ${values.join(", ")}`;
    return `${path} ${missing ? "is missing; it must" : "must"} be ${wanted}${advice}`;
  }
  if (issue.code === "invalid_type") {
    return missing ? `${path} is missing` : `${path} must be ${KINDS[issue.expected] ?? issue.expected}`;
  }
  return `${path} ${issue.message}`;
}

/** The key of that group that was probably meant. */
export function guessKey(
  key: string,
  path: readonly PropertyKey[],
  schema: z.ZodType,
  otherNames: OtherNames = {},
): string | undefined {
  const known = keysAt(schema, path);
  const other = Object.hasOwn(otherNames, key) ? otherNames[key] : undefined;
  return other !== undefined && known.includes(other) ? other : nearest(key, known);
}

function unknownKey(key: string, path: readonly PropertyKey[], schema: z.ZodType, otherNames: OtherNames): string {
  const meant = guessKey(key, path, schema, otherNames);
  const advice = meant === undefined ? `known: ${keysAt(schema, path).join(", ")}` : `did you mean "${meant}"?`;
  return `there is no key "${namePath([...path, key])}" (${advice})`;
}

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = schema;
  for (const part of path) {
    const group = unwrapSchema(at);
    if (group instanceof z.ZodObject) at = group.shape[String(part)];
    else if (group instanceof z.ZodRecord) at = group.valueType;
    else if (group instanceof z.ZodArray) at = group.element;
  }
  const last = unwrapSchema(at);
  return last instanceof z.ZodObject ? Object.keys(last.shape) : [];
}

function unwrapSchema(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return unwrapSchema(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrapSchema(schema.in) : schema;
}
