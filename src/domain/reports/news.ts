/**
 * What of the log is news for people, and when each of them is told: at most one message per subject and quiet time,
 * everything that is due in one message, nothing but alarms in quiet hours, and again with growing waits where it did
 * not get through. Pure: it says what is due; act/tell-people.ts sends it, and the outcome comes back as an event.
 */
import { waitLeft } from "#domain/core/elapsed.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { describeOrigin, describeSpent, nameBudget } from "#domain/model/budget-words.ts";
import type { LandingWait } from "#domain/model/claim.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { KeptNews, NewsCondition, Topic } from "#domain/model/news.ts";
import { describeProviderFailure } from "#domain/model/provider-cause.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey, readNoChanges, tellHowAgain } from "#domain/model/work.ts";
import { retryWaitMs } from "./question-notice.ts";

export interface News {
  readonly topic: Topic;
  readonly subject: string;
  readonly text: string;
  readonly urgent: boolean;
  readonly at: number;
  readonly patient?: true;
  /** What was to be told of its subject is over; said only to whom that was told. */
  readonly ends?: true;
}

/** Types of event that may be news. */
export const NEWS_TYPES = [
  "goal.completed",
  "goal.cancelled",
  "landing.waiting",
  "landing.undone",
  "landing.refused",
  "work.returned",
  "work.done",
  "work.cancelled",
  "dispatch.deferred",
  "budget.warned",
  "budget.exceeded",
  "quota.tripped",
  "quota.restored",
  "provider.failed",
  "provider.restored",
  "fleet.mass_death",
  "fleet.restored",
  "daemon.started",
  "auto.failed",
  "pool.repeated",
  "message.dead_lettered",
  "action.dropped",
  "answer.refused",
  "plan.wanted",
  "plan.proposed",
  "plan.failed",
  "plan.dropped",
  "plan.accepted",
] as const satisfies readonly EventOf["type"][];

/** The event as one sentence for somebody who is elsewhere; undefined where it is none. */
export function newsOf(event: EventOf): News | undefined {
  const found = tell(event);
  return found && { urgent: false, ...found, at: event.at };
}

type Told = Pick<News, "topic" | "subject" | "text" | "patient" | "ends"> & { readonly urgent?: boolean };

