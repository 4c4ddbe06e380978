import { expect, test } from "bun:test";
import { LISTED_IGNORED, readWipMessage, writeWipMessage } from "./wip-message.ts";

const fresh = { head: "abc", branchRef: "refs/heads/x", indexTree: "def", skipped: [], conflicts: [], intents: [] };

test("WIP-1: what is written can be read", () => {
  const notes = {
    ...fresh,
    skipped: [
      { reason: "large", path: '"b\\303\\244 g"' },
      { reason: "ignored", path: " a: b/" },
    ],
    inside: { path: '"l\\303\\244 b"', ownCommits: true },
    conflicts: ["a", "b c"],
    intents: ['"new\\nline"'],
  } as const;
  const text = writeWipMessage("Work in progress of A_1, 3", notes);
  expect(text.split("\n")[0]).toBe("Work in progress of A_1, 3");
  expect(readWipMessage(text)).toEqual({ ...notes, ignoredMore: 0, skipped: [...notes.skipped] });
});

test("WIP-1: a branch without commits and a detached HEAD can be said", () => {
  const text = writeWipMessage("s", { ...fresh, head: undefined, branchRef: undefined });
  expect(readWipMessage(text)).toMatchObject({ head: undefined, branchRef: undefined });
});

test("WIP-1: thousands of ignored files are counted, not listed", () => {
  const skipped = Array.from({ length: LISTED_IGNORED + 7 }, (_, at) => ({
    reason: "ignored" as const,
    path: `f${at}`,
  }));
  const notes = readWipMessage(writeWipMessage("s", { ...fresh, skipped }));
  expect(notes?.skipped).toHaveLength(LISTED_IGNORED);
  expect(notes?.ignoredMore).toBe(7);
});

test("another commit's message is not taken for a snapshot", () => {
  expect(readWipMessage("Fix it\n\nOverseer-Work: goal_x/T1\n")).toBeUndefined();
});
