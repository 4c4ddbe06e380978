/** Who speaks: whoever names an attempt and cannot prove it, and whoever leaves an attempt out, is nobody. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import {
  type Claimed,
  judgeClaim,
  notThePerson,
  type RecordedAttempt,
  readMark,
  speaksForPerson,
  startsServer,
} from "./caller.ts";

const recorded: RecordedAttempt = { attempt: 7, agent: "ann", tokenHash: "h7" };
const own: Claimed = { attempt: 7, agent: "ann", tokenHash: "h7" };

describe("FENCE-1: who names an attempt", () => {
  const rows: [why: string, claimed: Partial<Claimed>, known: RecordedAttempt | undefined, says: RegExp | undefined][] =
    [
      ["shows its secret", {}, recorded, undefined],
      ["shows its secret and no name", { agent: undefined }, recorded, undefined],
      ["shows none", { tokenHash: undefined }, recorded, /OVERSEER_TOKEN is missing/],
      ["shows another's", { tokenHash: "h8" }, recorded, /OVERSEER_TOKEN is not its own/],
      ["shows its secret under another's name", { agent: "bob" }, recorded, /it is ann's/],
      ["names one that is not here", {}, undefined, /no such attempt/],
      ["is given another's files", { attempt: 8 }, recorded, /no such attempt/],
      ["names none by its number", { attempt: 0 }, recorded, /names none/],
      ["names a word", { attempt: Number.NaN }, recorded, /#\?.*names none/],
      ["was started before there were secrets", { tokenHash: undefined }, { attempt: 7, agent: "ann" }, undefined],
      ["was started before them, and is another", { agent: "bob" }, { attempt: 7, agent: "ann" }, /it is ann's/],
    ];
  test.each(rows)("%s", (_why, claimed, known, says) => {
    const no = judgeClaim({ ...own, ...claimed }, known);
    if (says === undefined) expect(no).toBeUndefined();
    else expect(no?.message).toMatch(says);
  });

  test("whatever is claimed, only the very secret of that attempt is taken, and no refusal repeats one", () => {
    const text = fc.string({ minLength: 1, maxLength: 8 });
    const claim = fc.record({ attempt: fc.nat(9), agent: fc.option(text, { nil: undefined }), tokenHash: text });
    fc.assert(
      fc.property(claim, text, (claimed, secret) => {
        const no = judgeClaim(claimed, { attempt: 7, agent: "ann", tokenHash: `#${secret}` });
        expect(no).toBeDefined();
        expect(no?.message).not.toContain(`#${secret}#`);
      }),
      { numRuns: scaled(50) },
    );
  });
});

test.each([
  ["7@/repo/.overseer", { number: 7, state: "/repo/.overseer" }],
  ["7@/re@po/.git/overseer", { number: 7, state: "/re@po/.git/overseer" }],
  ["7", undefined],
  ["@/repo", undefined],
  ["x@/repo", undefined],
  ["7@repo", undefined],
  [undefined, undefined],
])("the mark %p names %p", (text, mark) => {
  expect(readMark(text)).toEqual(mark);
});

test.each([
  ["status", false],
  ["goal show", false],
  ["goal create", true],
  ["accept", true],
  ["mail send", true],
  ["mail check", true],
  ["config show", false],
  ["config accept", true],
  ["whatever comes next", true],
])("'%s' speaks for the person: %p", (called, speaks) => {
  expect(speaksForPerson(called)).toBe(speaks);
});

test("what is refused names the way that is open", () => {
  expect(notThePerson("accept", "agent").message).toContain("'overseer accept'");
  expect(notThePerson("accept", "check").hint).toContain("overseer work report");
});

test.each([
  [["tmux", "-u", "-S", "/s/tmux", "-f", "/dev/null", "start-server"], true],
  [["/usr/bin/tmux", "-S", "/s/tmux"], true],
  [["tmux", "-S", "/other/tmux"], false],
  [["tmux", "-L", "mine"], false],
  [["vi", "-S", "/s/tmux"], false],
  [[], false],
])("FENCE-1: %j as the server at /s/tmux: %p", (words, is) => {
  expect(startsServer(words, "/s/tmux")).toBe(is);
});
