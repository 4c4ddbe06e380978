/**
 * A configuration as YAML a person likes to read: in the order of the schema, in the user's spelling, either with every
 * key explained (the example file) or with a remark beside what differs from the defaults (`config show`).
 * Written by hand rather than by a YAML library, because none of them places comments; it only has to write the few
 * kinds of values the schema knows, and a test reads all of it back.
 */
import { asWritten, type Key, keyTree } from "./keys.ts";
import { isRecord } from "./kinds.ts";
import { type Config, defaultConfig } from "./schema.ts";

const WIDTH = 110;

/** The documented file with every key at its default: what config.example.yaml holds. */
export function exampleYaml(): string {
  const head = paragraph(
    "Overseer's configuration, .overseer/config.yaml. Every key is listed with its default, so a file needs only what " +
      "differs. Durations are written 500ms, 2m or 1h30m, sizes 512B, 16KB or 2GB; null means not set. A key that is " +
      "not listed here is refused; one that is not built yet changes nothing.",
    "",
  );
  const body = keyTree().children.flatMap((key) => ["", ...renderKey(key, asWritten(defaultConfig()), "")]);
  return `${[...head, ...body].join("\n")}\n`;
}

/** All keys with their values, those that differ from the defaults marked. */
export function configYaml(config: Config): string {
  const written = asWritten(config);
  return `${keyTree()
    .children.flatMap((key) => plain(key, written, ""))
    .join("\n")}\n`;
}

function renderKey(key: Key, parent: unknown, indent: string, within?: Key): string[] {
  const value = partOf(parent, key.word);
  // A group that is not built says so once, for all that is below it.
  const note = key.notBuilt === undefined || within?.notBuilt !== undefined ? "" : ` Not built yet (${key.notBuilt}).`;
  const lines = paragraph(`${sentenceOf(key)}${note}`, indent);
  if (key.kind === "group") {
    lines.push(`${indent}${key.word}:`);
    return [...lines, ...key.children.flatMap((child) => renderKey(child, value, `${indent}  `, key))];
  }
  // An empty heading is an empty map, so that uncommenting the sample below it is all there is to do.
  if (key.children.length > 0) return [...lines, `${indent}${key.word}:`, ...sampleOf(key, indent)];
  return [...lines, `${indent}${key.word}: ${scalar(value)}`];
}

/** An entry of a map as a comment, ready to be uncommented: three spaces after the sign set it apart from prose. */
function sampleOf(map: Key, indent: string): string[] {
  const entry = map.children.flatMap((child) => {
    const value = child.default === undefined ? child.sample : child.default;
    return [...paragraph(sentenceOf(child), `${indent}#     `), `${indent}#     ${child.word}: ${scalar(value)}`];
  });
  return [`${indent}#   ${map.sample}:`, ...entry];
}

function sentenceOf(key: Key): string {
  const words = key.allowed?.every((word) => !word.includes(" ")) ? key.allowed : undefined;
  return words ? `${key.description} One of: ${words.join(", ")}.` : key.description;
}

function plain(key: Key, parent: unknown, indent: string): string[] {
  const value = partOf(parent, key.word);
  const inner = isRecord(value) && key.children.length > 0 ? value : undefined;
  if (inner && key.kind === "group") {
    return [`${indent}${key.word}:`, ...key.children.flatMap((child) => plain(child, inner, `${indent}  `))];
  }
  if (inner && Object.keys(inner).length > 0) {
    const entries = Object.entries(inner).flatMap(([name, entry]) => [
      `${indent}  ${scalar(name)}:`,
      ...key.children.flatMap((child) => plain(child, entry, `${indent}    `)),
    ]);
    return [`${indent}${key.word}:`, ...entries];
  }
  const text = `${indent}${key.word}: ${scalar(value)}`;
  if (key.default === undefined || Bun.deepEquals(value, key.default)) return [text];
  return [`${text} # default: ${scalar(key.default)}`];
}

function partOf(parent: unknown, word: string): unknown {
  return isRecord(parent) ? parent[word] : undefined;
}

/** Words that some YAML reader somewhere takes for something other than text. */
const NOT_PLAIN = /^(?:true|false|yes|no|on|off|y|n|null|nan|inf)$/i;
const PLAIN = /^[A-Za-z./][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$|^\d+[a-zA-Z][a-zA-Z0-9]*$/;
const LIKE_A_NUMBER = /^[-+.]?\d[\d_]*(?:[eExXoObB.][\d_a-fA-F]*)?$|^\.(?:inf|nan)$/i;

/** One value on one line. JSON is YAML, so whatever is not plainly harmless is written as JSON. */
function scalar(value: unknown): string {
  if (typeof value === "string") {
    const harmless = PLAIN.test(value) && !NOT_PLAIN.test(value) && !LIKE_A_NUMBER.test(value);
    return harmless ? value : quoteForYaml(value);
  }
  if (Array.isArray(value)) return `[${value.map(scalar).join(", ")}]`;
  if (isRecord(value)) {
    const pairs = Object.entries(value).map(([name, part]) => `${quoteForYaml(name)}: ${scalar(part)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  return JSON.stringify(value) ?? "null";
}

/** JSON leaves a few characters bare that YAML does not accept as they are. */
function quoteForYaml(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function paragraph(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + 2 + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((part) => `${indent}# ${part}`);
}
