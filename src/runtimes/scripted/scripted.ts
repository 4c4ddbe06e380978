/**
 * The runtime `scripted`: an agent that plays the script in its task instead of asking a model. It is an executable
 * like any other CLI, started, driven and killed the same way, so demo, tests and simulator show what really happens.
 */

import { CLAUDE_HOOKS } from "#runtimes/claude-code/hooks.ts";
import { parseOneShotAnswer } from "#runtimes/claude-code/one-shot.ts";
import { findSessionFile } from "#runtimes/claude-code/session-file.ts";
import { hookSettings, httpHookSettings, trialOf } from "#runtimes/claude-code/settings.ts";
import { interruptLine, streamReaders, userLine } from "#runtimes/claude-code/stream.ts";
import { tellLine } from "#runtimes/claude-code/tell-line.ts";
import { HTTP_SETTINGS_FILE } from "#runtimes/hook-dialect.ts";
import type {
  Capabilities,
  HttpPreparation,
  Launch,
  LaunchRequest,
  OneShot,
  Preparation,
  PreparedFile,
  Runtime,
} from "#runtimes/runtime.ts";
import { findScript, withoutScripts } from "./language.ts";
import { PLAIN, PLAIN_HOOKS, PLAIN_TOOLS } from "./plain.ts";
import { plainSettings, plainTrial } from "./plain-settings.ts";

const CAPABILITIES: Capabilities = {
  driven: true,
  interactive: false,
  resume: true,
  interrupt: true,
  midTurn: true,
  oneShot: true,
  tools: {
    names: {
      read: ["Read"],
      search: ["Grep", "Glob"],
      edit: ["Edit", "Write"],
      shell: ["Bash"],
      web: [],
      subagent: [],
      "ask-user": [],
    },
    canDeny: true,
    permissionModes: ["default", "acceptEdits", "bypassPermissions", "plan"],
  },
};

export interface ScriptedOptions {
  /** The command that starts the scripted agent. */
  readonly command: readonly string[];
  /** Where its sessions are kept, so that a resumed one continues. */
  readonly home: string;
  /** Times in scripts are divided by this. */
  readonly speed?: string;
  /** How it speaks with its hooks, and what it calls its tools. */
  readonly dialect?: "claude-code" | "plain";
}

export function makeScriptedRuntime(options: ScriptedOptions): Runtime {
  const own = {
    OVERSEER_SCRIPTED_HOME: options.home,
    ...(options.speed === undefined ? {} : { OVERSEER_SCRIPT_SPEED: options.speed }),
  };
  const plain = options.dialect === PLAIN;
  const [program = ""] = options.command;
  return {
    name: "scripted",
    capabilities: plain
      ? { ...CAPABILITIES, tools: { ...CAPABILITIES.tools, names: PLAIN_TOOLS.names } }
      : CAPABILITIES,
    hooks: plain
      ? { dialect: PLAIN_HOOKS, file: SETTINGS_FILE, trial: plainTrial }
      : {
          ...{ dialect: CLAUDE_HOOKS, file: SETTINGS_FILE, trial: trialOf },
          http: { listRivals: () => [], prepare: httpSettingsFile },
        },
    async probe() {
      return { ready: true, program, version: "1" };
    },
    readTask(text) {
      const found = findScript(text);
      return found !== undefined && "error" in found ? found : { words: withoutScripts(text).trim() };
    },
    prepare({ directory, hooks, denyTools }: Preparation) {
      const settings = plain ? plainSettings(hooks) : hookSettings(hooks, denyTools);
      return [{ path: settingsFile(directory), text: `${JSON.stringify(settings, null, 2)}\n`, mode: 0o600 }];
    },
    launch(request: LaunchRequest): Launch {
      return {
        argv: [
          ...options.command,
          "-p",
          "--input-format",
          "stream-json",
          "--output-format",
          "stream-json",
          "--verbose",
          "--replay-user-messages",
          request.resume ? "--resume" : "--session-id",
          request.session,
          "--append-system-prompt-file",
          request.systemPromptFile,
          "--settings",
          request.settingsFile ?? settingsFile(request.directory),
          "--permission-mode",
          request.permissionMode,
          ...(plain ? ["--dialect", PLAIN] : []),
          ...(request.model === null ? [] : ["--model", request.model]),
        ],
        env: { ...request.env, ...own },
        cwd: request.worktree,
      };
    },
    render: userLine,
    interrupt: interruptLine,
    reader: streamReaders(plain ? PLAIN_TOOLS : undefined),
    tell: tellLine,
    sessionFile: (session) => findSessionFile(options.home, session),
    oneShot(request: OneShot) {
      const argv = [...options.command, "-p", "--output-format", "json"];
      return { launch: { argv, env: { ...request.env, ...own }, cwd: request.cwd }, stdin: request.prompt };
    },
    answer: parseOneShotAnswer,
  };
}

const SETTINGS_FILE = "settings.json";

function httpSettingsFile({ directory, hooks, denyTools, endpoint }: HttpPreparation): PreparedFile {
  const settings = httpHookSettings(hooks, denyTools, endpoint, { failsClosed: true, listed: false });
  return { path: `${directory}/${HTTP_SETTINGS_FILE}`, text: `${JSON.stringify(settings, null, 2)}\n`, mode: 0o600 };
}

/** Where the settings of an attempt's CLI lie. */
export function settingsFile(directory: string): string {
  return `${directory}/${SETTINGS_FILE}`;
}
