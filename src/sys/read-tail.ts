/** What was added to a file since somebody last read it, for whoever follows a log. Without a handle that stays open. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { systemCode } from "#errors.ts";

export interface TailRead {
  readonly text: string;
  /** Where the next read begins. */
  readonly next: number;
}

/** From `offset` on, at most the last `maxBytes`; from the beginning where the file is shorter than that by now. */
export function readTail(path: string, offset: number, maxBytes: number): TailRead {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { text: "", next: 0 };
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const from = Math.max(offset > size ? 0 : offset, size - maxBytes);
    const bytes = Buffer.alloc(Math.max(0, size - from));
    const read = readSync(file, bytes, 0, bytes.length, from);
    // A line that is still being written is read whole the next time.
    const end = bytes.lastIndexOf(0x0a, read - 1) + 1;
    return { text: bytes.toString("utf8", 0, end), next: from + end };
  } finally {
    closeSync(file);
  }
}
