/**
 * What differs between two configurations, key by key, as a person would write the values: for the event that says that
 * another one took effect. It does not redact; whoever keeps it does, by the names of the keys beside the values.
 */
import { asWritten } from "./keys.ts";
import { isRecord } from "./kinds.ts";
import type { Config } from "./schema.ts";

export interface Difference {
  readonly key: string;
  /** null where there was none. */
  readonly from: unknown;
  readonly to: unknown;
}

export function differencesOf(before: Config, after: Config): Difference[] {
  return between(asWritten(before), asWritten(after), "");
}

function between(from: unknown, to: unknown, key: string): Difference[] {
  if (isRecord(from) && isRecord(to)) {
    const words = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return words.flatMap((word) => between(from[word], to[word], key === "" ? word : `${key}.${word}`));
  }
  if (JSON.stringify(from ?? null) === JSON.stringify(to ?? null)) return [];
  return [{ key, from: from ?? null, to: to ?? null }];
}
