/**
 * The last good settings as plain JSON in run/config.json: the checked configuration, so that programs that must start
 * fast need neither a YAML reader nor the schema, and beside it the texts of all settings as this user confirmed them.
 * It carries the hash of the text the configuration was made from: where that does not match the file, act/settings/settings.ts
 * says what the difference means.
 */
import type { InGit, SettingsTexts } from "#domain/health/settings.ts";
import type { Config } from "./schema.ts";
import { CONFIG_SHAPE } from "./shape.ts";

export interface CheckedCopy {
  readonly hash: string;
  /** Of the schema it was checked by; absent in copies of versions that did not say. */
  readonly shape?: string;
  readonly config: Config;
  /** What was confirmed, by name. Absent in copies of versions that confirmed nothing. */
  readonly files?: SettingsTexts;
  /** What git had to do with each of them then. */
  readonly git?: Readonly<Record<string, InGit>>;
  /** Where HEAD was. */
  readonly head?: string;
  /** Those that say only what is built in. */
  readonly builtIn?: readonly string[];
}

/** The hash that ties a copy to its text; a missing file has one too. */
export function hashOfConfig(text: string | undefined): string {
  return Bun.hash(text ?? "").toString(36);
}

/** Undefined when there is none, or only half of one: half a copy is no copy. */
export function readCopy(copy: string | undefined): CheckedCopy | undefined {
  if (copy === undefined) return undefined;
  try {
    const value = JSON.parse(copy) as CheckedCopy;
    return typeof value?.hash === "string" && typeof value.config === "object" ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Was it checked by this version's schema? What another version wrote lacks the keys that are new since. */
export function hasOurShape(copy: Pick<CheckedCopy, "shape">): boolean {
  return copy.shape === CONFIG_SHAPE;
}

/** The configuration of a copy that fits the text; undefined when it does not, or cannot be read. */
export function configOfCopy(copy: string | undefined, text: string | undefined): Config | undefined {
  const read = readCopy(copy);
  return read && hasOurShape(read) && read.hash === hashOfConfig(text) ? read.config : undefined;
}

export function renderCopy(copy: CheckedCopy): string {
  return `${JSON.stringify(copy)}\n`;
}
