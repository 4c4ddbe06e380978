import { describe, expect, test } from "bun:test";
import type { Learning, LearningOutcome } from "#domain/model/learning.ts";
import { foldAll, learningWith, partyWith, recipientWith } from "../../../test/support/learnings.ts";
import { ADA, T0 } from "../../../test/support/samples.ts";
import type { Discovery } from "./extract.ts";
import type { AddedLearning, FoundDiscovery } from "./keep.ts";
import { addLearning, forgetLearning, forgetUseless, keepDiscoveries, LONGEST_LEARNING, MOST_ADDED } from "./keep.ts";

const KEY = "npm test ! 1 => npm test -- --db";

function heard(by: number, parts: Partial<Discovery> = {}): FoundDiscovery {
  const discovery: Discovery = {
    ...{ kind: "failure-fix", text: "`npm test` fails.", key: KEY, failing: "npm test ! 1", fix: "npm test -- --db" },
    ...{ paths: [], score: 0.7, via: "tool", id: `call_${by}` },
    ...parts,
  };
  const party = partyWith(by, { tags: ["api"], near: ["src/api"], parent: 7, parentNode: "goal_A/P1" });
  return { discovery, by: party, at: T0 + 1 };
}

function keep(known: readonly Learning[], ...found: readonly FoundDiscovery[]): string[] {
  const events = keepDiscoveries(new Map(known.map((one) => [one.learningId, one])), found);
  return events.map(({ type, attempt }) => `${type} #${attempt}`);
}

describe("what is kept of what was found", () => {
  const told = learningWith({ recipients: [recipientWith(2)] });
  const gone = (forgottenBecause: string) => learningWith({ status: "forgotten", forgottenBecause });
  const ROWS: [what: string, known: Learning[], found: FoundDiscovery[], events: string[]][] = [
    ["something new", [], [heard(1)], ["learning.found #1"]],
    ["the same from the same agent again", [learningWith()], [heard(1)], []],
    ["the same twice in one look", [], [heard(1), heard(1)], ["learning.found #1"]],
    ["the same from two in one look", [], [heard(1), heard(2)], ["learning.found #1", "learning.confirmed #2"]],
    ["the same from another", [learningWith()], [heard(2)], ["learning.confirmed #2"]],
    ["the same from somebody who was told", [told], [heard(2)], []],
    ["what a person dropped", [gone("asked-for")], [heard(2)], []],
    ["what never helped", [gone("never-helped")], [heard(2)], []],
    ["what was only too old", [gone("too-old")], [heard(2)], ["learning.found #2"]],
    ["what was only too old, heard again", [gone("too-old")], [{ ...heard(2), at: T0 }], []],
  ];
  test.each(ROWS)("SYNC-1, EDGE-4: %s", (_what, known, found, events) => {
    expect(keep(known, ...found)).toEqual(events);
  });

  describe("SYNC-1: what speaks of the same and says another thing is no confirmation, and not barred with it", () => {
    const never = "The `npm test` command fails whenever `CI=1` is set; never set it.";
    const must = "The `npm test` command fails unless `CI=1` is set before running it.";
    const again = "The `npm test` command fails unless `CI=1` is set.";
    const other = "`npm test` writes its report below `CI=1/out`.";
    const fact = (by: number, text: string) => heard(by, { kind: "fact", text, failing: null, fix: null });
    const known = (text: string, parts: Partial<Learning> = {}) =>
      learningWith({ kind: "fact", key: KEY, text, ...parts });
    const dropped = { status: "forgotten", forgottenBecause: "asked-for" } as const;
    const SAID: [what: string, known: Learning[], found: FoundDiscovery[], events: string[]][] = [
      ["the same in fewer words", [known(must)], [fact(2, again)], ["learning.confirmed #2"]],
      ["the contrary", [known(never)], [fact(2, must)], ["learning.found #2"]],
      ["something else", [known(must)], [fact(2, other)], ["learning.found #2"]],
      ["the contrary of what a person dropped", [known(never, dropped)], [fact(2, must)], ["learning.found #2"]],
      ["what a person dropped", [known(must, dropped)], [fact(2, again)], []],
      [
        "both in one look",
        [],
        [fact(1, never), fact(2, must), fact(3, must)],
        ["learning.found #1", "learning.found #2", "learning.confirmed #3"],
      ],
    ];
    test.each(SAID)("%s", (_what, before, found, events) => {
      expect(keep(before, ...found)).toEqual(events);
    });
  });

  test("SYNC-1: it carries whose it is, and what it is about, and is one line of bounded length", () => {
    const text = `\`x\`\n fails ${"very ".repeat(400)}`;
    const [learning] = foldAll([], keepDiscoveries(new Map(), [heard(1, { text, paths: ["src/api/a.ts"], score: 7 })]));
    expect(learning).toMatchObject({
      ...{ tags: ["api"], paths: ["src/api/a.ts"], near: ["src/api"], parent: 7, parentNode: "goal_A/P1", score: 1 },
      ...{ via: "tool", source: "call_1", foundBy: { agent: "builder-1", attempt: 1, node: "goal_A/T1" } },
    });
    expect(learning?.text.length).toBeLessThanOrEqual(LONGEST_LEARNING);
    expect(learning?.text).not.toContain("\n");
  });
});

