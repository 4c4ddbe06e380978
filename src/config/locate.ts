/**
 * Where in the text something stands. Bun's own YAML reader is fast but has no positions and lets the second of two
 * equal keys win; this file reads the text once more with the `yaml` package, only when there is something to say.
 * It yields positions and what is wrong with the text, never values: those come from one reader alone.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";

export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

export interface YamlFault extends TextPosition {
  readonly text: string;
}

export interface LocatedText {
  /** Why the text cannot be accepted as YAML, in the order of the text. */
  readonly faults: readonly YamlFault[];
  /** The place of a key or value, or of the nearest thing above it that is there. */
  place(path: readonly PropertyKey[], what: "key" | "value"): TextPosition;
}

export function locate(text: string): LocatedText {
  const lines = new LineCounter();
  // Its own search for equal keys compares each with each, which a hostile file could make very slow.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const placeOf = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const faults = [
    ...document.errors.map((error) => ({ ...placeOf(error.pos[0]), text: error.message })),
    ...misuses(document).map(({ offset, text }) => ({ ...placeOf(offset), text: text(placeOf) })),
  ];
  return {
    faults: faults.sort((a, b) => a.line - b.line || a.column - b.column),
    place: (path, what) => placeOf(offsetOf(document.contents, path, what)),
  };
}

interface Misuse {
  readonly offset: number;
  text(placeOf: (offset: number) => TextPosition): string;
}

/** What that reader lets pass: keys given twice, and aliases to nothing. */
function misuses(document: Document.Parsed): Misuse[] {
  const found: Misuse[] = [];
  const anchors = new Set<string>();
  visit(document, {
    Node(_key, node) {
      if ("anchor" in node && node.anchor) anchors.add(node.anchor);
      if (isAlias(node) && !anchors.has(node.source)) {
        found.push({ offset: startOf(node) ?? 0, text: () => `*${node.source} refers to nothing above it` });
      }
      if (isMap(node)) found.push(...findRepeatedKeys(node));
    },
  });
  return found;
}

function findRepeatedKeys(map: YAMLMap): Misuse[] {
  const first = new Map<string, number>();
  const found: Misuse[] = [];
  for (const { key } of map.items) {
    const word = wordOf(key);
    const offset = startOf(key);
    if (word === undefined || offset === undefined) continue;
    const earlier = first.get(word);
    if (earlier === undefined) first.set(word, offset);
    else found.push({ offset, text: (placeOf) => `${word} is set twice, first on line ${placeOf(earlier).line}` });
  }
  return found;
}

function offsetOf(root: unknown, path: readonly PropertyKey[], what: "key" | "value"): number {
  let node = root;
  let offset = startOf(root) ?? 0;
  for (const [depth, part] of path.entries()) {
    const last = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => wordOf(key) === String(part));
      if (!pair) return offset;
      offset = (last && what === "value" ? startOf(pair.value) : undefined) ?? startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else return offset;
  }
  return offset;
}

function wordOf(key: unknown): string | undefined {
  return isScalar(key) ? String(key.value) : undefined;
}

function startOf(node: unknown): number | undefined {
  const placed = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? (node as Node) : undefined;
  return placed?.range?.[0];
}
