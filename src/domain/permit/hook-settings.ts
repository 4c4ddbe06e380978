/**
 * The settings a Claude-shaped CLI is started with: Overseer's hooks, then the user's own, and what is denied outright.
 * Recording hooks fail open: whatever becomes of the product, their command ends well. The permit is an entry of its own
 * and fails closed: when it cannot even be started, the shell itself prints the refusal. Both are here and not in a
 * runtime because several CLIs share this shape; only values that every supported version accepts are written, since
 * one invalid value makes the CLI stop at a dialog.
 */
import { shellWord } from "#domain/core/shell-words.ts";

/** Every event Overseer listens to, in the order of a session. */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "SubagentStart",
  "SubagentStop",
  "Notification",
  "PreCompact",
  "PostCompact",
  "Stop",
  "StopFailure",
  "SessionEnd",
] as const;
export type HookEventName = (typeof HOOK_EVENTS)[number];

/** Events that the stream of a driven agent tells as well, and better; recorded only where there is no stream. */
const TOLD_BY_STREAM: readonly HookEventName[] = [
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "Stop",
  "StopFailure",
];

export function isHookEvent(word: string): word is HookEventName {
  return (HOOK_EVENTS as readonly string[]).includes(word);
}

/** One source per fact: is this event the hook's to record? A batch is a boundary and no fact. */
export function isRecorded(event: HookEventName, interactive: boolean): boolean {
  return event !== "PostToolBatch" && (interactive || !TOLD_BY_STREAM.includes(event));
}

/** What the hook door is called with for the status line, which is no event of the session. */
export const STATUS_LINE = "StatusLine";

/** Tools that can change files; the permit is asked before each of them. */
export const WRITING_TOOLS = ["Write", "Edit", "MultiEdit", "NotebookEdit", "Bash"] as const;

export function needsPermit(tool: unknown): boolean {
  return (WRITING_TOOLS as readonly unknown[]).includes(tool);
}

/** A hook of the user's, from .overseer/hooks.yaml. */
export interface UserHook {
  readonly event: HookEventName;
  /** The tools (or sources) it is for; null means all. */
  readonly matcher: string | null;
  readonly command: string;
  readonly timeoutSeconds: number | null;
}

export interface HookWiring {
  /** Shell text that starts the recording hook; the event's name is appended. Made with shellCommand(). */
  readonly hookCommand: string;
  /** Shell text that starts the permit, policy file included. Made with shellCommand(). */
  readonly permitCommand: string;
  readonly userHooks: readonly UserHook[];
  /** Rules for `permissions.deny`: tool names, or `Edit(//absolute/path/**)`. */
  readonly denyRules: readonly string[];
  /** For an agent on its own screen: the pipe at which it can be woken when it is idle. Null for a driven one. */
  readonly wakePipe: string | null;
}

/** The name of that pipe, in the attempt's directory. */
export const WAKE_PIPE = "wake";

/** The directory of the permit's marks, in the attempt's directory. */
export const HEARD = "heard";

export interface CommandHook {
  readonly type: "command";
  readonly command: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly onFailure?: "block";
  /** Runs beside the idle session; ending with 2 gives it a turn. */
  readonly asyncRewake?: true;
}

export interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly CommandHook[];
}

export interface HookSettings {
  readonly hooks: Readonly<Partial<Record<HookEventName, readonly HookGroup[]>>>;
  readonly permissions: { readonly deny: readonly string[] };
  readonly skipDangerousModePermissionPrompt: true;
  /** Said aloud, because it then outweighs a project that says the opposite: one line there would switch the permit off. */
  readonly disableAllHooks: false;
  readonly statusLine?: { readonly type: "command"; readonly command: string };
}

/** A recording hook that hangs is given up after this; it never holds its agent for long. */
const RECORDING_TIMEOUT_SECONDS = 5;
/** An agent may be idle for a long weekend and more. */
const WAITING_TIMEOUT_SECONDS = 30 * 24 * 3600;
/** The permit is waited for: a late answer is better than none, and none means no. */
const PERMIT_TIMEOUT_SECONDS = 20;

/** What the agent reads when the permit could not answer at all. */
export const PERMIT_GONE =
  "Overseer's permit hook could not run, so nothing may be changed now. Do not retry; say in your report that it is missing.";

