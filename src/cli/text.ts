/** Words and tables for people: columns that fit, times that read well, nothing that a terminal would interpret. */
import { visible } from "#domain/core/terminal-text.ts";
import type { Output } from "./output.ts";

/** Columns aligned by display width; the last one is cut to what is left of the line. */
export function table(out: Output, rows: readonly (readonly string[])[]): void {
  const plain = rows.map((row) => row.map(inert));
  const widths = (plain[0] ?? []).map((_, column) =>
    Math.max(...plain.map((row) => Bun.stringWidth(row[column] ?? ""))),
  );
  for (const row of plain) {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell))),
    );
    out.line(fit(cells.join("  ").trimEnd(), (out.cuts ?? out.interactive) ? out.width : Number.POSITIVE_INFINITY));
  }
}

function fit(line: string, width: number): string {
  if (Bun.stringWidth(line) <= width) return line;
  let cut = "";
  for (const sign of line) {
    if (Bun.stringWidth(cut + sign) > width - 1) break;
    cut += sign;
  }
  return `${cut}…`;
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
