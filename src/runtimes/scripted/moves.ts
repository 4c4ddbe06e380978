/**
 * What a plain step looks like from outside: the words and tool calls of a coding agent. The scripted agent performs
 * these moves itself, the model server sends the same ones to a real CLI, so both tell one story. Dying, leaving
 * children behind and committing are shell commands here for the same reason: they need no help from the player.
 *
 * The commands are POSIX shell because that is what an agent's Bash tool takes; every text in them is a quoted word.
 */
import type { EditStep, PlainStep } from "./language.ts";
import { scaleMs } from "./language.ts";
import { quoteForShell } from "./walk.ts";

export type ToolName = "Bash" | "Read" | "Write" | "Edit";

export type Move =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "tool";
      readonly tool: ToolName;
      readonly input: Readonly<Record<string, string>>;
      /** Real CLIs change only files they have read in this session. */
      readonly readFirst?: string;
    }
  /** Silence of the model; Infinity for a hang. */
  | { readonly kind: "pause"; readonly ms: number }
  | { readonly kind: "end-turn"; readonly text: string }
  | { readonly kind: "flood"; readonly lines: number; readonly bytes: number; readonly to: "text" | "stderr" }
  /** What the provider's HTTP answer would be, so many times; then all is well, or the turn has ended. */
  | {
      readonly kind: "refusal";
      readonly status: number;
      readonly error: "rate_limit" | "unknown";
      readonly message: string;
      readonly attempts: number;
      readonly retryAfterMs: number;
      readonly givesUp: boolean;
      readonly resetsAt?: string;
      readonly exitCode?: number;
    }
  /** Nothing to be seen: the step only changes what the agent has in mind (ignore, usage). */
  | { readonly kind: "none" };

/** What an agent says when its script has ended with a tool call: a turn always ends in words. */
export const CLOSING_TEXT = "That was the last step of the script.";
export const WAITING_TEXT = "Waiting for a message.";

/** What a child that is left behind or stalled lives at most: a forgotten one must not outlive a coffee. */
const STALL_SECONDS = 60;
const HANG_SECONDS = 3_600;

export function toToolCall(step: PlainStep, speed = 1): Move {
  switch (step.kind) {
    case "say":
      return { kind: "text", text: step.text };
    case "think":
      return { kind: "pause", ms: scaleMs(step.ms, speed) };
    case "read":
      return { kind: "tool", tool: "Read", input: { file_path: step.file } };
    case "edit":
      return editMove(step);
    case "run":
      return bash(step.command);
    case "commit":
      return bash(`git add -A && git commit -m ${quoteForShell(step.message)}`);
    case "report":
      return { kind: "text", text: reportText(step) };
    case "wait":
      return step.ms === undefined
        ? { kind: "end-turn", text: WAITING_TEXT }
        : bash(idle(scaleMs(step.ms, speed) / 1000));
    case "fail":
      return failureMove(step);
    case "hang":
      return step.in === "tool" ? bash(idle(HANG_SECONDS)) : { kind: "pause", ms: Number.POSITIVE_INFINITY };
    case "flood":
      return { kind: "flood", lines: step.lines, bytes: step.bytes, to: step.to };
    case "quota":
      return quotaMove(step, speed);
    case "die":
      return bash(deathCommand(step));
    case "orphan":
      return bash(orphanCommand(step));
    case "ignore":
    case "usage":
      return { kind: "none" };
  }
}

/** The status update as agents are asked to write it: the last fenced json block of the answer. */
export function reportText(step: Extract<PlainStep, { kind: "report" }>): string {
  const { kind: _kind, cli: _cli, ...overseerUpdate } = step;
  const words = step.summary ?? `Status: ${step.status}.`;
  return `${words}\n\n\`\`\`json\n${JSON.stringify({ overseerUpdate }, null, 2)}\n\`\`\``;
}

function bash(command: string): Move {
  return { kind: "tool", tool: "Bash", input: { command } };
}

function editMove(step: EditStep): Move {
  if ("content" in step) return { kind: "tool", tool: "Write", input: { file_path: step.file, content: step.content } };
  if ("append" in step) {
    const file = quoteForShell(step.file.startsWith("-") ? `./${step.file}` : step.file);
    return bash(`mkdir -p "$(dirname ${file})" && printf %s ${quoteForShell(step.append)} >> ${file}`);
  }
  const input = { file_path: step.file, old_string: step.replace, new_string: step.with };
  return { kind: "tool", tool: "Edit", input, readFirst: step.file };
}

/** Claude's Bash tool refuses a leading `sleep`; macOS has no `timeout`. */
function idle(seconds: number): string {
  return `if command -v timeout >/dev/null; then timeout ${seconds} tail -f /dev/null; else sleep ${seconds}; fi; true`;
}

function failureMove(step: Extract<PlainStep, { kind: "fail" }>): Move {
  return {
    kind: "refusal",
    status: 400,
    error: "unknown",
    message: step.message,
    attempts: 0,
    retryAfterMs: 0,
    givesUp: true,
    ...(step.exitCode === undefined ? {} : { exitCode: step.exitCode }),
  };
}

function quotaMove(step: Extract<PlainStep, { kind: "quota" }>, speed: number): Move {
  const reset = step.resetsAt === undefined ? "" : ` · resets at ${step.resetsAt}`;
  return {
    kind: "refusal",
    status: 429,
    error: "rate_limit",
    message: `API Error: Request rejected (429) · rate limit reached${reset}`,
    attempts: step.attempts,
    retryAfterMs: scaleMs(step.retryAfterMs, speed),
    givesUp: step.givesUp,
    ...(step.resetsAt === undefined ? {} : { resetsAt: step.resetsAt }),
  };
}

/**
 * The shell's parent is the agent. Mid-commit: git has written its objects, holds index.lock (`-a` keeps it while the
 * editor is open) and waits for an editor that kills the agent first; the commit itself never succeeds. Mid-edit: half
 * a file is on disk and the rest never comes.
 */
function deathCommand(step: Extract<PlainStep, { kind: "die" }>): string {
  const kill = `kill -${step.signal.slice(3)}`;
  if (step.at === "now") return `${kill} $PPID; sleep ${STALL_SECONDS}`;
  if (step.at === "mid-edit") {
    return `printf 'half a li' > half-written.txt; ${kill} $PPID; sleep ${STALL_SECONDS}; printf 'ne\\n' >> half-written.txt`;
  }
  const editor = `"sh -c '${kill} $PPID; sleep ${STALL_SECONDS}; false'"`;
  return `git add -A && GIT_EDITOR=${editor} git commit -a -e --allow-empty -m 'Half a commit'`;
}

/** Left in the background with nothing of ours open, so that neither a hang-up nor the end of the tool ends it. */
function orphanCommand(step: Extract<PlainStep, { kind: "orphan" }>): string {
  const environment = step.bareEnvironment === true ? 'env -i PATH="$PATH" ' : "";
  return `(trap '' HUP; exec ${environment}$(command -v setsid) sleep ${step.seconds}) </dev/null >/dev/null 2>&1 & echo "left $! behind"`;
}
