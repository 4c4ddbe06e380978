/**
 * Places where a secret stands whatever it looks like: headers, URLs, command lines, credential files, and phone
 * numbers, which are kept out for the same reason.
 */

import { isMarker, lazily, marker } from "./secret-marker.ts";
import { isStandIn } from "./secret-names.ts";
import { startsWord } from "./secret-shapes.ts";
import { endOfLine, endOfQuoted } from "./text-scan.ts";

interface SecretPattern {
  /** Lower case; one of them is in every match. */
  readonly markers: readonly string[];
  readonly hint?: string;
  readonly redact: (text: string) => string;
}

/** Replaces what follows the first group of `pattern` when it is a real value and not a placeholder. */
function definePattern(
  kind: string,
  markers: readonly string[],
  source: string,
  hint?: string,
  flags = "gi",
): SecretPattern {
  const pattern = lazily(() => new RegExp(source, flags));
  const swap = (match: string, head: string, value: string, tail: unknown): string => {
    if (isMarker(value) || isStandIn(value)) return match;
    return `${head}${marker(kind)}${typeof tail === "string" ? tail : ""}`;
  };
  return { markers, hint, redact: (text) => text.replace(pattern(), swap) };
}

/** A word begins here, be it right behind the `\\n` of a JSON string. */
const START = "(?:\\b|(?<=\\\\[nrt]))";
const QUOTE = "\\\\{0,3}[\"'`]";
/** `-p` and no more: `-pass`, `-passin` are another program's. */
const NOT_PASS = "(?!ass(?:in|out|word)?[\\s=])";
export const PLACES: readonly SecretPattern[] = [
  definePattern(
    "basic-auth",
    ["authorization"],
    `(authorization(?:${QUOTE})?[ \\t]{0,4}[:=,][ \\t]{0,4}(?:${QUOTE})?basic[ \\t]{1,4})([^\\s"'\`\\\\,;]{4,})`,
  ),
  definePattern(
    "bearer-token",
    ["authorization"],
    `(authorization(?:${QUOTE})?[ \\t]{0,4}[:=,][ \\t]{0,4}(?:${QUOTE})?(?:bearer|token|apikey|api-key|key|negotiate|digest|oauth|splunk|bot)[ \\t]{1,4})([^\\s"'\`\\\\,;]{4,})`,
  ),
  definePattern(
    "authorization",
    ["authorization"],
    `(authorization(?:${QUOTE})?[ \\t]{0,4}[:=][ \\t]{0,4}(?:${QUOTE})?)((?=[A-Za-z+/=_.-]{0,80}\\d)[\\w+/=.~-]{16,})`,
  ),
  definePattern(
    "bearer-token",
    ["bearer "],
    "((?:\\b|(?<=\\\\[nrt]))bearer {1,4})((?=[A-Za-z+/=_.~-]{0,200}\\d)[\\w+/=.~-]{16,})",
    "bearer [\\w+/=.~-]{16}",
  ),
  { markers: ["cookie"], redact: redactCookies },
  {
    markers: ["://"],
    hint: "://[^\\s/@]{0,256}:[^\\s]",
    redact: (text) => text.replace(urlCredential(), swapUrlPassword),
  },
  definePattern(
    "password",
    ["machine", "default"],
    `((?:machine(?:\\s|\\\\n){1,8}[^\\s\\\\]{1,256}|default)(?:\\s|\\\\n){1,8}(?:login|user)(?:\\s|\\\\n){1,8}[^\\s\\\\]{1,256}(?:\\s|\\\\n){1,8}(?:account(?:\\s|\\\\n){1,8}[^\\s\\\\]{1,256}(?:\\s|\\\\n){1,8})?password(?:\\s|\\\\n){1,8})([^\\s"'\\\\]{1,512})`,
    "machine\\s",
  ),
  definePattern(
    "pgpass-password",
    [":"],
    "((?:(?<![\\w./@-])|(?<=\\\\[nrt]))(?:\\*|localhost|\\d{1,3}(?:\\.\\d{1,3}){3}|[a-z0-9-]{1,63}(?:\\.[a-z0-9-]{1,63}){0,6}\\.(?:com|net|org|io|dev|internal|local|cloud|example|test)):(?:\\*|5\\d{3}|6\\d{3}|2\\d{4}):[\\w*-]{1,63}:[\\w*-]{1,63}:)([^\\s\"'`\\\\]{1,256})",
    ":(?:\\*|[256]\\d{3,4}):",
  ),
  definePattern(
    "docker-auth",
    ["auth"],
    `((?:${QUOTE})auth(?:${QUOTE})[ \\t]{0,4}:[ \\t]{0,4}(?:${QUOTE}))([A-Za-z0-9+/=]{8,})`,
    "auth\\\\{0,3}[\"'`]",
  ),
  definePattern(
    "npm-auth",
    [":_auth", "_auth="],
    "((?<![\\w-])_auth[ \\t]{0,4}=[ \\t]{0,4}[\"']?)([A-Za-z0-9+/=]{8,})",
  ),
  definePattern(
    "password",
    ["mysql", "mariadb"],
    `(${START}(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)\\b[^\\n|;&]{0,200}?\\s-p(?:${QUOTE})?)([^\\s"'\`\\\\-][^\\s"'\`\\\\]{0,256})`,
  ),
  definePattern(
    "password",
    ["sshpass", "redis-cli", "docker login", "podman login"],
    `(${START}(?:sshpass[ \\t]{1,4}-p|redis-cli\\b[^\\n|;&]{0,200}?\\s-a|(?:docker|podman)[ \\t]login\\b[^\\n|;&]{0,200}?\\s-p)[ \\t]{0,4}(?:${QUOTE})?)([^\\s"'\`\\\\-][^\\s"'\`\\\\]{0,256})`,
  ),
  definePattern(
    "password",
    ["curl", "wget"],
    `(${START}(?:curl|wget)\\b[^\\n]{0,200}?\\s(?:-u|--user|--proxy-user)[ =]{0,2}(?:${QUOTE})?[^\\s:"'\`]{1,128}:)([^\\s"'\`\\\\]{1,256})`,
  ),
  definePattern(
    "password",
    ["pass:"],
    `(-pass(?:in|out|word)?[ \\t=]{1,4}(?:${QUOTE})?pass:(?:${QUOTE})?)([^\\s"'\`\\\\]{1,256})`,
    "-pass(?:in|out|word)?[ \\t=]",
  ),
  // From here on upper and lower case differ: `-W` and `-p` ask for it or mean something else.
  definePattern(
    "password",
    ["mongo", "ldap"],
    `(${START}(?:mongo(?:sh|dump|restore|export|import)?\\b[^\\n|;&]{0,200}?\\s-p${NOT_PASS}|ldap[a-z]{3,8}\\b[^\\n|;&]{0,200}?\\s-w)[ \\t]{0,4}(?:${QUOTE})?)([^\\s"'\`\\\\-][^\\s"'\`\\\\]{0,256})`,
    "(?:mongo|ldap)[a-z]{0,8}\\s",
    "g",
  ),
  definePattern(
    "password",
    ["7z", "rar ", "zip -"],
    `(${START}(?:(?:7z[arz]?|(?:un)?rar)\\b[^\\n|;&]{0,200}?\\s-h?p${NOT_PASS}(?:${QUOTE})?|(?:un)?zip\\b[^\\n|;&]{0,200}?\\s-P[ \\t]{0,4}(?:${QUOTE})?))([^\\s"'\`\\\\-][^\\s"'\`\\\\]{0,256})`,
    "(?:7z[arz]?|rar|zip)\\s[^\\n]{0,200}-",
    "g",
  ),
  definePattern(
    "password",
    ["htpasswd"],
    `(${START}htpasswd(?=(?:[ \\t]{1,4}-[a-zA-Z]{1,8}){0,5}[ \\t]{1,4}-[a-zA-Z]{0,8}b)(?:(?=(?:[ \\t]{1,4}-[a-zA-Z]{1,8}){0,5}[ \\t]{1,4}-[a-zA-Z]{0,8}n)(?:[ \\t]{1,4}-[a-zA-Z]{1,8}){1,6}|(?:[ \\t]{1,4}-[a-zA-Z]{1,8}){1,6}[ \\t]{1,4}[^\\s|;&<>-][^\\s|;&<>]{0,255})[ \\t]{1,4}[^\\s|;&<>-][^\\s|;&<>]{0,255}[ \\t]{1,4}(?:${QUOTE})?)([^\\s"'\`\\\\|;&<>-][^\\s"'\`\\\\]{0,256})`,
    "htpasswd\\s",
    "g",
  ),
  // A sentence: what could be a word with a number ("sha256-hashed", "base64") is no password.
  definePattern(
    "password",
    ["passw", "passphrase", "passcode"],
    `((?:passphrase|password|passcode) is:? {1,2}(?:${QUOTE})?)((?![A-Za-z]{1,20}[-_]?\\d{1,5}(?:[-_.][A-Za-z]{1,30}){0,4}(?:[\\s,;.!?"'\`\\\\]|$))(?=[^\\s"'\`\\\\]{0,60}\\d)(?=[^\\s"'\`\\\\]{0,60}[A-Za-z])[^\\s"'\`\\\\,;]{8,256})`,
    "pass(?:phrase|word|code) is",
  ),
];

