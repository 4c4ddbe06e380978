/**
 * What a project's own settings for the agent's CLI mean for the agents that work in it (docs/safety.md): what runs
 * beside them, what could have switched the permit off, and what does. Pure: control/upkeep/doctor-project.ts reads the files.
 */
import type { Finding } from "#domain/health/checkup.ts";
import type { ProjectSettings } from "#runtimes/runtime.ts";

export const PROJECT_FILES = [".claude/settings.json", ".claude/settings.local.json", ".mcp.json"] as const;

const CHECK = "project settings";
/** With these the CLI calls no hooks, or others than ours. */
const WITHOUT_HOOKS = /^--(?:bare|safe-mode|settings|setting-sources)(?:=|$)/;
/** Values of `env` that decide which programs run and where the model is. */
const FAR_REACHING =
  /^(?:ANTHROPIC_|AWS_|GOOGLE_|CLAUDE_CODE_|PATH$|LD_|DYLD_|BASH_ENV$|ENV$|NODE_OPTIONS$|BUN_|GIT_|HTTPS?_PROXY$)/i;

export function judgeProjectSettings({ files, args }: ProjectSettings): Finding {
  const flag = args.find((word) => WITHOUT_HOOKS.test(word));
  if (flag !== undefined) {
    return {
      check: CHECK,
      ok: false,
      detail: `runtimes.claude-code.args has ${flag}, with which the CLI does not call Overseer's hooks: no permit hook`,
      next: "Remove it from .overseer/config.yaml; an agent started like this is stopped at its first call.",
    };
  }
  const said: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    const settings = objectIn(text);
    if (!settings) {
      return {
        check: CHECK,
        ok: false,
        detail: `${name} is not valid JSON, and Claude Code may stop at it`,
        next: `Fix ${name}.`,
      };
    }
    const found = name === ".mcp.json" ? servers(settings) : reach(settings);
    if (found.length > 0) said.push(`${name}: ${found.join(", ")}`);
  }
  const detail =
    said.length === 0
      ? "nothing of the project's runs beside an agent, and nothing weakens its permit hook"
      : `the permit hook holds; the project also configures ${said.join("; ")} (docs/safety.md)`;
  return { check: CHECK, ok: true, detail };
}

function servers(settings: Json): string[] {
  const names = keysOf(settings.mcpServers);
  return names.length === 0 ? [] : [`MCP servers (${formatNames(names)})`];
}

function reach(settings: Json): string[] {
  const hooks = keysOf(settings.hooks);
  const far = keysOf(settings.env).filter((name) => FAR_REACHING.test(name));
  const commands = ["apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper", "agent"].filter(
    (name) => settings[name] !== undefined,
  );
  return [
    ...(settings.disableAllHooks === true ? ["disableAllHooks, which is outweighed"] : []),
    ...(hooks.length === 0 ? [] : [`hooks (${formatNames(hooks)})`]),
    ...(hooks.includes("PreToolUse") ? ["which may rewrite a call after the permit hook has judged it"] : []),
    ...(far.length === 0 ? [] : [`env (${formatNames(far)})`]),
    ...commands,
  ];
}

type Json = Readonly<Record<string, unknown>>;

function objectIn(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function keysOf(value: unknown): string[] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => name.replace(/[^\w.-]/g, "?").slice(0, 40));
  return names.length > 5 ? `${shown.join(", ")} and ${names.length - 5} more` : shown.join(", ");
}
