/**
 * The settings an agent's CLI is started with where its runner answers its hooks: written beside those of the sling, which
 * stay as they are. The token in them is known to this process and this file alone, and worth nothing once it has ended:
 * whoever had the port afterwards would be shown a key to nothing.
 */
import type { LaunchFile } from "#runner/launch-file.ts";
import type { AttemptSocket } from "#runner/socket/server.ts";
import type { Runtime } from "#runtimes/runtime.ts";
import type { Files } from "#sys/files.ts";

/** May this agent's CLI ask its runner by HTTP? */
export function asksByHttp(
  launch: Pick<LaunchFile, "attemptSocket" | "hooks" | "runtimeSettings">,
  runtime: Runtime,
): boolean {
  const { attemptSocket, hooks, runtimeSettings } = launch;
  return (
    attemptSocket !== undefined &&
    hooks !== undefined &&
    runtimeSettings.hooks !== "command" &&
    runtime.hooks?.http !== undefined
  );
}

/** Where they lie; undefined where the CLI is to be started with the commands that the sling has written. */
export async function writeHttpSettings(
  files: Files,
  launch: LaunchFile,
  runtime: Runtime,
  { url }: Pick<AttemptSocket, "url">,
  token: string,
): Promise<string | undefined> {
  const { hooks, attempt, directory, denyTools, env, worktree } = launch;
  const http = runtime.hooks?.http;
  if (url === null || hooks === undefined || http === undefined) return undefined;
  const texts: string[] = [];
  for (const path of http.listRivals(worktree)) {
    const text = await files.read(path);
    if (text !== undefined) texts.push(text);
  }
  const version = launch.cliVersion ?? null;
  const endpoint = { url, attempt, token };
  const { path, text, mode } = http.prepare({ directory, hooks, denyTools, env, endpoint, version, texts });
  await files.write(path, text, { mode });
  return path;
}
