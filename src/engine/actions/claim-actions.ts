/**
 * Checking, landing and reaping as actions of the outbox: what each outcome means for trying again. What waits for a
 * checkout is looked at again later and later, as the configuration says; everything that was decided is done, whether
 * the decision was to land it or to send it back.
 */

import { runChecks } from "#act/checks/check.ts";
import type { NodeRef } from "#act/checks/claim-store.ts";
import { readClaim } from "#act/checks/claim-store.ts";
import { dirtyWaitMs, landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { reap } from "#act/landing/reap.ts";
import { rulesNow } from "#act/landing/rules.ts";
import type { ActParts } from "#act/parts.ts";
import { claimInSnapshot, mayLand } from "#domain/landing/may-land.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import type { OpenClaim } from "#domain/model/claim.ts";
import { isQueued, mergeIdOf, queueWaitMs } from "#domain/model/merge.ts";
import { isOpen } from "#domain/model/work.ts";
import { OverseerError } from "#errors.ts";
import { mergeById } from "#store/merges.ts";
import { nodesInStatus } from "#store/work.ts";

/** What is claimed to be done, for the tick to see. */
export async function claimsSeen(parts: ActParts): Promise<OpenClaim[]> {
  const { mode } = await rulesNow(parts);
  const { nodes } = await (await parts.writer()).read({ nodes: nodesInStatus("in_progress", 100_000) });
  return nodes.flatMap((node) => claimInSnapshot(node, mode) ?? []);
}

const PLACES_BUSY_MS = 10_000;

export async function checkAction(action: Action<"check">, parts: ActParts): Promise<ActionOutcome> {
  const place = nodeRefOf(action);
  if (!place) return withoutSubject(action);
  try {
    return { ok: true, result: (await runChecks(parts, place)).kind };
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "CHECKS_BUSY") throw error;
    return { ok: false, problem: error.message, retry: { afterMs: PLACES_BUSY_MS } };
  }
}

const MOVED_MS = 1_000;

/** The turn of one claim is a turn of its whole queue: whoever is before it in the order lands first. */
export async function landAction(action: Action<"land">, parts: ActParts): Promise<ActionOutcome> {
  const place = nodeRefOf(action);
  if (!place) return landBrought(action, parts);
  const first = await readClaim(parts, place);
  const may = first && mayLand(first.node, (await rulesNow(parts)).mode);
  const turn = may?.ok ? await workOffQueue(parts, { now: mergeIdOf(may.claim) }) : undefined;
  if (turn?.kind === "busy") {
    return { ok: false, problem: "the queue is being worked off", retry: { afterMs: MOVED_MS } };
  }
  if (!may?.ok) {
    const { kind } = await landClaim(parts, place);
    return { ok: true, result: kind === "waiting" ? "waiting for review" : kind };
  }
  return afterTurn(parts, place);
}

/** A branch that a person brought: the action is named after its place in the queue. */
async function landBrought({ actionId }: Action<"land">, parts: ActParts): Promise<ActionOutcome> {
  const mergeId = actionId.slice("land:".length);
  const turn = await workOffQueue(parts, { now: mergeId });
  const { merge } = await (await parts.writer()).read({ merge: mergeById(mergeId) });
  if (!merge || !isQueued(merge) || merge.status === "parked") return { ok: true, result: merge?.status ?? "gone" };
  const afterMs = turn.kind === "busy" ? MOVED_MS : Math.max(MOVED_MS, queueWaitMs(merge, parts.clock.now()));
  return { ok: false, problem: merge.detail ?? "the queue is being worked off", retry: { afterMs } };
}

/** What the turn of the queue has made of the claim. */
async function afterTurn(parts: ActParts, place: NodeRef): Promise<ActionOutcome> {
  const seen = await readClaim(parts, place);
  const { node } = seen ?? {};
  if (!node || !isOpen(node)) return { ok: true, result: node?.status ?? "gone" };
  if (node.status === "blocked") return { ok: true, result: "asked" };
  if (!node.claim) return { ok: true, result: "returned" };
  const { waiting } = node.claim;
  if (waiting?.for === "model") {
    const { merge } = await (await parts.writer()).read({ merge: mergeById(mergeIdOf(node.claim)) });
    const afterMs = Math.max(MOVED_MS, merge ? queueWaitMs(merge, parts.clock.now()) : 0);
    return { ok: false, problem: waiting.detail, retry: { afterMs } };
  }
  if (!waiting || waiting.for === "review") {
    return { ok: false, problem: "the target kept moving", retry: { afterMs: MOVED_MS } };
  }
  return { ok: false, problem: waiting.detail, retry: { afterMs: dirtyWaitMs(await parts.config(), waiting.looks) } };
}

const STOPPING_MS = 2_000;

/** The agent of that attempt is stopped and its worktree goes. */
export async function reapAction(action: Action<"clean">, parts: ActParts): Promise<ActionOutcome> {
  if (action.attempt === null) return withoutSubject(action);
  const outcome = await reap(parts, action.attempt);
  if (outcome.kind === "waiting") return { ok: false, problem: outcome.because, retry: { afterMs: STOPPING_MS } };
  return { ok: true, result: outcome.kind === "kept" ? `it stays: ${outcome.because}` : outcome.kind };
}

function nodeRefOf({ goalId, workNodeId }: Action): NodeRef | undefined {
  return goalId === null || workNodeId === null ? undefined : { goalId, nodeId: workNodeId };
}

function withoutSubject({ kind }: Action): ActionOutcome {
  return { ok: false, problem: `the action ${kind} does not say for whom`, retry: "never" };
}
