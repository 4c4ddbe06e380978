/**
 * What is still done for agents when they cannot be judged (DEGR-1): thresholds only. One that is stale gets a hint; one
 * that is silent for longer than it may be, with nothing in flight, is paused, so that it can neither spoil nor spend
 * anything before somebody can see again. Everything else is left: whoever waits, is paused, reported done, or is about to
 * be told something. The steps are the ladder's own, with its budgets and waits; nothing here ends an agent or gives its
 * work away, because that takes more than a clock to know. One whose own pulse is spoiled is never paused for it.
 */

import { hasPassed } from "#domain/core/elapsed.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { isSpared, isSupervised } from "#domain/model/supervision.ts";
import { isOpen } from "#domain/model/work.ts";
import type { Fingerprint } from "#domain/signals/fingerprint.ts";
import { Draft } from "#domain/tick/draft.ts";
import { stepBlindly } from "#domain/tick/ladder.ts";
import { Scene } from "#domain/tick/scene.ts";
import type { AgentSeen, Snapshot } from "#domain/tick/snapshot.ts";
import type { FreshnessLimits } from "./freshness.ts";

/** The cause of what is done about an agent of which only the clock is known. */
export const QUIET_BY_THRESHOLD = "quiet-by-threshold";

/** One agent as far as it is known without its pulse. */
export interface BareAgent {
  readonly attempt: number;
  /** The watcher's own time since anything was heard of it; null when that is not known. */
  readonly quietMs: number | null;
  /** A call of it runs, its CLI tries again by itself, or it waits for a dialog to be answered. */
  readonly inFlight: boolean;
  readonly fingerprint: Fingerprint | undefined;
  /** What is kept of it is spoiled: it is the one that nobody can see, and may work all the while. */
  readonly isPulseUnusable?: boolean;
}

/** The step that its silence alone calls for; undefined where it is none, or something explains it. */
export function judgeByThreshold(
  { quietMs, inFlight, fingerprint, isPulseUnusable }: Omit<BareAgent, "attempt">,
  idleAfterMs: number,
  { staleAfterMs }: Pick<FreshnessLimits, "staleAfterMs">,
): "hint" | "pause" | undefined {
  if (quietMs === null || inFlight) return undefined;
  if (fingerprint?.class === "waiting-on-human" || fingerprint?.class === "slow") return undefined;
  if (quietMs >= idleAfterMs && !isPulseUnusable) return "pause";
  return quietMs >= staleAfterMs ? "hint" : undefined;
}

/** What is decided about one agent; the snapshot holds it and what belongs to it, without its pulse. */
export function decideByThreshold(snapshot: Snapshot, bare: BareAgent, limits: FreshnessLimits): readonly NewEvent[] {
  const scene = new Scene(snapshot);
  const draft = new Draft(snapshot.now, snapshot.actions, snapshot.lately);
  const seen = scene.agent(bare.attempt);
  const assignment = seen && scene.assignment(seen.attempt.assignmentId);
  if (!seen || !assignment || isLeftAlone(scene, draft, seen)) return [];
  if (!isSupervised(seen.attempt)) return [];
  const quietMs = bare.quietMs === null ? null : Math.min(bare.quietMs, measureCalled(scene, seen));
  const step = judgeByThreshold({ ...bare, quietMs }, scene.limitsFor(seen.attempt).idleAfterMs, limits);
  if (step === undefined) return [];
  // What lies in its inbox is about to begin a turn, and a hint more says nothing.
  if (step === "hint" && (isSpared(seen.attempt) || seen.waiting.queued > 0 || seen.waiting.handed > 0)) return [];
  const stuck = { seen, assignment, recovery: scene.recovery(seen.attempt), cause: QUIET_BY_THRESHOLD };
  draft.add(stepBlindly(scene, draft, stuck, step));
  return draft.events;
}

/** For how long it could have done something: since it began, went on, was answered or was told what it has not read yet. */
function measureCalled(scene: Scene, { attempt, waiting }: AgentSeen): number {
  const { startedAt, createdAt, resumedAt } = attempt;
  const answeredAt = scene.findRecovery(attempt)?.answeredAt ?? 0;
  const called = [startedAt ?? createdAt, resumedAt ?? 0, scene.rebasedAt, answeredAt, waiting.since ?? 0];
  // What is to come was written before the wall clock was set back, and says nothing.
  return scene.now - Math.max(...called.filter((at) => at <= scene.now));
}

/** Whoever waits for somebody or something, or is about to be told or ended. */
function isLeftAlone(scene: Scene, outbox: Draft, { attempt, account }: AgentSeen): boolean {
  if (attempt.status !== "running" || attempt.stopRequested !== null || attempt.interactive) return true;
  if (attempt.blocker !== undefined) return true;
  if (!hasPassed(attempt.startedAt ?? attempt.createdAt, scene.limits.minimumAgeMs, scene.now)) return true;
  const node = scene.node(attempt);
  if (!node || !isOpen(node) || node.status === "blocked") return true;
  if (scene.goal(attempt.goalId)?.status !== "active") return true;
  if (scene.assignment(attempt.assignmentId)?.status === "blocked") return true;
  if (scene.isAsked(attempt) || scene.claim(attempt) !== undefined || outbox.expects(attempt.attempt)) return true;
  return scene.snapshot.conditions.some(
    (one) => (one.kind === "quota" || one.kind === "provider") && one.active && one.account === account,
  );
}
