/**
 * Names in front of values: `DB_PASSWORD=`, `"token":`, `--api-key`. Finding the name is cheap; most of this file
 * decides whether what follows is a credential or merely talks about one.
 */
import { isMarker, lazily, marker } from "./secret-marker.ts";
import { endOfQuoted } from "./text-scan.ts";

/** Found first; the whole identifier around it is then judged word by word. */
export const CORE_NAMES =
  "secret|token(?!s)|passw|passphrase|pwd|kennwort|credential|api[_-]?key|access[_-]?key|(?:private|account|auth|encryption|signing|master|shared|client|service)[_-]?key|_pat\\b|_key=";

const coreName = lazily(() => new RegExp(CORE_NAMES, "gi"));

/** Strong: a value here is a secret whatever it looks like. Weak: the word has other meanings (a parser's token). */
type NameStrength = "strong" | "weak" | "none";

type Setting =
  | "data" /** JSON property: judged by the name alone */
  | "env" /** NAME=value */
  | "quoted" /** name = "value" in code or config */
  | "tight" /** name=value: query strings, connection strings, keyword arguments */
  | "line" /** name: value, alone on its line */
  | "block" /** name: |, and the value on the lines below; judged by its first line when it was read */
  | "loose"; /** anything that may be prose or code */

const STRONG_WORDS = /(?:password|passwd|passphrase|passwort|kennwort|secret|^pwd|^passw|credentials?)$/;
const WEAK_WORDS = /(?:token|apikey|accesskey|privatekey|^pat)$/;
const KEY_OWNERS =
  /^(?:api|private|access|secret|account|auth|encryption|signing|master|shared|client|service|storage|session|license|admin)$/;
