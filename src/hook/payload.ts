/** What the agent's CLI says on standard input: one JSON object; what is too long to be one is not looked at. */

/** A file written by a tool travels in the payload; one longer than this is nothing an agent should write at once. */
const LONGEST_PAYLOAD = 16 * 1024 * 1024;

export type Payload = Readonly<Record<string, unknown>>;

/** Undefined when it is too long, or no JSON object. */
export async function readPayload(): Promise<Payload | undefined> {
  // Read in one go, which costs half of reading piece by piece; whoever writes here is the CLI that we started.
  const text = await Bun.stdin.text();
  return text.length > LONGEST_PAYLOAD ? undefined : objectIn(text);
}

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
