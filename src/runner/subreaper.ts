/**
 * Makes this process the parent of whatever its descendants leave behind (Linux only), so that a child which lost its
 * own parent is still found by descent. Elsewhere the mark in the environment has to do.
 */
import { dlopen } from "bun:ffi";

const PR_SET_CHILD_SUBREAPER = 36;

/** True when it took effect. */
export function becomeSubreaper(): boolean {
  if (process.platform !== "linux") return false;
  const libc = dlopen("libc.so.6", {
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
  });
  return libc.symbols.prctl(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n) === 0;
}
