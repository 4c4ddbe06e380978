/**
 * What every terminal asks before it starts anything. tmux falls back to another directory when cwd is missing and
 * only shows an empty pane when the program is; both are refused here, in words, before a session exists. The limit on
 * size stands well below what a kernel takes for one process; prompts belong into files or onto stdin.
 */
import { OverseerError } from "#errors.ts";
import type { Files } from "#sys/files.ts";
import type { OpenRequest } from "./terminal.ts";
import { terminalName } from "./terminal-name.ts";

/** All of argv and env together. The kernel's own limit for a single string is 128 KiB on Linux. */
export const LAUNCH_LIMIT_BYTES = 96 * 1024;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const EXECUTABLE_BITS = 0o111;

/** Throws unless the request is well formed; looks at nothing outside it. */
export function checkRequestForm(request: OpenRequest): void {
  terminalName(request.name);
  const [program] = request.argv;
  if (program === undefined || !program.startsWith("/")) {
    throw invalidLaunchError(
      "PROGRAM_NOT_ABSOLUTE",
      `A terminal runs a program by its absolute path, not ${show(program)}.`,
    );
  }
  for (const argument of request.argv) refuseNul("an argument", argument);
  for (const [key, value] of Object.entries(request.env)) {
    if (!VARIABLE.test(key))
      throw invalidLaunchError("VARIABLE_NAME", `${show(key)} cannot name an environment variable.`);
    refuseNul(key, value);
  }
  const size = request.size;
  if (size !== undefined && !(isSide(size.columns) && isSide(size.rows))) {
    throw invalidLaunchError("TERMINAL_SIZE", `A terminal of ${size.columns} × ${size.rows} cannot be opened.`);
  }
  const bytes = launchBytes(request);
  if (bytes > LAUNCH_LIMIT_BYTES) {
    throw new OverseerError(
      "environment",
      "LAUNCH_TOO_LARGE",
      `Arguments and environment of ${request.name} take ${bytes} bytes; ${LAUNCH_LIMIT_BYTES} is the limit.`,
      "Pass prompts and other long text in a file, and only its path as an argument.",
    );
  }
}

/** Throws unless directory and program are there. The directory may still vanish afterwards. */
export async function checkRequestPlace(request: OpenRequest, files: Files): Promise<void> {
  if ((await kindBehindLinks(request.cwd, files))?.kind !== "directory") {
    throw new OverseerError(
      "environment",
      "CWD_MISSING",
      `There is no directory ${request.cwd}.`,
      "Create the worktree first; `overseer worktree list` shows those that exist.",
    );
  }
  const program = request.argv[0] ?? "";
  const facts = await kindBehindLinks(program, files);
  if (facts?.kind !== "file" || (facts.mode & EXECUTABLE_BITS) === 0) {
    throw new OverseerError(
      "environment",
      "PROGRAM_MISSING",
      `${program} is not a program that can be run.`,
      "Install it, or run `overseer doctor` to see which programs were found.",
    );
  }
}

function launchBytes(request: OpenRequest): number {
  let bytes = 0;
  for (const argument of request.argv) bytes += Buffer.byteLength(argument) + 1;
  for (const [key, value] of Object.entries(request.env))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value) + 2;
  return bytes;
}

async function kindBehindLinks(path: string, files: Files) {
  const facts = await files.facts(path);
  if (facts?.kind !== "symlink") return facts;
  try {
    return await files.facts(await files.realPath(path));
  } catch {
    // A link that leads nowhere is as good as nothing there; the caller says so with the path.
    return undefined;
  }
}

function refuseNul(what: string, text: string): void {
  if (text.includes("\0")) throw invalidLaunchError("NUL_CHARACTER", `The value of ${what} has a NUL character in it.`);
}

function invalidLaunchError(code: string, message: string): OverseerError {
  return new OverseerError("usage", code, message, "Correct the launch of this agent's runtime and start it again.");
}

function isSide(cells: number): boolean {
  return Number.isInteger(cells) && cells >= 2 && cells <= 10_000;
}

function show(text: string | undefined): string {
  return text === undefined ? "nothing" : JSON.stringify(text);
}
