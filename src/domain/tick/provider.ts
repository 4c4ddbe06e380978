/**
 * A provider that fails its account: one condition, whoever of its agents met it. A turn that was given up because of
 * it tells, and so does a CLI that tries again and again without an answer. Then nothing of that account is started,
 * nudged or judged by its silence, and nobody is replaced. After a while, which doubles, one agent tries; when the
 * model answers it the others follow, one after the other. What only a person can mend is asked of one, once.
 */

import { PROVIDER_BACK_TEXT } from "#domain/briefing/nudge-text.ts";
import { backoffMs } from "#domain/core/backoff.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import type { Condition, ProviderCondition } from "#domain/model/condition.ts";
import { providerId } from "#domain/model/condition.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { describeProviderFailure, PROVIDER_CAUSES, type ProviderCause } from "#domain/model/provider-cause.ts";
import type { ProviderFailure } from "#domain/signals/pulse.ts";
import { type Closed, type Closing, dateMeeting, groupByAccount, isAskedFor, tellToContinue } from "./account.ts";
import { NO_STEPS, type Ruled, recordEvent, type TickStep } from "./draft.ts";
import type { Scene } from "./scene.ts";
import type { AgentSeen } from "./snapshot.ts";

export function watchProviders(scene: Scene): Ruled<Closed> {
  const steps: TickStep[] = [...withdrawSettled(scene)];
  const closed = new Map<string, Closing>();
  for (const [account, agents] of groupByAccount(scene, "provider")) {
    const { value, steps: own } = watchAccount(scene, account, agents);
    steps.push(...own);
    if (value !== undefined) closed.set(account, value);
  }
  return { value: closed, steps };
}

/** Whether this agent waits for its provider: its turn was given up, or its CLI tries again and again. */
export function isFailedByProvider({ pulse }: Pick<AgentSeen, "pulse">): boolean {
  if (pulse?.providerFailure) return true;
  const cause = pulse?.inTurn ? pulse.retrying?.cause : null;
  return cause !== null && cause !== undefined && cause !== "quota";
}

/** While its provider fails: whether that is what it waits for. One that was never answered is not told to be slow. */
export function waitsForProvider(seen: Pick<AgentSeen, "attempt" | "pulse">): boolean {
  const { attempt, pulse } = seen;
  return isFailedByProvider(seen) || (attempt.status === "running" && (pulse?.lastActAt ?? null) === null);
}

/** It was handed its instruction, and its model has not answered it yet. */
function awaitsFirstAnswer({ attempt, pulse, waiting }: AgentSeen): boolean {
  if (attempt.status !== "running" || (pulse?.lastActAt ?? null) !== null) return false;
  return waiting.handed > 0 || pulse?.inTurn === true;
}

/** By account, those whose silence is not their own: several wait for a first answer, and nobody was answered since. */
export function findSharedSilence(scene: Scene): ReadonlySet<number> {
  const shared = new Set<number>();
  const waiting = scene.agents.filter(awaitsFirstAnswer);
  for (const { attempt, account } of waiting) {
    const born = attempt.startedAt ?? attempt.createdAt;
    const isAlone = !waiting.some((other) => other.account === account && other.attempt.attempt !== attempt.attempt);
    const isAnswered = scene.agents.some((other) => other.account === account && (other.pulse?.answeredAt ?? 0) > born);
    if (!isAlone && !isAnswered) shared.add(attempt.attempt);
  }
  return shared;
}

type Outcome = Ruled<Closing | undefined>;

function watchAccount(scene: Scene, account: string, agents: readonly AgentSeen[]): Outcome {
  const { now } = scene;
  const known = scene.condition("provider", providerId(account));
  // What is known from before the clock was set back is older than whatever is seen now.
  const since = known && known.updatedAt <= now ? known.updatedAt : Number.NEGATIVE_INFINITY;
  const given = agents.filter(({ attempt, pulse }) => dateMeeting(pulse?.providerFailure?.at, attempt, now) > since);
  const failure = findWorst(given.map(({ pulse }) => pulse?.providerFailure));
  if (!known?.active) {
    const met = failure ?? findWorst(agents.map((seen) => failureOfRetries(scene, seen, agents)));
    return met ? fail(scene, account, met, undefined) : { value: undefined, steps: NO_STEPS };
  }
  if (known.phase === "failing") {
    // More turns that fail are the same failure, unless they show that a person is needed.
    if (failure && isForPerson(failure.cause) && !isForPerson(known.cause)) return fail(scene, account, failure, known);
    const over = hasPassed(known.updatedAt, known.until - known.updatedAt, now);
    if (over || isAskedFor(scene) || isAnswered(scene, known)) return probe(scene, known, agents);
    return noticeAnswer(known, agents) ?? stayClosed(known);
  }
  return watchProbe(scene, known, agents);
}

