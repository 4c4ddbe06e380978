/** LOG-1: logs are bounded by age and size, and nothing that is referred to goes. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { type KeptLog, LOG_LIMITS, type LogLimits, logsToRemove } from "./log-retention.ts";

const NOW = 1_000_000;
const LIMITS: LogLimits = { maxAgeMs: 100, maxBytes: 1_000, newest: 1, youngMs: 10 };
const log = (name: string, age: number, bytes = 1): KeptLog => ({ name, at: NOW - age, bytes });
const nobody = () => false;

describe("LOG-1", () => {
  const rows: [why: string, all: KeptLog[], held: string[], gone: string[]][] = [
    ["nothing is there", [], [], []],
    ["what is old goes, oldest first", [log("new", 5), log("b", 200), log("a", 300)], [], ["a", "b"]],
    ["what is not older than the limit stays", [log("new", 5), log("a", 100)], [], []],
    ["what is referred to stays", [log("new", 5), log("a", 300), log("b", 200)], ["a"], ["b"]],
    ["the newest stays, however old", [log("a", 300)], [], []],
    ["what is too much goes, oldest first", [log("new", 5, 600), log("b", 50, 300), log("a", 90, 300)], [], ["a"]],
    ["too much of what is young stays", [log("b", 5, 900), log("a", 9, 900)], [], []],
    ["too much of what is referred to stays", [log("b", 5, 900), log("a", 90, 900)], ["a"], []],
    ["what is from the future is young", [log("b", -500, 900), log("a", -600, 900)], [], []],
  ];
  test.each(rows)("%s", (_why, all, held, gone) => {
    expect(logsToRemove(all, (name) => held.includes(name), LIMITS, NOW)).toEqual(gone);
  });

  test("whatever lies there, what is held or young stays, and the rest fits", () => {
    const some = fc.array(
      fc.record({ age: fc.integer({ min: -50, max: 400 }), bytes: fc.nat(500), held: fc.boolean() }),
    );
    fc.assert(
      fc.property(some, (all) => {
        const logs = all.map(({ age, bytes }, index) => log(`l${index}`, age, bytes));
        const isHeld = (name: string) => all[Number(name.slice(1))]?.held === true;
        const gone = new Set(logsToRemove(logs, isHeld, LIMITS, NOW));
        for (const name of gone) expect(isHeld(name)).toBe(false);
        const left = logs.filter(({ name }) => !gone.has(name));
        const removable = left.filter(({ name, at }) => !isHeld(name) && NOW - at >= LIMITS.youngMs);
        const bytes = left.reduce((sum, one) => sum + one.bytes, 0);
        expect(bytes <= LIMITS.maxBytes || removable.length === 0).toBe(true);
        expect(logsToRemove(left, isHeld, LIMITS, NOW)).toEqual([]);
      }),
      { numRuns: scaled(200) },
    );
  });

  test("a month, a gigabyte", () => {
    const hour = 60 * 60_000;
    const many = Array.from({ length: 60 }, (_, index) => log(`l${index}`, (index + 1) * 24 * hour));
    expect(logsToRemove(many, nobody, LOG_LIMITS, NOW)).toHaveLength(10);
  });
});
