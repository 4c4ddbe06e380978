/**
 * Text from outside, shown to an agent as material: a task's wording, a handoff, a note of another agent. It is put
 * between fences that are longer than any run of backticks inside, so it cannot end its own block, and what could
 * pose as ours (a supervisor's tag, control characters that fake a line end or hide text) is taken out of it.
 * Cutting is by bytes, never inside a character, and always says how much is missing.
 */

/** How a cut is announced; the reader must never mistake a part for the whole. */
function cutNote(bytes: number): string {
  return `[… ${bytes} bytes left out]`;
}

const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** Control and format characters: they fake line ends, hide text, or turn its direction. Joiners go with them. */
const HIDDEN = /[\p{Cc}\p{Cf}]/gu;
const SUPERVISOR_TAG = /\[(\s*SUPERVISOR\s*)\]/gi;
/** Tags by which agent CLIs, and Overseer, mark what comes from themselves. */
const HARNESS_TAG = /<(?=\s*\/?\s*(?:system-reminder|task-notification|overseer-[a-z]+)\b)/gi;
/** The fence grows with the longest run inside, so that run has to end somewhere. */
const ENDLESS_TICKS = /`{17,}/g;

/** One kind of line end, nothing hidden, none of our tags; half characters become the replacement character. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(LINE_ENDS, "\n")
    .replace(HIDDEN, (character) => (character === "\n" || character === "\t" ? character : ""))
    .replace(SUPERVISOR_TAG, "($1)")
    .replace(HARNESS_TAG, "‹")
    .replace(ENDLESS_TICKS, "`".repeat(16));
}

/** A fenced block of at most `maxBytes`, fences and all; undefined when there is nothing to show. */
export function renderFenced(text: string, maxBytes: number): string | undefined {
  const clean = cleanText(text).replace(/^\n+|\s+$/g, "");
  if (clean === "") return undefined;
  const fence = fenceFor(clean);
  const wrap = (inner: string) => `${fence}text\n${inner}\n${fence}`;
  const room = maxBytes - byteLength(wrap(""));
  return wrap(cutTo(clean, room));
}

/** One line between backticks of its own, for names and paths in running text; never empty. */
export function inline(text: string, maxBytes = 120): string {
  const line = cleanText(text).replace(/\s+/g, " ").replaceAll("`", "'").trim();
  return `\`${line === "" ? "?" : cutLine(line, maxBytes - 2)}\``;
}

/** At most `maxBytes`, with a last line that says how much is missing. */
export function cutTo(text: string, maxBytes: number): string {
  const size = byteLength(text);
  if (size <= maxBytes) return text;
  const kept = headBytes(text, maxBytes - byteLength(`\n${cutNote(size)}`));
  return `${kept}\n${cutNote(size - byteLength(kept))}`.slice(kept === "" ? 1 : 0);
}

function cutLine(line: string, maxBytes: number): string {
  return byteLength(line) <= maxBytes ? line : `${headBytes(line, maxBytes - byteLength("…"))}…`;
}

/** The longest beginning of at most so many bytes that ends between two characters. */
function headBytes(text: string, maxBytes: number): string {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += byteLength(character);
    if (used > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Three backticks, or one more than the longest run inside. */
function fenceFor(text: string): string {
  let longest = 2;
  for (const run of text.matchAll(/`+/g)) longest = Math.max(longest, run[0].length);
  return "`".repeat(longest + 1);
}

/** UTF-8 bytes, counted without an encoder so that it is the same everywhere. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