// The password may hold '/', '@' or ':' (people forget to escape), but never the start of another URL.
const urlCredential = lazily(() => /(:\/\/[^\s:@/?#"'`<>[\]\\]{0,256}:)((?:(?!:\/\/)[^\s"'`<>\\]){1,512})@/g);

function swapUrlPassword(match: string, head: string, password: string): string {
  // `host:8080/path@v1` is a port, not a password.
  if (/^\d{1,5}[/?#]/.test(password) || isMarker(password) || isStandIn(password)) return match;
  return `${head}${marker("password")}@`;
}

const cookieHeader = lazily(
  () =>
    /((?:\\{0,3}["'`])?)(?:\b|(?<=\\[nrt]))((?:set-)?cookie2?)((?:\\{0,3}["'`])?[ \t]{0,4}:[ \t]{0,4})((?:\\{0,3}["'`])?)(?=[\w!#$%&*+.^|~-]{1,128}=[^\s"'`;\\])/gi,
);

/** A cookie runs to the end of its line or of the quotes around it; all of it goes, names included. */
function redactCookies(text: string): string {
  const header = cookieHeader();
  let out = "";
  let done = 0;
  header.lastIndex = 0;
  for (let found = header.exec(text); found !== null; found = header.exec(text)) {
    const start = found.index + found[0].length;
    const quote = found[4] || found[1] || "";
    const end = quote === "" ? endOfLine(text, start) : endOfQuoted(text, start, quote);
    header.lastIndex = end;
    const firstValue = text.slice(text.indexOf("=", start) + 1, end).split(";", 1)[0] ?? "";
    if (isStandIn(firstValue) || isMarker(text.slice(start, end))) continue;
    out += text.slice(done, start) + marker("cookie");
    done = end;
  }
  return done === 0 ? text : out + text.slice(done);
}

const phone = lazily(() => /\+[1-9]\d{0,14}(?:(?:[ .-]|[ .-]?\(|\)[ .-]?)\d{1,14}){0,7}/g);
const callingCode = lazily(
  () =>
    /^(?:1(?=[2-9])|7|2[07]|2[1-69]\d|3[0-469]|3[578]\d|4[013-9]|42\d|5[09]\d|5[1-8]|6[0-6]|6[789]\d|8[1246]|8[0578]\d|9[0-58]|9[679]\d)/,
);

export function redactPhones(text: string): string {
  if (!text.includes("+")) return text;
  return text.replace(phone(), (match: string, offset: number) => {
    // `1.0.0+20130313144700`, `a+4915123456789` and `f(x)+…` are not numbers to call.
    if (!startsWord(text, offset) || /[)\].+]/.test(text.charAt(offset - 1))) return match;
    // `… 0A`: the last group runs on into a word, so it is not part of a number.
    const runsOn = /[A-Za-z_]/.test(text.charAt(offset + match.length));
    const called = longestPhone(runsOn ? match.slice(0, Math.max(0, lastGroup(match))) : match);
    return called === 0 ? match : marker("phone-number") + match.slice(called);
  });
}

/** How many characters of `candidate` are a phone number (0: none); trailing groups may be other numbers. */
function longestPhone(candidate: string): number {
  let length = candidate.length;
  while (length > 0) {
    const digits = candidate.slice(0, length).replace(/\D/g, "");
    const code = callingCode().exec(digits)?.[0];
    if (code === undefined) return 0;
    const fixed = code === "1" || code === "7";
    if (fixed ? digits.length === 11 : digits.length >= 10 && digits.length <= 14) return length;
    length = lastGroup(candidate.slice(0, length));
  }
  return 0;
}

function lastGroup(candidate: string): number {
  return candidate.search(/[ .()-]{1,3}\d+$/);
}
