/** What every source of chance promises. */
import { describe, expect, test } from "bun:test";
import { systemChance } from "#sys/chance.ts";
import { makeSeededChance } from "#sys/virtual-chance.ts";

describe.each([
  { name: "system", make: systemChance },
  { name: "seeded", make: () => makeSeededChance(1) },
])("chance: $name", ({ make }) => {
  const chance = make();
  const draws = Array.from({ length: 20_000 }, () => chance.next());

  test("every draw lies in [0, 1)", () => {
    expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
  });

  test("every tenth of the range gets its share", () => {
    const tenths = Array<number>(10).fill(0);
    for (const draw of draws) tenths[Math.floor(draw * 10)] = (tenths[Math.floor(draw * 10)] ?? 0) + 1;
    // 2,000 expected with a deviation of 42; the bounds are twelve of those away.
    for (const count of tenths) expect(Math.abs(count - 2_000)).toBeLessThan(500);
  });
});

test("one seed draws the same every time, another seed others", () => {
  const draw = (seed: number) => {
    const chance = makeSeededChance(seed);
    return Array.from({ length: 20 }, () => chance.next());
  };
  expect(draw(3)).toEqual(draw(3));
  expect(draw(3)).not.toEqual(draw(4));
});

test("the seeded generator is mulberry32, so a seed means the same in every version", () => {
  const chance = makeSeededChance(0);
  expect([chance.next(), chance.next()].map((draw) => Math.floor(draw * 2 ** 32))).toEqual([1144304738, 1416247]);
});
