/**
 * Milliseconds as ISO 8601 in UTC, by arithmetic. For lists that are printed again and again: a Date for each of two
 * hundred times is a tenth of the time a fast command may take, and so is the calendar for each, which is why the day
 * before is remembered: what is listed together mostly happened on one. Years 0 to 9999.
 */
let known = { days: Number.NaN, date: "" };

export function isoTime(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  if (days !== known.days) known = { days, date: dateOf(days) };
  const rest = ms - days * 86_400_000;
  const seconds = Math.floor(rest / 1_000);
  const minutes = Math.floor(seconds / 60);
  const thousandths = rest - seconds * 1_000;
  const zeros = thousandths < 10 ? "00" : thousandths < 100 ? "0" : "";
  return `${known.date}T${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${zeros}${thousandths}Z`;
}

function dateOf(days: number): string {
  // Days are counted from the first of March of the year 0, so that the leap day is the last of its year.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
