/** Every agent CLI we can run, by name. */
import { nearest } from "#domain/nearest.ts";
import { OverseerError } from "#errors.ts";
import { ownCommand } from "#sys/self.ts";
import type { Runtime } from "./runtime.ts";
import { scriptedRuntime } from "./scripted.ts";

export interface RuntimePlace {
  /** The state directory; runtimes keep what must outlive an attempt below it. */
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  /** What was configured for this CLI; without it, it is started as it is installed. */
  readonly settings?: RuntimeSettings;
}

export interface RuntimeSettings {
  /** The program to start; null finds the usual one. */
  readonly command: string | null;
  /** Arguments before our own. */
  readonly args: readonly string[];
}

/** The configured command, or the usual one, with the configured arguments. */
function startedBy(settings: RuntimeSettings | undefined, usual: () => readonly string[]): readonly string[] {
  return [...(settings?.command ? [settings.command] : usual()), ...(settings?.args ?? [])];
}

const MAKERS: Readonly<Record<string, (place: RuntimePlace) => Runtime>> = {
  scripted: ({ state, env, settings }) =>
    scriptedRuntime({
      command: startedBy(settings, () => ownCommand("scripted-agent")),
      home: `${state}/run/scripted`,
      speed: env.OVERSEER_SCRIPT_SPEED,
    }),
};

export const RUNTIME_NAMES: readonly string[] = Object.keys(MAKERS);

/** Throws not-found/RUNTIME_UNKNOWN with the nearest name. */
export function runtimeNamed(name: string, place: RuntimePlace): Runtime {
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
