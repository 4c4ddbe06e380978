/**
 * The runtime `claude-code`: the person's own installed Claude Code, with the person's own login. It is driven by
 * stream-json both ways; settings, hooks and the overlay are pointed at by flags, so that nothing is written into the
 * worktree or the person's configuration. What it may assume of the CLI was measured on 2.1.325 and 2.1.197 and is held
 * by test/e2e/claude-contract.test.ts. It never reads the login itself and never asks the model to find out about it.
 */
import { type HookWiring, HTTP_SETTINGS_FILE } from "#runtimes/hook-dialect.ts";
import { jsonObject, objectOf, textOf } from "#runtimes/json.ts";
import type {
  Capabilities,
  HttpPreparation,
  Launch,
  LaunchRequest,
  OneShot,
  Preparation,
  PreparedFile,
  RehearsalRequest,
  Runtime,
} from "#runtimes/runtime.ts";
import { CLAUDE_HOOKS } from "./hooks.ts";
import { parseOneShotAnswer } from "./one-shot.ts";
import { type ClaudeCodeOptions, isAtLeast, isOfClaude, probeClaude } from "./probe.ts";
import { judgeProjectSettings, PROJECT_FILES } from "./project-settings.ts";
import { REHEARSED_CALL, rehearsalAnswer } from "./rehearsal.ts";
import { findSessionFile } from "./session-file.ts";
import { hookSettings, httpHookSettings, trialOf } from "./settings.ts";
import { interruptLine, streamReaders, userLine } from "./stream.ts";
import { tellLine } from "./tell-line.ts";
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
    probe: (wish) => probeClaude(options, wish, own),
    knowsVariable: (name) => isOfClaude(name, own),
    hooks: {
      ...{ dialect: CLAUDE_HOOKS, file: SETTINGS_FILE, trial: trialOf },
      http: {
        listRivals: (worktree) => [
          ...PROJECT_FILES.map((file) => `${worktree}/${file}`),
          `${options.configDir ?? `${options.home}/.claude`}/settings.json`,
        ],
        prepare: httpSettingsFile,
      },
    },
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
    tell: tellLine,
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
  const allow = [...request.allowTools, ...(request.toolServer ? [OUR_TOOLS] : [])];
  return [
    request.resume ? "--resume" : "--session-id",
    request.session,
    "--settings",
    settingsPath(request),
    "--append-system-prompt-file",
    request.systemPromptFile,
    "--permission-mode",
    request.permissionMode,
    // With "=": these take every word that follows otherwise. The person's own servers stay, since nothing here is strict.
    ...(request.toolServer ? [`--mcp-config=${request.directory}/${SERVER_FILE}`] : []),
    ...(allow.length === 0 ? [] : [`--allowedTools=${allow.join(",")}`]),
    `--disallowedTools=${deny.join(",")}`,
    ...(request.model === null ? [] : ["--model", request.model]),
  ];
}

const SETTINGS_FILE = "claude-settings.json";
/** Which servers of tools it gets from us. */
const SERVER_FILE = "claude-mcp.json";
/** All tools of our own server, as permissions call them; what they may do, the agent's runner judges. */
const OUR_TOOLS = "mcp__overseer";

function settingsPath(request: LaunchRequest): string {
  return request.settingsFile ?? `${request.directory}/${SETTINGS_FILE}`;
}

/** From this version on the CLI refuses a call that it could not ask about; earlier ones make it. */
const FAILS_CLOSED = [2, 1, 325] as const;

function httpSettingsFile({ directory, hooks, env, endpoint, version, texts }: HttpPreparation): PreparedFile {
  const limits = {
    failsClosed: isAtLeast(version, FAILS_CLOSED),
    listed: texts.some((text) => text.includes("allowedHttpHookUrls")),
  };
  const given = withOurs(httpHookSettings(hooks, [], endpoint, limits));
  const settings = { ...given, env: { ...given.env, ...pastProxies(env, texts) } };
  return { path: `${directory}/${HTTP_SETTINGS_FILE}`, text: `${JSON.stringify(settings, null, 2)}\n`, mode: 0o600 };
}

/**
 * The CLI asks its hooks through a proxy where one is set, and ours are on this machine. Said always: settings that are
 * written while it runs count at once, and what is said here outweighs them. What others had said before is kept.
 */
function pastProxies(env: Readonly<Record<string, string>>, texts: readonly string[]): Record<string, string> {
  const said = [env.NO_PROXY ?? env.no_proxy, ...texts.map(readNoProxy), "127.0.0.1"].flatMap(
    (list) => list?.split(",").map((host) => host.trim()) ?? [],
  );
  const own = [...new Set(said.filter((host) => host !== ""))].join(",");
  return { NO_PROXY: own, no_proxy: own };
}

function readNoProxy(text: string): string | undefined {
  const { NO_PROXY: upper, no_proxy: lower } = objectOf(jsonObject(text.trim())?.env);
  return textOf(upper) || textOf(lower);
}

function settingsFor(hooks: HookWiring) {
  return withOurs(hookSettings(hooks));
}

function withOurs<S extends object>(hookPart: S) {
  return {
    ...hookPart,
    // Any process of this user could speak to the agent past us otherwise.
    crossSessionInbound: "refuse",
    // Set by a project's own settings, it makes 2.1.197 run without hooks; what is handed over here outweighs those.
    env: { CLAUDE_CODE_SIMPLE: "0" },
    // Overseer's own plugin is for the session that leads; an agent would pay for its hooks and server and get nothing.
    enabledPlugins: { "overseer@overseer": false },
  };
}

function settingsFile(request: Preparation): readonly PreparedFile[] {
  const text = `${JSON.stringify(settingsFor(request.hooks), null, 2)}\n`;
  return [
    { path: settingsPath(request), text, mode: 0o600 },
    ...(request.toolServer ? [serverFile(request.directory, request.toolServer)] : []),
  ];
}

/** Nothing secret is in it: the server has the agent's own environment. */
function serverFile(directory: string, [command, ...args]: readonly string[]): PreparedFile {
  const text = `${JSON.stringify({ mcpServers: { overseer: { type: "stdio", command, args } } }, null, 2)}\n`;
  return { path: `${directory}/${SERVER_FILE}`, text, mode: 0o600 };
}
