/**
 * The settings Claude Code is started with: Overseer's hooks, then the user's own, and what is denied outright.
 * Recording hooks fail open: whatever becomes of the product, their command ends well. The permit is an entry of its own
 * and fails closed: when it cannot even be started, the shell itself prints the refusal. Only values that every supported
 * version accepts are written, since one invalid value makes the CLI stop at a dialog.
 */
import { shellWord } from "#domain/core/shell-words.ts";
import { listWritingTools } from "#domain/core/tools.ts";
import {
  HOOK_MOMENTS,
  type HookMoment,
  isWanted,
  PERMIT_GONE,
  STATUS_LINE,
  type UserHook,
} from "#domain/permit/hook-moments.ts";
import {
  type HookEndpoint,
  type HookTrial,
  type HookWiring,
  STARTED_AS,
  TAKE_THE_REST,
} from "#runtimes/hook-dialect.ts";
import { CLAUDE_HOOKS } from "./hooks.ts";
import { CLAUDE_TOOLS } from "./tools.ts";

export interface CommandHook {
  readonly type: "command";
  readonly command: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly onFailure?: "block";
  /** Runs beside the idle session; ending with 2 gives it a turn. */
  readonly asyncRewake?: true;
}

export interface HttpHook {
  readonly type: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout: number;
  readonly onFailure?: "block";
}

export interface HookGroup<Hook = CommandHook> {
  readonly matcher?: string;
  readonly hooks: readonly Hook[];
}

export interface HookSettings<Hook = CommandHook> {
  readonly hooks: Readonly<Partial<Record<HookMoment, readonly HookGroup<Hook>[]>>>;
  readonly permissions: { readonly deny: readonly string[] };
  readonly skipDangerousModePermissionPrompt: true;
  /** Said aloud, because it then outweighs a project that says the opposite: one line there would switch the permit off. */
  readonly disableAllHooks: false;
  readonly statusLine?: { readonly type: "command"; readonly command: string };
  /** Written only where somebody else has written such a list: it would rule out the user's own hooks otherwise. */
  readonly allowedHttpHookUrls?: readonly string[];
}

/** A recording hook that hangs is given up after this; it never holds its agent for long. */
const RECORDING_TIMEOUT_SECONDS = 5;
/** An agent may be idle for a long weekend and more. */
const WAITING_TIMEOUT_SECONDS = 30 * 24 * 3600;
/** The permit is waited for: a late answer is better than none, and none means no. */
const PERMIT_TIMEOUT_SECONDS = 20;

/** `denyTools`: names of tools that are denied here and not by a flag. */
export function hookSettings(wiring: HookWiring, denyTools: readonly string[] = []): HookSettings {
  const hooks: Partial<Record<HookMoment, HookGroup[]>> = {};
  for (const event of HOOK_MOMENTS) hooks[event] = [{ hooks: [recordingHook(wiring.hookCommand, event)] }];
  const permit = [permitHook(wiring.permitCommand)];
  hooks.PreToolUse?.unshift(wiring.judgesEveryTool ? { hooks: permit } : { matcher: WRITING, hooks: permit });
  return settingsWith(hooks, wiring, denyTools);
}

/** How far a version of the CLI can be asked by HTTP, and what others have written. */
export interface HttpLimits {
  /** What cannot be asked is refused. Where the CLI does not know `onFailure`, the permit stays a command. */
  readonly failsClosed: boolean;
  /** Somebody has listed the URLs that hooks may have; ours is added to the list. */
  readonly listed: boolean;
}

/**
 * The same hooks, answered by the runner. The start of a session stays a command: the CLI never asks that by HTTP. A hook
 * that would have nothing to do is left out.
 */
