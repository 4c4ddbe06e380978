/**
 * Checking, landing and reaping as actions of the outbox: what each outcome means for trying again. What waits for a
 * checkout is looked at again later and later, as the configuration says; everything that was decided is done, whether
 * the decision was to land it or to send it back.
 */
import type { Config } from "#config/schema.ts";
import type { Action, ActionOutcome } from "#domain/action.ts";
import { claimInSnapshot, type LandingMode } from "#domain/landing.ts";
import type { Claim as SeenClaim } from "#domain/snapshot.ts";
import { OverseerError } from "#errors.ts";
import { nodesInStatus } from "#store/work.ts";
import { runChecks } from "./check.ts";
import type { NodePlace } from "./claim-store.ts";
import { readClaim } from "./claim-store.ts";
import { landClaim } from "./land.ts";
import type { ActParts } from "./parts.ts";
import { reap } from "./reap.ts";

/** What is claimed to be done, for the tick to see. */
export async function claimsSeen(parts: Pick<ActParts, "writer" | "config">): Promise<SeenClaim[]> {
  const mode = landingMode(await parts.config());
  const { nodes } = await (await parts.writer()).read({ nodes: nodesInStatus("in_progress", 100_000) });
  return nodes.flatMap((node) => claimInSnapshot(node, mode) ?? []);
}

export function landingMode({ landing }: Pick<Config, "landing">): LandingMode {
  return landing.mode ?? "review";
}

const PLACES_BUSY_MS = 10_000;

export async function checkAction(action: Action<"check">, parts: ActParts): Promise<ActionOutcome> {
  const place = placeOf(action);
  if (!place) return nobodys(action);
  try {
    return { ok: true, result: (await runChecks(parts, place)).kind };
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "CHECKS_BUSY") throw error;
    return { ok: false, problem: error.message, retry: { afterMs: PLACES_BUSY_MS } };
  }
}

const MOVED_MS = 1_000;

export async function landAction(action: Action<"land">, parts: ActParts): Promise<ActionOutcome> {
  const place = placeOf(action);
  if (!place) return nobodys(action);
  const outcome = await landClaim(parts, place);
  if (outcome.kind === "again") return { ok: false, problem: "the target kept moving", retry: { afterMs: MOVED_MS } };
  if (outcome.kind !== "waiting") return { ok: true, result: outcome.kind };
  const waiting = (await readClaim(parts, place))?.node.claim?.waiting;
  if (waiting?.for !== "checkout") return { ok: true, result: "waiting for review" };
  return { ok: false, problem: waiting.detail, retry: { afterMs: dirtyWaitMs(await parts.config(), waiting.looks) } };
}

/** ACC-2: the second look after `base`, each later one after twice as long, never longer than `max`. */
export function dirtyWaitMs({ landing }: Pick<Config, "landing">, looks: number): number {
  const { base, max } = landing.dirtyWait;
  return Math.min(max, base * 2 ** Math.min(40, Math.max(0, looks - 1)));
}

const STOPPING_MS = 2_000;

/** The agent of that attempt is stopped and its worktree goes. */
export async function reapAction(action: Action<"clean">, parts: ActParts): Promise<ActionOutcome> {
  if (action.attempt === null) return nobodys(action);
  const outcome = await reap(parts, action.attempt);
  if (outcome.kind === "waiting") return { ok: false, problem: outcome.because, retry: { afterMs: STOPPING_MS } };
  return { ok: true, result: outcome.kind };
}

function placeOf({ goalId, workNodeId }: Action): NodePlace | undefined {
  return goalId === null || workNodeId === null ? undefined : { goalId, nodeId: workNodeId };
}

function nobodys({ kind }: Action): ActionOutcome {
  return { ok: false, problem: `the action ${kind} does not say for whom`, retry: "never" };
}
