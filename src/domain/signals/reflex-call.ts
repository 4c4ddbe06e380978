/**
 * What one tool call is to the reflex: progress (a file changed, a commit, a check that says something new, a report),
 * a look (something not seen before), waiting (for a job that runs), bookkeeping (the agent's own lists), or none of
 * these. Known from the call and its result alone, by what the tool is for and by the words of its command; no tool is asked.
 * Whether something was seen before is not known here.
 */

import type { ToolUse } from "#domain/core/tools.ts";

export type CallKind = "edit" | "commit" | "report" | "check" | "search" | "read" | "wait" | "book" | "other";

const REPORTS = /(?:^|[\s;&|])overseer\s+(?:work\s+(?:report|done|block)|mail\s+(?:send|reply)|learnings?\b)/;
const COMMITS = /\bgit\s+(?:-\S+\s+\S+\s+)*(?:commit|merge|rebase|cherry-pick|revert|am|apply)\b/;
const WRITES =
  /(?:^|[\s;&|])(?:sed\s+(?:-\S+\s+)*-i|tee|mv|cp|rm|mkdir|touch|patch|chmod|ln)\s|(?<![0-9&<>=-])>{1,2}\s*(?!\/dev\/|\/tmp\/|&)[\w./~$"']/;
const CHECKS =
  /\b(?:tests?|pytest|jest|vitest|mocha|rspec|check|lint|eslint|biome|ruff|mypy|tsc|typecheck|build|compile|make|ninja|cmake|gradlew?|mvn|cargo|go\s+(?:test|build|vet)|clippy|tox|ctest|phpunit|bazel)\b/;
const WAITS = /(?:^|[\s;&|(])(?:sleep|wait|timeout\s+\d+\s+tail)\b|--watch\b|\bgh\s+run\s+(?:watch|view|list)\b/;
const RUNNING =
  /\b(?:still|currently)\s+(?:running|building|pending|in progress)|^\s*(?:status:?\s*)?(?:running|pending|queued|in[ _-]progress|waiting)\b|"?(?:status|state)"?\s*[:=]\s*"?(?:running|pending|queued|in[ _-]progress|waiting)/im;
const SEARCH_PROGRAMS = /^(?:grep|egrep|fgrep|rg|ag|ack|find|fd|git-grep|pgrep|which|locate)$/;
const READ_PROGRAMS = /^(?:cat|ls|head|tail|sed|awk|less|tree|wc|stat|file|git|diff|jq|nl|du|env|pwd|date|ps)$/;
/** Programs whose exit code 1 is an answer and no failure. */
const ANSWERS_NO = /^(?:grep|egrep|fgrep|rg|ag|ack|pgrep|which|diff|cmp|test|\[|find|fd|git-grep|git-diff)$/;

/** Failures of the ground the agent stands on, as opposed to a check that says no. */
const GROUND =
  /^(?:command-not-found|enoent|eacces|eperm|permission-denied|econn\w*|enospc|etimedout|exit-12[5-8]|denied)$/;
const GROUND_WORDS =
  /command not found|No such file or directory|permission denied|cannot open|ECONNREFUSED|not a git repository/i;

export interface CallFacts {
  readonly tool: string;
  /** What the tool is for, where its runtime says so. */
  readonly does: ToolUse | undefined;
  /** The arguments as JSON, or the beginning of it. */
  readonly args: string;
}

export interface CallResult {
  readonly ok: boolean;
  readonly errorClass: string | null;
  readonly result: string;
}

/** The command of a shell tool; undefined for other tools. */
export function readShellCommand({ does, args }: CallFacts): string | undefined {
  if (does !== "shell") return undefined;
  const quoted = /"command"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(args)?.[1];
  return (quoted ?? args).replace(/\\n/g, "\n").replace(/\\(["\\/])/g, "$1");
}

/** The program a command comes down to: without `cd …`, assignments, and what only wraps it. */
export function programOf(command: string): string {
  for (const part of command.split(/&&|\|\||[;|\n]/)) {
    const words = part.trim().split(/\s+/);
    while (
      words.length > 0 &&
      /^(?:\w+=.*|sudo|env|time|nice|nohup|exec|command|npx|bunx|timeout|\d+[smh]?)$/.test(words[0] ?? "")
    )
      words.shift();
    const program = (words[0] ?? "").replace(/^.*\//, "").slice(0, 24);
    if (program === "" || program === "cd" || program === "export" || program === "set" || program === "echo") continue;
    return program === "git" && words[1] !== undefined && /^(?:grep|diff)$/.test(words[1])
      ? `git-${words[1]}`
      : program;
  }
  return (command.trim().split(/\s+/)[0] ?? "").slice(0, 24);
}

/** A result that says that the job asked about is not over yet. */
export function saysRunning(result: string): boolean {
  return RUNNING.test(result.slice(0, 300));
}

/** What kind of call it is, as far as its arguments tell; waiting may show only in the result. */
export function kindOf(call: CallFacts): CallKind {
  switch (call.does) {
    case "edit":
    case "book":
    case "wait":
    case "search":
    case "read":
    case "report":
      return call.does;
    case "web":
      return call.args.includes('"url"') ? "read" : "search";
  }
  const command = readShellCommand(call);
  if (command === undefined) return "other";
  if (REPORTS.test(command)) return "report";
  if (COMMITS.test(command)) return "commit";
  if (WAITS.test(command)) return "wait";
  const program = programOf(command);
  if (SEARCH_PROGRAMS.test(program)) return "search";
  if (CHECKS.test(command)) return "check";
  if (WRITES.test(command)) return "edit";
  return READ_PROGRAMS.test(program) ? "read" : "other";
}

/** It failed, and not as an answer: no match found is what was asked for. `program` is empty for tools that are no shell. */
export function isFailure(program: string, { ok, errorClass }: CallResult): boolean {
  if (ok || errorClass === "interrupted") return false;
  return errorClass !== "exit-1" || !ANSWERS_NO.test(program);
}

/** By which name a failure counts when different tools are counted: shells by program where the ground gave way. */
export function nameFailure(tool: string, program: string, kind: CallKind, { errorClass, result }: CallResult): string {
  if (program === "") return tool;
  if (GROUND.test(errorClass ?? "") || GROUND_WORDS.test(result.slice(0, 2_000))) return `${tool}:${program}`;
  // A check that says no is what checks are for.
  return kind === "check" ? "" : tool;
}

/** An error that says nothing beyond that there was one. */
export function isBare(result: string): boolean {
  return (
    result
      .replace(/^(?:Error: )?Exit code \d+/i, "")
      .replace(/<\/?tool_use_error>/g, "")
      .trim() === ""
  );
}

const NAMING = [
  "command",
  "cmd",
  "file_path",
  "path",
  "notebook_path",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
];
const LONGEST_DOING = 90;

/** A few words for what the call does, for a sentence to the agent itself. One line, nothing that could pass for ours. */
export function describeCall({ tool, args }: Pick<CallFacts, "tool" | "args">): string {
  const found = NAMING.map((name) => new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(args)?.[1]).find(
    (value) => value !== undefined && value !== "",
  );
  const words = (found ?? "")
    .replace(/\\[nrt]/g, " ")
    .replace(/\\(["\\/])/g, "$1")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\u0000-\u001f\u007f<>[\]`]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  const name = tool.replace(/[^\w:.-]/g, "").slice(0, 40);
  const short = words.length > LONGEST_DOING ? `${words.slice(0, LONGEST_DOING - 1)}…` : words;
  return short === "" ? name : `${name} “${short}”`;
}
