/**
 * How an agent is doing, judged from evidence. Each piece has a source, a time and a reliability; the pulse says what
 * the agent itself was seen to do. Nothing is dead on one weak sign: it takes proof (the kernel or the parent says so),
 * or two independent signs that stay the same for a while. Stale signs may explain, never decide. Text on a screen is
 * no sign of life, and what Overseer writes is no sign of anything.
 */

import { hasPassed, isDue } from "#domain/core/elapsed.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { isSupervised } from "#domain/model/supervision.ts";
import type { Pulse, ToolCall } from "#domain/signals/pulse.ts";
import { RECENT_CALLS } from "#domain/signals/pulse.ts";
import { CANCELLED } from "#domain/signals/signal.ts";
import type { AgentSeen, EvidenceSource, LivenessEvidence } from "./snapshot.ts";

export type Judgement =
  | { readonly state: "starting" | "working" | "tool-running" | "idle"; readonly because: string }
  | { readonly state: "waiting-human"; readonly because: string }
  | { readonly state: "waiting-quota"; readonly until: number; readonly because: string }
  | { readonly state: "waiting"; readonly on: string; readonly because: string }
  | { readonly state: "silent" | "looping" | "dead"; readonly because: string }
  /** Signs that do not suffice; judged again while they stay the same, and not for ever. */
  | { readonly state: "detecting"; readonly key: string; readonly signs: readonly string[]; readonly because: string };

/** A tool call runs, and nothing of it moves. */
export const TOOL_HANGS = "tool-hangs";

/** The same call with the same outcome again and again. */
export const LOOPING = "looping";

/** What is kept of it is spoiled. */
export const PULSE_UNUSABLE = "pulse-unusable";

/** It asked a person in plain words, and nobody has put that before one. */
export const ASKED_IN_WORDS = "asked-in-words";

export interface LivenessLimits {
  readonly idleAfterMs: number;
  readonly startingLimitMs: number;
  readonly toolLimitMs: number;
  readonly minimumAgeMs: number;
  readonly zombieAfterMs: number;
  readonly loopRepeats: number;
  /** How long signs must stay the same before they are believed, or set aside. */
  readonly graceMs: number;
}

/** What the judge is told beside the evidence. */
export interface LivenessCase {
  readonly seen: AgentSeen;
  readonly assignment: Assignment | undefined;
  /** A question about its node is open. */
  readonly asking: boolean;
  /** Until when its account has no quota; null when it has. */
  readonly quotaUntil: number | null;
  /** Its provider fails its account, and it has met that itself. */
  readonly providerFails: boolean;
  /** Others of its account wait for a first answer as it does, and nobody of it was answered. */
  readonly sharesSilence: boolean;
  /** It reported done, and that is being looked into. */
  readonly claimed: boolean;
  /** Something is on its way to it: words, a pause, an end. */
  readonly expecting: boolean;
  /** When a person last answered a question about its node. */
  readonly answeredAt: number | null;
  readonly doubt: Recovery["doubt"];
  /** Nothing before this moment counts as silence. */
  readonly rebasedAt: number;
}

export function judgeLiveness(about: LivenessCase, now: number, limits: LivenessLimits): Judgement {
  const { seen } = about;
  const signs = signsOfDeath(seen);
  const proof = signs.find((sign) => sign.reliability === "proof");
  if (proof) return { state: "dead", because: `proven-by-${proof.source}` };
  const { status } = seen.attempt;
  if (status === "preparing" || status === "starting") return { state: "starting", because: "not-up-yet" };
  // Without its pulse nothing but proof says anything of it; its next signal begins the pulse again.
  if (seen.isPulseUnusable) {
    return judgeWaiting(about, now, limits) ?? { state: "waiting", on: "its next signal", because: PULSE_UNUSABLE };
  }
  const found = judgeDoubt(about, signs, now, limits) ?? judgeWaiting(about, now, limits);
  return found ?? excuse(about, judgeActivity(about, now, limits), now, limits);
}

/**
 * Whatever one does or leaves undone that is not supervised is its own affair; only its death is not (HEALTH-4). One that was
 * only just started is judged when it had time to show something: who comes and goes quickly is never told anything (EDGE-7).
 */
