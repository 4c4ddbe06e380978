/**
 * Was the disk full? A checkout that runs out of space says only "unable to write file" (measured with git 2.39), not
 * why, and git may have cleaned up after itself by the time one looks. So the question is asked the other way round:
 * would the files have fitted into what is free now?
 */

import type { OverseerError } from "#errors.ts";
import type { ExecResult } from "#sys/exec.ts";
import * as args from "./arguments.ts";
import { diskFull, type GitTools, gitFailure, isDiskFull } from "./git.ts";

/** What most file systems round a file up to. */
const BLOCK_BYTES = 4096;

/** The error of a checkout of `tree` into `directory` that failed: DISK_FULL where that explains it, else GIT_FAILED. */
export async function checkoutFailure(
  tools: GitTools,
  place: { readonly repository: string; readonly directory: string; readonly tree: string },
  failed: { readonly args: readonly string[]; readonly result: ExecResult },
): Promise<OverseerError> {
  const full = () => diskFull(`No space left on the disk for the files of ${place.directory}.`);
  if (isDiskFull(failed.result.stderr)) return full();
  if (/unable to (write|create)/i.test(failed.result.stderr)) {
    const sizes = await tools.git.run(args.fileSizes(place.tree), { cwd: place.repository });
    if ((await tools.files.freeBytes(place.directory)) < bytesOnDisk(sizes)) return full();
  }
  return gitFailure(failed.args, place.directory, failed.result);
}

/** Sum over `ls-tree -r -l -z`: `mode type oid  size<TAB>path`; a submodule has no size. */
export function bytesOnDisk(listing: string): number {
  let bytes = 0;
  for (const record of listing.split("\0")) {
    const size = /^\S+ \S+ \S+ +(\d+)\t/.exec(record)?.[1];
    if (size !== undefined) bytes += Math.ceil(Number(size) / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return bytes;
}
