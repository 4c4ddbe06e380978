/**
 * Disposable directories and real git repositories for tests, below the TMPDIR that preload.ts made. Each is removed
 * when its test file has ended. They are made synchronously, so that a fixture can be a plain constant.
 */
import { afterAll } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gitIn } from "./git-in.ts";

export { gitIn };

/** A fresh directory, as a path without symlinks. Call it inside a test file, a hook or a test. */
export function tempDir(prefix = "dir-"): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  made.push(path);
  return path;
}

const made: string[] = [];
// A file that made many repositories has thousands of files to remove, on a disk others use too.
afterAll(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
}, 60_000);

export interface TempRepo {
  readonly path: string;
  /** Runs git there and returns what it printed, without the last newline. Throws when git fails. */
  git(...args: string[]): string;
  /** Writes files below the repository, making directories on the way. */
  write(files: Readonly<Record<string, string>>): void;
}

/** A git repository with one commit that holds `files`. */
export function tempRepo(
  { files = { "README.md": "# A repository\n" }, branch = "main", at, objects = "sha1" } = {} as TempRepoOptions,
): TempRepo {
  const path = at ?? tempDir("repo-");
  mkdirSync(path, { recursive: true });
  const git = (...args: string[]) => gitIn(path, ...args);
  const write = (more: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text);
    }
  };
  git("init", "--quiet", "--initial-branch", branch, `--object-format=${objects}`);
  write(files);
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message", "First commit");
  return { path, git, write };
}

export interface TempRepoOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly branch?: string;
  /** Where it is to be, below a tempDir(). */
  readonly at?: string;
  readonly objects?: "sha1" | "sha256";
}
