/**
 * Events outlive code. Each type has a current version; an event written under an older one is lifted step by step
 * when it is read, for ever. To change a payload: raise its number here and add the step that lifts the version
 * before. Never rewrite the log.
 */
import type { EventOf, EventType } from "./event.ts";

type Lift = (data: Record<string, unknown>) => Record<string, unknown>;

/** `LIFTS[type][n]` turns version n+1 into n+2. A type without an entry is at version 1. */
export type Lifts = Partial<Record<EventType, readonly Lift[]>>;

export const LIFTS: Lifts = {};

export function currentVersion(type: EventType, lifts: Lifts = LIFTS): number {
  return (lifts[type]?.length ?? 0) + 1;
}

/** The event in its present form. An event from the future (a newer product wrote it) is returned as it is. */
export function upcast(event: EventOf, lifts: Lifts = LIFTS): EventOf {
  const steps = lifts[event.type];
  if (!steps || event.v > steps.length) return event;
  const data = steps.slice(event.v - 1).reduce<Record<string, unknown>>((lifted, step) => step(lifted), {
    ...event.data,
  });
  return { ...event, v: steps.length + 1, data } as unknown as EventOf;
}
