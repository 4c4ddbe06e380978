/**
 * The checked configuration as plain JSON in run/config.json, so that programs that must start fast need neither a
 * YAML reader nor the schema. It carries the hash of the text it was made from: a copy that does not match the file is
 * as good as none.
 */
import type { Config } from "./schema.ts";

export interface CheckedCopy {
  readonly hash: string;
  readonly config: Config;
}

/** The hash that ties a copy to its text; a missing file has one too. */
export function hashOfConfig(text: string | undefined): string {
  return Bun.hash(text ?? "").toString(36);
}

/** The configuration of a copy that fits the text; undefined when it does not, or cannot be read. */
export function configOfCopy(copy: string | undefined, text: string | undefined): Config | undefined {
  if (copy === undefined) return undefined;
  try {
    const { hash, config } = JSON.parse(copy) as CheckedCopy;
    return hash === hashOfConfig(text) ? config : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // half a copy is no copy; the file itself is read instead
    throw error;
  }
}

export function renderCopy(config: Config, text: string | undefined): string {
  return `${JSON.stringify({ hash: hashOfConfig(text), config } satisfies CheckedCopy)}\n`;
}