function excuse(about: LivenessCase, judgement: Judgement, now: number, limits: LivenessLimits): Judgement {
  const { attempt, pulse } = about.seen;
  if (judgement.state !== "silent" && judgement.state !== "looping" && judgement.state !== "waiting-human") {
    return judgement;
  }
  const [state, because] = pulse?.inTurn
    ? (["working", "turn-in-flight"] as const)
    : (["idle", "between-turns"] as const);
  if (!isSupervised(attempt)) return { state, because: "not-supervised" };
  return isYounger(about, limits.minimumAgeMs, now) ? { state, because } : judgement;
}

/** Something speaks for its death, whether or not it suffices. */
export function hasSigns(seen: AgentSeen): boolean {
  return signsOfDeath(seen).length > 0;
}

/** The latest word of each source, as far as it speaks of death after the agent's own last act. */
function signsOfDeath(seen: AgentSeen): readonly LivenessEvidence[] {
  if (lastOf(seen, "gone") === null) return [];
  const latest = new Map<EvidenceSource, LivenessEvidence>();
  for (const item of seen.evidence) {
    const known = latest.get(item.source);
    if (!known || item.at > known.at || (item.at === known.at && item.says < known.says)) latest.set(item.source, item);
  }
  const all = [...latest.values()];
  const lastAct = lastActOf(seen.pulse) ?? 0;
  const provenAlive = all.some((item) => item.says === "alive" && item.reliability === "proof");
  // A process that is gone did nothing since, whatever a clock that was set back says of its last act.
  return all
    .filter((item) => item.says === "gone" && (item.reliability === "proof" || (item.at >= lastAct && !provenAlive)))
    .sort((a, b) => (a.source < b.source ? -1 : 1));
}

function judgeDoubt(
  about: LivenessCase,
  signs: readonly LivenessEvidence[],
  now: number,
  limits: LivenessLimits,
): Judgement | undefined {
  if (signs.length === 0) return undefined;
  const quiet = quietMs(about, now);
  if (isYounger(about, limits.minimumAgeMs, now)) return undefined;
  const enough = signs.length >= 2 || quiet >= limits.zombieAfterMs;
  const key = `${signs.map((sign) => sign.source).join("+")}${enough ? "!" : ""}`;
  const settled = about.doubt?.key === key && hasPassed(about.doubt.since, limits.graceMs, now);
  if (settled && enough) {
    return { state: "dead", because: signs.length >= 2 ? "two-signs-of-death" : "silent-and-a-sign-of-death" };
  }
  // One sign that has stayed alone is set aside: bounded, not for ever in doubt.
  if (settled) return undefined;
  return { state: "detecting", key, signs: signs.map((sign) => sign.source), because: "signs-of-death" };
}

/** What it waits for and may wait for, however long. */
function judgeWaiting(about: LivenessCase, now: number, limits: LivenessLimits): Judgement | undefined {
  const { seen, assignment, asking, quotaUntil, providerFails, claimed, expecting } = about;
  if (seen.attempt.status === "paused") {
    return { state: "waiting", on: "resume", because: seen.attempt.pausedBecause ?? "paused" };
  }
  if (asking) return { state: "waiting-human", because: "question-open" };
  if (assignment?.blockedReason && isStillBlocked(about, assignment)) {
    const { on } = assignment.blockedReason;
    return on === "human"
      ? { state: "waiting-human", because: "said-so" }
      : { state: "waiting", on: "something outside", because: "said-so" };
  }
  if (hasDialog(seen)) return { state: "waiting-human", because: "dialog-open" };
  if (quotaUntil !== null) return { state: "waiting-quota", until: quotaUntil, because: "quota-used-up" };
  if (providerFails) return { state: "waiting", on: "its provider", because: "provider-fails" };
  if (seen.pulse?.inTurn) return judgeRetry(seen.pulse, now, limits);
  if (claimed) return { state: "idle", because: "waits-for-check-or-landing" };
  if (expecting) return { state: "waiting", on: "delivery", because: "words-on-the-way" };
  return undefined;
}

/**
 * Its CLI waits by itself until a limit lets it continue, and says when that is; or it is about to try again. Whether it
 * was answered then shows soon after.
 */
