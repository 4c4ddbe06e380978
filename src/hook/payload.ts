/** What the agent's CLI says on standard input: one JSON object; what is too long to be one is not looked at. */

import type { Libc } from "#sys/libc.ts";

/** A file written by a tool travels in the payload; one longer than this is nothing an agent should write at once. */
const LONGEST_PAYLOAD = 16 * 1024 * 1024;

export type Payload = Readonly<Record<string, unknown>>;

/** Undefined when it is too long, or no JSON object. */
export async function readPayload(libc: Libc | undefined): Promise<Payload | undefined> {
  const text = libc ? await inputBy(libc) : await Bun.stdin.text();
  return text.length > LONGEST_PAYLOAD ? undefined : objectIn(text);
}

/** Piece by piece; what cannot be waited for this way (its writer has made it so) is left to Bun. */
async function inputBy(libc: Libc): Promise<string> {
  const decoder = new TextDecoder();
  for (let text = ""; ; ) {
    const piece = libc.readInput();
    if (piece === undefined) return text + decoder.decode(await Bun.stdin.bytes());
    if (piece.length === 0) return text + decoder.decode();
    text += decoder.decode(piece, { stream: true });
  }
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
