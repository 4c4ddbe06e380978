/** An event as one line for people: when, by the reader's own clock, about whom, and what happened. */
import { tellEvent } from "#domain/explain/event-line.ts";
import type { EventOf } from "#domain/model/event.ts";
import { nodeKey } from "#domain/model/work.ts";
import { shortTime, withShortTimes } from "./short-time.ts";
import { inert } from "./text.ts";

export function eventText(event: EventOf, now: number): string {
  const text = inert(withShortTimes(tellEvent(event), now));
  const about = aboutOf(event);
  const named = about === "" || text.startsWith(`${about} `) ? [] : [about];
  return [shortTime(event.at, now), ...named, text].join("  ");
}

/** The agent where one did it or it was done to one, else the node or the goal. */
function aboutOf({ agent, attempt, goalId, nodeId }: EventOf): string {
  if (agent !== undefined && attempt !== undefined) return inert(`${agent}#${attempt}`);
  if (goalId === undefined) return inert(agent ?? "");
  return nodeId === undefined ? goalId : nodeKey(goalId, nodeId);
}
