/** What holds for a part of the fleet for a while, as sentences: providers, quota, budgets, mass deaths, caps. */
import { isoTime } from "#domain/core/iso-time.ts";
import type { AutoCondition } from "#domain/model/auto.ts";
import { commandToRaise, describeOrigin, describeSpent, nameBudget } from "#domain/model/budget-words.ts";
import type {
  BudgetCondition,
  Condition,
  DispatchCap,
  MassDeathCondition,
  ProviderCondition,
  QuotaCondition,
} from "#domain/model/condition.ts";
import { describeProviderFailure } from "#domain/model/provider-cause.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { FleetFacts, Standstill } from "./standstill.ts";
import { commandToAnswer, findCommand, standstill, tellAnswer } from "./standstill.ts";

export function explainConditions(facts: FleetFacts): Standstill[] {
  const found = facts.conditions.filter(({ active }) => active).flatMap((one) => explainCondition(one, facts) ?? []);
  return [...found, ...explainDeferral(facts, found)];
}

function explainCondition(condition: Condition, facts: FleetFacts): Standstill | undefined {
  switch (condition.kind) {
    case "quota":
      return explainQuota(condition, facts);
    case "provider":
      return explainProvider(condition, facts);
    case "mass-death":
      return explainMassDeath(condition);
    case "budget":
      return explainBudget(condition, facts);
    case "auto":
      return explainAutoMode(condition);
    default:
      return undefined;
  }
}

function explainQuota({ account, phase, until, since, probe }: QuotaCondition, facts: FleetFacts): Standstill {
  const said =
    phase === "probing"
      ? `QUOTA: ${account} was used up; #${probe ?? "?"} tries whether it works again, then the others follow`
      : `QUOTA: ${account} is used up until ${isoTime(until)}; then one agent tries, and the others follow`;
  return standstill("quota", {
    text: `${said} (who waits: overseer agents)`,
    ...{ command: "overseer agents", about: [account, ...listWorkOf(account, facts)], sinceAt: since },
    turn: "itself",
    nextAt: phase === "probing" ? null : until,
  });
}

/** Some of it only a person can help: a login, an empty account. */
function explainProvider(condition: ProviderCondition, facts: FleetFacts): Standstill {
  const { account, cause, detail, phase, until, since, probe, questionId } = condition;
  const { now } = facts;
  const said = detail === "" ? "" : ` ("${detail}")`;
  const command = questionId === null ? "overseer doctor" : commandToAnswer(questionId);
  const next =
    phase === "probing"
      ? `#${probe ?? "?"} tries whether it works again, then the others follow`
      : until > now
        ? `at ${isoTime(until)} one agent tries, and the others follow`
        : "its agents try now, and whoever is answered first ends it";
  return standstill("provider", {
    text: `PROVIDER: ${describeProviderFailure(account, cause, detail)}${said}; ${next} (${questionId === null ? `what is set up here: ${command}` : command})`,
    ...{ command, about: [account, ...listWorkOf(account, facts)] },
    ...{
      turn: questionId === null ? "itself" : "person",
      sinceAt: since,
      nextAt: phase === "probing" || until <= now ? null : until,
    },
  });
}

/** What the agents of an account work on. */
function listWorkOf(account: string, { agents }: FleetFacts): string[] {
  return agents
    .filter(({ runtime }) => runtime !== undefined && account.startsWith(`${runtime}/`))
    .map(({ goalId, workNodeId }) => nodeKey(goalId, workNodeId));
}

function explainMassDeath(condition: MassDeathCondition): Standstill {
  const { attempts, waiting, released, stage, since, probeAt } = condition;
  const dead = `MASS DEATH: ${attempts.length} agents died at once`;
  const about = [...released, ...waiting];
  const command = about[0] === undefined ? "overseer agents" : `overseer why ${about[0]}`;
  const said =
    stage === 0
      ? `${dead}; one is tried again ${probeAt === undefined ? "in a moment" : `at ${isoTime(probeAt)}`}, and ${Math.max(0, waiting.length - 1)} wait for it`
      : `${dead}; ${released.length} ${released.length === 1 ? "is" : "are"} tried again (stage ${stage}), and ${waiting.length} wait for ${released.length === 1 ? "it" : "them"}`;
  return standstill("mass-death", {
    text: `${said} (what became of one: ${command})`,
    ...{ command, about, sinceAt: since },
    ...{ turn: "itself", nextAt: stage === 0 ? (probeAt ?? null) : null },
  });
}

