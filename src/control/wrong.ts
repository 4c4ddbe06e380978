/**
 * A person's word that a steering was wrong: found by its place in the log, or the last one of an agent, written down, and
 * given out as lines of labels, so that what was wrong once is measured for ever (replay --score).
 */
import { dirname, relative, resolve } from "node:path";
import type { EventOf } from "#domain/model/event.ts";
import { type RefutedSteering, refuteSteering } from "#domain/model/steering.ts";
import { writeLabel } from "#domain/signals/replay-label.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import type { Store } from "#store/store.ts";
import { appendLabels } from "./label-file.ts";
import { resolveAgent } from "./names.ts";
import { assertFits, type World } from "./world.ts";

/** `word`: the id of a steering, as `why` and `events` show it, or the name of an agent. */
export async function judgeWrong(world: World, word: string, reason: string | null): Promise<RefutedSteering> {
  await assertFits(world, { reason });
  const steered = await findSteering(await world.reader(), word);
  const number = steered.attempt;
  if (number === undefined) throw unknownSteering(word);
  const store = await world.writer();
  return orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: {
        attempt: attemptByNumber(number),
        refuted: eventsMatching({ agent: steered.agent, type: "agent.steering_refuted", limit: MOST }),
      },
      decide: ({ attempt, refuted }) => {
        if (!attempt) throw unknownSteering(word);
        return refuteSteering(steered, attempt, refuted.filter(isRefuted), reason, world.actor);
      },
    }),
  );
}

const MOST = 100_000;

async function findSteering(store: Store, word: string): Promise<EventOf<"agent.steered">> {
  const seq = /^#?(\d+)$/.exec(word)?.[1];
  const attempt = /#(\d+)$/.exec(word)?.[1];
  const agent = seq === undefined ? (await resolveAgent(store, word)).agent : undefined;
  const filter =
    seq === undefined
      ? { agent, type: "agent.steered", limit: attempt ? MOST : 1, newest: true }
      : { after: Number(seq) - 1, limit: 1 };
  const { found } = await store.read({ found: eventsMatching(filter) });
  // An attempt that is named is meant: the last steering of another one is not its own.
  const isMeant = (one: EventOf) => seq !== undefined || attempt === undefined || one.attempt === Number(attempt);
  const event = found.findLast(isMeant);
  if (event?.type !== "agent.steered" || (seq !== undefined && event.seq !== Number(seq))) throw unknownSteering(word);
  return event;
}

function unknownSteering(word: string): OverseerError {
  return new OverseerError(
    "not-found",
    "STEERING_UNKNOWN",
    `There is no steering ${word.slice(0, 40)}.`,
    "`overseer events --type agent.steered` lists them; name one by its number, or an agent for its last one.",
  );
}

function isRefuted(event: EventOf): event is EventOf<"agent.steering_refuted"> {
  return event.type === "agent.steering_refuted";
}

/** Appends a line of labels for every steering that was called wrong and is not in the file yet; answers with how many. */
export async function exportWrong(world: World, path: string): Promise<number> {
  const store = await world.reader();
  const { events } = await store.read({ events: eventsMatching({ type: "agent.steering_refuted", limit: MOST }) });
  const known = (await world.files.read(path)) ?? "";
  const lines: string[] = [];
  for (const { attempt: number, data } of events.filter(isRefuted)) {
    const said = `steering-${data.steering}`;
    const { attempt } = await store.read({ attempt: attemptByNumber(number ?? 0) });
    if (attempt === undefined || known.includes(`"${said}"`)) continue;
    const { anomaly, step, reason } = data;
    // Session logs name no calls; the step is what they have in common with the log of events.
    const place = { id: null, ordinal: null, step };
    const file = relative(dirname(resolve(path)), `${attempt.logDir}/events.ndjson`);
    const about = { what: "window", file, runtime: "overseer", anomaly, from: place, to: place } as const;
    lines.push(writeLabel({ ...about, sure: true, wrong: true, note: reason ?? "", said }));
  }
  if (lines.length > 0) await appendLabels(world.files, path, lines);
  return lines.length;
}
