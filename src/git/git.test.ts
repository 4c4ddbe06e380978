import { describe, expect, test } from "bun:test";
import { OverseerError } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { Exec, ExecOptions, ExecResult } from "#sys/exec.ts";
import { findHeldLock, gitCommandLine, gitEnvironment, gitRunner, LOCK_BACKOFF_MS } from "./git.ts";

const fine: ExecResult = { code: 0, signal: null, stdout: "", stderr: "", timedOut: false, truncated: false };
const lockedOut = { ...fine, code: 128, stderr: "fatal: Unable to create '/r/.git/index.lock': File exists.\n" };

/** Answers one after the other; the last one for ever. */
function scriptedExec(...answers: (Partial<ExecResult> | Error)[]) {
  const calls: { argv: readonly string[]; options?: ExecOptions }[] = [];
  const exec: Exec = {
    run: async (argv, options) => {
      const answer = answers[Math.min(calls.length, answers.length - 1)] ?? fine;
      calls.push({ argv, options });
      if (answer instanceof Error) throw answer;
      return { ...fine, ...answer };
    },
  };
  return { exec, calls };
}

function sleeplessClock() {
  const slept: number[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    boot: () => "virtual",
    sleep: async (ms) => {
      slept.push(ms);
    },
  };
  return { clock, slept };
}

function runnerOn(...answers: (Partial<ExecResult> | Error)[]) {
  const { exec, calls } = scriptedExec(...answers);
  const { clock, slept } = sleeplessClock();
  return { git: gitRunner({ exec, clock, env: { PATH: "/bin" } }), calls, slept };
}

describe("what git is told", () => {
  test("CLEAN-1: no hooks, no pager, no repacking, no recorded resolutions, no signing", () => {
    expect(gitCommandLine(["status"]).join(" ")).toBe(
      "git --no-pager -c core.hooksPath=/dev/null -c core.fsmonitor=false -c gc.auto=0 -c maintenance.auto=false " +
        "-c submodule.recurse=false -c rerere.enabled=false -c commit.gpgSign=false -c tag.gpgSign=false " +
        "-c color.ui=false status",
    );
  });

  test("CLEAN-1: an environment that points elsewhere, asks questions or speaks another language is put right", () => {
    const env = gitEnvironment({
      PATH: "/bin",
      HOME: "/h",
      LC_ALL: "de_DE.UTF-8",
      GIT_DIR: "/other",
      GIT_INDEX_FILE: "/other/index",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.hooksPath",
      GIT_CONFIG_VALUE_0: "/hooks",
      GIT_TRACE: "1",
      GIT_EDITOR: "vi",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_SSH_COMMAND: "ssh -i key",
    });
    expect(env).toEqual({
      PATH: "/bin",
      HOME: "/h",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_SSH_COMMAND: "ssh -i key",
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_PAGER: "cat",
      GIT_EDITOR: "true",
      GIT_SEQUENCE_EDITOR: "true",
    });
  });

  test("a private index and input reach git, the directory too", async () => {
    const { git, calls } = runnerOn({ stdout: "ok" });
    const printed = await git.run(["x"], { cwd: "/r", env: { GIT_INDEX_FILE: "/i" }, stdin: "in", timeoutMs: 5 });
    expect(printed).toBe("ok");
    expect(calls[0]?.options).toMatchObject({ cwd: "/r", stdin: "in", timeoutMs: 5 });
    expect(calls[0]?.options?.env).toMatchObject({ GIT_INDEX_FILE: "/i", PATH: "/bin" });
  });
});

describe("when git fails", () => {
  const cases: [why: string, result: Partial<ExecResult>, expected: object][] = [
    [
      "the command and the answer are named",
      { code: 1, stderr: "fatal: no\n" },
      { code: "GIT_FAILED", message: "git gc failed (exit 1): fatal: no" },
    ],
    ["a signal is named", { code: null, signal: "SIGKILL" }, { code: "GIT_FAILED" }],
    ["a full disk has its own name", { code: 128, stderr: "error: No space left on device" }, { code: "DISK_FULL" }],
    ["a deadline has its own name", { code: null, timedOut: true }, { code: "GIT_TIMED_OUT" }],
    ["cut output is never taken for an answer", { truncated: true }, { code: "GIT_OUTPUT_TOO_LARGE" }],
    [
      "no repository",
      { code: 128, stderr: "fatal: not a git repository (or any …)" },
      { kind: "not-found", code: "NOT_A_REPOSITORY" },
    ],
    [
      "somebody else's repository",
      { code: 128, stderr: "fatal: detected dubious ownership in repository at '/r'" },
      { code: "UNSAFE_DIRECTORY" },
    ],
  ];
  test.each(cases)("%s", async (_why, result, expected) => {
    await expect(runnerOn(result).git.run(["gc"], { cwd: "/r" })).rejects.toMatchObject(expected);
  });

  test("a missing git says so", async () => {
    const missing = new OverseerError("environment", "PROGRAM_MISSING", "no git", "install it");
    await expect(runnerOn(missing).git.run(["x"], { cwd: "/" })).rejects.toMatchObject({ code: "GIT_MISSING" });
    const gone = new OverseerError("environment", "CWD_MISSING", "no dir", "look");
    await expect(runnerOn(gone).git.run(["x"], { cwd: "/" })).rejects.toMatchObject({ code: "CWD_MISSING" });
  });

  test("attempt gives an ordinary failure back as a value, but not a full disk", async () => {
    expect((await runnerOn({ code: 1 }).git.attempt(["x"], { cwd: "/" })).code).toBe(1);
    const full = runnerOn({ code: 1, stderr: "No space left on device" }).git.attempt(["x"], { cwd: "/" });
    await expect(full).rejects.toMatchObject({ code: "DISK_FULL" });
  });
});

