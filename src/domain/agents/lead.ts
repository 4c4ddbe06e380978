/**
 * Who leads (ORCH-1): a person says that their sessions may, the first that is open does, and another takes the place
 * when that one has closed or is dead. Whoever comes second is told and changes nothing.
 */
import type { Moment } from "#domain/core/actor.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { LeadCondition, LeadSession } from "#domain/model/lead.ts";
import type { Message } from "#domain/model/message.ts";
import { ORCHESTRATOR_ADDRESS } from "#domain/model/protocol.ts";

/** `cursor`: the end of the log, since what happened before is no news. False when it was so already. */
export function switchLeadOn(
  known: LeadCondition | undefined,
  cursor: number,
  { actor }: Pick<Moment, "actor">,
): Decision<boolean> {
  if (known?.active) return accept([], false);
  return accept([{ type: "lead.on", actor, because: "asked-for", data: { cursor } }], true);
}

/** What was made of the log for a session that leads, and that none has seen, goes with it; others' mail stays. */
export function switchLeadOff(
  known: LeadCondition | undefined,
  unseen: readonly Message[],
  { actor }: Pick<Moment, "actor">,
): Decision<boolean> {
  if (!known?.active) return accept([], false);
  const expired = unseen
    .filter(({ from }) => from === "overseer")
    .map(
      ({ messageId }): NewEvent => ({
        ...{ type: "message.expired", actor, agent: ORCHESTRATOR_ADDRESS, because: "nobody-leads" },
        data: { messageId, reason: "sessions no longer lead here" },
      }),
    );
  return accept([{ type: "lead.off", actor, because: "asked-for", data: {} }, ...expired], true);
}

export type LeadClaim =
  /** `anew`: the place is this session's from now on. */
  | { readonly leads: true; readonly anew: boolean }
  | { readonly leads: false; readonly other: LeadSession & { readonly at: number } }
  /** Nobody is to lead here. */
  | { readonly leads: false; readonly other: null };

/** `isGone`: of the session that holds the place, whether it is known to be dead. */
export function claimLead(
  known: LeadCondition | undefined,
  session: LeadSession,
  isGone: boolean,
  { actor }: Pick<Moment, "actor">,
): Decision<LeadClaim> {
  if (!known?.active) return accept([], { leads: false, other: null });
  const { holder } = known;
  if (holder && holder.session !== session.session && !isGone) return accept([], { leads: false, other: holder });
  const same =
    holder?.session === session.session &&
    holder.transcript === session.transcript &&
    holder.process?.pid === session.process?.pid &&
    holder.process?.start === session.process?.start;
  if (same) return accept([], { leads: true, anew: false });
  const because = holder ? (holder.session === session.session ? "resumed" : "the-other-is-gone") : "first";
  return accept([{ type: "lead.taken", actor, because, data: { ...session } }], { leads: true, anew: true });
}

/** It has closed; of another session's end nothing follows. */
export function releaseLead(
  known: LeadCondition | undefined,
  session: string,
  { actor }: Pick<Moment, "actor">,
): Decision<boolean> {
  if (known?.holder?.session !== session) return accept([], false);
  return accept([{ type: "lead.released", actor, because: "session-ended", data: { session } }], true);
}
