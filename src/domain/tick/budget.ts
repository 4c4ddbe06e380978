/**
 * What may be spent: tokens, money and working time, per agent, per goal and per day. Near the limit a warning is given;
 * at the limit the agents concerned get one turn to hand over, then they are paused and a person is asked. Nothing of
 * that scope is started meanwhile. A limit that is raised lets them continue by itself, whoever raised it and where; one
 * that is changed and still spent is asked about again, and so is one that is spent once more.
 */

import { HAND_OVER_TEXT } from "#domain/briefing/nudge-text.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { type Action, dropEvent } from "#domain/model/action.ts";
import {
  CONTINUE_ANSWER,
  commandToRaise,
  describeOrigin,
  describeSpent,
  LEAVE_ANSWER,
  nameBudget,
  nodeScope,
  STOP_ANSWER,
} from "#domain/model/budget-words.ts";
import { type AllowanceCondition, allowanceId, type BudgetCondition, budgetId } from "#domain/model/condition.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { NOT_WANTED } from "#domain/model/ladder-state.ts";
import type { Allowance, BudgetOrigin, Spendable } from "#domain/model/limits.ts";
import { ALLOWANCE_KEYS, findBudgetOrigin, resolveAllowance } from "#domain/model/limits.ts";
import type { UsageTotals } from "#domain/model/usage-totals.ts";
import { nodeKey } from "#domain/model/work.ts";
import { NO_STEPS, type Ruled, recordEvent, type TickStep } from "./draft.ts";
import { byText, type Scene } from "./scene.ts";
import type { AgentSeen } from "./snapshot.ts";

export interface Closures {
  readonly scopes: ReadonlySet<string>;
}

interface Scope {
  readonly scope: string;
  readonly spent: UsageTotals["day"] | undefined;
  /** As configured, and as a person has limited or raised it since. */
  readonly set: Allowance;
  readonly allowance: Allowance;
  readonly about: {
    readonly goalId?: string;
    readonly nodeId?: string;
    readonly agent?: string;
    readonly attempt?: number;
  };
  /** Whose limit that is, where nobody has raised it. */
  setBy(what: Spendable): { readonly by: BudgetOrigin; readonly role?: string };
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
    steps.push(...clear(scene, condition, {}, "nothing-left-to-limit").steps);
  }
  return { value: { scopes: closed }, steps };
}

/** Only scopes that have a limit are looked at. */
function scopesOf(scene: Scene): Scope[] {
  const { usage } = scene.snapshot;
  const { goal, day } = scene.limits.budgets;
  const scopes: Scope[] = [];
  const today = `day:${usage.today}`;
  if (limits(day)) {
    const agents = () => scene.agents;
    const setBy = () => ({ by: "day" }) as const;
    scopes.push({ scope: today, spent: usage.day, ...raise(scene, day, today), about: {}, setBy, agents });
  }
  for (const { goalId } of scene.goals) {
    const scope = `goal:${goalId}`;
    const resolved = raise(scene, goal, scope);
    // One goal may have a limit where none is configured.
    if (!limits(goal) && !limits(resolved.allowance)) continue;
    const agents = () => scene.agents.filter((seen) => seen.attempt.goalId === goalId);
    const setBy = () => ({ by: "goal" }) as const;
    const spent = usage.goals[goalId];
    scopes.push({ scope, spent, ...resolved, about: { goalId }, setBy, agents });
  }
  for (const seen of scene.agents) {
    const { attempt, agent, goalId, workNodeId: nodeId, role } = seen.attempt;
    const { budget } = scene.limitsFor(seen.attempt);
    if (!limits(budget)) continue;
    const own = scene.node(seen.attempt)?.hints.limits;
    const setBy = (what: Spendable) => {
      const by = findBudgetOrigin(what, scene.limits.roles[role], own);
      return by === "role" ? { by, role } : { by };
    };
    scopes.push({
      ...{ scope: `agent:${attempt}`, spent: usage.agents[String(attempt)] },
      ...raise(scene, budget, nodeScope(nodeKey(goalId, nodeId))),
      ...{ about: { goalId, nodeId, agent, attempt }, setBy, agents: () => [seen] },
    });
  }
  return scopes;
}

function raise(scene: Scene, set: Allowance, scope: string): Pick<Scope, "set" | "allowance"> {
  const granted: AllowanceCondition | undefined = scene.condition("allowance", allowanceId(scope));
  return { set, allowance: resolveAllowance(set, granted) };
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
  const { about } = scope;
  if (worst.share >= 1) {
    if (known && phase === "paused" && !isAskedAnew(scene, scope, known)) return { value: true, steps: NO_STEPS };
    if (known && phase === "handing-over") {
      const over = haveHandedOver(scene, scope, known.turns, known.updatedAt);
      return { value: true, steps: over ? pauseAll(scene, scope, worst) : NO_STEPS };
    }
    const agents = scope.agents().filter((seen) => seen.attempt.status === "running");
    const turns = Object.fromEntries(agents.map((seen) => [String(seen.attempt.attempt), seen.pulse?.turns ?? 0]));
    const because = phase === "paused" ? "changed-and-still-spent" : "limit-reached";
    const steps = [
      ...(known && phase === "paused" ? unask(scene, known, "its limit was changed") : []),
      recordEvent("budget.exceeded", about, because, { ...spendingOf(scope, worst), turns }),
      ...agents.map((seen) => handOver(scene, scope, seen)),
      // Nobody is left who could hand over.
      ...(agents.length === 0 ? pauseAll(scene, scope, worst) : []),
    ];
    return { value: true, steps };
  }
  if (known && (phase === "handing-over" || phase === "paused" || (phase === "warned" && worst.share < warnAt))) {
    return clear(scene, known, about, "within-the-limit-again");
  }
  const warned = phase === undefined && worst.share >= warnAt;
  const steps = warned ? [recordEvent("budget.warned", about, "share-passed", spendingOf(scope, worst))] : NO_STEPS;
  return { value: false, steps };
}

