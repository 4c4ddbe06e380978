/**
 * run/guard.json: who the guard is, what it is doing, what it remembers of failures, and its last words; for `status`, for
 * `guard stop`, and for the guard that comes after it. Replaced whole at every change. Pure: texts in, values out.
 */

import { parseRecord } from "#domain/health/daemon-life.ts";
import type { Expected } from "./health.ts";
import { type FailureMemory, NO_FAILURES } from "./spiral.ts";

/** What the guard is doing. */
export const GUARD_PHASES = ["starting", "running", "standing-by", "stopping", "remediating", "terminated"] as const;
export type GuardPhase = (typeof GUARD_PHASES)[number];

export type GuardTone = "plain" | "good" | "warning" | "bad";

export interface GuardWord {
  readonly at: number;
  readonly tone: GuardTone;
  readonly text: string;
}

export interface GuardFile {
  readonly pid: number;
  /** The kernel's start stamp; pid and start together are the process. */
  readonly start: string;
  readonly instance: string;
  readonly version: string;
  /** Wall clock, ms. */
  readonly since: number;
  readonly phase: GuardPhase;
  /** When it last looked. */
  readonly at: number;
  readonly daemon: { readonly pid: number; readonly instance: string; readonly since: number } | null;
  /** What `up` is started with. */
  readonly flags: readonly string[];
  readonly memory: FailureMemory;
  /** The daemon that the next guard compares with. */
  readonly watched: Expected | null;
  /** When it last looked, the daemon was down because somebody wants it so. */
  readonly stoodBy: boolean;
  readonly remediation: { readonly sinceAt: number; readonly try: number; readonly failure: string } | null;
  /** Since when it takes the daemon down because it was stopped itself; null where it was not (domain/guard/succession.ts). */
  readonly endsDaemonAt: number | null;
  /** Why it ended by itself; null while it runs, or where somebody asked it to. */
  readonly gaveUp: { readonly code: string; readonly why: string } | null;
  /** The last few, the newest last. */
  readonly words: readonly GuardWord[];
}

export const WORDS_KEPT = 20;

/** A file that somebody cut off or scribbled in says nothing. */
export function parseGuardFile(text: string | undefined): GuardFile | undefined {
  const value = parseRecord(text);
  if (typeof value?.pid !== "number" || typeof value.start !== "string" || typeof value.instance !== "string") {
    return undefined;
  }
  const phase = GUARD_PHASES.find((one) => one === value.phase) ?? "terminated";
  return {
    ...{ pid: value.pid, start: value.start, instance: value.instance, phase },
    version: String(value.version ?? "?"),
    since: Number(value.since ?? 0),
    at: Number(value.at ?? 0),
    daemon: (value.daemon as GuardFile["daemon"]) ?? null,
    flags: Array.isArray(value.flags) ? value.flags.map(String) : [],
    memory: { ...NO_FAILURES, ...(value.memory as Partial<FailureMemory> | undefined) },
    watched: (value.watched as GuardFile["watched"]) ?? null,
    stoodBy: value.stoodBy === true,
    remediation: (value.remediation as GuardFile["remediation"]) ?? null,
    endsDaemonAt: typeof value.endsDaemonAt === "number" ? value.endsDaemonAt : null,
    gaveUp: (value.gaveUp as GuardFile["gaveUp"]) ?? null,
    words: Array.isArray(value.words) ? (value.words as GuardWord[]).slice(-WORDS_KEPT) : [],
  };
}

/** How a file begins by which an agent or a person says that only a person can help (GUARD-4, GUARD-8). */
export const MANUAL_PREFIX = "manual_intervention_needed_";

export function isManualFile(name: string): boolean {
  return name.startsWith(MANUAL_PREFIX) && name.endsWith(".txt");
}
