/**
 * The door of the log: what passes here is what is kept for ever, so secrets are taken out and sizes are bounded
 * before an event is written or folded. There is no way around it: both stores seal every event they append, also
 * imported and recovered ones.
 */

import type { Config } from "#config/schema.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import { currentVersion } from "#domain/model/upcast.ts";
import { clip, clipDeep } from "#telemetry/bounds.ts";
import { redact, redactDeep } from "#telemetry/redact.ts";

export interface Caps {
  /** One text that has no cap of its own, in bytes. */
  readonly fieldBytes: number;
  /** One field of a report (a decision, a next step, a file touched), in bytes. */
  readonly reportFieldBytes: number;
  /** The instruction given to an agent, in bytes. */
  readonly instructionBytes: number;
  /** A summary of what was done, in bytes. */
  readonly summaryBytes: number;
  /** The accepted plan as it was written, in bytes. */
  readonly rawPlanBytes: number;
  /** Entries of one list. */
  readonly listItems: number;
}

export const DEFAULT_CAPS: Caps = {
  fieldBytes: 16 * 1024,
  reportFieldBytes: 2 * 1024,
  instructionBytes: 16 * 1024,
  summaryBytes: 8 * 1024,
  rawPlanBytes: 512 * 1024,
  listItems: 2000,
};

/** The caps a person set in the configuration; what cannot be set stays as it is. */
export function capsOf({ caps }: Pick<Config["store"], "caps">): Caps {
  return {
    ...DEFAULT_CAPS,
    fieldBytes: caps.payload,
    reportFieldBytes: caps.field,
    instructionBytes: caps.instruction,
    summaryBytes: caps.summary,
  };
}

export interface LogPosition {
  readonly seq: number;
  readonly at: number;
}

/** A new event as it goes into the log. */
export function seal(event: NewEvent, place: LogPosition, caps: Caps): EventOf {
  return sealStored({ ...event, ...place, v: currentVersion(event.type) } as EventOf, caps);
}

/** The same for an event that has its place already (import, recovery). */
export function sealStored(event: EventOf, caps: Caps): EventOf {
  const because = clip(redact(event.because), 500);
  return { ...event, because, data: sealData(event, caps) } as EventOf;
}

/** Texts with a cap of their own, by the name of their field. An instruction travels as the body of a message too. */
const OWN_CAP: Readonly<Record<string, keyof Caps>> = {
  instruction: "instructionBytes",
  body: "instructionBytes",
  raw: "rawPlanBytes",
  summary: "summaryBytes",
};

function sealData(event: EventOf, caps: Caps): unknown {
  const maxStringBytes = event.type === "crystallization.recorded" ? caps.reportFieldBytes : caps.fieldBytes;
  const bounds = { maxStringBytes, maxItems: caps.listItems, maxDepth: 12 };
  const data: Record<string, unknown> = { ...event.data };
  for (const key of Object.keys(data)) {
    const value = data[key];
    if (typeof value === "number" || typeof value === "boolean" || value === null || value === undefined) continue;
    const cap = OWN_CAP[key];
    data[key] =
      cap && typeof value === "string"
        ? clip(redact(value), caps[cap])
        : clipDeep(redactDeep({ [key]: value }), bounds)[key];
  }
  return data;
}
