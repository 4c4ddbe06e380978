/**
 * Locks whose git lives, wherever it is and however it is called: real gits that hold `index.lock` while a message is written.
 * None is taken from them; the same lock goes once its git was killed.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearStaleLocks } from "#act/sling/git-locks.ts";
import { defaultConfig } from "#config/schema.ts";
import { systemClock } from "#sys/clock.ts";
import { systemFiles } from "#sys/files.ts";
import { systemProcesses } from "#sys/processes.ts";
import { findRoot } from "#sys/root.ts";
import { testEnvironment } from "../support/git-tools.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const STALE_AFTER_MS = defaultConfig().repo.staleLockAfter;

const COMMIT = ["commit", "--all", "--message", "Mine", "--edit"];

interface Start {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const STARTS: Readonly<Record<string, (repo: TempRepo) => Start>> = {
  "in the repository": (repo) => ({ argv: ["git", ...COMMIT], cwd: repo.path }),
  "whose path has spaces": (repo) => {
    const place = join(tempDir("bin-"), "my own tools");
    mkdirSync(place);
    copyFileSync(Bun.which("git") ?? "", join(place, "git"));
    chmodSync(join(place, "git"), 0o755);
    return { argv: [join(place, "git"), ...COMMIT], cwd: repo.path };
  },
  "told by its environment where to work": (repo) => ({
    argv: ["git", ...COMMIT],
    cwd: tempDir("elsewhere-"),
    env: { GIT_DIR: join(repo.path, ".git"), GIT_WORK_TREE: repo.path },
  }),
  "in another mount namespace, where the directory has another name": (repo) => {
    const there = tempDir("mounted-");
    const script = `mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"`;
    return {
      argv: [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
        "sh",
        repo.path,
        there,
        "git",
        ...COMMIT,
      ],
      cwd: "/",
    };
  },
};

const mayUnshare = Bun.spawnSync(["unshare", "--mount", "true"], { stderr: "ignore" }).exitCode === 0;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await systemClock().sleep(10);
}

for (const [who, start] of Object.entries(STARTS)) {
  const isPossible = !who.includes("namespace") || mayUnshare;
  test.skipIf(!isPossible)(
    `FAIL-15: the lock of a git ${who} stays, at work or stopped, until it is killed`,
    async () => {
      const repo = tempRepo({ files: { "a.txt": "a\n" } });
      repo.write({ "a.txt": "changed\n" });
      const place = tempDir("editor-");
      const editor = join(place, "editor");
      writeFileSync(editor, `#!/bin/sh\n: > '${place}/open'\nexec sleep 300\n`);
      chmodSync(editor, 0o755);
      const { argv, cwd, env } = start(repo);
      const child = Bun.spawn([...argv], {
        ...{ cwd, detached: true, stdio: ["ignore", "ignore", "inherit"] },
        env: { ...testEnvironment(), ...env, GIT_EDITOR: editor },
      });
      const lock = join(repo.path, ".git/index.lock");
      const processes = systemProcesses();
      const parts = {
        ...{ files: systemFiles(), clock: systemClock(), processes },
        root: await findRoot({ cwd: repo.path, env: testEnvironment() }),
      };
      try {
        await until(() => existsSync(join(place, "open")));
        utimesSync(lock, 1, 1);
        expect(await clearStaleLocks(parts, STALE_AFTER_MS)).toEqual([]);
        const git = processes.identify(child.pid);
        if (!git) throw new Error("git has ended");
        processes.signal(git, "SIGSTOP");
        expect(await clearStaleLocks(parts, STALE_AFTER_MS)).toEqual([]);
        expect(existsSync(lock)).toBe(true);
      } finally {
        process.kill(-child.pid, "SIGKILL");
        await child.exited;
      }
      expect(await clearStaleLocks(parts, STALE_AFTER_MS)).toEqual([lock]);
    },
  );
}

test("FAIL-15: a git that works elsewhere keeps nobody's lock", async () => {
  const [repo, other] = [tempRepo({ files: { "a.txt": "a\n" } }), tempRepo({ files: { "a.txt": "a\n" } })];
  const child = Bun.spawn(["git", "cat-file", "--batch"], { cwd: other.path, stdin: "pipe", env: testEnvironment() });
  const lock = join(repo.path, ".git/index.lock");
  writeFileSync(lock, "");
  utimesSync(lock, 1, 1);
  const parts = {
    ...{ files: systemFiles(), clock: systemClock(), processes: systemProcesses() },
    root: await findRoot({ cwd: repo.path, env: testEnvironment() }),
  };
  expect(await clearStaleLocks(parts, STALE_AFTER_MS)).toEqual([lock]);
  child.kill();
  await child.exited;
});

test("FAIL-15: stale locks are found below branches with slashes and in every worktree, also one that is elsewhere", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  const elsewhere = join(tempDir("elsewhere-"), "tree");
  repo.git("branch", "rel/2/x");
  repo.git("worktree", "add", "--quiet", "-b", "side", elsewhere);
  const gitDir = join(repo.path, ".git");
  const names = ["refs/heads/rel/2/x.lock", "worktrees/tree/HEAD.lock", "worktrees/tree/index.lock"];
  const locks = names.map((name) => join(gitDir, name));
  for (const lock of locks) {
    writeFileSync(lock, "");
    utimesSync(lock, 1, 1);
  }
  const young = join(gitDir, "refs/heads/rel/young.lock");
  writeFileSync(young, "");
  const parts = {
    ...{ files: systemFiles(), clock: systemClock(), processes: systemProcesses() },
    root: await findRoot({ cwd: repo.path, env: testEnvironment() }),
  };
  // A git that is at work in the worktree may hold any of them.
  const child = Bun.spawn(["git", "cat-file", "--batch"], { cwd: elsewhere, stdin: "pipe", env: testEnvironment() });
  expect(await clearStaleLocks(parts, STALE_AFTER_MS)).toEqual([]);
  child.kill();
  await child.exited;
  expect((await clearStaleLocks(parts, STALE_AFTER_MS)).toSorted()).toEqual(locks.toSorted());
  expect(existsSync(young)).toBe(true);
});
