/**
 * Who leads (ORCH-1): a person says that their sessions may, the first that is open does, and another takes the place
 * when that one has closed or is dead. Whoever comes second is told and changes nothing.
 */
import type { Moment } from "#domain/core/actor.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import type { ProcessMark } from "#domain/model/attempt.ts";
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

/**
 * `isGone`: of the session that holds the place, whether it is known to be dead. A process has one session: with another
 * it has left the one before. A session that two processes have open is the first one's.
 */
export function claimLead(
  known: LeadCondition | undefined,
  session: LeadSession,
  isGone: boolean,
  { actor }: Pick<Moment, "actor">,
): Decision<LeadClaim> {
  if (!known?.active) return accept([], { leads: false, other: null });
  const { holder } = known;
  const ofSameProcess = holder?.process != null && isSameProcess(holder.process, session.process);
  if (holder && !ofSameProcess && !holdsPlace(holder, session) && !isGone)
    return accept([], { leads: false, other: holder });
  const isNamedSo = holder?.session === session.session;
  if (isNamedSo && holder.transcript === session.transcript && isSameProcess(holder.process, session.process))
    return accept([], { leads: true, anew: false });
  const because = holder ? whyItLeads(isNamedSo, ofSameProcess) : "first";
  return accept([{ type: "lead.taken", actor, because, data: { ...session } }], { leads: true, anew: true });
}

function whyItLeads(isNamedSo: boolean, ofSameProcess: boolean): string {
  if (isNamedSo) return "resumed";
  return ofSameProcess ? "in-its-place" : "the-other-is-gone";
}

/** By its name, unless another process is known to have it. */
export function holdsPlace(holder: LeadSession | null | undefined, session: LeadSession): boolean {
  if (holder?.session !== session.session) return false;
  return holder.process === null || session.process === null || isSameProcess(holder.process, session.process);
}

function isSameProcess(one: ProcessMark | null, other: ProcessMark | null): boolean {
  return one?.pid === other?.pid && one?.start === other?.start;
}

/** It has closed; of another session's end nothing follows. */
export function releaseLead(
  known: LeadCondition | undefined,
  session: LeadSession,
  { actor }: Pick<Moment, "actor">,
): Decision<boolean> {
  if (!holdsPlace(known?.holder, session)) return accept([], false);
  return accept([{ type: "lead.released", actor, because: "session-ended", data: { session: session.session } }], true);
}

const LONG_SILENCE_MS = 60 * 60_000;

/** Of a session whose process is not known: nothing was heard of it, or written to its transcript, for so long. */
export function isLongSilent(heardAt: number, writtenAt: number | undefined, now: number): boolean {
  return hasPassed(Math.max(heardAt, writtenAt ?? heardAt), LONG_SILENCE_MS, now);
}

interface Started {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

const CLI = /^(?:\S*\/)?(?:(?:node|bun)\s+(?:-\S+\s+)*(?:\S*\/)?)?(?:claude(?:\.exe)?|claude-code\/cli\.m?js)(?:\s|$)/;

/** The CLI that runs the hook, for one that does not say which process it is: the nearest above it that is called so. */
export function findCli(processes: readonly Started[], hook: number): number | undefined {
  const byPid = new Map(processes.map((one) => [one.pid, one]));
  const passed = new Set<number>();
  for (let pid = byPid.get(hook)?.parent; pid !== undefined && !passed.has(pid); pid = byPid.get(pid)?.parent) {
    passed.add(pid);
    if (CLI.test(byPid.get(pid)?.command ?? "")) return pid;
  }
  return undefined;
}
