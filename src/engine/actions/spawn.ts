/** Puts an agent to work on a node that is ready: in a new session, or in one whose last piece has landed. */
import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { takeSession } from "#control/sessions.ts";
import { freeNames, type GivenSession, SESSION_UNFIT, type SlingInput, slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { SESSION_TAKEN } from "#domain/agents/admission.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { isAutoName } from "#domain/model/auto.ts";
import { OverseerError } from "#errors.ts";
import { wasDispatched } from "./dispatched.ts";

export default async function spawn(action: Action<"spawn">, world: World): Promise<ActionOutcome> {
  const { goalId, workNodeId, payload } = action;
  if (goalId === null || workNodeId === null) return { ok: false, problem: "it names no node", retry: "never" };
  await settleLeftovers(world);
  const { dispatchId, follows } = payload;
  if (await wasDispatched(world, { goalId, workNodeId, dispatchId })) return { ok: true, result: "it is at work" };
  const wish = follows === undefined ? undefined : await takeSession(world, follows);
  const isFree = await freeNames(world, { goalId, workNodeId });
  const begin = async (given: GivenSession | null): Promise<string> => {
    // A worker of auto mode whose name was taken meanwhile is another one of them, never one of everybody's.
    const name = [payload.name, given?.of.agent ?? null].find(
      (one) => one !== null && (isAutoName(one) || isFree(one)),
    );
    const input: SlingInput = {
      task: workNodeId,
      goal: goalId,
      ...(name ? { name } : {}),
      capability: payload.capability,
      dispatchId,
      ...(given ? { follows: given } : {}),
      ...{ files: [], tags: [], interactive: false, keep: false, dryRun: false },
    };
    const slung = await slingAgent(world, input);
    return slung.dryRun ? "nothing" : `${slung.attempt.agent}#${slung.attempt.attempt}`;
  };
  if (!wish) return { ok: true, result: await begin(null) };
  if (!wish.given) return { ok: true, result: inNewSession(await begin(null), wish.why) };
  try {
    return { ok: true, result: `${await begin(wish.given)}, in the session of #${follows}` };
  } catch (error) {
    if (!(error instanceof OverseerError) || !UNUSABLE.includes(error.code)) throw error;
    return { ok: true, result: inNewSession(await begin(null), error.message) };
  }
}

const UNUSABLE: readonly string[] = [SESSION_TAKEN, SESSION_UNFIT];

function inNewSession(label: string, why: string): string {
  return `${label}, in a new session: ${why}`;
}
