/** What only a database that was set aside knows of people's words is named, and a freeze in it holds. */
import { describe, expect, test } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import { describeSaid, findSaidOnlyIn, freezeIn } from "./said-in-doubt.ts";

const event = (seq: number, given: object): EventOf =>
  ({
    seq,
    at: seq,
    v: 1,
    type: "goal.paused",
    actor: "human:ada",
    because: "x",
    data: { reason: null },
    ...given,
  }) as EventOf;
const before = [event(1, { type: "overseer.initialised" }), event(2, {})];
const frozen = event(3, { type: "fleet.frozen", data: { reason: "look first" } });
const thawed = event(4, { type: "fleet.thawed", data: { reason: null } });

describe("STORE-5: what people said to a database in doubt", () => {
  test.each([
    ["nothing", before, "s_a", []],
    [
      "what follows where the two part, of people alone",
      [...before, event(3, { actor: "overseer" }), frozen],
      "s_a",
      [frozen],
    ],
    ["of another store what is younger than all that was seen", [...before, event(9, {})], "s_b", [event(9, {})]],
  ] as const)("%s", (_name, events, identity, said) => {
    const instead = { identity: "s_a", events: [...before, event(3, { actor: "overseer", because: "y" })] };
    expect(findSaidOnlyIn({ identity, events }, instead)).toEqual([...said]);
  });

  test.each([
    ["a freeze at the end", [...before, frozen], true],
    ["a freeze that was ended", [...before, frozen, thawed], false],
    ["none", before, false],
  ] as const)("%s holds: %p", (_name, events, holds) => {
    expect(freezeIn({ events }) !== undefined).toBe(holds);
  });

  test("each is a line with who, when, about what and in which words; the newest twenty", () => {
    const long = event(5, { type: "goal.created", goalId: "goal_A", data: { title: `my\n${"word ".repeat(50)}` } });
    expect(describeSaid([frozen, long], "/x/db")).toEqual([
      expect.stringContaining("2 things were said while the database was in doubt and can only be found in /x/db"),
      "  fleet.frozen by human:ada at 1970-01-01T00:00:00.003Z: look first",
      expect.stringMatching(/^ {2}goal\.created by human:ada at \S+ about goal_A: my word .*…$/),
    ]);
    expect(describeSaid([], "/x/db")).toEqual([]);
    expect(describeSaid(Array(25).fill(frozen), "/x/db").at(-1)).toBe("  and 5 more before these");
  });
});
