/** The desk of one attempt with its real parts, and the reports that were kept while nobody answered. */
import { type FencedBecause, recordFenced } from "#act/fence.ts";
import { foldKept } from "#act/updates/fold-kept.ts";
import type { UpdateParts } from "#act/updates/take-update.ts";
import type { LaunchFile } from "#runner/launch-file.ts";
import type { RunnerParts } from "#runner/runner-parts.ts";
import { hashOfToken, makeToken, TOKEN_VARIABLE } from "#sys/attempt-token.ts";
import { makeRest } from "#sys/release-code.ts";
import { ownCommandFor } from "#sys/self.ts";
import { VerbDesk } from "./desk.ts";

/** Agents run several commands in a row. */
const QUIET_MS = 2_000;

/** Null for an attempt that an older version prepared: its agent was told of no socket, and speaks for itself. */
export function openDesk(
  launch: Pick<LaunchFile, "attempt" | "agent" | "env" | "attemptSocket">,
  parts: Pick<UpdateParts, "writer" | "clock">,
  kept: RunnerParts["foldKept"],
): { readonly desk: VerbDesk; readonly verbs: NonNullable<RunnerParts["verbs"]> } | null {
  const { attempt, agent, env, attemptSocket } = launch;
  const token = env[TOKEN_VARIABLE];
  if (attemptSocket === undefined || token === undefined) return null;
  const key = makeToken();
  const desk = new VerbDesk({
    ...{ attempt, agent, env, token, key },
    commandFor: ownCommandFor,
    now: () => parts.clock.now(),
    noteFenced: (whose, what, because) => noteFenced(parts, { attempt: whose, what, because }),
    foldReports: async () => {
      await kept();
    },
    rest: makeRest(QUIET_MS),
  });
  const seals = { agent: hashOfToken(token), runner: hashOfToken(key) };
  return { desk, verbs: { seals, close: () => desk.close() } };
}

/** Takes what was kept, one look at a time; several may ask at once, and each file counts once. */
export function openKeptReports(
  launch: Pick<LaunchFile, "attempt" | "env">,
  parts: UpdateParts,
): () => Promise<readonly string[]> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(() => foldKept(parts, { attempt: launch.attempt, token: launch.env[TOKEN_VARIABLE] }));
    last = next.catch(() => undefined);
    return next;
  };
}

async function noteFenced(
  parts: Pick<UpdateParts, "writer" | "clock">,
  late: { readonly attempt: number; readonly what: string; readonly because: FencedBecause },
): Promise<void> {
  try {
    await recordFenced(await parts.writer(), { ...late, now: parts.clock.now() });
  } catch {
    // The refusal matters more than its record; the next one tells it again.
  }
}
