/**
 * Lands what is checked. What waits for a checkout is looked at again later and later, as its entry in the queue says;
 * everything that was decided is done, whether the decision was to land it or to send it back.
 */
import { readClaim } from "#act/checks/claim-store.ts";
import { holdOnTarget } from "#act/landing/after-land.ts";
import { landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { rulesNow } from "#act/landing/rules.ts";
import { landingBranch, withWriter } from "#act/landing/target-branch.ts";
import type { ActParts } from "#act/parts.ts";
import { mayLand } from "#domain/landing/may-land.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { isQueued, type MergeStatus, mergeIdOf, queueWaitMs } from "#domain/model/merge.ts";
import { mergeById } from "#store/merges.ts";
import { nodeRefOf } from "./subject.ts";

const MOVED_MS = 1_000;
/** Its end makes it due at once (hastenHeldLandings). */
const HELD_MS = 60 * 60_000;

/** The turn of one entry is a turn of its whole queue: whoever is before it in the order lands first. */
export default async function landAction(action: Action<"land">, parts: ActParts): Promise<ActionOutcome> {
  const place = nodeRefOf(action);
  // A branch that a person brought: the action is named after its place in the queue.
  if (!place) return workOff(parts, action.actionId.slice("land:".length));
  const seen = await readClaim(parts, place);
  const may = seen && mayLand(seen.node, (await rulesNow(parts)).mode);
  if (may?.ok) return workOff(parts, mergeIdOf(may.claim), CLAIM_RESULTS);
  const { kind } = await landClaim(parts, place);
  return { ok: true, result: kind === "waiting" ? "waiting for review" : kind };
}

const CLAIM_RESULTS: Partial<Record<MergeStatus, string>> = { landed: "done", parked: "asked", refused: "returned" };

/** When it is looked at again is for its entry to say. */
async function workOff(
  parts: ActParts,
  mergeId: string,
  results: Partial<Record<MergeStatus, string>> = {},
): Promise<ActionOutcome> {
  const { waiting } = await (await parts.writer()).read({ waiting: mergeById(mergeId) });
  const held = await holdOnTarget(parts, waiting?.target ?? (await landingBranch(withWriter(parts))));
  if (held) return { ok: false, problem: held, retry: { afterMs: HELD_MS } };
  const turn = await workOffQueue(parts, { now: mergeId });
  const { entry } = await (await parts.writer()).read({ entry: mergeById(mergeId) });
  if (turn.kind !== "busy" && (!entry || !isQueued(entry) || entry.status === "parked")) {
    return { ok: true, result: entry ? (results[entry.status] ?? entry.status) : "gone" };
  }
  const waits = turn.kind !== "busy" && entry && queueWaitMs(entry, parts.clock.now()) > 0;
  const afterMs = waits ? Math.max(MOVED_MS, entry.notBefore - entry.updatedAt) : MOVED_MS;
  return { ok: false, problem: (waits && entry.detail) || "the queue is being worked off", retry: { afterMs } };
}
