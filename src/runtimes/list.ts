/** Every agent CLI we can run, by name. */
import { nearest } from "#domain/core/nearest.ts";
import { OverseerError } from "#errors.ts";
import type { Exec } from "#sys/exec.ts";
import { ownCommand } from "#sys/self.ts";
import { makeClaudeCodeRuntime } from "./claude-code/launch.ts";
import type { Runtime } from "./runtime.ts";
import { makeScriptedRuntime } from "./scripted/scripted.ts";

export interface RuntimeContext {
  /** The state directory; runtimes keep what must outlive an attempt below it. */
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  readonly exec: Exec;
  readonly settings: RuntimeSettings;
}

/** The configured command, or the usual one, with the configured arguments. */
function resolveCommand(settings: RuntimeSettings, usual: () => readonly string[]): readonly string[] {
  return [...(settings.command ? [settings.command] : usual()), ...settings.args];
}

/** What the configuration says about one CLI. */
export interface RuntimeSettings {
  /** The program; null finds it by its usual name on PATH. */
  readonly command: string | null;
  /** Arguments before ours. */
  readonly args: readonly string[];
  /** How it asks Overseer's hooks, where it can choose. */
  readonly hooks?: "http" | "command";
}

export const NO_SETTINGS: RuntimeSettings = { command: null, args: [] };

const MAKERS: Readonly<Record<string, (place: RuntimeContext) => Runtime>> = {
  "claude-code": ({ env, exec, settings }) =>
    makeClaudeCodeRuntime({
      exec,
      command: resolveCommand(settings, () => ["claude"]),
      searchPath: env.PATH ?? "",
      home: env.HOME ?? "/",
      configDir: env.CLAUDE_CONFIG_DIR || null,
      keys: Object.keys(env),
      uid: process.getuid?.() ?? -1,
      trustedFolder: env.OVERSEER_TRUSTED_FOLDER || null,
    }),
  scripted: ({ state, env, settings }) =>
    makeScriptedRuntime({
      command: resolveCommand(settings, () => ownCommand("scripted-agent")),
      home: `${state}/run/scripted`,
      speed: env.OVERSEER_SCRIPT_SPEED,
    }),
};

export const RUNTIME_NAMES: readonly string[] = Object.keys(MAKERS);

/** Throws not-found/RUNTIME_UNKNOWN with the nearest name. */
export function runtimeNamed(name: string, place: RuntimeContext): Runtime {
  const make = MAKERS[name];
  if (make) return make(place);
  const like = nearest(name, RUNTIME_NAMES);
  throw new OverseerError(
    "not-found",
    "RUNTIME_UNKNOWN",
    `There is no runtime "${name.slice(0, 40)}".`,
    like
      ? `Did you mean ${like}?`
      : `Known: ${RUNTIME_NAMES.join(", ")}. Choose one with --runtime or in .overseer/config.yaml.`,
  );
}
