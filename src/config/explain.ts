/**
 * What a key means, what it may be, what it is, and where that comes from. For `overseer config explain`, `doctor` and
 * anyone who writes about the configuration: all of it is read off the schema, so it is never out of date.
 */
import { nearest } from "#domain/core/nearest.ts";
import { OverseerError } from "#errors.ts";
import { ANY_NAME, allKeys, asWritten, type Key, keyTree, spellOut, valueKeys, valuesOf } from "./keys.ts";
import { isRecord } from "./kinds.ts";
import { type LoadedConfig, readConfigValues } from "./load.ts";
import { notBuiltSentence } from "./not-built.ts";
import { tellRecovery } from "./recovery-timeline.ts";
import { nameNow, namesNowOf } from "./renamed.ts";
import { defaultConfig } from "./schema.ts";

export { jsonSchema } from "./keys.ts";

export type Source = "default" | "config.yaml";

export interface KeyExplanation {
  readonly key: string;
  readonly type: string;
  /** As one would write it; absent for a group and for a key that must be given. */
  readonly default?: unknown;
  readonly description: string;
  /** Words to choose from, or bounds in words. */
  readonly allowed?: readonly string[];
  /** As one would write it; absent for a group and while `<name>` stands for no real name. */
  readonly value?: unknown;
  readonly source: Source;
  /** What to know about a key that nothing reads yet. */
  readonly notBuilt?: string;
  /** What follows when, in sentences, with the figures in effect. */
  readonly timeline?: readonly string[];
  /** The keys of a group. */
  readonly children?: readonly KeyExplanation[];
}

/** The names of all keys that take a value; names of the user's choosing stand as `<name>`. */
export function listKeys(): string[] {
  return valueKeys().map((key) => key.name);
}

/** Explains a key or a group, as loaded where `loaded` is given. Throws not-found with the nearest names. */
export function explainKey(name: string, loaded?: LoadedConfig): KeyExplanation {
  const path = name.split(".");
  const found = resolve(path);
  if (!found) throw unknownKeyError(name);
  const facts = {
    config: asWritten(loaded?.config ?? {}),
    file: loaded?.text === undefined ? {} : spellOut(readConfigValues(loaded.text, loaded.path)),
  };
  const explanation = toExplanation(found, path, facts);
  return name === "recovery"
    ? { ...explanation, timeline: tellRecovery(loaded?.config ?? defaultConfig()) }
    : explanation;
}

export interface KeyValue {
  readonly key: string;
  readonly value: unknown;
  readonly source: Source;
}

/** What a key is, or everything below a group, under the names the user chose. Throws not-found with the nearest names. */
export function listKeyValues(name: string, loaded: LoadedConfig): KeyValue[] {
  const path = name.split(".");
  const found = resolve(path);
  if (!found) throw unknownKeyError(name);
  const file = loaded.text === undefined ? {} : spellOut(readConfigValues(loaded.text, loaded.path));
  const part = follow(asWritten(loaded.config), path);
  return valuesOf(part, found, path).map(({ key, value = null }) => {
    const isSet = follow(file, key.split(".")) !== undefined;
    return { key, value, source: isSet ? "config.yaml" : "default" };
  });
}

interface Facts {
  /** The effective configuration in the user's spelling; empty when none is loaded. */
  readonly config: unknown;
  /** What the file itself sets. */
  readonly file: unknown;
}

function toExplanation(key: Key, path: readonly string[], facts: Facts): KeyExplanation {
  const set = follow(facts.file, path) !== undefined;
  const source: Source = set ? "config.yaml" : "default";
  const { type, description, notBuilt } = key;
  const common = {
    key: path.join("."),
    type,
    description,
    source,
    ...(notBuilt !== undefined && { notBuilt: notBuiltSentence(notBuilt) }),
  };
  if (key.children.length > 0) {
    const below = key.kind === "map" ? [...path, ANY_NAME] : path;
    return { ...common, children: key.children.map((child) => toExplanation(child, [...below, child.word], facts)) };
  }
  const value = follow(facts.config, path) ?? (path.includes(ANY_NAME) ? undefined : key.default);
  return {
    ...common,
    ...(key.default !== undefined && { default: key.default }),
    ...(key.allowed && { allowed: key.allowed }),
    ...(value !== undefined && { value }),
  };
}

/** The key of a dotted name; below a map the next part is any name at all. */
function resolve(path: readonly string[]): Key | undefined {
  let key: Key | undefined = keyTree();
  let named = false;
  for (const word of path) {
    if (key?.kind === "map" && key.children.length > 0 && !named) {
      named = true;
      continue;
    }
    key = key?.children.find((child) => child.word === word);
    named = false;
  }
  // A name below a map is itself a group: the same keys, but of that one entry.
  return key && named ? { ...key, kind: "group", type: "a group of keys" } : key;
}

/** A key and its path as it stands in a file, for whoever changes it; a name in a map of texts may hold dots. */
export function resolveKey(name: string): { readonly key: Key; readonly path: readonly string[] } | undefined {
  const path = name.split(".");
  const key = path.includes("") || path.includes(ANY_NAME) ? undefined : resolve(path);
  if (key) return { key, path };
  const map = allKeys().find(
    (one) => one.kind === "map" && one.children.length === 0 && name.startsWith(`${one.name}.`),
  );
  return map && { key: map, path: [...map.name.split("."), name.slice(map.name.length + 1)] };
}

function follow(value: unknown, path: readonly string[]): unknown {
  let part = value;
  for (const word of path) part = isRecord(part) && Object.hasOwn(part, word) ? part[word] : undefined;
  return part;
}

export function unknownKeyError(name: string): OverseerError {
  const now = nameNow(name);
  const near = now === undefined ? nearNames(name) : [now];
  const guess = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  return new OverseerError(
    "not-found",
    "CONFIG_KEY_UNKNOWN",
    `${name.slice(0, 100)} is not a key of the configuration.${guess}`,
    "Run `overseer config explain` without a key to see them all.",
  );
}

/** Keys that end in the same word, else the nearest full name, else the nearest last word. */
function nearNames(name: string): string[] {
  const last = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const sameWord = listKeys().filter((key) => key.slice(key.lastIndexOf(".") + 1).toLowerCase() === last);
  if (sameWord.length > 0 && sameWord.length <= 4) return sameWord;
  const renamed = namesNowOf(name.slice(name.lastIndexOf(".") + 1));
  if (renamed.length === 1) return renamed;
  const full = nearest(
    name,
    allKeys().map((key) => key.name),
  );
  if (full !== undefined) return [full];
  const word = nearest(
    last,
    valueKeys().map((key) => key.word),
  );
  return listKeys()
    .filter((key) => key.endsWith(`.${word}`))
    .slice(0, 3);
}
