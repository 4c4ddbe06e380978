/**
 * The wall between the product's own tests and a person's work (ISO-1). With OVERSEER_TEST=1 in the environment, which
 * children inherit, a state root, a HOME or a tmux server outside the temp directory is refused, whoever asks. It
 * stands here, under everything that opens one, so no test has to remember it. Without OVERSEER_TEST it does nothing
 * and loads nothing.
 */
import { OverseerError, systemCode } from "#errors.ts";
import { isWithin, nameOf, parentOf, resolvePath } from "./paths.ts";

/** Refuses a state root that a test has not made. */
export function assertRootAllowed(path: string): void {
  if (underTest() && !inTemp(path)) throw refusal("state root", path);
}

/** Refuses a home directory (and with it agent settings and logins) that a test has not made. */
export function assertHomeAllowed(home: string): void {
  if (underTest() && !inTemp(home)) throw refusal("home directory", home);
}

/** Refuses a tmux server that a test has not started; `tmux-<uid>` is where tmux keeps those of the user. */
export function assertTmuxSocketAllowed(socketPath: string): void {
  if (!underTest()) return;
  if (!inTemp(socketPath) || /^tmux-\d+$/.test(nameOf(parentOf(realPathOf(socketPath))))) {
    throw refusal("tmux socket", socketPath);
  }
}

function underTest(): boolean {
  return process.env.OVERSEER_TEST === "1";
}

function inTemp(path: string): boolean {
  if (path === "") return false;
  const os: typeof import("node:os") = require("node:os");
  return isWithin(realPathOf(os.tmpdir()), realPathOf(path)) && realPathOf(path) !== realPathOf(os.tmpdir());
}

/** What does not exist yet is judged by the nearest directory that does. */
function realPathOf(path: string): string {
  const fs: typeof import("node:fs") = require("node:fs");
  const absolute = resolvePath(process.cwd(), path);
  try {
    return fs.realpathSync(absolute);
  } catch (error) {
    const code = systemCode(error);
    if ((code !== "ENOENT" && code !== "ENOTDIR") || absolute === "/") throw error;
    return resolvePath(realPathOf(parentOf(absolute)), nameOf(absolute));
  }
}

function refusal(what: string, path: string): OverseerError {
  const message = `OVERSEER_TEST=1 is set, and the ${what} ${path} is outside the temp directory.`;
  const hint = "In a test, make it with tempDir() or tempRepo(); outside of tests, unset OVERSEER_TEST.";
  return new OverseerError("conflict", "TEST_ISOLATION", message, hint);
}
