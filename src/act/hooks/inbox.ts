/**
 * What a boundary of an agent on its own screen puts before it (MAIL-2, INJ-2): the messages that wait, taken out of its
 * inbox in one commit and written down as handed. The runner finds them in the transcript, which is the proof that they
 * were seen. Loaded only when something waits; what goes wrong here leaves the messages where they are.
 */

import { takeForAttempt } from "#act/messages/take-messages.ts";
import { safeModeIn } from "#act/safe-mode.ts";
import type { Boundary } from "#domain/permit/hook-moments.ts";
import type { HookDialect } from "#runtimes/hook-dialect.ts";
import { addressIn, openForWriting } from "#store/open.ts";
import { readNow } from "#sys/read-now.ts";
import type { HookDesk } from "./desk.ts";
import { objectIn } from "./payload.ts";

/** The CLI gives a hook a few seconds; it is not kept waiting for a busy database longer than this. */
const PATIENCE_MS = 1_000;
const DEFAULT_CAP = 8 * 1024;

type AttemptLocation = Pick<HookDesk, "state" | "directory" | "attempt">;

/** The words to put before the agent, written down as handed; empty when there are none. */
export async function takeAtBoundary(place: AttemptLocation, moment: Boundary): Promise<string> {
  if (safeModeIn(place.state)) return ""; // what a store in doubt says waits is not delivered
  const store = await openForWriting({ address: addressIn(place.state), patienceMs: PATIENCE_MS });
  try {
    const { text } = await takeForAttempt(store, place.attempt, {
      handedAs: `hook:${moment}:${process.pid}`,
      because: "at-a-boundary",
      capBytes: capOf(place.directory),
      now: Date.now(),
      midTurn: moment === "PostToolBatch",
    });
    return text;
  } finally {
    await store.close();
  }
}

/** What the CLI reads from the hook; undefined when nothing is to be said. At a stop it continues with its turn. */
export async function injectAt(
  place: AttemptLocation,
  moment: Boundary,
  dialect: HookDialect,
): Promise<string | undefined> {
  const text = await takeAtBoundary(place, moment);
  if (text === "") return undefined;
  return moment === "Stop" ? dialect.block(text) : dialect.context(moment, text);
}

/** As the sling wrote it down for the runner. */
function capOf(directory: string): number {
  const cap = objectIn(readNow(`${directory}/launch.json`))?.injectionCap;
  return typeof cap === "number" ? cap : DEFAULT_CAP;
}