export function hookSettings(wiring: HookWiring): HookSettings {
  const hooks: Partial<Record<HookEventName, HookGroup[]>> = {};
  for (const event of HOOK_EVENTS) hooks[event] = [{ hooks: [recordingHook(wiring.hookCommand, event)] }];
  hooks.PreToolUse?.unshift({ matcher: WRITING_TOOLS.join("|"), hooks: [permitHook(wiring.permitCommand)] });
  if (wiring.wakePipe !== null) {
    for (const event of ["Stop", "StopFailure"] as const) hooks[event]?.push({ hooks: [waitingHook(wiring.wakePipe)] });
  }
  for (const hook of wiring.userHooks) hooks[hook.event]?.push(userGroup(hook));
  return {
    hooks,
    permissions: { deny: [...new Set(wiring.denyRules)] },
    skipDangerousModePermissionPrompt: true,
    disableAllHooks: false,
    // Only the status line is told what a session on its own screen costs and how full its context is.
    ...(wiring.wakePipe === null
      ? {}
      : {
          statusLine: {
            type: "command",
            command: `${STARTED_AS} ${wiring.hookCommand} ${STATUS_LINE} 2>/dev/null || true`,
          },
        }),
  };
}

/** How each of our refusals begins, so that the agent knows who refused, and we recognise it when it comes back. */
export const REFUSED = "Refused by Overseer: ";

/** The answer that refuses a tool call, as the CLI reads it from a PreToolUse hook. */
export function denial(reason: string): string {
  return JSON.stringify({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: `${REFUSED}${reason}`,
    },
  });
}

/**
 * Rules that hold even when no hook runs: the repository's git directory and Overseer's own files, by absolute path.
 * Agents' worktrees lie below the user's directory, so it is listed part by part.
 */
export function listDenyRules(place: { readonly gitCommonDir: string; readonly userDir: string }): string[] {
  const own = ["roles/**", "agents/**", "config.yaml", "hooks.yaml", "manifest.yaml"];
  const paths = [`${place.gitCommonDir}/**`, ...own.map((part) => `${place.userDir}/${part}`)];
  return paths.flatMap((path) => [`Edit(/${path})`, `Write(/${path})`]);
}

/**
 * In front of both commands. Out of the worktree, because Bun obeys a bunfig.toml and an .env where it is started, and
 * an agent could write one that runs in its own permit. And without the compiler, which costs a program of ten
 * milliseconds more than it gives; only the first of its stages is turned off, since asking the C library needs the rest.
 * And with the engine's small heap: a process that ends at once has nothing to collect.
 */
const STARTED_AS = "cd / && BUN_OPTIONS= BUN_JSC_useBaselineJIT=0 BUN_JSC_forceMiniVMMode=1";

function recordingHook(command: string, event: HookEventName): CommandHook {
  return {
    type: "command",
    command: `${STARTED_AS} ${command} ${shellWord(event)} 2>/dev/null || true`,
    timeout: RECORDING_TIMEOUT_SECONDS,
  };
}

/** Waits, without our own process and without waking up, until somebody writes a line into the pipe. */
function waitingHook(pipe: string): CommandHook {
  return {
    type: "command",
    command: `IFS= read -r line < ${shellWord(pipe)} 2>/dev/null || exit 0; printf '%s\\n' "$line" >&2; exit 2`,
    timeout: WAITING_TIMEOUT_SECONDS,
    asyncRewake: true,
  };
}

function permitHook(command: string): CommandHook {
  return {
    type: "command",
    command: `${STARTED_AS} ${command} 2>/dev/null || printf %s ${shellWord(denial(PERMIT_GONE))}`,
    timeout: PERMIT_TIMEOUT_SECONDS,
    // Older versions ignore this one, newer ones also block on a timeout.
    onFailure: "block",
  };
}

function userGroup(hook: UserHook): HookGroup {
  return {
    ...(hook.matcher === null ? {} : { matcher: hook.matcher }),
    hooks: [
      {
        type: "command",
        command: hook.command,
        ...(hook.timeoutSeconds === null ? {} : { timeout: hook.timeoutSeconds }),
      },
    ],
  };
}
