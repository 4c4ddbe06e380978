/** Has a model split the work of an agent that is stuck, and waits until that agent has ended: its parts begin then. */
import { replanNode } from "#act/planning/replan-node.ts";
import { plannerLimits } from "#config/limits.ts";
import { awaitStopped, stopAgent } from "#control/agents.ts";
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { nodeRefOf, withoutSubject } from "./subject.ts";

export default async function replan(action: Action<"replan">, world: World): Promise<ActionOutcome> {
  const place = nodeRefOf(action);
  if (!place) return withoutSubject(action);
  const { from, cause } = action.payload;
  const until = action.decidedAt + plannerLimits(await world.config()).splitWithinMs;
  const outcome = await replanNode(world, { ...place, from, cause, until });
  switch (outcome.kind) {
    case "split":
      if (outcome.events.length > 0) await awaitStopped(world, outcome.events);
      else await stopAgent(world, from, "Its work was split.");
      return { ok: true, result: `split into ${outcome.ids.join(", ")}` };
    case "later":
      return { ok: false, problem: outcome.detail, retry: { afterMs: outcome.until - world.clock.now() } };
    default:
      return { ok: true, result: `not split: ${outcome.detail}` };
  }
}
