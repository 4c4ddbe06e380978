/**
 * Changing one key in the text of a configuration as a person would: what stands elsewhere, its comments, order and spacing, stays
 * byte for byte where the key has a value already, and in meaning and order where a line has to be added. Whether the
 * outcome may be written is for the loader to say; this file knows keys and text, no files.
 */
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  stringify,
  visit,
} from "yaml";
import { messageOf, OverseerError } from "#errors.ts";
import { resolveKey, unknownKeyError } from "./explain.ts";
import { type Key, keyAt } from "./keys.ts";
import { isRecord } from "./kinds.ts";
import { parseConfig } from "./load.ts";

/** The text with `key` set to what was typed. Throws usage/… with what the key takes, and config/… where the text is broken already. */
export function setKey(text: string, key: string, typed: string, source: string): string {
  const found = resolveKey(key);
  if (!found) throw unknownKeyError(key);
  const { path, key: known } = found;
  parseConfig(text, source); // what is wrong already is said as it is, with line and column
  const short = known.short !== undefined && known.kind === "group";
  if (known.children.length > 0 && !short) throw isGroup(key, known);
  const isWhole = known.kind === "map" && path.length === known.name.split(".").length;
  const whole = short || isWhole ? readGroup(typed) : undefined;
  if (short && whole === undefined && /^\s*[{[]/.test(typed)) throw looksLikeGroup(key, known);
  const target = short && whole === undefined && isMapAt(text, path) ? [...path, known.short ?? ""] : path;
  refuseShared(text, target);
  const changed = replaceIn(text, target, whole ?? readTyped(known, typed, short));
  try {
    parseConfig(changed, source);
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "CONFIG_INVALID") throw error;
    throw wrongValue(key, known, error);
  }
  return changed;
}

/** A value with an anchor stands for every key that refers to it: changed here, it would change there. */
function refuseShared(text: string, target: readonly string[]): void {
  const document = parseDocument(text);
  const holders = new Map<string, string[]>();
  const note = (anchor: string, path: string) => holders.set(anchor, [...(holders.get(anchor) ?? []), path]);
  visit(document, {
    Node(_, node, ancestors) {
      const anchor = isAlias(node) ? node.source : node.anchor;
      if (anchor !== undefined) note(anchor, pathOf(ancestors));
    },
  });
  const own = target.join(".");
  const isTouched = (path: string) => own === path || own.startsWith(`${path}.`) || path.startsWith(`${own}.`);
  for (const [anchor, paths] of holders) {
    if (paths.length < 2 || !paths.some(isTouched)) continue;
    const message = `${paths.join(" and ")} share one value (&${anchor}), so ${own} cannot be set alone. Nothing was changed.`;
    const hint = "Write the values out in 'overseer config edit', then set it.";
    throw new OverseerError("conflict", "CONFIG_VALUE_SHARED", message, hint);
  }
}

/** The key that a node stands at, from the pairs above it. */
function pathOf(ancestors: readonly unknown[]): string {
  const words = ancestors.flatMap((one) => (isPair(one) ? [isScalar(one.key) ? String(one.key.value) : "?"] : []));
  return words.join(".");
}

function isGroup(key: string, { children, kind, sample }: Key): OverseerError {
  const below = kind === "map" ? `${key}.${sample ?? "name"}` : key;
  const names = children.map((child) => `${below}.${child.word}`);
  const some = names.length > 5 ? `${names.slice(0, 5).join(", ")} …` : names.join(", ");
  const message = `${key} is a group of keys and has no value of its own.`;
  return new OverseerError("usage", "CONFIG_KEY_IS_GROUP", message, `Name one of its keys: ${some}`);
}

/** A group as it would stand in the file, `{command: npm test, timeout: 2m}`; undefined for everything else. */
function readGroup(typed: string): Record<string, unknown> | undefined {
  if (!typed.trimStart().startsWith("{")) return undefined;
  try {
    const read: unknown = Bun.YAML.parse(typed);
    // `{ make; }` is a command to a shell, and to YAML a key without a value.
    return isRecord(read) && Object.values(read).some((value) => value !== null) ? read : undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return undefined; // told as what it looks like
  }
}

function looksLikeGroup(key: string, { short = "", sample = "" }: Key): OverseerError {
  const message = `${key} takes plain text or a group of its keys; what begins with a brace or a bracket and is no such group was not meant as text.`;
  const hint = `Write '{${short}: ${sample || "…"}, …}' with its keys, or 'overseer config set ${key}.${short} …' for exactly this text. Nothing was changed.`;
  return new OverseerError("usage", "CONFIG_VALUE_INVALID", message, hint);
}

/** The reader's own sentence without the place in a file that was never written. */
function wrongValue(key: string, known: Key, error: OverseerError): OverseerError {
  const [first = ""] = messageOf(error).split("\n");
  const sentence = first.replace(/^.*?:\d+:\d+: /, "");
  const allowed = known.allowed === undefined ? "" : `: ${known.allowed.join(", ")}`;
  const example = known.kind === "list" ? `, such as '[${known.allowed?.join(", ") ?? "a, b"}]'` : "";
  const hint = `${key} takes ${known.type}${example}${example === "" ? allowed : ""}. Nothing was changed.`;
  return new OverseerError("usage", "CONFIG_VALUE_INVALID", sentence, hint);
}

/** What was typed as the value it means: text stays text, everything else is read as it would be in the file. */
function readTyped(key: Key, typed: string, short: boolean): unknown {
  if (typed === "null" && key.nullable) return null;
  if (short || key.kind === "text" || key.kind === "map") return typed;
  try {
    return Bun.YAML.parse(typed) ?? typed;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return typed; // refused below, by what the key takes
  }
}

function isMapAt(text: string, path: readonly string[]): boolean {
  return isMap(parseDocument(text).getIn(path, true));
}

function replaceIn(text: string, path: readonly string[], value: unknown): string {
  const document = parseDocument(text);
  const node = document.getIn(path, true);
  const written = stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();
  const isInline = (isScalar(node) && node.type !== "BLOCK_LITERAL" && node.type !== "BLOCK_FOLDED") || isFlow(node);
  const range = isInline ? (node as Node).range : undefined;
  // A value that is there already is replaced where it stands; an empty one (`key:`) has no place of its own.
  if (range && range[0] < range[1] && !written.includes("\n")) {
    return `${text.slice(0, range[0])}${written}${text.slice(range[1])}`;
  }
  if (document.contents === null)
    return `${text === "" || text.endsWith("\n") ? text : `${text}\n`}${lines(path, value)}`;
  for (let depth = 1; depth < path.length; depth += 1) spellOutAt(document, path.slice(0, depth));
  document.setIn(path, value);
  return document.toString({ lineWidth: 0 });
}

/** A heading with nothing below it becomes a group, and so does a plain text that stands for one. */
function spellOutAt(document: Document, path: readonly string[]): void {
  const node = document.getIn(path, true);
  if (!isScalar(node)) return;
  const short = keyAt(path.slice(0, -1))?.short;
  const inner = node.value === null || short === undefined ? {} : { [short]: node.value };
  document.setIn(path, document.createNode(inner));
}

function isFlow(node: unknown): boolean {
  return (isMap(node) || isSeq(node)) && node.flow === true;
}

/** A key in a file that has none yet. */
function lines(path: readonly string[], value: unknown): string {
  return stringify(
    path.reduceRight<unknown>((inner, word) => ({ [word]: inner }), value),
    { lineWidth: 0 },
  );
}
