/**
 * Asks a model how the work of an agent that is stuck can be split, and splits it: a revision of the plan, the node ended
 * and its agent asked to stop in one commit. While the model thinks, everybody else goes on; what has changed meanwhile
 * (the plan, the agent, its progress) makes the answer worthless, and it is dropped. Without an answer the rung is passed.
 */
import { z } from "zod";
import { type Asked, askWithinBudget, type ModelAskResult } from "#act/ask-model.ts";
import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { SPLIT_NODE } from "#config/model-prompts.ts";
import type { Config } from "#config/schema.ts";
import { refuse } from "#domain/core/refusal.ts";
import { closeDependents } from "#domain/landing/closing.ts";
import { isLive, subject } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { recoveryKey } from "#domain/model/ladder-state.ts";
import { nodeKey, readSplit, type WorkNode } from "#domain/model/work.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import {
  limitParts,
  problemsOfSplit,
  type SplitLimits,
  type SplitNode,
  type SplitPart,
  splitNode,
} from "#domain/plans/split-node.ts";
import { openRecoveries } from "#store/actions.ts";
import { assignmentById, openQuestions } from "#store/assignments.ts";
import { attemptByNumber, livingAttempts } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { describeSigns, describeStall, describeTask, toMaterial } from "./stall-material.ts";

export interface ReplanOrder {
  readonly goalId: string;
  readonly nodeId: string;
  /** The attempt that is stuck. */
  readonly from: number;
  readonly cause: string;
  /** Whoever waits for the answer waits no longer than until then. */
  readonly until: number;
}

export type Replanned =
  | { readonly kind: "split"; readonly ids: readonly string[]; readonly events: readonly EventOf[] }
  /** It is not wanted any more: done, given to somebody else, moved on. */
  | { readonly kind: "stale"; readonly detail: string }
  | { readonly kind: "passed"; readonly detail: string }
  /** A model can be asked a little later. */
  | { readonly kind: "later"; readonly detail: string; readonly until: number };

const TEXT = z.string().max(20_000);
const ANSWER = z.strictObject({
  why: TEXT.default(""),
  parts: z
    .array(
      z.strictObject({
        name: TEXT,
        objective: TEXT,
        outcome: TEXT.default(""),
        acceptance: z.array(TEXT).max(100),
        files: z.array(TEXT).max(200).default([]),
        after: z.array(z.int()).max(50).default([]),
      }),
    )
    .max(50),
});
type Answer = z.infer<typeof ANSWER>;

export async function replanNode(parts: ActParts, order: ReplanOrder): Promise<Replanned> {
  const seen = await readStuck(parts, order);
  if (seen.kind !== "stuck") return seen;
  const config = await parts.config();
  const limits: SplitLimits = { replansPerNode: config.planner.replansPerNode, plan: config.planner };
  const { node, nodes, attempt, recovery, base } = seen;
  const question = {
    prompt: SPLIT_NODE,
    values: {
      task: describeTask(node),
      plan: toMaterial(describeOthers(node, nodes)),
      stall: describeStall(order.cause, recovery),
      signs: await describeSigns(parts, attempt, node),
      mostParts: String(limitParts(node, limits)),
    },
    schema: ANSWER,
    judge: (answer: Answer) => problemsOfSplit(node, toParts(answer), limits),
    maxInputBytes: config.planner.maxInput,
    repairs: config.planner.repairs,
    maxCostUsd: config.budgets.agent.cost,
  };
  const { goalId, nodeId } = order;
  const about = { goalId, nodeId, assignmentId: attempt.assignmentId, agent: attempt.agent, attempt: attempt.attempt };
  const asked = await askWithinBudget(parts, question, {
    ...toCall(config),
    purpose: "split-node",
    about,
    first: true,
  });
  switch (asked.kind) {
    case "held":
      if (asked.until <= order.until) return { kind: "later", detail: asked.detail, until: asked.until };
      return pass(parts, order, asked.detail);
    case "unanswered":
      return pass(parts, order, tellUnanswered(asked));
    default:
      return commitSplit(parts, order, { base, parts: toParts(asked.answer), limits, asked, raw: asked.raw });
  }
}

/** How the planner is reached. */
export function toCall({ planner }: Config) {
  const runtime = planner.runtime === null ? {} : { runtime: planner.runtime };
  return { model: planner.model, timeoutMs: planner.timeout, ...runtime };
}

/** Why there is no answer, as a clause. */
export function tellUnanswered({
  problems,
  unreached,
  logPath,
}: Extract<ModelAskResult<unknown>, { kind: "unanswered" }>) {
  const problem = withoutStop(problems[0] ?? "it has none");
  return unreached || logPath === "" ? problem : `the model's answer cannot be used: ${problem}`;
}

function toParts({ parts }: Answer): SplitPart[] {
  return parts.map(({ outcome, ...part }) => ({ ...part, expectedOutcome: outcome }));
}

/** So that no part does what another task does. */
function describeOthers(node: WorkNode, nodes: readonly WorkNode[]): string {
  const others = nodes.filter((one) => one !== node && one.leaf && one.status !== "cancelled");
  return others.map(({ workNodeId, name, status }) => `${workNodeId} ${name} (${status})`).join("\n");
}

