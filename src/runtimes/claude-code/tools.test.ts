import { expect, test } from "bun:test";
import { interpretCall, listWritingTools, needsPermit, type ToolUse } from "#domain/core/tools.ts";
import { gitEffects } from "#domain/signals/git-effects.ts";
import { toolEffects } from "#domain/signals/tool-effects.ts";
import { CLAUDE_TOOLS } from "./tools.ts";

const rows: [why: string, tool: string, input: Record<string, unknown>, effects: string[]][] = [
  ["a written file", "Write", { file_path: "/w/src/a.ts", content: "x" }, ["file.changed /w/src/a.ts"]],
  ["an edited file", "Edit", { file_path: "a.ts", old_string: "x" }, ["file.changed a.ts"]],
  ["a notebook", "NotebookEdit", { notebook_path: "n.ipynb" }, ["file.changed n.ipynb"]],
  ["a file that is only read", "Read", { file_path: "a.ts" }, []],
  ["no file named", "Write", { file_path: 5 }, []],
  ["a commit", "Bash", { command: "git add -A && git commit -m 'git push later'" }, ["git.ran commit"]],
  ["behind options and wrappers", "Bash", { command: "timeout 9 git -C /w -c a=b rebase main" }, ["git.ran rebase"]],
  [
    "several",
    "Bash",
    { command: "git checkout -b x; /usr/bin/git reset --hard" },
    ["git.ran checkout", "git.ran reset"],
  ],
  ["git that looks", "Bash", { command: "git status && git log -3 | cat" }, []],
  ["git in a text", "Bash", { command: "echo 'git commit' > digit.txt" }, []],
  ["something else", "Bash", { command: "npm test" }, []],
];
test.each(rows)("HOOK-2: %s", (_why, tool, input, effects) => {
  const told = toolEffects(interpretCall(CLAUDE_TOOLS, tool, input), gitEffects).map(
    (one) => `${one.kind} ${one.kind === "git.ran" ? one.verb : one.path}`,
  );
  expect(told).toEqual(effects);
});

test.each<[tool: string, use: ToolUse]>([
  ["Write", "edit"],
  ["MultiEdit", "edit"],
  ["Bash", "shell"],
  ["LS", "read"],
  ["WebFetch", "web"],
  ["BashOutput", "wait"],
  ["TodoWrite", "book"],
  ["TaskCreate", "report"],
  ["TaskUpdate", "report"],
  ["TeamCreate", "report"],
  ["TaskList", "wait"],
  ["TaskGet", "wait"],
  ["mcp__overseer__report", "report"],
  ["mcp__tracker__list", "other"],
  ["constructor", "other"],
])("AGENT-1: %s is there to %s, and what can write needs a permit", (tool, use) => {
  expect(interpretCall(CLAUDE_TOOLS, tool, {}).use).toBe(use);
  expect(listWritingTools(CLAUDE_TOOLS).includes(tool)).toBe(needsPermit(use));
});

test("SCOPE-1: what is written stands under either name, and a path that is no text is none", () => {
  expect(interpretCall(CLAUDE_TOOLS, "NotebookEdit", { notebook_path: "/etc/x.ipynb" }).path).toBe("/etc/x.ipynb");
  expect(interpretCall(CLAUDE_TOOLS, "Write", { file_path: 7 }).path).toBeUndefined();
  expect(interpretCall(CLAUDE_TOOLS, "Bash", { command: ["rm", "x"] }).command).toBe("rm x");
});
