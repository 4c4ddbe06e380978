/** What a request has to say, within a size and a time: whoever sends more, or too slowly, is not read to the end. */
import type { Unanswered } from "./routes.ts";

export async function readBody(
  request: Request,
  maxBytes: number,
  withinMs: number,
): Promise<string | { readonly because: Extract<Unanswered, "too-big" | "too-slow"> }> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return { because: "too-big" };
  if (request.body === null) return "";
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  let timer: Timer | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), withinMs);
  });
  const decoder = new TextDecoder();
  try {
    for (let text = "", bytes = 0; ; ) {
      const piece = await Promise.race([reader.read(), late]);
      if (piece === "late") return { because: "too-slow" };
      if (piece.done) return text + decoder.decode();
      bytes += piece.value.byteLength;
      if (bytes > maxBytes) return { because: "too-big" };
      text += decoder.decode(piece.value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
    // What is still to come is of no interest; a sender that has gone away cannot be told.
    void reader.cancel().catch(() => undefined);
  }
}
