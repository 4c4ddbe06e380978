/**
 * How people write spans of time and amounts of bytes, and how we write them back. In the configuration and in flags
 * a duration is "2m", "500ms" or "1h30m" and a size is "16KB"; inside the product both are plain integers.
 * Parsing answers undefined for anything else instead of throwing: only the caller knows which key or flag to blame.
 * There are no decimals and no bare numbers, because "1.5" and "90" are where misunderstandings begin.
 */

const DURATION_UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** Each unit at most once, from large to small; also handed to editors through the JSON Schema. */
export const DURATION_PATTERN =
  /^(?=\d)(?:(\d{1,15})d)?(?:(\d{1,15})h)?(?:(\d{1,15})m)?(?:(\d{1,15})s)?(?:(\d{1,15})ms)?$/;

/** "1h30m" as milliseconds; undefined when the text is not a duration or is beyond counting. */
export function parseDuration(text: string): number | undefined {
  const parts = DURATION_PATTERN.exec(text);
  if (!parts) return undefined;
  const total = DURATION_UNITS.reduce((sum, [, ms], index) => sum + Number(parts[index + 1] ?? 0) * ms, 0);
  return Number.isSafeInteger(total) ? total : undefined;
}

/** The shortest text that `parseDuration` reads back as the same number: 90000 is "1m30s". */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = "";
  for (const [unit, size] of DURATION_UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === "" ? "0s" : text;
}

const SIZE_UNITS = [
  ["TB", 1024 ** 4],
  ["GB", 1024 ** 3],
  ["MB", 1024 ** 2],
  ["KB", 1024],
  ["B", 1],
] as const;

export const SIZE_PATTERN = /^(\d{1,16})(TB|GB|MB|KB|B)$/;

/** "16KB" as bytes (1 KB is 1024 bytes); undefined when the text is not a size or is beyond counting. */
export function parseSize(text: string): number | undefined {
  const parts = SIZE_PATTERN.exec(text);
  if (!parts) return undefined;
  const unit = SIZE_UNITS.find(([name]) => name === parts[2]);
  const bytes = unit ? Number(parts[1]) * unit[1] : Number.NaN;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** In the largest unit that divides it, so that nothing is rounded: 16384 is "16KB", 1500 is "1500B". */
export function formatSize(bytes: number): string {
  const unit = bytes === 0 ? undefined : SIZE_UNITS.find(([, size]) => bytes % size === 0);
  return unit ? `${bytes / unit[1]}${unit[0]}` : `${bytes}B`;
}
