/** What an agent's CLI says to a hook: one JSON object; what is too long to be one is not looked at. */

/** A file written by a tool travels in the payload; one longer than this is nothing an agent should write at once. */
export const LONGEST_PAYLOAD = 16 * 1024 * 1024;

export type Payload = Readonly<Record<string, unknown>>;

export function objectIn(text: string | undefined): Payload | undefined {
  if (!text) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Payload) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
