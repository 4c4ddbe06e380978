/**
 * Asks a model what is the matter with an agent that is stuck, and writes down what the ladder may do of its advice
 * (PLAN-4). It is asked once for a stall and once only: an answer that does not hold is not sent back, and whatever goes
 * wrong is one event, after which the rules act as they would.
 */
import { z } from "zod";
import { askWithinBudget } from "#act/ask-model.ts";
import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { isWatchingOnly } from "#act/watching-only.ts";
import { limitsOf, plannerLimits } from "#config/limits.ts";
import { DIAGNOSE_STALL_PROMPT } from "#config/model-prompts.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { type Advice, LONGEST_WAIT_MINUTES, MOST_ADVICE } from "#domain/model/advice.ts";
import { subject } from "#domain/model/assignment.ts";
import { isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventData } from "#domain/model/event.ts";
import { recoveryKey, stepsFor } from "#domain/model/ladder-state.ts";
import { DIAGNOSE_STALL } from "#domain/model/model-spending.ts";
import { isSpared } from "#domain/model/supervision.ts";
import { nodeKey } from "#domain/model/work.ts";
import { reasonAgainstSplit } from "#domain/plans/split-node.ts";
import { judgeAdvice } from "#domain/tick/diagnosis.ts";
import { openRecoveries } from "#store/actions.ts";
import { assignmentById, openQuestions } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { goalTreeReads } from "#store/goal-tree.ts";
import { redact } from "#telemetry/redact.ts";
import { tellUnanswered, toCall } from "./replan-node.ts";
import { describeSigns, describeStall, describeTask, readLogTail } from "./stall-material.ts";

const ADVICE = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("nudge"), message: z.string().trim().min(1).max(1_000) }),
  z.strictObject({ do: z.literal("resend") }),
  z.strictObject({ do: z.literal("reassign") }),
  z.strictObject({ do: z.literal("replan") }),
  z.strictObject({
    do: z.literal("escalate"),
    question: z.string().trim().min(1).max(600),
    options: z.array(z.string().trim().min(1).max(120)).max(4).default([]),
  }),
  z.strictObject({ do: z.literal("wait"), minutes: z.int().min(1).max(LONGEST_WAIT_MINUTES) }),
]);
const ANSWER = z.strictObject({
  diagnosis: z.string().trim().min(1).max(400),
  actions: z.array(ADVICE).max(MOST_ADVICE).default([]),
});

export interface DiagnoseOrder {
  readonly goalId: string;
  readonly nodeId: string;
  /** The attempt that is stuck. */
  readonly from: number;
  readonly cause: string;
}

export type Diagnosed =
  | { readonly kind: "over"; readonly detail: string }
  /** A model can be asked a little later, and is still waited for then. */
  | { readonly kind: "later"; readonly detail: string; readonly until: number };

export async function diagnoseStall(parts: ActParts, order: DiagnoseOrder): Promise<Diagnosed> {
  const { goalId, nodeId, from, cause } = order;
  const config = await parts.config();
  const { nodes, attempt, recoveries } = await (await parts.writer()).read({
    ...goalTreeReads(goalId),
    attempt: attemptByNumber(from),
    recoveries: openRecoveries(),
  });
  const node = nodes.find((one) => one.workNodeId === nodeId);
  const recovery = recoveries.find((one) => recoveryKey(one) === nodeKey(goalId, nodeId));
  if (!node || !attempt || !isLiving(attempt) || !recovery?.diagnosis) return end("it is not stuck any more");
  if (recovery.diagnosis.said !== null || recovery.diagnosis.failed !== null) return end("it was asked already");
  const question = {
    prompt: DIAGNOSE_STALL_PROMPT,
    values: {
      task: describeTask(node),
      stall: describeStall(cause, stepsFor(recovery, attempt.assignmentId)),
      signs: await describeSigns(parts, attempt, node),
      log: await readLogTail(parts, attempt),
      mostActions: String(MOST_ADVICE),
      mostMinutes: String(LONGEST_WAIT_MINUTES),
    },
    schema: ANSWER,
    judge: () => [],
    maxInputBytes: config.planner.maxInput,
    repairs: 0,
    maxCostUsd: config.budgets.agent.cost,
  };
  const about = { goalId, nodeId, assignmentId: attempt.assignmentId, agent: attempt.agent, attempt: from };
  const asked = await askWithinBudget(parts, question, {
    ...toCall(config),
    purpose: DIAGNOSE_STALL,
    about,
    first: true,
  });
  if (asked.kind === "held") {
    const until = recovery.diagnosis.askedAt + plannerLimits(config).diagnoseWithinMs;
    if (asked.until < until) return { kind: "later", detail: asked.detail, until: asked.until };
    return end(await record(parts, order, { kind: "failed", reason: asked.detail }));
  }
  if (asked.kind === "unanswered") {
    return end(await record(parts, order, { kind: "failed", reason: tellUnanswered(asked) }));
  }
  const { diagnosis, actions } = asked.answer;
  const made = { model: config.planner.model, promptHash: asked.promptHash };
  return end(await record(parts, order, { kind: "said", diagnosis: redact(diagnosis), advice: actions, made }));
}