/** Where nobody gave up nobody has to try: whoever is answered first shows that it works, and the others try by themselves. */
function noticeAnswer(
  { account, cause, updatedAt }: ProviderCondition,
  agents: readonly AgentSeen[],
): Outcome | undefined {
  const first = agents.find(({ pulse }) => (pulse?.answeredAt ?? 0) > updatedAt);
  if (!first || listParked(agents).length > 0) return undefined;
  const { agent, attempt } = first.attempt;
  const restored = recordEvent("provider.restored", { agent, attempt }, "model-answers", {
    account,
    cause,
    attempts: [],
  });
  return { value: undefined, steps: [restored] };
}

/** Of several at once, the one that says most about what has to be done. */
function findWorst(failures: readonly (ProviderFailure | null | undefined)[]): ProviderFailure | undefined {
  const rank = (one: ProviderFailure) => PROVIDER_CAUSES.indexOf(one.cause);
  const all = failures.flatMap((one) => one ?? []);
  return all.toSorted((a, b) => rank(a) - rank(b) || a.at - b.at)[0];
}

/** A refused login is tried again by the CLI as well; after so many times it is no accident. */
const REFUSALS_ENOUGH = 3;

/** One retry may be an accident, unless nothing came for so long before it. */
const HANGS_MS = 5 * 60_000;

/** When a CLI that tries again was last answered, or asked for the first time. */
function dateSilence({ attempt, pulse }: AgentSeen, retryingSince: number): number {
  const { lastActAt = null, turnSince = null } = pulse ?? {};
  // A host that never answers lets nothing be seen of a turn before its first retry.
  if (lastActAt === null && (turnSince ?? 0) >= retryingSince) return attempt.startedAt ?? attempt.createdAt;
  return Math.max(lastActAt ?? 0, turnSince ?? 0, attempt.createdAt);
}

