/**
 * The runtime `claude-code`: the person's own installed Claude Code, with the person's own login. It is driven by
 * stream-json both ways; settings, hooks and the overlay are pointed at by flags, so that nothing is written into the
 * worktree or the person's configuration. What it may assume of the CLI was measured on 2.1.325 and 2.1.197 and is held
 * by test/e2e/claude-contract.test.ts. It never reads the login itself and never asks the model to find out about it.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { OverseerError, systemCode } from "#errors.ts";
import type { HookWiring } from "#runtimes/hook-dialect.ts";
import type {
  Capabilities,
  Launch,
  LaunchRequest,
  OneShot,
  Preparation,
  PreparedFile,
  Readiness,
  RehearsalRequest,
  Runtime,
  Wish,
} from "#runtimes/runtime.ts";
import type { Exec, ExecResult } from "#sys/exec.ts";
import { CLAUDE_HOOKS } from "./hooks.ts";
import { parseOneShotAnswer } from "./one-shot.ts";
import { judgeProjectSettings, PROJECT_FILES } from "./project-settings.ts";
import { REHEARSED_CALL, rehearsalAnswer } from "./rehearsal.ts";
import { findSessionFile } from "./session-file.ts";
import { hookSettings, trialOf } from "./settings.ts";
import { interruptLine, streamReaders, userLine } from "./stream.ts";
import { CLAUDE_TOOLS } from "./tools.ts";
import { transcriptReader } from "./transcript.ts";

const CAPABILITIES: Capabilities = {
  driven: true,
  interactive: true,
  resume: true,
  interrupt: true,
  midTurn: true,
  oneShot: true,
  tools: {
    names: CLAUDE_TOOLS.names,
    canDeny: true,
    permissionModes: ["default", "acceptEdits", "bypassPermissions", "plan"],
  },
};

/** Never of use to a supervised agent: they leave its worktree, or wake it without our knowing. */
const NEVER = ["EnterWorktree", "ExitWorktree", "CronCreate", "ScheduleWakeup"];

/** The first line of versions that our drivers were measured against. */
const OLDEST = [2, 1, 0] as const;

const PROBE_MS = 20_000;

/** Ways to be logged in by environment. */
const KEYS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"];

export interface ClaudeCodeOptions {
  readonly exec: Exec;
  /** The program and what comes before our flags. */
  readonly command: readonly string[];
  readonly searchPath: string;
  readonly home: string;
  /** Where the person moved the CLI's configuration to; the login is in it. */
  readonly configDir: string | null;
  /** The names in the person's environment. */
  readonly keys: readonly string[];
  readonly uid: number;
  /** The folder that the person's environment says is trusted; null where it says nothing. */
  readonly trustedFolder: string | null;
}

export function makeClaudeCodeRuntime(options: ClaudeCodeOptions): Runtime {
  // Many agents of one version are started; none of them is to replace it meanwhile.
  const own: Record<string, string> = {
    DISABLE_AUTOUPDATER: "1",
    ...(options.configDir === null ? {} : { CLAUDE_CONFIG_DIR: options.configDir }),
  };
  const buildLaunch = (request: LaunchRequest, flags: readonly string[]): Launch => ({
    argv: [...options.command, ...flags],
    env: { ...request.env, ...own },
    cwd: request.worktree,
  });
  const session = (request: Pick<LaunchRequest, "worktree" | "session">): string => {
    const projects = `${options.configDir ?? `${options.home}/.claude`}/projects`;
    return `${projects}/${request.worktree.replace(/[^a-zA-Z0-9]/g, "-")}/${request.session}`;
  };
  return {
    name: "claude-code",
    capabilities: CAPABILITIES,
    probe: (wish) => probe(options, wish, own),
    hooks: { dialect: CLAUDE_HOOKS, file: SETTINGS_FILE, trial: trialOf },
    project: { files: PROJECT_FILES, judge: judgeProjectSettings },
    prepare: settingsFile,
    launch: (request) => buildLaunch(request, [...DRIVEN, ...sessionFlags(request)]),
    screen: {
      // After "--", because a prompt may begin with a dash and some flags take all that follows.
      launch: (request, prompt) => buildLaunch(request, [...sessionFlags(request), "--", prompt]),
      transcripts: (request) => ({ own: `${session(request)}.jsonl`, subs: `${session(request)}/subagents` }),
      transcriptReader,
    },
    render: userLine,
    interrupt: interruptLine,
    reader: streamReaders(),
    sessionFile: (session) => findSessionFile(options.configDir ?? `${options.home}/.claude`, session),
    rehearse({ directory, cwd, env, hooks, url }: RehearsalRequest) {
      const path = `${directory}/${SETTINGS_FILE}`;
      const given = settingsFor(hooks);
      const text = JSON.stringify({ ...given, env: { ...given.env, ...FOR_A_REHEARSAL, ANTHROPIC_BASE_URL: url } });
      const argv = [...options.command, ...REHEARSED, "--settings", path];
      return {
        files: [{ path, text, mode: 0o600 }],
        launch: { argv, env: { ...env, ...own }, cwd },
        title: "Claude Code",
        call: REHEARSED_CALL,
        answer: rehearsalAnswer,
      };
    },
    oneShot(request: OneShot) {
      const model = request.model === null ? [] : ["--model", request.model];
      const argv = [...options.command, ...ONE_SHOT, ...model];
      return { launch: { argv, env: { ...request.env, ...own }, cwd: request.cwd }, stdin: request.prompt };
    },
    answer: parseOneShotAnswer,
  };
}

