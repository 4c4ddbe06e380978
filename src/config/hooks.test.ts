import { describe, expect, test } from "bun:test";
import scaffold from "#prompts/scaffold/hooks.yaml" with { type: "text" };
import { loadUserHooks, readUserHooks } from "./hooks.ts";

describe("hooks.yaml", () => {
  test("HOOK-4: entries keep their event, matcher, command and order", () => {
    const text = `PostToolUse:
  - matcher: Edit|Write
    command: npx prettier --check .
  - command: date
    timeout: 5
SessionStart:
  - command: echo "Read CONTRIBUTING.md first."
`;
    expect(readUserHooks(text)).toEqual([
      {
        event: "SessionStart",
        matcher: null,
        command: 'echo "Read CONTRIBUTING.md first."',
        timeoutSeconds: null,
      },
      { event: "PostToolUse", matcher: "Edit|Write", command: "npx prettier --check .", timeoutSeconds: null },
      { event: "PostToolUse", matcher: null, command: "date", timeoutSeconds: 5 },
    ]);
  });

  test("HOOK-4: no file, an empty file and the file that init writes mean no hooks", async () => {
    expect(await loadUserHooks({ read: async () => undefined }, "/x")).toEqual([]);
    expect(readUserHooks("")).toEqual([]);
    expect(readUserHooks(String(scaffold))).toEqual([]);
  });

  test.each([
    [
      "an unknown event names the one that was meant",
      "PostTooluse:\n  - command: date\n",
      'did you mean "PostToolUse"',
    ],
    ["a command is needed", "Stop:\n  - matcher: Bash\n", "hooks.yaml:2:"],
    ["an unknown key is refused", "Stop:\n  - command: x\n    remove: guard\n", "remove"],
    ["a timeout is a sensible number of seconds", "Stop:\n  - command: x\n    timeout: 0\n", "timeout"],
    ["the whole must be a map", "- command: x\n", "hooks.yaml"],
  ])("HOOK-4: %s", (_why, text, says) => {
    expect(() => readUserHooks(text)).toThrow(says);
  });
});
