/**
 * The breaker of an account. Only a turn that was given up because of a limit trips it; then nothing of that account is
 * started, nudged or judged by its silence until the time the limit named, or five minutes doubling to an hour. After
 * that one agent tries; when its turn works the others follow, one after the other.
 */

import { QUOTA_BACK_TEXT } from "#domain/briefing/nudge-text.ts";
import { type Backoff, backoffMs } from "#domain/core/backoff.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed, SKEW_MS } from "#domain/core/elapsed.ts";
import type { Condition, QuotaCondition } from "#domain/model/condition.ts";
import { quotaId } from "#domain/model/condition.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { DAY_MS } from "#domain/model/usage-totals.ts";
import type { Draft } from "./draft.ts";
import type { Scene } from "./scene.ts";
import type { AgentSeen } from "./snapshot.ts";

/** Until when each account has no quota; accounts that have are not in it. */
export type Closed = ReadonlyMap<string, number>;

export function watchQuotas(scene: Scene, draft: Draft): Closed {
  const closed = new Map<string, number>();
  const byAccount = new Map<string, AgentSeen[]>();
  for (const seen of scene.agents) {
    const list = byAccount.get(seen.account);
    if (list) list.push(seen);
    else byAccount.set(seen.account, [seen]);
  }
  for (const condition of scene.snapshot.conditions) {
    if (condition.kind === "quota" && condition.active && !byAccount.has(condition.account)) {
      byAccount.set(condition.account, []);
    }
  }
  for (const account of [...byAccount.keys()].sort()) {
    const until = watchAccount(scene, draft, account, byAccount.get(account) ?? []);
    if (until !== undefined) closed.set(account, until);
  }
  return closed;
}

/** Until when it is closed, after what is decided here. */
function watchAccount(scene: Scene, draft: Draft, account: string, agents: readonly AgentSeen[]): number | undefined {
  const { now } = scene;
  const known = scene.condition("quota", quotaId(account));
  // What is known from before the clock was set back is older than whatever is seen now.
  const since = known && known.updatedAt <= now ? known.updatedAt : Number.NEGATIVE_INFINITY;
  const hits = agents.filter((seen) => hitAt(seen, now) > since);
  const told = hits.reduce((latest, seen) => Math.max(latest, readQuotaUntil(seen, now)), 0);
  if (known?.active && known.phase === "tripped") {
    if (told > known.until) return trip(draft, account, told, known.trips, hits[0]);
    const over = hasPassed(known.updatedAt, known.until - known.updatedAt, now);
    return over ? probe(scene, draft, known, agents) : known.until;
  }
  if (hits.length > 0) {
    const trips = known?.active ? known.trips + 1 : 1;
    const until = told > now ? told : now + backoffMs(trips, scene.limits.quotaBackoff);
    return trip(draft, account, until, trips, hits[0]);
  }
  return known?.active ? watchProbe(scene, draft, known, agents) : undefined;
}

/** When it last hit a limit. Never before it was there: then the clock was set back for a while, and forward again. */
function hitAt({ attempt, pulse }: AgentSeen, now: number): number {
  const quotaAt = pulse?.quotaAt ?? null;
  if (quotaAt === null) return Number.NEGATIVE_INFINITY;
  return Math.min(now, attempt.createdAt <= now ? Math.max(quotaAt, attempt.createdAt) : quotaAt);
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

function trip(draft: Draft, account: string, until: number, trips: number, by: AgentSeen | undefined): number {
  const about = by ? { agent: by.attempt.agent, attempt: by.attempt.attempt } : {};
  draft.event("quota.tripped", about, "turn-given-up", { account, until, trips });
  return until;
}

/** Runtime and profile; there is one profile for now. */
export function accountOf(runtime: string): string {
  return `${runtime}/default`;
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

function probe(scene: Scene, draft: Draft, known: QuotaCondition, agents: readonly AgentSeen[]): number | undefined {
  const waiting = listParked(agents);
  const next = waiting.find((seen) => seen.attempt.attempt > (known.probe ?? -1)) ?? waiting[0];
  if (!next) {
    // Nobody is left to try with; the next agent that is started will show it.
    draft.event("quota.restored", {}, "nobody-waits", { account: known.account, attempts: [] });
    return undefined;
  }
  const { agent, attempt } = next.attempt;
  draft.event("quota.probing", { agent, attempt }, "time-has-come", { account: known.account });
  goOn(scene, draft, next, known, scene.now);
  return scene.now;
}

function watchProbe(
  scene: Scene,
  draft: Draft,
  known: QuotaCondition,
  agents: readonly AgentSeen[],
): number | undefined {
  const trying = agents.find((seen) => seen.attempt.attempt === known.probe);
  if (trying && trying.pulse?.quotaAt === null) {
    const rest = listParked(agents);
    const attempts = rest.map((seen) => seen.attempt.attempt);
    const { agent, attempt } = trying.attempt;
    draft.event("quota.restored", { agent, attempt }, "probe-worked", { account: known.account, attempts });
    const { staggerMs } = scene.limits.fleet;
    rest.forEach((seen, index) => {
      goOn(scene, draft, seen, known, scene.now + (index + 1) * staggerMs);
    });
    return undefined;
  }
  const lost = trying?.attempt.status !== "running";
  if (lost || hasPassed(known.updatedAt, scene.limits.quotaBackoff.baseMs, scene.now))
    return probe(scene, draft, known, agents);
  return known.until;
}

function goOn(scene: Scene, draft: Draft, seen: AgentSeen, known: QuotaCondition, notBefore: number): void {
  const { agent, attempt, goalId, workNodeId, assignmentId } = seen.attempt;
  const messageId = deriveId("m_", "quota", known.account, attempt, scene.now);
  draft.request({
    ...{ goalId, nodeId: workNodeId, assignmentId, agent, attempt },
    actionId: `deliver:${messageId}`,
    kind: "deliver",
    because: "quota-is-back",
    notBefore,
    payload: { messageId, dispatchId: null, body: QUOTA_BACK_TEXT, kind: "instruction", severity: null },
  });
}
