/**
 * Conditions: what holds for a part of the fleet for a while and limits what may be done there. An account without
 * quota, or whose provider fails, a mass death, a spent budget, a cap that defers dispatch; and some that only remember: when time was skipped,
 * how far the tick has read, what calls of models have cost, what was taken from the pool and who works on it. One small row each, folded from the events of the rules that own them.
 */
import { AUTO, type AutoCondition, applyToAuto, applyToWorkers, WORKERS, type WorkersCondition } from "./auto.ts";
import type { EventOf } from "./event.ts";
import { applyToLead, LEAD, type LeadCondition } from "./lead.ts";
import type { Allowance, BudgetOrigin, Spendable } from "./limits.ts";
import { applyToModels } from "./model-spending.ts";
import { applyToNews, type NewsCondition, newsId } from "./news.ts";
import type { ProviderCause } from "./provider-cause.ts";
import type { Spent } from "./usage-totals.ts";
import { nodeKey } from "./work.ts";

interface Common {
  readonly conditionId: string;
  readonly active: boolean;
  readonly since: number;
  readonly updatedAt: number;
}

export interface QuotaCondition extends Common {
  readonly kind: "quota";
  readonly account: string;
  readonly phase: "tripped" | "probing" | "restored";
  readonly until: number;
  readonly trips: number;
  /** The attempt that tries whether it works again. */
  readonly probe: number | null;
}

export interface ProviderCondition extends Common {
  readonly kind: "provider";
  readonly account: string;
  readonly cause: ProviderCause;
  /** What the provider, or the CLI in its name, said of it. */
  readonly detail: string;
  readonly phase: "failing" | "probing" | "restored";
  /** When it is tried again. */
  readonly until: number;
  /** How often it was found failing without a success in between. */
  readonly failures: number;
  /** The attempt that tries whether it works again. */
  readonly probe: number | null;
  /** How many turns that one had when it was told to: what it meets afterwards is of the next. */
  readonly probeTurns: number;
  /** What a person was asked about it; null where nobody was, or they have answered. */
  readonly questionId: string | null;
}

export interface MassDeathCondition extends Common {
  readonly kind: "mass-death";
  readonly attempts: readonly number[];
  /** Those of losses before: their nodes may still be without an agent, and their deaths have counted. */
  readonly earlier: readonly number[];
  /** How often one that was let start died again. */
  readonly failedProbes: number;
  /** What is still to be dispatched again, in order. */
  readonly waiting: readonly string[];
  /** What the present stage lets start. */
  readonly released: readonly string[];
  readonly stage: number;
  readonly stageAt: number;
  /** When the first is tried; where no older version said so. */
  readonly probeAt?: number;
}

export interface BudgetCondition extends Common {
  readonly kind: "budget";
  readonly scope: string;
  readonly phase: "warned" | "handing-over" | "paused";
  /** The node whose agent it limits; null where it limits more than one. This and the next where no older version said so. */
  readonly node?: string | null;
  readonly what?: Spendable;
  /** As it was when the limit was reached, or nearly; and when that was. */
  readonly spent?: number;
  readonly spentAt?: number;
  readonly limit?: number;
  readonly by?: BudgetOrigin;
  readonly role?: string;
  /** What a person is asked about it. */
  readonly questionId?: string;
  /** How many turns each agent had when the limit was reached. */
  readonly turns: Readonly<Record<string, number>>;
}

/** What a person has granted beyond what is configured, and what they have set as the limit instead of it. */
export interface AllowanceCondition extends Common {
  readonly kind: "allowance";
  readonly scope: string;
  readonly raised: Partial<Allowance>;
  readonly limit?: Partial<Allowance>;
}

/** What can hold back dispatch. */
export type DispatchCap =
  | "agents"
  | "workers"
  | "starts"
  | "load"
  | "memory"
  | "disk"
  | "quota"
  | "provider"
  | "files"
  | "budget"
  | "mass-death"
  | "settings"
  | "watching";

/** No agent can be started, whoever's task it is. */
export interface StartCondition extends Common {
  readonly kind: "start";
  readonly cause: string;
  readonly problem: string;
  readonly nodes: readonly string[];
  /** What a person is asked about it; null when it was answered. */
  readonly questionId: string | null;
}

/** The disk is nearly full; a person was asked about it. */
export interface DiskCondition extends Common {
  readonly kind: "disk";
  readonly freeBytes: number;
  readonly neededBytes: number;
  /** What the person was asked; it may have been answered since. */
  readonly questionId: string;
}

export interface DeferCondition extends Common {
  readonly kind: "dispatch";
  readonly reason: string;
  /** How many nodes were held back when it was said; this and the next where no older version said so. */
  readonly waiting?: number;
  /** Which limit it is. */
  readonly cap?: DispatchCap;
  /** When it is looked at again at the latest, where that is known. */
  readonly until?: number;
}

/** Agents are judged by thresholds alone; the tick or the watch cannot do more. */
export interface WatchCondition extends Common {
  readonly kind: "watch";
  readonly problem: string;
  readonly because: string;
}

