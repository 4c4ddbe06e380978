/**
 * The answer to one request while it is being made: frames are put in as they come and taken out as fast as the client
 * reads. What a program prints waits in its own pipe while the client is slow, not in the runner's memory.
 */
import { encodeFrame, type FrameKind, type VerbRefusal } from "./wire.ts";

export class FrameQueue {
  private readonly frames: Uint8Array[] = [];
  private ended = false;
  /** The client has gone; what is put in goes nowhere. */
  dropped = false;
  private wanted: () => void = () => {};
  private waiters: (() => void)[] = [];
  private readonly droppers: (() => void)[] = [];

  constructor(private readonly renderCode: (code: number) => Uint8Array) {}

  put(frame: Uint8Array): void {
    if (this.dropped || this.ended) return;
    this.frames.push(frame);
    this.wanted();
  }

  /** Everything that is printed there, one piece at a time. */
  async pump(kind: FrameKind, from: ReadableStream<Uint8Array>): Promise<void> {
    for await (const piece of from) {
      this.put(encodeFrame(kind, piece));
      await this.drain();
    }
  }

  /** As the program itself would have said it, had it been started. */
  refuse({ message, hint }: VerbRefusal, code: number): void {
    const text = new TextEncoder();
    this.put(encodeFrame("err", text.encode(`overseer: ${message}\n  hint: ${hint}\n`)));
    this.putExit(code);
  }

  putExit(code: number): void {
    this.put(encodeFrame("exit", this.renderCode(code)));
  }

  end(): void {
    this.ended = true;
    this.wanted();
  }

  onDropped(tell: () => void): void {
    if (this.dropped) tell();
    else this.droppers.push(tell);
  }

  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.frames.length === 0 && !this.ended) {
            await new Promise<void>((resolve) => {
              this.wanted = resolve;
            });
          }
          const frame = this.frames.shift();
          if (frame) controller.enqueue(frame);
          else controller.close();
          this.letContinue();
        },
        cancel: () => this.drop(),
      },
      { highWaterMark: 0 },
    );
  }

  private drop(): void {
    this.dropped = true;
    this.frames.length = 0;
    this.letContinue();
    for (const tell of this.droppers) tell();
  }

  private async drain(): Promise<void> {
    while (this.frames.length > 0 && !this.dropped) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  private letContinue(): void {
    for (const resolve of this.waiters.splice(0)) resolve();
  }
}
