/** Ids that people can read. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { scaled } from "../../../test/support/scale.ts";
import { nameGoal } from "./short-name.ts";

test.each<[text: string, id: string | undefined]>([
  ["Add rate limiting", "goal_add-rate-limiting"],
  ["Please add rate limiting to the public API, with tests", "goal_add-rate-limiting-public"],
  ["\n\n  Fix it\nand more", "goal_fix"],
  ["the of", "goal_the-of"],
  ["Don't log in twice", "goal_dont-log-twice"],
  ["Ergänze die Übersicht", "goal_erganze-die-ubersicht"],
  ["Supercalifragilisticexpialidocious handling of everything", "goal_supercalifragilisticexpialidocio"],
  ["src/parser.ts: handle 2038", "goal_src-parser-ts-handle"],
  ["use [REDACTED:aws-key] for uploads", "goal_use-uploads"],
  ["日付を解析する", undefined],
  ["42", undefined],
  ["", undefined],
])("SLING-4: a goal from %p is called %p", (text, id) => {
  expect(nameGoal(text, new Set())).toBe(id);
});

test("SLING-4: a name that is taken gets a number, and never one that is taken too", () => {
  const taken = new Set(["goal_fix-login", "goal_fix-login-2"]);
  expect(nameGoal("Fix the login", taken)).toBe("goal_fix-login-3");
});

test("SLING-4: whatever the text, the id is short and fit for a path, a ref and a shell", () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const id = nameGoal(text, new Set());
      expect(id ?? "goal_x").toMatch(/^goal_[a-z0-9]+(-[a-z0-9]+)*$/);
      expect((id ?? "").length).toBeLessThanOrEqual(37);
    }),
    { numRuns: scaled(300) },
  );
});
