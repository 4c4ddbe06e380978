/**
 * What is wrong with a configuration, in sentences a person can act on: which key, what it should be, and the likely
 * intention. Takes zod's findings and the values as they stood in the file. Values of free text are never repeated,
 * because a command or an address may hold a secret.
 */

import type * as z from "zod/mini";
import { nearest } from "#domain/core/nearest.ts";
import { allKeys, type Key, keyAt, valueKeys } from "./keys.ts";
import { isRecord } from "./kinds.ts";
import { namePath, type Problem } from "./placed.ts";
import { namesNowOf } from "./renamed.ts";

/** Finding the likely intention takes a while each, and nobody reads more at once. */
const MOST_PROBLEMS = 100;

/** One problem per place: a value that is wrong by itself need not be compared with others as well. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], raw: unknown): Problem[] {
  const problems = new Map<string, Problem>();
  for (const problem of issues.slice(0, MOST_PROBLEMS).flatMap((issue) => problemsOfIssue(issue, raw))) {
    const place = JSON.stringify(problem.path);
    if (!problems.has(place)) problems.set(place, problem);
  }
  return [...problems.values()];
}

/** The one name JavaScript cannot keep in a map. zod drops it silently; here it is refused like any unknown key. */
export function unusableNames(raw: unknown): Problem[] {
  const maps = allKeys().filter((key) => key.kind === "map");
  return maps.flatMap((map) => {
    const path = map.name.split(".");
    const value = valueAt(raw, path);
    const unusable = isRecord(value) && Object.hasOwn(value, "__proto__");
    return unusable ? [unknownKey(path, "__proto__")] : [];
  });
}

function problemsOfIssue(issue: z.core.$ZodIssue, raw: unknown): Problem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, MOST_PROBLEMS).map((word) => unknownKey(issue.path, word));
  }
  if (issue.code === "invalid_key") {
    const reason = issue.issues[0]?.message ?? "is not a good name";
    return [{ path: issue.path, at: "key", text: `${namePath(issue.path)} ${reason}.` }];
  }
  const value = valueAt(raw, issue.path);
  return [{ path: issue.path, at: value === null ? "key" : "value", text: sentence(issue, value) }];
}

/** Not a key: the nearest name in the same group, else the group where such a key lives. */
function unknownKey(groupPath: readonly PropertyKey[], word: string): Problem {
  const path = [...groupPath, word];
  const siblings = keyAt(groupPath)?.children.map((key) => key.word) ?? [];
  const guess = guessFor(word, siblings);
  return { path, at: "key", text: `${namePath(path)} is not a key.${guess ? ` ${guess}` : ""}` };
}

function guessFor(word: string, siblings: readonly string[]): string | undefined {
  const elsewhere = valueKeys().filter((key) => samePlainWord(key.word, word) && !siblings.includes(key.word));
  if (elsewhere.length > 0 && elsewhere.length <= 2) {
    return `Did you mean ${elsewhere.map((key) => key.name).join(" or ")}?`;
  }
  const [renamed, ...others] = namesNowOf(word);
  if (renamed !== undefined && others.length === 0) return `Did you mean ${renamed}?`;
  const sibling = nearest(word, siblings);
  if (sibling !== undefined) return `Did you mean ${sibling}?`;
  const far = nearest(
    word,
    valueKeys().map((key) => key.word),
  );
  const homes = valueKeys().filter((key) => key.word === far);
  return homes.length > 0 && homes.length <= 2
    ? `Did you mean ${homes.map((key) => key.name).join(" or ")}?`
    : undefined;
}

/** The same but for capitals, dashes and underscores: how other tools would spell it. */
function samePlainWord(a: string, b: string): boolean {
  const plain = (word: string) => word.toLowerCase().replaceAll(/[-_]/g, "");
  return plain(a) === plain(b);
}

function sentence(issue: z.core.$ZodIssue, value: unknown): string {
  const name = namePath(issue.path);
  const key = keyAt(issue.path);
  if (value === undefined) return `${name} is missing. ${key?.description ?? ""}`.trim();
  if (value === null) return `${name} has no value. Give it one, or leave the line out for the default.`;
  const worded = key?.kind === "duration" || key?.kind === "size";
  if (worded || issue.code === "custom" || issue.code === "invalid_format") return `${name} ${issue.message}.`;
  if (key?.kind === "group" || key?.children.length) return `${name} is a group of keys, not ${shapeOf(value)}.`;
  if (issue.code === "invalid_value") return choiceSentence(name, issue.values.map(String), value);
  if (issue.code === "too_small") return `${name} must be ${atLeast(issue)}, not ${describeValue(value)}.`;
  if (issue.code === "too_big") return `${name} must be at most ${issue.maximum}, not ${describeValue(value)}.`;
  return `${name} must be ${describeExpected(issue, key)}, not ${describeValue(value)}.${quotesHelp(issue, value)}`;
}

function choiceSentence(name: string, values: readonly string[], value: unknown): string {
  const guess = typeof value === "string" ? nearest(value, values) : undefined;
  const end = guess === undefined ? "" : ` Did you mean ${guess}?`;
  return `${name} must be one of ${values.join(", ")}, not ${describeValue(value)}.${end}`;
}

function atLeast(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === "string") return "some text";
  if (issue.origin === "array") return "a list with something in it";
  return `at least ${issue.minimum}`;
}

function describeExpected(issue: z.core.$ZodIssue, key: Key | undefined): string {
  if (key) return key.type;
  return issue.code === "invalid_type" && issue.expected === "string" ? "text" : "something else";
}

/** YAML reads 1.0 and true as a number and a switch where text was meant. */
function quotesHelp(issue: z.core.$ZodIssue, value: unknown): string {
  const meantAsText = issue.code === "invalid_type" && issue.expected === "string";
  return meantAsText && (typeof value === "number" || typeof value === "boolean") ? " Put it in quotes." : "";
}

function describeValue(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return value.length <= 24 && /^[\w .-]*$/.test(value) ? `"${value}"` : "this text";
  return shapeOf(value);
}

function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return isRecord(value) ? "a group of keys" : "a single value";
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const part of path) {
    if (Array.isArray(value)) value = value[Number(part)];
    else value = isRecord(value) ? value[String(part)] : undefined;
  }
  return value;
}