function end(detail: string): Diagnosed {
  return { kind: "over", detail };
}

type Answered =
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: "said";
      readonly diagnosis: string;
      readonly advice: readonly Advice[];
      readonly made: Pick<EventData["assignment.diagnosed"], "model" | "promptHash">;
    };

/** Judged by what is so now: the ladder may have gone on while the model thought. */
async function record(parts: ActParts, order: DiagnoseOrder, answered: Answered): Promise<string> {
  const { goalId, nodeId, from } = order;
  const moment = momentNow(parts);
  const limits = limitsOf(await parts.config());
  const isWatching = await isWatchingOnly(parts);
  const store = await parts.writer();
  const { one } = await store.read({ one: attemptByNumber(from) });
  const outcome = await store.commit({
    at: moment.now,
    reads: {
      ...goalTreeReads(goalId),
      attempt: attemptByNumber(from),
      assignment: assignmentById(one?.assignmentId ?? ""),
      recoveries: openRecoveries(),
      questions: openQuestions(),
    },
    decide: ({ goal, nodes, attempt, assignment, recoveries, questions }): Decision<string> => {
      const node = nodes.find((other) => other.workNodeId === nodeId);
      const known = recoveries.find((other) => recoveryKey(other) === nodeKey(goalId, nodeId));
      const diagnosis = known?.diagnosis;
      const isOpen = diagnosis && diagnosis.said === null && diagnosis.failed === null;
      if (!goal || !node || !attempt || !assignment || !known || !isOpen || !isLiving(attempt)) {
        return accept([], "it is not stuck any more");
      }
      if (diagnosis.assignmentId !== assignment.assignmentId) return accept([], "somebody else is at work");
      const about = { ...subject(assignment), attempt: from };
      const fail = (reason: string): Decision<string> =>
        accept(
          [
            {
              type: "assignment.diagnosis_failed",
              actor: "overseer",
              ...about,
              because: "no-diagnosis",
              data: { reason },
            },
          ],
          reason,
        );
      if (answered.kind === "failed") return fail(answered.reason);
      if (hasPassed(diagnosis.askedAt, limits.planner.diagnoseWithinMs, moment.now)) return fail("it came too late");
      const judged = judgeAdvice(answered.advice, {
        recovery: stepsFor(known, assignment.assignmentId),
        ladder: limits.ladder,
        isAsked: questions.some((other) => other.goalId === goalId && other.workNodeId === nodeId),
        againstSplit: reasonAgainstSplit(goal, node, nodes, limits.planner.replansPerNode),
        bars: { isSpared: isSpared(attempt), isWatching },
      });
      const data = { diagnosis: answered.diagnosis, ...judged, ...answered.made };
      return accept(
        [{ type: "assignment.diagnosed", actor: "overseer", ...about, because: "a-model-was-asked", data }],
        answered.diagnosis,
      );
    },
  });
  return outcome.ok ? outcome.value : outcome.refusal.message;
}
