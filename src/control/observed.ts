/** How the agent of an assignment does, from everything that was recorded about it. It reads and never writes. */

import { type Observed, toObserved } from "#domain/explain/observed.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { crystallizationById } from "#store/assignments.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import { pulseOf } from "#store/telemetry.ts";
import { nodeById } from "#store/work.ts";
import type { World } from "./world.ts";

export async function observe(
  world: World,
  assignment: Assignment,
): Promise<{ readonly observed: Observed; readonly attempt: Attempt | undefined }> {
  const store = await world.reader();
  const { goalId, workNodeId, assignmentId } = assignment;
  const { attempts, node } = await store.read({
    attempts: attemptsOfNode(goalId, workNodeId),
    node: nodeById(goalId, workNodeId),
  });
  const attempt = attempts.find((one) => one.assignmentId === assignmentId);
  const { pulse, left } = await store.read({
    pulse: pulseOf(attempt?.attempt ?? 0),
    left: crystallizationById(node?.crystallizationId ?? ""),
  });
  return { observed: toObserved({ assignment, attempt, pulse, left }, world.clock.now()), attempt };
}
