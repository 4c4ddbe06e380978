/**
 * How an agent would have been judged over its recorded signals under given limits: each change of the judgement, and
 * when. The same rule that the tick asks, asked at every signal and, in the silence after one, whenever a limit passes.
 * Signals are all it has: questions, quotas, deliveries, answers and what processes did beside them are not known here,
 * and a tool call is never judged to hang.
 */
import type { Assignment } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { FINGERPRINT_KINDS, FINGERPRINT_MESSAGES, fingerprintOf } from "#domain/signals/fingerprint.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { beat, newPulse } from "#domain/signals/pulse.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { Judgement, LivenessLimits } from "./liveness.ts";
import { judgeLiveness } from "./liveness.ts";
import { NO_MESSAGES } from "./snapshot.ts";

export interface LivenessChange {
  readonly at: number;
  readonly state: Judgement["state"];
  readonly because: string;
}

export class LivenessReplay {
  private pulse: Pulse;
  private words: Signal[] = [];
  private now: number;
  private readonly changes: LivenessChange[] = [];

  constructor(
    private readonly attempt: Attempt,
    private readonly assignment: Assignment | undefined,
    private readonly limits: LivenessLimits,
  ) {
    this.pulse = newPulse(attempt.attempt, attempt.agent);
    this.now = attempt.startedAt ?? attempt.createdAt;
  }

  take(signal: Signal): void {
    this.pass(signal.at);
    this.pulse = beat(this.pulse, signal);
    if (FINGERPRINT_KINDS.some((kind) => kind === signal.kind))
      this.words = [...this.words, signal].slice(-FINGERPRINT_MESSAGES);
    this.judge(this.now);
  }

  /** `until`: when it ended, or when nobody looked any more. */
  finish(until: number): readonly LivenessChange[] {
    this.pass(until);
    return this.changes;
  }

  /** Time passes with nothing heard: what the limits say on the way there. */
  private pass(to: number): void {
    const { idleAfterMs, startingLimitMs, minimumAgeMs } = this.limits;
    const waits = [idleAfterMs, startingLimitMs, minimumAgeMs, SLOW * idleAfterMs].filter(Number.isFinite);
    const last = this.pulse.lastActAt ?? this.now;
    const turn = this.pulse.turnSince ?? last;
    const moments = waits.flatMap((wait) => [last + wait, turn + wait]).filter((at) => at > this.now && at < to);
    for (const at of [...new Set(moments)].toSorted((a, b) => a - b)) this.judge(at);
    this.now = Math.max(this.now, to);
  }

  private judge(now: number): void {
    const fingerprint = fingerprintOf(this.words);
    const { state, because } = judgeLiveness(
      {
        seen: {
          attempt: { ...this.attempt, status: "running", endedAt: null, end: null },
          pulse: this.pulse,
          evidence: [],
          quietMs: null,
          waiting: NO_MESSAGES,
          account: "",
          ...(fingerprint ? { fingerprint } : {}),
        },
        assignment: this.assignment && { ...this.assignment, status: "active", expectedNextUpdateAt: null },
        ...{
          asking: false,
          quotaUntil: null,
          providerFails: false,
          sharesSilence: false,
          claimed: false,
          expecting: false,
        },
        ...{ answeredAt: null, doubt: null, rebasedAt: 0 },
      },
      now,
      this.limits,
    );
    const last = this.changes.at(-1);
    if (last?.state !== state || last.because !== because) this.changes.push({ at: now, state, because });
  }
}

/** Whoever says that it waits for something slow is judged once more after so many times the limit (liveness.ts). */
const SLOW = 3;

/** Times at which the ladder would have begun: the agent counts as silent or looping from then on. */
export function listStandstills(changes: readonly LivenessChange[]): readonly LivenessChange[] {
  return changes.filter(({ state }) => state === "silent" || state === "looping");
}
