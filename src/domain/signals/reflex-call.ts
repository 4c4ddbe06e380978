/**
 * What one tool call is to the reflex: progress (a file changed, a commit, a check that says something new, a report),
 * a look (something not seen before), waiting (for a job that runs), bookkeeping (the agent's own lists), or none of
 * these. Known from the call and its result alone, by what the tool is for and by the words of its command; no tool is asked.
 * Whether something was seen before is not known here.
 */

import { tellingLine } from "#domain/core/similarity.ts";
import type { ToolUse } from "#domain/core/tools.ts";

export type CallKind = "edit" | "commit" | "report" | "check" | "search" | "read" | "wait" | "book" | "other";

const REPORTS =
  /(?:^|[;&|(\n])\s*(?:[\w./~-]{0,120}\/)?overseer\s+(?:work\s+(?:report|done|block)|mail\s+(?:send|reply)|learnings?\b)/;
const COMMITS = /\bgit\s+(?:-\S+\s+\S+\s+)*(?:commit|merge|rebase|cherry-pick|revert|am|apply)\b/;
const WRITES =
  /(?:^|[\s;&|(])(?:(?:Set|Add|Clear)-Content|Out-File|(?:New|Remove|Move|Copy|Rename)-Item)\b|\bWriteAll(?:Text|Lines|Bytes)\(|(?:^|[\s;&|])(?:sed\s+(?:-\S+\s+)*-i|tee|mv|cp|rm|mkdir|touch|patch|chmod|ln)\s|(?<![0-9&<>=-])>{1,2}\s*(?!\/dev\/|\/tmp\/|&)[\w./~$"']/;
const CHECKS =
  /\b(?:tests?|pytest|jest|vitest|mocha|rspec|check|lint|eslint|biome|ruff|mypy|tsc|typecheck|build|compile|make|ninja|cmake|gradlew?|mvn|cargo|go\s+(?:test|build|vet)|clippy|tox|ctest|phpunit|bazel)\b/;
const WAITS =
  /(?:^|[\s;&|(])(?:sleep\s+(?!0+\b(?!\.[1-9]))|wait\b|timeout\s+\d+\s+tail\b)|--watch\b|\bgh\s+run\s+(?:watch|view|list)\b/;
/** A line that says nothing else, or a field that says how a job stands: `Running 20 tests` is what a finished run prints. */
const RUNNING =
  /\b(?:still|currently)\s+(?:running|building|pending|in progress)|^[ \t]*(?:status:?[ \t]*)?(?:running|pending|queued|in[ _-]progress|waiting)[ \t.…!]*$|"?\b(?:status|state)"?\s*[:=>]\s*"?(?:running|pending|queued|in[ _-]progress|waiting)\b(?![ \t]+\w)/im;
const QUOTED = /"(?:[^"\\]|\\.)*"|'[^']*'/g;
const SEARCH_PROGRAMS =
  /^(?:grep|egrep|fgrep|rg|ag|ack|find|fd|git-grep|pgrep|which|locate|findstr|where(?:\.exe)?|Select-String|sls)$/i;
/** PowerShell says by its verbs what a command is for. */
const READ_PROGRAMS =
  /^(?:(?:Get|Test|Measure|Resolve|Compare|Format|Show|Find)-\w+|gc|gci|dir|cat|ls|head|tail|sed|awk|less|tree|wc|stat|file|diff|jq|nl|du|df|env|printenv|pwd|date|ps|git-diff|hostname|uname|id|whoami|realpath|readlink)$/i;
const GIT_LOOKS =
  /\bgit\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*?(?:status|log|show|diff|branch|rev-parse|remote|ls-files|blame|describe|config|shortlog|reflog|rev-list|cat-file)\b/;
/** More programs that look at the ground. */
const LOOKS = /^(?:whereis|type|command|test|\[|ip|ping|ifconfig|lsof|netstat|ss)$/;
/** Programs whose exit code 1 is an answer and no failure. */
const ANSWERS_NO =
  /^(?:grep|egrep|fgrep|findstr|rg|ag|ack|pgrep|which|where(?:\.exe)?|diff|cmp|test|\[|find|fd|git-grep|git-diff)$/;

/** Failures of the ground the agent stands on, as opposed to a check that says no. */
const GROUND =
  /^(?:command-not-found|enoent|eacces|eperm|permission-denied|econn\w*|enospc|etimedout|exit-12[5-8]|denied)$/;
const GROUND_WORDS =
  /command not found|No such file or directory|permission denied|cannot open|ECONNREFUSED|not a git repository|Operation not permitted|Read-only file system|No space left on device/i;

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

const SHELL_IN_SHELL =
  /^\s*"?(?:[^\s"']*[\\/])?(?:(?:pwsh|powershell)(?:\.exe)?"?(?:\s+-(?!c\b|command\b)\w+(?:\s+(?!-)\w+)?)*\s+-(?:command|c)\s+|(?:ba|z|da)?sh(?:\.exe)?"?\s+-\w*c\s+|cmd(?:\.exe)?"?\s+\/c\s+)["']?/i;

/** What a shell is told to run that is started by another one. */
function insideShell(command: string): string {
  return command.replace(SHELL_IN_SHELL, "");
}

/** A variable of PowerShell that is set, and what a condition or a bracket opens with. */
const BEFORE_PROGRAM = /^(?:\$[\w:]+\s*\+?=\s*|if\s*\(|\(|&\s*)+/;
const NO_PROGRAM = /^(?:["'@[{}$]|\d)/;
const SETS_THE_SCENE = /^(?:cd|export|set|echo|Set-Location|Write-(?:Output|Host))$/;

/** The program a command comes down to: without `cd …`, assignments, and what only wraps it. */
export function programOf(given: string): string {
  const command = insideShell(given);
  for (const part of command.split(/&&|\|\||[;|\n]/)) {
    const words = part.trim().replace(BEFORE_PROGRAM, "").split(/\s+/);
    while (
      words.length > 0 &&
      /^(?:\w+=.*|sudo|env|time|nice|nohup|exec|command|npx|bunx|timeout|\d+[smh]?)$/.test(words[0] ?? "")
    )
      words.shift();
    const program = (words[0] ?? "")
      .replace(/^.*\//, "")
      .replace(/[)'"]+$/, "")
      .slice(0, 24);
    if (program === "" || NO_PROGRAM.test(program) || SETS_THE_SCENE.test(program)) continue;
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
    // Work given to somebody else, and a question to a person: told with new words, each is news.
    case "subagent":
    case "ask-user":
      return "report";
  }
  const given = readShellCommand(call);
  if (given === undefined) return "other";
  const command = insideShell(given);
  if (REPORTS.test(command)) return "report";
  if (COMMITS.test(command)) return "commit";
  if (WAITS.test(command)) return "wait";
  const program = programOf(command);
  if (SEARCH_PROGRAMS.test(program)) return "search";
  if (CHECKS.test(command)) return "check";
  // What stands in quotes is no redirection.
  if (WRITES.test(command) && WRITES.test(command.replace(QUOTED, '""'))) return "edit";
  if (program === "git") return GIT_LOOKS.test(command) ? "read" : "other";
  return READ_PROGRAMS.test(program) ? "read" : "other";
}

/** It failed, and not as an answer: no match found is what was asked for. `program` is empty for tools that are no shell. */
export function isFailure(program: string, { ok, errorClass }: CallResult): boolean {
  if (ok || errorClass === "interrupted") return false;
  return errorClass !== "exit-1" || !ANSWERS_NO.test(program);
}

/** By which name a failure counts when different tools are counted: shells by program where the ground gave way. */
export function nameFailure(tool: string, program: string, kind: CallKind, { errorClass, result }: CallResult): string {
  // What a job said that was waited for is not the waiting's fault.
  if (kind === "wait") return "";
  if (program === "") return nameTool(tool);
  // After a failure one should look at the ground: that this fails, too, is no further tool's failure.
  if (kind === "read" || kind === "search" || LOOKS.test(program)) return "";
  if (GROUND.test(errorClass ?? "") || GROUND_WORDS.test(result.slice(0, 2_000))) return nameTool(`${tool}:${program}`);
  // A check that says no is what checks are for.
  return kind === "check" ? "" : nameTool(tool);
}

/** A name as it may stand in a sentence of ours: a tool may be called anything. */
function nameTool(tool: string): string {
  return tool.replace(/[^\w:.-]/g, "").slice(0, 40);
}

const TOOK_TOO_LONG = /^(?:error: )?(?:command )?timed? ?out after [\d.]+ ?\w+\.?$/i;
const USUAL_EXIT = /^(?:Error: )?Exit code:? [12]\b/i;

/** An error that says nothing beyond that there was one; an exit code that is not the usual one says something. */
export function isBare({ result, errorClass }: CallResult): boolean {
  const words = result
    .replace(USUAL_EXIT, "")
    .replace(/<\/?tool_use_error>/g, "")
    .trim();
  if (words !== "") return false;
  return USUAL_EXIT.test(result) || !/^exit-(?![012]$)\d/.test(errorClass ?? "");
}

/** It ran into its time limit, and that is all there is to say. */
export function isOutOfTime(result: string): boolean {
  return result.length < 200 && TOOK_TOO_LONG.test(result.trim());
}

/** One program under two of its names: `python`, `python3.12`, `python.exe`. */
export function isSameProgram(one: string, other: string): boolean {
  return one !== "" && (one === other || withoutVersion(one) === withoutVersion(other));
}

function withoutVersion(program: string): string {
  return program.replace(/\.exe$/i, "").replace(/(?<=[a-z]{2})[-\d.]+$/i, "");
}

const EDITED_FILE = /"(?:file_path|notebook_path|absolute_path|target_file|filename|path)"\s*:\s*"((?:[^"\\]|\\.)+)"/;

/** The file an edit is about, where its arguments name it. */
export function fileOf({ does, args }: Pick<CallFacts, "does" | "args">): string | undefined {
  return does === "edit" ? EDITED_FILE.exec(args)?.[1] : undefined;
}

/** What only a person can give or do; in the words of a question to one. */
export const BLOCKERS = {
  signing: "signing its commits was refused",
  credential: "credentials that it does not have are asked for",
  password: "a password has to be typed in",
  dialog: "a dialog waits for a person",
} as const;
export type Blocker = keyof typeof BLOCKERS;

const BLOCKER_WORDS: readonly (readonly [Blocker, RegExp])[] = [
  [
    "signing",
    /gpg failed to sign|failed to sign the data|signing failed|agent refused operation|failed to write commit object[\s\S]{0,200}sign|1Password[^\n]{0,80}(?:agent|sign|failed)|no (?:secret|private) key|Couldn't (?:load|find) (?:public )?key|pinentry/i,
  ],
  [
    "password",
    /a (?:terminal is required to read the )?password is required|sudo: a terminal is required|Enter passphrase|incorrect password attempts?|no tty present and no askpass/i,
  ],
  [
    "credential",
    /could not read (?:Username|Password) for|Permission denied \(publickey|Authentication failed for|terminal prompts disabled|\bgh auth login\b|\bENEEDAUTH\b|Unable to locate credentials|could not find default credentials|(?:run|try) [`'"]?(?:npm login|npm adduser|docker login|aws sso login|gcloud auth login|az login|vercel login|fly auth login|huggingface-cli login)|No API key (?:found|provided|set)|(?:API key|access token|credentials) (?:is |are )?(?:missing|required|not (?:set|found|configured))/i,
  ],
  [
    "dialog",
    /waiting for (?:the )?(?:user|you) to (?:approve|confirm|unlock|log ?in|authorize)|(?:approve|authorize|unlock) (?:it |this )?in (?:your |the )?(?:browser|app|keychain)|User interaction is not allowed|open (?:this|the following) (?:url|link) in (?:your|a) browser/i,
  ],
];

/** What in the result of a failed call only a person can solve. */
export function findBlocker(result: string): Blocker | undefined {
  for (const [blocker, words] of BLOCKER_WORDS) if (words.test(result)) return blocker;
  return undefined;
}

const ASKS_FOR_PROGRAM = /(?:^|[\s;&|(])(?:which|whereis|type|command\s+-v|hash)\s+(?:-\w+\s+)*([\w.+-]{2,40})/;
const NOT_FOUND = /(?:^|[\s:])([\w.+-]{2,40}): (?:command )?not found/m;
const LOOKS_FOR =
  /(?:^|[\s;&|(])(?:which|whereis|type|command|find|locate|fd|ls|apt(?:-cache|-get)?|dpkg|rpm|brew|port|apk|pip3?|npm|cargo|gem|conda|mise|asdf|nix)\s/;

/** The program a command asks for: by name, or once more the one that is being looked for. */
export function programSought(command: string, sought: string | undefined): string | undefined {
  if (sought !== undefined && command.includes(sought) && LOOKS_FOR.test(command)) return sought;
  return ASKS_FOR_PROGRAM.exec(command)?.[1];
}

/** The program that was not there, as a shell says it. */
export function missingProgram({ ok, errorClass, result }: CallResult): string | undefined {
  if (ok || (errorClass !== "exit-127" && errorClass !== "command-not-found")) return undefined;
  return NOT_FOUND.exec(result.slice(0, 1_000))?.[1];
}

/** A search that found nothing: it failed, printed nothing, or says so. */
export function isInVain({ ok, result }: CallResult): boolean {
  return (
    !ok ||
    result.trim() === "" ||
    /^(?:\(no output\)|\(Bash completed with no output\)|no matches|not found)|: not found|no .{1,80} in \(/i.test(
      result.trim(),
    )
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
const NAMED = NAMING.map((name) => [`"${name}"`, new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`)] as const);
const LONGEST_DOING = 90;
const LONGEST_ERROR = 80;

/** A few words for what the call does, for a sentence to the agent itself. One line, nothing that could pass for ours. */
export function describeCall({ tool, args }: Pick<CallFacts, "tool" | "args">): string {
  let found: string | undefined;
  for (const [name, value] of NAMED) if (!found && args.includes(name)) found = value.exec(args)?.[1];
  const words = quotable((found ?? "").replace(/\\[nrt]/g, " ").replace(/\\(["\\/])/g, "$1"), LONGEST_DOING);
  const name = nameTool(tool);
  return words === "" ? name : `${name} “${words}”`;
}

/** What the error of a failed call says, as a quotation; or with which code it ended. Undefined when it says neither. */
export function describeError({ errorClass, result }: CallResult): string | undefined {
  // The end of a traceback is what tells, and of a long one only the beginning is kept.
  const isCut = result.length >= KEPT_RESULT && result.includes("Traceback (most recent call last)");
  const words = isCut ? "" : quotable(tellingLine(result), LONGEST_ERROR);
  if (words !== "") return `“${words}”`;
  const code = /^exit-(\d+)$/.exec(errorClass ?? "")?.[1];
  return code === undefined ? undefined : `exit ${code}`;
}

/** Runtimes keep so much of a result. */
const KEPT_RESULT = 1_000;

/** What would close our quotation or look like a tag, and what it is shown as: a command has to stay readable. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ...{ "<": "‹", ">": "›", "[": "⟦", "]": "⟧", "`": "ˋ", "“": '"', "”": '"' },
};

function quotable(text: string, longest: number): string {
  const words = text
    .slice(0, 4 * longest)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .replace(/[<>[\]`“”]/g, (sign) => LOOK_ALIKES[sign] ?? " ")
    .trim();
  return words.length > longest ? `${words.slice(0, longest - 1)}…` : words;
}
