/**
 * Reading JSON that somebody else's program wrote: nothing in it is trusted to be there or to be of its kind, and what
 * is not is simply empty. Shared by everything that reads the streams and files of agent CLIs.
 */

export type Json = Readonly<Record<string, unknown>>;

/** Undefined for half a line, for nonsense, and for anything nested deeper than the stack. */
export function jsonObject(text: string): Json | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** The text of a message's content, which is a text or a list of blocks. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => textOf(objectOf(block).text)).join("\n");
}

export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** Milliseconds since 1970, from a text or from a number of seconds or milliseconds; 0 where it is neither. */
export function timeOf(value: unknown): number {
  if (typeof value === "string") return withinTime(Date.parse(value));
  const number = numberOf(value);
  return withinTime(number > 0 && number < SECONDS ? Math.round(number * 1000) : number);
}

/** 0 for a time that no session can have: calendars end somewhere. */
export function withinTime(ms: number): number {
  return ms > 0 && ms <= LATEST ? ms : 0;
}

/** The last moment of the year 9999. */
const LATEST = 253_402_300_799_999;

/** A number below this counts seconds: as milliseconds it would be a day of 1973. */
const SECONDS = 100_000_000_000;
