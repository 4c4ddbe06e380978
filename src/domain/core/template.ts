/**
 * Prompts with holes: `{{name.part}}` is replaced by a value from a table. Nothing else: no conditions, no loops, so
 * a prompt reads in its file as the agent will read it. A name that is not in the table is reported with its line
 * and left standing; whoever renders decides that this is an error.
 */

const PLACEHOLDER = /\{\{\s*([A-Za-z][\w.-]*)\s*\}\}/g;
/** Values may hold placeholders themselves; two levels are in use, and a bound keeps a circle from hanging us. */
const MAX_LEVELS = 4;

export interface Hole {
  readonly name: string;
  /** Counted from 1, in the text as given. */
  readonly line: number;
}

export interface Rendered {
  readonly text: string;
  readonly unknown: readonly Hole[];
}

export function renderTemplate(text: string, values: Readonly<Record<string, string>>): Rendered {
  let result = text;
  for (let level = 0; level < MAX_LEVELS; level++) {
    const next = result.replace(PLACEHOLDER, (whole, name: string) =>
      Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
    );
    if (next === result) break;
    result = next;
  }
  return { text: result, unknown: holes(text).filter((hole) => !Object.hasOwn(values, hole.name)) };
}

/** Every placeholder of a text, in order. */
export function holes(text: string): readonly Hole[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      [...line.matchAll(PLACEHOLDER)].map((match) => ({ name: match[1] ?? "", line: index + 1 })),
    );
}
