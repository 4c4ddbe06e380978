/**
 * Whether what a fresh ref names is really there. Between writing objects and naming them, somebody's `git gc
 * --prune=now` may take them for rubbish, and git lets a ref name a commit whose files are gone. So whoever keeps
 * something looks afterwards, and a tidying that had begun before is waited for first: it may not have come to ours yet.
 */
import { join } from "node:path";
import { OverseerError } from "#errors.ts";
import type { GitTools } from "./git.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";

/** How often something is written again that was tidied away; each time somebody has to have tidied up right then. */
export const MOST_REWRITES = 3;

/** True when everything that the commit needs is there; what `known` needs is taken for granted. */
export async function isWhole(tools: GitTools, cwd: string, commit: string, known?: string): Promise<boolean> {
  await tidyingIsOver(tools, cwd);
  return (await tools.git.attempt(snapshotArgs.needs(commit, known), { cwd, timeoutMs: 15 * 60_000 })).code === 0;
}

/** What git says when an object that it was just given is gone. */
export function isAboutMissing(error: unknown): boolean {
  if (!(error instanceof OverseerError) || error.code !== "GIT_FAILED") return false;
  return /not a valid|nonexistent object|missing (blob|tree|commit|object)|unable to (read|find)|bad object|invalid object/.test(
    error.message,
  );
}

export function notWhole(what: string): OverseerError {
  const message = `${what} could not be kept whole: objects vanish as soon as they are written.`;
  const hint = "Let 'git gc' or 'git prune' end, see that none runs in a loop, then try again. Nothing was removed.";
  return new OverseerError("environment", "NOT_KEPT_WHOLE", message, hint);
}

const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** `git gc` names itself in gc.pid for as long as it runs; a file that was left by one that was killed does not count. */
async function tidyingIsOver(tools: GitTools, commonDir: string): Promise<void> {
  for (const until = tools.clock.now() + PATIENCE_MS; tools.clock.now() < until; ) {
    const pid = /^\d+/.exec((await tools.files.read(join(commonDir, "gc.pid"))) ?? "")?.[0];
    if (pid === undefined) return;
    const alive = await tools.exec.run(["sh", "-c", 'kill -0 "$1" 2>/dev/null', "sh", pid]);
    if (alive.code !== 0) return;
    await tools.clock.sleep(LOOK_EVERY_MS);
  }
}
