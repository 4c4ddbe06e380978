/**
 * Asks a model of what an agent has died or failed, and writes down how it classifies that and what it recommends (WATCH-2).
 * Once for a failure and once only; whatever goes wrong is one event, after which the rules act as they would.
 */
import { z } from "zod";
import { askWithinBudget } from "#act/ask-model.ts";
import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { triageLimits } from "#config/limits.ts";
import { TRIAGE_FAILURE_PROMPT } from "#config/model-prompts.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { AFTER_FAILURE, FAILURE_OWNERS } from "#domain/model/advice.ts";
import { type Attempt, attemptEvent, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventData } from "#domain/model/event.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { recoveryKey } from "#domain/model/ladder-state.ts";
import { TRIAGE_FAILURE } from "#domain/model/model-spending.ts";
import { nodeKey } from "#domain/model/work.ts";
import { openRecoveries } from "#store/actions.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { goalTreeReads } from "#store/goal-tree.ts";
import { redact } from "#telemetry/redact.ts";
import type { Diagnosed, DiagnoseOrder } from "./diagnose-stall.ts";
import { tellUnanswered, toCall } from "./replan-node.ts";
import { describeTask, readLogTail, toMaterial } from "./stall-material.ts";

const ANSWER = z.strictObject({
  diagnosis: z.string().trim().min(1).max(400),
  failure: z.enum(FAILURE_OWNERS),
  recommend: z.enum(AFTER_FAILURE),
});

export async function triageFailure(parts: ActParts, order: DiagnoseOrder): Promise<Diagnosed> {
  const { goalId, nodeId, from } = order;
  const config = await parts.config();
  const { nodes, attempt, recoveries } = await (await parts.writer()).read({
    ...goalTreeReads(goalId),
    attempt: attemptByNumber(from),
    recoveries: openRecoveries(),
  });
  const node = nodes.find((one) => one.workNodeId === nodeId);
  const known = attempt && findAwaited(recoveries, order, attempt);
  const limits = triageLimits(config);
  if (!node || !attempt || isLiving(attempt) || !known) return end("nobody waits for it any more");
  if (limits === null)
    return end(await record(parts, order, { reason: "triage is switched off (watch.triage.enabled)" }));
  const { model, timeout } = config.watch.triage;
  const question = {
    prompt: TRIAGE_FAILURE_PROMPT,
    values: {
      task: describeTask(node),
      failure: describeFailure(attempt, known),
      log: await readLogTail(parts, attempt),
    },
    schema: ANSWER,
    judge: () => [],
    maxInputBytes: config.planner.maxInput,
    repairs: 0,
    maxCostUsd: config.budgets.agent.cost,
  };
  const about = { goalId, nodeId, assignmentId: attempt.assignmentId, agent: attempt.agent, attempt: from };
  const asked = await askWithinBudget(parts, question, {
    ...{ ...toCall(config), model, timeoutMs: timeout },
    ...{ purpose: TRIAGE_FAILURE, about, first: true },
  });
  if (asked.kind === "held") {
    const until = (known.diagnosis?.askedAt ?? 0) + limits.withinMs;
    if (asked.until < until) return { kind: "later", detail: asked.detail, until: asked.until };
    return end(await record(parts, order, { reason: asked.detail }));
  }
  if (asked.kind === "unanswered") return end(await record(parts, order, { reason: tellUnanswered(asked) }));
  const { diagnosis, ...triage } = asked.answer;
  const said = { diagnosis: redact(diagnosis), triage, model, promptHash: asked.promptHash };
  return end(await record(parts, order, { ...said, actions: [], refused: [] }));
}

function describeFailure({ agent, end: how }: Attempt, { restarts, steps }: Recovery): string {
  return toMaterial(
    [
      `${agent} ended: ${how?.cause ?? "?"}. ${how?.detail ?? ""}`,
      `It was started again ${restarts} times, and other agents took over ${Math.min(steps.reassign, 99)} times.`,
    ].join("\n"),
  );
}

/** The recovery that waits for word about this very failure. */
function findAwaited(
  recoveries: readonly Recovery[],
  { goalId, nodeId }: DiagnoseOrder,
  { assignmentId }: Attempt,
): Recovery | undefined {
  const known = recoveries.find((one) => recoveryKey(one) === nodeKey(goalId, nodeId));
  const { diagnosis } = known ?? {};
  const isOpen = diagnosis && diagnosis.said === null && diagnosis.failed === null;
  return isOpen && diagnosis.assignmentId === assignmentId ? known : undefined;
}

function end(detail: string): Diagnosed {
  return { kind: "over", detail };
}

type Outcome = EventData["assignment.diagnosed"] | EventData["assignment.diagnosis_failed"];

/** Judged by what is so now: the work may have gone on while the model thought. */
async function record(parts: ActParts, order: DiagnoseOrder, outcome: Outcome): Promise<string> {
  const moment = momentNow(parts);
  const limits = triageLimits(await parts.config());
  const committed = await (await parts.writer()).commit({
    at: moment.now,
    reads: { attempt: attemptByNumber(order.from), recoveries: openRecoveries() },
    decide: ({ attempt, recoveries }): Decision<string> => {
      const known = attempt && findAwaited(recoveries, order, attempt);
      if (!attempt || !known) return accept([], "nobody waits for it any more");
      const isLate = limits !== null && hasPassed(known.diagnosis?.askedAt ?? 0, limits.withinMs, moment.now);
      const found = isLate ? { reason: "it came too late" } : outcome;
      if ("reason" in found) {
        const event = attemptEvent(attempt, "overseer", "assignment.diagnosis_failed", "no-diagnosis", found);
        return accept([event], found.reason);
      }
      const event = attemptEvent(attempt, "overseer", "assignment.diagnosed", "a-model-was-asked", found);
      return accept([event], found.diagnosis);
    },
  });
  return committed.ok ? committed.value : committed.refusal.message;
}
