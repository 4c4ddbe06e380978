/** What follows when, in sentences with the figures in effect: what `config explain recovery` says before its keys. */
import { type ForecastStep, forecastSteps } from "#domain/explain/recovery-forecast.ts";
import { NUDGE_NAMES, type Rung } from "#domain/model/ladder-state.ts";
import { limitsOf } from "./limits.ts";
import type { Config } from "./schema.ts";
import { formatDuration } from "./units.ts";

const STEPS: Readonly<Record<Rung, string>> = {
  hint: `it gets a ${NUDGE_NAMES.hint}, asked how it gets on`,
  warning: `it gets a ${NUDGE_NAMES.warning}, asked more firmly`,
  critical: `it gets a ${NUDGE_NAMES.critical}, told what follows`,
  resend: "its turn is interrupted and the instruction sent again",
  replan: "a model splits its work into smaller pieces, each for an agent of its own (planner)",
  reassign: "a fresh agent takes over from its last commit",
  pause: "it is paused for a while",
  ask: "a person is asked",
};

export function tellRecovery(config: Config): string[] {
  const { recovery, provider, quota } = config;
  const { steps, massDeath } = recovery;
  const every = formatDuration;
  const { ladder, planner } = limitsOf(config);
  const splits = planner.off !== null || planner.replansPerNode === 0 ? 0 : ladder.replan;
  const walked = forecastSteps({ ...ladder, replan: splits }, recovery.silentAfter);
  const died =
    recovery.restarts > 0
      ? `it is restarted in its own session, ${times(recovery.restarts)} at most, then a fresh agent takes over`
      : "a fresh agent takes over";
  return [
    ...walked.map(
      (step, index) =>
        `${index === 0 ? `Silent for ${every(step.waitMs)} with open work` : walked[index - 1]?.rung === "replan" ? "Where none does, at once" : `${every(step.waitMs)} later`}: ${describeStep(step)}.`,
    ),
    ...(walked.at(-1)?.rung === "reassign"
      ? [
          `For a fresh agent it begins again. After ${agents(steps.freshAgents)}: ${steps.pauses > 0 ? `paused ${times(steps.pauses)}, then ` : ""}a person is asked. Two steps are never more than ${every(Math.max(recovery.backoff.max, recovery.nextStepAfter, recovery.sameWordsAfter))} apart.`,
        ]
      : []),
    "Progress at any time (a commit, a changed file, a report): it begins anew.",
    `No sign of life ${every(recovery.firstSignWithin)} after its start: the same steps.`,
    `A command whose processes do nothing for ${every(recovery.hungCallAfter)}: the agent is asked; ${every(Math.max(recovery.nextStepAfter, recovery.backoff.base))} later the call is interrupted.`,
    `Its process is gone: ${died}. Silent for ${every(recovery.deadAfter)} with a second sign of death: it is ended, and the same.`,
    `${massDeath.count} deaths within ${every(massDeath.within)}: nobody is started until one agent that is tried survives.`,
    `Its provider does not answer for ${every(provider.patience)} (provider.patience): all agents of that account wait, nobody is nudged; after ${every(provider.backoff.base)} one tries, then at most every ${every(provider.backoff.max)}.`,
    `Its account is out of quota: it waits until the time the limit names, else ${every(quota.backoff.base)}, at most ${every(quota.backoff.max)} (quota.backoff).`,
  ];
}

function describeStep({ rung, number, of }: ForecastStep): string {
  return of > 1 ? `${STEPS[rung]} (${number} of ${of})` : STEPS[rung];
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

function agents(count: number): string {
  return count === 1 ? "one fresh agent" : `${count} fresh agents`;
}
