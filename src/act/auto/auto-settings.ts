/**
 * How auto mode works now: what is configured, and above it what whoever started the daemon said. Read from the daemon's own
 * registration, so that status, a person's `accept` and the daemon never disagree. None where no daemon of auto mode lives.
 */
import type { ActParts } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import { type AutoFlags, parseRegistration, type Registration } from "#domain/health/daemon-life.ts";
import type { PoolSource } from "#domain/model/auto.ts";
import { runFiles } from "#sys/run-files.ts";

export interface AutoSettings {
  readonly instance: string;
  /** The command and the directory in which it is run. */
  readonly command: { readonly line: string; readonly cwd: string; readonly timeoutMs: number } | null;
  readonly directory: string | null;
  readonly concurrency: number;
  readonly everyMs: number;
  readonly maxWaiting: number;
  readonly tasks: number | null;
  readonly budgetUsd: number | null;
  readonly postAccept: { readonly line: string; readonly timeoutMs: number } | null;
}

type SettingsParts = Pick<ActParts, "config" | "root" | "files" | "processes">;

export async function autoNow(parts: SettingsParts): Promise<AutoSettings | null> {
  const registration = await findAutoDaemon(parts);
  if (!registration) return null;
  const { auto } = await parts.config();
  return mergeAutoSettings(auto, registration.flags, { instance: registration.instance, project: parts.root.project });
}

/** The daemon of auto mode that lives. */
export async function findAutoDaemon({ root, files, processes }: SettingsParts): Promise<Registration | undefined> {
  const { log, registration: path } = runFiles(root.state);
  const registration = parseRegistration(await files.read(path), log);
  return registration?.auto === true && processes.alive(registration) ? registration : undefined;
}

export function mergeAutoSettings(
  configured: Config["auto"],
  flags: AutoFlags,
  { instance, project }: { readonly instance: string; readonly project: string },
): AutoSettings {
  // What somebody typed is meant from where they stood; what is configured, from the project.
  const line = flags.taskPoolCommand ?? configured.taskPoolCommand;
  const cwd = flags.taskPoolCommand === undefined ? project : (flags.cwd ?? project);
  const directory = flags.taskDirectory ?? configured.taskDirectory;
  const base = flags.taskDirectory === undefined ? project : (flags.cwd ?? project);
  const postAccept = flags.postAcceptCommand ?? configured.postAcceptCommand;
  return {
    instance,
    command: line === null ? null : { line, cwd, timeoutMs: configured.taskPoolTimeout },
    directory: directory === null ? null : directory.startsWith("/") ? directory : `${base}/${directory}`,
    concurrency: flags.concurrency ?? configured.concurrency,
    everyMs: configured.every,
    maxWaiting: configured.maxWaiting,
    tasks: flags.tasks ?? null,
    budgetUsd: flags.budgetUsd ?? null,
    postAccept: postAccept === null ? null : { line: postAccept, timeoutMs: configured.postAcceptTimeout },
  };
}

export function listSources({ command, directory }: Pick<AutoSettings, "command" | "directory">): PoolSource[] {
  return [...(directory === null ? [] : (["directory"] as const)), ...(command === null ? [] : (["command"] as const))];
}
