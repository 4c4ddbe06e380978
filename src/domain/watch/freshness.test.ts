import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { followQuiet, forgiveQuiet, judgeFreshness, measureQuiet, type Quiet } from "./freshness.ts";

const LIMITS = { staleAfterMs: 120_000, veryStaleAfterMs: 300_000 };
const at = (ms: number, boot = "b1") => ({ boot, ms });
const quietSince = (ms: number, parts: Partial<Quiet> = {}): Quiet => ({
  mark: "3",
  since: at(ms),
  seen: true,
  ...parts,
});

describe("FRESH-1: how fresh an agent's last act is", () => {
  test.each([
    ["it acted just now", quietSince(1_000), at(1_000), "fresh"],
    ["for less than two minutes", quietSince(0), at(119_999), "fresh"],
    ["for two", quietSince(0), at(120_000), "stale"],
    ["for less than five", quietSince(0), at(299_999), "stale"],
    ["for five", quietSince(0), at(300_000), "very-stale"],
    ["nothing was ever heard of it", undefined, at(9_999_999), "unknown"],
    ["it was written down under another boot", quietSince(0, { since: at(0, "b0") }), at(400_000), "unknown"],
    ["it was only met as it stands", quietSince(0, { seen: false }), at(60_000), "unknown"],
    ["and has stood so for long under the watcher's own eyes", quietSince(0, { seen: false }), at(130_000), "stale"],
  ] as const)("%s", (_what, known, now, expected) => {
    expect(judgeFreshness(known, now, LIMITS)).toBe(expected);
  });

  test("only a change that was seen happening says when it happened", () => {
    const met = followQuiet(undefined, "3", at(10));
    expect(met).toEqual({ mark: "3", since: at(10), seen: false });
    expect(followQuiet(met, "3", at(50))).toBe(met);
    expect(followQuiet(met, "4", at(60))).toEqual({ mark: "4", since: at(60), seen: true });
    expect(followQuiet(met, "3", at(5, "b2"))).toEqual({ mark: "3", since: at(5, "b2"), seen: false });
  });

  test("while nobody looked, because the machine slept, nobody grew stale", () => {
    const slept = 8 * 3_600_000;
    const known = quietSince(1_000);
    const now = at(2_000 + slept);
    expect(judgeFreshness(known, now, LIMITS)).toBe("very-stale");
    expect(judgeFreshness(forgiveQuiet(known, slept), now, LIMITS)).toBe("fresh");
  });

  test("EDGE-10: it never counts more than the boot's own clock has moved, whatever order of looks and acts", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ passes: fc.nat(400_000), acts: fc.boolean() }), { minLength: 1, maxLength: 20 }),
        (looks) => {
          let ms = 0;
          let acts = 0;
          let lastAct = 0;
          let known: Quiet | undefined;
          for (const look of looks) {
            ms += look.passes;
            if (look.acts) {
              acts += 1;
              lastAct = ms;
            }
            known = followQuiet(known, String(acts), at(ms));
            expect(measureQuiet(known, at(ms))).toBeLessThanOrEqual(ms - lastAct);
          }
        },
      ),
      { numRuns: scaled(200) },
    );
  });
});
