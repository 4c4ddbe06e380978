/** How the guard is, as lines: its state, its daemon, what it repairs, and its last words. Pure. */
import type { GuardStatus } from "#control/guard.ts";
import { shortSpan, shortTime } from "./short-time.ts";
import { inert } from "./text.ts";

const PHASES = {
  starting: "starting the daemon",
  running: "running",
  "standing-by": "standing by",
  stopping: "ending the daemon",
  remediating: "REMEDIATING",
  terminated: "TERMINATED",
} as const;

export function guardLines(guard: GuardStatus, now: number, wordsShown = 5): string[] {
  const { pid, version, alive, phase, daemon, remediation, gaveUp, words } = guard;
  const state = alive
    ? PHASES[phase]
    : gaveUp
      ? "TERMINATED by itself"
      : phase === "terminated"
        ? "not running"
        : "DIED";
  const who = alive ? ` (pid ${pid}, version ${version})` : "";
  const watched = alive && daemon ? `, daemon pid ${daemon.pid} up for ${shortSpan(now - daemon.since)}` : "";
  return [
    `Guard: ${state}${who}${watched}`,
    ...(remediation && alive
      ? [`  Repairs for ${shortSpan(now - remediation.sinceAt)}: ${inert(remediation.failure)}`]
      : []),
    ...(gaveUp ? [`  It stopped (${gaveUp.code}): ${inert(gaveUp.why)}`] : []),
    ...words
      .slice(Math.max(0, words.length - wordsShown))
      .map(({ at, text }) => `  ${shortTime(at, now)}  ${inert(text)}`),
  ];
}
