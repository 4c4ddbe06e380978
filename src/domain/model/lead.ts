/**
 * Whether a person's own sessions lead in this repository (ORCH-1), which of them does, and up to which event of the log
 * letters were made for it. One leads at a time: the one that holds the place until it ends, or is found dead.
 */
import type { ProcessMark } from "./attempt.ts";
import type { Condition } from "./condition.ts";
import type { EventOf } from "./event.ts";

/** The session that leads. */
export interface LeadSession {
  /** As its CLI calls it. */
  readonly session: string;
  /** Where its conversation is written down; empty where that is not known. */
  readonly transcript: string;
  /** Its CLI; null where that is not known, and then its end or a long silence tells. */
  readonly process: ProcessMark | null;
}

export interface LeadCondition {
  readonly conditionId: typeof LEAD;
  /** Sessions may lead here. */
  readonly active: boolean;
  readonly since: number;
  readonly updatedAt: number;
  readonly kind: "lead";
  readonly cursor: number;
  readonly holder: (LeadSession & { readonly at: number }) | null;
  /** The one that led before it: what that was handed may be found in its transcript still. */
  readonly before: LeadSession | null;
}

export const LEAD = "lead";

type LeadEvent = EventOf<"lead.on" | "lead.off" | "lead.taken" | "lead.released" | "lead.read">;

export function applyToLead(known: Condition | undefined, event: LeadEvent): LeadCondition {
  const before =
    known?.kind === "lead"
      ? known
      : ({
          conditionId: LEAD,
          active: false,
          since: event.at,
          kind: "lead",
          cursor: 0,
          holder: null,
          before: null,
        } as const);
  const now = { ...before, updatedAt: event.at };
  switch (event.type) {
    case "lead.on":
      return { ...now, active: true, since: event.at, cursor: event.data.cursor };
    case "lead.off":
      return { ...now, active: false, holder: null, before: before.holder ?? before.before };
    case "lead.taken": {
      const earlier = before.holder?.session === event.data.session ? before.before : (before.holder ?? before.before);
      return { ...now, holder: { ...event.data, at: event.at }, before: earlier };
    }
    case "lead.released":
      return { ...now, holder: null, before: before.holder };
    case "lead.read":
      return { ...now, cursor: event.data.cursor };
  }
}

/** Under what a letter is handed to a session: by its process one knows later whether it can still take it. */
export function nameHand({ session, process }: Pick<LeadSession, "session" | "process">): string {
  return `lead:${session}${process ? `:${process.pid}:${process.start}` : ""}`;
}

/** Undefined for a letter that no session was handed. */
export function readHand(handedAs: string | null): Pick<LeadSession, "process"> | undefined {
  if (!handedAs?.startsWith("lead:")) return undefined;
  const [, pid, start] = /^lead:[^:]+:(\d+):(.+)$/.exec(handedAs) ?? [];
  return { process: pid === undefined || start === undefined ? null : { pid: Number(pid), start } };
}