function judgeRetry({ retrying }: Pulse, now: number, { startingLimitMs }: LivenessLimits): Judgement | undefined {
  if (!retrying || retrying.cause === null) return undefined;
  if (retrying.cause === "quota") return { state: "waiting-quota", until: retrying.nextAt, because: "rate-limited" };
  if (isDue(retrying.nextAt + startingLimitMs, retrying.since, now)) return undefined;
  return { state: "waiting", on: "its provider", because: "tries-again" };
}

/** It was blocked, and since then nobody has answered and it has done nothing. */
function isStillBlocked({ seen, answeredAt }: LivenessCase, assignment: Assignment): boolean {
  if (assignment.status !== "blocked") return false;
  return Math.max(answeredAt ?? 0, lastActOf(seen.pulse) ?? 0) <= assignment.updatedAt;
}

function judgeActivity(about: LivenessCase, now: number, limits: LivenessLimits): Judgement {
  const { seen, assignment } = about;
  const { pulse } = seen;
  const quiet = quietMs(about, now);
  const idleAfterMs = assignment ? limits.idleAfterMs : Number.POSITIVE_INFINITY;
  if (lastActOf(pulse) === null) {
    if (about.sharesSilence && quiet < idleAfterMs) return { state: "starting", because: "no-answer-yet" };
    return quiet < Math.max(limits.startingLimitMs, limits.minimumAgeMs)
      ? { state: "starting", because: "has-not-spoken" }
      : { state: "silent", because: "never-spoke" };
  }
  if (pulse?.inTurn) {
    if (pulse.calls.some((call) => call.ok === null)) {
      // What a call prints nobody sees before it ends; what its processes do can be seen.
      const still = Math.min(shortenSilence(quiet, pulse.turnSince, now), seen.toolsStillMs ?? 0);
      return still < limits.toolLimitMs
        ? { state: "tool-running", because: "tool-in-flight" }
        : { state: "silent", because: TOOL_HANGS };
    }
    // Whoever waits for an answer of its model repeats nothing.
    if (!pulse.retrying && isLooping(pulse, limits.loopRepeats)) return { state: "looping", because: LOOPING };
    // A turn that has only just begun had no time to show anything, however long the agent had waited for it.
    const silentFor = shortenSilence(quiet, pulse.turnSince, now);
    return silentFor < idleAfterMs
      ? { state: "working", because: "turn-in-flight" }
      : explainSilence(about, { state: "silent", because: "no-activity" }, silentFor, limits);
  }
  if (!assignment) return { state: "idle", because: "no-work" };
  const due = assignment.expectedNextUpdateAt;
  if (due !== null && due <= now && due > (lastActOf(pulse) ?? 0))
    return { state: "silent", because: "update-overdue" };
  // Idle, with something in its inbox: a turn is about to begin, and its silence counts from there.
  const { since } = seen.waiting;
  const silent = shortenSilence(quiet, since, now);
  return silent < idleAfterMs
    ? { state: "idle", because: "between-turns" }
    : explainSilence(about, { state: "silent", because: "idle-with-open-work" }, silent, limits);
}

/** A silence that counts from a certain moment on, where that moment is known to be past. */
export function shortenSilence(quiet: number, since: number | null, now: number): number {
  return since === null || since > now ? quiet : Math.min(quiet, now - since);
}

/** Whoever said that it waits for something slow may be silent so many times as long. */
const SLOW_FACTOR = 3;

/** Its last words may say why it is silent (LIVE-1); what was answered, or acted upon since, explains nothing more. */
function explainSilence(about: LivenessCase, silent: Judgement, silentMs: number, limits: LivenessLimits): Judgement {
  const { seen, assignment, answeredAt } = about;
  const idleAfterMs = assignment ? limits.idleAfterMs : Number.POSITIVE_INFINITY;
  switch (seen.fingerprint?.class) {
    case "waiting-on-human":
      // Within a turn nobody waits for an answer: it could not be handed over.
      if (seen.pulse?.inTurn || (answeredAt ?? 0) >= (lastActOf(seen.pulse) ?? 0)) return silent;
      return { state: "waiting-human", because: ASKED_IN_WORDS };
    case "slow":
      return silentMs < SLOW_FACTOR * idleAfterMs ? { state: "working", because: "waits-for-something-slow" } : silent;
    case "failed":
      return { state: "silent", because: "last-turn-failed" };
    default:
      return silent;
  }
}