/** `token_count`, `PASSWORD_FILE`, `secretName`: about the secret, not the secret. */
const ABOUT_WORDS =
  /^(?:counts?|budget|limit|ids?|name|names|file|files|path|dir|url|uri|type|kind|length|len|size|usage|used|ttl|expiry|expires|expiration|at|in|age|max|min|policy|field|header|ref|env|var|prompt|index|version|required|enabled|disabled|rotation|label|placeholder|regex|pattern|hint|manager|store|provider|reset|strength|rules|lifetime|issuer|endpoint|scopes?|algorithm|cost|price|rate|stdin|command|cmd|helper|audience|status|state|error|message|description|title|column|table|input|output|estimate|total|seconds|ms|days|valid|set|present|configured|bucket|window|kinds|types|class|color|colour|start|end|pos|position|offset|line)$/;

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function nameStrength(name: string): NameStrength {
  const words = wordsOf(name);
  if (ABOUT_WORDS.test(words.at(-1) ?? "")) return "none";
  let strength: NameStrength = "none";
  for (const [index, word] of words.entries()) {
    if (STRONG_WORDS.test(word)) return "strong";
    if (WEAK_WORDS.test(word)) strength = "weak";
    if ((word === "key" || word === "keys") && KEY_OWNERS.test(words[index - 1] ?? "")) strength = "weak";
  }
  // `STRIPE_KEY=`: in an environment, a name that ends in KEY is one.
  if (strength === "none" && /^[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*KEY$/.test(name)) return "weak";
  return strength;
}

interface NamedValue {
  readonly name: string;
  readonly setting: Setting;
  readonly start: number;
  readonly end: number;
}

type Which = "env-lines" | "everything";

export function redactNamedValues(text: string, which: Which): string {
  const core = coreName();
  let out = "";
  let done = 0;
  core.lastIndex = 0;
  for (let found = core.exec(text); found !== null; found = core.exec(text)) {
    const named = readNamedValueAt(text, found.index, which);
    core.lastIndex = Math.max(core.lastIndex, named.nameEnd);
    const { value } = named;
    if (value === undefined || value.start < done) continue;
    if (!isCredential(value.name, text.slice(value.start, value.end), value.setting)) continue;
    out += text.slice(done, value.start) + marker(value.setting === "env" ? "env-value" : "credential");
    done = value.end - value.start < MAX_BARE_CHARS ? value.end : endOfRun(text, value.end);
    core.lastIndex = Math.max(core.lastIndex, done);
  }
  return done === 0 ? text : out + text.slice(done);
}

const MAX_NAME_CHARS = 80;

/** Reads the identifier around `at`, the operator behind it and the value behind that. */
function readNamedValueAt(text: string, at: number, which: Which): { nameEnd: number; value?: NamedValue } {
  let start = at;
  while (start > 0 && at - start < MAX_NAME_CHARS && isNameChar(text.charCodeAt(start - 1))) start -= 1;
  if (text.charAt(start - 1) === "\\" && /[nrt]/.test(text.charAt(start)) && start < at) start += 1;
  let nameEnd = at;
  while (nameEnd < text.length && nameEnd - at < MAX_NAME_CHARS && isNameChar(text.charCodeAt(nameEnd))) nameEnd += 1;
  if (nameEnd - at === MAX_NAME_CHARS || text.slice(start - 9, start) === "redacted:") return { nameEnd };

  const raw = text.slice(start, nameEnd);
  const dashes = /^-{1,2}/.exec(raw)?.[0].length ?? 0;
  const name = raw.slice(dashes);
  if (nameStrength(name) === "none") return { nameEnd };
  const operator = /(\\{0,3}["'`])?\]?([ \t]{0,8})(:=|=>|!==?|={1,3}|:|,(?=[ \t]{0,4}\\{0,3}["'`]))?([ \t]{0,8})/y;
  operator.lastIndex = nameEnd;
  const found = operator.exec(text);
  if (found === null) return { nameEnd };
  const [all, nameQuote, before, sign, after] = found;
  if (sign === undefined && (dashes === 0 || nameQuote !== undefined || before === "")) return { nameEnd };
  if (sign === "," && nameQuote === undefined) return { nameEnd };
  const spot = {
    name,
    from: nameEnd + all.length,
    isFlag: dashes > 0 && start + dashes <= at,
    // Backticks around a name are Markdown, not data.
    isProperty: nameQuote !== undefined && !nameQuote.endsWith("`") && sign === ":",
    sign: sign ?? " ",
    isTight: before === "" && after === "",
    opensLine: opensLine(text, start),
  };
  // `NAME= next`: empty, and what follows is something else.
  if (before === "" && after !== "" && sign !== ":" && sign !== undefined && sign !== ",") return { nameEnd };
  return { nameEnd, value: which === "env-lines" && !isEnvLine(spot) ? undefined : readValue(text, spot) };
}

interface Spot {
  readonly name: string;
  readonly from: number;
  readonly isFlag: boolean;
  readonly isProperty: boolean;
  readonly sign: string;
  readonly isTight: boolean;
  readonly opensLine: boolean;
}

function isEnvLine(spot: Spot): boolean {
  return spot.sign === "=" && spot.isTight && /^[A-Z_][A-Z0-9_]*$/.test(spot.name);
}

/** A value is judged by its beginning; reading each to its end before rejecting it would be quadratic. */
const MAX_BARE_CHARS = 512;

function endOfRun(text: string, from: number): number {
  const run = /[^\s"'`\\]*/y;
  run.lastIndex = from;
  return from + (run.exec(text)?.[0].length ?? 0);
}

function readValue(text: string, given: Spot): NamedValue | undefined {
  const { name } = given;
  const block = given.sign === ":" ? readBlock(text, given) : undefined;
  if (block !== undefined) return block;
  const spot = { ...given, from: afterContinuation(text, given.from) };
  const isEnv = isEnvLine(spot);
  const opening = /(?:[bruBRU]{1,2}(?=["']))?(\\{0,3}["'`])/y;
  opening.lastIndex = spot.from;
  const quote = opening.exec(text);
  if (quote !== null) {
    const start = spot.from + quote[0].length;
    // `{"line":"API_KEY="}`: this quote closes a string that was opened earlier, and the value is empty.
    if (/^(?:[\s,}\]):;\\]|$)/.test(text.charAt(start))) return undefined;
    const end = endOfQuoted(text, start, quote[1] ?? '"');
    // `set("X-Api-Key", "…")` is a name and its value; `{"a":"password","b":1}` is a value and the next property.
    if (spot.sign === "," && text.charAt(end + (quote[1] ?? '"').length) === ":") return undefined;
    const setting = isEnv ? "env" : spot.isProperty ? "data" : spot.sign === "," ? "loose" : "quoted";
    return { name, start, end, setting };
  }
  const isLine = spot.sign === ":" && spot.opensLine;
  const bare =
    (isEnv && spot.opensLine) || isLine
      ? /(?:[^\s"'`\\]|\\(?![nrt"'`\\])){1,512}/y
      : /(?:[^\s"'`\\,;&|<>]|\\(?![nrt"'`\\])){1,512}/y;
  bare.lastIndex = spot.from;
  const found = bare.exec(text);
  if (found === null) return undefined;
  const value = isMarker(found[0]) ? found[0] : cutAtClosing(found[0], isEnv || isLine);
  const end = spot.from + value.length;
  const alone =
    isLine && value.length === found[0].length && /^[ \t]{0,8}(?:$|[\r\n#"'`]|\\)/.test(text.slice(end, end + 10));
  const setting: Setting = isEnv ? "env" : spot.sign === "=" && spot.isTight ? "tight" : alone ? "line" : "loose";
  if (setting === "loose" && spot.isFlag && spot.sign === " " && isFlagValue(name, value))
    return { name, start: spot.from, end, setting: "tight" };
  return { name, start: spot.from, end, setting };
}

/** `API_KEY=\\` and the value on the next line: the shell reads on, and so does this. */
function afterContinuation(text: string, from: number): number {
  const continued = /(?:\\\r?\n|\\{3,8}n)[ \t]{0,80}/y;
  continued.lastIndex = from;
  return from + (continued.exec(text)?.[0].length ?? 0);
}

/**
 * `password: >-` in YAML, with the value on the indented lines below. It is judged by its first line, and only read on
 * when that is a credential: reading each block to its end before rejecting it would be quadratic.
 */
function readBlock(text: string, { name, from }: Spot): NamedValue | undefined {
  const opening = /[|>][-+0-9]{0,2}[ \t]{0,8}(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)([ \t]{1,80})(?=[^\s\\])/y;
  opening.lastIndex = from;
  const found = opening.exec(text);
  if (found === null) return undefined;
  const start = from + found[0].length;
  const first = /(?:[^\s"'`\\]){1,512}/y;
  first.lastIndex = start;
  const line = first.exec(text)?.[0] ?? "";
  let end = start + line.length;
  if (!/^(?:$|[\s"'`\\])/.test(text.charAt(end)) || /^[ \t]+[^\s#"'`\\]/.test(text.slice(end, end + 80)))
    return undefined;
  if (!isCredential(name, line, "line")) return undefined;
  const next = new RegExp(`(?:\\r?\\n|(?:\\\\{1,4}r)?\\\\{1,4}n)${found[1] ?? " "}[^\\s"'\`\\\\]{1,4096}`, "y");
  for (;;) {
    next.lastIndex = end;
    const more = next.exec(text);
    if (more === null) return { name, start, end, setting: "block" };
    end += more[0].length;
  }
}

/** `f(token=abc)` and `{token:abc}`: a bracket that closes something opened before the value is not part of it. */
function cutAtClosing(run: string, wholeLine: boolean): string {
  const closing = wholeLine ? -1 : run.search(/[)}\]]/);
  const opensInside = closing !== -1 && /[({[]/.test(run.slice(0, closing));
  return closing > 0 && !opensInside ? run.slice(0, closing) : run.replace(/[)\]},;]{1,8}$/, "");
}

/** `--password swordfish` against "the --password flag": short common words after a flag are prose. */
function isFlagValue(name: string, value: string): boolean {
  if (value.startsWith("-") || nameStrength(name) !== "strong") return false;
  return !/^(?:to|flag|flags|option|options|is|are|or|and|for|in|on|with|from|of|as|at|if|it|the|a|an|argument|arg|value|switch|parameter|was|will|can|must|should|needs|when|so|but|not|instead|via|here|there|then|that|which|too|also|again|first)[.,:;)]?$/i.test(
    value,
  );
}

function isNameChar(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 45 ||
    code === 46
  );
}

function opensLine(text: string, start: number): boolean {
  const lead = text.slice(Math.max(0, start - 40), start);
  return /(?:^|[\r\n]|\\[nr])[ \t]*(?:[-+>] ?)?(?:export |set |setx |declare -x |ENV |ARG )?["']?$/.test(lead);
}

/** Whether a value under this name may be one at all. */
export function mayHoldCredential(name: string): boolean {
  return nameStrength(name) !== "none";
}

/** `builder-1#47`: the anchors of a handoff name an agent's session by its attempt, in a field that sounds like a secret. */
const ATTEMPT_LABEL = /^[a-z][a-z0-9-]{0,30}#\d+$/;

export function isCredential(name: string, rawValue: string, setting: Setting): boolean {
  const value = rawValue.trim();
  const strength = nameStrength(name);
  if (strength === "none" || value === "" || isMarker(value) || isStandIn(value)) return false;
  if (COMMON_WORDS.test(value) || namesTheSame(name, value)) return false;
  if (name === "sessionKey" && ATTEMPT_LABEL.test(value)) return false;
  if (/^[\d_,.]+$/.test(value) && (strength === "weak" || setting === "loose")) return false;
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\/[^@]*$/i.test(value)) return false;
  switch (setting) {
    case "data":
    case "block":
      return true;
    case "env":
      return !/^[A-Za-z_][\w.]*\((?:$|.*\))/.test(value);
    case "quoted":
      return strength === "strong" ? /[A-Za-z0-9]/.test(value) : looksRandom(value, 8);
    case "tight":
    case "line":
      return strength === "strong" ? !isExpression(value) : looksRandom(value, 8);
    case "loose":
      return looksRandom(value, strength === "strong" ? 6 : 8) && !isExpression(value);
  }
}

/** Stands where a secret will be: a placeholder, a reference to a variable or to a file, a mask. */
export function isStandIn(value: string): boolean {
  return (
    /^(?:<[^>]*>?|\[[^\]]*\]|\{.*|%[sdv]|%\w+%|\$[A-Za-z_]\w*|\$[{(].*|[*.•…xX_-]+|:\w+|\?)[)\]},;.]*$/.test(value) ||
    /^(?:your|insert|replace|enter)[-_ ]/i.test(value) ||
    isTemplate(value) ||
    /^(?:process|import\.meta|os|Deno|Bun|System)\.(?:env|getenv|environ)|^(?:secrets|vars|env|inputs)\.\w|^op:\/\/|^env:/.test(
      value,
    ) ||
    /^(?:~|\.{1,2})\/|^\/(?:run|etc|var|home|Users|tmp|opt|usr|proc|dev|mnt|secrets|root)\//.test(value)
  );
}

/** `Bearer-${token}`: text around a hole that is filled later, unless that text looks like a secret on its own. */
function isTemplate(value: string): boolean {
  const rest = value.replace(/\$\{[^}]*\}?|\{\{[^}]*\}{0,2}/g, " ");
  return rest !== value && !/(?=[A-Za-z]{0,32}\d)(?=\d{0,32}[A-Za-z])[A-Za-z0-9]{8}/.test(rest);
}

/** Words that stand in such fields without being secret: types, states, schemes, modes. */
export const COMMON_WORDS =
  /^(?:null|none|nil|undefined|true|false|yes|no|on|off|string|str|text|number|int|integer|boolean|bool|bytes|buffer|any|unknown|object|never|void|required|optional|hidden|redacted|masked|omitted|invalid|missing|wrong|incorrect|erforderlich|falsch|vergessen|expired|valid|empty|default|include|omit|same-origin|inherit|bearer|basic|digest|oauth|oauth2|refresh|access|session|jwt|token|tokens|password|secret|apikey|api_key|api-key|credential|credentials|eof|identifier|keyword|literal|operator|punctuation|comment|whitespace|await|new|async|self|this|return|typeof)[,;.]?$/i;

/** `password=user_password`, `token: GITHUB_TOKEN`: the value is the name of the thing. */
function namesTheSame(name: string, value: string): boolean {
  if (!/^[A-Za-z_$][\w$]*[,;]?$/.test(value)) return false;
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) && nameStrength(value) !== "none") return true;
  const last = wordsOf(value).at(-1);
  return last !== undefined && !/\d/.test(value) && last === wordsOf(name).at(-1);
}

function looksRandom(value: string, minChars: number): boolean {
  if (value.length < minChars || /[\s(){}<>]/.test(value)) return false;
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

function isExpression(value: string): boolean {
  if (
    /^[A-Za-z_$][\w$.?]*[([]/.test(value) ||
    /^(?:this|self|req|request|config|ctx|opts|options|args|params|props)\./.test(value)
  ) {
    return true;
  }
  return /^[A-Za-z_$]+(?:\??\.[A-Za-z_$]+)+[,;]?$/.test(value) || /^[([{!&|=<>]/.test(value);
}
