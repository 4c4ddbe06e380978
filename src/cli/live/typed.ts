/**
 * What the terminal has sent and nobody has read yet. A paste is held back until its end has come; one whose end never comes
 * is given up when nothing followed for a while, and Ctrl-C is never held back. Pure: text and times in, text out.
 */
const PASTE_BEGINS = "\u001b[200~";
const PASTE_ENDS = "\u001b[201~";
const CTRL_C = "\u0003";
const GIVE_UP_MS = 1_000;
/** More than any line takes; what follows in the same paste is left out. */
const MOST_OF_PASTE = 65_536;

export interface Typed {
  readonly text: string;
  /** When the last of it came. */
  readonly at: number;
}

export const NOTHING_TYPED: Typed = { text: "", at: 0 };

export function addTyped({ text }: Typed, chunk: string, now: number): Typed {
  // A key that is pressed comes alone; within a paste the same sign is text.
  if (chunk === CTRL_C && isInPaste(text)) return { text: CTRL_C, at: now };
  const all = text + chunk;
  if (!isInPaste(all)) return { text: all, at: now };
  const most = all.lastIndexOf(PASTE_BEGINS) + PASTE_BEGINS.length + MOST_OF_PASTE;
  // Its end may come in two halves.
  const tail = all.slice(Math.max(most, all.length - PASTE_ENDS.length));
  return { text: all.slice(0, most) + tail, at: now };
}

/** Whether it can be read as keys now. */
export function isTypedWhole({ text, at }: Typed, now: number): boolean {
  return text !== "" && (!isInPaste(text) || now - at >= GIVE_UP_MS);
}

function isInPaste(text: string): boolean {
  return text.lastIndexOf(PASTE_BEGINS) > text.lastIndexOf(PASTE_ENDS);
}
