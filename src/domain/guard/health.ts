/**
 * How the daemon does, as somebody sees it who shares nothing with it but files (GUARD-1): who it is, that its heart beats and
 * its tick ticks, what it says of its own faults, and whether the work moves. Nothing is read from free text, and nothing is
 * measured by a wall clock: how long something has stood still is counted by the watcher itself. Pure.
 */
import type { DaemonEnding, Heartbeat, Intent, Registration } from "#domain/health/daemon-life.ts";

/** One record of level error in the daemon's log, or of level warn where the guard is strict. */
export interface Fault {
  readonly event: string;
  readonly detail: string;
  /** How often in a row, where the record says so. */
  readonly failures: number;
}

export interface DaemonSeen {
  /** Who is registered; the one that is expected where nobody is and that one lives. */
  readonly registration: Registration | undefined;
  /** That very process lives. */
  readonly alive: boolean;
  readonly heartbeat: Heartbeat | undefined;
  /** What the last life said when it ended. */
  readonly ending: DaemonEnding | undefined;
  readonly intent: Intent | undefined;
  /** Since the last look. */
  readonly faults: readonly Fault[];
  /** The watcher's own time since each of them last moved; 0 where it did since the last look. */
  readonly still: { readonly beatMs: number; readonly tickMs: number; readonly progressMs: number };
  /** The watcher's own time since it first saw this registration; 0 for the one that it expects. */
  readonly strangeMs: number;
  readonly isDiskFull: boolean;
}

export interface HealthLimits {
  readonly heartbeatTimeoutMs: number;
  readonly tickTimeoutMs: number;
  readonly stallAfterMs: number;
}

export type FailureKind =
  | "vanished" /** its process is gone, and it did not say why */
  | "hard-failure" /** it ended by itself and said why */
  | "not-started" /** it could not be started */
  | "not-beating"
  | "not-ticking"
  | "faults" /** it says that something in it is broken */
  | "other-daemon" /** another one than was started is registered */
  | "unreadable" /** what it leaves cannot be read */
  | "stalled"; /** everything lives, and nothing moves */

export interface DaemonFailure {
  readonly kind: FailureKind;
  /** For scripts and for whoever repairs it: the code of a hard failure or of a refused start. */
  readonly code: string | null;
  readonly detail: string;
}

export type Health =
  | { readonly state: "well" }
  /** Nobody wants it to run. */
  | { readonly state: "unwanted"; readonly why: string }
  /** It is done, and said so. */
  | { readonly state: "done"; readonly why: string }
  /** None is there, and none was started yet. */
  | { readonly state: "absent" }
  /** Another one is there because a person wanted so: it is watched from now on. */
  | { readonly state: "adopt"; readonly registration: Registration }
  | { readonly state: "failed"; readonly failure: DaemonFailure };

/** What the guard takes for its daemon; null while it knows none. */
export interface Expected {
  readonly registration: Registration;
  /** When a person or a daemon last said what is wanted, as it was when this one was taken. */
  readonly intentAt: number;
}

export function judgeHealth(seen: DaemonSeen, expected: Expected | null, limits: HealthLimits): Health {
  const { registration, alive, intent, ending } = seen;
  const lives = registration !== undefined && alive;
  if (intent?.want === "down" && !lives) return { state: "unwanted", why: intent.reason ?? "somebody said down" };
  if (expected === null) return lives ? { state: "adopt", registration } : { state: "absent" };
  const own = expected.registration.instance;
  if (lives && registration.instance !== own) {
    // A person who says down or up leaves a word; one that comes without is nobody's.
    const wasAsked = (intent?.at ?? 0) !== expected.intentAt;
    if (wasAsked) return { state: "adopt", registration };
    if (seen.strangeMs < WORD_WITHIN_MS) return { state: "well" };
    return fail(
      "other-daemon",
      `The daemon (pid ${registration.pid}) is not the one that was started: it began anew by itself.`,
    );
  }
  if (!lives) return judgeEnd(ending?.instance === own ? ending : undefined, expected.registration);
  if (intent?.want === "down") return { state: "well" }; // it is on its way out
  return judgeLife(seen, limits);
}

/** `up` leaves its word once the daemon answers, a moment after that is registered. */
export const WORD_WITHIN_MS = 3_000;

function judgeEnd(ending: DaemonEnding | undefined, { pid }: Registration): Health {
  if (!ending) return fail("vanished", `The daemon (pid ${pid}) exited unexpectedly; it recorded no reason.`);
  const { failure } = ending;
  if (ending.done) return { state: "done", why: ending.reason };
  if (!failure) return fail("vanished", `The daemon (pid ${pid}) was ended from outside: ${ending.reason}.`);
  return { state: "failed", failure: { kind: "hard-failure", code: failure.code, detail: failure.problem } };
}

/** It is there: does it beat, tick, work? */
function judgeLife({ still, heartbeat, faults, intent, isDiskFull }: DaemonSeen, limits: HealthLimits): Health {
  // A full disk stops hearts that are well; it is told as what it is, and ends when there is room.
  const isSilent = still.beatMs > limits.heartbeatTimeoutMs;
  if (isDiskFull && (isSilent || still.tickMs > limits.tickTimeoutMs)) return { state: "well" };
  if (isSilent) return fail("not-beating", `Its heart has stood still for ${seconds(still.beatMs)}.`);
  if (still.tickMs > limits.tickTimeoutMs) {
    const why = heartbeat?.tickProblem ? `: ${heartbeat.tickProblem}` : "";
    return fail("not-ticking", `It beats, and no tick has ended for ${seconds(still.tickMs)}${why}.`);
  }
  const fault = isDiskFull ? undefined : faults.find(isGrave);
  if (fault) return fail("faults", `It says that it is broken (${fault.event}): ${fault.detail}`);
  const mayMove = heartbeat?.work?.open === true && intent?.want !== "frozen";
  if (mayMove && still.progressMs > limits.stallAfterMs) {
    return fail("stalled", `There is work, and nothing has moved for ${seconds(still.progressMs)}.`);
  }
  return { state: "well" };
}

/** A loop that fails rests and tries again by itself; only one that keeps failing is broken. */
const GRAVE_FAILURES = 3;

/** What the daemon repairs by itself, ends for by itself and then says why, or shows by a heart that stands still. */
const OWN_CARE: ReadonlySet<string> = new Set([
  ...["store.damaged", "heartbeat.failed", "auto.failed"],
  ...["auto.failure_not_said", "daemon.stop_not_recorded", "store.not_copied"],
]);

function isGrave({ event, failures }: Fault): boolean {
  return event === "loop.failed" ? failures >= GRAVE_FAILURES : !OWN_CARE.has(event);
}

function fail(kind: FailureKind, detail: string): Health {
  return { state: "failed", failure: { kind, code: null, detail } };
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
