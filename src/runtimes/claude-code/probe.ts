/**
 * Is the person's Claude Code there, new enough, trusted here and logged in? It is asked itself where it can say so
 * without spending anything; its login is never read.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { listUnpassed } from "#domain/health/environment.ts";
import { OverseerError, systemCode } from "#errors.ts";
import type { Readiness, Wish } from "#runtimes/runtime.ts";
import type { Exec, ExecResult } from "#sys/exec.ts";

/** The first line of versions that our drivers were measured against. */
const OLDEST = [2, 1, 0] as const;

const PROBE_MS = 20_000;

/** Ways to be logged in by environment. */
const KEYS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"];

/** What people set for it; what it sets for what it starts itself is not meant. */
const OF_CLAUDE =
  /^(?:ANTHROPIC_\w+|CLAUDE_(?!CODE_ENTRYPOINT$|CODE_SSE_PORT$)\w+|DISABLE_\w+|MAX_THINKING_TOKENS|BASH_\w+_MS|MCP_\w+|API_TIMEOUT_MS)$/;

/** `own` is what the runtime sets for each agent itself. */
export function isOfClaude(name: string, own: Readonly<Record<string, string>>): boolean {
  return OF_CLAUDE.test(name) && !(name in own);
}

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

export async function probeClaude(
  options: ClaudeCodeOptions,
  wish: Wish,
  own: Readonly<Record<string, string>>,
): Promise<Readiness> {
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
  if (!isAtLeast(version[0], OLDEST)) {
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
    const isOfCli = (name: string) => isOfClaude(name, env);
    const { ofCli, ofNetwork } = listUnpassed({ set: options.keys, passed: Object.keys(wish.env), isOfCli });
    const also = ofNetwork.length === 0 ? "" : ` (also set here and not passed: ${ofNetwork.join(", ")})`;
    return toNotReady(
      `Claude Code is not logged in: ${kept} is set here, but agents do not get to see it.`,
      `Add ${ofCli.join(", ")} to agents.passEnv in .overseer/config.yaml${also}, or log in: 'claude auth login'.`,
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

/** False for a version that is not known. */
export function isAtLeast(version: string | null, least: readonly number[]): boolean {
  if (version === null) return false;
  const parts = version.split(".").map(Number);
  for (const [place, wanted] of least.entries()) {
    const part = parts[place] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
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
