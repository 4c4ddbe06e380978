/**
 * The fleet for a view that stays open: how it stands, and only as much read again as has changed. While nobody commits,
 * one small question a second is all it asks, and whether the daemon is there; what else no commit tells (an agent's process
 * that died) is looked at every few seconds. However large the fleet, looking takes a small share of the time; that the daemon
 * is gone, or the fleet frozen, is told at once.
 */
import { parseRegistration } from "#domain/health/daemon-life.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { eventsMatching } from "#store/events.ts";
import { theFleet } from "#store/fleet.ts";
import { listQueuedMerges } from "#store/merges.ts";
import { contextWindows, pulsesOfLiving } from "#store/signals.ts";
import { nodesInStatus } from "#store/work.ts";
import { runFiles } from "#sys/run-files.ts";
import { readFleetStatus, type Status } from "./status.ts";
import type { World } from "./world.ts";

export interface FleetLook {
  readonly status: Status;
  /** The pulses of those at work, by attempt. */
  readonly pulses: ReadonlyMap<number, Pulse>;
  /** How much the contexts of models hold, as agents told it: an agent knows its own only after its first turn. */
  readonly windows: Readonly<Record<string, number>>;
  /** Tasks that are not over. */
  readonly work: readonly WorkNode[];
  /** Branches on their way into a target. */
  readonly merges: readonly Merge[];
  /** The newest of the log, oldest first. */
  readonly events: readonly EventOf[];
}

/** What no commit tells is looked at this often; the daemon hears of most of it at once, and commits. */
const LOOK_ANYWAY_MS = 10_000;
/** A look that took so long is followed by so many times of rest. */
const REST = 60;
/** One slow look of a busy machine does not keep what is new from people for long. */
const LONGEST_REST_MS = 5_000;
const MOST_TASKS = 300;
const MOST_EVENTS = 300;

/** Looks again where something may have changed; the same look, untouched, where nothing has. */
export function openFleetLook(worldNow: () => Promise<World>): (anyway?: boolean) => Promise<FleetLook> {
  let [mark, lookedAt, tookMs, base] = [-1, 0, 0, ""];
  let known: FleetLook | undefined;
  return async (anyway = false) => {
    // Its settings are read where somebody asks for them, and that is only where it looks again.
    const world = await worldNow();
    const began = world.clock.monotonic();
    const store = await world.reader();
    const now = await store.changeMark();
    const resting = began - lookedAt < Math.min(tookMs * REST, LONGEST_REST_MS);
    const isSame = now === mark && began - lookedAt < LOOK_ANYWAY_MS;
    const found = await markBase(world);
    if (known && !anyway && found === base && (resting || isSame)) return known;
    known = await lookAgain(world, known);
    [mark, lookedAt, tookMs, base] = [now, began, world.clock.monotonic() - began, found];
    return known;
  };
}

/** What everything else stands on: which daemon is registered, whether it lives, and whether the fleet is frozen. */
async function markBase(world: World): Promise<string> {
  const files = runFiles(world.root.state);
  const registration = parseRegistration(world.readNow(files.registration), files.log);
  const { fleet } = await (await world.reader()).read({ fleet: theFleet() });
  const lives = registration !== undefined && world.processes.alive(registration);
  return `${registration?.instance} ${lives} ${fleet?.status}`;
}

async function lookAgain(world: World, known: FleetLook | undefined): Promise<FleetLook> {
  const store = await world.reader();
  const status = await readFleetStatus(world);
  const { pulses, last } = await store.read({
    pulses: pulsesOfLiving(),
    last: eventsMatching({ limit: 1, newest: true }),
  });
  const quick = { status, pulses: new Map(pulses.map((pulse) => [pulse.attempt, pulse])) };
  // What agents do is no event: most changes of a busy fleet leave everything below as it was.
  const isSame = known !== undefined && known.events.at(-1)?.seq === last.at(-1)?.seq;
  return isSame ? { ...known, ...quick } : { ...quick, ...(await readLogged(world)) };
}

async function readLogged(world: World): Promise<Omit<FleetLook, "status" | "pulses">> {
  const { blocked, working, queued, todo, ...rest } = await (await world.reader()).read({
    windows: contextWindows(),
    blocked: nodesInStatus("blocked", MOST_TASKS),
    working: nodesInStatus("in_progress", MOST_TASKS),
    queued: nodesInStatus("queued", MOST_TASKS),
    todo: nodesInStatus("todo", MOST_TASKS),
    merges: listQueuedMerges(),
    events: eventsMatching({ limit: MOST_EVENTS, newest: true }),
  });
  return { ...rest, work: [...blocked, ...working, ...queued, ...todo].filter(({ leaf }) => leaf) };
}
