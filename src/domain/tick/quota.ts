/**
 * The breaker of an account. Only a turn that was given up because of a limit trips it; then nothing of that account is
 * started, nudged or judged by its silence until the time the limit named, or five minutes doubling to an hour. After
 * that one agent tries; when its turn works the others follow, one after the other.
 */

import { QUOTA_BACK_TEXT } from "#domain/briefing/nudge-text.ts";
import { type Backoff, backoffMs } from "#domain/core/backoff.ts";
import { hasPassed, SKEW_MS } from "#domain/core/elapsed.ts";
import type { Condition, QuotaCondition } from "#domain/model/condition.ts";
import { quotaId } from "#domain/model/condition.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { DAY_MS } from "#domain/model/usage-totals.ts";
import { type Closed, type Closing, dateMeeting, groupByAccount, isAskedFor, tellToContinue } from "./account.ts";
import { NO_STEPS, type Ruled, recordEvent, type TickStep } from "./draft.ts";
import type { Scene } from "./scene.ts";
import type { AgentSeen } from "./snapshot.ts";

export function watchQuotas(scene: Scene): Ruled<Closed> {
  const steps: TickStep[] = [];
  const closed = new Map<string, Closing>();
  for (const [account, agents] of groupByAccount(scene, "quota")) {
    const { value: until, steps: own } = watchAccount(scene, account, agents);
    steps.push(...own);
    if (until !== undefined) closed.set(account, { until, why: `the quota of ${account} is used up` });
  }
  return { value: closed, steps };
}

/** Until when an account is closed, after what is decided here. */
type Until = Ruled<number | undefined>;

function watchAccount(scene: Scene, account: string, agents: readonly AgentSeen[]): Until {
  const { now } = scene;
  const known = scene.condition("quota", quotaId(account));
  // What is known from before the clock was set back is older than whatever is seen now.
  const since = known && known.updatedAt <= now ? known.updatedAt : Number.NEGATIVE_INFINITY;
  const hits = agents.filter(({ attempt, pulse }) => dateMeeting(pulse?.quotaAt, attempt, now) > since);
  const told = hits.reduce((latest, seen) => Math.max(latest, readQuotaUntil(seen, now)), 0);
  if (known?.active && known.phase === "tripped") {
    if (told > known.until) return trip(account, told, known.trips, hits[0]);
    const over = hasPassed(known.updatedAt, known.until - known.updatedAt, now);
    return over || isAskedFor(scene) ? probe(scene, known, agents) : { value: known.until, steps: NO_STEPS };
  }
  if (hits.length > 0) {
    const trips = known?.active ? known.trips + 1 : 1;
    const until = told > now ? told : now + backoffMs(trips, scene.limits.quotaBackoff);
    return trip(account, until, trips, hits[0]);
  }
  return known?.active ? watchProbe(scene, known, agents) : { value: undefined, steps: NO_STEPS };
}

/** No limit lasts longer than a month; what is told beyond that was told by another clock. */
const LONGEST_LIMIT_MS = 32 * DAY_MS;

/** Until when it was told that its account is closed; 0 where that was told before the clock was set back. */
function readQuotaUntil({ pulse }: AgentSeen, now: number): number {
  const { quotaAt = null, quotaUntil = null } = pulse ?? {};
  if (quotaAt === null || quotaUntil === null || quotaAt > now + SKEW_MS) return 0;
  return isBelieved(quotaUntil, now) ? quotaUntil : 0;
}

function isBelieved(resetsAt: number, now: number): boolean {
  return resetsAt > now && resetsAt - now <= LONGEST_LIMIT_MS;
}

function trip(account: string, until: number, trips: number, by: AgentSeen | undefined): Until {
  const about = by ? { agent: by.attempt.agent, attempt: by.attempt.attempt } : {};
  return { value: until, steps: [recordEvent("quota.tripped", about, "turn-given-up", { account, until, trips })] };
}

/** Our own call was given up because of a limit: the same as a turn of an agent. Nothing where that is known. */
export function tripByCall(
  known: Condition | undefined,
  account: string,
  resetsAt: number | null,
  backoff: Backoff,
  now: number,
): NewEvent[] {
  const before = known?.kind === "quota" && known.active ? known : undefined;
  const trips = (before?.trips ?? 0) + 1;
  const until = resetsAt !== null && isBelieved(resetsAt, now) ? resetsAt : now + backoffMs(trips, backoff);
  if (before?.phase === "tripped" && before.until >= until) return [];
  return [{ type: "quota.tripped", actor: "overseer", because: "call-given-up", data: { account, until, trips } }];
}

/** Those whose last turn was given up; they continue when they are told. */
function listParked(agents: readonly AgentSeen[]): AgentSeen[] {
  return agents.filter((seen) => seen.attempt.status === "running" && (seen.pulse?.quotaAt ?? null) !== null);
}

function probe(scene: Scene, known: QuotaCondition, agents: readonly AgentSeen[]): Until {
  const { account } = known;
  const waiting = listParked(agents);
  const next = waiting.find((seen) => seen.attempt.attempt > (known.probe ?? -1)) ?? waiting[0];
  if (!next) {
    // Nobody is left to try with; the next agent that is started will show it.
    const restored = recordEvent("quota.restored", {}, "nobody-waits", { account, attempts: [] });
    return { value: undefined, steps: [restored] };
  }
  const { agent, attempt } = next.attempt;
  const probing = recordEvent(
    "quota.probing",
    { agent, attempt },
    isAskedFor(scene) ? "a-person-asked" : "time-has-come",
    { account },
  );
  return { value: scene.now, steps: [probing, tellBack(scene, next, scene.now)] };
}

function watchProbe(scene: Scene, known: QuotaCondition, agents: readonly AgentSeen[]): Until {
  const { account } = known;
  const trying = agents.find((seen) => seen.attempt.attempt === known.probe);
  if (trying && trying.pulse?.quotaAt === null) {
    const rest = listParked(agents);
    const attempts = rest.map((seen) => seen.attempt.attempt);
    const { agent, attempt } = trying.attempt;
    const { staggerMs } = scene.limits.fleet;
    const steps = [
      recordEvent("quota.restored", { agent, attempt }, "probe-worked", { account, attempts }),
      ...rest.map((seen, index) => tellBack(scene, seen, scene.now + (index + 1) * staggerMs)),
    ];
    return { value: undefined, steps };
  }
  const lost = trying?.attempt.status !== "running";
  if (lost || hasPassed(known.updatedAt, scene.limits.quotaBackoff.baseMs, scene.now))
    return probe(scene, known, agents);
  return { value: known.until, steps: NO_STEPS };
}

function tellBack(scene: Scene, seen: AgentSeen, notBefore: number): TickStep {
  const comeback = { condition: "quota", because: "quota-is-back", body: QUOTA_BACK_TEXT, notBefore };
  return tellToContinue(scene, seen, comeback);
}