describe("what somebody says", () => {
  const wish = { text: "Run make db first.", tags: ["db"], paths: ["src/db"] };
  const person = { by: undefined, added: 0, id: "call_1" };
  const agent = { by: partyWith(2, { tags: ["api"] }), added: 0, id: "call_1" };

  test("SYNC-3: a person's word says so and is worth most; an agent's says so and carries its tags", () => {
    const said = addLearning(undefined, wish, person, ADA);
    expect(said).toMatchObject({
      ok: true,
      events: [
        {
          type: "learning.found",
          actor: "human:ada",
          data: { via: "person", score: 1, tags: ["db"], near: ["src/db"] },
        },
      ],
    });
    const byAgent = addLearning(undefined, { ...wish, fails: "npm test", fix: "make db" }, agent, ADA);
    expect(byAgent).toMatchObject({
      ok: true,
      events: [
        {
          attempt: 2,
          data: { via: "agent", tags: ["db", "api"], kind: "failure-fix", failing: "npm test ! *", fix: "make db" },
        },
      ],
    });
  });

  const SAID: [fails: string | undefined, fix: string | undefined, text: string][] = [
    [undefined, undefined, "The web build needs node 22."],
    ["npm run build", "nvm use 22", "The web build needs node 22. `npm run build` fails; run `nvm use 22`."],
    ["npm run build", undefined, "The web build needs node 22. `npm run build` fails."],
    [undefined, "nvm use 22", "The web build needs node 22. Run `nvm use 22`."],
  ];
  test.each(SAID)(
    "SYNC-3: which command fails (%p) and what to run (%p) is part of what is told",
    (fails, fix, text) => {
      const commands = { ...(fails === undefined ? {} : { fails }), ...(fix === undefined ? {} : { fix }) };
      const said = addLearning(undefined, { ...wish, text: "The web build needs node 22.", ...commands }, person, ADA);
      expect(said).toMatchObject({ ok: true, events: [{ data: { text } }] });
    },
  );

  test("SYNC-3: the same words are the same learning; a person brings back what was forgotten, an agent does not", () => {
    const forgotten = learningWith({ status: "forgotten", forgottenBecause: "asked-for" });
    expect(addLearning(learningWith(), wish, person, ADA)).toMatchObject({ ok: true, events: [] });
    expect(addLearning(forgotten, wish, person, ADA)).toMatchObject({ events: [{ type: "learning.found" }] });
    expect(addLearning(forgotten, wish, agent, ADA)).toMatchObject({ ok: true, events: [] });
    const one = addLearning(undefined, wish, person, ADA);
    const other = addLearning(undefined, { ...wish, text: " run MAKE db\n first. " }, agent, ADA);
    expect(one.ok && other.ok && one.value === other.value).toBe(true);
  });

  const REFUSED: [code: string, parts: Partial<AddedLearning>, who: Parameters<typeof addLearning>[2]][] = [
    ["LEARNING_EMPTY", { text: " \n" }, person],
    ["LEARNING_SHORT", { text: "x" }, person],
    ["TAG_EMPTY", { tags: ["db", " "] }, person],
    ["LEARNING_TOO_LONG", { fix: "make ".repeat(LONGEST_LEARNING / 5) }, person],
    ["LEARNING_TOO_LONG", { text: "x ".repeat(LONGEST_LEARNING) }, person],
    ["PATH_INVALID", { paths: ["../x"] }, person],
    ["LEARNINGS_TOO_MANY", {}, { ...agent, added: MOST_ADDED }],
  ];
  test.each(REFUSED)("SYNC-3, EDGE-4: %s", (code, parts, who) => {
    expect(addLearning(undefined, { ...wish, ...parts }, who, ADA)).toMatchObject({ ok: false, refusal: { code } });
  });

  test("SYNC-3: dropping is for what there is, and twice is once", () => {
    const ask = { reason: "wrong", actor: ADA.actor, messages: [] };
    expect(forgetLearning(undefined, "L_X", ask)).toMatchObject({ refusal: { code: "LEARNING_UNKNOWN" } });
    expect(forgetLearning(learningWith(), "L_X", ask)).toMatchObject({
      events: [{ type: "learning.forgotten", because: "asked-for", data: { reason: "wrong" } }],
    });
    expect(forgetLearning(learningWith({ status: "forgotten" }), "L_X", ask)).toMatchObject({ ok: true, events: [] });
  });
});

describe("what is let go", () => {
  const DAY = 24 * 60 * 60_000;
  const LIMITS = { now: T0 + 30 * DAY, keptForMs: 90 * DAY };
  const seenBy = (...outcomes: LearningOutcome[]) =>
    outcomes.map((outcome, index) => recipientWith(index + 2, { outcome, seen: true }));
  const old = T0 - 61 * DAY;
  const ROWS: [what: string, learning: Partial<Learning>, because: string | undefined][] = [
    ["young and untold", {}, undefined],
    ["seen in vain three times", { recipients: seenBy("unused", "repeated", "unused") }, undefined],
    ["seen in vain four times", { recipients: seenBy("unused", "repeated", "unused", "unused") }, "never-helped"],
    ["four of whom nobody can tell", { recipients: seenBy("unknown", "unknown", "unknown", "unknown") }, undefined],
    ["helped one of many", { recipients: seenBy("unused", "used", "unused", "unused", "unused") }, undefined],
    ["old", { foundAt: old }, "too-old"],
    [
      "old, found again lately",
      { foundAt: old, confirmations: [{ agent: "b", attempt: 3, node: "x", at: T0 }] },
      undefined,
    ],
    ["old, and it has helped", { foundAt: old, recipients: seenBy("used") }, undefined],
    ["old, and a person's word", { foundAt: old, via: "person" }, undefined],
    ["forgotten already", { foundAt: old, status: "forgotten" }, undefined],
  ];
  test.each(ROWS)("LEARN-1: %s", (_what, learning, because) => {
    expect(forgetUseless(learningWith(learning), LIMITS).map((event) => event.because)).toEqual(
      because === undefined ? [] : [because],
    );
  });
});
