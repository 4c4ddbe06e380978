/**
 * The end of a file, and what was added to one since somebody last read it. Without a handle that stays open. Only of
 * regular files: a pipe would wait for ever, a device has no end.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { systemCode } from "#errors.ts";

export interface TailRead {
  readonly text: string;
  /** Where the next read begins. */
  readonly next: number;
}

/** From `offset` on, at most the last `maxBytes`; from the beginning where the file is shorter than that by now. */
export function readTail(path: string, offset: number, maxBytes: number): TailRead {
  const { bytes, from } = readEnd(path, offset, maxBytes);
  // A line that is still being written is read whole the next time.
  const end = bytes.lastIndexOf(0x0a) + 1;
  return { text: bytes.toString("utf8", 0, end), next: from + end };
}

/** At most the last `maxBytes`, with a line that has no end yet; empty where no such file can be read. */
export function readLast(path: string, maxBytes: number): string {
  try {
    return readEnd(path, 0, maxBytes).bytes.toString("utf8");
  } catch (error) {
    if (UNREADABLE.has(systemCode(error) ?? "")) return "";
    throw error;
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(["ENOTDIR", "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG", "ENXIO"]);
const NOTHING = { bytes: Buffer.alloc(0), from: 0 };

function readEnd(path: string, offset: number, maxBytes: number): { readonly bytes: Buffer; readonly from: number } {
  let file: number;
  try {
    // To open a pipe that nobody writes to waits as well.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return NOTHING;
    throw error;
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) return NOTHING;
    const { size } = facts;
    const from = Math.max(offset > size ? 0 : offset, size - maxBytes);
    const bytes = Buffer.alloc(Math.max(0, size - from));
    return { bytes: bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from)), from };
  } finally {
    closeSync(file);
  }
}
