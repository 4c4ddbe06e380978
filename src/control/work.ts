/** What one may do to a work node by hand. Each verb is one commit, and what follows from it is part of it. */

import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { closeDependents } from "#domain/landing/closing.ts";
import { nodeScope } from "#domain/model/budget-words.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { Evidence } from "#domain/model/crystallization.ts";
import type { Decision } from "#domain/model/decision.ts";
import { noSuchGoal } from "#domain/model/goal.ts";
import type { Allowance } from "#domain/model/limits.ts";
import type { BlockedReason, WorkNode } from "#domain/model/work.ts";
import { blockNode, cancelNode, finishByHand, isOpen, nodeKey, unblockNode } from "#domain/model/work.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { raiseBudget } from "#domain/reports/raise-budget.ts";
import { orThrow } from "#errors.ts";
import { presentConditions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { isWithin, resolvePath } from "#sys/paths.ts";
import { awaitStopped } from "./agents.ts";
import { clipWord } from "./id-word.ts";
import { assertOneMeaning, resolveNode } from "./names.ts";
import type { World } from "./world.ts";
import { assertAllowed, assertFits } from "./world.ts";

export interface NodeWords {
  readonly node: string;
  readonly goal?: string;
}

export interface DoneInput {
  readonly summary?: string;
  readonly evidence?: Evidence;
  readonly override?: string;
}

export async function finishWork(world: World, words: NodeWords, input: DoneInput): Promise<string> {
  await assertFits(world, input);
  assertAllowed(refuseOutside(world, input.evidence?.filesTouched ?? []));
  const crystallizationId = world.ids.next("C_");
  return change(world, words, (node, { nodes }, moment) =>
    finishByHand(
      node,
      nodes,
      {
        summary: input.summary ?? "",
        evidence: input.evidence,
        overrideReason: input.override,
        crystallizationId,
      },
      moment,
    ),
  );
}

export async function blockWork(world: World, words: NodeWords, blocked: BlockedReason): Promise<string> {
  await assertFits(world, blocked);
  return change(world, words, (node, _seen, moment) => blockNode(node, blocked, moment));
}

export async function unblockWork(world: World, words: NodeWords, reason?: string): Promise<string> {
  await assertFits(world, { reason });
  return change(world, words, (node, _seen, moment) => unblockNode(node, reason ?? null, moment));
}

export async function cancelWork(world: World, words: NodeWords, reason?: string): Promise<string> {
  await assertFits(world, { reason });
  return change(world, words, (node, { nodes }, moment) => cancelNode(node, nodes, reason ?? null, moment));
}

/** A person grants whoever works on it more than plan, role or configuration do; it goes on by itself then. */
export async function raiseNodeBudget(world: World, words: NodeWords, raised: Partial<Allowance>): Promise<string> {
  return change(world, words, ({ goalId, workNodeId: nodeId, status }, { conditions }, moment) => {
    const key = nodeKey(goalId, nodeId);
    if (!isOpen({ status })) {
      const hint = "Nothing is spent on it any more.";
      return refuse("conflict", "NODE_ENDED", `${key} is ${status}, and that is final.`, hint);
    }
    const decision = raiseBudget(nodeScope(key), raised, { goalId, nodeId }, conditions, moment);
    return decision.ok ? { ...decision, value: key } : decision;
  });
}

/** Evidence points into the repository: a path elsewhere proves nothing to whoever reads it later. */
function refuseOutside(world: World, files: readonly string[]): Decision<never> | undefined {
  const { project } = world.root;
  const outside = files.find((file) => !isWithin(project, resolvePath(project, file)));
  if (outside === undefined) return undefined;
  return refuse(
    "usage",
    "FILE_OUTSIDE",
    `${clipWord(outside)} is outside the repository.`,
    "Name files by their path from the top of the repository; anything else goes into --ref.",
  );
}

/** Reads the whole goal, lets the rule decide about one node, and settles what follows; agents whose work ended stop. */
async function change(
  world: World,
  words: NodeWords,
  rule: (
    node: WorkNode,
    seen: { readonly nodes: readonly WorkNode[]; readonly conditions: readonly Condition[] },
    moment: Moment,
  ) => Decision<string>,
): Promise<string> {
  const store = await world.writer();
  await assertOneMeaning(store, words.node, words.goal);
  const { goalId, nodeId } = await resolveNode(store, words.node, words.goal);
  const moment = { now: world.clock.now(), actor: world.actor };
  const outcome = await store.commit({
    at: moment.now,
    reads: {
      ...goalTreeReads(goalId),
      attempts: livingAttempts(),
      questions: openQuestions(),
      conditions: presentConditions(),
    },
    decide: ({ goal, ...seen }): Decision<string> => {
      if (!goal) return noSuchGoal(goalId);
      if (goal.status === "archived" || goal.status === "cancelled") {
        return refuse(
          "conflict",
          "GOAL_ENDED",
          `Goal ${goalId} is ${goal.status}; its work no longer changes.`,
          "Create a new goal with 'overseer goal create'.",
        );
      }
      const node = seen.nodes.find((one) => one.workNodeId === nodeId);
      if (!node) return refuse("not-found", "NODE_UNKNOWN", `${goalId} has no node ${nodeId}.`, "Check the id.");
      return closeDependents(settleDecision(goalTreeOf(goal, seen), rule(node, seen, moment), moment), seen, moment);
    },
  });
  const key = orThrow(outcome);
  if (outcome.ok) await awaitStopped(world, outcome.events);
  return key;
}
