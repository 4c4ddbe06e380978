/**
 * What follows when an agent falls silent and stays so, step by step with its waits: the ladder's own rules walked
 * through in advance, for people who set its limits. It goes as far as the first fresh agent, for whom it begins again.
 */
import {
  backoffUntil,
  type LadderLimits,
  newRecovery,
  nextRung,
  nextStepAt,
  type Rung,
} from "#domain/model/ladder-state.ts";

export interface ForecastStep {
  readonly rung: Rung;
  /** Which of how many of its kind; a person is asked once. */
  readonly number: number;
  readonly of: number;
  /** Since the step before; for the first, since it fell silent. */
  readonly waitMs: number;
}

export function forecastSteps(limits: LadderLimits, silentAfterMs: number): ForecastStep[] {
  const found: ForecastStep[] = [];
  // Once is enough to know: what is split is others' work from there on, and where it is not the next one follows.
  const able = { ...limits, replan: Math.min(1, limits.replan) };
  const said = new Map<Rung, number>();
  let recovery = newRecovery("", "");
  let now = silentAfterMs;
  for (let before = 0; ; before = now) {
    const rung = nextRung(recovery, "nudge", able);
    const spoken = said.get(rung);
    now = Math.max(now, nextStepAt(recovery, limits.patienceMs) ?? 0);
    if (spoken !== undefined && isSaid(rung)) now = Math.max(now, spoken + limits.minResendIntervalMs);
    const of = rung === "ask" ? 1 : able[rung];
    found.push({ rung, number: recovery.steps[rung] + 1, of, waitMs: now - before });
    if (rung === "ask" || rung === "reassign") return found;
    said.set(rung, now);
    if (rung === "replan") {
      // A model that has nothing to say takes no time of the next step's.
      recovery = { ...recovery, steps: { ...recovery.steps, replan: 1 } };
      continue;
    }
    recovery = {
      ...recovery,
      steps: { ...recovery.steps, [rung]: recovery.steps[rung] + 1 },
      backoffUntil: backoffUntil(recovery, limits, now),
      lastStepAt: now,
      level: recovery.level + 1,
    };
  }
}

/** The same words are not said again for a while; a pause has none. */
function isSaid(rung: Rung): boolean {
  return rung !== "pause";
}
