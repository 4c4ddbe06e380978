/**
 * From a view to the JSON that every door prints: the command line with --json, the daemon's socket, and whoever comes
 * next. One function a view, so that a thing has the same fields wherever it is asked for. Times are ISO 8601 there and
 * milliseconds inside. It loads nothing, because `status` and `mail` are run again and again.
 */

import type { AutoView } from "#domain/auto/auto-view.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { WhyAnswer } from "#domain/explain/answer.ts";
import type { ConversationPart } from "#domain/explain/conversation.ts";
import type { MorningReport } from "#domain/explain/morning.ts";
import type { RemedyResult } from "#domain/guard/remedy-context.ts";
import type { Attention } from "#domain/health/attention.ts";
import type { Registration, RingPulse } from "#domain/health/daemon-life.ts";
import type { TakenOver } from "#domain/landing/review.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Worker } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { FleetChange } from "#domain/model/fleet.ts";
import type { Planning } from "#domain/model/goal.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { Message } from "#domain/model/message.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { AcceptedPlan } from "#domain/plans/plan.ts";
import type { Answered } from "#domain/reports/answer.ts";
import type { Reported } from "#domain/reports/report.ts";
import type { AgentHealth } from "#domain/watch/health.ts";
import type { RestoreOutcome } from "#git/wip-restore.ts";
import type { AddedWork } from "./add-work.ts";
import type { AgentDetail, AgentView, NukeOutcome } from "./agents.ts";
import type { DownOutcome, StoppedAgent } from "./daemon.ts";
import type { ExpertiseFound } from "./expertise.ts";
import type { FollowedEnd } from "./followed-goal.ts";
import type { GuardStatus } from "./guard.ts";
import type { FleetHealth, HealthRow, HealthView, LatestChanges, SupervisionStats } from "./health.ts";
import type { Landed } from "./landing.ts";
import type { Guarded } from "./launch-guard.ts";
import type { LearningDetail, LearningView, SyncView } from "./learnings.ts";
import type { Letterbox } from "./mail/inbox.ts";
import type { Sent } from "./mail/send.ts";
import type { HeldLanding, Prediction } from "./merge.ts";
import type { Metrics } from "./metrics.ts";
import type { RecipientView, TestOutcome } from "./notify.ts";
import type { PlanPreview } from "./plan-preview.ts";
import type { Prime } from "./prime.ts";
import type { QuestionView } from "./question-view.ts";
import type { Reverted } from "./revert.ts";
import type { Rejected, Review, ReviewRow } from "./review.ts";
import type { ServiceStatus } from "./service.ts";
import type { SlingPlan } from "./sling.ts";
import type { GoalRow, Status } from "./status.ts";
import type { TrustReport } from "./trust.ts";
import type { Finding } from "./upkeep/doctor.ts";
import type { Initialised } from "./upkeep/init.ts";
import type { ProposedChecks } from "./upkeep/propose-checks.ts";
import type { Uninstalled } from "./upkeep/uninstall.ts";
import type { GoalView, NodeDetail } from "./views.ts";
import type { Told } from "./why.ts";
import type { Cleaned, KeptWork, WorktreeView } from "./worktrees.ts";

declare const presented: unique symbol;
/** What a door prints. Only this file makes it, so that no door invents fields of its own. */
export type Presented = { readonly [presented]: true };
type Present<T> = (value: T) => Presented;

/** Milliseconds become ISO 8601 in every field whose name says that it is a time (…At, …Until, at, ts). */
export function withIsoTimes(value: unknown, key = ""): unknown {
  if (typeof value === "number" && /(^(at|ts)$|[a-z](At|Until)$)/.test(key)) return new Date(value).toISOString();
  if (Array.isArray(value)) return value.map((item) => withIsoTimes(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, withIsoTimes(child, name)]));
}

const withTimes = (value: unknown) => withIsoTimes(value) as Presented;
const plain = (value: unknown) => value as Presented;

