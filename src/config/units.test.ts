/** Durations and sizes as people write them. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatDuration, formatSize, parseDuration, parseSize } from "./units.ts";

describe("durations", () => {
  const readable: [text: string, ms: number][] = [
    ["0s", 0],
    ["500ms", 500],
    ["5s", 5_000],
    ["2m", 120_000],
    ["60s", 60_000],
    ["1h30m", 5_400_000],
    ["1d", 86_400_000],
    ["7d", 604_800_000],
    ["1d2h3m4s5ms", 93_784_005],
    ["5m500ms", 300_500],
    ["90m", 5_400_000],
    ["007s", 7_000],
  ];
  test.each(readable)("%s is %d ms", (text, ms) => expect(parseDuration(text)).toBe(ms));

  const refused: [text: string, why: string][] = [
    ["", "nothing"],
    ["2", "no unit"],
    ["m", "no number"],
    ["1.5h", "a decimal"],
    ["-1s", "a minus"],
    ["2 m", "a space"],
    ["30m1h", "small before large"],
    ["1m1m", "a unit twice"],
    ["2M", "a capital"],
    ["2min", "a word"],
    ["1e3s", "an exponent"],
    ["999999999999999d", "beyond counting"],
    [`${"9".repeat(400)}s`, "far beyond counting"],
  ];
  test.each(refused)("%p is not a duration: %s", (text) => expect(parseDuration(text)).toBeUndefined());

  const printed: [ms: number, text: string][] = [
    [0, "0s"],
    [1, "1ms"],
    [60_000, "1m"],
    [90_000, "1m30s"],
    [5_400_000, "1h30m"],
    [604_800_000, "7d"],
    [300_500, "5m500ms"],
  ];
  test.each(printed)("%d ms is written %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

  test("what is written is read back as the same number", () => {
    fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(formatDuration(ms)) === ms));
  });

  test("any text is either a whole number of milliseconds or no duration", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = parseDuration(text);
        return ms === undefined || (Number.isSafeInteger(ms) && ms >= 0);
      }),
    );
  });
});

describe("sizes", () => {
  const readable: [text: string, bytes: number][] = [
    ["0B", 0],
    ["100B", 100],
    ["8KB", 8_192],
    ["16KB", 16_384],
    ["50MB", 52_428_800],
    ["1GB", 1_073_741_824],
    ["1TB", 1_099_511_627_776],
  ];
  test.each(readable)("%s is %d bytes", (text, bytes) => expect(parseSize(text)).toBe(bytes));

  const refused = ["", "16", "KB", "16kb", "16 KB", "1.5GB", "-1B", "16KiB", "9999999999999999TB"];
  test.each(refused)("%p is not a size", (text) => expect(parseSize(text)).toBeUndefined());

  const printed: [bytes: number, text: string][] = [
    [0, "0B"],
    [1_500, "1500B"],
    [16_384, "16KB"],
    [1_536, "1536B"],
    [2_147_483_648, "2GB"],
  ];
  test.each(printed)("%d bytes are written %s", (bytes, text) => expect(formatSize(bytes)).toBe(text));

  test("what is written is read back as the same number", () => {
    fc.assert(fc.property(fc.maxSafeNat(), (bytes) => parseSize(formatSize(bytes)) === bytes));
  });
});
