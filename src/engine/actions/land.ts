/**
 * Lands what is checked. What waits for a checkout is looked at again later and later, as the configuration says;
 * everything that was decided is done, whether the decision was to land it or to send it back.
 */
import type { NodeRef } from "#act/checks/claim-store.ts";
import { readClaim } from "#act/checks/claim-store.ts";
import { dirtyWaitMs, landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { rulesNow } from "#act/landing/rules.ts";
import type { ActParts } from "#act/parts.ts";
import { mayLand } from "#domain/landing/may-land.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { isQueued, mergeIdOf, queueWaitMs } from "#domain/model/merge.ts";
import { isOpen } from "#domain/model/work.ts";
import { mergeById } from "#store/merges.ts";
import { nodeRefOf } from "./subject.ts";

const MOVED_MS = 1_000;

/** The turn of one claim is a turn of its whole queue: whoever is before it in the order lands first. */
export default async function landAction(action: Action<"land">, parts: ActParts): Promise<ActionOutcome> {
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
