/**
 * A person's own session that leads (ORCH-1): on and off for this repository, who leads, and what the hooks of such a
 * session are answered. Nothing is written outside of our own state. A hook finds out first whether anything is wanted of it
 * here, and says nothing where it is not.
 */
import { handToLead, settleHanded } from "#act/lead/hand-over.ts";
import { postLetters } from "#act/lead/post-letters.ts";
import { safeModeIn } from "#act/safe-mode.ts";
import { claimLead, type LeadClaim, releaseLead, switchLeadOff, switchLeadOn } from "#domain/agents/lead.ts";
import { renderLead, renderRival } from "#domain/briefing/lead.ts";
import type { Decision } from "#domain/model/decision.ts";
import type { LeadCondition, LeadSession } from "#domain/model/lead.ts";
import { ORCHESTRATOR_ADDRESS } from "#domain/model/protocol.ts";
import { orThrow } from "#errors.ts";
import { dialectNamed } from "#runtimes/dialects.ts";
import { theLead } from "#store/lead.ts";
import { unseenInBox, waitingCount } from "#store/messages.ts";
import { endOfLog } from "#store/tick.ts";
import { prime } from "./prime.ts";
import type { World } from "./world.ts";

export interface LeadView {
  readonly on: boolean;
  readonly since: number | null;
  /** The session that leads; null while none is open. */
  readonly session: string | null;
  /** Letters that no session has seen. */
  readonly waiting: number;
}

export async function readLead(world: World): Promise<LeadView> {
  const { lead, count } = await (await world.reader()).read({
    lead: theLead(),
    count: waitingCount({ agent: ORCHESTRATOR_ADDRESS }),
  });
  const holder = lead?.holder && !isGone(world, lead.holder) ? lead.holder : null;
  return {
    on: lead?.active === true,
    since: lead?.active ? lead.since : null,
    session: holder?.session ?? null,
    waiting: count.queued + count.handed,
  };
}

/** False when it was so already. */
export async function switchLead(world: World, on: boolean): Promise<boolean> {
  const moment = { now: world.clock.now(), actor: world.actor };
  const store = await world.writer();
  return orThrow(
    await store.commit({
      at: moment.now,
      reads: { lead: theLead(), end: endOfLog(), unseen: unseenInBox(ORCHESTRATOR_ADDRESS) },
      decide: ({ lead, end, unseen }): Decision<boolean> =>
        on ? switchLeadOn(lead, end, moment) : switchLeadOff(lead, unseen, moment),
    }),
  );
}

export const LEAD_MOMENTS = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"] as const;
export type LeadMoment = (typeof LEAD_MOMENTS)[number];

/** What a session's CLI has told its hook, as far as it is looked at. */
export interface LeadPayload {
  readonly session: string;
  readonly transcript: string;
  /** Of a start: startup, resume, clear or compact. */
  readonly source: string;
}

/** What the session's CLI is to read; undefined for nothing. */
export async function answerLeadHook(
  world: World,
  moment: LeadMoment,
  payload: LeadPayload,
): Promise<string | undefined> {
  // Agents' sessions are supervised by their own hooks, and a store in doubt delivers nothing.
  if (world.env.OVERSEER_ATTEMPT || safeModeIn(world.root.state, world.readNow)) return undefined;
  const { lead } = await (await world.reader()).read({ lead: theLead() });
  if (!lead?.active) return undefined;
  const session = sessionOf(world, payload);
  const isHolder = lead.holder?.session === session.session;
  if (moment === "Stop" || moment === "SessionEnd") {
    if (isHolder) await closeTurn(world, session, moment === "SessionEnd");
    return undefined;
  }
  const claimed = await takePlace(world, lead, session);
  if (!claimed.leads) {
    return claimed.other && moment === "SessionStart"
      ? say(moment, renderRival(claimed.other.session, world.clock.now() - claimed.other.at))
      : undefined;
  }
  const text = await textFor(world, moment, { anew: claimed.anew, session, source: payload.source });
  return text === "" ? undefined : say(moment, text);
}

async function textFor(
  world: World,
  moment: "SessionStart" | "UserPromptSubmit",
  { anew, session, source }: { readonly anew: boolean; readonly session: LeadSession; readonly source: string },
): Promise<string> {
  const store = await world.writer();
  const now = world.clock.now();
  await postLetters(store, now);
  const isStart = moment === "SessionStart";
  const { count } = await store.read({ count: waitingCount({ agent: ORCHESTRATOR_ADDRESS }) });
  // Whoever takes the place in the middle was never told that it leads.
  const told = isStart || anew ? renderLead(await describeStand(world, source), isStart ? count.queued : 0) : "";
  if (isStart) return told;
  const { inbox } = await world.config();
  const letters = await handToLead(store, session, { capBytes: inbox.injectionCap, now });
  return [told, letters].filter((part) => part !== "").join("\n\n");
}

async function describeStand(world: World, source: string): Promise<string> {
  return (await prime(world, { compact: source === "compact" })).text;
}

/** Its CLI tells a hook who it is. */
function sessionOf({ env, processes }: World, { session, transcript }: LeadPayload): LeadSession {
  const pid = Number(env.CLAUDE_PID);
  const process = Number.isSafeInteger(pid) && pid > 0 ? processes.identify(pid) : undefined;
  return { session, transcript, process: process ? { pid: process.pid, start: process.start } : null };
}

/** A turn is over, or the session. */
async function closeTurn(world: World, session: LeadSession, ends: boolean): Promise<void> {
  const store = await world.writer();
  const moment = { now: world.clock.now(), actor: world.actor };
  await settleHanded(store, world.processes, moment.now);
  if (!ends) return;
  orThrow(
    await store.commit({
      at: moment.now,
      reads: { lead: theLead() },
      decide: ({ lead }) => releaseLead(lead, session.session, moment),
    }),
  );
}

async function takePlace(world: World, lead: LeadCondition, session: LeadSession): Promise<LeadClaim> {
  const { holder } = lead;
  const gone = holder !== null && isGone(world, holder);
  const store = await world.writer();
  const moment = { now: world.clock.now(), actor: world.actor };
  const claimed = orThrow(
    await store.commit({
      at: moment.now,
      reads: { now: theLead() },
      decide: ({ now }) => claimLead(now, session, gone && now?.holder?.session === holder?.session, moment),
    }),
  );
  // What the one before did not take is this one's.
  if (claimed.leads) await settleHanded(store, world.processes, moment.now);
  return claimed;
}

/** One that nobody can see may still be there. */
function isGone(world: Pick<World, "processes">, { process }: Pick<LeadSession, "process">): boolean {
  return process !== null && !world.processes.alive(process);
}

function say(moment: "SessionStart" | "UserPromptSubmit", text: string): string {
  return dialectNamed("claude-code").context(moment, text);
}
