/**
 * Who gives way to whom when two versions of Overseer meet: an older guard leaves to a newer one, an older daemon is begun
 * anew by a newer guard; nobody is ever replaced by something older, or by the same. And which `down` was the guard's own, so
 * that the next guard does not take it for a person's wish. Pure.
 */
import type { Intent } from "#domain/health/daemon-life.ts";
import type { GuardFile } from "./guard-file.ts";

/** False where one of them cannot be read: what nobody can compare is left as it is. */
export function isOlderVersion(one: string, other: string): boolean {
  const [left, right] = [readVersion(one), readVersion(other)];
  if (!left || !right) return false;
  const at = left.numbers.findIndex((number, index) => number !== right.numbers[index]);
  if (at >= 0) return (left.numbers[at] ?? 0) < (right.numbers[at] ?? 0);
  // 1.0.0-rc.1 comes before 1.0.0, and of two such the one that sorts first.
  if (left.before === "" || right.before === "") return left.before !== "" && right.before === "";
  return left.before.localeCompare(right.before, "en", { numeric: true }) < 0;
}

function readVersion(text: string): { readonly numbers: readonly number[]; readonly before: string } | undefined {
  const found = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/.exec(text);
  return found ? { numbers: found.slice(1, 4).map(Number), before: found[4] ?? "" } : undefined;
}

/** What a guard does about another one that is there. */
export type Succession = "take-over" | "refuse";

export function judgeOtherGuard(other: string, own: string): Succession {
  return isOlderVersion(other, own) ? "take-over" : "refuse";
}

/** What a guard does about a daemon that it finds running; one for auto mode wants one that takes tasks. */
export function judgeFoundDaemon(
  daemon: { readonly version: string; readonly auto: boolean },
  own: { readonly version: string; readonly flags: readonly string[] },
): "adopt" | "renew" {
  if (own.flags.includes("--auto") && !daemon.auto) return "renew";
  return isOlderVersion(daemon.version, own.version) ? "renew" : "adopt";
}

/** What to do about a daemon that is in the way of another `up`. */
export function adviseAboutDaemon(daemon: string, own: string): string {
  return isOlderVersion(daemon, own)
    ? `It is older than this Overseer (${own}): 'overseer down', then 'overseer up' brings the new one; agents keep running and are adopted.`
    : "'overseer status' shows its state; 'overseer down' stops it, and agents keep running.";
}

/** The reason under which the guard takes the daemon down when it is stopped itself. */
export const GUARD_DOWN_REASON = "the guard was stopped";

/** A service that is stopped with the machine takes its daemon down; nobody wished for that (GUARD-6). */
export function isOwnDown(before: Pick<GuardFile, "endsDaemonAt"> | undefined, intent: Intent | undefined): boolean {
  const since = before?.endsDaemonAt ?? null;
  if (since === null || intent?.want !== "down") return false;
  return intent.reason === GUARD_DOWN_REASON && intent.at >= since;
}
