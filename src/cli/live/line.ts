/**
 * A line of the live view: spans of text, each with a tone, and how lines are cut, padded, wrapped and put side by side.
 * Columns are those of the terminal: a wide character takes two. It knows nothing of fleets.
 */
import { inert } from "#cli/text.ts";

export type Tone = "plain" | "title" | "trouble" | "attention" | "good" | "faint";

export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

export interface Line {
  readonly spans: readonly Span[];
  /** The cursor stands on it. */
  readonly chosen?: boolean;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export function makeLine(text: string, tone: Tone = "plain"): Line {
  return { spans: [{ text, tone }] };
}

export function joinSpans(...spans: readonly (readonly [text: string, tone?: Tone])[]): Line {
  return { spans: spans.map(([text, tone = "plain"]) => ({ text, tone })) };
}

export const EMPTY_LINE: Line = { spans: [] };

export function readLine({ spans }: Line): string {
  return spans.map(({ text }) => text).join("");
}

export function clipToColumns(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  let cut = "";
  let width = 0;
  for (const sign of text) {
    width += Bun.stringWidth(sign);
    if (width > columns - 1) break;
    cut += sign;
  }
  return columns <= 0 ? "" : `${cut}…`;
}

export function clipLine(line: Line, columns: number): Line {
  if (Bun.stringWidth(readLine(line)) <= columns) return line;
  const spans: Span[] = [];
  let left = columns;
  for (const { text, tone } of line.spans) {
    // One column stays free for the sign that says that it was cut.
    const isLast = Bun.stringWidth(text) >= left;
    const shown = isLast ? clipToColumns(`${text} `, left) : text;
    spans.push({ text: shown, tone });
    left -= Bun.stringWidth(shown);
    if (isLast) break;
  }
  return { ...line, spans };
}

export function padToColumns(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - Bun.stringWidth(text)));
}

/** In lines of at most so many columns, broken between words; a word that is longer is broken where it must be. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  let last: string | undefined;
  for (const word of text.split(" ").flatMap((one) => breakWord(one, columns))) {
    if (last !== undefined && Bun.stringWidth(`${last} ${word}`) <= columns) last = `${last} ${word}`;
    else {
      if (last !== undefined) lines.push(last);
      last = word;
    }
  }
  return [...lines, last ?? ""];
}

function breakWord(word: string, columns: number): string[] {
  return Bun.stringWidth(word) <= columns ? [word] : wrapSigns(word, columns);
}

/** Broken anywhere: for what others wrote, where every sign counts and none may be left out. */
function wrapSigns(text: string, columns: number): string[] {
  const rows: string[] = [];
  let row = "";
  let width = 0;
  for (const sign of text) {
    const wide = Bun.stringWidth(sign);
    if (row !== "" && width + wide > columns) {
      rows.push(row);
      row = "";
      width = 0;
    }
    row += sign;
    width += wide;
  }
  return [...rows, row];
}

/** A line of one tone, broken between words, below what it begins with; one of several spans is cut. */
export function wrapLine(line: Line, columns: number): Line[] {
  const [only, second] = line.spans;
  if (!only || Bun.stringWidth(readLine(line)) <= columns) return [line];
  if (second) return [clipLine(line, columns)];
  const indent = " ".repeat(indentOf(only.text, columns));
  const [first = "", ...rest] = wrapWords(only.text, columns);
  // One word behind an indent: nothing is won by leaving the indent alone.
  if (first.trim() === "") return wrapSigns(only.text, columns).map((text) => makeLine(text, only.tone));
  const left = rest.length > 0 ? wrapWords(only.text.slice(first.length).trimStart(), columns - indent.length) : [];
  return [first, ...left.map((text) => indent + text)].map((text) => makeLine(text, only.tone));
}

/** Where the text of a line begins: after its indent, and after what stands before it in a column of its own. */
function indentOf(text: string, columns: number): number {
  const [blank = ""] = /^ */.exec(text) ?? [];
  const [column = blank] = /^ *\S+(?: \S+){0,3} {2,}/.exec(text) ?? [];
  return [Bun.stringWidth(column), blank.length].find((width) => width <= columns / 3) ?? 0;
}

/** Text of several lines from outside, one line each, harmless. */
export function toLines(text: string, tone: Tone = "plain"): Line[] {
  return text.split("\n").map((one) => makeLine(inert(one.replaceAll("\t", "  ")), tone));
}

/** Two sheets side by side, with a rule between them. */
export function putBeside(left: readonly Line[], right: readonly Line[], columns: number): Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row) => {
    const line = clipLine(left[row] ?? EMPTY_LINE, columns);
    const gap = " ".repeat(Math.max(0, columns - Bun.stringWidth(readLine(line))));
    return { ...line, spans: [...line.spans, { text: `${gap} │ `, tone: "faint" }, ...(right[row]?.spans ?? [])] };
  });
}

/**
 * As many lines of these blocks as there is room for, with the block at `at` in sight; what is above and below is
 * counted, in blocks.
 */
export function cutWindow(blocks: readonly (readonly Line[])[], at: number, room: number): Line[] {
  const lines = blocks.flat();
  if (lines.length <= room) return lines;
  if (room <= 0) return [];
  const starts = toStarts(blocks);
  const first = starts[at] ?? 0;
  const length = Math.min(blocks[at]?.length ?? 1, room);
  const top = Math.max(0, Math.min(first - Math.floor((room - length) / 2), lines.length - room));
  const shown = lines.slice(top, top + room);
  // The lines that count take the place of one each, so what they hide is counted too.
  const above = blocks.filter((_, block) => (starts[block] ?? 0) <= top && block < at).length;
  const below = blocks.filter((_, block) => (starts[block + 1] ?? 0) >= top + room && block > at).length;
  if (top > 0 && above > 0 && room > 2) shown[0] = makeLine(`  … ${above} more above`, "faint");
  if (top + room < lines.length && below > 0 && room > 1) shown[room - 1] = makeLine(`  … ${below} more`, "faint");
  return shown;
}

function toStarts(blocks: readonly (readonly Line[])[]): number[] {
  const starts = [0];
  for (const { length } of blocks) starts.push((starts.at(-1) ?? 0) + length);
  return starts;
}

/** `7 s`, `12 min`, `3 h`, `2 d`: one unit, so that columns stay narrow. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** `14:05`, where the person is. */
export function clockTime(ms: number, seconds = false): string {
  const at = new Date(ms);
  const parts = [at.getHours(), at.getMinutes(), ...(seconds ? [at.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
