/**
 * One hand-written YAML file against one schema. The fast parser of Bun reads it; only when something is wrong is it
 * read again by the `yaml` package, which knows where each key stands, so that the refusal can say line and column.
 */
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { nearest } from "#domain/nearest.ts";
import { messageOf, OverseerError } from "#errors.ts";

/** The checked value. `prepare` may change what was parsed before it is checked. Throws one config error for all faults. */
export function checkYaml<S extends z.ZodType>(
  file: string,
  text: string,
  schema: S,
  prepare: (parsed: unknown) => unknown = (parsed) => parsed,
): z.output<S> {
  const parsed = parse(file, text);
  const result = schema.safeParse(prepare(parsed ?? {}), { reportInput: true });
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => `${file}${place(text, issue)}: ${describe(issue, schema)}`);
  throw new OverseerError(
    "config",
    "FILE_INVALID",
    faults.join("\n"),
    `Correct ${faults.length === 1 ? "this line" : "these lines"} in ${file}.`,
  );
}

function parse(file: string, text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch (cause) {
    const fault = parseDocument(text).errors[0];
    const at = fault?.linePos?.[0];
    const where = at === undefined ? "" : `:${at.line}:${at.col}`;
    const what =
      fault === undefined ? messageOf(cause) : (fault.message.split("\n")[0] ?? "").replace(/ at line .*$/, "");
    throw new OverseerError("config", "FILE_INVALID", `${file}${where}: ${what}`, `Correct the YAML in ${file}.`, {
      cause,
    });
  }
}

/** `:line:column` of the deepest key on the way to the fault that the file really has. */
function place(text: string, issue: z.core.$ZodIssue): string {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const wanted = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
  for (let length = wanted.length; length > 0; length--) {
    const path = wanted.slice(0, length).map((part) => (typeof part === "symbol" ? String(part) : part));
    const parent: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
    const start = startOf(parent, path.at(-1));
    if (start === undefined) continue;
    const { line, col } = counter.linePos(start);
    return `:${line}:${col}`;
  }
  return "";
}

interface WithRange {
  readonly range?: readonly number[] | null;
}

function startOf(parent: unknown, key: unknown): number | undefined {
  if (typeof parent !== "object" || parent === null || !("items" in parent) || !Array.isArray(parent.items))
    return undefined;
  const items: readonly (WithRange & { key?: WithRange & { value?: unknown } })[] = parent.items;
  const item = typeof key === "number" ? items[key] : items.find((pair) => pair.key?.value === key)?.key;
  return item?.range?.[0];
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
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, issue.path);
    return issue.keys
      .map((key) => {
        const meant = nearest(key, known);
        const advice = meant === undefined ? `known: ${known.join(", ")}` : `did you mean "${meant}"?`;
        return `there is no key "${[...issue.path, key].join(".")}" (${advice})`;
      })
      .join("; ");
  }
  const missing = issue.input === undefined;
  if (issue.code === "invalid_value") {
    const values = issue.values.map(String);
    const meant = typeof issue.input === "string" ? nearest(issue.input, values) : undefined;
    const advice = meant === undefined ? "" : `; did you mean "${meant}"?`;
    return `${path} ${missing ? "is missing; it" : ""} must be one of ${values.join(", ")}${advice}`.replace("  ", " ");
  }
  if (issue.code === "invalid_type" && missing) return `${path} is missing`;
  if (issue.code === "invalid_type")
    return `${path === "" ? "the file" : path} must be ${KINDS[issue.expected] ?? issue.expected}`;
  return `${path} ${issue.message}`;
}

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = schema;
  for (const part of path)
    at = unwrapped(at) instanceof z.ZodObject ? (unwrapped(at) as z.ZodObject).shape[String(part)] : at;
  const last = unwrapped(at);
  return last instanceof z.ZodObject ? Object.keys(last.shape) : [];
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional ? schema.unwrap() : schema;
}
