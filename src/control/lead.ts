/**
 * A person's own session that leads (ORCH-1): on and off for this repository, who leads, and what the hooks of such a
 * session are answered. Nothing is written outside of our own state. A hook finds out first whether anything is wanted of it
 * here, and says nothing where it is not.
 */
import { dirname } from "node:path";
import { handToLead, settleHanded } from "#act/lead/hand-over.ts";
import { postLetters } from "#act/lead/post-letters.ts";
import { safeModeIn } from "#act/safe-mode.ts";
import {
  claimLead,
  findCli,
  holdsPlace,
  isLongSilent,
  type LeadClaim,
  releaseLead,
  switchLeadOff,
  switchLeadOn,
} from "#domain/agents/lead.ts";
import { renderLead, renderRival } from "#domain/briefing/lead.ts";
import type { Decision } from "#domain/model/decision.ts";
import type { LeadCondition, LeadSession } from "#domain/model/lead.ts";
import { ORCHESTRATOR_ADDRESS } from "#domain/model/protocol.ts";
import { messageOf, orThrow } from "#errors.ts";
import { dialectNamed } from "#runtimes/dialects.ts";
import { theLead } from "#store/lead.ts";
import { unseenInBox, waitingCount } from "#store/messages.ts";
import { endOfLog } from "#store/tick.ts";
import { runFiles } from "#sys/run-files.ts";
import { redact } from "#telemetry/redact.ts";
import { prime } from "./prime.ts";
import type { World } from "./world.ts";

export interface LeadView {
  readonly on: boolean;
  readonly since: number | null;
  /** The session that leads; null while none is open. */
  readonly session: string | null;
  /** Letters that no session has seen. */
  readonly waiting: number;
  /** Why the last hook of a session that leads went wrong; null when it went well. */
  readonly failure: HookFailure | null;
}

const PROBLEM_CHARS = 500;

/** Hooks fail open and unheard by the session, so the last one that failed is kept for whoever asks. */
export interface HookFailure {
  readonly at: number;
  readonly moment: LeadMoment;
  readonly problem: string;
}

export async function readLead(world: World): Promise<LeadView> {
  const { lead, count } = await (await world.reader()).read({
    lead: theLead(),
    count: waitingCount({ agent: ORCHESTRATOR_ADDRESS }),
  });
  const holder = lead?.holder && !(await isGone(world, lead.holder)) ? lead.holder : null;
  return {
    on: lead?.active === true,
    since: lead?.active ? lead.since : null,
    session: holder?.session ?? null,
    waiting: count.queued + count.handed,
    failure: lead?.active ? readFailure(world) : null,
  };
}

/** False when it was so already. */
export async function switchLead(world: World, on: boolean): Promise<boolean> {
  const moment = { now: world.clock.now(), actor: world.actor };
  const store = await world.writer();
  // What was seen has its receipt before nobody is left to ask for it.
  if (!on) await settleHanded(store, world.processes, moment.now);
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
  try {
    return await answerIn(world, lead, moment, payload);
  } catch (error) {
    await keepFailure(world, moment, messageOf(error));
    throw error;
  }
}

async function answerIn(
  world: World,
  lead: LeadCondition,
  moment: LeadMoment,
  payload: LeadPayload,
): Promise<string | undefined> {
  const session = sessionOf(world, payload);
  const isHolder = holdsPlace(lead.holder, session);
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
  // Whatever keeps new letters from being written, the session is told where it stands and gets those that are.
  const problem = await postLetters(store, now).then(() => undefined, messageOf);
  const isStart = moment === "SessionStart";
  const { count } = await store.read({ count: waitingCount({ agent: ORCHESTRATOR_ADDRESS }) });
  // Whoever takes the place in the middle was never told that it leads.
  const told = isStart || anew ? renderLead(await describeStand(world, source), isStart ? count.queued : 0) : "";
  const { inbox } = await world.config();
  const letters = isStart ? "" : await handToLead(store, session, { capBytes: inbox.injectionCap, now });
  if (problem !== undefined) await keepFailure(world, moment, `new letters cannot be written: ${problem}`);
  else if (readFailure(world)) await world.files.remove(runFiles(world.root.state).leadFailure);
  return [told, letters].filter((part) => part !== "").join("\n\n");
}

async function describeStand(world: World, source: string): Promise<string> {
  return (await prime(world, { compact: source === "compact" })).text;
}

/** Its CLI tells a hook who it is, or is the one that has started the hook. */
function sessionOf({ env, processes }: World, { session, transcript }: LeadPayload): LeadSession {
  const pid = env.CLAUDE_PID ? Number(env.CLAUDE_PID) : findCli(processes.list(), processes.self().pid);
  const process = pid === undefined ? undefined : processes.identify(pid);
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
      decide: ({ lead }) => releaseLead(lead, session, moment),
    }),
  );
}

async function takePlace(world: World, lead: LeadCondition, session: LeadSession): Promise<LeadClaim> {
  const { holder } = lead;
  const gone = holder !== null && (await isGone(world, holder));
  const store = await world.writer();
  const moment = { now: world.clock.now(), actor: world.actor };
  const claimed = orThrow(
    await store.commit({
      at: moment.now,
      reads: { now: theLead() },
      decide: ({ now }) => claimLead(now, session, gone && now?.holder?.at === holder?.at, moment),
    }),
  );
  // What the one before did not take is this one's.
  if (claimed.leads) await settleHanded(store, world.processes, moment.now);
  return claimed;
}

/** One whose process nobody can see may still be there, unless it has long been silent. */
async function isGone(
  { processes, files, clock }: Pick<World, "processes" | "files" | "clock">,
  { process, transcript, at }: LeadSession & { readonly at: number },
): Promise<boolean> {
  if (process) return !processes.alive(process);
  const written = transcript === "" ? undefined : await files.facts(transcript).catch(() => undefined);
  return isLongSilent(at, written?.mtimeMs, clock.now());
}

/** As well as it can be: on a disk that takes nothing, the session is still to hear what there is to say. */
async function keepFailure({ root, clock, files }: World, moment: LeadMoment, problem: string): Promise<void> {
  const failure: HookFailure = { at: clock.now(), moment, problem: redact(problem).slice(0, PROBLEM_CHARS) };
  const file = runFiles(root.state).leadFailure;
  await files
    .makeDir(dirname(file), { mode: 0o700 })
    .then(() => files.write(file, JSON.stringify(failure)))
    .catch(() => undefined);
}

function readFailure({ root, readNow }: World): HookFailure | null {
  const text = readNow(runFiles(root.state).leadFailure);
  return text === undefined ? null : (JSON.parse(text) as HookFailure);
}

function say(moment: "SessionStart" | "UserPromptSubmit", text: string): string {
  return dialectNamed("claude-code").context(moment, text);
}