/** For what only one door says, and has said in JSON already: a schema, a script, a simulation. */
export const presentPlain: Present<object> = plain;

// Goals and work
export const presentGoals: Present<readonly GoalRow[]> = withTimes;
export const presentGoal: Present<GoalView> = withTimes;
export const presentFollowedEnd: Present<FollowedEnd> = withTimes;
export const presentPlan: Present<AcceptedPlan & { readonly goalId: string }> = plain;
export const presentPreview = ({ goalId, base, view, changes }: PlanPreview) =>
  plain({
    ...{ goalId, base, added: changes.added, kept: changes.kept, finished: changes.finished },
    changed: changes.changed.map(({ node, ...rest }) => ({ ...nameNode(node), ...rest })),
    leftOut: changes.leftOut.map(({ node, ...rest }) => ({ ...nameNode(node), ...rest })),
    refused: changes.refused.map(({ node, ...rest }) => ({ ...nameNode(node), ...rest })),
    ...{ stayCancelled: changes.stayCancelled, estimate: view.estimate },
  });
const nameNode = ({ workNodeId, name, status }: WorkNode) => ({ id: workNodeId, name, status });
/** What was asked of a model, and what is proposed; the plan itself as values. */
export const presentPlanning = ({ goalId, planning }: { goalId: string; planning: Planning | null }) =>
  plain({
    goalId,
    planning: planning && {
      ...planning,
      since: isoTime(planning.since),
      until: planning.until === null ? null : isoTime(planning.until),
    },
  });
export const presentAddedWork: Present<AddedWork> = plain;
export const presentWork: Present<readonly WorkNode[]> = withTimes;
export const presentNode: Present<NodeDetail> = withTimes;
export const presentReport: Present<Reported> = plain;
export const presentQuestions: Present<readonly QuestionView[]> = withTimes;
export const presentQuestionId = (questionId: string) => plain({ questionId });
export const presentAnswer: Present<Answered> = plain;
export const presentMorning: Present<MorningReport> = withTimes;
export const presentRecipients: Present<readonly RecipientView[]> = withTimes;
export const presentTests: Present<readonly TestOutcome[]> = plain;

// Agents
export const presentAgents: Present<readonly AgentView[]> = withTimes;
export const presentAgent: Present<AgentDetail> = withTimes;
export const presentAttempt: Present<Attempt> = withTimes;
export const presentSlingPlan: Present<SlingPlan> = withTimes;
export const presentPeek: Present<{
  readonly attempt: Attempt;
  readonly text: string;
  readonly parts: readonly ConversationPart[];
}> = withTimes;
export const presentAttach = (argv: readonly string[]) => plain({ argv });
export const presentPrime: Present<Prime> = plain;
export const presentMoved: Present<{ agent: string; attempt: number; status: "paused" | "running" }> = withTimes;
export const presentRemoved = ({ attempt: { agent, attempt }, ...outcome }: NukeOutcome) =>
  withTimes({ agent, attempt, ...outcome });
export const presentRemedy: Present<RemedyResult> = ({ outcome, log, durationMs, tries }) =>
  plain({ outcome, log, durationMs, tries });
export const presentEach = (all: readonly Presented[]) => plain(all);

/** As the watch kept it; the older words stand beside ours, and since when it is so and what is next as times. */
export const presentHealth = (health: AgentHealth) => plain(healthFields(health));
const healthFields = ({ quiet: _, since, nextAt, ...health }: AgentHealth) => ({
  ...health,
  since: isoTime(since),
  nextAt: isoOrNull(nextAt),
});
const rowFields = ({ exempt, ...health }: HealthRow) => ({ ...healthFields(health), exempt });
/** Where nobody looks, every row says so: it is as old as `judgedAt`. */
const attentionFields = ({ unwatched, judgedAt }: Attention) => ({ unwatched, judgedAt: isoOrNull(judgedAt) });
export const presentHealths = ({ agents, attention }: FleetHealth) =>
  plain(agents.map((one) => ({ ...rowFields(one), ...attentionFields(attention) })));
