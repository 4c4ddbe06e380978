/**
 * What may be spent: tokens, money and working time, per agent, per goal and per day. Near the limit a warning is given;
 * at the limit the agents concerned get one turn to hand over, then they are paused and a person is asked. Nothing of
 * that scope is started meanwhile. A raised limit lets them continue by itself.
 */

import { HAND_OVER_TEXT } from "#domain/briefing/nudge-text.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { budgetId } from "#domain/model/condition.ts";
import type { Allowance } from "#domain/model/limits.ts";
import type { UsageTotals } from "#domain/model/usage-totals.ts";
import { NO_STEPS, type Ruled, recordEvent, type TickStep } from "./draft.ts";
import { byText, type Scene } from "./scene.ts";
import type { AgentSeen } from "./snapshot.ts";

export interface Closures {
  readonly scopes: ReadonlySet<string>;
}

interface Scope {
  readonly scope: string;
  readonly spent: UsageTotals["day"] | undefined;
  readonly allowance: Allowance;
  readonly goalId?: string;
  agents(): readonly AgentSeen[];
}

export function watchBudgets(scene: Scene): Ruled<Closures> {
  const steps: TickStep[] = [];
  const closed = new Set<string>();
  const present = new Set<string>();
  for (const scope of scopesOf(scene)) {
    present.add(scope.scope);
    const { value: isClosed, steps: own } = watchScope(scene, scope);
    steps.push(...own);
    if (isClosed) closed.add(scope.scope);
  }
  const conditions = scene.snapshot.conditions.toSorted((a, b) => byText(a.conditionId, b.conditionId));
  for (const condition of conditions) {
    if (condition.kind !== "budget" || !condition.active || present.has(condition.scope)) continue;
    steps.push(recordEvent("budget.cleared", {}, "nothing-left-to-limit", { scope: condition.scope }));
  }
  return { value: { scopes: closed }, steps };
}

/** Only scopes that have a limit are looked at. */
function scopesOf(scene: Scene): Scope[] {
  const { usage } = scene.snapshot;
  const { goal, day } = scene.limits.budgets;
  const scopes: Scope[] = [];
  if (limits(day)) {
    scopes.push({ scope: `day:${usage.today}`, spent: usage.day, allowance: day, agents: () => scene.agents });
  }
  if (limits(goal)) {
    for (const { goalId } of scene.goals) {
      const agents = () => scene.agents.filter((seen) => seen.attempt.goalId === goalId);
      scopes.push({ scope: `goal:${goalId}`, spent: usage.goals[goalId], allowance: goal, goalId, agents });
    }
  }
  for (const seen of scene.agents) {
    const { budget: allowance } = scene.limitsFor(seen.attempt);
    if (!limits(allowance)) continue;
    const { attempt, goalId } = seen.attempt;
    const spent = usage.agents[String(attempt)];
    scopes.push({ scope: `agent:${attempt}`, spent, allowance, goalId, agents: () => [seen] });
  }
  return scopes;
}

function limits(allowance: Allowance): boolean {
  return allowance.tokens !== null || allowance.cost !== null || allowance.timeMs !== null;
}

/** True while nothing of it may be started. */
function watchScope(scene: Scene, scope: Scope): Ruled<boolean> {
  const { warnAt } = scene.limits.budgets;
  const known = scene.condition("budget", budgetId(scope.scope));
  const phase = known?.active ? known.phase : undefined;
  const worst = mostSpent(scope);
  const about = scope.goalId === undefined ? {} : { goalId: scope.goalId };
  const spending = { scope: scope.scope, what: worst.what, spent: worst.spent, limit: worst.limit };
  if (worst.share >= 1) {
    if (phase === "paused") return { value: true, steps: NO_STEPS };
    if (phase === "handing-over") {
      const over = known && haveHandedOver(scene, scope, known.turns, known.updatedAt);
      return { value: true, steps: over ? pauseAll(scene, scope, known.since) : NO_STEPS };
    }
    const agents = scope.agents().filter((seen) => seen.attempt.status === "running");
    const turns = Object.fromEntries(agents.map((seen) => [String(seen.attempt.attempt), seen.pulse?.turns ?? 0]));
    const steps = [
      recordEvent("budget.exceeded", about, "limit-reached", { ...spending, turns }),
      ...agents.map((seen) => handOver(scene, scope, seen)),
      // Nobody is left who could hand over.
      ...(agents.length === 0 ? pauseAll(scene, scope, scene.now) : []),
    ];
    return { value: true, steps };
  }
  if (phase === "handing-over" || phase === "paused" || (phase === "warned" && worst.share < warnAt)) {
    const cleared = recordEvent("budget.cleared", about, "within-the-limit-again", { scope: scope.scope });
    return { value: false, steps: [cleared] };
  }
  const warned = phase === undefined && worst.share >= warnAt;
  const steps = warned ? [recordEvent("budget.warned", about, "share-passed", spending)] : NO_STEPS;
  return { value: false, steps };
}

