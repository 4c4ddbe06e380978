/** A store that is not there, or not to be read: what is kept outside of it is still to be found and taken out. */
import { OverseerError } from "#errors.ts";

const LOST: ReadonlySet<string> = new Set(["STORE_MISSING", "STORE_CORRUPT", "STORE_FOREIGN"]);

export function isStoreLost(error: unknown): error is OverseerError {
  return error instanceof OverseerError && LOST.has(error.code);
}
