/** Lets go of what was kept of work that ended long enough ago: claimed commits and snapshots. Repeatable. */

import type { ActParts } from "#act/parts.ts";
import { isBroughtStill, isKeptLongEnough } from "#domain/landing/kept-refs.ts";
import { BY_HAND, dropClaimed, listClaimed } from "#git/claim-refs.ts";
import { listWip, pruneWip } from "#git/wip.ts";
import { assignmentById } from "#store/assignments.ts";
import { listQueuedMerges } from "#store/merges.ts";
import { nodeById } from "#store/work.ts";

export async function letGoOfKept(parts: ActParts): Promise<void> {
  const cwd = parts.root.gitCommonDir;
  const [claimed, snapshots] = [await listClaimed(parts.git, cwd), await listWip(parts.git.git, { cwd })];
  const over = new Map<string, boolean>();
  for (const id of new Set([...claimed.map(({ whose }) => whose), ...snapshots.map(({ assignment }) => assignment)])) {
    over.set(id, await isOver(parts, id));
  }
  const { queued } = await (await parts.writer()).read({ queued: listQueuedMerges() });
  for (const ref of claimed) {
    const goes = ref.whose === BY_HAND ? !isBroughtStill(ref.commit, queued) : over.get(ref.whose);
    if (goes) await dropClaimed(parts.git, cwd, ref);
  }
  for (const assignment of new Set(snapshots.map((one) => one.assignment))) {
    if (over.get(assignment)) await pruneWip(parts.git.git, { cwd, assignment, keep: 0 });
  }
}

async function isOver(parts: ActParts, assignmentId: string): Promise<boolean> {
  const store = await parts.writer();
  const { assignment } = await store.read({ assignment: assignmentById(assignmentId) });
  if (!assignment) return false;
  const { node } = await store.read({ node: nodeById(assignment.goalId, assignment.workNodeId) });
  return isKeptLongEnough(node, (await parts.config()).wip.keepAfterLanding, parts.clock.now());
}
