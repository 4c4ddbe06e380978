/** Which events belong into auto mode's own log: what it says of itself, and the fate of what its workers do. Pure. */
import { isAutoName } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";

const OWN_NOUNS: ReadonlySet<string> = new Set(["auto", "pool", "worker"]);

/** Of these, those about a worker of auto mode. */
const OF_WORKERS: ReadonlySet<EventOf["type"]> = new Set<EventOf["type"]>([
  "agent.slung",
  "agent.ended",
  "assignment.restarting",
  "assignment.reassigning",
  "assignment.escalated",
  "work.claimed",
  "work.returned",
  "work.blocked",
  "work.done",
  "work.cancelled",
  "landing.landed",
  "landing.refused",
]);

export function isOfAutoMode({ type, agent }: Pick<EventOf, "type" | "agent">): boolean {
  if (OWN_NOUNS.has(type.slice(0, type.indexOf(".")))) return true;
  return OF_WORKERS.has(type) && agent !== undefined && isAutoName(agent);
}
