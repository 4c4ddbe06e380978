/**
 * Reads a small file at once, without a thread and without node:fs. On paths that every command and hook walks, an
 * asynchronous read costs as much as a third of Bun's own start, because it wakes the thread pool; mapping the file
 * costs a twentieth of that. For files that are replaced whole (as git and we do), never for ones that shrink.
 */
import { systemCode } from "#errors.ts";

/** The text; undefined when there is no such file, or it is a directory. Other failures are thrown. */
export function readNow(path: string): string | undefined {
  try {
    return new TextDecoder().decode(Bun.mmap(path));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "EISDIR" || code === "ENOTDIR") return undefined;
    if (code === "EINVAL") return ""; // an empty file has nothing to map
    // Bun opens for writing what it maps; a disk or a file that may only be read is read the slow way.
    if (code === "EROFS" || code === "EACCES" || code === "EPERM") return readSlowly(path);
    throw error;
  }
}

function readSlowly(path: string): string {
  const { readFileSync } = require("node:fs") as typeof import("node:fs");
  return readFileSync(path, "utf8");
}
