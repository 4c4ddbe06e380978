/**
 * Answers of tools in pieces: whoever asked gets the beginning, with the word by which the `read` tool gives what follows.
 * The rest is kept for a while, in memory; the newest answers count, because a model goes on with what it has just seen.
 */
import { byteLength } from "#domain/core/quote.ts";

/** What one answer may cost: about 1,500 tokens. */
export const PAGE_BYTES = 6_000;
const KEPT = 20;

export class Pages {
  private readonly kept = new Map<string, string>();
  private last = 0;

  constructor(private readonly bytes = PAGE_BYTES) {}

  /** The text where it is short enough, else its first piece and how to read on. */
  first(text: string): string {
    if (byteLength(text) <= this.bytes) return text;
    this.last += 1;
    const id = `r${this.last}`;
    this.kept.set(id, text);
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT && oldest !== undefined) this.kept.delete(oldest);
    return this.piece(id, text, 0);
  }

  /** The piece that a word stands for; undefined when nothing is kept under it. */
  next(word: string): string | undefined {
    const [, id = "", at = ""] = /^(r\d{1,9})@(\d{1,12})$/.exec(word) ?? [];
    const text = this.kept.get(id);
    return text === undefined || Number(at) >= text.length ? undefined : this.piece(id, text, Number(at));
  }

  private piece(id: string, text: string, from: number): string {
    const end = findEnd(text, from, this.bytes);
    const piece = text.slice(from, end).toWellFormed();
    if (end >= text.length) return piece;
    return `${piece}\n… ${byteLength(text.slice(end))} bytes more: read {"more":"${id}@${end}"}`;
  }
}

/** Where a piece of at most so many bytes ends: behind a line where there is one in its second half. */
function findEnd(text: string, from: number, bytes: number): number {
  let end = Math.min(text.length, from + bytes);
  while (byteLength(text.slice(from, end)) > bytes) end -= Math.ceil((end - from) / 8);
  if (end >= text.length) return end;
  const line = text.lastIndexOf("\n", end - 1) + 1;
  if (line > from + (end - from) / 2) return line;
  // Never between the halves of one character.
  return /[\uD800-\uDBFF]/.test(text[end - 1] ?? "") && end - 1 > from ? end - 1 : end;
}
