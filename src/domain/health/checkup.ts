/**
 * What `doctor` makes of what it tried. A check is judged by outcomes (a session opened, a signal arrived, a commit was
 * made), never by whether a file or a program is merely there; and every finding that is not fine names the next step.
 * Pure: control/doctor-*.ts tries things out and hands in what came of it.
 */
import { isoTime } from "#domain/core/iso-time.ts";

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** The next step; absent when all is well. */
  readonly next?: string;
}

/** One thing that was tried, in the order in which they build on each other. */
export interface Tried {
  /** As a clause: "a session opens". */
  readonly what: string;
  /** Why it did not work; null when it did. */
  readonly problem: string | null;
  /** A better next step than the check's own, where the failure itself knows one. */
  readonly next?: string;
}

/** The first thing that did not work is what is wrong; what comes after it says nothing of its own. */
export function judgeTried(check: string, tried: readonly Tried[], fine: string, next: string): Finding {
  const failed = tried.find(({ problem }) => problem !== null);
  if (failed === undefined) return { check, ok: true, detail: fine };
  return { check, ok: false, detail: `it fails where ${failed.what}: ${failed.problem}`, next: failed.next ?? next };
}

/** MULCH-1: what came of asking it. */
export function judgeMulch(
  tried: { readonly records: number } | { readonly problem: string; readonly missing?: boolean },
): Finding {
  const check = "mulch";
  if ("records" in tried) return { check, ok: true, detail: `it answers, with ${tried.records} records` };
  const aid = tried.missing
    ? "Install it (npm install --global @os-eco/mulch-cli) and run 'mulch init'"
    : "Try 'mulch query --all' in your checkout; where it has no .mulch/ yet, run 'mulch init'";
  const next = `${aid}, or set mulch.enabled: false; agents begin without it.`;
  return { check, ok: false, detail: tried.problem, next };
}

export interface DiskFacts {
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Below either of these no agent is started. */
  readonly minBytes: number;
  readonly minPercent: number;
}

const MEGABYTE = 1024 * 1024;
/** Below this not even the log is safe, whatever is configured. */
const LEAST_MEGABYTES = 500;

export function judgeDisk({ freeBytes, totalBytes, minBytes, minPercent }: DiskFacts): Finding {
  const free = Math.floor(freeBytes / MEGABYTE);
  const needed = Math.max(LEAST_MEGABYTES, Math.ceil(Math.max(minBytes, (totalBytes * minPercent) / 100) / MEGABYTE));
  if (free >= needed) return { check: "disk", ok: true, detail: `${inThousands(free)} MB free` };
  const why = free < LEAST_MEGABYTES ? "no new work starts on a full disk" : "no agent is started with less";
  return {
    check: "disk",
    ok: false,
    detail: `${inThousands(free)} MB free, and ${inThousands(needed)} MB are needed`,
    next: `Free some space: ${why} ('overseer worktree clean' removes what has landed; capacity.minDisk sets the limit).`,
  };
}

function inThousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

export interface ClockFacts {
  /** Wall clock now, ms. */
  readonly now: number;
  /** The moment of the newest event in the log; null when there is none. */
  readonly newest: number | null;
  /** How far the wall clock and the clock since boot moved while the other checks ran. */
  readonly wallMs: number;
  readonly bootMs: number;
}

/** 2024-01-01: older than this program. */
const BEFORE_US = 1_704_067_200_000;
/** Two processes that read the same clock may be told apart by this much. */
const TOLERATED_MS = 5_000;
const SET_IT = "Set the clock (for example 'timedatectl set-ntp true').";

