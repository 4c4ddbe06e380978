/**
 * Telling one learning to five hundred agents: found, related, queued, in one commit of a real store, without a child
 * process. Its price in CPU time; what the disk and the neighbours add is in the note.
 */
import type { Discovery } from "#domain/learnings/extract.ts";
import { keepDiscoveries } from "#domain/learnings/keep.ts";
import { type Party, partyOf } from "#domain/learnings/relate.ts";
import { relayLearnings } from "#domain/learnings/relay.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import { applyToLearning } from "#domain/model/learning.ts";
import { livingAttempts } from "#store/attempts.ts";
import { syncsSince } from "#store/learnings.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import { addRunning } from "../support/attempts.ts";
import { T0 } from "../support/samples.ts";
import { cpuOfThis, type Measure, median } from "./row.ts";

const AGENTS = 500;
const SETTINGS = { minScore: 0.5, most: 1_000, perMs: 3_600_000, expiryMs: 7_200_000, withinMs: 86_400_000 };

/** From the discovery to five hundred messages that wait. */
export const relay: Measure = async ({ quick, scratch, until, atEnd }) => {
  const address = `${scratch}/relay.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  const store = await openForWriting({ address });
  atEnd(() => store.close());
  await addRunning(store, AGENTS + 1, { pid: 7, start: "7" });
  const { living } = await store.read({ living: livingAttempts() });
  const [finder, ...parties] = living.map((attempt) => partyOf(attempt, { tags: ["api"], parentId: null }, undefined));
  if (!finder) throw new Error("Nobody is at work.");
  const turns: number[] = [];
  const waits: number[] = [];
  for (let round = 0; round < (quick ? 6 : 16) && (round < 2 || performance.now() < until); round += 1) {
    const began = performance.now();
    const took = await cpuOfThis(async () => {
      const { events } = await tell(store, finder, parties, round);
      if (events !== AGENTS + 2) throw new Error("Not everybody was told.");
    });
    // The first one prepares every statement.
    if (round > 0) turns.push(took);
    if (round > 0) waits.push(performance.now() - began);
  }
  const value = median(turns);
  const note = `${((1_000 * value) / AGENTS).toFixed(0)} µs an agent; ${Math.min(...waits).toFixed(0)} ms on the clock at best`;
  return { value, turns: turns.length, note };
};

async function tell(
  store: Store,
  finder: Party,
  parties: readonly Party[],
  round: number,
): Promise<{ events: number }> {
  const discovery: Discovery = {
    ...{ kind: "failure-fix", text: `\`make ${round}\` fails (no database); \`DB=1 make ${round}\` works.` },
    ...{ key: `make ${round}`, failing: `make ${round} ! x`, fix: `DB=1 make ${round}`, paths: [], score: 0.8 },
    ...{ via: "tool", id: `call_${round}` },
  };
  const outcome = await store.commit({
    at: T0,
    reads: { told: syncsSince(T0) },
    decide: ({ told }) => {
      const found = keepDiscoveries(new Map(), [{ discovery, by: finder, at: T0 }]);
      const learnings = found.flatMap(
        (event) => applyToLearning(undefined, { ...event, seq: 0, at: T0, v: 1 } as EventOf) ?? [],
      );
      const scene = { learnings, parties, told, failing: () => [] };
      return accept([...found, ...relayLearnings(scene, SETTINGS, T0)], null);
    },
  });
  return { events: outcome.ok ? outcome.events.length : 0 };
}