function tell(event: EventOf): Told | undefined {
  switch (event.type) {
    case "goal.completed":
      return { topic: "goal", subject: `goal ${event.goalId}`, text: `Goal ${event.goalId} is reached.` };
    case "goal.cancelled": {
      const why = event.data.reason ? `: ${event.data.reason}` : ".";
      return { topic: "goal", subject: `goal ${event.goalId}`, text: `Goal ${event.goalId} was cancelled${why}` };
    }
    // Whoever sits at the terminal decides at once; it is news when it has waited for a while.
    case "plan.proposed": {
      const text = `The plan of ${event.goalId} waits for you: overseer goal plan ${event.goalId} --show`;
      return { topic: "review", subject: `plan ${event.goalId}`, text, patient: true };
    }
    case "plan.failed": {
      const why = event.data.problems[0] ?? "there was no answer that holds";
      const text = `No plan came for ${event.goalId}: ${why} Ask again: overseer goal plan ${event.goalId} --with-model`;
      return { topic: "review", subject: `plan ${event.goalId}`, text, patient: true };
    }
    case "plan.wanted":
    case "plan.dropped":
    case "plan.accepted": {
      const text = `The plan of ${event.goalId} no longer waits for you.`;
      return { topic: "review", subject: `plan ${event.goalId}`, text, ends: true };
    }
    case "landing.waiting": {
      const node = nodeKey(event.goalId ?? "", event.nodeId ?? "");
      if (event.data.for === "checkout") return tellHeldUp(event.data, node);
      if (event.data.for !== "review") return undefined;
      return tellReview(node);
    }
    case "landing.undone": {
      const { commit, target, files } = event.data;
      const [id, node] = [commit.slice(0, 10), nodeKey(event.goalId ?? "", event.nodeId ?? "")];
      const text = `${id}, the commit on ${target} right after ${node} has landed, has ${files.length === 1 ? files[0] : `${files.length} files`} as before that. If nobody meant it: git revert ${id}.`;
      return { topic: "review", subject: `undone ${id}`, text, urgent: true };
    }
    case "landing.refused":
    case "work.returned":
    case "work.done":
    case "work.cancelled": {
      const node = nodeKey(event.goalId ?? "", event.nodeId ?? "");
      const unchanged = event.type === "work.cancelled" ? readNoChanges(event.data.reason) : undefined;
      if (unchanged !== undefined && event.because !== "parent-cancelled") {
        const text = `${node} ended without a change: "${unchanged}". ${tellHowAgain(event.goalId ?? "")}.`;
        return { topic: "landing", subject: `landing ${node}`, text };
      }
      const now = event.type === "work.done" ? "is done" : "no longer waits for your checkout";
      return { topic: "landing", subject: `landing ${node}`, text: `${node} ${now}.`, ends: true };
    }
    case "budget.warned":
    case "budget.exceeded": {
      const { scope } = event.data;
      const node = event.goalId && event.nodeId ? nodeKey(event.goalId, event.nodeId) : null;
      const said = { ...event.data, node };
      const how = event.type === "budget.warned" ? "is nearly spent" : "is spent, and its agents are paused";
      const text = `The budget of ${nameBudget(said)} ${how}${describeSpent(said)}; ${describeOrigin(said)}.`;
      return { topic: "budget", subject: `budget ${scope}`, text };
    }
    case "quota.tripped": {
      const { account, until } = event.data;
      const text = `The quota of ${account} is used up until ${isoTime(until)}; its agents wait and continue by themselves.`;
      return { topic: "quota", subject: `quota ${account}`, text };
    }
    case "quota.restored":
      return {
        topic: "quota",
        subject: `quota ${event.data.account}`,
        text: `The quota of ${event.data.account} is back.`,
      };
    case "provider.failed": {
      const { account, cause, detail, until, failures, questionId } = event.data;
      // Told when it begins; that it is still so is no news.
      if (failures > 1) return undefined;
      const said = detail === "" ? "" : ` ("${detail}")`;
      const who = questionId === null ? `One agent tries at ${isoTime(until)}` : "A person is needed";
      const text = `${describeProviderFailure(account, cause, detail)}${said}. ${who}; its agents wait.`;
      return { topic: "provider", subject: `provider ${account}`, text: capital(text), urgent: questionId !== null };
    }
    case "provider.restored": {
      const { account } = event.data;
      return { topic: "provider", subject: `provider ${account}`, text: `The provider of ${account} works again.` };
    }
    case "fleet.mass_death": {
      // The loss was told; how large it became is not worth waking anybody again.
      if (event.because === "died-with-them") return undefined;
      const text = `${event.data.attempts.length} agents died at once; they are tried again in stages.`;
      return { topic: "mass-death", subject: "mass-death", text, urgent: true };
    }
    case "fleet.restored":
      return { topic: "mass-death", subject: "mass-death", text: "The agents that died at once are at work again." };
    case "daemon.started": {
      if (event.data.previous === null) return undefined;
      const text = `The daemon was replaced: the one before (pid ${event.data.previous.pid}) ended without a trace.`;
      return { topic: "daemon", subject: "daemon", text };
    }
    case "auto.failed": {
      const text = `Auto mode ended by itself: ${event.data.problem} ${event.data.hint}`;
      return { topic: "daemon", subject: "auto", text, urgent: true };
    }
    case "pool.repeated": {
      const text = `The pool gave ${event.goalId ?? "a task"} once more while it is open; it is not done twice.`;
      return { topic: "daemon", subject: "pool", text };
    }
    case "message.dead_lettered": {
      const text = `A message for ${event.agent ?? "an agent"} was never seen: ${event.data.reason}`;
      return { topic: "dead-letter", subject: `dead-letter ${event.agent ?? ""}`, text };
    }
    case "action.dropped": {
      if (event.because !== "tried-too-often") return undefined;
      const text = `Overseer gave up (${event.data.kind}${event.agent ? ` for ${event.agent}` : ""}): ${event.data.reason}`;
      return { topic: "dead-letter", subject: `dead-letter ${event.data.kind}`, text };
    }
    case "answer.refused": {
      const { question, via, reason } = event.data;
      const text = `An answer${question ? ` to ${question}` : ""} came by ${via} and was not taken: ${reason}`;
      return { topic: "answer", subject: `answer ${question ?? ""}`, text };
    }
    default:
      return undefined;
  }
}

function tellReview(node: string): Told {
  const text = `${node} waits for your review: overseer review ${node}, then overseer accept ${node} or reject.`;
  return { topic: "review", subject: "review", text };
}

/** What waits for a person at this node; for whoever is named to be told after it began to. */
export function newsOfWaiting({ goalId, workNodeId, status, claim }: WorkNode): News | undefined {
  const waiting = claim?.waiting;
  if (status !== "in_progress" || !waiting) return undefined;
  const node = nodeKey(goalId, workNodeId);
  const isReview = waiting.for === "review" && claim.approvedBy === null;
  const told = isReview ? tellReview(node) : waiting.for === "checkout" ? tellHeldUp(waiting, node) : undefined;
  return told && { urgent: false, ...told, at: waiting.since };
}

/**
 * The event from which on a recipient is told, where the log says when they were named: the last change of the settings
 * that names them.
 */
export function findNaming(changed: readonly EventOf<"config.changed">[], name: string): number | undefined {
  const own = [`channels.${name}`, `channels.people.${name}`];
  const isAbout = (key: string) =>
    key === "channels" || key === "channels.people" || own.some((one) => key === one || key.startsWith(`${one}.`));
  return changed.findLast(({ data }) => data.changes.some(({ key }) => isAbout(key)))?.seq;
}

/** So many files are named. */
const FILES_NAMED = 5;

