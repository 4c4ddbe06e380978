/** What a request has to say, within a size and a time: whoever sends more, or too slowly, is not read to the end. */
import type { Unanswered } from "./routes.ts";

export async function readBody(
  request: Request,
  maxBytes: number,
  withinMs: number,
): Promise<string | { readonly because: Extract<Unanswered, "too-big" | "too-slow"> }> {
  const length = request.headers.get("content-length");
  if (Number(length ?? 0) > maxBytes) return { because: "too-big" };
  // No more than it said is read; only of one that does not say how much it sends the pieces have to be counted.
  if (length !== null) return readWhole(request, withinMs);
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

async function readWhole(request: Request, withinMs: number): Promise<string | { readonly because: "too-slow" }> {
  let timer: Timer | undefined;
  const late = new Promise<{ readonly because: "too-slow" }>((resolve) => {
    timer = setTimeout(() => resolve({ because: "too-slow" }), withinMs);
  });
  try {
    return await Promise.race([request.text(), late]);
  } finally {
    clearTimeout(timer);
  }
}
