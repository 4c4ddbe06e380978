/** The real tools of src/git for tests that use real git: the test's own environment, the real clock and disk. */
import { type GitTools, gitRunner } from "#git/git.ts";
import { systemClock } from "#sys/clock.ts";
import { type Exec, systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { systemIds } from "#sys/ids.ts";

/** `exec` may be a stand-in that fails where a real machine would not do so on demand. */
export function realGitTools(exec: Exec = systemExec()): GitTools {
  const clock = systemClock();
  return {
    git: gitRunner({ exec, clock, env: testEnvironment() }),
    exec,
    files: systemFiles(),
    clock,
    ids: systemIds(),
  };
}

export function testEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  return env;
}
