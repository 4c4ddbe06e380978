/** What became of a report of done, as sentences; the part of `why` that speaks of claims, checks and landings. */
import { nameOfActor } from "./actor.ts";
import type { EventOf } from "./event.ts";

/** One event as a sentence; undefined for what only an engineer would miss. */
export function claimSentence(event: EventOf, it: string): string | undefined {
  const who = nameOfActor(event.actor);
  switch (event.type) {
    case "work.claimed":
      return event.data.branch === null
        ? `${who} reported ${it} done without a change: "${ended(event.data.noChangeReason ?? "")}".`
        : `${who} reported ${it} done with commit ${short(event.data.commit)} on ${event.data.branch}.`;
    case "work.checked":
      return event.data.verdict === "pass"
        ? `${event.data.checks.join(", ")} passed on commit ${short(event.data.commit)}.`
        : `No check is configured, so commit ${short(event.data.commit)} stands on the word of its author.`;
    case "work.returned":
      return `The report did not hold (round ${event.data.round}): ${ended(event.data.reason)}.`;
    case "check.finished":
      return checked(event.data);
    case "landing.landed":
      return event.data.already
        ? `Commit ${short(event.data.commit)} was in ${event.data.target} already.`
        : `${who} landed commit ${short(event.data.commit)} on ${event.data.target} as ${short(event.data.to)}.`;
    case "landing.refused":
      return `${who} did not land commit ${short(event.data.commit)} on ${event.data.target}: ${ended(event.data.detail)}${files(event.data.files)}.`;
    case "landing.waiting":
      return `Landing commit ${short(event.data.commit)} waits: ${ended(event.data.detail)}${files(event.data.files)}.`;
    case "landing.approved":
      return `${who} let commit ${short(event.data.commit)} land${event.data.reason ? `, saying "${ended(event.data.reason)}"` : ""}.`;
    default:
      return undefined;
  }
}

function checked(receipt: EventOf<"check.finished">["data"]): string {
  const { name, verdict, why, commit } = receipt;
  const on = `on commit ${short(commit)}`;
  if (verdict === "pass") return `The check ${name} passed ${on}.`;
  return `The check ${name} ${verdict === "fail" ? "failed" : "did not run"} ${on}: ${why ?? "unknown"}.`;
}

function files(names: readonly string[]): string {
  if (names.length === 0) return "";
  const shown = names.slice(0, 5).join(", ");
  return ` (${shown}${names.length > 5 ? ` and ${names.length - 5} more` : ""})`;
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

function ended(text: string): string {
  return text.trim().replace(/\.+$/, "");
}
