import { expect, test } from "bun:test";
import type { ToolUse } from "#domain/core/tools.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { attemptWith } from "../../../test/support/claims.ts";
import { noteCheckoutChange, reachesOut } from "./checkout-change.ts";

const places = { project: "/repo", worktree: "/repo/.overseer/worktrees/a-1" };
const ran = (command: string, does: ToolUse = "shell"): Signal<"tool.started"> => ({
  ...{ kind: "tool.started", source: "t", phase: "start", at: 0 },
  data: { tool: "run", does, argsHash: "", args: JSON.stringify({ command }), sub: null },
});

test.each<[command: string, reaches: boolean]>([
  ['F=../../../README.md; echo x >> "$F"', true],
  ["cd .. && ls", true],
  ["cd ..", true],
  ["sh -c 'cat > /repo/README.md'", true],
  ['echo x > "$OVERSEER_ROOT/a"', true],
  ["D=$(git rev-parse --git-common-dir); ls $D", true],
  ["cat /repo/.overseer/worktrees/a-1/src/a.ts && npm test", false],
  ["echo a... && ls src/a..b", false],
  ["npm test", false],
])("SERENA-2: a command that leads out of its worktree: %s", (command, reaches) => {
  expect(reachesOut(ran(command), places) !== undefined).toBe(reaches);
});

test("SERENA-2: reading a file by name is no command", () => {
  expect(reachesOut(ran("../x", "read"), places)).toBeUndefined();
});

const files = { what: ["files"], before: "main a", after: "main a" } as const;
const moved = { what: ["head", "files"], before: "main a", after: "main b" } as const;
const landing = { what: ["head", "index"], before: "main a", after: "main b" } as const;
test.each([
  ["asks where a command may have done it", files, "cd ..", [], ["checkout.changed", "question.asked"]],
  ["asks where a commit was made", moved, "cd ..", ["c"], ["checkout.changed", "question.asked"]],
  ["only writes down what any hand may have done", files, undefined, [], ["checkout.changed"]],
  ["leaves a landing of ours alone", landing, "cd ..", ["c", "b"], []],
  ["leaves no move of the branch alone that is not ours", landing, undefined, ["c"], ["checkout.changed"]],
  ["asks nobody about what was landed", moved, "cd ..", ["c", "b"], ["checkout.changed"]],
] as const)("SERENA-2, CLEAN-1: it %s", (_what, changed, command, landed, types) => {
  const seen = { attempt: attemptWith(), questions: [], landed };
  const found = { command, checkout: "/repo", questionId: "q_1" };
  const decision = noteCheckoutChange(seen, changed, found, { now: 1, actor: "overseer" });
  expect(decision.ok && decision.events.map(({ type }) => type)).toEqual([...types]);
});
