/** What the tools of other agents are for, one row each, and how their calls are written down. */
import { expect, test } from "bun:test";
import { argumentsOf, interpretCall, type ToolUse } from "#domain/core/tools.ts";
import { VOCABULARIES } from "./vocabularies.ts";

function meaningOf(runtime: string, tool: string, input: Record<string, unknown> = {}) {
  const tools = VOCABULARIES[runtime];
  if (!tools) throw new Error(`No vocabulary for ${runtime}.`);
  const meaning = interpretCall(tools, tool, input);
  return { ...meaning, args: argumentsOf(tools, meaning, input) };
}

test.each<[runtime: string, tool: string, input: Record<string, unknown>, use: ToolUse]>([
  ["codex", "shell_command", { command: "ls" }, "shell"],
  ["codex", "exec_command", { cmd: "ls" }, "shell"],
  ["codex", "write_stdin", { session_id: 3, chars: "" }, "wait"],
  ["codex", "apply_patch", {}, "edit"],
  ["codex", "update_plan", {}, "book"],
  ["opencode", "bash", { command: "ls" }, "shell"],
  ["opencode", "edit", { filePath: "a" }, "edit"],
  ["opencode", "todowrite", {}, "book"],
  ["gemini", "run_shell_command", { command: "ls" }, "shell"],
  ["gemini", "replace", { file_path: "a" }, "edit"],
  ["gemini", "write_file", { file_path: "a" }, "edit"],
  ["gemini", "read_file", { file_path: "a" }, "read"],
  ["copilot", "read_bash", {}, "wait"],
  ["copilot", "view", {}, "read"],
  ["copilot", "create", {}, "edit"],
  ["pi", "bash", { command: "ls" }, "shell"],
  ["pi", "write", { path: "a" }, "edit"],
  ["swe-agent", "execute_bash", { command: "ls" }, "shell"],
  ["swe-agent", "str_replace_editor", { command: "view", path: "a" }, "read"],
  ["swe-agent", "str_replace_editor", { command: "str_replace", path: "a" }, "edit"],
  ["swe-agent", "str_replace_editor", { command: "constructor", path: "a" }, "edit"],
  ["swe-agent", "finish", {}, "report"],
  ["swe-agent", "Bash", { command: "ls" }, "shell"],
  ["claude-code", "bash", { command: "ls" }, "shell"],
  ["claude-code", "TODOWRITE", {}, "book"],
])("REFLEX-1: %s's %s with %j is there to %s", (runtime, tool, input, use) => {
  expect(meaningOf(runtime, tool, input).use).toBe(use);
});

test.each<[runtime: string, tool: string, input: Record<string, unknown>, command: string]>([
  ["codex", "shell", { command: ["bash", "-lc", "npm test"] }, "npm test"],
  ["codex", "shell", { command: ["git", "status"] }, "git status"],
  ["codex", "exec_command", { cmd: "npm test" }, "npm test"],
  ["swe-agent", "execute_ipython_cell", { code: "print(1)" }, "print(1)"],
])("REFLEX-1: what %s's %s runs stands under one name, %j", (runtime, tool, input, command) => {
  const told = meaningOf(runtime, tool, input);
  expect(told.command).toBe(command);
  expect(told.args.command).toBe(command);
});
