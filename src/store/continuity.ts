/** What every store says about a log that does not follow on from the one it has. */
import { OverseerError } from "#errors.ts";

/** The event that touches no table: a log that holds nothing else has no history to lose. */
export const BEGINNING = "overseer.initialised";

export function notEmpty(): OverseerError {
  return new OverseerError(
    "conflict",
    "STORE_NOT_EMPTY",
    "This repository already has a history; an import would mix two.",
    "Import into a repository where 'overseer init' has just run, or move .git/overseer/overseer.db away and run it again.",
  );
}

export function gapInLog(expected: number, found: number): OverseerError {
  return new OverseerError(
    "conflict",
    "LOG_GAP",
    `The log continues at ${expected}, but the next event given is ${found}.`,
    "Import into an empty store, and do not edit the events of an export.",
  );
}

export function inDoubt(): OverseerError {
  return new OverseerError(
    "conflict",
    "STORE_IN_DOUBT",
    "The database is in doubt: it does not continue from what was seen of it, so this was not recorded.",
    "'overseer doctor --fix', with the daemon down, brings back what was seen, 'overseer thaw' continues with what is here; then say it again. 'overseer freeze' and 'overseer stop' work meanwhile.",
  );
}
