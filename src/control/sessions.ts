/**
 * Sessions that outlive an attempt: whether one can be resumed, and what was taken in it so far. An agent that continues
 * with its own work resumes one, and so does a fresh attempt that is given the session of finished work (DISP-3).
 */
import type { Attempt, Usage } from "#domain/model/attempt.ts";
import { findSession, isLiving, sumOfUsage } from "#domain/model/attempt.ts";
import { messageOf, OverseerError } from "#errors.ts";
import type { Runtime } from "#runtimes/runtime.ts";
import { attemptByNumber, attemptsOfNode } from "#store/attempts.ts";
import { pulseOf } from "#store/signals.ts";
import { stopAgent } from "./agents.ts";
import type { GivenSession } from "./sling.ts";
import type { World } from "./world.ts";

/** The session as it lies on disk; undefined when it cannot be resumed. */
export async function readTranscript(world: World, runtime: Runtime, session: string): Promise<string | undefined> {
  const path = findTranscript(runtime, session);
  return path === undefined ? undefined : world.files.read(path);
}

/** Where it lies; undefined when it is not there, or nobody could continue it. */
export function findTranscript(runtime: Runtime, session: string): string | undefined {
  return runtime.capabilities.resume ? runtime.sessionFile(session) : undefined;
}

/** Without reading it: it may be as long as many days of work. */
export async function isTranscriptThere(world: World, runtime: Runtime, session: string): Promise<boolean> {
  const path = findTranscript(runtime, session);
  const facts = path === undefined ? undefined : await world.files.facts(path);
  return facts !== undefined && facts.kind !== "directory";
}

/** What was taken in the session until now, by attempts at this node and at those it was with before. */
export async function sumSpentIn(world: World, session: string, of: Attempt): Promise<Usage> {
  const store = await world.writer();
  const { all } = await store.read({ all: attemptsOfNode(of.goalId, of.workNodeId) });
  const own = all.filter((one) => findSession(one) === session);
  const spent = sumOfUsage(own.flatMap((one) => (one.end ? [one.end.usage] : [])));
  const given = own.find((one) => one.follows !== undefined)?.follows?.attempt;
  const before = given === undefined ? undefined : (await store.read({ one: attemptByNumber(given) })).one;
  return before ? sumOfUsage([spent, await sumSpentIn(world, session, before)]) : spent;
}

/** A session for the next piece, or why it cannot be had, as a clause. */
export type SessionWish = { readonly given: GivenSession } | { readonly given: null; readonly why: string };

/**
 * Takes the session of finished work for its next piece. Its agent may still be there, idle: it is ended first, because a
 * session has one agent. That it is given once is settled by the claim (domain/agents/admission.ts).
 */
export async function takeSession(world: World, number: number): Promise<SessionWish> {
  const store = await world.writer();
  const { known, pulse } = await store.read({ known: attemptByNumber(number), pulse: pulseOf(number) });
  if (!known) return { given: null, why: `there is no attempt #${number}` };
  const label = `${known.agent}#${number}`;
  if (isLiving(known) && pulse?.inTurn !== false) return { given: null, why: `${label} is in a turn` };
  const ended = await endHolder(world, known);
  if (typeof ended === "string") return { given: null, why: ended };
  const { session, end } = ended;
  if (end?.cause !== "finished" && end?.cause !== "stopped") return { given: null, why: `${label} ${end?.cause}` };
  if (session === null || !(await isTranscriptThere(world, await world.runtime(known.runtime), session)))
    return { given: null, why: `the session of ${label} is not there any more` };
  return { given: { of: ended, session, spent: await sumSpentIn(world, session, ended) } };
}

async function endHolder(world: World, known: Attempt): Promise<Attempt | string> {
  if (!isLiving(known)) return known;
  try {
    return await stopAgent(world, known.attempt, "its work has landed, and its session is given the next piece");
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return `${known.agent}#${known.attempt} did not end: ${messageOf(error)}`;
  }
}
