/**
 * `restart`: an agent that died, or is to begin again, continues where it was: a new attempt with the worktree, the branch
 * and the session of the one before. What that one had been told and had never seen is told again, but nothing twice:
 * the session's own transcript says what reached it. Whoever wants a fresh start slings the task instead.
 */
import { findBroken, recordBroken } from "#act/attempt-end/keep-work.ts";
import { wipLimits } from "#act/attempt-files.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import type { SlingProgress } from "#act/sling/sling.ts";
import { refuseSuccessor } from "#domain/agents/attempt-end.ts";
import type { AfterStop } from "#domain/agents/stop-agent.ts";
import { isOfLastMoments, listToTellAgain } from "#domain/inbox/tell-again.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel, isLiving, NO_USAGE } from "#domain/model/attempt.ts";
import { nodeKey } from "#domain/model/work.ts";
import { OverseerError } from "#errors.ts";
import { proveWorktree } from "#git/worktree-proof.ts";
import { openQuestions } from "#store/assignments.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import { listExpiredMessages, listLastSeenMessages } from "#store/messages.ts";
import { pulseOf } from "#store/signals.ts";
import { nodeById } from "#store/work.ts";
import { findAgent, stopAgent } from "./agents.ts";
import { assertNotHalted } from "./halted.ts";
import { isTranscriptThere, readTranscript, sumSpentIn } from "./sessions.ts";
import type { Restart, SlingInput } from "./sling.ts";
import { copyInput, slingAgent } from "./sling.ts";
import type { World } from "./world.ts";
import { assertAllowed } from "./world.ts";

export async function restart(
  world: World,
  name: string,
  reason: string | null,
  tell: SlingProgress = () => {},
): Promise<Attempt> {
  await assertNotHalted(world); // before the living one is stopped for it
  return goOn(world, await findAgent(world, name, tell), { reason, tell, after: "reserve" });
}

/**
 * The same for whoever last worked on a node, whatever its name is now: a name is a label, and somebody else may carry
 * it by the time a dead agent is started again.
 */
export async function restartOn(
  world: World,
  place: Pick<Attempt, "goalId" | "workNodeId">,
  order: { readonly reason: string; readonly dispatchId: string },
): Promise<Attempt> {
  const { all } = await (await world.writer()).read({ all: attemptsOfNode(place.goalId, place.workNodeId) });
  const newest = all.reduce<Attempt | undefined>(
    (last, one) => (last && last.attempt > one.attempt ? last : one),
    undefined,
  );
  if (!newest) {
    const message = `Nobody has worked on ${nodeKey(place.goalId, place.workNodeId)}.`;
    throw new OverseerError("not-found", "AGENT_UNKNOWN", message, "'overseer agents --all' lists them.");
  }
  return goOn(world, newest, { ...order, tell: () => {} });
}

interface GoingOn {
  readonly reason: string | null;
  readonly tell: SlingProgress;
  readonly dispatchId?: string;
  /** What becomes of the task between the stop and the start: a person's is nobody else's meanwhile. */
  readonly after?: AfterStop;
}

async function goOn(world: World, newest: Attempt, { reason, tell, dispatchId, after }: GoingOn): Promise<Attempt> {
  await assertGoesOn(world, newest);
  await standOnSettings(world); // nobody is stopped who could not be started again
  const of = await stopAgent(world, newest.attempt, reason ?? "restarted", after);
  const order: SlingInput = {
    ...copyInput(of),
    name: of.agent,
    ...(dispatchId === undefined ? {} : { dispatchId }),
    ...(isLiving(newest) ? { keepsPlace: true } : {}),
    restart: await prepareRestart(world, of),
  };
  const slung = await slingAgent(world, order, tell).catch(async (error: unknown) => {
    // What its end brought to light, as a question that was kept while its runner hung, is why.
    if (error instanceof OverseerError && error.code === "NODE_NOT_READY") await assertFree(world, of);
    await assertWorktree(world, of); // whatever failed: if somebody took the worktree away meanwhile, that is why
    throw error;
  });
  if (slung.dryRun) throw new OverseerError("internal", "NOT_STARTED", "Nothing was started.", "Please report this.");
  return slung.attempt;
}

