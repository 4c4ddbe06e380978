/**
 * Sizes of what people and agents hand in. Too much is refused here, with the place named, so that somebody can
 * shorten it; the store's door clips as a last line, where nobody is there to be asked.
 */
import { byteLength } from "./quote.ts";
import { type Refused, refuse } from "./refusal.ts";

/** The most one text may have, in bytes, as the store counts. */
export const FIELD_LIMIT = 16 * 1024;
export const LIST_LIMIT = 500;

/** A refusal that names the first field that is too large, or undefined. */
export function refuseOversized(
  value: unknown,
  limits: Limits = { field: FIELD_LIMIT, list: LIST_LIMIT },
): Refused | undefined {
  const found = firstOversized(value, "", limits);
  if (!found) return undefined;
  return refuse(
    "usage",
    "FIELD_TOO_LARGE",
    `${found.path} has ${found.size.toLocaleString("en")} ${found.unit}; ${found.limit.toLocaleString("en")} is the limit${found.key === undefined ? "" : ` (${found.key})`}.`,
    "Shorten it, and keep long material in a file of the repository that the text points to.",
  );
}

interface Limits {
  readonly field: number;
  readonly list: number;
  /** The key of the configuration that sets how long a field may be. */
  readonly key?: string;
}

interface Oversized {
  readonly path: string;
  readonly size: number;
  readonly limit: number;
  readonly unit: string;
  readonly key?: string | undefined;
}

function firstOversized(value: unknown, path: string, limits: Limits): Oversized | undefined {
  if (typeof value === "string") {
    // A sign has three bytes at most for each of its units, so a short text need not be counted.
    const size = value.length * 3 > limits.field ? byteLength(value) : 0;
    const { field: limit, key } = limits;
    return size > limit ? { path: path || "The text", size, limit, unit: "bytes", key } : undefined;
  }
  if (Array.isArray(value) && value.length > limits.list) {
    return { path: path || "The list", size: value.length, limit: limits.list, unit: "entries" };
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const found = firstOversized(child, path ? `${path}.${key}` : key, limits);
    if (found) return found;
  }
  return undefined;
}
