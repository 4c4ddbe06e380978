/**
 * What the daemon leaves about itself in run/ and what somebody outside makes of it: who it is (daemon.json), that its
 * heart beats and its tick ticks (auto.heartbeat), and what people want of it (intent.json). Status, the guard and the
 * next `up` read the same three and judge by the same rule. A process that is there and a socket that answers prove
 * nothing: the tick is what must move (DEAD-1). Pure: texts and facts in, a judgement out.
 */
import type { Hold } from "./settings.ts";

/** Of what is said over its socket; raised when the two sides would no longer understand each other. */
export const PROTOCOL = 1;

/** run/daemon.json: written once the lock is held, gone with a clean end. */
export interface Registration {
  readonly pid: number;
  /** The kernel's start stamp; pid and start together are the process. */
  readonly start: string;
  /** One life of a daemon. */
  readonly instance: string;
  readonly version: string;
  readonly socket: string;
  readonly log: string;
  /** Wall clock, ms. */
  readonly since: number;
  /** False after `up --no-supervision`. */
  readonly supervision: boolean;
  /** True after `up --auto`: tasks are taken from the pool, and work lands by itself unless the configuration says otherwise. */
  readonly auto: boolean;
  /** What `up --auto` was told beside the configuration, which it overrides. */
  readonly flags: AutoFlags;
  /** Set after `watch` and `up --no-dispatch`: nobody is started and nothing lands; agents are looked at so often at least. */
  readonly watching?: WatchingOnly;
}

/** A daemon that only watches, judges and recovers those that live. */
export interface WatchingOnly {
  readonly everyMs: number;
}

/** What may be said with `up --auto`; what is missing is as configured. */
export interface AutoFlags {
  readonly taskPoolCommand?: string;
  readonly taskDirectory?: string;
  readonly concurrency?: number;
  readonly postAcceptCommand?: string;
  /** How many tasks this run takes before it ends. */
  readonly tasks?: number;
  /** What this run may spend on tasks before it ends, in dollars. */
  readonly budgetUsd?: number;
  /** Where whoever said it stood: a command or a directory that they named is looked for there. */
  readonly cwd?: string;
}

/** run/auto.heartbeat: replaced every few seconds by a timer that no tick can hold up. */
export interface Heartbeat {
  readonly instance: string;
  /** Wall clock, ms. */
  readonly at: number;
  /** Milliseconds since boot, for watchers that must not trust wall clocks. */
  readonly bootMs: number;
  /** Finished ticks of this instance. */
  readonly ticks: number;
  /** When the last tick ended, or since when the first is awaited; wall clock, ms. */
  readonly tickedAt: number;
  /** Set while the last tick failed. */
  readonly tickProblem: string | null;
  /** Loops that fail, with their last words. */
  readonly troubles: readonly LoopTrouble[];
  /** How the loops that supervise agents run. */
  readonly rings: readonly RingPulse[];
  /** Why the configuration on disk is not in effect; null when it is. */
  readonly configProblem: string | null;
  /** Why nothing is started, checked or landed under the settings as they are; null when nothing is in the way. */
  readonly hold: Hold | null;
  /** Whether there is work that could move by itself, and when anything last did; null before the first tick. */
  readonly work: WorkPulse | null;
  /** How auto mode moves, so that whoever watches sees a standstill in this file alone; null where it does not run. */
  readonly auto: AutoPulse | null;
}

export interface WorkPulse {
  /** Something is ready, or somebody at work, that waits for no person, quota, provider, budget or setting. */
  readonly open: boolean;
  /** Wall clock, ms. */
  readonly progressAt: number;
}

/** run/daemon.end.json: how the last life ended, in its own words; a daemon that was killed leaves none. */
export interface DaemonEnding {
  readonly instance: string;
  readonly at: number;
  readonly reason: string;
  /** It had nothing more to do; one that was asked to end by a signal is not done. */
  readonly done: boolean;
  /** What it stood on is broken; null where it was asked to end, or was done. */
  readonly failure: { readonly code: string; readonly problem: string } | null;
}

export function parseEnding(text: string | undefined): DaemonEnding | undefined {
  const value = parseRecord(text);
  if (typeof value?.instance !== "string" || typeof value.reason !== "string") return undefined;
  const failure = value.failure as Record<string, unknown> | null | undefined;
  return {
    instance: value.instance,
    at: Number(value.at ?? 0),
    reason: value.reason,
    done: value.done === true,
    failure: failure ? { code: String(failure.code ?? "?"), problem: String(failure.problem ?? "") } : null,
  };
}

export interface AutoPulse {
  /** When the last task was taken from the pool, and when the last one was over; wall clock, ms. */
  readonly lastTakenAt: number | null;
  readonly lastEndedAt: number | null;
  /** Why no task was taken in the last turn; null where one was, or one is about to be. */
  readonly why: string | null;
}

/** How one of the loops that supervise agents runs in this life of the daemon (LOOP-1). */
export interface RingPulse {
  readonly ring: string;
  /** How often it has come to its end, and how often it has failed instead. */
  readonly cycles: number;
  readonly failures: number;
  /** When it last came to its end; wall clock, ms. Null before the first time. */
  readonly lastAt: number | null;
  /** Since when it does with less than it should; null where it does not. */
  readonly degradedSince: number | null;
}

export interface LoopTrouble {
  readonly loop: string;
  readonly failures: number;
  readonly problem: string;
}

/** run/intent.json: what a person wants, so that whoever restarts things does not fight it. */
export interface Intent {
  readonly want: "up" | "down" | "frozen";
  /** Wall clock, ms. */
  readonly at: number;
  readonly by: string;
  readonly reason: string | null;
}

