/**
 * The watch when it cannot see (DEGR-1): what columns alone say of every living agent, and of the few that are quiet for
 * long the documents that a step needs, each by itself; so one spoiled row blinds nobody but whom it is about. What is
 * decided is domain/watch/degraded.ts.
 */

import { rulesNow } from "#act/landing/rules.ts";
import { listHalts } from "#control/halted.ts";
import type { World } from "#control/world.ts";
import { type Look, measureSkip } from "#domain/core/elapsed.ts";
import { claimInSnapshot } from "#domain/landing/may-land.ts";
import { accept } from "#domain/model/decision.ts";
import type { Fingerprint } from "#domain/signals/fingerprint.ts";
import { accountOf } from "#domain/tick/account.ts";
import { type Limits, NO_MESSAGES } from "#domain/tick/snapshot.ts";
import { decideByThreshold } from "#domain/watch/degraded.ts";
import { followQuiet, forgiveQuiet, measureQuiet, type Quiet } from "#domain/watch/freshness.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { openActions, presentConditions, recoveryOf } from "#store/actions.ts";
import { assignmentsOfNode, openQuestions } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { theFleet } from "#store/fleet.ts";
import { goalById } from "#store/goals.ts";
import { pulseOf } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import { type AgentInColumns, countWaitingMessages, isBusyOrAsking, listLivingInColumns } from "#store/watch.ts";
import { nodeById } from "#store/work.ts";
import { readFingerprint, readLimitsNow } from "./tick.ts";
import { EMPTY_SNAPSHOT } from "./watch.ts";

export interface DegradedCycle {
  readonly agents: number;
  /** Who was told or paused, by name. */
  readonly stepped: readonly string[];
  /** Whoever could not be looked at even so, each with why. */
  readonly problems: readonly string[];
}

export class DegradedWatch {
  private quiets = new Map<number, Quiet>();
  private last: Look | null = null;

  /** `knownQuiet`: since when an agent with so many beats is quiet, as far as whoever could see knew it. */
  constructor(private readonly knownQuiet: (attempt: number, beats: number) => Quiet | undefined) {}

  /** `only`: whom it may step on, where everybody else could be judged. */
  async look(world: World, only?: ReadonlySet<number>): Promise<DegradedCycle> {
    if ((await listHalts(world)).length > 0) return { agents: 0, stepped: [], problems: [] };
    const store = await world.writer();
    const config = await world.config();
    const limits = await readLimitsNow(world);
    const { living } = await store.read({ living: listLivingInColumns() });
    this.forgiveSkipped(world, config.watch.every);
    const { staleAfter: staleAfterMs, veryStaleAfter: veryStaleAfterMs } = config.watch;
    const now = { boot: world.clock.boot(), ms: world.clock.monotonic() };
    const quiets = new Map<number, Quiet>();
    const stepped: string[] = [];
    const problems: string[] = [];
    for (const agent of living) {
      const known = this.quiets.get(agent.attempt) ?? this.knownQuiet(agent.attempt, agent.beats);
      const quiet = followQuiet(known, String(agent.beats), now);
      quiets.set(agent.attempt, quiet);
      const quietMs = measureQuiet(quiet, now);
      if (only && !only.has(agent.attempt)) continue;
      if (agent.status !== "running" || quietMs === null || quietMs < staleAfterMs) continue;
      try {
        const took = await this.step(world, store, { agent, quietMs, limits, staleAfterMs, veryStaleAfterMs });
        if (took) stepped.push(agent.agent);
      } catch (error) {
        // That nothing can be written is no matter of this agent's.
        if (error instanceof OverseerError && error.kind === "environment") throw error;
        problems.push(`${agent.agent}: ${messageOf(error)}`);
      }
    }
    this.quiets = quiets;
    return { agents: living.length, stepped, problems };
  }

  private forgiveSkipped({ clock }: World, everyMs: number): void {
    const now = { monotonic: clock.monotonic(), wall: clock.now() };
    const skipped = this.last && measureSkip(this.last, now, everyMs);
    this.last = now;
    if (skipped?.by !== "watcher") return;
    for (const [attempt, quiet] of this.quiets) this.quiets.set(attempt, forgiveQuiet(quiet, skipped.ms));
  }

  /** True where something was decided about it. */
  private async step(
    world: World,
    store: Store,
    about: {
      readonly agent: AgentInColumns;
      readonly quietMs: number;
      readonly limits: Limits;
      readonly staleAfterMs: number;
      readonly veryStaleAfterMs: number;
    },
  ): Promise<boolean> {
    const { agent, quietMs, limits, staleAfterMs, veryStaleAfterMs } = about;
    const { attempt, goalId, workNodeId } = agent;
    const now = world.clock.now();
    const { mode } = await rulesNow(world);
    const { inFlight, pulse } = await store.read({ inFlight: isBusyOrAsking(attempt), pulse: pulseOf(attempt) });
    const isPulseUnusable = agent.hasPulse && pulse === undefined;
    const fingerprint: Fingerprint | undefined = await readFingerprint(store, attempt);
    const outcome = await store.commit({
      at: now,
      reads: {
        attempt: attemptByNumber(attempt),
        assignments: assignmentsOfNode(goalId, workNodeId),
        recovery: recoveryOf(goalId, workNodeId),
        node: nodeById(goalId, workNodeId),
        goal: goalById(goalId),
        waiting: countWaitingMessages(),
        conditions: presentConditions(),
        actions: openActions(),
        questions: openQuestions(),
        fleet: theFleet(),
      },
      decide: ({ attempt: found, assignments, recovery, node, goal, waiting, fleet, ...open }) => {
        if (!found || found.status === "ended") return accept([], false);
        const seen = {
          ...{ attempt: found, pulse: null, evidence: [], quietMs, account: accountOf(found.runtime) },
          waiting: waiting.get(attempt) ?? NO_MESSAGES,
        };
        const snapshot = {
          ...EMPTY_SNAPSHOT,
          ...{ now, limits, assignments, ...open },
          reason: "watch, degraded",
          goals: goal ? [goal] : [],
          nodes: node ? [node] : [],
          agents: [seen],
          recoveries: recovery ? [recovery] : [],
          thawedAt: fleet?.status === "moving" ? fleet.since : 0,
          claims: node ? [claimInSnapshot(node, mode) ?? []].flat() : [],
        };
        const bare = { attempt, quietMs, inFlight, fingerprint, isPulseUnusable };
        const events = decideByThreshold(snapshot, bare, { staleAfterMs, veryStaleAfterMs });
        return accept(events, events.length > 0);
      },
    });
    return outcome.ok && outcome.value;
  }
}
