/**
 * What happened since a moment, for somebody who was away: what landed, what failed and why, what was put right without
 * them, what it cost, what is open and what waits for them. Pure: from the log since then and from what holds now.
 */
import type { Attempt, Usage } from "#domain/model/attempt.ts";
import { sumOfUsage } from "#domain/model/attempt.ts";
import type { PoolOutcome } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";
import { nodeKey, readNoChanges, readSplit } from "#domain/model/work.ts";
import type { Progress } from "#domain/plans/rollup.ts";
import { listLost, tellProgress } from "#domain/plans/rollup.ts";
import type { GoalFact, Standstill } from "./standstill.ts";

/** Types of event that a report is made of. */
export const MORNING_TYPES = [
  "landing.landed",
  "landing.refused",
  "work.taken_back",
  "work.done",
  "work.cancelled",
  "work.blocked",
  "work.unblocked",
  "work.returned",
  "goal.completed",
  "goal.cancelled",
  "agent.ended",
  "assignment.nudged",
  "assignment.resent",
  "assignment.restarting",
  "assignment.reassigning",
  "assignment.parked",
  "fleet.mass_death",
  "quota.tripped",
  "provider.failed",
  "daemon.started",
  "auto.started",
  "auto.failed",
  "pool.taken",
  "pool.ended",
  "pool.repeated",
  "pool.refused",
  "model.asked",
  "question.asked",
  "question.answered",
  "question.withdrawn",
] as const satisfies readonly EventOf["type"][];

export interface MorningFacts {
  readonly project: string;
  readonly sinceAt: number;
  readonly at: number;
  /** Of `MORNING_TYPES`, since then, in log order. */
  readonly events: readonly EventOf[];
  /** What nodes are called, by `goal/node`. */
  readonly names: ReadonlyMap<string, string>;
  readonly goals: readonly (GoalFact & { readonly progress: Omit<Progress, "percent"> })[];
  /** Attempts that lived since then, each with what it has used so far. */
  readonly sessions: readonly { readonly attempt: Attempt; readonly usage: Usage | undefined }[];
  readonly standstills: readonly Standstill[];
}

export interface MorningLine {
  readonly at: number;
  /** `goal/node`, a goal or an agent. */
  readonly what: string;
  readonly name: string;
  readonly text: string;
}

export interface MorningReport {
  readonly project: string;
  readonly sinceAt: number;
  readonly at: number;
  readonly reached: readonly MorningLine[];
  /** Ended as reached, although something of it was cancelled or taken back. */
  readonly reachedInPart: readonly MorningLine[];
  readonly landed: readonly MorningLine[];
  /** Landed, in this time or before, and taken out of the target again by a person. */
  readonly takenBack: readonly MorningLine[];
  /** Done without a change to land: by hand, or because nothing had to be changed. */
  readonly done: readonly MorningLine[];
  /** What a person ended; nothing of it failed. */
  readonly cancelled: readonly MorningLine[];
  /** What failed and was not put right since. */
  readonly failed: readonly MorningLine[];
  /** What was put right without a person, by what was done, how often. */
  readonly remediated: Readonly<Record<string, number>>;
  /** What auto mode did; null where it took nothing and did not fail. */
  readonly auto: AutoReport | null;
  readonly cost: {
    readonly costUsd: number;
    readonly tokens: number;
    readonly sessions: number;
    /** Part of it: what Overseer itself asked models for. */
    readonly modelsUsd: number;
  };
  readonly questions: { readonly asked: number; readonly answered: number };
  readonly open: readonly {
    readonly goalId: string;
    readonly title: string;
    readonly done: number;
    readonly total: number;
    readonly cancelled: number;
    readonly takenBack: number;
  }[];
  readonly waitsForYou: readonly string[];
  readonly standsStill: readonly string[];
}

export interface AutoReport {
  /** Tasks taken from the pool in this time, and what became of those that ended in it. */
  readonly taken: number;
  readonly landed: number;
  readonly unchanged: number;
  readonly cancelled: number;
  /** Tasks that the pool gave once more, and files that could not be taken. */
  readonly repeated: number;
  readonly refused: number;
  /** Each time it ended by itself, and why. */
  readonly failures: readonly MorningLine[];
}