describe("locks", () => {
  test("a held lock is waited for, a little longer each time", async () => {
    const { git, calls, slept } = runnerOn(lockedOut, lockedOut, { stdout: "done" });
    expect(await git.run(["x"], { cwd: "/r" })).toBe("done");
    expect(calls).toHaveLength(3);
    expect(slept).toEqual([50, 100]);
  });

  test("patience ends, and the lock is named", async () => {
    const { git, slept } = runnerOn(lockedOut);
    const attempt = git.attempt(["x"], { cwd: "/r" });
    await expect(attempt).rejects.toMatchObject({ code: "GIT_LOCKED", message: expect.stringContaining("index.lock") });
    expect(slept).toEqual([...LOCK_BACKOFF_MS]);
  });

  const cases: [stderr: string, lock: string | undefined][] = [
    [
      "error: cannot lock ref 'refs/heads/x': Unable to create '/r/.git/refs/heads/x.lock': File exists.",
      "/r/.git/refs/heads/x.lock",
    ],
    ["error: could not lock config file .git/config: File exists", ".git/config.lock"],
    ["fatal: cannot lock ref 'refs/heads/x': is at 1111 but expected 2222", undefined],
    ["fatal: cannot lock ref 'refs/heads/x': reference already exists", undefined],
    ["", undefined],
  ];
  test.each(cases)("%s", (stderr, lock) => expect(findHeldLock(stderr)).toBe(lock));
});

describe("a worktree that another git is just making", () => {
  const midway = { code: 128, stderr: "fatal: failed to read worktrees/b-7/commondir: Success\n" };
  test("WT-1: is waited for like a lock", async () => {
    const { git, calls } = runnerOn(midway, midway, { stdout: "made" });
    expect(await git.run(["worktree", "add", "x"], { cwd: "/r" })).toBe("made");
    expect(calls).toHaveLength(3);
  });

  test("WT-1: is a failure of that command when it stays so", async () => {
    const { git, calls } = runnerOn(midway);
    await expect(git.run(["worktree", "add", "x"], { cwd: "/r" })).rejects.toMatchObject({ code: "GIT_FAILED" });
    expect(calls).toHaveLength(LOCK_BACKOFF_MS.length + 1);
  });
});

describe("which git this is", () => {
  const usage = (text: string) => ({ code: 129, stdout: text });
  test("features are read from what this git can do", async () => {
    const { git, calls } = runnerOn({ stdout: "git version 2.39.5\n" }, usage("usage: git merge-tree [--write-tree]"));
    const facts = { mergeTreeWriteTree: true, mergeTreeMergeBase: false, worktreeListZ: true };
    expect(await git.probe()).toEqual({ version: { major: 2, minor: 39, patch: 5 }, ...facts });
    await git.probe();
    expect(calls).toHaveLength(2);
  });

  test("an old one works without the newer features, a very old one is refused", async () => {
    const old = runnerOn({ stdout: "git version 2.31.0\n" }, usage("usage: git merge-tree <base>"));
    expect(await old.git.probe()).toMatchObject({ mergeTreeWriteTree: false, worktreeListZ: false });
    const tooOld = runnerOn({ stdout: "git version 2.30.2\n" });
    await expect(tooOld.git.probe()).rejects.toMatchObject({ code: "GIT_TOO_OLD" });
    await expect(runnerOn({ stdout: "hub 1.0" }).git.probe()).rejects.toMatchObject({ code: "GIT_TOO_OLD" });
  });

  test("a failed probe is asked again", async () => {
    const missing = new OverseerError("environment", "PROGRAM_MISSING", "no git", "install it");
    const { git } = runnerOn(missing, { stdout: "git version 2.45.1 (Apple Git-154)" });
    await expect(git.probe()).rejects.toMatchObject({ code: "GIT_MISSING" });
    expect((await git.probe()).version).toEqual({ major: 2, minor: 45, patch: 1 });
  });
});
