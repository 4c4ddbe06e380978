/**
 * Keeps what we write to a size somebody chose. An agent can print ten megabytes in one line; a log, an event or a
 * message must still be a page. A clipped thing says so and by how much, so nobody takes the rest for silence.
 *
 * Sizes are UTF-8 bytes, because that is what disks and terminals are given. Clip after redacting, never before: half
 * a secret is no longer recognised as one.
 */

/**
 * At most `maxBytes` of well-formed text, with ` … [clipped 12,345 bytes]` at the end of what was cut (left out where
 * there is not even room for that). Text that fits comes back as it is, but for lone surrogates.
 */
export function clip(text: string, maxBytes: number): string {
  const room = Number.isFinite(maxBytes)
    ? Math.max(0, Math.floor(maxBytes))
    : maxBytes > 0
      ? Number.MAX_SAFE_INTEGER
      : 0;
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  // No UTF-16 unit needs more than three bytes, so short text need not be measured.
  if (whole.length * 3 <= room) return whole;
  const size = Buffer.byteLength(whole);
  if (size <= room) return whole;
  // The number of clipped bytes has at most as many digits as the whole size, so this much is always enough.
  const kept = room - Buffer.byteLength(describeClipped(size, "bytes"));
  if (kept < 0) return headOf(whole, room);
  const head = headOf(whole, kept);
  return head + describeClipped(size - Buffer.byteLength(head), "bytes");
}

export interface Bounds {
  readonly maxStringBytes: number;
  /** Entries of an array, properties of an object; the note about the missing ones is one of them. */
  readonly maxItems: number;
  /** 0 keeps only a plain value; each array or object inside another is one deeper. */
  readonly maxDepth: number;
}

/** The same for JSON-like values. Returns the very same reference when everything fits. A cycle ends at maxDepth. */
export function clipDeep<T>(value: T, bounds: Bounds): T {
  return clipAt(value, bounds, 0) as T;
}

function clipAt(value: unknown, bounds: Bounds, depth: number): unknown {
  if (typeof value === "string") return clip(value, bounds.maxStringBytes);
  if (typeof value !== "object" || value === null) return value;
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") {
    const json: unknown = toJSON.call(value);
    if (json === value) return clip("… [clipped: not plain]", bounds.maxStringBytes);
    const clipped = clipAt(json, bounds, depth);
    return clipped === json ? value : clipped;
  }
  if (depth >= bounds.maxDepth) return clip("… [clipped: too deep]", bounds.maxStringBytes);
  return Array.isArray(value) ? clipArray(value, bounds, depth) : clipObject(value, bounds, depth);
}

function clipArray(items: readonly unknown[], bounds: Bounds, depth: number): unknown {
  const fits = items.length <= bounds.maxItems;
  const kept = fits ? items : items.slice(0, Math.max(0, bounds.maxItems - 1));
  if (fits && items.length === 0) return items;
  const clipped = kept.map((item) => clipAt(item, bounds, depth + 1));
  if (fits) return clipped.every((item, index) => Object.is(item, items[index])) ? items : clipped;
  if (bounds.maxItems < 1) return [];
  return [...clipped, clip(describeClipped(items.length - kept.length, "items").trim(), bounds.maxStringBytes)];
}

function clipObject(source: object, bounds: Bounds, depth: number): unknown {
  const keys = Object.keys(source);
  const item = (key: string) => (source as Record<string, unknown>)[key];
  const fits = keys.length <= bounds.maxItems;
  const kept = fits ? keys : keys.slice(0, Math.max(0, bounds.maxItems - 1));
  // Most objects fit, so nothing is copied before the first thing that does not.
  let copied: [string, unknown][] | undefined = fits ? undefined : [];
  for (let index = 0; index < kept.length; index += 1) {
    const key = kept[index] as string;
    const pair: [string, unknown] = [clip(key, bounds.maxStringBytes), clipAt(item(key), bounds, depth + 1)];
    if (pair[0] !== key || !Object.is(pair[1], item(key))) {
      copied ??= kept.slice(0, index).map((before) => [before, item(before)]);
    }
    copied?.push(pair);
  }
  if (!copied) return source;
  if (!fits && bounds.maxItems >= 1) {
    const note = describeClipped(keys.length - kept.length, "properties").trim();
    copied.push([clip("…", bounds.maxStringBytes), clip(note, bounds.maxStringBytes)]);
  }
  return Object.fromEntries(copied);
}

/** The longest beginning of `text` within `bytes`; the encoder never splits a character. */
function headOf(text: string, bytes: number): string {
  // A unit is at least one byte, so no more than `bytes` units can matter: a huge text is not encoded as a whole.
  const { read } = new TextEncoder().encodeInto(text.slice(0, bytes + 1).toWellFormed(), new Uint8Array(bytes));
  const cut = text.slice(0, read);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

function describeClipped(count: number, unit: string): string {
  return ` … [clipped ${String(count).replace(/\B(?=(?:\d{3})+$)/g, ",")} ${unit}]`;
}
