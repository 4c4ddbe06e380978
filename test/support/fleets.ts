/** Fleets of one test file: made when a test asks, ended after it, whatever happened in between. */
import { afterEach } from "bun:test";
import { Fleet, type FleetOptions } from "./fleet.ts";

/** Call it once at the top of a file; it gives the maker of that file's fleets. */
export function endedFleets(always: FleetOptions = {}): (options?: FleetOptions) => Promise<Fleet> {
  const fleets: Fleet[] = [];
  // Whoever was at work is asked to stop and then ended, one after the other; on a busy machine that takes a while.
  afterEach(async () => {
    for (const fleet of fleets.splice(0)) await fleet.end();
  }, 60_000);
  return async (options = {}) => {
    const fleet = await Fleet.make({ ...always, ...options });
    fleets.push(fleet);
    return fleet;
  };
}