/**
 * The same call with the same outcome, so many times on end. A call whose result changes is no loop (it pages through
 * something), and neither is one that waits for a job, however often; a cancelled one was never made.
 */
export function isLooping(pulse: Pulse, repeats: number): boolean {
  const wanted = Math.max(2, repeats);
  let first: ToolCall | undefined;
  let count = 0;
  for (let at = pulse.calls.length - 1; at >= 0 && count < wanted; at -= 1) {
    const call = pulse.calls[at];
    if (!call || call.errorClass === CANCELLED) continue;
    if (call.waits || call.ok === null) return false;
    first ??= call;
    if (!isSameCallAs(first, call)) return false;
    count += 1;
  }
  return count >= wanted;
}

function isSameCallAs(first: ToolCall, call: ToolCall): boolean {
  return (
    call.tool === first.tool &&
    call.argsHash === first.argsHash &&
    call.ok === first.ok &&
    call.errorClass === first.errorClass &&
    call.result === first.result
  );
}

/**
 * From how many equal calls on the ladder takes a loop up. Where agents have a reflex of their own, that one speaks
 * first: it looks every few steps, and only what continues after that is the ladder's. No more than a pulse remembers.
 */
export function repeatsForLadder(reflex: {
  readonly enabled: boolean;
  readonly loopRepeats: number;
  readonly radioCheckSteps: number;
}): number {
  const { enabled, loopRepeats, radioCheckSteps } = reflex;
  return Math.min(RECENT_CALLS, loopRepeats + (enabled ? radioCheckSteps : 0));
}

/** When the agent itself last did something; null when it never did. */
export function lastActOf(pulse: Pulse | null): number | null {
  return pulse?.lastActAt ?? null;
}

/** The last moment at which the agent or its work moved. */
export function lastActivityAt(seen: AgentSeen): number | null {
  let last = lastActOf(seen.pulse);
  for (const { says, at } of seen.evidence) {
    if ((says === "active" || says === "progress") && (last === null || at > last)) last = at;
  }
  return last;
}

/** When that was last said of it; null when it was not. Asked for every agent at every tick, so it is kept plain. */
function lastOf(seen: AgentSeen, says: LivenessEvidence["says"]): number | null {
  let last: number | null = null;
  for (const item of seen.evidence) if (item.says === says && (last === null || item.at > last)) last = item.at;
  return last;
}

/** How long nothing was heard of it: the watcher's own time where it has one, since wall clocks jump. */
function quietMs(about: LivenessCase, now: number): number {
  const { seen, rebasedAt } = about;
  const { startedAt, createdAt, resumedAt } = seen.attempt;
  // While it was paused it had to be silent.
  const acted = lastActivityAt(seen) ?? 0;
  const born = startedAt ?? createdAt;
  const resumed = resumedAt ?? 0;
  const latest = Math.max(acted, born, resumed, rebasedAt);
  if (latest <= now) return Math.min(seen.quietMs ?? Number.POSITIVE_INFINITY, now - latest);
  // What is to come was written before the wall clock was set back: it does not say how long ago it was.
  const past = [acted, born, resumed, rebasedAt].filter((at) => at <= now);
  return Math.min(seen.quietMs ?? 0, now - Math.max(0, ...past));
}

function isYounger({ seen, rebasedAt }: LivenessCase, ms: number, now: number): boolean {
  const since = [seen.attempt.startedAt ?? seen.attempt.createdAt, rebasedAt];
  return since.some((at) => !hasPassed(at, ms, now));
}

/** A dialog counts while nothing newer shows that it was answered. */
function hasDialog(seen: AgentSeen): boolean {
  const dialog = lastOf(seen, "dialog") ?? 0;
  const asked = seen.pulse?.lastKind === "permission.asked" ? (seen.pulse.lastAt ?? 0) : 0;
  return Math.max(dialog, asked) > 0 && Math.max(dialog, asked) >= (lastActOf(seen.pulse) ?? 0);
}

/** The newest evidence that the work progressed, or undefined. */
export function latestProgress(seen: Pick<AgentSeen, "evidence">): LivenessEvidence | undefined {
  return seen.evidence
    .filter((item) => item.says === "progress")
    .sort((a, b) => b.at - a.at || (a.source < b.source ? -1 : 1))[0];
}
