/** Projects an agent may work in: their files, commands, and what their tools say when things go well or wrong. */
import type { Dice, ToolUse } from "./story.ts";

export interface Project {
  readonly files: readonly string[];
  readonly words: readonly string[];
  readonly test: string;
  readonly build: string;
  /** What a failing test run says. */
  failing(failed: number, total: number, seconds: number): string;
  passing(total: number, seconds: number): string;
}

const HEADS = [
  "auth",
  "billing",
  "cart",
  "cache",
  "config",
  "export",
  "feed",
  "invoice",
  "ledger",
  "mailer",
  "orders",
  "parser",
  "queue",
  "report",
  "router",
  "search",
  "session",
  "store",
  "sync",
  "token",
  "upload",
  "users",
  "wallet",
  "webhook",
];
const TAILS = [
  "client",
  "codec",
  "handler",
  "helpers",
  "index",
  "model",
  "policy",
  "reader",
  "schema",
  "service",
  "types",
  "writer",
];

function filesOf(root: string, extension: string): string[] {
  return HEADS.flatMap((head) => TAILS.map((tail) => `${root}/${head}/${tail}.${extension}`));
}
const words = HEADS.flatMap((head) => TAILS.map((tail) => `${head}${tail[0]?.toUpperCase()}${tail.slice(1)}`));

export const PROJECTS: readonly Project[] = [
  {
    files: filesOf("src", "ts"),
    words,
    test: "npm test",
    build: "npm run build",
    failing: (failed, total, seconds) =>
      `Exit code 1\n\n> shop@2.3.0 test\n> vitest run\n\n RUN  v3.0.4\n\n ❯ tests (${total} tests | ${failed} failed) ${seconds * 900}ms\n   × rounds half up 4ms\n\nAssertionError: expected ${failed * 3} to be ${total}\n\n Test Files  1 failed | 6 passed (7)\n      Tests  ${failed} failed | ${total - failed} passed (${total})\n   Duration  ${seconds}.12s`,
    passing: (total, seconds) =>
      `> shop@2.3.0 test\n> vitest run\n\n Test Files  7 passed (7)\n      Tests  ${total} passed (${total})\n   Duration  ${seconds}.41s`,
  },
  {
    files: filesOf("app", "py"),
    words: words.map((word) => word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
    test: "python -m pytest -q",
    build: "python -m build",
    failing: (failed, total, seconds) =>
      `Exit code 1\n${".".repeat(total - failed)}${"F".repeat(failed)}\n=== FAILURES ===\nE   assert ${failed} == ${total}\n=== short test summary info ===\nFAILED tests/test_ledger.py::test_rounding_${failed}\n${failed} failed, ${total - failed} passed in ${seconds}.03s`,
    passing: (total, seconds) => `${".".repeat(total)}\n${total} passed in ${seconds}.20s`,
  },
  {
    files: filesOf("internal", "go"),
    words,
    test: "go test ./...",
    build: "go build ./...",
    failing: (failed, total, seconds) =>
      `Exit code 1\n--- FAIL: TestLedger (0.0${failed}s)\n    ledger_test.go:${40 + failed}: got ${failed}, want ${total}\nFAIL\nFAIL\tshop/internal/ledger\t${seconds}.31s\n${failed} packages failed`,
    passing: (_total, seconds) => `ok  \tshop/internal/ledger\t${seconds}.30s\nok  \tshop/internal/cart\t0.20s`,
  },
  {
    files: filesOf("crates/core/src", "rs"),
    words,
    test: "cargo test",
    build: "cargo build --release",
    failing: (failed, total, seconds) =>
      `Exit code 101\n   Compiling core v0.3.1\nrunning ${total} tests\ntest ledger::rounds ... FAILED\n\ntest result: FAILED. ${total - failed} passed; ${failed} failed; 0 ignored; finished in ${seconds}.02s`,
    passing: (total, seconds) =>
      `running ${total} tests\n\ntest result: ok. ${total} passed; 0 failed; finished in ${seconds}.05s`,
  },
];

export const read = (file: string, dice: Dice): ToolUse => ({
  tool: "Read",
  input: { file_path: `/repo/wt/${file}` },
  result: `1\t// ${file}\n2\texport const size = ${file.length};\n3\t${"x".repeat(dice.between(20, 200))}`,
});

/** A file as it was when it was last read: the same content again. */
export const reread = (file: string): ToolUse => ({
  tool: "Read",
  input: { file_path: `/repo/wt/${file}` },
  result: `1\t// ${file}\n2\texport const size = ${file.length};`,
});

export const edit = (file: string, dice: Dice): ToolUse => {
  const number = dice.between(1, 1_000_000);
  return {
    tool: "Edit",
    input: { file_path: `/repo/wt/${file}`, old_string: `size = ${number}`, new_string: `size = ${number + 1}` },
    result: `The file /repo/wt/${file} has been updated.`,
  };
};

export const failedEdit = (file: string, text: string): ToolUse => ({
  tool: "Edit",
  input: { file_path: `/repo/wt/${file}`, old_string: text, new_string: `${text} // done` },
  ok: false,
  result: `<tool_use_error>String to replace not found in file.\nString: ${text}</tool_use_error>`,
});

export const bash = (command: string, result: string, ok = true, ms?: number): ToolUse => ({
  tool: "Bash",
  input: { command, description: "Run a command" },
  result,
  ok,
  ...(ms === undefined ? {} : { ms }),
});

export const commit = (dice: Dice): ToolUse =>
  bash(
    `git add -A && git commit -m 'Step ${dice.between(1, 9_999)}'`,
    `[topic ${dice.between(1e6, 9e6).toString(16)}] Step\n 2 files changed`,
  );

export const grep = (pattern: string, found: string): ToolUse => ({
  tool: "Grep",
  input: { pattern, path: "/repo/wt", output_mode: "content", "-n": true },
  result: found,
});

export const todos = (dice: Dice): ToolUse => ({
  tool: "TodoWrite",
  input: {
    todos: [{ content: `Part ${dice.between(1, 5)}`, status: dice.pick(["pending", "in_progress", "completed"]) }],
  },
  result: "Todos have been modified successfully. Ensure that you continue to use the todo list.",
});
