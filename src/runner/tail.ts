/**
 * Reads what was added to a file since the last look, whole lines only. A file that is not there yet has nothing; one
 * that became shorter is somebody else's and is read from its beginning.
 */
import type { Files } from "#sys/files.ts";

/** More is read at the next look. */
const MOST_BYTES = 16 * 1024 * 1024;

export class Tail {
  private offset = 0;

  constructor(
    private readonly files: Files,
    private readonly path: string,
  ) {}

  /** What is there now was read by others already. */
  async skip(): Promise<void> {
    this.offset = (await this.files.facts(this.path))?.size ?? 0;
  }

  async lines(): Promise<string[]> {
    const size = (await this.files.facts(this.path))?.size ?? 0;
    if (size < this.offset) this.offset = 0;
    if (size === this.offset) return [];
    const bytes = await Bun.file(this.path)
      .slice(this.offset, Math.min(size, this.offset + MOST_BYTES))
      .bytes();
    const end = bytes.lastIndexOf(10);
    if (end < 0) {
      // A line longer than all that is read at once is no line of a transcript.
      if (bytes.length >= MOST_BYTES) this.offset += bytes.length;
      return [];
    }
    this.offset += end + 1;
    return new TextDecoder().decode(bytes.subarray(0, end)).split("\n");
  }
}