/** With `log`, only the daemon that writes there: the files of a copied repository name the daemon of its original. */
export function parseRegistration(text: string | undefined, log?: string): Registration | undefined {
  const value = parseRecord(text);
  if (log !== undefined && value?.log !== log) return undefined;
  if (typeof value?.pid !== "number" || typeof value.start !== "string") return undefined;
  if (typeof value.instance !== "string" || typeof value.socket !== "string") return undefined;
  return {
    pid: value.pid,
    start: value.start,
    instance: value.instance,
    socket: value.socket,
    version: String(value.version ?? "?"),
    log: String(value.log ?? ""),
    since: Number(value.since ?? 0),
    supervision: value.supervision !== false,
    auto: value.auto === true,
    flags: parseAutoFlags(value.flags),
    ...parseWatching(value.watching),
  };
}

function parseWatching(value: unknown): Pick<Registration, "watching"> {
  if (typeof value !== "object" || value === null || !("everyMs" in value)) return {};
  const { everyMs } = value;
  return typeof everyMs === "number" && everyMs > 0 ? { watching: { everyMs } } : {};
}

/** As run/daemon.json has it: with the names under which programs written for the seed look (AUTO-4). */
export function withSeedNames(registration: Registration) {
  const { instance, since, log } = registration;
  return { ...registration, instance_id: instance, start_time_unix: Math.floor(since / 1000), log_file: log };
}

/** The same for run/auto.heartbeat. */
export function withSeedBeat(beat: Heartbeat) {
  const seconds = (at: number | null | undefined) => (at === null || at === undefined ? null : Math.floor(at / 1000));
  return {
    ...beat,
    instance_id: beat.instance,
    timestamp_unix: seconds(beat.at),
    last_task_assignment_unix: seconds(beat.auto?.lastTakenAt),
    last_task_completion_unix: seconds(beat.auto?.lastEndedAt),
  };
}

/** What is of another kind than it should be counts as not said. */
export function parseAutoFlags(given: unknown): AutoFlags {
  const value = typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
  const texts = ["taskPoolCommand", "taskDirectory", "postAcceptCommand", "cwd"] as const;
  const numbers = ["concurrency", "tasks", "budgetUsd"] as const;
  return {
    ...Object.fromEntries(texts.flatMap((key) => (typeof value[key] === "string" ? [[key, value[key]]] : []))),
    ...Object.fromEntries(numbers.flatMap((key) => (Number.isFinite(value[key]) ? [[key, value[key]]] : []))),
  };
}

export function parseHeartbeat(text: string | undefined): Heartbeat | undefined {
  const value = parseRecord(text);
  if (typeof value?.instance !== "string" || typeof value.at !== "number") return undefined;
  return {
    instance: value.instance,
    at: value.at,
    bootMs: Number(value.bootMs ?? 0),
    ticks: Number(value.ticks ?? 0),
    tickedAt: Number(value.tickedAt ?? value.at),
    tickProblem: typeof value.tickProblem === "string" ? value.tickProblem : null,
    troubles: Array.isArray(value.troubles) ? (value.troubles as LoopTrouble[]) : [],
    rings: Array.isArray(value.rings) ? (value.rings as RingPulse[]) : [],
    configProblem: typeof value.configProblem === "string" ? value.configProblem : null,
    hold: typeof value.hold === "object" && value.hold !== null ? (value.hold as Hold) : null,
    work: typeof value.work === "object" && value.work !== null ? (value.work as WorkPulse) : null,
    auto: typeof value.auto === "object" && value.auto !== null ? (value.auto as AutoPulse) : null,
  };
}

export function parseIntent(text: string | undefined): Intent | undefined {
  const value = parseRecord(text);
  const { want } = value ?? {};
  if (want !== "up" && want !== "down" && want !== "frozen") return undefined;
  return {
    want,
    at: Number(value?.at ?? 0),
    by: String(value?.by ?? "?"),
    reason: typeof value?.reason === "string" ? value.reason : null,
  };
}

/** A file that somebody cut off or scribbled in says nothing. */
export function parseRecord(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export type DaemonState =
  | "stopped" /** none is registered */
  | "died" /** registered, and its process is gone */
  | "not-beating" /** its process is there and its heart stands still: frozen, hung or starved */
  | "not-ticking" /** it beats, and its tick does not come to an end */
  | "running";

export interface DaemonEvidence {
  readonly registration: Registration | undefined;
  readonly heartbeat: Heartbeat | undefined;
  /** Does that very process live? Asked only where one is registered. */
  alive(registration: Registration): boolean;
}

export interface DaemonLimits {
  /** A heartbeat older than this is none. */
  readonly heartbeatTimeoutMs: number;
  /** Longer than this without a finished tick, the tick is stuck. */
  readonly tickTimeoutMs: number;
}

export interface DaemonJudgement {
  readonly state: DaemonState;
  /** Since when it is so, wall clock ms, where that is known. */
  readonly since: number | null;
}

export function judgeDaemon(evidence: DaemonEvidence, limits: DaemonLimits, now: number): DaemonJudgement {
  const { registration } = evidence;
  if (!registration) return { state: "stopped", since: null };
  // A heartbeat of an earlier life says nothing about this one.
  const heartbeat =
    evidence.heartbeat?.instance === registration.instance
      ? evidence.heartbeat
      : { at: registration.since, tickedAt: registration.since };
  if (!evidence.alive(registration)) return { state: "died", since: heartbeat.at };
  if (now - heartbeat.at > limits.heartbeatTimeoutMs) return { state: "not-beating", since: heartbeat.at };
  if (now - heartbeat.tickedAt > limits.tickTimeoutMs) return { state: "not-ticking", since: heartbeat.tickedAt };
  return { state: "running", since: registration.since };
}
