import { expect, test } from "bun:test";
import {
  bodyWith,
  foldAll,
  foundEvent,
  learningWith,
  partyWith,
  placeEvent,
  recipientWith,
} from "../../../test/support/learnings.ts";
import type { NewEvent } from "./event.ts";
import { illegalMove, listTouched } from "./fold.ts";
import { countOutcomes, rankLearning } from "./learning.ts";

test("SYNC-1: the same discovery is one learning, and keeps whom it was told to when it is found again", () => {
  const [one] = foldAll([], [foundEvent(bodyWith())]);
  const told: NewEvent = {
    type: "learning.relayed",
    actor: "overseer",
    because: "concerns-them",
    data: {
      learningId: one?.learningId ?? "",
      to: [{ agent: "builder-2", attempt: 2, node: "goal_A/T2", messageId: "m_2", urgency: "helpful" }],
    },
  };
  const [again, ...others] = foldAll(one ? [one] : [], [
    told,
    foundEvent(bodyWith({ source: "call_9" }), partyWith(3)),
  ]);
  expect(others).toEqual([]);
  expect(again?.recipients.map(({ attempt, how, outcome }) => [attempt, how, outcome])).toEqual([[2, "relayed", null]]);
  expect(again?.foundBy).toMatchObject({ agent: "builder-3", attempt: 3, node: "goal_A/T3" });
  expect(again?.confirmations).toMatchObject([{ agent: "builder-1", attempt: 1, node: "goal_A/T1" }]);
});

const RANKS: [what: string, confirmed: number, outcomes: [string, boolean][], rank: number][] = [
  ["nobody was told", 0, [], 0.8],
  ["it was found twice", 1, [], 1],
  ["one used it", 0, [["used", true]], 0.8],
  ["one saw it in vain", 0, [["unused", false]], 0.4],
  ["one repeated it", 0, [["repeated", false]], 0.4],
  [
    "three saw it in vain",
    0,
    [
      ["unused", false],
      ["unused", false],
      ["repeated", false],
    ],
    0.2,
  ],
  [
    "it helped one of two",
    0,
    [
      ["used", true],
      ["unused", false],
    ],
    0.8 * (2 / 3),
  ],
  ["it was not used, and saved a failure", 0, [["unused", true]], 0.8],
  ["nobody can tell", 0, [["unknown", false]], 0.8],
];
test.each(RANKS)("LEARN-1: the rank where %s", (_what, confirmed, outcomes, rank) => {
  const recipients = outcomes.map(([outcome, saved], index) =>
    recipientWith(index + 2, { outcome: outcome as "used", saved, seen: true }),
  );
  expect(rankLearning(learningWith({ confirmed, recipients }))).toBeCloseTo(rank);
});

test("SYNC-3: an offer counts as seen, a verdict stands once", () => {
  const learning = learningWith();
  const { learningId } = learning;
  const offered = {
    ...foundEvent(bodyWith(), partyWith(2)),
    type: "learning.offered",
    data: { learningId },
  } as NewEvent;
  const judged = (outcome: "used" | "repeated"): NewEvent => ({
    type: "learning.judged",
    actor: "overseer",
    because: "seen",
    data: { learningId, verdicts: [{ attempt: 2, outcome, seen: true, saved: outcome === "used" }] },
  });
  const [after] = foldAll([learning], [offered, judged("used"), judged("repeated")]);
  expect(countOutcomes(after?.recipients ?? [])).toEqual({
    told: 1,
    seen: 1,
    used: 1,
    repeated: 0,
    unused: 0,
    saved: 1,
  });
});

test("SYNC-3: forgotten and kept again are moves, and every event touches its learning", () => {
  const learning = learningWith();
  const forgotten = { ...learning, status: "forgotten" as const };
  expect(illegalMove("learning", learning, forgotten)).toBeUndefined();
  expect(illegalMove("learning", forgotten, learning)).toBeUndefined();
  expect(listTouched(placeEvent(foundEvent(bodyWith())))).toEqual([{ kind: "learning", id: learning.learningId }]);
});
