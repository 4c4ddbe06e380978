import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Learning } from "#domain/model/learning.ts";
import { learningWith, partyWith } from "../../../test/support/learnings.ts";
import { scaled } from "../../../test/support/scale.ts";
import type { Party } from "./relate.ts";
import { doesConcern, isWitness, partyNear, partyOf } from "./relate.ts";

const ROWS: [what: string, learning: Partial<Learning>, party: Partial<Party>, related: boolean][] = [
  ["nothing in common", { tags: ["api"], near: ["src/api"] }, { tags: ["ui"], near: ["src/ui"] }, false],
  ["neither has anything", {}, {}, false],
  ["a tag", { tags: ["api", "db"] }, { tags: ["db"] }, true],
  ["the agent that asked for both", { parent: 7 }, { parent: 7 }, true],
  ["no parent at all", { parent: null }, { parent: null }, false],
  ["the node above both", { parentNode: "goal_A/P1" }, { parentNode: "goal_A/P1" }, true],
  ["a node of that name in another goal", { parentNode: "goal_A/P1" }, { parentNode: "goal_B/P1" }, false],
  ["the same directory", { near: ["src/auth"] }, { near: ["src/auth"] }, true],
  ["the same top-level directory", { near: ["docs"] }, { near: ["docs"] }, true],
  ["one below the other", { near: ["src/auth"] }, { near: ["src/auth/oauth/google"] }, true],
  ["one above the other", { near: ["src/auth/oauth"] }, { near: ["src/auth"] }, true],
  ["a top-level directory and one below it", { near: ["src"] }, { near: ["src/auth"] }, false],
  ["one below a top-level directory", { near: ["src/auth"] }, { near: ["src"] }, false],
  ["neighbours", { near: ["src/auth"] }, { near: ["src/authors"] }, false],
  ["a file that it names", { paths: ["src/auth/login.ts"] }, { near: ["src/auth"] }, true],
  ["a file at the root, which says nothing", { paths: ["package.json"] }, { near: ["package.json"] }, false],
];
test.each(ROWS)("SYNC-2: related by %s", (_what, learning, party, related) => {
  expect(doesConcern(learningWith(learning), partyWith(2, party))).toBe(related);
});

test("SYNC-2: an attempt has its own tags, its node's and its goal's, and the places of its scope", () => {
  const attempt = {
    ...{ agent: "builder-2", attempt: 2, goalId: "goal_A", workNodeId: "T2", assignmentId: "A_2", tags: ["own"] },
    ...{ scope: ["src/auth/*.ts", "docs/**", "*.md", "lib/x"], parent: { agent: "lead-1", attempt: 1 } },
  };
  const party = partyOf(attempt as never, { tags: ["node"], parentId: "P1" }, { tags: ["goal", "own"] });
  expect(party).toMatchObject({
    ...{ node: "goal_A/T2", tags: ["own", "node", "goal"], parent: 1, parentNode: "goal_A/P1" },
    near: ["src/auth", "docs", "lib/x"],
  });
});

test("SYNC-2: files it wrote lately are places, and a file of the root or outside of its worktree is none", () => {
  const touched = ["/w/2/src/auth/login.ts", "/w/2/README.md", "/etc/passwd", "src/ui/a.ts", "../x/y.ts"];
  expect(partyNear(partyWith(2), touched, "/w/2").near).toEqual(["src/auth", "src/ui"]);
});

test("SYNC-2: whoever found it is any attempt on that node, and whoever continues its session", () => {
  const learning = learningWith();
  expect(isWitness(learning, partyWith(9, { workNodeId: "T1", node: "goal_A/T1" }))).toBe(true);
  expect(isWitness(learning, partyWith(9, { heirOf: [1] }))).toBe(true);
  expect(isWitness(learning, partyWith(9))).toBe(false);
  const too = learningWith({ confirmations: [{ agent: "builder-5", attempt: 5, node: "goal_A/T5", at: 1 }] });
  expect(isWitness(too, partyWith(5))).toBe(true);
});

const place = fc
  .array(fc.constantFrom("src", "docs", "auth", "ui", "lib"), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join("/"));

test("SYNC-2: two places are near each other whichever of them looks, and as the words say", () => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      const near = doesConcern(learningWith({ near: [a] }), partyWith(2, { near: [b] }));
      const back = doesConcern(learningWith({ near: [b] }), partyWith(2, { near: [a] }));
      const upper = a.length <= b.length ? a : b;
      const below = a !== b && (a.startsWith(`${b}/`) || b.startsWith(`${a}/`)) && upper.includes("/");
      expect([near, back]).toEqual([a === b || below, a === b || below]);
    }),
    { numRuns: scaled(300) },
  );
});
