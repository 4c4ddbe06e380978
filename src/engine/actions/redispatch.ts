/**
 * Two steps of the ladder that put an agent to work again: the same one after a death (same worktree, branch and
 * session), or a fresh one in place of one that is stuck, with everything the first has left. Both look first whether it
 * has been done already: the dispatch they were decided under has reached an agent then.
 */
import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import { stopAgent } from "#control/agents.ts";
import { restartOn } from "#control/restart.ts";
import { copyInput, slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { speakingAs } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { isLiving } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { wasGivenOut } from "./given-out.ts";

/** The same agent again, after attempt `after` ended by itself. */
export async function restartAfter(world: World, action: Action<"restart">): Promise<ActionOutcome> {
  const { after, dispatchId, reason } = action.payload;
  const before = await attemptOf(world, after);
  if (!before) return { ok: false, problem: `there is no attempt #${after}`, retry: "never" };
  await settleLeftovers(world);
  if (await wasGivenOut(world, { ...before, dispatchId })) return { ok: true, result: "it is at work" };
  try {
    const now = await restartOn(speakingAs(world, "overseer"), before, { reason, dispatchId });
    return { ok: true, result: `${now.agent}#${now.attempt}` };
  } catch (error) {
    // Its worktree is gone: a fresh start is all that is left.
    if (!(error instanceof OverseerError) || error.code !== "NOTHING_TO_GO_ON_WITH") throw error;
    return freshStart(world, before, dispatchId);
  }
}

/** Another agent for the node; what the first committed is its base, what it did not is named in the handoff. */
export async function reassignTo(world: World, action: Action<"reassign">): Promise<ActionOutcome> {
  const { from, dispatchId, reason } = action.payload;
  const before = await attemptOf(world, from);
  if (!before) return { ok: false, problem: `there is no attempt #${from}`, retry: "never" };
  await settleLeftovers(world);
  if (await wasGivenOut(world, { ...before, dispatchId })) return { ok: true, result: "it is at work" };
  await standOnSettings(world); // nobody is stopped whose successor could not be started
  const now = await attemptOf(world, from);
  if (now && isLiving(now)) await stopAgent(speakingAs(world, "overseer"), now.attempt, reason);
  return freshStart(world, before, dispatchId);
}

async function freshStart(world: World, before: Attempt, dispatchId: string): Promise<ActionOutcome> {
  const slung = await slingAgent(speakingAs(world, "overseer"), { ...copyInput(before), dispatchId });
  return { ok: true, result: slung.dryRun ? "nothing" : `${slung.attempt.agent}#${slung.attempt.attempt}` };
}

async function attemptOf(world: World, number: number): Promise<Attempt | undefined> {
  return (await (await world.writer()).read({ one: attemptByNumber(number) })).one;
}
