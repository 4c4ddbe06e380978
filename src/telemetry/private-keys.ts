/** Private keys in text: PEM and PuTTY blocks, whole, cut off, or inside a JSON string. */
import { lazily, marker } from "./secret-marker.ts";

/** Longer than any real key; an END further away belongs to something else. */
const MAX_KEY_CHARS = 64 * 1024;

const keyHeader = lazily(() => /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g);

export function redactPrivateKeys(text: string): string {
  if (!text.includes("PRIVATE KEY")) return redactPuttyKeys(text);
  const header = keyHeader();
  let out = "";
  let done = 0;
  let end = -2; // -2: not looked yet; -1: none left, never search again
  header.lastIndex = 0;
  for (let found = header.exec(text); found !== null; found = header.exec(text)) {
    const bodyStart = found.index + found[0].length;
    if (end !== -1 && end < bodyStart) end = endOfPem(text, bodyStart);
    const next = text.indexOf("----BEGIN ", bodyStart);
    const isNearest = next === -1 || next > end;
    const closed =
      isNearest && end !== -1 && end - bodyStart <= MAX_KEY_CHARS && hasKeyBody(text.slice(bodyStart, end));
    const stop = closed ? end : endOfOpenKey(text, bodyStart);
    if (stop === bodyStart) continue;
    out += text.slice(done, found.index) + marker("private-key");
    done = stop;
    header.lastIndex = stop;
  }
  return redactPuttyKeys(done === 0 ? text : out + text.slice(done));
}

function endOfPem(text: string, from: number): number {
  const five = text.indexOf("-----END ", from);
  const start = five === -1 ? text.indexOf("---- END ", from) : five;
  if (start === -1) return -1;
  const tail = /^-{4,5} ?END [A-Z0-9 ]{0,60}-{0,5}/.exec(text.slice(start, start + 80));
  return start + (tail?.[0].length ?? 0);
}

/** Source code may name header and footer in one breath; a key has a run of base64 between them. */
function hasKeyBody(body: string): boolean {
  return /[A-Za-z0-9+/=]{16}/.test(body);
}

/** A key cut off in the middle: take every following line that still looks like one. */
function endOfOpenKey(text: string, from: number): number {
  const line = /(?:\r?\n|\\{1,4}[nr]|[ \t]|^)([^\r\n\\ \t]{0,4096})/y;
  const limit = Math.min(text.length, from + MAX_KEY_CHARS);
  let stop = from;
  let sawBody = false;
  line.lastIndex = from;
  while (line.lastIndex < limit) {
    const found = line.exec(text);
    if (found === null || found[0] === "") break;
    const piece = (found[1] ?? "").replace(/^[^A-Za-z0-9+/=]{1,4}/, "");
    const run = /^[A-Za-z0-9+/]*={0,2}/.exec(piece)?.[0] ?? "";
    if (run.length >= 16 || (sawBody && run.length >= 2 && run.length === piece.length && /[\d+/=]/.test(run))) {
      sawBody = true;
      stop = line.lastIndex - (piece.length - run.length);
      // A closing quote or brace behind the run ends the string that held the key.
      if (run.length < piece.length && !/^[^A-Za-z0-9]{1,3}$/.test(piece.slice(run.length))) break;
      continue;
    }
    const decoration =
      piece === "" ||
      /^(?:\d{1,6}[→:|]?|[\w-]{1,20}:|4,ENCRYPTED|[A-Z0-9-]{6,16},[A-F0-9]{16,64}|GnuPG|v\d.*)$/.test(piece);
    if (!decoration) break;
  }
  return sawBody ? stop : from;
}

function redactPuttyKeys(text: string): string {
  if (!text.includes("Private-Lines:")) return text;
  return text.replace(
    /(Private-Lines: \d{1,4}(?:\r?\n|\\n))(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\\n|$)){1,400}/g,
    (_all, head: string) => `${head}${marker("private-key")}\n`,
  );
}
