/**
 * Lines over a local socket, both ways. Reading: bytes come in pieces, lines go out whole, and a line without an end is
 * refused before it fills the memory. Writing: what the socket does not take at once waits here, and whoever writes can
 * see how much that is, because a reader that has gone to sleep must never hold its writer up.
 */
import type { Socket } from "bun";

/** No honest request or answer is longer. */
export const LONGEST_LINE_BYTES = 1024 * 1024;

export class LineReader {
  private readonly decoder = new TextDecoder();
  private rest = "";

  constructor(private readonly longest = LONGEST_LINE_BYTES) {}

  /** The lines that are complete now. Throws RangeError when one is longer than allowed. */
  take(chunk: Uint8Array): string[] {
    const lines = (this.rest + this.decoder.decode(chunk, { stream: true })).split("\n");
    this.rest = lines.pop() ?? "";
    if (this.rest.length > this.longest || lines.some((line) => line.length > this.longest)) {
      throw new RangeError("a line is too long");
    }
    return lines;
  }
}

export class LineWriter {
  private waiting: Uint8Array[] = [];
  private bytes = 0;

  constructor(private readonly socket: Pick<Socket<unknown>, "write">) {}

  /** Bytes that the other side has not taken yet. */
  get backlog(): number {
    return this.bytes;
  }

  line(value: unknown): void {
    const data = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
    this.waiting.push(data);
    this.bytes += data.byteLength;
    if (this.waiting.length === 1) this.flush();
  }

  /** The socket can take more. */
  flush(): void {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      const taken = Math.max(0, this.socket.write(next));
      this.bytes -= taken;
      if (taken < next.byteLength) {
        this.waiting[0] = next.subarray(taken);
        return;
      }
      this.waiting.shift();
    }
  }
}
