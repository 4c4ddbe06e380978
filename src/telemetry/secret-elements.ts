/**
 * Values that stand beside their name instead of behind it: `<password>…</password>` of XML and HTML, the pairs of a
 * settings file (`<add key="DbPassword" value="…"/>`, `<key>token</key><string>…</string>`), and those of JSON and YAML
 * (`{"name": "DB_PASSWORD", "value": "…"}`). Whether a value is a credential, secret-names.ts decides by the name.
 */
import { lazily, marker } from "./secret-marker.ts";
import { isCredential } from "./secret-names.ts";

/** As it stands, in HTML that shows HTML, and in JSON that escapes it. */
const LT = "(?:<|&lt;|\\\\{1,4}u003c)";
const GT = "(?:>|&gt;|\\\\{1,4}u003e)";
const CLOSES = `(?=\\s{0,40}(?:\\]\\]${GT})?${LT}\\\\{0,4}/)`;
const NAME = "(?<name>[\\w.-]{1,80})";
const QUOTE = "(?:\\\\{0,3}[\"']|&quot;)";
const BETWEEN = "[^<>]{0,200}?";
const NAMED_BY = `\\b(?:key|name|id|type)\\s{0,4}=\\s{0,4}${QUOTE}${NAME}${QUOTE}`;
const QUOTED = "(?<value>[^\"'<>\\\\]{1,512})";
const TEXT = "(?<value>[^<]{1,512}?)";
/** Blanks and line ends, also as JSON writes them. */
const SPACE = "(?:\\s|\\\\[nrt]){0,20}";

const source = (...parts: string[]): (() => RegExp) => lazily(() => new RegExp(parts.join(""), "gi"));

/** Each with a group `head` that stays, the `value` behind it, and the `name` in either or after them. */
const PAIRS: readonly (() => RegExp)[] = [
  // <password>…</password>, <ns:apiToken a="b"><![CDATA[…]]></ns:apiToken>
  source(`(?<head>${LT}(?:[\\w.-]{1,40}:)?${NAME}(?:\\s[^<>]{0,200}?)?${GT}\\s{0,40}(?:<!\\[CDATA\\[)?)`, TEXT, CLOSES),
  // <property name="password">…</property>
  source(`(?<head>${NAMED_BY}${BETWEEN}${GT}\\s{0,40}(?:<!\\[CDATA\\[)?)`, TEXT, CLOSES),
  // <add key="DbPassword" value="…"/>
  source(`(?<head>${NAMED_BY}${BETWEEN}\\svalue\\s{0,4}=\\s{0,4}${QUOTE})`, QUOTED, `(?=${QUOTE})`),
  // <input value="…" type="password">
  source(`(?<head>\\svalue\\s{0,4}=\\s{0,4}${QUOTE})`, QUOTED, `(?=${QUOTE}\\s${BETWEEN}${NAMED_BY})`),
  // <key>token</key> <string>…</string>
  source(`(?<head><key>${NAME}</key>${SPACE}<string>)`, TEXT, CLOSES),
  // {"name": "DB_PASSWORD", "value": "…"}
  source(
    `(?<head>${QUOTE}(?:name|key)${QUOTE}${SPACE}:${SPACE}${QUOTE}${NAME}${QUOTE}${SPACE},${SPACE}${QUOTE}value${QUOTE}${SPACE}:${SPACE}${QUOTE})`,
    "(?<value>[^\"'\\\\]{1,512})",
    `(?=${QUOTE})`,
  ),
  // - name: DB_PASSWORD⏎  value: …
  source(
    `(?<head>\\bname:[ \\t]{1,8}${QUOTE}?${NAME}${QUOTE}?[ \\t]{0,8}(?:\\r?\\n|\\\\n)[ \\t]{1,40}value:[ \\t]{1,8}${QUOTE}?)`,
    "(?<value>[^\\s\"'\\\\]{1,512})",
  ),
];

interface Pair {
  readonly head: string;
  readonly name: string;
  readonly value: string;
}

export function redactElements(text: string): string {
  if (!/<|&lt;|\\u003c|value/i.test(text)) return text;
  return PAIRS.reduce((out, pattern) => redactPairs(out, pattern()), text);
}

/**
 * What is no secret is not stepped over but looked into: `<p>&lt;password&gt;…` matches as a `p` first. Each match is of
 * bounded length, so this stays linear.
 */
function redactPairs(text: string, pattern: RegExp): string {
  let out = "";
  let from = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const { head, name, value } = match.groups as unknown as Pair;
    if (isSecretBeside(name, value)) {
      out += `${text.slice(from, match.index)}${head}${marker("credential")}`;
      from = match.index + match[0].length;
      pattern.lastIndex = from;
    } else pattern.lastIndex = match.index + 1;
  }
  return out + text.slice(from);
}

/** `<Password>Forgot yours?</Password>` is a component of a page that talks about one. */
function isSecretBeside(name: string, value: string): boolean {
  if (/^[A-Z]/.test(name) && /\s/.test(value.trim())) return false;
  return isCredential(name, value, "quoted");
}
