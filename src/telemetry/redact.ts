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
  if (text.length < 6 || isKnownClean(text)) return text;
  const shown = withoutUnseen(text);
  const found = isWorthALook(shown) ? patterns().redactByPatterns(shown) : shown;
  const redacted = found === shown ? text : found;
  if (redacted === text) remember(text);
  return redacted;
}

/** Signs that nobody sees inside a name or a secret hide it from every pattern; where one was found, they are gone too. */
function withoutUnseen(text: string): string {
  return UNSEEN.test(text) ? text.replace(new RegExp(UNSEEN, "g"), "") : text;
}

const UNSEEN = /\u00ad|[\u200b-\u200f]|\u2060|\ufeff/;

/**
 * Names of fields, agents and kinds come again and again in a process that lives long, so what was found clean is not
 * looked at twice. What a tool printed passes here for the view, two logs and the store, one right after the other: of
 * longer texts the last few are known. What held a secret is never remembered.
 */
const clean = new Set<string>();
const REMEMBERED_LENGTH = 200;
const REMEMBERED = 5_000;
const cleanLately: string[] = [];
const LATELY = 4;
const LATELY_LENGTH = 64 * 1024;

function isKnownClean(text: string): boolean {
  return text.length <= REMEMBERED_LENGTH ? clean.has(text) : cleanLately.includes(text);
}

function remember(text: string): void {
  if (text.length > LATELY_LENGTH) return;
  if (text.length > REMEMBERED_LENGTH) {
    cleanLately.push(text);
    if (cleanLately.length > LATELY) cleanLately.shift();
    return;
  }
  if (clean.size >= REMEMBERED) clean.clear();
  clean.add(text);
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
    return walk(value, undefined, []) as T;
  } catch {
    return marker("unreadable") as T;
  }
}

/** Deeper than any record we write, shallow enough for every stack. */
const MAX_DEPTH = 500;

/** `name` is the nearest property name, and array items inherit the name of their array; `above` is the way here. */
function walk(value: unknown, name: string | undefined, above: object[]): unknown {
  if (typeof value === "string") return redactNamedString(name, value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date || ArrayBuffer.isView(value)) return value;
  if (above.length >= MAX_DEPTH) return marker("too-deep");
  if (above.includes(value)) return marker("cycle");
  above.push(value);
  const walked = Array.isArray(value) ? walkArray(value, name, above) : walkObject(value, name, above);
  above.pop();
  return walked;
}

function walkArray(items: readonly unknown[], name: string | undefined, above: object[]): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = walk(items[index], name, above);
    if (item !== items[index] && !Number.isNaN(item)) {
      copy ??= items.slice();
      copy[index] = item;
    }
  }
  return copy ?? items;
}

function walkObject(source: object, name: string | undefined, above: object[]): unknown {
  // What will be written is what `toJSON` says (a URL keeps its password there), so that is what must be clean.
  const { toJSON } = source as { toJSON?: unknown };
  if (typeof toJSON === "function") {
    const json: unknown = toJSON.call(source);
    const walked = walk(json, name, above);
    return walked === json ? source : walked;
  }
  const keys = Object.keys(source);
  // Most objects hold no secret, so nothing is copied before the first one is found.
  let copied: [string, unknown][] | undefined;
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    const item = (source as Record<string, unknown>)[key];
    const cleanKey = redact(key);
    const cleanItem = walk(item, key === "value" ? (findNameBeside(source) ?? key) : key, above);
    if (cleanKey !== key || (cleanItem !== item && !Number.isNaN(item))) {
      copied ??= keys.slice(0, index).map((before) => [before, (source as Record<string, unknown>)[before]]);
    }
    copied?.push([cleanKey, cleanItem]);
  }
  return copied ? Object.fromEntries(withDistinctKeys(copied)) : source;
}

/** `{"name": "DB_PASSWORD", "value": "…"}`: the name of a value may stand beside it. */
function findNameBeside(source: object): string | undefined {
  const { name, key } = source as { name?: unknown; key?: unknown };
  return typeof name === "string" ? name : typeof key === "string" ? key : undefined;
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

const suspects = new Map<string, boolean>();

/** Whether a value under this name may be a secret; names are few and come with every record, so each is asked once. */
function isSuspect(name: string): boolean {
  const known = suspects.get(name);
  if (known !== undefined) return known;
  const suspect = mayNameCredential(name) && patterns().canNameSecret(name);
  if (name.length <= REMEMBERED_LENGTH) {
    if (suspects.size >= REMEMBERED) suspects.clear();
    suspects.set(name, suspect);
  }
  return suspect;
}

function redactNamedString(given: string | undefined, value: string): string {
  const redacted = redact(value);
  const name = given === undefined ? undefined : withoutUnseen(given);
  if (name === undefined || !isSuspect(name) || isMarker(redacted)) return redacted;
  return patterns().isNamedSecret(name, value) && !/^\w+ \[redacted:[a-z0-9-]+\]$/.test(redacted)
    ? marker("credential")
    : redacted;
}
