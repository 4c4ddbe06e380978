/** Words and tables for people: columns that fit, times that read well, nothing that a terminal would interpret. */
import { visible } from "#domain/core/terminal-text.ts";
import { paragraph } from "./demo/lines.ts";
import type { Output } from "./output.ts";

/** Columns aligned by display width; the last one is cut to what is left of the line. */
export function table(out: Output, rows: readonly (readonly string[])[]): void {
  const width = roomOf(out);
  for (const line of alignRows(rows.map((row) => row.map(inert)))) out.line(fit(line, width));
}

/** Columns to fit into; where nobody looks at a screen nothing is cut. */
export function roomOf(out: Output): number {
  return (out.cuts ?? out.interactive) ? out.width : Number.POSITIVE_INFINITY;
}

/** Rows as lines, by display width; a column that is empty in all of them takes no room. */
export function alignRows(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => Bun.stringWidth(row[column] ?? ""))));
  return rows.map((row) =>
    row
      .flatMap((cell, column) => {
        const width = widths[column] ?? 0;
        if (width === 0) return [];
        return [column === row.length - 1 ? cell : cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)))];
      })
      .join("  ")
      .trimEnd(),
  );
}

/** One line, cut where a terminal would break it, and whole in a pipe. */
export function fitLine(out: Output, text: string): string {
  return fit(text, roomOf(out));
}

/** Cut to so many columns, with a mark. */
export function fit(line: string, width: number): string {
  if (Bun.stringWidth(line) <= width) return line;
  let cut = "";
  for (const sign of line) {
    if (Bun.stringWidth(cut + sign) > width - 1) break;
    cut += sign;
  }
  return `${cut}…`;
}

/** Text from outside at its full length: broken between words where a terminal has an edge, as it is in a pipe. */
export function breakLines(out: Output, text: string, indent = ""): string[] {
  const width = (out.cuts ?? out.interactive) ? Math.max(20, out.width - indent.length) : Number.POSITIVE_INFINITY;
  return inertLines(text.trimEnd())
    .split("\n")
    .flatMap((line) => breakLine(line, width))
    .map((line) => (indent + line).trimEnd());
}

/** Sentences of our own, broken between words only: a path or a command stays whole, so that it can be copied. */
export function breakSentences(out: Output, text: string, rest = ""): string[] {
  return text.split("\n").flatMap((line) => paragraph("", line, roomOf(out), rest));
}

function breakLine(line: string, width: number): string[] {
  const broken: string[] = [];
  let left = line;
  while (Bun.stringWidth(left) > width) {
    let end = width;
    while (Bun.stringWidth(left.slice(0, end)) > width) end--;
    const space = left.lastIndexOf(" ", end);
    const at = space > 0 ? space : end - (/[\uD800-\uDBFF]$/.test(left.slice(0, end)) ? 1 : 0);
    broken.push(left.slice(0, at));
    left = left.slice(at).trimStart();
  }
  return [...broken, left];
}

/** Text from outside, in which nothing is left that moves the cursor, colours the screen or turns the reading direction. */
export function inert(text: string): string {
  return visible(text).replace(/\n/g, "⏎");
}

/** The same for text of several lines. */
export function inertLines(text: string): string {
  return text.split("\n").map(inert).join("\n");
}

/** `2026-11-16 09:30:00`, in UTC: the same for everyone who reads a shared log. */
export function moment(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
