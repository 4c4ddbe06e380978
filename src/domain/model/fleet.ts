/**
 * The fleet as a whole: one row that says whether it moves. Frozen, nothing is dispatched, delivered or recovered, by
 * anybody, until a person thaws it; agents in the middle of a turn finish it. It is a row of the store and not a file,
 * so that a rule that gives work out reads it in the same transaction and no freeze is overtaken. Who is in the fleet
 * is not known here.
 */
import type { Moment } from "#domain/core/actor.ts";
import type { Moves } from "#domain/core/moves.ts";
import { accept, type Decision } from "./decision.ts";
import type { EventOf } from "./event.ts";

export type FleetStatus = "moving" | "frozen";

export const FLEET_MOVES: Moves<FleetStatus> = {
  moving: ["frozen"],
  frozen: ["moving"],
};

/** There is one; the row has a name because every row has. */
export const FLEET_ID = "fleet";

export interface Fleet {
  readonly fleetId: string;
  readonly status: FleetStatus;
  /** Wall clock, ms: since when it is so. */
  readonly since: number;
  readonly by: string;
  readonly reason: string | null;
}

/** What freezing or thawing came to: a fleet that is so already stays as it is, and that is no mistake. */
export interface FleetChange {
  readonly changed: boolean;
  readonly fleet: Fleet;
}

export function freezeFleet(fleet: Fleet | undefined, reason: string | null, moment: Moment): Decision<FleetChange> {
  if (fleet?.status === "frozen") return accept([], { changed: false, fleet });
  return accept([{ type: "fleet.frozen", actor: moment.actor, because: "asked-for", data: { reason } }], {
    changed: true,
    fleet: stateOf("frozen", moment, reason),
  });
}

export function thawFleet(fleet: Fleet | undefined, reason: string | null, moment: Moment): Decision<FleetChange> {
  if (fleet?.status !== "frozen") {
    return accept([], { changed: false, fleet: fleet ?? stateOf("moving", moment, null) });
  }
  return accept([{ type: "fleet.thawed", actor: moment.actor, because: "asked-for", data: { reason } }], {
    changed: true,
    fleet: stateOf("moving", moment, reason),
  });
}

export function applyToFleet(fleet: Fleet | undefined, event: EventOf): Fleet | undefined {
  const moment = { now: event.at, actor: event.actor };
  if (event.type === "fleet.frozen") return stateOf("frozen", moment, event.data.reason);
  if (event.type === "fleet.thawed") return stateOf("moving", moment, event.data.reason);
  return fleet;
}

function stateOf(status: FleetStatus, { now, actor }: Moment, reason: string | null): Fleet {
  return { fleetId: FLEET_ID, status, since: now, by: actor, reason };
}