/** More than an agent can be told in its last minute. */
const MOST_SEEN_LATELY = 100;

async function prepareRestart(world: World, of: Attempt): Promise<Restart> {
  const store = await world.writer();
  const { earlier, unseen, seen, pulse } = await store.read({
    earlier: attemptsOfNode(of.goalId, of.workNodeId),
    unseen: listExpiredMessages(of.attempt),
    seen: listLastSeenMessages(of.attempt, MOST_SEEN_LATELY),
    pulse: pulseOf(of.attempt),
  });
  const runtime = await world.runtime(of.runtime);
  const begun = sessionOf(of, earlier);
  const session = begun !== null && (await isTranscriptThere(world, runtime, begun)) ? begun : null;
  const endedAt = of.endedAt ?? world.clock.now();
  const told = [...unseen, ...seen.filter((message) => isOfLastMoments(message, endedAt))];
  const transcript = session === null || told.length === 0 ? undefined : await readTranscript(world, runtime, session);
  return {
    of,
    continues: {
      attempt: of.attempt,
      branch: of.branch,
      worktree: of.worktree,
      session,
      spent: session === null ? NO_USAGE : await sumSpentIn(world, session, of),
      ...(pulse?.meterUsd === undefined ? {} : { meterUsd: pulse.meterUsd }),
    },
    carried: listToTellAgain(told, transcript, endedAt).map(({ kind, from, body }) => ({ kind, from, body })),
  };
}

/** Its own session, or, when it did not come so far, that of the attempt it continued with itself. */
function sessionOf(of: Attempt, earlier: readonly Attempt[]): string | null {
  if (of.session !== null) return of.session;
  const before = earlier.find((one) => one.attempt === of.continues);
  return before ? sessionOf(before, earlier) : null;
}

async function assertGoesOn(world: World, of: Attempt): Promise<void> {
  const key = nodeKey(of.goalId, of.workNodeId);
  const { all } = await (await world.writer()).read({ all: attemptsOfNode(of.goalId, of.workNodeId) });
  const newer = all.find((one) => one.attempt > of.attempt);
  if (newer) {
    throw new OverseerError(
      "conflict",
      "TAKEN_OVER",
      `${attemptLabel(newer)} has taken over the work of ${attemptLabel(of)}.`,
      `Restart that one ('overseer restart ${newer.agent}'), or start over: 'overseer sling ${key}'.`,
    );
  }
  await assertFree(world, of);
  await assertWorktree(world, of);
}

async function assertFree(world: World, of: Attempt): Promise<void> {
  const { goalId, workNodeId } = of;
  const { node, open } = await (await world.writer()).read({
    node: nodeById(goalId, workNodeId),
    open: openQuestions(),
  });
  const asked = open.find((one) => one.goalId === goalId && one.workNodeId === workNodeId);
  assertAllowed(refuseSuccessor(of, node, asked?.questionId));
}

async function assertWorktree(world: World, of: Attempt): Promise<void> {
  const place = { ...of, commonDir: world.root.gitCommonDir, limits: wipLimits(await world.config()) };
  const broken = of.brokenWorktree ?? (await findBroken(world.git, place));
  if (broken) {
    await recordBroken(world, of.attempt, broken);
    throw nothingToGoOnWith(of, `The worktree of ${attemptLabel(of)} is broken: ${broken.detail}.`);
  }
  try {
    await proveWorktree(world.git, { path: of.worktree, expectedCommonDir: world.root.gitCommonDir });
  } catch (error) {
    if (!(error instanceof OverseerError) || !["WORKTREE_MISSING", "NOT_THE_WORKTREE"].includes(error.code))
      throw error;
    throw nothingToGoOnWith(of, `The worktree of ${attemptLabel(of)} no longer exists: ${error.message}`, error);
  }
}

function nothingToGoOnWith(of: Attempt, message: string, cause?: unknown): OverseerError {
  const hint = `Start over: 'overseer sling ${nodeKey(of.goalId, of.workNodeId)}'.`;
  return new OverseerError("conflict", "NOTHING_TO_GO_ON_WITH", message, hint, { cause });
}