/** The way out is the same whatever the file is: it is the person's, and nobody else touches it. */
function tellHeldUp({ detail, files }: Pick<LandingWait, "detail" | "files">, node: string): Told {
  const more = files.length > FILES_NAMED ? ` and ${files.length - FILES_NAMED} more` : "";
  const named = files.length === 0 ? "" : ` (${files.slice(0, FILES_NAMED).join(", ")}${more})`;
  const text = `${node} is done and cannot land: ${detail.trim().replace(/\.+$/, "")}${named}. Commit, stash or move away what is there, or work on another branch; it lands by itself then.`;
  return { topic: "landing", subject: `landing ${node}`, text, patient: true };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Minutes of the day, local time: from the first until before the second, over midnight where that is earlier. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

/** `22:00-07:00`; null for anything else. */
export function parseQuietHours(text: string | null): QuietHours | null {
  const found = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(text ?? "");
  if (!found) return null;
  const [, fromHour, fromMinute, toHour, toMinute] = found.map(Number);
  return { from: (fromHour ?? 0) * 60 + (fromMinute ?? 0), to: (toHour ?? 0) * 60 + (toMinute ?? 0) };
}

export function isQuiet(hours: QuietHours | null, minuteOfDay: number): boolean {
  if (hours === null || hours.from === hours.to) return false;
  const { from, to } = hours;
  return from < to ? minuteOfDay >= from && minuteOfDay < to : minuteOfDay >= from || minuteOfDay < to;
}

export interface NewsPolicy {
  readonly hears: ReadonlySet<Topic>;
  /** At most one message of a subject within this time. */
  readonly bundleMs: number;
  readonly quiet: boolean;
}

export interface DueNews {
  /** One message with all of these, now; empty when nothing is due. */
  readonly send: readonly KeptNews[];
  /** What stays for later, where the message gets through. */
  readonly keep: readonly KeptNews[];
}

/** So many texts of one subject are told; the rest is counted. */
const TEXTS_KEPT = 8;
/** So many subjects are kept for somebody who cannot be reached; the newest ones. */
const SUBJECTS_KEPT = 50;

export function planNews(
  known: Pick<NewsCondition, "kept" | "told" | "failures" | "updatedAt"> | undefined,
  fresh: readonly News[],
  policy: NewsPolicy,
  now: number,
): DueNews {
  const heard = fresh.filter(({ topic }) => policy.hears.has(topic));
  const all = mergeNews(known?.kept ?? [], heard, known?.told ?? {});
  const failures = known?.failures ?? 0;
  if (failures > 0 && waitLeft(known?.updatedAt ?? 0, retryWaitMs(failures), now) > 0) return { send: [], keep: all };
  const isDue = ({ subject, urgent, patient, sinceAt }: KeptNews) => {
    const last = known?.told[subject];
    if (patient && waitLeft(sinceAt, policy.bundleMs, now) > 0) return false;
    return (urgent || !policy.quiet) && (last === undefined || waitLeft(last, policy.bundleMs, now) === 0);
  };
  return { send: all.filter(isDue), keep: all.filter((one) => !isDue(one)) };
}

function mergeNews(
  kept: readonly KeptNews[],
  fresh: readonly News[],
  told: Readonly<Record<string, number>>,
): KeptNews[] {
  const bySubject = new Map(kept.map((one) => [one.subject, one]));
  for (const { topic, subject, text, urgent, at, patient, ends } of fresh) {
    const before = bySubject.get(subject);
    bySubject.delete(subject);
    // What may pass by itself is told once, and that it is over only to whom it was told.
    if (ends ? told[subject] === undefined : patient && told[subject] !== undefined) continue;
    if (ends) {
      bySubject.set(subject, { topic, subject, texts: [text], count: 1, sinceAt: at, urgent });
      continue;
    }
    // The same again says nothing new.
    const texts = [...(before?.texts ?? []).filter((one) => one !== text), text].slice(-TEXTS_KEPT);
    bySubject.set(subject, {
      ...{ topic, subject, texts },
      count: (before?.count ?? 0) + (before?.texts.includes(text) ? 0 : 1),
      sinceAt: before?.sinceAt ?? at,
      urgent: urgent || (before?.urgent ?? false),
      ...(patient ? { patient } : {}),
    });
  }
  return [...bySubject.values()].slice(-SUBJECTS_KEPT);
}

/** The store itself is in doubt then, so it is told from the file that says so and not from the log. */
export function safeModeNews(safeMode: { readonly since: string; readonly problem: string }, at: number): KeptNews {
  const text = `Safe mode is on since ${safeMode.since}: ${safeMode.problem} Nothing is dispatched until you say 'overseer thaw'.`;
  return { topic: "safe-mode", subject: "safe-mode", texts: [text], count: 1, sinceAt: at, urgent: true };
}

/** The message as lines for people. */
export function renderNews(news: readonly KeptNews[]): { readonly title: string; readonly body: string } {
  const lines = news.flatMap(({ texts, count }) => [
    ...(count > texts.length ? [`(${count - texts.length} earlier ones are left out)`] : []),
    ...texts,
  ]);
  const [first = "Nothing"] = news[0]?.texts.slice(-1) ?? [];
  const title = lines.length === 1 ? first : `${lines.length} news: ${first}`;
  return { title: title.slice(0, 160), body: lines.join("\n") };
}