interface Spent {
  readonly what: "tokens" | "cost" | "time";
  readonly spent: number;
  readonly limit: number;
  readonly share: number;
}

function mostSpent({ spent, allowance }: Scope): Spent {
  return findLargestShare(spent, allowance);
}

/** Of whatever is limited, that of which the largest share is spent. */
export function findLargestShare(spent: UsageTotals["day"] | undefined, allowance: Allowance): Spent {
  const tokens = spent ? spent.inputTokens + spent.outputTokens + spent.cacheReadTokens + spent.cacheWriteTokens : 0;
  const all: Spent[] = [
    part("tokens", tokens, allowance.tokens),
    part("cost", spent?.costUsd ?? 0, allowance.cost),
    part("time", spent?.workingMs ?? 0, allowance.timeMs),
  ];
  return all.reduce((worst, one) => (one.share > worst.share ? one : worst));
}

function part(what: Spent["what"], spent: number, limit: number | null): Spent {
  const share = limit === null ? 0 : limit > 0 ? spent / limit : 1;
  return { what, spent, limit: limit ?? 0, share };
}

/** Each had its turn, or all had their time. */
function haveHandedOver(scene: Scene, scope: Scope, turns: Readonly<Record<string, number>>, since: number): boolean {
  if (hasPassed(since, scene.limits.ladder.backoff.maxMs, scene.now)) return true;
  return scope.agents().every(({ attempt, pulse }) => {
    const before = turns[String(attempt.attempt)];
    return attempt.status !== "running" || before === undefined || ((pulse?.turns ?? 0) > before && !pulse?.inTurn);
  });
}

function handOver(scene: Scene, scope: Scope, seen: AgentSeen): TickStep {
  const { agent, attempt, goalId, workNodeId, assignmentId } = seen.attempt;
  const messageId = deriveId("m_", "budget", scope.scope, attempt, scene.now);
  return {
    ...{ goalId, nodeId: workNodeId, assignmentId, agent, attempt },
    actionId: `deliver:${messageId}`,
    kind: "deliver",
    because: "budget-spent",
    notBefore: scene.now,
    payload: { messageId, dispatchId: null, body: HAND_OVER_TEXT, kind: "instruction", severity: null },
  };
}

function pauseAll(scene: Scene, scope: Scope, since: number): TickStep[] {
  const agents = scope.agents().filter((seen) => seen.attempt.status === "running");
  const about = scope.goalId === undefined ? {} : { goalId: scope.goalId };
  const questionId = deriveId("q_", "budget", scope.scope, since);
  return [
    recordEvent("budget.paused", about, "handed-over", {
      scope: scope.scope,
      agents: agents.map((seen) => seen.attempt.attempt),
    }),
    ...agents.map((seen) => pauseFor(scene, scope, seen)),
    {
      ...about,
      actionId: `ask:${questionId}`,
      kind: "ask",
      because: "budget-spent",
      notBefore: scene.now,
      payload: {
        questionId,
        text: `The budget of ${scope.scope} is spent and its agents are paused. Raise budgets.* in .overseer/config.yaml, or leave it paused?`,
        options: ["raised", "leave it"],
      },
    },
  ];
}

function pauseFor(scene: Scene, scope: Scope, seen: AgentSeen): TickStep {
  const { agent, attempt, goalId, workNodeId, assignmentId } = seen.attempt;
  return {
    ...{ goalId, nodeId: workNodeId, assignmentId, agent, attempt },
    actionId: `pause:${attempt}:${scope.scope}:${scene.now}`,
    kind: "pause",
    because: "budget-spent",
    notBefore: scene.now,
    payload: { now: false, reason: `The budget of ${scope.scope} is spent.`, cause: "budget" },
  };
}
