import { expect, test } from "bun:test";
import { memoryStore } from "#store/memory.ts";
import { worldOn } from "../../test/support/world.ts";
import { speakingAs } from "./world.ts";

test("a world for another speaker has all its parts, makes none of them early, and leaves the first as it was", () => {
  const first = worldOn(memoryStore());
  let made = 0;
  Object.defineProperty(first, "git", {
    get: () => {
      made += 1;
      return "git";
    },
    enumerable: true,
  });
  const second = speakingAs(first, "overseer");
  expect({ actor: second.actor, before: first.actor, made }).toEqual({
    actor: "overseer",
    before: "human:ada",
    made: 0,
  });
  expect(Object.keys(second).toSorted()).toEqual(Object.keys(first).toSorted());
  // Those who copy it get all of it, too.
  expect({ ...second }).toMatchObject({ actor: "overseer", root: first.root, git: "git" });
});
