/** A store that does not hold the furthest event that was seen of it is doubted, and the doubt says how far back it is. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type HighWater, isRefusedInDoubt, sentenceOf, standingOf } from "./high-water.ts";

const mark: HighWater = { identity: "s_a", seq: 178, sum: 42, attempt: 9, at: Date.UTC(2026, 0, 2) };
const at = Date.UTC(2026, 0, 1);

describe("STORE-5: whether a store continues from where it was seen", () => {
  test.each([
    ["nothing was ever seen of it", undefined, { identity: "s_a", seq: 3, at, sumAtMark: undefined }, "follows"],
    ["it is at the mark", mark, { identity: "s_a", seq: 178, at, sumAtMark: 42 }, "follows"],
    ["it has gone on", mark, { identity: "s_a", seq: 500, at, sumAtMark: 42 }, "follows"],
    ["it is shorter", mark, { identity: "s_a", seq: 3, at, sumAtMark: undefined }, "went-back"],
    ["it is one event short", mark, { identity: "s_a", seq: 177, at, sumAtMark: undefined }, "went-back"],
    ["it is empty", mark, { identity: "s_a", seq: 0, at: null, sumAtMark: undefined }, "went-back"],
    [
      "it went back and has grown past the mark",
      mark,
      { identity: "s_a", seq: 200, at, sumAtMark: 7 },
      "another-course",
    ],
    ["it is another repository's", mark, { identity: "s_b", seq: 900, at, sumAtMark: 42 }, "another-store"],
    [
      "the copy holds nothing yet",
      { ...mark, seq: 0, sum: 0 },
      { identity: "s_a", seq: 0, at: null, sumAtMark: undefined },
      "follows",
    ],
  ] as const)("%s", (_name, known, seen, kind) => {
    expect(standingOf(known, seen).kind).toBe(kind);
  });

  test("the sentence says how many events back, since when, and what can be done", () => {
    const doubt = standingOf(mark, { identity: "s_a", seq: 3, at, sumAtMark: undefined });
    expect(doubt.kind !== "follows" && sentenceOf(doubt)).toBe(
      "The database went back by 175 events: it holds 3, 178 were seen, the last of 2026-01-02T00:00:00.000Z. It ends at " +
        "2026-01-01T00:00:00.000Z. 'overseer doctor --fix', with the daemon down, brings back what was seen and keeps this one aside; " +
        "'overseer thaw' continues with what is here.",
    );
  });

  test("of any two logs, the one that was seen further is never followed by one that lacks its last event", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1 }), fc.array(fc.nat(3)), (seenLog, nowLog) => {
        const sums = (log: number[]) => log.map((_, index) => Bun.hash.xxHash32(log.slice(0, index + 1).join(",")));
        const known = { ...mark, seq: seenLog.length, sum: sums(seenLog).at(-1) ?? 0 };
        const now = { identity: "s_a", seq: nowLog.length, at, sumAtMark: sums(nowLog)[seenLog.length - 1] };
        const goesOn =
          nowLog.slice(0, seenLog.length).join(",") === seenLog.join(",") && nowLog.length >= seenLog.length;
        expect(standingOf(known, now).kind === "follows").toBe(goesOn);
      }),
    );
  });
});

describe("STORE-5: what is taken by a store in doubt", () => {
  test.each([
    ["human:ada", "goal.created", true],
    ["human:ada", "message.queued", true],
    ["human:ada", "question.answered", true],
    ["human:ada", "landing.approved", true],
    ["human:ada", "goal.paused", true],
    ["human:ada", "fleet.frozen", false],
    ["human:ada", "fleet.thawed", false],
    ["human:ada", "agent.stop_requested", false],
    ["human:ada", "message.seen", false],
    ["overseer", "agent.ended", false],
    ["agent:scout-1#4", "work.claimed", false],
  ] as const)("%s says %s: refused is %p", (actor, type, refused) => {
    expect(isRefusedInDoubt({ actor, type })).toBe(refused);
  });
});
