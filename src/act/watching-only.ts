/** Whether the daemon of this repository only watches: read from its own registration, so that nobody disagrees about it. */
import type { ActParts } from "#act/parts.ts";
import { parseRegistration } from "#domain/health/daemon-life.ts";
import { runFiles } from "#sys/run-files.ts";

export async function isWatchingOnly({
  root,
  files,
  processes,
}: Pick<ActParts, "root" | "files" | "processes">): Promise<boolean> {
  const { log, registration: path } = runFiles(root.state);
  const registration = parseRegistration(await files.read(path), log);
  return registration?.watching !== undefined && processes.alive(registration);
}
