/**
 * The two pipes of a stream-json agent: lines of JSON out, lines of JSON in. Lines have no limit of length here and the
 * last one may lack its newline. Writing waits for a slow reader; a reader that is gone ends in one exception,
 * ReaderGone, and never in a busy loop. What the lines mean is the business of the conversation.
 */

export class ReaderGone extends Error {
  constructor() {
    super("Nobody reads our output any more.");
  }
}

/** One complete write per line, so lines never mix. Rejects with ReaderGone when the other end is closed. */
export class PipeLineWriter {
  private readonly sink: Bun.FileSink;

  constructor(file: Bun.BunFile) {
    this.sink = file.writer();
  }

  async line(value: unknown): Promise<void> {
    await this.text(`${JSON.stringify(value)}\n`);
  }

  async text(text: string): Promise<void> {
    try {
      // Both may reject: the sink reports a broken pipe at whichever call met it.
      await this.sink.write(text);
      await this.sink.flush();
    } catch (error) {
      throw isClosedPipe(error) ? new ReaderGone() : error;
    }
  }
}

function isClosedPipe(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EPIPE" || code === "ECONNRESET" || code === "EBADF";
}

/** The lines of a byte stream, without their newline; empty ones are left out. */
export async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let pieces: Uint8Array[] = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end));
      const line = decodePieces(pieces);
      pieces = [];
      from = end + 1;
      if (line !== "") yield line;
    }
    // A copy: the reader may use its buffer again.
    if (from < chunk.length) pieces.push(chunk.slice(from));
  }
  const last = decodePieces(pieces);
  if (last !== "") yield last;
}

/** Decoded as a whole: a character may lie across two pieces. */
function decodePieces(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString("utf8").trim();
}
