/**
 * Paths as git writes them with core.quotePath on: plain ASCII, in double quotes with C escapes where a byte is
 * special. This form survives everything between two git commands (newlines in names, bytes that are not UTF-8,
 * output that passes through text), so lists of paths are kept and handed on in it, and only turned into a real name
 * where the file system is asked. Pure.
 */

/** A path in git's quoted form, as read from one command and fed to the next. */
export type QuotedPath = string;

const SIMPLE_ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "\\": 92,
};

/** The real name, or undefined when its bytes are not UTF-8 and no string can stand for it. */
export function unquotePath(quoted: QuotedPath): string | undefined {
  if (!quoted.startsWith('"')) return quoted;
  const bytes: number[] = [];
  for (const [, letter, octal, plain] of quoted.slice(1, -1).matchAll(/\\(?:([abtnvfr"\\])|([0-7]{3}))|([^\\])/gs)) {
    if (letter !== undefined) bytes.push(SIMPLE_ESCAPES[letter] ?? 0);
    else if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (plain !== undefined) bytes.push(...new TextEncoder().encode(plain));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The form git itself would print. */
export function quotePath(name: string): QuotedPath {
  const names = new Map(Object.entries(SIMPLE_ESCAPES).map(([letter, byte]) => [byte, letter]));
  let text = "";
  let special = false;
  for (const byte of new TextEncoder().encode(name)) {
    const letter = names.get(byte);
    const plain = letter === undefined && byte >= 0x20 && byte < 0x7f;
    if (!plain) special = true;
    if (plain) text += String.fromCharCode(byte);
    else text += letter === undefined ? `\\${byte.toString(8).padStart(3, "0")}` : `\\${letter}`;
  }
  return special ? `"${text}"` : text;
}

/** Non-empty lines of output. */
export function splitLines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}
