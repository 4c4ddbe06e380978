/**
 * All patterns together, for text that the first look could not clear. Loaded only then (telemetry/redact.ts): making
 * the tables and compiling what they hold costs a hook a good part of its time.
 */
import { redactPrivateKeys } from "./private-keys.ts";
import { redactElements } from "./secret-elements.ts";
import { isMarker, lazily } from "./secret-marker.ts";
import {
  COMMON_WORDS,
  CORE_NAMES,
  isCredential,
  isStandIn,
  mayHoldCredential,
  redactNamedValues,
} from "./secret-names.ts";
import { PLACES, redactPhones } from "./secret-places.ts";
import { redactShape, VENDORS } from "./secret-shapes.ts";

/** Replaces every secret; redacting twice changes nothing more. */
export function redactByPatterns(text: string): string {
  if (!isSuspicious(text)) return text;
  let before = text;
  // One replacement can uncover the next (a boundary appears where a neighbour went), hence a fixed point. Two rounds
  // are usual; the bound is there for input built to chain.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const after = redactOnce(before);
    if (after === before) return after;
    before = after;
  }
  return before;
}

/** Is the value of a property with this name a credential? */
/** Whether any value under this name could be one; a name comes again with every record, its values change. */
export function canNameSecret(name: string): boolean {
  return HEADER_NAMES.test(name) || mayHoldCredential(name);
}

export function isNamedSecret(name: string, value: string): boolean {
  if (!HEADER_NAMES.test(name)) return isCredential(name, value, "data");
  const bare = value.replace(/^(?:bearer|basic|token|digest)\s+/i, "");
  return bare !== "" && !isMarker(bare) && !isStandIn(bare) && !COMMON_WORDS.test(bare);
}

const MAX_ROUNDS = 8;

/** Up to here, asking a few patterns one by one is cheaper than making them all into one. */
const SHORT = 4 * 1024;

function isSuspicious(text: string): boolean {
  return text.length <= SHORT ? someSuspicion(text) : suspicion().test(text);
}

/** The same answer for a short text, from those patterns alone whose markers are in it. */
function someSuspicion(text: string): boolean {
  const lower = text.toLowerCase();
  for (const list of [VENDORS, PLACES]) {
    for (const { hint, markers } of list) {
      if (!holdsAny(lower, markers)) continue;
      if (hint === undefined || new RegExp(hint, "i").test(text)) return true;
    }
  }
  return holdsAny(lower, NAME_WORDS) && suspiciousName().test(text);
}

function holdsAny(lower: string, words: readonly string[]): boolean {
  for (const word of words) if (lower.includes(word.toLowerCase())) return true;
  return false;
}

/** One of these is in everything that SUSPICIOUS_NAMES finds. */
const NAME_WORDS = [
  "secret",
  "token",
  "passw",
  "passphrase",
  "pwd",
  "kennwort",
  "credential",
  "key",
  "_pat",
  "private",
  "+",
];
const SUSPICIOUS_NAMES = `${CORE_NAMES}|private[ -](?:key|lines)|\\+[1-9]`;
const suspiciousName = lazily(() => new RegExp(SUSPICIOUS_NAMES, "i"));

const suspicion = lazily(() => {
  const literally = (word: string) => word.replace(/[.+*?^$()[\]{}|\\]/g, "\\$&");
  const hints = [...VENDORS, ...PLACES].flatMap(({ hint, markers }) =>
    hint === undefined ? markers.map(literally) : [hint],
  );
  return new RegExp(`${[...new Set(hints)].join("|")}|${SUSPICIOUS_NAMES}`, "i");
});

function redactOnce(text: string): string {
  let out = redactPrivateKeys(text);
  out = redactNamedValues(out, "env-lines");
  const lower = out.toLowerCase();
  for (const vendor of VENDORS) {
    if (holdsAny(lower, vendor.markers)) out = redactShape(out, vendor);
  }
  for (const place of PLACES) {
    if (holdsAny(lower, place.markers)) out = place.redact(out);
  }
  out = redactElements(out);
  out = redactNamedValues(out, "everything");
  return redactPhones(out);
}

const HEADER_NAMES = /^(?:proxy-?)?authorization$|^(?:set-?)?cookies?$|^x-(?:api-key|auth-token|amz-security-token)$/i;
