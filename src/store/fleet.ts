/** Questions about the fleet as a whole. */
import { FLEET_ID, type Fleet } from "#domain/model/fleet.ts";
import type { Query } from "./query.ts";
import { firstDoc } from "./query.ts";

/** Undefined while nobody has ever frozen it: then it moves. */
export function theFleet(): Query<Fleet | undefined> {
  return {
    sql: "select doc from fleet where id = ?1",
    args: [FLEET_ID],
    read: (rows) => firstDoc<Fleet>(rows),
    memory: (tables) => tables.entities.fleet.get(FLEET_ID),
  };
}
