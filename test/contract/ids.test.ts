/** What every source of ids promises. */
import { describe, expect, test } from "bun:test";
import { systemIds } from "#sys/ids.ts";
import { makeSeededIds } from "#sys/virtual-ids.ts";
import { scaled } from "../support/scale.ts";

describe.each([
  { name: "system", make: systemIds },
  { name: "seeded", make: () => makeSeededIds(42) },
])("ids: $name", ({ make }) => {
  test("an id is the prefix and ten characters of Crockford base32", () => {
    expect(make().next("goal_")).toMatch(/^goal_[0-9A-HJKMNP-TV-Z]{10}$/);
    expect(make().next("")).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
  });

  test("no id comes twice", () => {
    const ids = make();
    const rounds = scaled(20_000);
    expect(new Set(Array.from({ length: rounds }, () => ids.next("m_"))).size).toBe(rounds);
  });

  test("every character of the alphabet is used at every place", () => {
    const ids = make();
    const seen = Array.from({ length: 10 }, () => new Set<string>());
    for (let round = 0; round < 2_000; round += 1) {
      for (const [place, character] of [...ids.next("")].entries()) seen[place]?.add(character);
    }
    expect(seen.map((characters) => characters.size)).toEqual(Array(10).fill(32));
  });
});

test("one seed mints the same ids every time, another seed others", () => {
  const mint = (seed: number) => {
    const ids = makeSeededIds(seed);
    return Array.from({ length: 50 }, () => ids.next("A_"));
  };
  expect(mint(7)).toEqual(mint(7));
  expect(mint(7)).not.toEqual(mint(8));
});
