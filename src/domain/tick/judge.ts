/**
 * How every agent of a scene is doing, by one set of rules, whoever asks: the tick, which acts on it, and the watch
 * (domain/watch), which keeps it and tells it. What the whole fleet has to say about one of its agents is found first: which
 * accounts are closed, and who shares a silence; the evidence of each is liveness.ts.
 */

import type { AgentLimits } from "#domain/model/limits.ts";
import type { Closed } from "./account.ts";
import { Draft, type Outbox } from "./draft.ts";
import type { Judgement, LivenessLimits } from "./liveness.ts";
import { judgeLiveness } from "./liveness.ts";
import { findSharedSilence, waitsForProvider, watchProviders } from "./provider.ts";
import { watchQuotas } from "./quota.ts";
import { Scene } from "./scene.ts";
import type { AgentSeen, Snapshot } from "./snapshot.ts";

/** What holds for more than one of them. */
export interface FleetGrounds {
  readonly quotas: Closed;
  readonly providers: Closed;
  /** Those whose silence may be their provider's. */
  readonly shared: ReadonlySet<number>;
}

/** The numbers each agent is judged by; equal ones are one object, so that a large fleet shares a few. */
export class Measures {
  private readonly known = new Map<AgentLimits, LivenessLimits>();

  constructor(private readonly scene: Scene) {}

  of({ attempt }: Pick<AgentSeen, "attempt">): LivenessLimits {
    const own = this.scene.limitsFor(attempt);
    let limits = this.known.get(own);
    if (!limits) {
      limits = { ...this.scene.limits, ...own, graceMs: own.patienceMs };
      this.known.set(own, limits);
    }
    return limits;
  }
}

export function judgeAgent(
  scene: Scene,
  outbox: Outbox,
  seen: AgentSeen,
  { quotas, providers, shared }: FleetGrounds,
  limits: LivenessLimits,
): Judgement {
  const { attempt } = seen;
  const recovery = scene.findRecovery(attempt);
  const outOfQuota = quotas.get(seen.account);
  return judgeLiveness(
    {
      seen,
      assignment: scene.assignment(attempt.assignmentId),
      asking: scene.isAsked(attempt) || outbox.hasForNode("ask", attempt),
      quotaUntil: outOfQuota !== undefined && (seen.pulse?.quotaAt ?? null) !== null ? outOfQuota.until : null,
      providerFails: providers.has(seen.account) && waitsForProvider(seen),
      sharesSilence: shared.has(attempt.attempt),
      claimed: scene.claim(attempt) !== undefined,
      expecting: outbox.expects(attempt.attempt),
      answeredAt: recovery?.answeredAt ?? null,
      doubt: recovery?.doubt ?? null,
      rebasedAt: scene.rebasedAt,
    },
    scene.now,
    limits,
  );
}

export interface JudgedFleet {
  readonly scene: Scene;
  readonly outbox: Outbox;
  readonly judged: ReadonlyMap<number, Judgement>;
}

/** Everybody, and nothing else: what would be decided about accounts is thought through and thrown away. */
export function judgeFleet(snapshot: Snapshot): JudgedFleet {
  const scene = new Scene(snapshot);
  const outbox = new Draft(snapshot.now, snapshot.actions, snapshot.lately);
  const quotas = outbox.take(watchQuotas(scene));
  const providers = outbox.take(watchProviders(scene));
  const grounds = { quotas, providers, shared: findSharedSilence(scene) };
  const measures = new Measures(scene);
  const judged = new Map<number, Judgement>();
  for (const seen of scene.agents) {
    judged.set(seen.attempt.attempt, judgeAgent(scene, outbox, seen, grounds, measures.of(seen)));
  }
  return { scene, outbox, judged };
}
