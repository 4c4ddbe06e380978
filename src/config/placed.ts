/**
 * What is wrong with a text a person wrote, each problem with the line and column it stands at: the one way in which
 * the configuration, roles, hooks and plans point at a mistake. Knows places and the bound of what is shown, no sentence.
 */
import type { LocatedText } from "./locate.ts";

export interface Problem {
  readonly path: readonly PropertyKey[];
  /** Whether the key itself is wrong or the value it has. */
  readonly at: "key" | "value";
  readonly text: string;
}

export interface PlacedText {
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

const MOST_PROBLEMS_SHOWN = 20;

let last: { readonly text: string; readonly located: LocatedText } | undefined;

/**
 * The text with positions. Loaded here and at once, because a reader of good files never needs it; and kept, because what
 * is asked for the faults of a text is asked for the places in it next.
 */
export function readPositions(text: string): LocatedText {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (last?.text === plain) return last.located;
  const { locate } = require("./locate.ts") as typeof import("./locate.ts");
  last = { text: plain, located: locate(plain) };
  return last.located;
}

/** In the order in which a reader of the text meets them. */
export function placeProblems(problems: readonly Problem[], text: string): PlacedText[] {
  const where = readPositions(text);
  return problems
    .map((problem) => ({ ...where.place(problem.path, problem.at), text: problem.text }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

/** `plan.yaml:3:5: …`, one line each, as editors and terminals make a link of it. */
export function listPlaced(source: string, problems: readonly PlacedText[]): string {
  const lines = problems
    .slice(0, MOST_PROBLEMS_SHOWN)
    .map(({ line, column, text }) => `${source}:${line}:${column}: ${text}`);
  const left = problems.length - lines.length;
  if (left > 0) lines.push(`… and ${left} more.`);
  return lines.join("\n");
}

/** As one would say it; names from the file are cut, since a hostile file may make them any length. */
export function namePath(path: readonly PropertyKey[]): string {
  const name = path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
  const clean = name.replaceAll(/\p{Cc}/gu, "?");
  return clean.length > 100 ? `${clean.slice(0, 100)}…` : clean;
}
