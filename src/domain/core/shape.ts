/**
 * What a value that others wrote has to look like before it is used: small checks that combine. No library does it, because
 * hooks load this for a single signal; loops for the same reason. A field nobody names is let be.
 */
export type Shape = (value: unknown) => boolean;

export const isString: Shape = (value) => typeof value === "string";
export const isBoolean: Shape = (value) => typeof value === "boolean";
export const isCount: Shape = (value) => typeof value === "number" && Number.isFinite(value);

export function oneOf(words: readonly string[]): Shape {
  return (value) => typeof value === "string" && words.includes(value);
}

/** Null, or missing because it was written before there was such a field. */
export function maybe(shape: Shape): Shape {
  return (value) => value === undefined || value === null || shape(value);
}

export function isListOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape);
}

/** Under whatever keys. */
export function isMapOf(shape: Shape): Shape {
  return (value) => isRecord(value) && Object.values(value).every(shape);
}

export function hasFields(fields: Readonly<Record<string, Shape>>): Shape {
  const checks = Object.entries(fields);
  return (value) => {
    if (!isRecord(value)) return false;
    for (const [name, shape] of checks) if (!shape(value[name])) return false;
    return true;
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a text holds; undefined where it is no JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