export function reportMorning(facts: MorningFacts): MorningReport {
  const { project, sinceAt, at, events, goals, standstills } = facts;
  const collect = (holds: (event: EventOf) => string | undefined) =>
    events.flatMap((event) => {
      const text = holds(event);
      return text === undefined ? [] : [lineOf(facts, event, text)];
    });
  const landedNodes = new Set(events.flatMap((one) => (one.type === "landing.landed" ? [placeOf(one)] : [])));
  return {
    ...{ project, sinceAt, at },
    reached: collect((event) => (event.type === "goal.completed" && !tellPart(goals, event) ? "reached" : undefined)),
    reachedInPart: collect((event) => (event.type === "goal.completed" ? tellPart(goals, event) : undefined)),
    landed: collect((event) => (event.type === "landing.landed" ? describeLanding(event) : undefined)),
    takenBack: collect((event) => (event.type === "work.taken_back" ? describeTakeBack(event) : undefined)),
    done: collect((event) => {
      if (event.type === "work.cancelled" && event.because === "no-changes") return describeNoChanges(event);
      return event.type === "work.done" && isTask(event) && !landedNodes.has(placeOf(event))
        ? event.data.summary
        : undefined;
    }),
    cancelled: collect((event) => (isByPerson(event) ? describeCancel(event) : undefined)),
    failed: collectFailures(facts),
    remediated: countRemedies(events),
    auto: reportAuto(events),
    cost: costOf(facts),
    questions: {
      asked: events.filter(({ type }) => type === "question.asked").length,
      answered: events.filter(({ type }) => type === "question.answered").length,
    },
    open: goals
      .filter(({ status }) => status === "active" || status === "paused")
      .map(({ goalId, title, progress }) => {
        const { done, total, cancelled = 0, takenBack = 0 } = progress;
        return { goalId, title, done, total, cancelled, takenBack };
      }),
    waitsForYou: standstills.filter(({ turn }) => turn === "person").map(({ text }) => text),
    standsStill: standstills.filter(({ turn }) => turn === "itself").map(({ text }) => text),
  };
}

/** How much of a goal was reached, where that is not all of it. */
function tellPart(goals: MorningFacts["goals"], { goalId }: EventOf): string | undefined {
  const progress = goals.find((one) => one.goalId === goalId)?.progress;
  return progress && listLost(progress).length > 0 ? tellProgress(progress) : undefined;
}

function placeOf({ goalId, nodeId, agent }: EventOf): string {
  return goalId === undefined ? (agent ?? "") : nodeId === undefined ? goalId : nodeKey(goalId, nodeId);
}

function lineOf({ names, goals }: MorningFacts, event: EventOf, text: string): MorningLine {
  const what = placeOf(event);
  const name = names.get(what) ?? goals.find(({ goalId }) => goalId === what)?.title ?? "";
  return { at: event.at, what, name, text };
}

/** Phases follow from their tasks. */
function isTask(event: EventOf): boolean {
  return event.because !== "all-children-done";
}

function describeLanding(event: EventOf<"landing.landed">): string {
  const { to, target, already } = event.data;
  const by = event.agent === undefined ? "" : ` by ${event.agent}`;
  return already ? `was in ${target} already` : `${to.slice(0, 10)} on ${target}${by}`;
}

function describeTakeBack(event: EventOf<"work.taken_back">): string {
  const { landed, target, commit, reason } = event.data;
  const by = commit === null ? "" : ` by ${commit.slice(0, 10)}`;
  return `${landed.slice(0, 10)} is out of ${target} again${by}${reason ? `: ${reason}` : ""}`;
}

/** From the newest on, so that what was put right later is known. */
function collectFailures(facts: MorningFacts): MorningLine[] {
  const lines: MorningLine[] = [];
  const wentOn = new Set<string>();
  const ended = new Set<string>();
  for (const event of facts.events.toReversed()) {
    const place = placeOf(event);
    const text = isByPerson(event) ? undefined : describeFailure(event);
    const isOver = ended.has(place) || (event.type === "work.blocked" && wentOn.has(place));
    if (text !== undefined && !isOver) lines.push(lineOf(facts, event, text));
    if (event.type === "question.withdrawn") wentOn.add(event.data.questionId);
    const broke = describeAfterLandFailure(event, wentOn);
    if (broke !== undefined) lines.push({ at: event.at, what: "landing.afterLand", name: "", text: broke });
    if (event.type === "work.unblocked") wentOn.add(place);
    if (event.type === "landing.landed" || event.type === "work.done" || event.type === "work.cancelled")
      ended.add(place);
  }
  return lines.reverse();
}

/** Told by the question that holds the landings; where the command has passed since, it was withdrawn. */
function describeAfterLandFailure(event: EventOf, withdrawn: ReadonlySet<string>): string | undefined {
  if (event.type !== "question.asked" || event.because !== "after-landing-failed") return undefined;
  if (withdrawn.has(event.data.questionId)) return undefined;
  const [, said = event.data.text] = event.data.text.split(/: (?:landing\.afterLand|auto\.postAcceptCommand) /);
  return said.split(" The landing stands.")[0];
}

