/**
 * Milliseconds as ISO 8601 in UTC, by arithmetic. For lists that are printed again and again: a Date for each of two
 * hundred times is a tenth of the time a fast command may take. Years 0 to 9999.
 */
export function isoTime(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const rest = ms - days * 86_400_000;
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
  const hours = Math.floor(rest / 3_600_000);
  const minutes = Math.floor(rest / 60_000) % 60;
  const seconds = Math.floor(rest / 1_000) % 60;
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${padded(hours, 2)}:${padded(minutes, 2)}:${padded(seconds, 2)}.${padded(rest % 1_000, 3)}Z`;
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
