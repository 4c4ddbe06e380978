/**
 * What people are told without being asked: a goal that is reached, a review that waits, money, a provider that fails.
 * Each who is told has a place in the log up to which it was read for them, what is kept back because they were told of
 * the same a moment ago, and whether anything gets through. What is news and when it is told is reports/news.ts.
 */
import type { Condition } from "./condition.ts";
import type { EventOf } from "./event.ts";

/** What somebody may want to hear of, as the configuration calls it. */
export const TOPICS = [
  "question",
  "goal",
  "review",
  "landing",
  "budget",
  "quota",
  "provider",
  "mass-death",
  "safe-mode",
  "daemon",
  "dead-letter",
  "answer",
] as const;
export type Topic = (typeof TOPICS)[number];

/** News of one subject that were not told yet, the newest last. */
export interface KeptNews {
  readonly topic: Topic;
  /** What it is about: messages of one subject are bundled. */
  readonly subject: string;
  /** The last few; `count` says how many there were. */
  readonly texts: readonly string[];
  readonly count: number;
  readonly sinceAt: number;
  /** It is told in quiet hours too. */
  readonly urgent: boolean;
  /** It may pass by itself: told once it has lasted for a quiet time. */
  readonly patient?: true;
}

export interface NewsCondition {
  readonly conditionId: string;
  readonly active: boolean;
  readonly since: number;
  readonly updatedAt: number;
  readonly kind: "news";
  /** Who is told. */
  readonly channel: string;
  /** Up to which event of the log news were read for them. */
  readonly cursor: number;
  readonly kept: readonly KeptNews[];
  /** When each subject was last told. */
  readonly told: Readonly<Record<string, number>>;
  /** Tries that failed since something last got through. */
  readonly failures: number;
  readonly problem: string | null;
  readonly failingSince: number | null;
}

export const newsId = (channel: string) => `news:${channel}`;

/** More subjects than anybody is told of within any quiet time. */
const SUBJECTS_KEPT = 100;

export function applyToNews(known: Condition | undefined, event: EventOf<"news.told">): NewsCondition {
  const before = known?.kind === "news" ? known : undefined;
  const { channel, cursor, ok, detail, subjects, kept } = event.data;
  const common = { conditionId: newsId(channel), active: true, kind: "news", channel, cursor, kept } as const;
  const since = before?.since ?? event.at;
  if (before && ok && subjects.length === 0) return { ...before, cursor, kept };
  if (!ok) {
    const failing = { failures: (before?.failures ?? 0) + 1, problem: detail };
    const failingSince = before?.failingSince ?? event.at;
    return { ...common, since, updatedAt: event.at, told: before?.told ?? {}, ...failing, failingSince };
  }
  const told = { ...before?.told, ...Object.fromEntries(subjects.map((subject) => [subject, event.at])) };
  const latest = Object.entries(told).sort(([, one], [, other]) => other - one);
  return {
    ...{ ...common, since, updatedAt: event.at, failures: 0, problem: null, failingSince: null },
    told: Object.fromEntries(latest.slice(0, SUBJECTS_KEPT)),
  };
}