/** It ended by itself, or a person let it take no more tasks. */
function explainAutoMode({ failure, paused }: AutoCondition): Standstill | undefined {
  if (failure) {
    const { problem, hint, at } = failure;
    return standstill("auto-failed", {
      text: `AUTO MODE ENDED by itself since ${isoTime(at)}: ${problem} ${hint}`,
      ...{ command: findCommand(hint) ?? "overseer up --auto", sinceAt: at },
    });
  }
  if (!paused) return undefined;
  const why = paused.reason ? ` (${paused.reason})` : "";
  return standstill("auto-paused", {
    text: `AUTO MODE PAUSED since ${isoTime(paused.at)}${why}: no more tasks are taken (overseer auto resume)`,
    ...{ command: "overseer auto resume", sinceAt: paused.at },
  });
}

/** Near its limit nothing stands still yet. */
function explainBudget(condition: BudgetCondition, { questions }: FleetFacts): Standstill | undefined {
  const { scope, phase, since, questionId } = condition;
  if (phase === "warned") return undefined;
  const asked = questions.find((one) => one.questionId === questionId);
  const doing = phase === "paused" ? "its agents are paused" : "its agents hand over";
  const raise = commandToRaise(condition);
  const command = asked ? commandToAnswer(asked.questionId) : (raise ?? "overseer config show");
  const help = asked ? tellAnswer(asked) : (raise ?? `raise it there; ${command}`);
  const left = phase === "paused" && questionId !== undefined && !asked ? " Nobody is asked about it now." : "";
  return standstill("budget", {
    text: `BUDGET: the budget of ${nameBudget(condition)} is spent${describeSpent(condition)}, and ${doing}; ${describeOrigin(condition)}.${left} (${help})`,
    ...{ command, about: [condition.node ?? scope], sinceAt: since },
  });
}

/** Why work that is ready is not dispatched, where nothing else here says so already. */
function explainDeferral(facts: FleetFacts, said: readonly Standstill[]): Standstill[] {
  const { conditions, daemon, goals, agents, notStarted } = facts;
  const known = conditions.find((one) => one.kind === "dispatch" && one.active);
  if (known?.kind !== "dispatch" || daemon.state !== "running") return [];
  const { reason, cap, since, until } = known;
  if (said.some(({ kind }) => kind === cap)) return [];
  // Those that cannot start have the places, and that is told with what is wrong with them.
  if ((cap === "agents" || cap === "starts") && agents.length === 0 && notStarted.length > 0) return [];
  const ready = goals.reduce((sum, { status, queued }) => sum + (status === "active" ? queued : 0), 0);
  const held = ready > 0 ? `${ready} ready ${ready === 1 ? "task waits" : "tasks wait"}` : "Ready work waits";
  const help = (cap && HELP[cap]) ?? "";
  const command = cap !== undefined && ON_MACHINE.has(cap) ? "overseer doctor" : "overseer agents";
  const isPersons = cap === "disk" || cap === "settings" || cap === "watching";
  return [
    standstill("dispatch", {
      text: `HELD BACK: ${held} since ${isoTime(since)}: ${reason} (${help === "" ? "" : `${help}; `}${command})`,
      ...{ command, sinceAt: since, nextAt: until ?? daemon.nextTickAt },
      turn: isPersons ? "person" : "itself",
    }),
  ];
}

/** What the machine lacks, `doctor` tells; what others hold, those at work. */
const ON_MACHINE: ReadonlySet<DispatchCap> = new Set(["load", "memory", "disk", "settings"]);

/** What a person could do about a cap; those that are left out pass, or are told of by a sentence of their own. */
const HELP: Readonly<Partial<Record<DispatchCap, string>>> = {
  agents: "it continues when one ends or waits; agents.maxConcurrent is the limit",
  workers: "it continues when one is free; auto.concurrency is the limit",
  starts: "agents.startsPerMinute is the limit",
  load: "it continues when the machine is less busy; capacity.loadFactor is the limit",
  memory: "it continues when there is more; capacity.minMemory is the limit",
  disk: "free some, or lower capacity.minDisk",
  files: "it continues when those have landed",
  watching: "overseer down, then overseer up",
};