export interface ClockCondition extends Common {
  readonly kind: "clock";
}

export interface TickCondition extends Common {
  readonly kind: "tick";
  readonly cursor: number;
  readonly reason: string;
  /** What became of it: `reconciled`, or what held it back. */
  readonly because: string;
  readonly didWork: boolean;
}

/** What calls of models have cost; a memory, not a limit. */
export interface ModelsCondition extends Common {
  readonly kind: "models";
  /** The day that `spent` is about. */
  readonly day: string;
  readonly spent: Spent;
  /** By goal id, everything ever spent on it. */
  readonly goals: Readonly<Record<string, Spent>>;
  /** By what was asked for, everything ever. */
  readonly purposes: Readonly<Record<string, Spent & { readonly asked: number; readonly answered: number }>>;
  /** When the last calls began. */
  readonly lately: readonly number[];
  /** When a model was last asked about stalls; missing where none was. */
  readonly diagnoses?: readonly number[];
}

export type Condition =
  | QuotaCondition
  | ProviderCondition
  | MassDeathCondition
  | BudgetCondition
  | AllowanceCondition
  | DeferCondition
  | StartCondition
  | DiskCondition
  | WatchCondition
  | ClockCondition
  | TickCondition
  | ModelsCondition
  | NewsCondition
  | LeadCondition
  | AutoCondition
  | WorkersCondition;

export const MASS_DEATH = "mass-death";
/** So many deaths are remembered; older ones have long been followed by another attempt. */
const EARLIER_KEPT = 1_000;
export const DISPATCH = "dispatch";
export const DISK = "disk";
export const WATCH = "watch";
export const CLOCK = "clock";
export const TICK = "tick";
export const MODELS = "models";
export const quotaId = (account: string) => `quota:${account}`;
export const providerId = (account: string) => `provider:${account}`;
export const allowanceId = (scope: string) => `allowance:${scope}`;
export const startId = (cause: string) => `start:${cause}`;
export const budgetId = (scope: string) => `budget:${scope}`;

/** Whether it died together with others, now or before: then its death has counted, and cost nobody anything. */
export function isPartOfMassDeath(known: MassDeathCondition | undefined, attempt: number): boolean {
  return known !== undefined && (known.attempts.includes(attempt) || known.earlier.includes(attempt));
}

/** The condition an event is about; undefined when it is about none. */
export function conditionOf(event: Pick<EventOf, "type" | "data">): string | undefined {
  const about = event as EventOf;
  switch (about.type) {
    case "quota.tripped":
    case "quota.probing":
    case "quota.restored":
      return quotaId(about.data.account);
    case "provider.failed":
    case "provider.probing":
    case "provider.restored":
      return providerId(about.data.account);
    case "fleet.mass_death":
    case "fleet.restoring":
    case "fleet.restored":
      return MASS_DEATH;
    case "budget.warned":
    case "budget.exceeded":
    case "budget.paused":
    case "budget.cleared":
      return budgetId(about.data.scope);
    case "budget.raised":
    case "budget.limited":
      return allowanceId(about.data.scope);
    case "dispatch.deferred":
    case "dispatch.resumed":
      return DISPATCH;
    case "dispatch.failing":
    case "dispatch.works":
      return startId(about.data.cause);
    case "disk.short":
    case "disk.enough":
      return DISK;
    case "watch.degraded":
    case "watch.restored":
      return WATCH;
    case "time.skipped":
      return CLOCK;
    case "overseer.tick":
      return TICK;
    case "news.told":
      return newsId(about.data.channel);
    case "lead.on":
    case "lead.off":
    case "lead.taken":
    case "lead.released":
    case "lead.read":
      return LEAD;
    case "model.asked":
      return MODELS;
    case "auto.started":
    case "auto.paused":
    case "auto.resumed":
    case "auto.failed":
    case "pool.taken":
    case "pool.repeated":
    case "pool.refused":
    case "pool.empty":
    case "pool.forgotten":
    case "pool.ended":
      return AUTO;
    case "worker.added":
    case "worker.removed":
      return WORKERS;
    default:
      return undefined;
  }
}

