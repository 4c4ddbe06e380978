/**
 * A few calls of the C library for programs that somebody waits for at every step: what stands on standard input, where
 * a link points, what a small file says that cannot be mapped (/proc). Bun and node:fs answer the same, but wake a thread
 * pool for the one and load half of Bun's own start for the others. Where it is not to be had (another C library, code
 * that may not be compiled at run time) it says so, and the caller goes the long way.
 */
export interface Libc {
  /** The next piece of standard input, waited for; empty at its end, undefined when it cannot be read this way. */
  readInput(): Uint8Array | undefined;
  /** Where a link points; undefined when it is no link, or nothing, or may not be looked at. */
  linkTarget(path: string): string | undefined;
  /** Makes a link; false when that could not be done. */
  makeLink(path: string, target: string): boolean;
}

/** The first bytes of a file, at most a page; undefined when it cannot be read. */
export type FirstPage = (path: string) => string | undefined;

const NAMES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: "libc.so.6", darwin: "libSystem.B.dylib" };
const PIECE = 64 * 1024;
/** No system has longer paths. */
const LONGEST_TARGET = 4096;
const PAGE = 4096;
/** O_RDONLY with O_CLOEXEC, as Linux numbers them. */
const ONLY_READ = 0o2000000;

export function openLibc(): Libc | undefined {
  const name = NAMES[process.platform];
  if (name === undefined) return undefined;
  try {
    const { dlopen, ptr } = require("bun:ffi") as typeof import("bun:ffi");
    const { read, readlink, symlink } = dlopen(name, {
      read: { args: ["i32", "ptr", "u64"], returns: "i32" },
      readlink: { args: ["ptr", "ptr", "u64"], returns: "i32" },
      symlink: { args: ["ptr", "ptr"], returns: "i32" },
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
      makeLink(path, target) {
        const [to, at] = [target, path].map((text) => new TextEncoder().encode(`${text}\0`));
        return to !== undefined && at !== undefined && symlink(ptr(to), ptr(at)) === 0;
      },
    };
  } catch {
    return undefined; // whatever it lacks, the long way is still there
  }
}

/** Apart from the others, because each call that is made ready costs its share of a start. Linux alone. */
export function openFirstPage(): FirstPage | undefined {
  const name = process.platform === "linux" ? NAMES.linux : undefined;
  if (name === undefined) return undefined;
  try {
    const { dlopen, ptr } = require("bun:ffi") as typeof import("bun:ffi");
    const { close, open, read } = dlopen(name, {
      close: { args: ["i32"], returns: "i32" },
      open: { args: ["ptr", "i32"], returns: "i32" },
      read: { args: ["i32", "ptr", "u64"], returns: "i32" },
    }).symbols;
    return (path) => {
      const file = open(ptr(new TextEncoder().encode(`${path}\0`)), ONLY_READ);
      if (file < 0) return undefined;
      const page = new Uint8Array(PAGE);
      const count = read(file, ptr(page), PAGE);
      close(file);
      return count < 0 ? undefined : new TextDecoder().decode(page.subarray(0, count));
    };
  } catch {
    return undefined; // as above
  }
}
