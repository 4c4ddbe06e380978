/** One line on a terminal that says how far a long reading is, written over itself, and gone when it is done. */
import type { ReadProgress } from "#control/replay.ts";

const EVERY_MS = 100;
const ERASE = "\r\u001b[2K";

/** Undefined where nobody looks: pipes and files stay clean. */
export function showProgress(isWatched: boolean): ((done: ReadProgress) => void) | undefined {
  const { stderr } = process;
  if (!isWatched || !stderr.isTTY) return undefined;
  let next = 0;
  return ({ files, of, bytes, ofBytes }) => {
    if (files === of) {
      stderr.write(ERASE);
      return;
    }
    if (performance.now() < next) return;
    next = performance.now() + EVERY_MS;
    const size = ofBytes === 0 ? "" : `, ${megabytes(bytes)} of ${megabytes(ofBytes)}`;
    stderr.write(`${ERASE}Reading ${files} of ${of} files${size}`);
  };
}

export function megabytes(bytes: number): string {
  return bytes < 100_000
    ? `${Math.ceil(bytes / 1000)} KB`
    : `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}
