/** Lets go of what was kept of work that ended long enough ago: claimed commits, snapshots, what worktrees held besides. Repeatable. */

import type { ActParts } from "#act/parts.ts";
import { attemptOfRecovery, isBroughtStill, isKeptLongEnough, isRecoveryOver } from "#domain/landing/kept-refs.ts";
import { BY_HAND, dropClaimed, listClaimed } from "#git/claim-refs.ts";
import { changeRefs, listRefs } from "#git/refs.ts";
import { listWip, pruneWip } from "#git/wip.ts";
import { nameOfRecovery, RECOVERY_PREFIX } from "#git/worktree-removal.ts";
import { assignmentById } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { listLandedMerges, listQueuedMerges } from "#store/merges.ts";
import { nodeById } from "#store/work.ts";
import { nameOf } from "#sys/paths.ts";

/** Each look reads every ref: what is kept for days is not looked at with each of many short tasks. */
const LOOK_EVERY_MS = 10 * 60_000;
const looked = new WeakMap<object, number>();

/** After a piece of work has ended, unless that was done a moment ago. */
export async function letGoInTime(parts: ActParts): Promise<void> {
  const now = parts.clock.now();
  const every = Math.min(LOOK_EVERY_MS, (await parts.config()).wip.keepAfterLanding);
  const last = looked.get(parts.processes);
  if (last !== undefined && last <= now && now - last < every) return;
  looked.set(parts.processes, now);
  await letGoOfKept(parts);
}

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
  await letGoOfRecovery(parts, cwd);
}

/** As many as are looked at; what landed before them is found by nobody, and stays. */
const MOST_LANDED = 10_000;

async function letGoOfRecovery(parts: ActParts, cwd: string): Promise<void> {
  const refs = await listRefs(parts.git.git, cwd, RECOVERY_PREFIX);
  if (refs.length === 0) return;
  const store = await parts.writer();
  const { landed } = await store.read({ landed: listLandedMerges(MOST_LANDED) });
  const keep = { keepMs: (await parts.config()).wip.keepAfterLanding, now: parts.clock.now() };
  for (const { ref, oid } of refs) {
    const made = attemptOfRecovery(ref.slice(RECOVERY_PREFIX.length));
    if (!made) continue;
    const { attempt } = await store.read({ attempt: attemptByNumber(made.attempt) });
    if (!attempt || nameOfRecovery(nameOf(attempt.worktree)) !== made.worktree) continue;
    const { node } = await store.read({ node: nodeById(attempt.goalId, attempt.workNodeId) });
    if (!isRecoveryOver(attempt, node, landed, keep)) continue;
    await changeRefs(parts.git.git, cwd, [{ kind: "delete", ref, from: oid }]);
  }
}

async function isOver(parts: ActParts, assignmentId: string): Promise<boolean> {
  const store = await parts.writer();
  const { assignment } = await store.read({ assignment: assignmentById(assignmentId) });
  if (!assignment) return false;
  const { node } = await store.read({ node: nodeById(assignment.goalId, assignment.workNodeId) });
  return isKeptLongEnough(node, (await parts.config()).wip.keepAfterLanding, parts.clock.now());
}
