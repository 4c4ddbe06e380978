/**
 * The schema as a tree of keys for people: name, kind, default as one would write it, allowed values, one sentence.
 * It is read off the JSON Schema, so that nothing can be explained that is not enforced. Names the user chooses stand
 * as `<name>`: `checks.<name>.command`. Also the way back: a loaded configuration in the user's spelling.
 */
import * as z from "zod/mini";
import { BOUNDS, isRecord, type KeyKind, KIND, SAMPLE, SHORT } from "./kinds.ts";
import { featureNotBuilt } from "./not-built.ts";
import { schema } from "./schema.ts";
import { formatDuration, formatSize } from "./units.ts";

/** Stands in a key's name for the name a user chose. */
export const ANY_NAME = "<name>";

export interface Key {
  /** Dotted; empty for the whole configuration. */
  readonly name: string;
  /** The last part of the name. */
  readonly word: string;
  readonly kind: KeyKind;
  readonly nullable: boolean;
  /** What a value looks like, in words. */
  readonly type: string;
  readonly description: string;
  /** In the user's spelling; undefined for groups and for the few keys that must be given. */
  readonly default: unknown;
  readonly allowed?: readonly string[];
  /** A name or value to show where there is no default. */
  readonly sample?: string;
  /** Of a map of groups: the key that a plain text in place of a group stands for. */
  readonly short?: string;
  /** The feature it is kept for, while that is not built and nothing reads the key. */
  readonly notBuilt?: string;
  /** Keys below a group, or below `<name>` of a map of groups. Empty for a key that has a value. */
  readonly children: readonly Key[];
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

export function jsonSchema(): JsonSchema {
  const written = z.toJSONSchema(schema, {
    io: "input",
    // zod describes what a plain text is spelled out to; an editor has to let the text itself pass.
    override({ jsonSchema: node }) {
      if (node[SHORT] === undefined) return;
      node.additionalProperties = { anyOf: [{ type: "string" }, node.additionalProperties as JsonSchema] };
    },
  });
  return { title: "Overseer configuration", ...written };
}

let tree: Key | undefined;

/** The whole configuration as one group. */
export function keyTree(): Key {
  tree ??= keyOf("", { ...jsonSchema(), [KIND]: "group", description: "Everything in .overseer/config.yaml." });
  return tree;
}

/** Every key that takes a value, in the order of the example file. */
export function valueKeys(below: Key = keyTree()): Key[] {
  return below.children.flatMap((key) => (key.children.length > 0 ? valueKeys(key) : [key]));
}

/** Groups and maps too, each before what is below it. */
export function allKeys(below: Key = keyTree()): Key[] {
  return below.children.flatMap((key) => [key, ...allKeys(key)]);
}

export interface WrittenValue {
  readonly key: string;
  readonly value: unknown;
  readonly default: unknown;
}

/** Every value of a written configuration under its full name, the user's own names included. */
export function valuesOf(written: unknown, key: Key = keyTree(), path: readonly string[] = []): WrittenValue[] {
  if (key.children.length === 0) return [{ key: path.join("."), value: written, default: key.default }];
  const parts = isRecord(written) ? Object.entries(written) : [];
  return parts.flatMap(([word, part]) => {
    const child = childOf(key, word);
    return child ? valuesOf(part, child, [...path, word]) : [];
  });
}

/** The key at a path as it stands in a file, where a map's names are the user's own. */
export function keyAt(path: readonly PropertyKey[]): Key | undefined {
  let key: Key | undefined = keyTree();
  for (const part of path) key = key && childOf(key, String(part));
  return key;
}

function childOf(key: Key, word: string): Key | undefined {
  if (key.kind !== "map") return key.children.find((child) => child.word === word);
  return key.children.length > 0
    ? { ...key, kind: "group", name: `${key.name}.${ANY_NAME}`, word: ANY_NAME, short: undefined }
    : undefined;
}

/** What a file sets, with every plain text that stands for a group spelled out. */
export function spellOut(written: unknown, key: Key = keyTree()): unknown {
  if (key.children.length === 0 || !isRecord(written)) return written;
  const spelled: Record<string, unknown> = {};
  for (const [word, part] of Object.entries(written)) {
    const child = childOf(key, word);
    const whole = key.short !== undefined && typeof part === "string" ? { [key.short]: part } : part;
    spelled[word] = child ? spellOut(whole, child) : whole;
  }
  return spelled;
}

/** A loaded configuration (or a part of it) as a user would write it: 120000 becomes "2m" again. */
export function asWritten(value: unknown, key: Key = keyTree()): unknown {
  if (key.kind === "duration" && typeof value === "number") return formatDuration(value);
  if (key.kind === "size" && typeof value === "number") return formatSize(value);
  if (key.children.length === 0 || !isRecord(value)) return value;
  const written: Record<string, unknown> = {};
  for (const [word, part] of Object.entries(value)) {
    const child = childOf(key, word);
    written[word] = child ? asWritten(part, child) : part;
  }
  return written;
}

function keyOf(name: string, node: JsonSchema): Key {
  const kind = node[KIND] as KeyKind;
  const nullable = node.default === null;
  // A nullable key's own rules stand in the first branch of `anyOf`.
  const rules = { ...node, ...(node.anyOf?.[0] as JsonSchema | undefined) };
  const allowed = listAllowed(kind, rules);
  const sample = node[SAMPLE];
  const short = node[SHORT];
  const notBuilt = featureNotBuilt(name);
  return {
    name,
    word: name.slice(name.lastIndexOf(".") + 1),
    kind,
    nullable,
    type: `${typeOf(kind, rules)}${nullable ? ", or null" : ""}`,
    description: node.description ?? "",
    default: kind === "group" ? undefined : node.default,
    ...(allowed.length > 0 && { allowed }),
    ...(typeof sample === "string" && { sample }),
    ...(typeof short === "string" && { short }),
    ...(notBuilt !== undefined && { notBuilt }),
    children: childrenOf(name, kind, node),
  };
}

function childrenOf(name: string, kind: KeyKind, node: JsonSchema): Key[] {
  const own = kind === "map" ? node.additionalProperties : node;
  const spelledOut =
    typeof own === "object" ? own.anyOf?.find((one) => typeof one === "object" && one.properties) : undefined;
  const entry = (spelledOut as JsonSchema | undefined) ?? own;
  if (typeof entry !== "object" || !entry.properties) return [];
  const prefix = [name, ...(kind === "map" ? [ANY_NAME] : [])].filter((part) => part !== "").join(".");
  return Object.entries(entry.properties).map(([word, child]) =>
    keyOf(prefix === "" ? word : `${prefix}.${word}`, child as JsonSchema),
  );
}

const TYPES: Readonly<Record<KeyKind, string>> = {
  duration: "a duration such as 500ms, 2m or 1h30m",
  size: "a size such as 512B, 16KB or 2GB",
  number: "a number",
  switch: "true or false",
  choice: "one of a few words",
  text: "text",
  list: "a list of texts",
  map: "a map of names to values",
  group: "a group of keys",
};

function typeOf(kind: KeyKind, rules: JsonSchema): string {
  return rules.type === "integer" ? "a whole number" : TYPES[kind];
}

function listAllowed(kind: KeyKind, rules: JsonSchema): string[] {
  const items = typeof rules.items === "object" && !Array.isArray(rules.items) ? rules.items : undefined;
  const words = rules.enum ?? (items as JsonSchema | undefined)?.enum;
  if (words) return words.map(String);
  if (kind === "number") return rangeOf(rules.minimum, rules.maximum);
  const bounds = rules[BOUNDS] as { min?: string; max?: string } | undefined;
  return rangeOf(bounds?.min, bounds?.max);
}

/** Upper bounds of a billion and more only keep nonsense out; naming them would be noise. */
function rangeOf(min: number | string | undefined, max: number | string | undefined): string[] {
  const least = min === undefined || min === 0 ? [] : [`at least ${min}`];
  const most = max === undefined || (typeof max === "number" && max >= 1_000_000_000) ? [] : [`at most ${max}`];
  return [...least, ...most];
}
