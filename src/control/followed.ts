/** How a piece of work stands that somebody follows: gathers what the rule judges (domain/explain/followed.ts). */
import { type Followed, judgeFollowed } from "#domain/explain/followed.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import { nodeById } from "#store/work.ts";
import { livingDaemon } from "./daemon.ts";
import { readFleetStatus } from "./status.ts";
import type { World } from "./world.ts";

/** `last`: whoever has it now, or had it last. */
export async function observeFollowed(
  world: World,
  started: Attempt,
): Promise<{ readonly last: Attempt; readonly followed: Followed }> {
  const { goalId, workNodeId } = started;
  const { node, attempts } = await (await world.reader()).read({
    node: nodeById(goalId, workNodeId),
    attempts: attemptsOfNode(goalId, workNodeId),
  });
  if (!node) throw new OverseerError("internal", "GONE", `${workNodeId} disappeared.`, "Run 'overseer doctor'.");
  const { standstills } = await readFleetStatus(world);
  const last = attempts.at(-1) ?? started;
  const isDaemonUp = livingDaemon(world) !== undefined;
  return { last, followed: judgeFollowed({ node, attempt: last, standstills, isDaemonUp }) };
}