export function httpHookSettings(
  wiring: HookWiring,
  denyTools: readonly string[],
  endpoint: HookEndpoint,
  { failsClosed, listed }: HttpLimits,
): HookSettings<CommandHook | HttpHook> {
  const { url, attempt, token } = endpoint;
  const headers = { authorization: `Bearer ${token}` };
  const interactive = wiring.wakePipe !== null;
  const hooks: Partial<Record<HookMoment, HookGroup<CommandHook | HttpHook>[]>> = {};
  for (const event of HOOK_MOMENTS) {
    const asked: HttpHook = {
      ...{ type: "http", url: `${url}/hook/${attempt}/${event}`, headers, timeout: RECORDING_TIMEOUT_SECONDS },
    };
    if (event === "SessionStart") hooks[event] = [{ hooks: [recordingHook(wiring.hookCommand, event)] }];
    else hooks[event] = isWanted(event, { interactive, steered: wiring.steered }) ? [{ hooks: [asked] }] : [];
    // Before a writing tool the permit speaks; of a driven agent there is nothing else to say then.
    if (event === "PreToolUse" && failsClosed && !interactive) hooks[event] = [{ matcher: READING, hooks: [asked] }];
  }
  const asked: HttpHook = {
    ...{ type: "http", url: `${url}/permit/${attempt}`, headers, timeout: PERMIT_TIMEOUT_SECONDS },
    onFailure: "block",
  };
  hooks.PreToolUse?.unshift({ matcher: WRITING, hooks: [failsClosed ? asked : permitHook(wiring.permitCommand)] });
  return {
    ...settingsWith(hooks, wiring, denyTools),
    ...(listed ? { allowedHttpHookUrls: [`${url}/*`] } : {}),
  };
}

const WRITING = listWritingTools(CLAUDE_TOOLS).join("|");
/** Every other tool; the CLI looks for the pattern anywhere in a name, hence the beginning. */
const READING = `^(?!(?:${WRITING})$).*`;

function settingsWith<Hook>(
  hooks: Partial<Record<HookMoment, HookGroup<Hook | CommandHook>[]>>,
  wiring: HookWiring,
  denyTools: readonly string[],
): HookSettings<Hook | CommandHook> {
  if (wiring.wakePipe !== null) {
    for (const event of ["Stop", "StopFailure"] as const) hooks[event]?.push({ hooks: [waitingHook(wiring.wakePipe)] });
  }
  for (const hook of wiring.userHooks) hooks[hook.event]?.push(userGroup(hook));
  for (const event of HOOK_MOMENTS) if (hooks[event]?.length === 0) delete hooks[event];
  return {
    hooks,
    permissions: { deny: [...new Set([...wiring.deniedPaths.map(toRule), ...denyTools])] },
    skipDangerousModePermissionPrompt: true,
    disableAllHooks: false,
    // Only the status line is told what a session on its own screen costs and how full its context is.
    ...(wiring.wakePipe === null
      ? {}
      : {
          statusLine: {
            type: "command",
            command: `${STARTED_AS} ${wiring.hookCommand} ${STATUS_LINE} 2>/dev/null || ${TAKE_THE_REST} || true`,
          },
        }),
  };
}

/**
 * An absolute path begins with two slashes there. A rule for Edit holds for every tool that writes files; one for Write
 * never matches a path, and newer versions greet the user with a warning for each.
 */
function toRule(path: string): string {
  return `Edit(/${path})`;
}

function recordingHook(command: string, event: HookMoment): CommandHook {
  return {
    type: "command",
    command: `${STARTED_AS} ${command} ${shellWord(event)} 2>/dev/null || ${TAKE_THE_REST} || true`,
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
    command: `${STARTED_AS} ${command} 2>/dev/null || { ${TAKE_THE_REST}; printf %s ${shellWord(CLAUDE_HOOKS.deny(PERMIT_GONE))}; }`,
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

/** The hooks in a settings file, to be called as the CLI would. Ours come first; what follows is the user's own. */
export function trialOf(text: string, path: string): HookTrial {
  const { hooks } = JSON.parse(text) as HookSettings;
  const commandsAt = (moment: HookMoment) => (hooks[moment] ?? []).flatMap((group) => group.hooks);
  const permit = commandsAt("PreToolUse").find(({ onFailure }) => onFailure === "block");
  const input = { file_path: path, content: "" };
  return {
    recording: {
      command: commandsAt("Notification")[0]?.command ?? "",
      payload: { hook_event_name: "Notification", session_id: "doctor", message: "Tried out by doctor." },
    },
    permit: {
      command: permit?.command ?? "",
      payload: { hook_event_name: "PreToolUse", tool_name: "Write", tool_input: input },
    },
    harmless: { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "true" } },
    refusalIn: readRefusal,
  };
}

function readRefusal(printed: string): string | null {
  if (printed.trim() === "") return null;
  try {
    const said = JSON.parse(printed) as { hookSpecificOutput?: { permissionDecisionReason?: string } };
    return said.hookSpecificOutput?.permissionDecisionReason ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return printed;
    throw error;
  }
}
