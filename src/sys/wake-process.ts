/**
 * A hint to another of our processes that there may be news. By a signal that everybody ignores who does not wait for
 * it, so a pid that changed hands meanwhile does no harm; a socket says the same and costs three times the start of Bun.
 */
import { systemCode } from "#errors.ts";

/** Ignored by default on every Unix. */
export const WAKE_SIGNAL = "SIGURG";

/** False when nobody has that pid, or it is another user's. */
export function wakeProcess(pid: number): boolean {
  try {
    process.kill(pid, WAKE_SIGNAL);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ESRCH" || code === "EPERM") return false;
    throw error;
  }
}
