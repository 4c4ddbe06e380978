/**
 * One hand-written YAML file, other than config.yaml, against one schema. Reading and finding places is the same as
 * for the configuration; only the sentences are made here, since these files have other keys.
 * Like there, positions are looked up only when there is something to point at.
 */
import { z } from "zod";
import { nearest } from "#domain/core/nearest.ts";
import { OverseerError } from "#errors.ts";
import { readValues } from "./load.ts";

/** The checked value. `prepare` may change what was read before it is checked. Throws one config error for all faults. */
export function checkYaml<S extends z.ZodType>(
  file: string,
  text: string,
  schema: S,
  prepare: (values: unknown) => unknown = (values) => values,
): z.output<S> {
  const result = schema.safeParse(prepare(readFile(file, text)), { reportInput: true });
  if (result.success) return result.data;
  throw refusal(file, faultsOf(file, text, result.error.issues, schema));
}

/** The configuration's reader speaks of `overseer config`; its findings stand, the advice is ours. */
function readFile(file: string, text: string): unknown {
  try {
    return readValues(text, file);
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") throw refusal(file, [error.message], error);
    throw error;
  }
}

function refusal(file: string, faults: readonly string[], cause?: unknown): OverseerError {
  return new OverseerError("config", "FILE_INVALID", faults.join("\n"), `Correct ${file}.`, { cause });
}

function faultsOf(
  file: string,
  text: string,
  issues: readonly z.core.$ZodIssue[],
  schema: z.ZodType,
): readonly string[] {
  const { locate } = require("./locate.ts") as typeof import("./locate.ts");
  const where = locate(text);
  return issues
    .map((issue) => {
      const unknown = issue.code === "unrecognized_keys";
      const place = where.place(unknown ? [...issue.path, issue.keys[0] ?? ""] : issue.path, "key");
      return { ...place, sentence: describe(issue, schema) };
    })
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, sentence }) => `${file}:${line}:${column}: ${sentence}`);
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

function describe(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  const path = issue.path.join(".");
  const missing = issue.input === undefined;
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => unknownKey(key, issue.path, schema)).join("; ");
  if (issue.code === "invalid_value") {
    const values = issue.values.map(String);
    const meant = typeof issue.input === "string" ? nearest(issue.input, values) : undefined;
    const advice = meant === undefined ? "" : `; did you mean "${meant}"?`;
    return `${path} ${missing ? "is missing; it must" : "must"} be one of ${values.join(", ")}${advice}`;
  }
  if (issue.code === "invalid_type") {
    return missing ? `${path} is missing` : `${path} must be ${KINDS[issue.expected] ?? issue.expected}`;
  }
  return `${path} ${issue.message}`;
}

function unknownKey(key: string, path: readonly PropertyKey[], schema: z.ZodType): string {
  const known = keysAt(schema, path);
  const meant = nearest(key, known);
  const advice = meant === undefined ? `known: ${known.join(", ")}` : `did you mean "${meant}"?`;
  return `there is no key "${[...path, key].join(".")}" (${advice})`;
}

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = schema;
  for (const part of path) {
    const group = unwrapSchema(at);
    if (group instanceof z.ZodObject) at = group.shape[String(part)];
    else if (group instanceof z.ZodRecord) at = group.valueType;
  }
  const last = unwrapSchema(at);
  return last instanceof z.ZodObject ? Object.keys(last.shape) : [];
}

function unwrapSchema(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return unwrapSchema(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrapSchema(schema.in) : schema;
}