/**
 * A question, and nothing around it: no tools, no servers of tools, no hooks, no instructions of the project it is asked
 * in. What is left of the person's settings is how they are logged in.
 */
const ONE_SHOT = [
  "-p",
  "--output-format",
  "json",
  "--tools=",
  "--no-session-persistence",
  "--strict-mcp-config",
  "--setting-sources=user",
  "--settings",
  '{"disableAllHooks":true}',
  "--system-prompt",
  "You are asked one question and have no tools. Answer with exactly what it asks for, and nothing else.",
];

/** In the project as it is, but for its servers of tools, which a rehearsal has no need of. */
const REHEARSED = [
  "-p",
  "--output-format",
  "json",
  "--no-session-persistence",
  "--strict-mcp-config",
  "--max-turns",
  "2",
  "--permission-mode",
  "default",
  "--allowedTools=Bash",
];

/** Outweighs every way by which a person reaches their own model: nothing may be spent. */
const FOR_A_REHEARSAL = {
  ANTHROPIC_API_KEY: "rehearsal",
  ANTHROPIC_AUTH_TOKEN: "",
  CLAUDE_CODE_USE_BEDROCK: "0",
  CLAUDE_CODE_USE_VERTEX: "0",
  CLAUDE_CODE_USE_FOUNDRY: "0",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_MAX_RETRIES: "0",
};

const DRIVEN = [
  "-p",
  "--input-format",
  "stream-json",
  "--output-format",
  "stream-json",
  "--verbose",
  "--replay-user-messages",
];

function sessionFlags(request: LaunchRequest): string[] {
  const deny = [...new Set([...request.denyTools, ...NEVER])];
  return [
    request.resume ? "--resume" : "--session-id",
    request.session,
    "--settings",
    settingsPath(request),
    "--append-system-prompt-file",
    request.systemPromptFile,
    "--permission-mode",
    request.permissionMode,
    // With "=": these take every word that follows otherwise.
    ...(request.allowTools.length === 0 ? [] : [`--allowedTools=${request.allowTools.join(",")}`]),
    `--disallowedTools=${deny.join(",")}`,
    ...(request.model === null ? [] : ["--model", request.model]),
  ];
}

const SETTINGS_FILE = "claude-settings.json";

function settingsPath(request: LaunchRequest): string {
  return `${request.directory}/${SETTINGS_FILE}`;
}

function settingsFor(hooks: HookWiring) {
  return {
    ...hookSettings(hooks),
    // Any process of this user could speak to the agent past us otherwise.
    crossSessionInbound: "refuse",
    // Set by a project's own settings, it makes 2.1.197 run without hooks; what is handed over here outweighs those.
    env: { CLAUDE_CODE_SIMPLE: "0" },
  };
}

function settingsFile(request: Preparation): readonly PreparedFile[] {
  const text = `${JSON.stringify(settingsFor(request.hooks), null, 2)}\n`;
  return [{ path: settingsPath(request), text, mode: 0o600 }];
}

async function probe(options: ClaudeCodeOptions, wish: Wish, own: Record<string, string>): Promise<Readiness> {
  const [name = "claude"] = options.command;
  const program = findProgram(name, options.searchPath);
  if (program === undefined) {
    return toNotReady(
      `The program ${name} is not installed, or not on PATH.`,
      "Install Claude Code (npm install -g @anthropic-ai/claude-code), or name it in runtimes.claude-code.command of .overseer/config.yaml.",
    );
  }
  const env = { ...wish.env, ...own };
  const asked = await ask(options, ["--version"], env, wish);
  if (asked?.timedOut === true) {
    return toNotReady(
      `${program} --version did not answer within ${(wish.timeoutMs ?? PROBE_MS) / 1000} s.`,
      `Run '${name} --version' yourself; a program that waits for something else may stand under that name.`,
    );
  }
  const version = /(\d+)\.(\d+)\.(\d+)/.exec(asked?.stdout ?? "");
  if (asked?.code !== 0 || version === null) {
    return toNotReady(
      `${program} --version does not answer like Claude Code.`,
      `Run '${name} --version' yourself; runtimes.claude-code.command in .overseer/config.yaml names another program.`,
    );
  }
  if (isOlder(version.slice(1).map(Number))) {
    return toNotReady(
      `Claude Code ${version[0]} is too old; at least ${OLDEST.join(".")} is needed.`,
      "Update it: 'claude update', or 'npm install -g @anthropic-ai/claude-code@latest'.",
    );
  }
  const obstacle = forbiddenRoot(options, wish) ?? checkTrust(options, wish) ?? (await checkLogin(options, wish, env));
  return obstacle ?? { ready: true, program, version: version[0] };
}

