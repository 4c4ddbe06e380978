/**
 * Whether a dispatch has reached an agent. Executors ask before they put somebody to work, since they may be asked
 * twice: a start that was cut off or failed and was taken back is in the log too, and is no dispatch that anybody got.
 */

import type { World } from "#control/world.ts";
import { isLive } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { assignmentsOfNode } from "#store/assignments.ts";
import { attemptsOfNode } from "#store/attempts.ts";

export interface NodeDispatch {
  readonly goalId: string;
  readonly workNodeId: string;
  readonly dispatchId: string;
}

/** Ask after leftovers are settled: a start that was cut off counts as under way until then. */
export async function wasDispatched(world: World, { goalId, workNodeId, dispatchId }: NodeDispatch): Promise<boolean> {
  const { history, attempts } = await (await world.writer()).read({
    history: assignmentsOfNode(goalId, workNodeId),
    attempts: attemptsOfNode(goalId, workNodeId),
  });
  return history
    .filter(({ dispatches }) => dispatches.some((dispatch) => dispatch.dispatchId === dispatchId))
    .some((one) => isLive(one) || attempts.some((life) => life.assignmentId === one.assignmentId && hasRun(life)));
}

/** One whose work has ended may still be on its way out. */
function hasRun({ end, startedAt }: Pick<Attempt, "end" | "startedAt">): boolean {
  return end === null ? startedAt !== null : end.cause !== "failed_to_start";
}
