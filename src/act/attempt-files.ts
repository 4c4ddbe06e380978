/**
 * Where the parts of an attempt lie below the state directory, and what an agent may see of our environment. One place
 * for these names, so that whoever makes them and whoever removes them agree.
 */
import { dirname } from "node:path";
import type { Config } from "#config/schema.ts";
import { attemptsWithNews } from "#domain/agents/driving.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { WipLimits } from "#git/wip.ts";
import type { RemovalRequest } from "#git/worktree-removal.ts";
import { HTTP_SETTINGS_FILE } from "#runtimes/hook-dialect.ts";
import { SOCKET_VARIABLE, TOKEN_VARIABLE } from "#sys/attempt-token.ts";
import type { ActParts } from "./parts.ts";

export function attemptDir(parts: Pick<ActParts, "root">, attempt: number): string {
  return `${parts.root.state}/run/attempts/${attempt}`;
}

/** What the runner is started with: the agent's whole environment is in it, and with that its secrets. */
export function launchFilePath(parts: Pick<ActParts, "root">, attempt: number): string {
  return `${attemptDir(parts, attempt)}/launch.json`;
}

/** The agent's secret as the launch file has it; undefined when that is gone or is not one. */
export async function readLaunchToken(
  parts: Pick<ActParts, "root" | "files">,
  attempt: number,
): Promise<string | undefined> {
  const text = await parts.files.read(launchFilePath(parts, attempt));
  try {
    const { env } = JSON.parse(text ?? "{}") as { env?: Readonly<Record<string, unknown>> };
    const token = env?.[TOKEN_VARIABLE];
    return typeof token === "string" ? token : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * An attempt that has ended needs it no more, nor the settings with the token of its hooks. Done before its end is
 * written, so that no killed hand leaves them there.
 */
export async function dropLaunchFile(parts: Pick<ActParts, "root" | "files">, attempt: number): Promise<void> {
  await parts.files.remove(`${attemptDir(parts, attempt)}/${HTTP_SETTINGS_FILE}`);
  await parts.files.remove(launchFilePath(parts, attempt));
}

export async function runnerSocket(parts: Pick<ActParts, "socketDir">, attempt: number): Promise<string> {
  return `${await parts.socketDir()}/r${attempt}`;
}

/** Where the runner answers its agent (runner/socket). */
export async function attemptSocket(parts: Pick<ActParts, "socketDir">, attempt: number): Promise<string> {
  return `${await parts.socketDir()}/a${attempt}`;
}

/** How much uncommitted work is kept, for git, which does not know the configuration. */
export function wipLimits({ wip }: Pick<Config, "wip">): WipLimits {
  return { keep: wip.keep, maxFileBytes: wip.maxFile };
}

/** What may go with a worktree and what is kept of it, the same for every verb that removes one. */
export function removalLimits({
  wip,
  worktree,
  serena,
}: Pick<Config, "wip" | "worktree" | "serena">): Pick<RemovalRequest, "maxFileBytes" | "rebuildable"> {
  // What Serena keeps in a worktree is about that worktree.
  const rebuildable = serena.enabled ? [...worktree.rebuildable, ".serena"] : worktree.rebuildable;
  return { maxFileBytes: wip.maxFile, rebuildable };
}

/** The name under which a runner carries the mark of its attempt; agents and what they start carry AGENT_MARK. */
export const RUNNER_MARK = "OVERSEER_RUNNER";
export const AGENT_MARK = "OVERSEER_MARK";
/** The name under which everything a check starts carries the mark of its place. */
export const CHECK_MARK = "OVERSEER_CHECK";
/** The name under which everything a remediating agent starts carries the mark of its remediation. */
export const REMEDY_MARK = "OVERSEER_REMEDY";

/** The mark itself. Attempts are numbered again in every repository, so the number alone would name a stranger too. */
export function markOf(root: { readonly state: string }, attempt: number): string {
  return `${attempt}@${root.state}`;
}

/** The state directory as it was called when the attempt began: what its processes carry, wherever it is by now. */
export function birthplaceOf({ logDir }: Pick<Attempt, "logDir">): { readonly state: string } {
  return { state: logDir.slice(0, Math.max(0, logDir.lastIndexOf("/logs/"))) };
}

/** Where its logs are now; the record says where they were made. */
export function logDirOf(root: { readonly state: string }, { logDir }: Pick<Attempt, "logDir">): string {
  return `${root.state}${logDir.slice(birthplaceOf({ logDir }).state.length)}`;
}

/** `overseer/<agent>/<node>`, with the attempt appended from the second on. */
export function branchName(prefix: string, agent: string, nodeId: string, attempt: number, earlier: number): string {
  const node = nodeId
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/\.+$/, "")
    .replace(/\.lock$/, "-lock");
  return `${prefix}${agent}/${node}${earlier > 0 ? `-${attempt}` : ""}`;
}

/** Tells a runner to look. A runner that is not there any more is simply not told. */
export async function wakeRunner(parts: Pick<ActParts, "socketDir" | "wakeSocket">, attempt: number): Promise<boolean> {
  return parts.wakeSocket(await runnerSocket(parts, attempt));
}

/** Tells every runner to look for whom there is news in these events. */
export async function wakeRunnersFor(
  parts: Pick<ActParts, "socketDir" | "wakeSocket">,
  events: readonly Pick<NewEvent, "type" | "attempt">[],
): Promise<void> {
  await Promise.all(attemptsWithNews(events).map((attempt) => wakeRunner(parts, attempt)));
}

/** What an agent inherits by name. Everything else of the person's environment stays with the person. */
const PASSED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TERM",
  "TZ",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
  "SSH_AUTH_SOCK",
  "GIT_AUTHOR_NAME",
  "GIT_AUTHOR_EMAIL",
  "GIT_COMMITTER_NAME",
  "GIT_COMMITTER_EMAIL",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_NOSYSTEM",
  "IS_SANDBOX",
  "NO_COLOR",
  "OVERSEER_TEST",
  "OVERSEER_SCRIPT_SPEED",
] as const;