function isByPerson({ actor }: EventOf): boolean {
  return actor.startsWith("human:");
}

function describeCancel(event: EventOf): string | undefined {
  if (event.type !== "goal.cancelled" && event.type !== "work.cancelled") return undefined;
  const follows = event.because === "goal-cancelled" || event.because === "all-children-cancelled";
  if (event.type === "work.cancelled" && (follows || readSplit(event.data.reason))) return undefined;
  return `cancelled${event.data.reason ? `: ${event.data.reason}` : ""}`;
}

/** Undefined where it ended for another reason. */
function describeNoChanges(event: EventOf<"work.cancelled">): string | undefined {
  const said = readNoChanges(event.data.reason);
  return said === undefined ? undefined : `without changes: ${said}`;
}

function describeFailure(event: EventOf): string | undefined {
  switch (event.type) {
    case "goal.cancelled":
      return describeCancel(event);
    case "work.cancelled":
      // Where nothing had to be changed, nothing failed; what is below such a node ended with it.
      return describeNoChanges(event) === undefined ? describeCancel(event) : undefined;
    case "work.blocked":
      return `blocked: ${event.data.blocked.detail}`;
    case "landing.refused":
      return `not landed: ${event.data.detail}`;
    case "agent.ended": {
      const { cause, detail } = event.data;
      return cause === "finished" || cause === "stopped" ? undefined : `${event.agent} ${ENDED[cause]}: ${detail}`;
    }
    default:
      return undefined;
  }
}

const ENDED = { failed: "failed", died: "died", failed_to_start: "did not start" } as const;

const REMEDIES: Readonly<Record<string, string>> = {
  "work.returned": "reports sent back to their author",
  "assignment.nudged": "nudges",
  "assignment.resent": "instructions given again",
  "assignment.restarting": "restarts",
  "assignment.reassigning": "fresh agents",
  "assignment.parked": "pauses",
  "fleet.mass_death": "mass deaths",
  "quota.tripped": "waits for quota",
  "provider.failed": "waits for a provider",
};

function countRemedies(events: readonly EventOf[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const event of events) {
    const replaced = event.type === "daemon.started" && event.data.previous !== null ? "daemons replaced" : undefined;
    const what = replaced ?? REMEDIES[event.type];
    // A loss that grew is still one.
    const isRemedy = what !== undefined && event.because !== "died-with-them" && !isPersonsReturn(event);
    if (isRemedy) counted[what] = (counted[what] ?? 0) + 1;
  }
  return counted;
}

function reportAuto(events: readonly EventOf[]): AutoReport | null {
  const count = (holds: (event: EventOf) => boolean) => events.filter(holds).length;
  const countEnds = (outcome: PoolOutcome) => count((one) => one.type === "pool.ended" && one.data.outcome === outcome);
  const failures = events.flatMap((event) =>
    event.type === "auto.failed" ? [{ at: event.at, what: event.data.code, name: "", text: event.data.problem }] : [],
  );
  const began = events.some(({ type }) => type === "auto.started" || type === "pool.taken" || type === "pool.ended");
  if (!began && failures.length === 0) return null;
  return {
    taken: count(({ type }) => type === "pool.taken"),
    ...{ landed: countEnds("landed"), unchanged: countEnds("unchanged"), cancelled: countEnds("cancelled") },
    repeated: count(({ type }) => type === "pool.repeated"),
    refused: count(({ type }) => type === "pool.refused"),
    failures,
  };
}

/** A person who sends work back, or takes it over, has done that by themselves. */
function isPersonsReturn(event: EventOf): boolean {
  return event.type === "work.returned" && (event.because === "rejected" || event.because === "taken-over");
}

function costOf({ events, sessions }: MorningFacts): MorningReport["cost"] {
  const used = sumOfUsage(sessions.flatMap(({ attempt, usage }) => attempt.end?.usage ?? usage ?? []));
  const asked = events.flatMap((event) => (event.type === "model.asked" ? [event.data] : []));
  const modelsUsd = asked.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  const modelTokens = asked.reduce((sum, { tokens }) => sum + (tokens ? sumTokens(tokens) : 0), 0);
  return {
    costUsd: used.costUsd + modelsUsd,
    tokens: sumTokens(used) + modelTokens,
    sessions: sessions.length,
    modelsUsd,
  };
}

type Tokens = Pick<Usage, "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens">;

function sumTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Tokens): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
