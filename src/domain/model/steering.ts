/** What a person says about a steering: that it was wrong. A word about the past; nothing the agent does depends on it. */
import type { Actor } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { type Attempt, attemptEvent } from "./attempt.ts";
import { accept, type Decision } from "./decision.ts";
import type { EventOf } from "./event.ts";

export interface RefutedSteering {
  readonly steering: number;
  readonly agent: string;
  readonly attempt: number;
  readonly anomaly: string;
  readonly fact: string;
  /** It was said before; nothing was written again. */
  readonly already: boolean;
}

/** `refuted`: what was said about this agent's steerings so far. */
export function refuteSteering(
  steered: EventOf<"agent.steered">,
  attempt: Attempt,
  refuted: readonly EventOf<"agent.steering_refuted">[],
  reason: string | null,
  actor: Actor,
): Decision<RefutedSteering> {
  if (!actor.startsWith("human:")) {
    return refuse(
      "usage",
      "STEERING_NOT_YOURS",
      "Only a person judges a steering.",
      "Report what holds you up instead.",
    );
  }
  const { anomaly, fact, step } = steered.data;
  const already = refuted.some(({ data }) => data.steering === steered.seq);
  const value = { steering: steered.seq, agent: attempt.agent, attempt: attempt.attempt, anomaly, fact, already };
  if (already) return accept([], value);
  const data = { steering: steered.seq, anomaly, step, reason };
  return accept([attemptEvent(attempt, actor, "agent.steering_refuted", anomaly, data)], value);
}
