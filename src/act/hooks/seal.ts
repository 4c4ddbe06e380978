/** By what an agent's hooks are known where they are commands: the log, which no agent can rewrite, says it. */
import { attemptByNumber } from "#store/attempts.ts";
import type { HookDesk } from "./desk.ts";

/** How long a hook waits to hear it; a reader seldom waits at all. */
const BUSY_MS = 100;

/** The hash of its secret; undefined for an attempt of an older version, and while the store cannot be read. */
export async function askSeal(desk: Pick<HookDesk, "attempt" | "ask">): Promise<string | undefined> {
  try {
    return (await desk.ask(attemptByNumber(desk.attempt), BUSY_MS))?.seals?.agent;
  } catch {
    return undefined; // then nothing can be taken out of it either; what is told goes into the spool
  }
}
