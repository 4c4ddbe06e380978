/** Which name a mistyped word stands for. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { editDistance, nearest } from "./nearest.ts";

const commands = ["init", "up", "down", "status", "goal", "work", "sling", "agents", "attach", "mail", "merge"];
const keys = ["tickEvery", "idleAfter", "minResendInterval", "taskPoolCommand", "enabled"];

const cases: [why: string, word: string, candidates: readonly string[], found: string | undefined][] = [
  ["a letter left out", "tickEvry", keys, "tickEvery"],
  ["a letter too many", "statuss", commands, "status"],
  ["a wrong letter", "gosl", commands, "goal"],
  ["two letters swapped", "mial", commands, "mail"],
  ["capitals do not matter", "Status", commands, "status"],
  ["snake case from another tool", "task_pool_command", keys, "taskPoolCommand"],
  ["kebab case", "idle-after", keys, "idleAfter"],
  ["a beginning only one name has", "minRes", keys, "minResendInterval"],
  ["a beginning two names have is no answer", "att", ["attach", "attempt"], undefined],
  ["a short word allows one mistake", "ip", commands, "up"],
  ["something else entirely", "deploy", commands, undefined],
  ["nothing typed", "", commands, undefined],
  ["nothing but dashes", "--", commands, undefined],
  ["nothing to choose from", "status", [], undefined],
  ["the exact word", "merge", commands, "merge"],
  ["the first of two equally close", "bat", ["cat", "rat"], "cat"],
  ["a page of text is no typing mistake", "x".repeat(10_000), ["x".repeat(10_000)], undefined],
];
test.each(cases)("%s", (_why, word, candidates, found) => {
  expect(nearest(word, candidates)).toBe(found);
});

const words = fc.string({ maxLength: 12 });

test("an answer is always one of the candidates", () => {
  fc.assert(
    fc.property(words, fc.array(words), (word, candidates) => {
      const found = nearest(word, candidates);
      expect(found === undefined || candidates.includes(found)).toBe(true);
    }),
  );
});

test("distance is zero only between equals, and the same both ways", () => {
  fc.assert(
    fc.property(words, words, (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
      expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});
