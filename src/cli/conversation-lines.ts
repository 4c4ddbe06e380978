/**
 * A conversation as lines for a screen or a pipe: `conversationLines(parts, { columns, time })`. Pure: parts in, lines with
 * a tone out, wrapped to the columns, harmless to any terminal (`inert`). What is long is shortened, and a line says by how
 * much; `full` shortens nothing. `paintLine` colours one line where there is colour.
 */
import type { ConversationPart } from "#domain/explain/conversation.ts";
import { inert } from "./text.ts";

export type ConversationTone =
  | "prompt"
  | "words"
  | "command"
  | "result"
  | "failed"
  | "added"
  | "removed"
  | "faint"
  | "plain";

export interface ConversationLine {
  readonly text: string;
  readonly tone: ConversationTone;
}

export interface ConversationLook {
  readonly columns: number;
  /** How a moment is told; none are where this is left out. */
  readonly time?: (ms: number) => string;
  readonly full?: boolean;
}

/** How many lines of each kind are shown at most. */
const MOST_LINES = { prompt: 12, words: 60, command: 4, diff: 24, result: 4, failed: 12, note: 4 } as const;

export function conversationLines(parts: readonly ConversationPart[], look: ConversationLook): ConversationLine[] {
  const paired = pairResults(parts);
  return paired.flatMap((part, at) => linesOfPart(part, paired[at - 1], look));
}

/** Calls that ran side by side: each with what came of it, as far as that is known. */
function pairResults(parts: readonly ConversationPart[]): ConversationPart[] {
  const results = new Map(parts.flatMap((part) => (part.kind === "result" ? [[part.call, part] as const] : [])));
  const told = new Set<string>();
  return parts.flatMap((part, at): ConversationPart[] => {
    if (part.kind === "result") return told.has(part.call) ? [] : [part];
    const call =
      part.kind === "command" && parts[at + 1]?.kind !== "diff" ? part : part.kind === "diff" && parts[at - 1];
    const result = call && call.kind === "command" ? results.get(call.call) : undefined;
    if (result === undefined || told.has(result.call)) return [part];
    told.add(result.call);
    return [part, result];
  });
}

function linesOfPart(
  part: ConversationPart,
  before: ConversationPart | undefined,
  look: ConversationLook,
): ConversationLine[] {
  const when = look.time ? `${look.time(part.at)} ` : "";
  const gap: ConversationLine[] = before === undefined ? [] : [{ text: "", tone: "plain" }];
  switch (part.kind) {
    case "prompt": {
      const from = `${when}${part.from ?? "asked"}: `;
      return [...gap, ...block("❯ ", `${from}${part.text}`, "prompt", MOST_LINES.prompt, part.left, look)];
    }
    case "words":
      return [...gap, ...block("● ", part.text, "words", MOST_LINES.words, part.left, look)];
    case "command":
      return block("⚙ ", `${part.tool} ${part.does}`, "command", MOST_LINES.command, 0, look);
    case "diff":
      return diffBlock(part.text, part.left, look);
    case "result": {
      const sign = part.ok ? "  ✓ " : "  ✗ ";
      const tone = part.ok ? "result" : "failed";
      const most = part.ok ? MOST_LINES.result : MOST_LINES.failed;
      const text = part.text === "" && part.ok ? "done" : part.text;
      return block(sign, text, tone, most, part.left, look);
    }
    case "note":
      return block("— ", `${when}${part.text}`, part.bad ? "failed" : "faint", MOST_LINES.note, 0, look);
  }
}

/** Text behind a sign, its further lines below its beginning. */
function block(
  sign: string,
  text: string,
  tone: ConversationTone,
  most: number,
  left: number,
  look: ConversationLook,
): ConversationLine[] {
  const indent = " ".repeat(Bun.stringWidth(sign));
  const rows = wrapText(text, look.columns - indent.length);
  const shown = look.full ? rows : rows.slice(0, most);
  const lines = shown.map(
    (row, at): ConversationLine => ({ text: `${at === 0 ? sign : indent}${row}`.trimEnd(), tone }),
  );
  return [...lines, ...tellOmitted(indent, rows.length - shown.length, left)];
}

function diffBlock(text: string, left: number, look: ConversationLook): ConversationLine[] {
  const rows = text.split("\n");
  const shown = look.full ? rows : rows.slice(0, MOST_LINES.diff);
  const lines = shown.flatMap((row) => {
    const tone = row.startsWith("+") ? "added" : row.startsWith("-") ? "removed" : "faint";
    return wrapText(row, look.columns - 4).map((one): ConversationLine => ({ text: `    ${one}`.trimEnd(), tone }));
  });
  return [...lines, ...tellOmitted("    ", rows.length - shown.length, left)];
}

function tellOmitted(indent: string, lines: number, characters: number): ConversationLine[] {
  const parts = [
    lines > 0 ? `${lines.toLocaleString("en")} more ${lines === 1 ? "line" : "lines"}` : "",
    characters > 0 ? `${characters.toLocaleString("en")} characters left out` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? [] : [{ text: `${indent}… ${parts.join(", ")}`, tone: "faint" }];
}

/** Rows no wider than the columns, broken between words where that is possible; nothing is lost but the space there. */
export function wrapText(text: string, columns: number): string[] {
  const width = Math.max(1, columns);
  return text.split("\n").flatMap((one) => wrapRow(inert(one.replace(/\t/g, "    ")), width));
}

function wrapRow(text: string, width: number): string[] {
  if (Bun.stringWidth(text) <= width) return [text];
  const rows: string[] = [];
  let row = "";
  let used = 0;
  /** Where the row may be broken: behind its last space. */
  let space = 0;
  for (const sign of text) {
    const wide = Bun.stringWidth(sign);
    if (used + wide > width && row !== "") {
      const at = sign !== " " && space > 0 ? space : row.length;
      rows.push(row.slice(0, at).trimEnd());
      row = row.slice(at);
      used = Bun.stringWidth(row);
      space = 0;
      if (sign === " " && row === "") continue;
    }
    row += sign;
    used += wide;
    if (sign === " " && row.trim() !== "") space = row.length;
  }
  return [...rows, row];
}

const STYLES: Readonly<Record<ConversationTone, string>> = {
  prompt: "36",
  words: "",
  command: "1",
  result: "2",
  failed: "31",
  added: "32",
  removed: "31",
  faint: "2",
  plain: "",
};

export function paintLine({ text, tone }: ConversationLine, colour: boolean): string {
  return colour && STYLES[tone] !== "" && text !== "" ? `\u001b[${STYLES[tone]}m${text}\u001b[0m` : text;
}