/** Settings of git that an unattended agent needs, by environment so that no file of the user's is changed. */
const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ["commit.gpgsign", "false"],
  ["tag.gpgsign", "false"],
  ["gc.auto", "0"],
  ["core.editor", "true"],
];

export interface AgentMarks {
  readonly root: string;
  readonly worktree: string;
  readonly agent: string;
  readonly attempt: number;
  readonly role: string;
  readonly mark: string;
  /** The attempt's secret; null for what is run on its behalf before it exists. */
  readonly token: string | null;
  /** Where its runner answers it; null for the same. */
  readonly socket: string | null;
  /** Where its own spans belong, by W3C Trace Context; null where nothing is traced. */
  readonly traceParent: string | null;
  /** Where this very program lies: agents call it by its name, and it must be the one that started them. */
  readonly program: string;
}

/** What of our environment an agent gets to see. */
export function filterEnvironment(
  env: Readonly<Record<string, string>>,
  passEnv: readonly string[],
): Record<string, string> {
  const names = new Set<string>([...PASSED, ...passEnv]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.has(name) || name.startsWith("LC_")));
}

/** The agent's whole environment. */
export function agentEnvironment(
  env: Readonly<Record<string, string>>,
  passEnv: readonly string[],
  marks: AgentMarks,
  identity: { readonly name: string; readonly email: string },
): Record<string, string> {
  const settings = Object.fromEntries(
    GIT_SETTINGS.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  );
  const passed = filterEnvironment(env, passEnv);
  return {
    GIT_AUTHOR_NAME: identity.name,
    GIT_AUTHOR_EMAIL: identity.email,
    GIT_COMMITTER_NAME: identity.name,
    GIT_COMMITTER_EMAIL: identity.email,
    ...passed,
    PATH: env.PATH ? `${marks.program}:${env.PATH}` : marks.program,
    ...telemetryMarks(passed, marks),
    ...(marks.traceParent === null ? {} : { TRACEPARENT: marks.traceParent }),
    GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
    ...settings,
    GIT_TERMINAL_PROMPT: "0",
    // A worktree lies inside the user's checkout: without its .git, an agent's git would commit there (FAIL-11).
    GIT_CEILING_DIRECTORIES: dirname(marks.worktree),
    OVERSEER_ROOT: marks.root,
    OVERSEER_AGENT: marks.agent,
    OVERSEER_ATTEMPT: String(marks.attempt),
    OVERSEER_ROLE: marks.role,
    ...(marks.token === null ? {} : { [TOKEN_VARIABLE]: marks.token }),
    ...(marks.socket === null ? {} : { [SOCKET_VARIABLE]: marks.socket }),
    [AGENT_MARK]: marks.mark,
  };
}

/**
 * An agent that may send telemetry of its own (OTEL_… or CLAUDE_CODE_ENABLE_TELEMETRY in agents.passEnv) says with each
 * piece of it who it is, so that what arrives can be told apart; what the person set stays in front.
 */
function telemetryMarks(passed: Readonly<Record<string, string>>, marks: AgentMarks): Record<string, string> {
  const sends = Object.keys(passed).some((name) => name.startsWith("OTEL_") || name === "CLAUDE_CODE_ENABLE_TELEMETRY");
  if (!sends) return {};
  const own = [`gen_ai.agent.name=${encodeURIComponent(marks.agent)}`, `overseer.attempt=${marks.attempt}`];
  const given = passed.OTEL_RESOURCE_ATTRIBUTES ? [passed.OTEL_RESOURCE_ATTRIBUTES] : [];
  return { OTEL_RESOURCE_ATTRIBUTES: [...given, ...own].join(",") };
}
