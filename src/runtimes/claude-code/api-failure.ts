/**
 * Why the provider gave up, in our words, from what Claude Code says of it: the status it got, its reason for the end of a
 * turn, and its own sentences, which it puts into the model's mouth ("You've hit your session limit · resets 7:20pm").
 * Hooks load this, so it holds patterns and nothing else.
 */
import type { SignalData } from "#domain/signals/signal.ts";

type Cause = SignalData["api.failed"]["cause"];

const LOGGED_OUT = /not logged in|run \/login|invalid api key|oauth token (?:has )?(?:expired|been revoked)/i;
const GONE_MODEL = /issue with the selected model|model\b.{0,80}\b(?:not found|does not exist|is not available)/i;
const OUT_OF_QUOTA =
  /(?:usage|rate|session|weekly|hourly|daily|5-hour|opus|sonnet) limit|(?:hit|reached) your (?:\w+ ){0,3}limit|limit reached/i;
const UNREACHABLE = /unable to connect|connection (?:error|refused|reset)|timed? ?out|fetch failed|ECONN\w+|ENOTFOUND/i;

/** Words come first where one status has several meanings. `status`: 0 when none is known. */
export function causeOfFailure(status: number, reason: string, text: string): Cause {
  if (status === 402 || /credit balance|billing/i.test(text)) return "billing";
  if (reason === "prompt_too_long" || /prompt is too long/i.test(text)) return "too_long";
  if (status === 429 || OUT_OF_QUOTA.test(text)) return "quota";
  if (status === 401 || status === 403 || LOGGED_OUT.test(text)) return "auth";
  if (status === 404 || GONE_MODEL.test(text)) return "model";
  if (status >= 500 || (status === 0 && /overloaded|internal server error/i.test(text))) return "overloaded";
  return status === 0 || status === 408 ? "network" : "unknown";
}

/** Sentences that only the CLI itself says, and only as a whole answer. */
const NOTICE =
  /^\s*(?:API Error\b|You've (?:hit|reached) your\b|Claude (?:AI )?usage limit reached|(?:5-hour|Weekly|Session|Opus weekly) limit reached|Please run \/login|(?:Invalid API key|Not logged in|OAuth token (?:has )?(?:expired|revoked)|Credit balance is too low|Prompt is too long)\s*(?:[·.]|$))/;
const LONGEST_NOTICE = 1_000;

/** The CLI says this in the model's name: the turn has failed, whatever it calls it. */
export function isNotice(text: string): boolean {
  return text.length <= LONGEST_NOTICE && NOTICE.test(text);
}

/** The status that a notice names. */
export function statusIn(text: string): number {
  return Number(/^\s*API Error:?\s*(?:\(?(?:status )?)?(\d{3})\b/.exec(text)?.[1] ?? 0);
}

export function causeOfNotice(text: string): Cause {
  const cause = causeOfFailure(statusIn(text), "", text);
  return cause === "network" && !UNREACHABLE.test(text) ? "unknown" : cause;
}

/** A time after the word reset: since 1970, as a date, or as a clock shows it to people; `at`: when it was said. */
export function resetIn(text: string, at: number | null): number | null {
  const found = /reset[^0-9]{0,40}(\d{4}-\d\d-\d\dT[0-9:.]{5,15}(?:Z|[+-]\d\d:\d\d)|\d{13}|\d{10})/i.exec(text)?.[1];
  if (found === undefined) return at === null ? null : clockIn(text, at);
  if (found.includes("T")) return Date.parse(found) || null;
  return Number(found) * (found.length === 10 ? 1000 : 1);
}

const CLOCK =
  /\bresets?\s+(?:at\s+)?(?:([A-Z][a-z]{2})[a-z]*\.?\s+(\d{1,2}),?\s+(?:at\s+)?)?(\d{1,2})(?::(\d\d))?\s*([ap])m\b(?:\s*\(([\w/+-]{3,40})\))?/i;
const MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec";
const DAY_MS = 24 * 3_600_000;

/** "resets 7:20pm", "resets Nov 20, 3am (Europe/Berlin)": the next such moment. */
function clockIn(text: string, at: number): number | null {
  const [, month, day, hour = "", minute = "0", half = "", zone] = CLOCK.exec(text) ?? [];
  if (hour === "") return null;
  const offset = offsetAt(at, zone);
  const there = new Date(at + offset);
  const hours = (Number(hour) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  const named = month === undefined ? -1 : MONTHS.indexOf(month.toLowerCase()) / 3;
  const on = (year: number) =>
    Number.isInteger(named) && named >= 0
      ? Date.UTC(year, named, Number(day), hours, Number(minute))
      : Date.UTC(year, there.getUTCMonth(), there.getUTCDate(), hours, Number(minute));
  const wall = on(there.getUTCFullYear());
  if (wall > at + offset) return wall - offset;
  return (named >= 0 ? on(there.getUTCFullYear() + 1) : wall + DAY_MS) - offset;
}

/** How far the clocks of a zone are ahead of UTC; of this machine where none is named, or one nobody knows. */
function offsetAt(at: number, zone: string | undefined): number {
  const here = -new Date(at).getTimezoneOffset() * 60_000;
  if (zone === undefined) return here;
  try {
    const shown = new Intl.DateTimeFormat("en-US", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
    return Date.parse(`${shown.format(at).replace(/\u202f/g, " ")} UTC`) - Math.floor(at / 1000) * 1000;
  } catch (error) {
    if (error instanceof RangeError) return here;
    throw error;
  }
}
