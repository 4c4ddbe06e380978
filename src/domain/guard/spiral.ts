/**
 * What the guard does about a failure, and when it stops trying (GUARD-3, GUARD-5, GUARD-9, FAIL-17, FAIL-25). The first
 * failure of a kind that is remediated is always remediated, however fast it came: only what fails again within the cooldown
 * after a remediation is a spiral. Stalls and a daemon that vanished are restarted, not remediated: there is nothing to
 * repair; when they come too often in a row, that ends like a spiral too. A healthy run makes all of it forgotten. Pure.
 */
import type { DaemonFailure, FailureKind } from "./health.ts";

/** What the guard remembers of its failures; kept in its file, so that its own restart forgets nothing. */
export interface FailureMemory {
  /** A remediation was made, and no run since then was healthy. */
  readonly remediated: boolean;
  /** Restarts after a daemon that vanished, without a healthy run in between. */
  readonly vanished: number;
  /** Restarts for stalls in a row, without any progress in between. */
  readonly stalls: number;
}

export const NO_FAILURES: FailureMemory = { remediated: false, vanished: 0, stalls: 0 };

export interface SpiralLimits {
  /** A daemon that ran so long was healthy. */
  readonly cooldownMs: number;
  readonly stallRestarts: number;
}

export type GuardVerdict =
  | { readonly act: "restart"; readonly memory: FailureMemory }
  | { readonly act: "remediate"; readonly memory: FailureMemory }
  /** Nothing but room on the disk helps; it is started again when there is some. */
  | { readonly act: "wait-for-room"; readonly memory: FailureMemory }
  | { readonly act: "give-up"; readonly code: string; readonly why: string };

const RESTARTED: ReadonlySet<FailureKind> = new Set<FailureKind>(["vanished", "stalled"]);
/** Hard failures that no agent can repair, and that the next start finds its way around: it comes up in safe mode. */
const RESTARTED_CODES: ReadonlySet<string> = new Set(["STATE_CORRUPT"]);
/** Refusals of a start that nobody has to repair. */
const HOPELESS_CODES: ReadonlySet<string> = new Set(["NO_SOURCE_OF_WORK", "STORE_MISSING", "USAGE", "NEEDS_AUTO"]);

/** `ranMs`: how long the daemon that failed had run. */
export function decideAfterFailure(
  memory: FailureMemory,
  failure: DaemonFailure,
  ranMs: number,
  limits: SpiralLimits,
): GuardVerdict {
  const { kind, code, detail } = failure;
  if (code === "DISK_FULL") return { act: "wait-for-room", memory };
  if (code !== null && HOPELESS_CODES.has(code)) return { act: "give-up", code, why: detail };
  const isQuick = ranMs < limits.cooldownMs;
  const known = isQuick ? memory : { ...NO_FAILURES, stalls: memory.stalls };
  if (known.remediated && isQuick && kind !== "stalled") return spiral(detail, ranMs);
  if (kind === "stalled") {
    if (known.stalls >= limits.stallRestarts) {
      const why = `It was restarted ${known.stalls === 1 ? "once" : `${known.stalls} times in a row`} because nothing moved, and nothing moves. ${detail}`;
      return { act: "give-up", code: "GUARD_STALLED", why };
    }
    return { act: "restart", memory: { ...known, stalls: known.stalls + 1 } };
  }
  if (RESTARTED.has(kind) || (code !== null && RESTARTED_CODES.has(code))) {
    if (known.vanished > 0) return spiral(detail, ranMs);
    return { act: "restart", memory: { ...known, vanished: known.vanished + 1 } };
  }
  return { act: "remediate", memory: { ...known, remediated: true } };
}

function spiral(detail: string, ranMs: number): GuardVerdict {
  const why = `The daemon failed again ${Math.round(ranMs / 100) / 10} s after it was started, so the guard gives up. ${detail} Fix the cause, then run 'overseer guard' again.`;
  return { act: "give-up", code: "GUARD_SPIRAL", why };
}

/** After a look at which the daemon was well. */
export function noteHealthy(
  memory: FailureMemory,
  { ranMs, progressed }: { readonly ranMs: number; readonly progressed: boolean },
  { cooldownMs }: Pick<SpiralLimits, "cooldownMs">,
): FailureMemory {
  const stalls = progressed ? 0 : memory.stalls;
  if (ranMs < cooldownMs) return stalls === memory.stalls ? memory : { ...memory, stalls };
  return memory.remediated || memory.vanished > 0 || stalls !== memory.stalls ? { ...NO_FAILURES, stalls } : memory;
}