/** Somebody has changed the limit since a person was asked, and what was asked is no longer so. */
function isAskedAnew(scene: Scene, { allowance }: Scope, known: BudgetCondition): boolean {
  const { what, limit } = known;
  if (what === undefined || limit === undefined || findAsking(scene, known)?.status === "taken") return false;
  return (allowance[ALLOWANCE_KEYS[what]] ?? 0) !== limit;
}

function spendingOf({ scope, set, setBy }: Scope, { what, spent, limit }: Spent) {
  const isRaised = set[ALLOWANCE_KEYS[what]] !== limit;
  return { scope, what, spent, limit, ...(isRaised ? ({ by: "person" } as const) : setBy(what)) };
}

/** It binds no more; not said while its question is being asked just now, since nobody could withdraw that then. */
function clear(scene: Scene, known: BudgetCondition, about: Scope["about"], because: string): Ruled<boolean> {
  const asking = findAsking(scene, known);
  if (asking?.status === "taken") return { value: true, steps: NO_STEPS };
  const cleared = recordEvent("budget.cleared", about, because, { scope: known.scope });
  return { value: false, steps: [cleared, ...unask(scene, known, "the budget binds nobody any more")] };
}

function findAsking({ actions }: Scene, { questionId }: BudgetCondition): Action | undefined {
  return questionId === undefined ? undefined : actions.find(({ actionId }) => actionId === `ask:${questionId}`);
}

/** What a person was asked, or is to be, and need not answer any more. */
function unask(scene: Scene, known: BudgetCondition, reason: string): NewEvent[] {
  const { now, snapshot } = scene;
  const { questionId } = known;
  const asking = findAsking(scene, known);
  const isOpen = questionId !== undefined && snapshot.questions.some((one) => one.questionId === questionId);
  return [
    ...(asking ? [dropEvent(asking, NOT_WANTED, reason, { now, actor: "overseer" })] : []),
    ...(isOpen ? [recordEvent("question.withdrawn", {}, "budget-changed", { questionId, reason })] : []),
  ];
}

const BUDGET_SPENT = "budget-spent";

interface Spent {
  readonly what: Spendable;
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
    because: BUDGET_SPENT,
    notBefore: scene.now,
    payload: { messageId, dispatchId: null, body: HAND_OVER_TEXT, kind: "instruction", severity: null },
  };
}

function pauseAll(scene: Scene, scope: Scope, worst: Spent): TickStep[] {
  const agents = scope.agents().filter((seen) => seen.attempt.status === "running");
  const { goalId, nodeId } = scope.about;
  const questionId = deriveId("q_", "budget", scope.scope, scene.now);
  return [
    recordEvent("budget.paused", scope.about, "handed-over", {
      ...{ scope: scope.scope, questionId },
      agents: agents.map((seen) => seen.attempt.attempt),
    }),
    ...agents.map((seen) => pauseFor(scene, scope, seen)),
    {
      // Not about the node: its agent has asked nothing, and is not told the answer.
      ...(goalId === undefined ? {} : { goalId }),
      actionId: `ask:${questionId}`,
      kind: "ask",
      because: BUDGET_SPENT,
      notBefore: scene.now,
      payload: {
        questionId,
        text: askForMore(scope, worst),
        options: nodeId === undefined ? [CONTINUE_ANSWER, LEAVE_ANSWER] : [CONTINUE_ANSWER, STOP_ANSWER, LEAVE_ANSWER],
      },
    },
  ];
}

const EXAMPLES: Readonly<Record<Spendable, string>> = { tokens: "500k", cost: "5", time: "2h" };

function askForMore(scope: Scope, worst: Spent): string {
  const { goalId, nodeId, agent, attempt } = scope.about;
  const node = goalId !== undefined && nodeId !== undefined ? nodeKey(goalId, nodeId) : null;
  const said = { ...spendingOf(scope, worst), node };
  const who = agent === undefined ? "its agents are paused" : `${agent}#${attempt} is paused`;
  const command = commandToRaise(said);
  const or = command === null ? "" : `, or run '${command}'`;
  return `The budget of ${nameBudget(said)} is spent${describeSpent(said)}, and ${who}: ${describeOrigin(said)}. Continue? "raise by ${EXAMPLES[worst.what]}" or "raise to ${EXAMPLES[worst.what]}" is an answer too${or}.`;
}

function pauseFor(scene: Scene, scope: Scope, seen: AgentSeen): TickStep {
  const { agent, attempt, goalId, workNodeId, assignmentId } = seen.attempt;
  return {
    ...{ goalId, nodeId: workNodeId, assignmentId, agent, attempt },
    actionId: `pause:${attempt}:${scope.scope}:${scene.now}`,
    kind: "pause",
    because: BUDGET_SPENT,
    notBefore: scene.now,
    payload: { now: false, reason: "Its budget is spent.", cause: "budget" },
  };
}
