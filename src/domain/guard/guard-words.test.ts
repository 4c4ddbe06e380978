import { expect, test } from "bun:test";
import { readGuardWords } from "./guard-words.ts";

test.each([
  ["", undefined, false, ""],
  ["guard", undefined, false, ""],
  ["__daemon-guard --once", undefined, true, ""],
  ["guard run --auto", undefined, false, "--auto"],
  ["guard --root /r --auto --concurrency 4", "/r", false, "--auto --concurrency 4"],
  ["guard --root=/r --once --auto", "/r", true, "--auto"],
  ["guard --auto --task-directory run", undefined, false, "--auto --task-directory run"],
  ["--auto --task-pool-command guard --root /r", "/r", false, "--auto --task-pool-command guard"],
  ["guard --root", undefined, false, ""],
])("GUARD-1: the words of 'overseer %s'", (line, root, once, flags) => {
  const words = (text: string) => text.split(" ").filter(Boolean);
  expect(readGuardWords(words(line))).toEqual({ root, once, respectsDown: false, flags: words(flags) });
});

test("GUARD-6: a service says that a daemon somebody took down stays down", () => {
  expect(readGuardWords(["guard", "--root", "/r", "--respect-down", "--auto"])).toEqual({
    ...{ root: "/r", once: false, respectsDown: true, flags: ["--auto"] },
  });
});
