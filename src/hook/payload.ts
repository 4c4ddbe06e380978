/** What the agent's CLI says on standard input: one JSON object, read whole but never without bound. */

/** A file written by a tool travels in the payload; one longer than this is nothing an agent should write at once. */
const LONGEST_PAYLOAD = 16 * 1024 * 1024;

export type Payload = Readonly<Record<string, unknown>>;

/** Undefined when it is too long, or no JSON object. */
export async function readPayload(): Promise<Payload | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of Bun.stdin.stream()) {
    bytes += chunk.length;
    if (bytes > LONGEST_PAYLOAD) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return objectIn(text + decoder.decode());
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