/** How an event changes a condition. Total. */
export function applyToCondition(known: Condition | undefined, event: EventOf): Condition | undefined {
  const conditionId = conditionOf(event);
  if (conditionId === undefined) return known;
  const at = event.at;
  const since = known?.active ? known.since : at;
  const common = { conditionId, active: true, since, updatedAt: at };
  switch (event.type) {
    case "quota.tripped":
      return { ...common, kind: "quota", phase: "tripped", probe: null, ...event.data };
    case "quota.probing":
      return known?.kind === "quota" ? { ...known, ...common, phase: "probing", probe: event.attempt ?? null } : known;
    case "quota.restored":
      return known?.kind === "quota"
        ? { ...known, active: false, phase: "restored", probe: null, trips: 0, updatedAt: at }
        : known;
    case "provider.failed":
      return { ...common, kind: "provider", phase: "failing", probe: null, probeTurns: 0, ...event.data };
    case "provider.probing": {
      const { questionId, turns } = event.data;
      return known?.kind === "provider"
        ? { ...known, ...common, phase: "probing", probe: event.attempt ?? null, probeTurns: turns, questionId }
        : known;
    }
    case "provider.restored":
      return known?.kind === "provider"
        ? { ...known, active: false, phase: "restored", probe: null, failures: 0, updatedAt: at }
        : known;
    case "fleet.mass_death": {
      const before = known?.kind === "mass-death" && known.active ? known : undefined;
      const waiting = [...new Set([...(before?.waiting ?? []), ...(before?.released ?? []), ...event.data.nodes])];
      const attempts = [...new Set([...(before?.attempts ?? []), ...event.data.attempts])];
      const past = known?.kind === "mass-death" ? known : undefined;
      const earlier = before
        ? before.earlier
        : [...(past?.earlier ?? []), ...(past?.attempts ?? [])].slice(-EARLIER_KEPT);
      const { probeAt } = event.data;
      // Before anybody was tried it only grows; an older version's log folds as it did then.
      const grows = before?.stage === 0 && probeAt !== undefined;
      const failedProbes = before ? before.failedProbes + (grows ? 0 : 1) : 0;
      const stageAt = grows ? before.stageAt : at;
      return {
        ...{ ...common, kind: "mass-death", attempts, earlier, failedProbes, waiting, released: [], stage: 0, stageAt },
        ...(probeAt === undefined ? {} : { probeAt }),
      };
    }
    case "fleet.restoring":
      return known?.kind === "mass-death"
        ? {
            ...known,
            waiting: known.waiting.filter((node) => !event.data.nodes.includes(node)),
            released: event.data.nodes,
            stage: event.data.stage,
            stageAt: at,
            updatedAt: at,
          }
        : known;
    case "fleet.restored":
      return known?.kind === "mass-death" ? { ...known, active: false, released: [], updatedAt: at } : known;
    case "budget.warned":
      return { ...common, kind: "budget", ...readSpending(event), phase: "warned", turns: {} };
    case "budget.exceeded":
      return { ...common, kind: "budget", ...readSpending(event), phase: "handing-over", turns: event.data.turns };
    case "budget.paused": {
      if (known?.kind !== "budget") return known;
      const { questionId } = event.data;
      return { ...known, phase: "paused", updatedAt: at, ...(questionId === undefined ? {} : { questionId }) };
    }
    case "budget.raised": {
      const { raised: before = {}, ...kept } = known?.kind === "allowance" ? known : {};
      const { scope, raised } = event.data;
      return { ...kept, ...common, kind: "allowance", scope, raised: { ...before, ...raised } };
    }
    case "budget.limited": {
      const { scope, limit } = event.data;
      const before = known?.kind === "allowance" ? known : { raised: {}, limit: {} };
      // What was raised before this word counts no more.
      const raised = Object.fromEntries(Object.entries(before.raised).filter(([key]) => !(key in limit)));
      return { ...common, kind: "allowance", scope, raised, limit: { ...before.limit, ...limit } };
    }
    case "dispatch.deferred":
      return { ...common, kind: "dispatch", ...(event.data.cap ? event.data : { reason: event.data.reason }) };
    case "dispatch.failing":
      return { ...common, kind: "start", ...event.data };
    case "disk.short":
      return { ...common, kind: "disk", ...event.data };
    case "watch.degraded":
      return { ...common, kind: "watch", problem: event.data.problem, because: event.because };
    case "time.skipped":
      return { ...common, kind: "clock", since: at };
    case "overseer.tick":
      return {
        ...{ ...common, kind: "tick", because: event.because },
        ...{ cursor: event.data.cursor, reason: event.data.reason, didWork: event.data.didWork },
      };
    case "model.asked":
      return applyToModels(known, event);
    case "news.told":
      return applyToNews(known, event);
    case "lead.on":
    case "lead.off":
    case "lead.taken":
    case "lead.released":
    case "lead.read":
      return applyToLead(known, event);
    case "auto.started":
    case "auto.paused":
    case "auto.resumed":
    case "auto.failed":
    case "pool.taken":
    case "pool.repeated":
    case "pool.refused":
    case "pool.empty":
    case "pool.forgotten":
    case "pool.ended":
      return applyToAuto(known?.kind === "auto" ? known : undefined, event);
    case "worker.added":
    case "worker.removed":
      return applyToWorkers(known?.kind === "workers" ? known : undefined, event);
    default:
      return known && { ...known, active: false, updatedAt: at };
  }
}

/** An older version did not say whose limit it is; its log folds as it did then. */
function readSpending(event: EventOf<"budget.warned" | "budget.exceeded">) {
  const { scope, what, spent, limit, by, role } = event.data;
  if (by === undefined) return { scope };
  const { goalId, nodeId } = event;
  const node = goalId === undefined || nodeId === undefined ? null : nodeKey(goalId, nodeId);
  return { scope, what, spent, spentAt: event.at, limit, by, node, ...(role === undefined ? {} : { role }) };
}
