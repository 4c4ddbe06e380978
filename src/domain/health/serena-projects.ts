/**
 * The list of projects in Serena's global configuration, changed as text: a path more or a path less, and every other byte
 * as it was, comments and the entries of others included. What was added and taken away again leaves the file as before.
 * Undefined where the list is written in a way that is not understood here; then nothing is changed.
 */

/** The key, where a file had none. */
const OWN_KEY = "projects: # by Overseer";

export function addProject(text: string, path: string): string | undefined {
  if (listProjects(text)?.includes(path)) return text;
  const item = JSON.stringify(path);
  const list = findList(text);
  if (list === undefined) return undefined;
  const { eol } = list;
  switch (list.kind) {
    case "none": {
      const lines = `${OWN_KEY}${eol}- ${item}`;
      return text === "" || text.endsWith("\n") ? `${text}${lines}${eol}` : `${text}${eol}${lines}`;
    }
    case "flow": {
      const [before, after] = [text.slice(0, list.open), text.slice(list.open)];
      return `${before}${item}${/^\s*\]/.test(after) ? "" : ", "}${after}`;
    }
    case "block": {
      const line = `${list.indent}- ${item}`;
      if (list.begin === undefined) return `${text}${eol}${line}`;
      return `${text.slice(0, list.begin)}${line}${eol}${text.slice(list.begin)}`;
    }
  }
}

export function removeProject(text: string, path: string): string | undefined {
  const list = findList(text);
  if (list === undefined) return undefined;
  if (list.kind === "none") return text;
  if (list.kind === "flow") return removeFromFlow(text, list.open, path);
  const line = list.items.find(({ value }) => value === path);
  if (line === undefined) return text;
  const without = withoutLine(text, line.at);
  const left = findList(without);
  const isOwn = left?.kind === "block" && left.items.length === 0 && lineAt(without, left.key) === OWN_KEY;
  return isOwn ? withoutLine(without, left.key) : without;
}

/** The paths in the list; undefined where it is not understood. */
export function listProjects(text: string): readonly string[] | undefined {
  const list = findList(text);
  if (list === undefined) return undefined;
  if (list.kind === "none") return [];
  if (list.kind === "block") return list.items.flatMap(({ value }) => (value === undefined ? [] : [value]));
  return flowItems(text, list.open).flatMap(({ value }) => (value === undefined ? [] : [value]));
}

interface Item {
  /** Where its text begins. */
  readonly at: number;
  readonly end: number;
  readonly value: string | undefined;
}

type List =
  | { readonly kind: "none"; readonly eol: string }
  /** `open`: right behind the bracket. */
  | { readonly kind: "flow"; readonly eol: string; readonly open: number }
  /** `begin`: of the line behind the key's; undefined when the text ends with the key. */
  | {
      readonly kind: "block";
      readonly eol: string;
      readonly key: number;
      readonly begin: number | undefined;
      readonly indent: string;
      readonly items: readonly Item[];
    };

function findList(text: string): List | undefined {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const keys = [...text.matchAll(/^projects[ \t]*:(?=[ \t\r\n]|$)/gm)];
  if (keys.length > 1) return undefined;
  const [key] = keys;
  if (key === undefined) return { kind: "none", eol };
  const behind = key.index + key[0].length;
  const rest = lineAt(text, behind).trimStart();
  if (rest.startsWith("[")) return { kind: "flow", eol, open: text.indexOf("[", behind) + 1 };
  if (rest !== "" && !rest.startsWith("#")) return undefined;
  const end = text.indexOf("\n", behind);
  const begin = end < 0 ? undefined : end + 1;
  const items = begin === undefined ? [] : blockItems(text, begin);
  const [first] = items;
  const indent = first === undefined ? "" : (/^[ ]*/.exec(lineAt(text, first.at))?.[0] ?? "");
  return { kind: "block", eol, key: key.index, begin, indent, items };
}

/** Lines that begin with a dash, up to the first that is neither one, nor a comment, nor empty. */
function blockItems(text: string, begin: number): Item[] {
  const items: Item[] = [];
  for (let at = begin; at < text.length; ) {
    const line = lineAt(text, at);
    const next = text.indexOf("\n", at);
    const [, scalar] = /^[ ]*-[ \t]+(.*)$/.exec(line) ?? [];
    if (scalar !== undefined) items.push({ at, end: at + line.length, value: readScalar(scalar) });
    else if (!/^[ \t]*(#|$)/.test(line)) break;
    if (next < 0) break;
    at = next + 1;
  }
  return items;
}

function flowItems(text: string, open: number): Item[] {
  const items: Item[] = [];
  const token = /\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\]\s#]+(?:\s+[^,\]\s#]+)*)\s*(?=[,\]])/y;
  for (token.lastIndex = open; ; ) {
    const found = token.exec(text);
    const [whole, scalar = ""] = found ?? [];
    if (found === null || whole === undefined) return items;
    const at = found.index + whole.indexOf(scalar);
    items.push({ at, end: at + scalar.length, value: readScalar(scalar) });
    if (text[token.lastIndex] !== ",") return items;
    token.lastIndex += 1;
  }
}

function removeFromFlow(text: string, open: number, path: string): string {
  const items = flowItems(text, open);
  const index = items.findIndex(({ value }) => value === path);
  const item = items[index];
  if (item === undefined) return text;
  const next = items[index + 1];
  const before = items[index - 1];
  // As it was put in; whatever else stands between two entries is somebody's.
  const end = text.startsWith(", ", item.end) ? item.end + 2 : next?.at;
  if (next !== undefined) return text.slice(0, item.at) + text.slice(end);
  return text.slice(0, before?.end ?? item.at) + text.slice(item.end);
}

/** A path as YAML may write it; undefined for what is no plain text. */
function readScalar(written: string): string | undefined {
  const text = written.trim();
  if (text.startsWith("'")) return /^'((?:[^']|'')*)'(?:\s+#.*)?$/.exec(text)?.[1]?.replaceAll("''", "'");
  if (text.startsWith('"')) {
    const quoted = /^("(?:[^"\\]|\\.)*")(?:\s+#.*)?$/.exec(text)?.[1];
    try {
      return quoted === undefined ? undefined : String(JSON.parse(quoted));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
  const plain = text.replace(/(?<!\s)\s+#.*$/, "");
  return plain === "" || /^[[{&*!|>%@`]/.test(plain) ? undefined : plain;
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  return text.slice(at, end < 0 ? undefined : end).replace(/\r$/, "");
}

/** With the end of the line, or, of the last one that has none, with the end of the line before. */
function withoutLine(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.slice(0, at).replace(/\r?\n$/, "") : text.slice(0, at) + text.slice(end + 1);
}
