/**
 * What `up` is told when the guard starts the daemon: what the guard itself was told; and where that is nothing, what the
 * daemon had been told that it found, so that one begun by a person in auto mode comes back in auto mode. Pure.
 */
import type { AutoFlags, Registration } from "#domain/health/daemon-life.ts";

export interface UpWords {
  readonly words: readonly string[];
  /** Where they are said, because a command or directory in them may be relative. */
  readonly cwd: string;
}

type Found = Pick<Registration, "supervision" | "auto" | "flags" | "watching">;

export function upWords(
  own: { readonly flags: readonly string[]; readonly cwd: string },
  found: Found | null,
  project: string,
): UpWords {
  if (own.flags.length > 0 || found === null) return { words: own.flags, cwd: own.cwd };
  const { supervision, auto, flags, watching } = found;
  const words = [
    ...(supervision ? [] : ["--no-supervision"]),
    ...(watching ? ["--no-dispatch", `--every=${watching.everyMs}ms`] : []),
    ...(auto ? ["--auto", ...sayFlags(flags)] : []),
  ];
  return { words, cwd: flags.cwd ?? project };
}

function sayFlags(flags: AutoFlags): string[] {
  const said: Readonly<Record<string, string | number | undefined>> = {
    "task-pool-command": flags.taskPoolCommand,
    "task-directory": flags.taskDirectory,
    concurrency: flags.concurrency,
    "post-accept-command": flags.postAcceptCommand,
    tasks: flags.tasks,
    budget: flags.budgetUsd,
  };
  return Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
}