/** When those that try again now will have had the time for it; null where nobody does. */
export function dateEndOfPatience(scene: Scene): number | null {
  const ends = scene.agents.flatMap((seen) => {
    const retrying = seen.pulse?.inTurn ? seen.pulse.retrying : null;
    return retrying ? [dateSilence(seen, retrying.since) + scene.limits.provider.patienceMs] : [];
  });
  const ahead = ends.filter((at) => at > scene.now);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

/**
 * A CLI that only tries again. Where somebody else of the same account was answered meanwhile the provider works, and
 * the silence is that agent's own.
 */
function failureOfRetries(scene: Scene, seen: AgentSeen, agents: readonly AgentSeen[]): ProviderFailure | undefined {
  const { pulse, quietMs } = seen;
  const retrying = pulse?.inTurn ? pulse.retrying : undefined;
  if (!retrying || retrying.cause === null || retrying.cause === "quota") return undefined;
  const { cause, detail } = retrying;
  const since = dateSilence(seen, retrying.since);
  const { patienceMs } = scene.limits.provider;
  const enough = retrying.attempt > 1 ? patienceMs : Math.max(patienceMs, HANGS_MS);
  const silent = hasPassed(since, enough, scene.now) && (quietMs ?? patienceMs) >= patienceMs;
  const refused = isForPerson(cause) && retrying.attempt >= REFUSALS_ENOUGH;
  if (!silent && !refused) return undefined;
  if (agents.some((other) => (other.pulse?.answeredAt ?? 0) > retrying.since)) return undefined;
  return { cause, detail, at: scene.now };
}

/** A login and a credit do not come back by themselves. */
function isForPerson(cause: ProviderCause): boolean {
  return cause === "auth" || cause === "billing" || cause === "model";
}

/** A model may be gone for a moment, while its host is changed: then a person is asked only when it stays away. */
function isPersonDue(cause: ProviderCause, failures: number): boolean {
  return isForPerson(cause) && (cause !== "model" || failures > 1);
}

function fail(scene: Scene, account: string, met: ProviderFailure, known: ProviderCondition | undefined): Outcome {
  const { cause, detail } = met;
  const failures = (known?.failures ?? 0) + 1;
  const until = scene.now + backoffMs(failures, scene.limits.provider.backoff);
  const open = known?.questionId ?? null;
  const asks = open === null && isPersonDue(cause, failures);
  const questionId = asks ? deriveId("q_", providerId(account), scene.now) : open;
  const because = known ? "tried-in-vain" : "turn-given-up";
  const failed = recordEvent("provider.failed", {}, because, { account, cause, detail, until, failures, questionId });
  const steps: TickStep[] =
    questionId !== null && asks ? [failed, askToMend(scene, account, met, questionId)] : [failed];
  return { value: { until, why: describeProviderFailure(account, cause, detail) }, steps };
}

const TO_MEND: Readonly<Record<ProviderCause, string>> = {
  auth: "Log in again, or replace the key, as the user whom agents run as",
  billing: "Add credit, or use another account",
  model: "Name another model in the role or the configuration, or ask for access to it",
  overloaded: "Wait",
  network: "Look at the network and its proxies",
};

function askToMend(scene: Scene, account: string, { cause, detail }: ProviderFailure, questionId: string): TickStep {
  const waiting = scene.agents.filter((seen) => seen.account === account).length;
  const who = `${waiting} ${waiting === 1 ? "agent waits" : "agents wait"}`;
  const said = detail.trim() === "" ? "" : ` ("${detail.trim().slice(0, 200)}")`;
  return {
    actionId: `ask:${questionId}`,
    kind: "ask",
    because: `provider-${cause}`,
    notBefore: scene.now,
    payload: {
      questionId,
      text: `Agents stand still because ${describeProviderFailure(account, cause, detail)}${said}. ${who}. ${TO_MEND[cause]}; then answer, and it is tried at once.`,
      options: ["try again"],
    },
  };
}

/** The person who was asked has spoken: it is tried without waiting for its time. */
function isAnswered({ snapshot }: Scene, { questionId }: ProviderCondition): boolean {
  if (questionId === null) return false;
  const onItsWay = snapshot.actions.some(({ actionId }) => actionId === `ask:${questionId}`);
  return !onItsWay && !snapshot.questions.some((question) => question.questionId === questionId);
}

function stayClosed({ account, cause, detail, until }: ProviderCondition): Outcome {
  return { value: { until, why: describeProviderFailure(account, cause, detail) }, steps: NO_STEPS };
}

/** Those whose last turn was given up; they continue when they are told. */
function listParked(agents: readonly AgentSeen[]): AgentSeen[] {
  return agents.filter(({ attempt, pulse }) => attempt.status === "running" && pulse?.providerFailure && !pulse.inTurn);
}

function probe(scene: Scene, known: ProviderCondition, agents: readonly AgentSeen[]): Outcome {
  const { account, cause } = known;
  const waiting = listParked(agents);
  const next = waiting.find((seen) => seen.attempt.attempt > (known.probe ?? -1)) ?? waiting[0];
  if (!next) {
    // Those whose CLIs try by themselves show it; where nobody does, the next agent that is started will.
    if (agents.some(isFailedByProvider)) return stayClosed(known);
    const restored = recordEvent("provider.restored", {}, "nobody-waits", { account, cause, attempts: [] });
    return { value: undefined, steps: [restored] };
  }
  const { agent, attempt } = next.attempt;
  const answered = isAnswered(scene, known);
  const questionId = answered ? null : known.questionId;
  const because = answered ? "a-person-answered" : isAskedFor(scene) ? "a-person-asked" : "time-has-come";
  const probing = recordEvent("provider.probing", { agent, attempt }, because, {
    ...{ account, questionId },
    turns: next.pulse?.turns ?? 0,
  });
  return { value: stayClosed(known).value, steps: [probing, tellBack(scene, next, scene.now)] };
}

function watchProbe(scene: Scene, known: ProviderCondition, agents: readonly AgentSeen[]): Outcome {
  const { account, cause } = known;
  const { backoff } = scene.limits.provider;
  const trying = agents.find((seen) => seen.attempt.attempt === known.probe);
  if (trying?.pulse && !isFailedByProvider(trying)) {
    const rest = listParked(agents);
    const attempts = rest.map((seen) => seen.attempt.attempt);
    const { agent, attempt } = trying.attempt;
    const { staggerMs } = scene.limits.fleet;
    const steps = [
      recordEvent("provider.restored", { agent, attempt }, "probe-worked", { account, cause, attempts }),
      ...rest.map((seen, index) => tellBack(scene, seen, scene.now + (index + 1) * staggerMs)),
    ];
    return { value: undefined, steps };
  }
  const failure = trying?.pulse?.providerFailure;
  if (failure && (trying.pulse?.turns ?? 0) > known.probeTurns) return fail(scene, account, failure, known);
  if (trying?.attempt.status !== "running") return probe(scene, known, agents);
  if (trying.pulse?.inTurn) {
    // Its CLI tries for longer than a wait lasts; without an answer for the longest wait, it has failed.
    if (!hasPassed(known.updatedAt, backoff.maxMs, scene.now)) return stayClosed(known);
    return fail(scene, account, { cause, detail: known.detail, at: scene.now }, known);
  }
  return hasPassed(known.updatedAt, backoff.baseMs, scene.now) ? probe(scene, known, agents) : stayClosed(known);
}

function tellBack(scene: Scene, seen: AgentSeen, notBefore: number): TickStep {
  const comeback = { condition: "provider", because: "provider-is-back", body: PROVIDER_BACK_TEXT, notBefore };
  return tellToContinue(scene, seen, comeback);
}

/** What a person was asked about a provider that works again needs no answer any more. */
function withdrawSettled({ snapshot }: Scene): NewEvent[] {
  return snapshot.conditions.flatMap((one) => {
    if (!isSettled(one) || !snapshot.questions.some(({ questionId }) => questionId === one.questionId)) return [];
    const data = { questionId: one.questionId, reason: "its provider works again" };
    return [recordEvent("question.withdrawn", {}, "provider-restored", data)];
  });
}

function isSettled(one: Condition): one is ProviderCondition & { readonly questionId: string } {
  return one.kind === "provider" && !one.active && one.questionId !== null;
}

/** Whether a question that waits to be asked is about a provider that works again. */
export function isMootForProvider({ snapshot }: Scene, questionId: string): boolean {
  return snapshot.conditions.some((one) => isSettled(one) && one.questionId === questionId);
}
