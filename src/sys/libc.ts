/**
 * Two calls of the C library for programs that every tool of an agent waits for: what stands on standard input, and
 * where a link points. Bun and node:fs answer the same, but wake a thread pool for the one and load half of Bun's own
 * start for the other. Where it is not to be had (another C library, code that may not be compiled at run time) it says
 * so, and the caller goes the long way.
 */
export interface Libc {
  /** The next piece of standard input, waited for; empty at its end, undefined when it cannot be read this way. */
  readInput(): Uint8Array | undefined;
  /** Where a link points; undefined when it is no link, or nothing, or may not be looked at. */
  linkTarget(path: string): string | undefined;
}

const NAMES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: "libc.so.6", darwin: "libSystem.B.dylib" };
const PIECE = 64 * 1024;
/** No system has longer paths. */
const LONGEST_TARGET = 4096;

export function openLibc(): Libc | undefined {
  const name = NAMES[process.platform];
  if (name === undefined) return undefined;
  try {
    const { dlopen, ptr } = require("bun:ffi") as typeof import("bun:ffi");
    const { read, readlink } = dlopen(name, {
      read: { args: ["i32", "ptr", "u64"], returns: "i32" },
      readlink: { args: ["ptr", "ptr", "u64"], returns: "i32" },
    }).symbols;
    return {
      readInput() {
        const piece = new Uint8Array(PIECE);
        const count = read(0, ptr(piece), PIECE);
        return count < 0 ? undefined : piece.subarray(0, count);
      },
      linkTarget(path) {
        const target = new Uint8Array(LONGEST_TARGET);
        const count = readlink(ptr(new TextEncoder().encode(`${path}\0`)), ptr(target), LONGEST_TARGET);
        return count < 0 ? undefined : new TextDecoder().decode(target.subarray(0, count));
      },
    };
  } catch {
    return undefined; // whatever it lacks, the long way is still there
  }
}
