/**
 * An agent's curriculum: what a name has done over all its sessions. A session is folded in once; the fold is fenced
 * by the attempt number, because names are reused and the end of a session may be told twice.
 * Times and summaries are handed in; nothing is looked up.
 */

export const SESSION_OUTCOMES = ["done", "failed", "died", "cancelled", "stopped"] as const;
export type SessionOutcome = (typeof SESSION_OUTCOMES)[number];

/** One session as it ended. */
export interface SessionRecord {
  readonly attempt: number;
  readonly goalId: string;
  readonly nodeId: string;
  readonly outcome: SessionOutcome;
  readonly summary: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Parts of the code it worked in; see `domainsOf`. */
  readonly domains: readonly string[];
}

export interface CompletedTask {
  readonly goalId: string;
  readonly nodeId: string;
  readonly summary: string;
  readonly completedAt: number;
}

export type HistoryEntry = Omit<SessionRecord, "domains">;

export interface AgentIdentity {
  readonly name: string;
  readonly capability: string;
  readonly createdAt: number;
  /** Sessions that ended with their work done. */
  readonly sessionsCompleted: number;
  /** Where it has worked, the latest first. */
  readonly domains: readonly string[];
  /** Tasks done, the latest first. */
  readonly recentTasks: readonly CompletedTask[];
  /** All sessions, however they ended, the latest first. */
  readonly workHistory: readonly HistoryEntry[];
  /** The last attempt that was folded in. */
  readonly lastAttempt: number;
}

export const RECENT_TASKS = 10;
export const WORK_HISTORY = 50;
const DOMAINS = 20;
const SUMMARY_LENGTH = 400;

export function newIdentity(name: string, capability: string, now: number): AgentIdentity {
  return {
    name,
    capability,
    createdAt: now,
    sessionsCompleted: 0,
    domains: [],
    recentTasks: [],
    workHistory: [],
    lastAttempt: 0,
  };
}

/** The identity after one more session. An attempt that is not newer than the last one folded in changes nothing. */
export function afterSession(identity: AgentIdentity, session: SessionRecord): AgentIdentity {
  if (session.attempt <= identity.lastAttempt) return identity;
  const { domains, ...rest } = session;
  const entry: HistoryEntry = { ...rest, summary: shorten(session.summary) };
  const done = session.outcome === "done";
  const task = { goalId: entry.goalId, nodeId: entry.nodeId, summary: entry.summary, completedAt: entry.endedAt };
  return {
    ...identity,
    sessionsCompleted: identity.sessionsCompleted + (done ? 1 : 0),
    domains: [...new Set([...domains, ...identity.domains])].slice(0, DOMAINS),
    recentTasks: done ? [task, ...identity.recentTasks].slice(0, RECENT_TASKS) : identity.recentTasks,
    workHistory: [entry, ...identity.workHistory].slice(0, WORK_HISTORY),
    lastAttempt: session.attempt,
  };
}

/** The parts of the code that paths lie in: at most two directories deep, each once, those with most paths first. */
export function domainsOf(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const directories = path
      .split("/")
      .slice(0, -1)
      .filter((part) => part !== "" && part !== ".");
    const domain = directories.slice(0, 2).join("/");
    if (domain !== "") counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  return [...counts].toSorted(([a, many], [b, few]) => few - many || (a < b ? -1 : 1)).map(([domain]) => domain);
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= SUMMARY_LENGTH ? text : `${characters.slice(0, SUMMARY_LENGTH - 1).join("")}…`;
}
