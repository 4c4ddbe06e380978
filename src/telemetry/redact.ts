/**
 * Takes secrets out of text before anything is kept: database, logs, exports and spool all pass through here, and no
 * setting turns it off. What stays is the kind of credential, so that a person knows what leaked and what to rotate.
 *
 * Three sources of suspicion: a shape only a secret has (a vendor's prefix, a PEM block), a name in front of a value
 * (`DB_PASSWORD=`, `"token":`, `--api-key`), a place (header, URL, credential file). When in doubt about data it
 * redacts; when in doubt about source code it leaves, because a transcript of unreadable code helps nobody.
 *
 * It runs inside hooks, so clean text costs one scan and nothing is compiled before it is needed. Every pattern is
 * bounded or starts at a literal: time stays linear on hostile input. It does not guess from entropy alone, since
 * commit ids, checksums and our own ids look just as random.
 */

import { isWorthALook, mayNameCredential } from "./first-look.ts";
import { isMarker, marker } from "./secret-marker.ts";

/** Replaces every secret by `[redacted:<kind>]`. Never throws; redacting twice changes nothing more. */
export function redact(text: string): string {
  return text.length >= 6 && isWorthALook(text) ? patterns().redactByPatterns(text) : text;
}

/** Even the tables of patterns cost a hook a part of its time, and most of what it sees never needs them. */
function patterns(): typeof import("./secret-patterns.ts") {
  return require("./secret-patterns.ts") as typeof import("./secret-patterns.ts");
}

/**
 * The same for JSON-like values; property names count as evidence. Returns the very same reference when nothing had
 * to go. A cycle or a value that cannot be read becomes a marker, because what was not looked at must not be kept.
 */
export function redactDeep<T>(value: T): T {
  try {
    return walk(value, { depth: 0, ancestors: new Set() }) as T;
  } catch {
    return marker("unreadable") as T;
  }
}

/** Deeper than any record we write, shallow enough for every stack. */
const MAX_DEPTH = 500;

interface Walk {
  readonly depth: number;
  readonly ancestors: Set<object>;
  /** The nearest property name; array items inherit the name of their array. */
  readonly name?: string;
}

function walk(value: unknown, at: Walk): unknown {
  if (typeof value === "string") return redactNamedString(at.name, value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date || ArrayBuffer.isView(value)) return value;
  if (at.depth >= MAX_DEPTH) return marker("too-deep");
  if (at.ancestors.has(value)) return marker("cycle");
  at.ancestors.add(value);
  const walked = Array.isArray(value) ? walkArray(value, at) : walkObject(value, at);
  at.ancestors.delete(value);
  return walked;
}

function walkArray(items: readonly unknown[], at: Walk): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = walk(items[index], { ...at, depth: at.depth + 1 });
    if (item !== items[index] && !Number.isNaN(item)) {
      copy ??= items.slice();
      copy[index] = item;
    }
  }
  return copy ?? items;
}

function walkObject(source: object, at: Walk): unknown {
  // What will be written is what `toJSON` says (a URL keeps its password there), so that is what must be clean.
  const { toJSON } = source as { toJSON?: unknown };
  if (typeof toJSON === "function") {
    const json: unknown = toJSON.call(source);
    const clean = walk(json, { ...at, depth: at.depth + 1 });
    return clean === json ? source : clean;
  }
  const entries = Object.entries(source);
  let changed = false;
  const clean: [string, unknown][] = [];
  for (const [key, item] of entries) {
    const cleanKey = redact(key);
    const cleanItem = walk(item, { depth: at.depth + 1, ancestors: at.ancestors, name: key });
    if (cleanKey !== key || (cleanItem !== item && !Number.isNaN(item))) changed = true;
    clean.push([cleanKey, cleanItem]);
  }
  return changed ? Object.fromEntries(withDistinctKeys(clean)) : source;
}

/** Two secrets of one kind used as keys must not swallow each other's values. */
function withDistinctKeys(entries: [string, unknown][]): [string, unknown][] {
  const seen = new Map<string, number>();
  return entries.map(([key, item]) => {
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return [times === 1 ? key : `${key}#${times}`, item];
  });
}

function redactNamedString(name: string | undefined, value: string): string {
  const clean = redact(value);
  if (name === undefined || !mayNameCredential(name) || isMarker(clean)) return clean;
  return patterns().isNamedSecret(name, value) && !/^\w+ \[redacted:[a-z0-9-]+\]$/.test(clean)
    ? marker("credential")
    : clean;
}
