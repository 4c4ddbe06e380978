/**
 * Keys, read from what a terminal sends: names for those that are no text, and text for the rest. A paste arrives as one
 * key, so that a newline in it sends nothing off. Pure: text in, keys out.
 */

export type KeyName =
  | "text"
  | "up"
  | "down"
  | "left"
  | "right"
  | "pgup"
  | "pgdn"
  | "home"
  | "end"
  | "enter"
  | "esc"
  | "tab"
  | "backtab"
  | "backspace"
  | "delete"
  | "ctrl-a"
  | "ctrl-c"
  | "ctrl-e"
  | "ctrl-k"
  | "ctrl-u"
  | "ctrl-w"
  | "other";

export interface LiveKey {
  readonly name: KeyName;
  /** What it writes; empty for a key that writes nothing. */
  readonly text: string;
}

/** Without the introducer `ESC [` or `ESC O`. */
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  Z: "backtab",
  "1~": "home",
  "7~": "home",
  "4~": "end",
  "8~": "end",
  "3~": "delete",
  "5~": "pgup",
  "6~": "pgdn",
};

const CONTROLS: Readonly<Record<string, KeyName>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\u007f": "backspace",
  "\b": "backspace",
  "\u0001": "ctrl-a",
  "\u0003": "ctrl-c",
  "\u0005": "ctrl-e",
  "\u000b": "ctrl-k",
  "\u0015": "ctrl-u",
  "\u0017": "ctrl-w",
  "\u001b": "esc",
};

const ESCAPE = "\u001b";
const PASTE = new RegExp(`^\\[200~([\\s\\S]*?)(?:${ESCAPE}\\[201~|$)`);
const SEQUENCE = /^(?:\[[0-9;?]*[ -/]*[@-~]|O[A-Za-z])/;

export function readKeys(sent: string): LiveKey[] {
  const keys: LiveKey[] = [];
  for (let rest = sent; rest !== ""; ) {
    const [sign = ""] = rest;
    const after = rest.slice(sign.length);
    const pasted = sign === ESCAPE ? PASTE.exec(after) : null;
    const sequence = sign === ESCAPE ? SEQUENCE.exec(after) : null;
    if (pasted) keys.push({ name: "text", text: cleanPaste(pasted[1] ?? "") });
    else if (sequence) keys.push({ name: SEQUENCES[sequence[0].slice(1)] ?? "other", text: "" });
    else keys.push(toKey(sign));
    rest = after.slice((pasted ?? sequence)?.[0].length ?? 0);
  }
  return keys;
}

function toKey(sign: string): LiveKey {
  const name = CONTROLS[sign];
  if (name) return { name, text: "" };
  return sign < " " ? { name: "other", text: "" } : { name: "text", text: sign };
}

/** On one line: what is written here is one line. */
function cleanPaste(text: string): string {
  return text.replace(/[\r\n\t]+/g, " ").replace(/\p{Cc}/gu, "");
}
