/** The same agent again after it ended by itself: same worktree, branch and session. */
import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { restartOn } from "#control/restart.ts";
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { OverseerError } from "#errors.ts";
import { presentConditions } from "#store/actions.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { wasDispatched } from "./dispatched.ts";
import { replace } from "./reassign.ts";

export default async function restartAfter(action: Action<"restart">, world: World): Promise<ActionOutcome> {
  const { after, dispatchId, reason } = action.payload;
  const { before, conditions } = await (await world.writer()).read({
    before: attemptByNumber(after),
    conditions: presentConditions(),
  });
  if (!before) return { ok: false, problem: `there is no attempt #${after}`, retry: "never" };
  await settleLeftovers(world);
  if (await wasDispatched(world, { ...before, dispatchId })) return { ok: true, result: "it is at work" };
  try {
    const now = await restartOn(world, before, { reason, dispatchId });
    return { ok: true, result: `${now.agent}#${now.attempt}` };
  } catch (error) {
    // Its worktree is gone: a fresh start is all that is left.
    if (!(error instanceof OverseerError) || error.code !== "NOTHING_TO_GO_ON_WITH") throw error;
    return replace(world, before, { dispatchId, conditions });
  }
}
