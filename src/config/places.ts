/**
 * Where a path of the configuration lies. Such a path is seen from the project, but what begins with `.overseer/` lies
 * in the user's directory wherever that is: a bare repository has it beside its branches. Each place remembers how it
 * was written, because that is how people are told about it.
 */
import { resolve } from "node:path";
import type { RoleSources } from "./roles.ts";
import type { Config } from "./schema.ts";

export interface ConfiguredPath {
  /** Absolute. */
  readonly path: string;
  /** As it stands in the configuration. */
  readonly shown: string;
}

export interface Ground {
  readonly project: string;
  readonly userDir: string;
}

const USER_DIR = ".overseer/";
/** Where a user's own texts lie with which models are asked. */
export const PROMPTS_DIR = ".overseer/prompts";

export function resolveConfigured(ground: Ground, configured: string): ConfiguredPath {
  const path = configured.startsWith(USER_DIR)
    ? resolve(ground.userDir, configured.slice(USER_DIR.length))
    : resolve(ground.project, configured);
  return { path, shown: configured.replace(/(?<=.)\/+$/, "") };
}

/** What roles are read from, as configured. */
export function roleSources(ground: Ground, { agents }: Pick<Config, "agents">): RoleSources {
  return {
    directory: `${ground.userDir}/roles`,
    manifest: resolveConfigured(ground, agents.manifest),
  };
}
