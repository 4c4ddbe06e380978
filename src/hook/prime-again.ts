/**
 * What a compacted session is told (PRIME-1): the page that was written when the attempt began, and the messages that
 * wait for it now. Messages are only shown: handing them over, with a receipt, is the runner's.
 */
import { Database } from "bun:sqlite";
import { COMPACTED, renderWaiting } from "#domain/briefing/prime.ts";
import type { Message } from "#domain/model/message.ts";
import type { HookDialect } from "#runtimes/hook-dialect.ts";
import { waitingMessages } from "#store/messages.ts";
import type { SqlValue } from "#store/tables.ts";
import { readNow } from "#sys/read-now.ts";

/** The answer to SessionStart; undefined when there is nothing to say. What waits is only named: the runner hands it. */
export function primeAgain(
  place: { readonly state: string; readonly directory: string; readonly attempt: number },
  dialect: HookDialect,
): string | undefined {
  return primeWith(place, renderWaiting(waitingFor(`${place.state}/overseer.db`, place.attempt)), dialect);
}

/** The same with words of the caller's below the page. */
export function primeWith(
  place: { readonly directory: string },
  below: string,
  dialect: HookDialect,
): string | undefined {
  const page = readNow(`${place.directory}/prime.md`) ?? "";
  const told = [page.trimEnd(), below].filter((part) => part !== "");
  if (told.length === 0) return undefined;
  return dialect.context("SessionStart", [COMPACTED, ...told].join("\n\n"));
}

/** Nothing when the database cannot be read: the page alone is still worth giving. */
function waitingFor(path: string, attempt: number): Message[] {
  let db: Database | undefined;
  try {
    db = new Database(path, { readwrite: true, create: false });
    db.run("pragma busy_timeout = 100");
    const { sql, args, read } = waitingMessages(attempt, 50);
    return read(db.query<Record<string, unknown>, SqlValue[]>(sql).all(...args));
  } catch {
    return [];
  } finally {
    db?.close();
  }
}
