/** What holds for a part of the fleet for a while, as sentences: providers, quota, budgets, mass deaths, caps. */
import { isoTime } from "#domain/core/iso-time.ts";
import type {
  BudgetCondition,
  Condition,
  DispatchCap,
  MassDeathCondition,
  ProviderCondition,
  QuotaCondition,
} from "#domain/model/condition.ts";
import { describeProviderFailure } from "#domain/model/provider-cause.ts";
import type { FleetFacts, Standstill } from "./standstill.ts";
import { standstill } from "./standstill.ts";

export function explainConditions(facts: FleetFacts): Standstill[] {
  const found = facts.conditions.filter(({ active }) => active).flatMap((one) => explainCondition(one) ?? []);
  return [...found, ...explainDeferral(facts, found)];
}

function explainCondition(condition: Condition): Standstill | undefined {
  switch (condition.kind) {
    case "quota":
      return explainQuota(condition);
    case "provider":
      return explainProvider(condition);
    case "mass-death":
      return explainMassDeath(condition);
    case "budget":
      return explainBudget(condition);
    default:
      return undefined;
  }
}

function explainQuota({ account, phase, until, since, probe }: QuotaCondition): Standstill {
  const text =
    phase === "probing"
      ? `QUOTA: ${account} was used up; #${probe ?? "?"} tries whether it works again, then the others follow`
      : `QUOTA: ${account} is used up until ${isoTime(until)}; then one agent tries, and the others follow`;
  return standstill("quota", {
    ...{ text, command: null, about: [account], sinceAt: since },
    turn: "itself",
    nextAt: phase === "probing" ? null : until,
  });
}

/** Some of it only a person can help: a login, an empty account. */
function explainProvider(condition: ProviderCondition): Standstill {
  const { account, cause, detail, phase, until, since, probe, questionId } = condition;
  const said = detail === "" ? "" : ` ("${detail}")`;
  const next =
    phase === "probing"
      ? `#${probe ?? "?"} tries whether it works again, then the others follow`
      : `at ${isoTime(until)} one agent tries, and the others follow`;
  return standstill("provider", {
    text: `PROVIDER: ${describeProviderFailure(account, cause)}${said}; ${next}`,
    ...{ command: questionId === null ? null : `overseer answer ${questionId} <choice or text>`, about: [account] },
    ...{ turn: questionId === null ? "itself" : "person", sinceAt: since, nextAt: phase === "probing" ? null : until },
  });
}

function explainMassDeath({ attempts, waiting, released, stage, since }: MassDeathCondition): Standstill {
  const dead = `MASS DEATH: ${attempts.length} agents died at once`;
  const text =
    stage === 0
      ? `${dead}; one is tried again in a moment, and ${waiting.length} wait for it`
      : `${dead}; ${released.length} ${released.length === 1 ? "is" : "are"} tried again (stage ${stage}), and ${waiting.length} wait for ${released.length === 1 ? "it" : "them"}`;
  return standstill("mass-death", {
    ...{ text, command: null, about: [...released, ...waiting], sinceAt: since },
    turn: "itself",
  });
}

/** Near its limit nothing stands still yet. */
function explainBudget({ scope, phase, since }: BudgetCondition): Standstill | undefined {
  if (phase === "warned") return undefined;
  const doing = phase === "paused" ? "its agents are paused" : "its agents hand over";
  return standstill("budget", {
    text: `BUDGET: the budget of ${scope} is spent, and ${doing} (raise budgets.* in .overseer/config.yaml)`,
    ...{ command: null, about: [scope], sinceAt: since },
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
  return [
    standstill("dispatch", {
      text: `HELD BACK: ${held} since ${isoTime(since)}: ${reason}${help === "" ? "" : ` (${help})`}`,
      ...{ command: null, sinceAt: since, nextAt: until ?? daemon.nextTickAt },
      turn: cap === "disk" || cap === "settings" ? "person" : "itself",
    }),
  ];
}

/** What a person could do about a cap; those that are left out pass, or are told of by a sentence of their own. */
const HELP: Readonly<Partial<Record<DispatchCap, string>>> = {
  agents: "it continues when one ends or waits; agents.maxConcurrent is the limit",
  starts: "agents.startsPerMinute is the limit",
  load: "it continues when the machine is less busy; capacity.loadFactor is the limit",
  memory: "it continues when there is more; capacity.minMemory is the limit",
  disk: "free some, or lower capacity.minDisk",
  files: "it continues when those have landed",
};
