/**
 * A runner or a daemon lives for hours and mostly waits, while the code that started it stays mapped: some 15 MB of
 * Bun's own program, counted for each though all share it. This gives those pages back to the page cache; what is needed
 * again is mapped again, a few microseconds at a time. Only the program text is touched: it is never written to, so
 * nothing can be lost. Where that cannot be done (not Linux), nothing happens.
 */
import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";

const MADV_DONTNEED = 4;

/** Where executable code of files lies in this process: `from-to r-xp … inode path`. */
export function codeRanges(maps: string): { readonly from: number; readonly bytes: number }[] {
  return maps.split("\n").flatMap((line) => {
    const [, from = "", to = ""] = /^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ [1-9]\d*\s+\//.exec(line) ?? [];
    const start = Number.parseInt(from, 16);
    return from === "" ? [] : [{ from: start, bytes: Number.parseInt(to, 16) - start }];
  });
}

let libc: ReturnType<typeof openLibrary> | undefined;

function openLibrary() {
  return dlopen("libc.so.6", { madvise: { args: ["ptr", "usize", "i32"], returns: "i32" } });
}

export function releaseCode(): void {
  if (process.platform !== "linux") return;
  libc ??= openLibrary();
  for (const { from, bytes } of codeRanges(readFileSync("/proc/self/maps", "utf8"))) {
    // A refusal costs nothing but the memory; there is nothing better to do about it.
    libc.symbols.madvise(from as never, bytes, MADV_DONTNEED);
  }
}

/**
 * Answering maps code and fills memory that whoever waits needs no more; given back once nobody has called this for so
 * long.
 */
export function makeRest(quietMs: number): () => void {
  let timer: Timer | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      Bun.gc(true);
      releaseCode();
    }, quietMs);
    timer.unref();
  };
}