type Stuck =
  | {
      readonly kind: "stuck";
      readonly node: WorkNode;
      readonly nodes: readonly WorkNode[];
      readonly attempt: Attempt;
      readonly recovery: Recovery;
      /** The revision of the plan it is asked about. */
      readonly base: number;
    }
  | Exclude<Replanned, { kind: "passed" | "later" }>;

async function readStuck(parts: ActParts, { goalId, nodeId, from }: ReplanOrder): Promise<Stuck> {
  const { goal, nodes, attempt, recoveries } = await (await parts.writer()).read({
    ...goalTreeReads(goalId),
    attempt: attemptByNumber(from),
    recoveries: openRecoveries(),
  });
  const node = nodes.find((one) => one.workNodeId === nodeId);
  const recovery = recoveries.find((one) => recoveryKey(one) === nodeKey(goalId, nodeId));
  const ids = node?.status === "cancelled" ? readSplit(node.statusReason) : undefined;
  // Overseer died after it had split it.
  if (ids !== undefined) return { kind: "split", ids, events: [] };
  const stale = findStale({ node, attempt, recovery });
  if (!goal || !node || !attempt || !recovery || stale !== undefined) {
    return { kind: "stale", detail: stale ?? "it is gone" };
  }
  return { kind: "stuck", node, nodes, attempt, recovery, base: goal.plan.length };
}

/** Why it is not stuck any more, as a clause; `progress` gives the steps back, so that none is counted then. */
function findStale(seen: {
  readonly node: WorkNode | undefined;
  readonly attempt: Attempt | undefined;
  readonly recovery: Recovery | undefined;
}): string | undefined {
  const { node, attempt, recovery } = seen;
  if (!node) return "its node is gone";
  if (!attempt || !isLiving(attempt) || attempt.stopRequested !== null) return "its agent has ended";
  if (node.status !== "in_progress") return `it is ${node.status}`;
  if (node.claim) return "it is reported done";
  if (!recovery || recovery.steps.replan === 0) return "its agent has made progress";
  return undefined;
}

interface Answered {
  readonly base: number;
  readonly parts: readonly SplitPart[];
  readonly limits: SplitLimits;
  readonly asked: Asked;
  readonly raw: string;
}

async function commitSplit(parts: ActParts, order: ReplanOrder, answered: Answered): Promise<Replanned> {
  const { goalId, nodeId, from, cause } = order;
  const { base, limits, asked, raw } = answered;
  const moment = momentNow(parts);
  const config = await parts.config();
  const outcome = await (await parts.writer()).commit({
    at: moment.now,
    reads: {
      ...goalTreeReads(goalId),
      attempt: attemptByNumber(from),
      recoveries: openRecoveries(),
      attempts: livingAttempts(),
      questions: openQuestions(),
    },
    decide: ({ goal, attempt, recoveries, ...seen }): Decision<SplitNode> => {
      const node = seen.nodes.find((one) => one.workNodeId === nodeId);
      const recovery = recoveries.find((one) => recoveryKey(one) === nodeKey(goalId, nodeId));
      const stale = findStale({ node, attempt, recovery });
      if (!goal || stale !== undefined) {
        return refuse("conflict", "SPLIT_STALE", `It is not split: ${stale ?? "its goal is gone"}.`, "Nothing to do.");
      }
      const provenance = {
        source: "model" as const,
        ...(config.planner.model === null ? {} : { model: config.planner.model }),
        promptId: asked.prompt.id,
        promptHash: asked.promptHash,
        ...(asked.prompt.own ? { ownPrompt: asked.prompt.own } : {}),
        inputs: { stuck: nodeKey(goalId, nodeId), attempt: String(from), cause },
        rejected: asked.rejected,
        raw,
      };
      const because = cause.replaceAll("-", " ");
      const wanted = { nodeId, base, because };
      const decision = splitNode(goal, seen.nodes, wanted, answered.parts, limits, provenance, moment);
      return closeDependents(settleDecision(goalTreeOf(goal, seen), decision, moment), seen, moment);
    },
  });
  if (outcome.ok) return { kind: "split", ids: outcome.value.ids, events: outcome.events };
  const { code, message } = outcome.refusal;
  if (code === "SPLIT_STALE") return { kind: "stale", detail: withoutStop(message) };
  return pass(parts, order, withoutStop(message));
}

/** The ladder goes on without it, and says why. */
async function pass(parts: ActParts, { from }: ReplanOrder, reason: string): Promise<Replanned> {
  const store = await parts.writer();
  const { now } = momentNow(parts);
  const { attempt } = await store.read({ attempt: attemptByNumber(from) });
  await store.commit({
    at: now,
    reads: { assignment: assignmentById(attempt?.assignmentId ?? "") },
    decide: ({ assignment }) => {
      if (!assignment || !isLive(assignment)) return accept([], null);
      const because = "cannot-be-split";
      const data = { reason };
      return accept(
        [{ type: "assignment.replan_skipped", actor: "overseer", ...subject(assignment), because, data }],
        null,
      );
    },
  });
  return { kind: "passed", detail: reason };
}

function withoutStop(text: string): string {
  return text.trim().replace(/\.+$/, "");
}