export const presentHealthView = ({ health, snapshot, changes, attention, ended }: HealthView) =>
  plain({
    ...rowFields(health),
    ...(ended ? { lastStatus: health.status, ...ENDED } : {}),
    ended: ended ? { at: isoTime(ended.at), why: ended.why } : null,
    ...attentionFields(attention),
    snapshot: withTimes(snapshot),
    changes: withTimes(changes),
  });
/** Of one that has ended nothing is due any more. */
const ENDED = { status: "ended", phase: "terminated", recommendation: null, next: null, nextAt: null, nextNudge: null };
export const presentHealthChanges = ({ changes, attention: { unwatched } }: LatestChanges) =>
  withTimes(changes.map((one) => ({ ...one, unwatched })));
export const presentSupervisionStats = ({ rings, ...counted }: SupervisionStats) =>
  plain({ rings: rings.map(ringFields), ...counted });
const ringFields = <Ring extends RingPulse>(ring: Ring) => ({
  ...ring,
  lastAt: isoOrNull(ring.lastAt),
  degradedSince: isoOrNull(ring.degradedSince),
});

// Mail
/** As the seed has it, and what we know beyond: `to` is whose box it lies in, `read` that it was seen. */
export function presentMessage(message: Message): Presented {
  const { place: _place, rank: _rank, agent, to, createdAt, handedAt, endedAt, expiresAt, ...rest } = message;
  return plain({
    id: message.messageId,
    ...rest,
    to: agent,
    addressedTo: to,
    read: message.status === "seen",
    createdAt: isoTime(createdAt),
    handedAt: isoOrNull(handedAt),
    endedAt: isoOrNull(endedAt),
    expiresAt: isoOrNull(expiresAt),
  });
}
export const presentMessages = (messages: readonly Message[]) => plain(messages.map(presentMessage));
export const presentLetter = ({ message, thread }: Letterbox) =>
  plain({ ...presentMessage(message), thread: thread.map(presentMessage) });
export const presentSent = (sent: readonly Sent[]) => plain(sent.length === 1 ? sent[0] : sent);
export const presentWaiting = (on: readonly string[]) => plain({ waiting: true, on });
export const presentNudge: Present<Sent> = plain;

// Learnings
export const presentLearnings: Present<readonly LearningView[]> = withTimes;
export const presentLearning: Present<LearningDetail> = withTimes;
export const presentLearningId = (learningId: string) => plain({ learningId });
export const presentExpertise: Present<readonly ExpertiseFound[]> = plain;
export const presentKeptExpertise: Present<{ readonly source: string; readonly id: string }> = plain;
export const presentSyncs: Present<readonly SyncView[]> = withTimes;

// Landing and worktrees
export const presentReview: Present<Review> = withTimes;
export const presentReviews: Present<readonly ReviewRow[]> = withTimes;
export const presentLanded: Present<Landed> = plain;
export const presentLandings: Present<readonly Landed[]> = plain;
export const presentReverted: Present<Reverted> = plain;
export const presentRejected: Present<Rejected> = plain;
export const presentTakenOver: Present<TakenOver> = plain;
export const presentQueue: Present<{
  readonly queue: readonly Merge[];
  readonly held: readonly HeldLanding[];
  readonly landed: readonly Merge[];
}> = withTimes;
export const presentPredictions: Present<readonly Prediction[]> = plain;
export const presentWorktrees: Present<readonly WorktreeView[]> = withTimes;
export const presentCleaned: Present<Cleaned> = withTimes;
export const presentKeptWork: Present<readonly KeptWork[]> = withTimes;
export const presentRestored: Present<RestoreOutcome> = plain;

