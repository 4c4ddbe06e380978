/**
 * Taking a landing back by a person's hand. The revert is a commit beside every checkout, and gets into the target as any
 * branch that a person brings: through the queue and the gate. Until it has landed nothing has changed.
 */
import { landBrought } from "#act/landing/land.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import { type Dependents, judgeTakeBack, takeBackMessage } from "#domain/landing/take-back.ts";
import { accept } from "#domain/model/decision.ts";
import { isQueued, type Merge } from "#domain/model/merge.ts";
import { nodeKey, type WorkNode } from "#domain/model/work.ts";
import { goalOnceMore } from "#domain/plans/again-goal.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { holds, writeCommit } from "#git/landing.ts";
import * as landingArgs from "#git/landing-arguments.ts";
import * as snapshotArgs from "#git/snapshot-arguments.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import { listLandedMerges, mergeById, mergesOfNode } from "#store/merges.ts";
import { nodesOfGoal } from "#store/work.ts";
import { assertNotInDoubt } from "./halted.ts";
import { notPushed } from "./landing.ts";
import { queueMerge } from "./merge.ts";
import { assertOneMeaning } from "./names.ts";
import { findWork } from "./review.ts";
import type { World } from "./world.ts";
import { assertFits } from "./world.ts";

export interface RevertWords {
  readonly what: string;
  readonly goal?: string;
  readonly reason?: string;
  /** Although landed work depends on it. */
  readonly force: boolean;
  /** Give the same work anew once it is out. */
  readonly reopen: boolean;
}

export interface Reverted {
  readonly node: string;
  /** `waiting`: it lands by itself once nothing is in the way. `refused`: nothing was changed. */
  readonly outcome: "taken-back" | "waiting" | "refused";
  readonly target: string;
  /** What the target had become by the landing. */
  readonly landed: string;
  /** The commit that takes it back; null where nothing of it was left. */
  readonly commit: string | null;
  readonly detail: string | null;
  readonly dependents: Dependents;
  /** The node as which it was given anew. */
  readonly again: string | null;
}

const NOBODY: Dependents = { landed: [], open: [] };

/** Throws where it has not landed, was taken back already, or landed work depends on it. */
export async function takeBackLanding(world: World, words: RevertWords): Promise<Reverted> {
  await assertFits(world, { reason: words.reason });
  await assertOneMeaning(await world.reader(), words.what, words.goal);
  await assertNotInDoubt(world);
  const { node } = await findWork(world, words);
  if (node.takenBack && words.reopen && node.takenBack.again === undefined) {
    const { target, landed, commit } = node.takenBack;
    return {
      ...{ node: nodeKey(node.goalId, node.workNodeId), outcome: "taken-back", target, landed, commit, detail: null },
      ...{ dependents: NOBODY, again: await giveAnew(world, node) },
    };
  }
  const { nodes, merges } = await readLandings(world, node);
  const { landed, dependents } = unwrap(judgeTakeBack({ node, nodes, merges }, words.force));
  const reverting = await queueRevert(world, node, landed, words.reason ?? null);
  await landBrought(world, reverting);
  const { entry } = await (await world.writer()).read({ entry: mergeById(reverting) });
  const about = { node: nodeKey(node.goalId, node.workNodeId), target: landed.target, landed: landed.to, dependents };
  if (entry?.status !== "landed") {
    const outcome = entry && isQueued(entry) ? "waiting" : "refused";
    return { ...about, outcome, commit: null, detail: entry?.detail ?? null, again: null };
  }
  const commit = entry.from === entry.to ? null : entry.to;
  const again = words.reopen ? await giveAnew(world, (await findWork(world, words)).node) : null;
  return { ...about, outcome: "taken-back", commit, detail: await notPushed(world), again };
}

function unwrap(judged: ReturnType<typeof judgeTakeBack>) {
  if (judged.ok) return judged;
  return orThrow<never>(judged);
}

/** What landed for the node: by its claim, or by hand after a person had taken its branch over. */
async function readLandings(world: World, node: WorkNode) {
  const store = await world.reader();
  const { nodes, own, attempts, all } = await store.read({
    nodes: nodesOfGoal(node.goalId),
    own: mergesOfNode(node.goalId, node.workNodeId),
    attempts: attemptsOfNode(node.goalId, node.workNodeId),
    all: listLandedMerges(MOST_LANDED),
  });
  const branches = new Set(attempts.map(({ branch }) => branch));
  const byHand = all.filter((one) => one.goalId === null && branches.has(one.branch)).reverse();
  return { nodes, merges: node.status === "done" ? [...own, ...byHand] : own };
}

const MOST_LANDED = 1_000;

/** The state before the landing, as a commit on top of the landing: merged into the target, it takes out just that. */
async function queueRevert(
  world: World,
  node: WorkNode,
  landed: Merge & { readonly from: string; readonly to: string },
  reason: string | null,
): Promise<string> {
  const repository = world.root.gitCommonDir;
  const { target, from, to } = landed;
  if (!(await holds(world.git, repository, target, to))) {
    const said = `${to.slice(0, 10)}, as which ${nodeKey(node.goalId, node.workNodeId)} landed, is not in ${target} any more.`;
    throw new OverseerError("conflict", "LANDING_GONE", said, `'git log ${target}' shows what is there now.`);
  }
  await standOnSettings(world); // before it is queued by that person's word
  const { git } = world.git;
  const [subject = ""] = (await git.run(landingArgs.commitMessage(to), { cwd: repository })).split("\n");
  const tree = (await git.run(snapshotArgs.resolveTree(from), { cwd: repository })).trim();
  const message = takeBackMessage(node, { to, subject }, reason);
  const commit = await writeCommit(world.git, repository, { tree, parents: [to], message, at: world.clock.now() });
  const branch = `revert of ${nodeKey(node.goalId, node.workNodeId)}`;
  const takesBack = { mergeId: landed.mergeId, landed: to, reason, of: node };
  return queueMerge(world, { target, branch, commit, takesBack });
}

async function giveAnew(world: World, node: WorkNode): Promise<string> {
  const moment = { now: world.clock.now(), actor: world.actor };
  const goalId = world.ids.next("goal_");
  return orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { taken: goalById(goalId), nodes: nodesOfGoal(node.goalId) },
      decide: ({ taken, nodes }) => {
        const now = nodes.find(({ workNodeId }) => workNodeId === node.workNodeId) ?? node;
        const before = now.takenBack?.again;
        return before === undefined ? goalOnceMore(taken, { goalId, node: now, nodes }, moment) : accept([], before);
      },
    }),
  );
}
