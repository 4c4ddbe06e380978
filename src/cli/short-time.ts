/** Times as people say them, where they are: "14:05", "yesterday 14:05", "in 3 min". Exact ones are in --json. */

const ISO = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const DAY_MS = 86_400_000;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const two = (number: number) => String(number).padStart(2, "0");

/** The day of a moment, counted: days differ in length where clocks are put forward. */
function dayNumber(at: Date): number {
  return Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / DAY_MS;
}

export function shortTime(ms: number, now: number): string {
  const [at, today] = [new Date(ms), new Date(now)];
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const days = dayNumber(at) - dayNumber(today);
  if (days === 0) return clock;
  if (days === -1) return `yesterday ${clock}`;
  if (days === 1) return `tomorrow ${clock}`;
  const date = `${at.getDate()} ${MONTHS[at.getMonth()]}`;
  return at.getFullYear() === today.getFullYear() ? `${date} ${clock}` : `${date} ${at.getFullYear()} ${clock}`;
}

/** The times of a sentence that was made for everyone, for whoever reads it here and now. */
export function withShortTimes(text: string, now: number): string {
  return text.replace(ISO, (iso) => shortTime(Date.parse(iso), now));
}

/** `7 s`, `12 min`, `3 h`, `2 d`: one unit, so that columns stay narrow. */
export function shortSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** When something comes: soon as a span, later as a time. Below two minutes in seconds, so that one sees it count down. */
export function tellWhen(ms: number, now: number): string {
  const left = ms - now;
  if (left <= 0) return "now";
  if (left < 120_000) return `in ${Math.ceil(left / 1000)} s`;
  return left < 3_600_000 ? `in ${Math.round(left / 60_000)} min` : shortTime(ms, now);
}
