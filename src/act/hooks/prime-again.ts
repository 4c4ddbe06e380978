/**
 * What a compacted session is told (PRIME-1): the page that was written when the attempt began, and the messages that
 * wait for it now. Messages are only shown: handing them over, with a receipt, is the runner's.
 */
import { COMPACTED, renderWaiting } from "#domain/briefing/prime.ts";
import type { Message } from "#domain/model/message.ts";
import type { HookDialect } from "#runtimes/hook-dialect.ts";
import { waitingMessages } from "#store/messages.ts";
import { readNow } from "#sys/read-now.ts";
import type { HookDesk } from "./desk.ts";

const BUSY_MS = 100;

/** The answer to SessionStart; undefined when there is nothing to say. What waits is only named: the runner hands it. */
export async function primeAgain(
  desk: Pick<HookDesk, "directory" | "attempt" | "ask">,
  dialect: HookDialect,
): Promise<string | undefined> {
  return primeWith(desk, renderWaiting(await waitingFor(desk)), dialect);
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

/** Nothing when the store cannot be read: the page alone is still worth giving. */
async function waitingFor(desk: Pick<HookDesk, "attempt" | "ask">): Promise<Message[]> {
  try {
    return await desk.ask(waitingMessages(desk.attempt, 50), BUSY_MS);
  } catch {
    return [];
  }
}