export function judgeClock({ now, newest, wallMs, bootMs }: ClockFacts): Finding {
  const wrong = (detail: string, next: string): Finding => ({ check: "clock", ok: false, detail, next });
  if (now < BEFORE_US) return wrong(`it shows ${isoTime(now)}, before this program was built`, SET_IT);
  if (newest !== null && newest - now > TOLERATED_MS) {
    return wrong(
      `it was set back: the newest event in the log is of ${isoTime(newest)}, ${lasting(newest - now)} from now`,
      `${SET_IT} Nothing waits for it to catch up: pending waits count as elapsed. The order of the log is not affected.`,
    );
  }
  const jump = wallMs - bootMs;
  if (Math.abs(jump) > TOLERATED_MS) {
    const way = jump > 0 ? "forward" : "back";
    return wrong(
      `it jumped ${way} by ${lasting(Math.abs(jump))} during this check`,
      `${SET_IT} Find out who sets it: two time services may disagree.`,
    );
  }
  return { check: "clock", ok: true, detail: `${isoTime(now)}, not behind the log` };
}

function lasting(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** What came of calling the hooks of an agent as its CLI would. */
export interface HookFacts {
  /** Whose settings they stand in. */
  readonly whose: string;
  /** The signals that arrived from the recording hook; undefined when it was given up on. */
  readonly arrived: readonly string[] | undefined;
  /** What the permit said to a write that it must refuse; null when it let it pass, undefined when it was given up on. */
  readonly refusal: string | null | undefined;
  /** The same of a command that does nothing, which it must let pass. */
  readonly harmless: string | null | undefined;
}

export const SAMPLE_SIGNAL = "notified";

/** Hooks that do not fire leave an agent unseen; a permit that cannot answer lets it change nothing at all. */
export function judgeHooks({ whose, arrived, refusal, harmless }: HookFacts): Tried[] {
  return [
    {
      what: `what the hooks of ${whose} tell arrives`,
      problem:
        arrived === undefined
          ? "the hook's command did not end in time"
          : arrived.includes(SAMPLE_SIGNAL)
            ? null
            : "its command ran and recorded no signal",
    },
    {
      what: `the permit hook of ${whose} refuses what it must`,
      problem:
        refusal === undefined
          ? "it did not answer in time"
          : refusal === null
            ? "it let a write outside the worktree pass"
            : null,
    },
    {
      // One that cannot judge refuses everything, in words that differ from version to version.
      what: `the permit hook of ${whose} lets pass what it may`,
      problem:
        harmless === undefined
          ? "it did not answer in time"
          : harmless === null
            ? null
            : `it refused a command that does nothing: "${harmless.slice(0, 200)}"`,
    },
  ];
}

/** What came of letting the real CLI run one command in the project, with our own model behind it. */
export interface RehearsalFacts {
  /** What people call the CLI. */
  readonly title: string;
  readonly timedOut: boolean;
  /** The permit left its mark. */
  readonly asked: boolean;
  /** The model was told that the command had run. */
  readonly ran: boolean;
  readonly said: string;
}

export function judgeRehearsal({ title, timedOut, asked, ran, said }: RehearsalFacts): Finding {
  const check = "permit";
  if (asked) return { check, ok: true, detail: `${title} asks it in this project as it is; nothing was spent` };
  if (ran) {
    return {
      check,
      ok: false,
      detail: `${title} ran a command in this project and did not ask it`,
      next: "Look at runtimes in .overseer/config.yaml (command, args) and at the settings of your organisation; an agent started like this is stopped at its first call.",
    };
  }
  // What keeps the command from running at all keeps agents from it too; it says nothing against the permit.
  const why = timedOut ? "it did not end in time" : said.replace(/\s+/g, " ").trim().slice(0, 200) || "it said nothing";
  return { check, ok: true, detail: `could not be rehearsed with ${title} here: ${why}` };
}

/** Things that are left lying about, of one kind. */
export function judgeLeftovers(
  check: string,
  found: readonly string[],
  words: { readonly fine: string; readonly next: string },
): Finding {
  if (found.length === 0) return { check, ok: true, detail: words.fine };
  const shown = found.slice(0, MOST_NAMED).join(", ");
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : "";
  return { check, ok: false, detail: `left behind: ${shown}${more}`, next: words.next };
}

const MOST_NAMED = 5;

/** A lock file this old belongs to nobody who is still at work. */
export function isStaleLock(lock: { readonly mtimeMs: number }, staleAfterMs: number, now: number): boolean {
  return now - lock.mtimeMs > staleAfterMs;
}
