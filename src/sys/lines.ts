/** The lines of a file, one at a time, in little memory however long the file is. Lines end with a line feed. */
import { closeSync, openSync, readSync } from "node:fs";

const CHUNK = 1024 * 1024;
const LINE_FEED = 10;
const EMPTY = Buffer.alloc(0);

/** What is said of a line that is longer than the longest that is looked at. */
export const TOO_LONG = Symbol("too long");

/**
 * Calls `take` with each line, without its end; one longer than `longest` bytes comes as TOO_LONG. Ends early when `take`
 * answers false. Throws what the system says where the file cannot be opened or read.
 */
export function eachLine(path: string, longest: number, take: (line: string | typeof TOO_LONG) => boolean): void {
  const file = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(CHUNK);
  let rest: Buffer[] = [];
  let held = 0;
  let isTooLong = false;
  const finish = (end: Buffer): boolean => {
    const tooLong = isTooLong || held + end.length > longest;
    const line = tooLong ? TOO_LONG : held === 0 ? end.toString() : Buffer.concat([...rest, end]).toString();
    rest = [];
    held = 0;
    isTooLong = false;
    return take(line);
  };
  try {
    for (;;) {
      const size = readSync(file, chunk, 0, CHUNK, null);
      if (size === 0) break;
      const read = chunk.subarray(0, size);
      let from = 0;
      for (let to = read.indexOf(LINE_FEED); to >= 0; to = read.indexOf(LINE_FEED, from)) {
        if (!finish(read.subarray(from, to))) return;
        from = to + 1;
      }
      if (from === size) continue;
      isTooLong ||= held + size - from > longest;
      // The chunk is read into again, so what is left of it is copied.
      rest = isTooLong ? [] : [...rest, Buffer.from(read.subarray(from))];
      held = isTooLong ? 0 : held + size - from;
    }
    if (held > 0 || isTooLong) finish(EMPTY);
  } finally {
    closeSync(file);
  }
}
