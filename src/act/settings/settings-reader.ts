/**
 * How every file of the settings is read: only a plain file of a sensible size is. What stands in its place otherwise (a
 * pipe, a device, a directory, a link that leads to one of them or in a circle) would hang whoever reads it, fill the
 * memory, or pass for a file that is not there; it is a mistake in the settings, for a person to put right.
 */
import type { ReadDir } from "#config/read-dir.ts";
import { OverseerError, systemCode } from "#errors.ts";
import type { FileFacts, Files } from "#sys/files.ts";
import type { Root } from "#sys/root.ts";

type SettingsFiles = Pick<Files, "read" | "list" | "facts" | "realPath">;

/** A hundred times what people write. */
const MOST_BYTES = 256 * 1024;

export function makeSettingsReader(files: SettingsFiles, root: Pick<Root, "project">): ReadDir {
  return {
    async read(path) {
      const found = await look(files, path);
      if (found === undefined) return undefined;
      const problem = typeof found === "string" ? found : findProblem(found);
      if (problem !== undefined) throw toError(path, root.project, problem);
      return files.read(path);
    },
    list: (path) => files.list(path),
  };
}

/** What is there in the end, or what is wrong with the way to it. */
async function look(files: SettingsFiles, path: string): Promise<FileFacts | string | undefined> {
  try {
    const own = await files.facts(path);
    return own?.kind === "symlink" ? await files.facts(await files.realPath(path)) : own;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ELOOP") return "is a symlink that leads in a circle";
    if (code === "ENOENT" || code === "ENOTDIR") return "is a symlink that leads nowhere";
    throw error;
  }
}

function findProblem({ kind, size }: FileFacts): string | undefined {
  if (kind === "directory") return "is a directory and not a file";
  if (kind !== "file") return "is a pipe, a socket or a device and not a file";
  return size > MOST_BYTES ? `is larger than ${MOST_BYTES / 1024} KB, which no settings are` : undefined;
}

function toError(path: string, project: string, problem: string): OverseerError {
  const name = path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
  const hint = "Put a plain text file in its place; to do without one, remove it and run 'overseer config accept'.";
  return new OverseerError("config", "CONFIG_NOT_A_FILE", `${name} ${problem}.`, hint);
}