// The fleet, the daemon and what happened
/** By hand, field by field: `status` is run again and again, and a Date for each of its times would be felt. */
export function presentStatus(now: Status): Presented {
  const { oldest } = now.mergeQueue;
  return plain({
    ...now,
    goals: now.goals.map((goal) => ({
      ...goal,
      createdAt: isoTime(goal.createdAt),
      updatedAt: isoTime(goal.updatedAt),
    })),
    agents: now.agents.map((agent) => ({
      ...agent,
      lastAt: isoTime(agent.lastAt),
      turnAt: isoOrNull(agent.turnAt),
      doingAt: isoTime(agent.doingAt),
    })),
    landings: now.landings.map((landing) => ({ ...landing, at: isoTime(landing.at) })),
    questions: now.questions.map((question) => ({
      ...question,
      askedAt: isoTime(question.askedAt),
      roundAt: isoTime(question.roundAt),
      acknowledgedAt: isoOrNull(question.acknowledgedAt),
      notices: question.notices.map((notice) => ({ ...notice, at: isoTime(notice.at) })),
    })),
    daemon: {
      ...now.daemon,
      startedAt: isoOrNull(now.daemon.startedAt),
      lastBeatAt: isoOrNull(now.daemon.lastBeatAt),
      lastTickAt: isoOrNull(now.daemon.lastTickAt),
      rings: now.daemon.rings.map(ringFields),
    },
    standstills: now.standstills.map((one) => ({
      ...one,
      sinceAt: isoOrNull(one.sinceAt),
      nextAt: isoOrNull(one.nextAt),
    })),
    next: now.next && { ...now.next, nextAt: isoOrNull(now.next.nextAt) },
    frozen: now.frozen && { ...now.frozen, since: isoTime(now.frozen.since) },
    mergeQueue: {
      ...now.mergeQueue,
      oldest: oldest && { ...oldest, since: isoTime(oldest.since) },
      entries: now.mergeQueue.entries.map((entry) => ({ ...entry, queuedAt: isoTime(entry.queuedAt) })),
    },
  });
}
export const presentStarted = (daemon: Registration, unfit: readonly Finding[], unchecked: string | null) =>
  withTimes({ ...daemon, since: isoTime(daemon.since), unfit, unchecked });
export const presentDown = ({ was, killed }: DownOutcome, stopped: readonly StoppedAgent[]) =>
  plain({ running: false, was: was?.pid ?? null, killed, stopped });
export const presentFrozen = ({ changed, fleet }: FleetChange) =>
  plain({ frozen: true, changed, since: isoTime(fleet.since) });
export const presentThawed = ({ changed, safeMode }: { readonly changed: boolean; readonly safeMode: boolean }) =>
  plain({ frozen: false, changed, safeMode: false, safeModeWas: safeMode });
export const presentGuarded = (
  { guard, adopted }: Guarded,
  daemon: Registration | null,
  unfit: readonly Finding[],
  unchecked: string | null,
) => withTimes({ guard, daemon, adopted, unfit, unchecked });
export const presentService = (service: ServiceStatus) => withTimes({ ...service });
export const presentGuard = (guard: GuardStatus | null) => withTimes({ guard });
export const presentAuto = (auto: AutoView | null) => withTimes({ auto });
export const presentWorkers = (workers: readonly Worker[]) => withTimes({ workers });
export const presentEvent: Present<EventOf> = withTimes;
export const presentWhy = ({ cause, receipts: _receipts, answer, ...told }: Told & { readonly answer: WhyAnswer }) =>
  withTimes({ ...told, cause, next: answer.next, command: answer.command });
export const presentMetrics: Present<Metrics> = withTimes;

// Upkeep
export const presentInit = (made: Initialised, checks: ProposedChecks | null) => plain({ ...made, checks });
export const presentUninstalled: Present<Uninstalled> = plain;
export const presentTrust: Present<TrustReport> = plain;
export const presentCheckup = (fixed: readonly string[], findings: readonly Finding[]) =>
  plain({ ok: findings.every(({ ok }) => ok), fixed, findings });

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
