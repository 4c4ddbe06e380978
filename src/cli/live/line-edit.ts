/** A line that is being written: its text, where the caret stands, and what each key does to it. Pure. */
import type { LiveKey } from "./key.ts";

export interface LineEdit {
  /** What people see as one sign each; an emoji of several code points is one. */
  readonly signs: readonly string[];
  readonly caret: number;
}

export const EMPTY_EDIT: LineEdit = { signs: [], caret: 0 };

/** What is longer is refused wherever it is sent; one sign more is taken, so that nothing is sent that was cut. */
export const LINE_LIMIT = 16_384;

const SEGMENTS = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export function readEdit({ signs }: LineEdit): string {
  return signs.join("");
}

export function beginEdit(text: string): LineEdit {
  const signs = toSigns(text);
  return { signs, caret: signs.length };
}

function toSigns(text: string): string[] {
  return Array.from(SEGMENTS.segment(text), ({ segment }) => segment);
}

export function editLine(edit: LineEdit, key: LiveKey): LineEdit {
  const { signs, caret } = edit;
  switch (key.name) {
    case "text": {
      const text = cutToRoom(key.text, signs);
      if (text === "") return edit;
      // Only the sign before it may become one with what is written after it.
      const from = Math.max(0, caret - 1);
      const written = toSigns((signs.slice(from, caret)[0] ?? "") + text);
      return { signs: [...signs.slice(0, from), ...written, ...signs.slice(caret)], caret: from + written.length };
    }
    case "left":
      return { signs, caret: Math.max(0, caret - 1) };
    case "right":
      return { signs, caret: Math.min(signs.length, caret + 1) };
    case "home":
    case "ctrl-a":
      return { signs, caret: 0 };
    case "end":
    case "ctrl-e":
      return { signs, caret: signs.length };
    case "backspace":
      return caret === 0 ? edit : { signs: signs.toSpliced(caret - 1, 1), caret: caret - 1 };
    case "delete":
      return { signs: signs.toSpliced(caret, 1), caret };
    case "ctrl-u":
      return { signs: signs.slice(caret), caret: 0 };
    case "ctrl-k":
      return { signs: signs.slice(0, caret), caret };
    case "ctrl-w": {
      const start = startOfWord(signs, caret);
      return { signs: signs.toSpliced(start, caret - start), caret: start };
    }
    default:
      return edit;
  }
}

/** Never half of a pair. */
function cutToRoom(text: string, signs: readonly string[]): string {
  const room = LINE_LIMIT + 1 - signs.reduce((sum, sign) => sum + sign.length, 0);
  if (text.length <= room) return text;
  return text.slice(0, Math.max(0, room)).replace(/[\ud800-\udbff]$/, "");
}

/** Text that came at once, as one key where somebody writes; `isWriting` is asked before each. */
export function* joinText(keys: readonly LiveKey[], isWriting: () => boolean): Generator<LiveKey> {
  for (let at = 0; at < keys.length; ) {
    const isText = keys[at]?.name === "text" && isWriting();
    let end = at + 1;
    while (isText && keys[end]?.name === "text") end += 1;
    const run = keys.slice(at, end);
    const [only, second] = run;
    if (only) yield second ? { name: "text", text: run.map(({ text }) => text).join("") } : only;
    at = end;
  }
}

function startOfWord(signs: readonly string[], caret: number): number {
  let at = caret;
  while (at > 0 && signs[at - 1] === " ") at -= 1;
  while (at > 0 && signs[at - 1] !== " ") at -= 1;
  return at;
}

/** The part around the caret that fits, and in which of its columns the caret stands. */
export function showEdit({ signs, caret }: LineEdit, columns: number): { readonly text: string; readonly at: number } {
  let start = caret;
  let width = 0;
  // The caret needs a column of its own.
  for (; start > 0; start -= 1) {
    const wide = Bun.stringWidth(signs[start - 1] ?? "");
    if (width + wide > columns - 1) break;
    width += wide;
  }
  let text = "";
  for (const sign of signs.slice(start)) {
    if (Bun.stringWidth(text + sign) > columns) break;
    text += sign;
  }
  return { text, at: width };
}
