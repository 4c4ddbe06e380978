/**
 * Which events are worth a tick of their own. Not those that only tell how something already decided continues its way, nor
 * what the daemon and its ticks say about themselves: a tick for each of them would find nothing to do, over and over. A
 * tick that decides something is followed by another anyway, so what it decided needs no wake either.
 */
import type { EventOf } from "#domain/model/event.ts";

const QUIET_NOUNS: ReadonlySet<string> = new Set([
  "daemon",
  "config",
  "overseer",
  "message",
  "checkout",
  "crystallization",
]);
const QUIET_TYPES: ReadonlySet<string> = new Set([
  "agent.step",
  "agent.starting",
  "agent.leg",
  "agent.slung",
  "agent.steered",
  "action.decided",
  "action.taken",
  "check.started",
  "merge.testing",
  "landing.prepared",
]);

/** Who begins, ends, is paused or goes on is looked at soon, and not only when its time has come. */
export function mayChangeHealth({ type }: Pick<EventOf, "type">): boolean {
  return type.startsWith("agent.") && !QUIET_TYPES.has(type);
}

export function isWorthATick({ type }: Pick<EventOf, "type">): boolean {
  return !QUIET_TYPES.has(type) && !QUIET_NOUNS.has(type.slice(0, type.indexOf(".")));
}
