/** Puts an agent to work on a node that is ready. */
import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { freeNames, slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { wasDispatched } from "./dispatched.ts";

export default async function spawn(action: Action<"spawn">, world: World): Promise<ActionOutcome> {
  const { goalId, workNodeId, payload } = action;
  if (goalId === null || workNodeId === null) return { ok: false, problem: "it names no node", retry: "never" };
  await settleLeftovers(world);
  const { dispatchId } = payload;
  if (await wasDispatched(world, { goalId, workNodeId, dispatchId })) return { ok: true, result: "it is at work" };
  const isFree = await freeNames(world, { goalId, workNodeId });
  const named = payload.name !== null && isFree(payload.name);
  const slung = await slingAgent(world, {
    task: workNodeId,
    goal: goalId,
    ...(named && payload.name !== null ? { name: payload.name } : {}),
    capability: payload.capability,
    dispatchId,
    files: [],
    tags: [],
    interactive: false,
    keep: false,
    dryRun: false,
  });
  return { ok: true, result: slung.dryRun ? "nothing" : `${slung.attempt.agent}#${slung.attempt.attempt}` };
}
