/** What SQLite says when something is wrong, said again so that a person knows the next step. */
import { messageOf, OverseerError, systemCode } from "#errors.ts";

/** The error as ours; one that is ours already, or nothing to do with the store, is returned as it is. */
export function storeError(error: unknown, path: string): unknown {
  if (error instanceof OverseerError) return error;
  const code = systemCode(error) ?? "";
  const say = (name: string, message: string, hint: string) =>
    new OverseerError("environment", name, message, hint, { cause: error });
  if (/^SQLITE_(CORRUPT|NOTADB|MISMATCH)/.test(code) || error instanceof SyntaxError) {
    return say(
      "STORE_CORRUPT",
      `The database ${path} is damaged (${messageOf(error)}).`,
      "Run 'overseer doctor' to see what can be read, and 'overseer doctor --fix' to recover it.",
    );
  }
  if (
    code.startsWith("SQLITE_FULL") ||
    code === "ENOSPC" ||
    code === "SQLITE_IOERR_SHMSIZE" ||
    /disk is full/.test(messageOf(error))
  ) {
    return say("DISK_FULL", "The disk is full; nothing was written.", "Free some space and run the command again.");
  }
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return say(
      "STORE_BUSY",
      "The database stayed busy for too long; nothing was written.",
      "Run the command again; 'overseer doctor' shows who holds it.",
    );
  }
  if (code.startsWith("SQLITE_READONLY") || code === "EROFS" || code === "EACCES" || code.startsWith("SQLITE_PERM")) {
    return say(
      "STORE_READONLY",
      `The database ${path} may not be used (${messageOf(error)}); nothing was written.`,
      "Check the permissions of the file and its directory, and whether the disk is mounted read-only.",
    );
  }
  if (code.startsWith("SQLITE_CANTOPEN") || code === "ENOENT") {
    return say(
      "STORE_UNREADABLE",
      `The database ${path} cannot be opened.`,
      "Check that it exists and that you may read it; 'overseer init' makes a new one.",
    );
  }
  if (code.startsWith("SQLITE_IOERR")) {
    return say(
      "STORE_IO",
      `The disk failed while the database was used (${messageOf(error)}); nothing was written.`,
      "Check the disk, then run 'overseer doctor'.",
    );
  }
  return error;
}

export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(systemCode(error) ?? "");
}

export function newerStore(path: string, schema: number, known: number): OverseerError {
  return new OverseerError(
    "environment",
    "STORE_NEWER",
    `${path} was written by a newer Overseer (schema ${schema}; this one knows ${known}).`,
    "Update Overseer; nothing was changed.",
  );
}
