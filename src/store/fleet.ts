/** Questions about the fleet as a whole. */
import { FLEET_ID, type Fleet } from "#domain/model/fleet.ts";
import { docById } from "./by-id.ts";
import type { Query } from "./query.ts";

/** Undefined while nobody has ever frozen it: then it moves. */
export function theFleet(): Query<Fleet | undefined> {
  return docById("fleet", FLEET_ID);
}
