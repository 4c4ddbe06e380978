/** When somebody else may type into an agent's own screen. */
import { expect, test } from "bun:test";
import { isPromptEmpty } from "./screen.ts";

const RULE = "─".repeat(40);
const rows: [why: string, screen: string, empty: boolean][] = [
  ["an empty line to write on", `● Done.\n${RULE}\n❯ \n${RULE}\n  ⏵⏵ bypass permissions on`, true],
  ["an empty line in a frame", "│ ❯   │", true],
  ["a person has begun to write", `${RULE}\n❯ could you\n${RULE}`, false],
  ["a question stands before it", "Do you want to create a.txt?\n❯ 1. Yes\n  2. No", false],
  ["a dialog below an older empty line", "❯ \nDo you want to proceed?\n❯ 1. Yes", false],
  ["nothing is shown at all", "", false],
];
test.each(rows)("INJ-2: %s", (_why, screen, empty) => {
  expect(isPromptEmpty(screen)).toBe(empty);
});