function toNotReady(reason: string, hint: string): Extract<Readiness, { ready: false }> {
  return { ready: false, reason, hint };
}

function forbiddenRoot(options: ClaudeCodeOptions, wish: Wish): Readiness | undefined {
  if (options.uid !== 0 || wish.permissionMode !== "bypassPermissions" || wish.env.IS_SANDBOX === "1") return undefined;
  return toNotReady(
    "Claude Code refuses the mode bypassPermissions to root.",
    "Run Overseer as another user, choose permissionMode acceptEdits for the role, or set IS_SANDBOX=1 if this is a sandbox.",
  );
}

/**
 * The CLI remembers trust by the main checkout, and that covers its worktrees. Its own screen asks for it; driven, it
 * asks nobody and runs the hooks, servers, key helpers and environment of whatever repository it stands in.
 */
function checkTrust(options: ClaudeCodeOptions, wish: Wish): Readiness | undefined {
  const file = options.configDir === null ? `${options.home}/.claude.json` : `${options.configDir}/.claude.json`;
  const known = readState(file);
  const trusted =
    options.trustedFolder === wish.project || known?.projects?.[wish.project]?.hasTrustDialogAccepted === true;
  if (!trusted) {
    return {
      ...toNotReady(
        `Claude Code was never told to trust ${wish.project}; run 'claude' once there and accept.`,
        `What the repository brings along (hooks and servers in .claude and .mcp.json) would run unasked. Where no screen is at hand: OVERSEER_TRUSTED_FOLDER=${wish.project}.`,
      ),
      code: "FOLDER_NOT_TRUSTED",
    };
  }
  if (!wish.interactive || known?.hasCompletedOnboarding === true) return undefined;
  return toNotReady(
    "Claude Code has not been set up here yet, and would ask on its screen.",
    `Run 'claude' once in ${wish.project} and answer it; or leave out --interactive.`,
  );
}

interface CliState {
  readonly hasCompletedOnboarding?: boolean;
  readonly projects?: Readonly<Record<string, { readonly hasTrustDialogAccepted?: boolean } | undefined>>;
}

function readState(file: string): CliState | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as CliState;
  } catch (error) {
    // Not there, or half written by a running CLI: nothing is known of trust then.
    if (error instanceof SyntaxError || systemCode(error) === "ENOENT" || systemCode(error) === "EACCES")
      return undefined;
    throw error;
  }
}

/** `auth status` looks at files, keychain and environment, and asks no server. */
async function checkLogin(
  options: ClaudeCodeOptions,
  wish: Wish,
  env: Readonly<Record<string, string>>,
): Promise<Readiness | undefined> {
  const asked = await ask(options, ["auth", "status"], env, wish);
  // A version without that command, or with another answer: it will say itself what it lacks.
  if (asked === undefined || !/"loggedIn":\s*false/.test(asked.stdout)) return undefined;
  const kept = KEYS.find((key) => options.keys.includes(key) && !(key in wish.env));
  if (kept !== undefined) {
    return toNotReady(
      `Claude Code is not logged in: ${kept} is set here, but agents do not get to see it.`,
      `Add ${kept} to agents.passEnv in .overseer/config.yaml, or log in: 'claude auth login'.`,
    );
  }
  return toNotReady(
    "Claude Code is not logged in.",
    "Run 'claude auth login', or set ANTHROPIC_API_KEY and add it to agents.passEnv in .overseer/config.yaml.",
  );
}

async function ask(
  options: ClaudeCodeOptions,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { timeoutMs = PROBE_MS }: Pick<Wish, "timeoutMs">,
): Promise<ExecResult | undefined> {
  try {
    return await options.exec.run([...options.command, ...words], { env, stdin: "", timeoutMs });
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "environment") return undefined;
    throw error;
  }
}

function isOlder(version: readonly number[]): boolean {
  for (const [place, least] of OLDEST.entries()) {
    const part = version[place] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

function findProgram(name: string, searchPath: string): string | undefined {
  if (name.includes("/")) return isProgram(name) ? name : undefined;
  return searchPath
    .split(":")
    .filter((directory) => directory !== "")
    .map((directory) => `${directory}/${name}`)
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (systemCode(error) !== undefined) return false;
    throw error;
  }
}
