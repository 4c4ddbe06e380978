/** What the live view knows of the fleet at one moment; everything that is drawn follows from it. */
import { eventText } from "#cli/event-text.ts";
import type { FleetLook } from "#control/fleet-look.ts";
import { isRoutineEvent } from "#domain/explain/event-line.ts";
import type { EventOf } from "#domain/model/event.ts";
import { nodeKey } from "#domain/model/work.ts";

/** An event of the log, as `events` prints it. */
export interface LogLine {
  readonly seq: number;
  readonly text: string;
  /** `goal/node` or the goal; empty where it is about the fleet. */
  readonly about: string;
}

export interface View extends Omit<FleetLook, "events"> {
  /** The newest first. */
  readonly log: readonly LogLine[];
  /** The place of the last event, told or not. */
  readonly last: number | undefined;
  readonly now: number;
}

/** The same look a moment later is the same view with another time; on another day the log is told anew. */
export function toView({ events, ...look }: FleetLook, now: number, before?: View): View {
  const isSame =
    before !== undefined &&
    before.last === events.at(-1)?.seq &&
    new Date(before.now).getDate() === new Date(now).getDate();
  return { ...look, now, last: events.at(-1)?.seq, log: isSame ? before.log : toLogLines(events, now) };
}

/** The newest first, without what Overseer does inside. */
export function toLogLines(events: readonly EventOf[], now: number): LogLine[] {
  const told = events.filter((event) => !isRoutineEvent(event)).toReversed();
  return told.map((event) => {
    const { seq, goalId = "", nodeId } = event;
    return { seq, text: eventText(event, now), about: nodeId ? nodeKey(goalId, nodeId) : goalId };
  });
}
