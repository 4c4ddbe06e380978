/** What the agent's CLI says to a command hook: on standard input, piece by piece. */
import { LONGEST_PAYLOAD, objectIn, type Payload } from "#act/hooks/payload.ts";
import type { Libc } from "#sys/libc.ts";

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
