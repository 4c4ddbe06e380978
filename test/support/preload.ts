/**
 * Runs before every test file (bunfig.toml): takes the person's machine out of the environment and puts a disposable
 * one in. Children inherit it, so a command started by a test is as isolated as the test. TMPDIR is a directory of
 * this run alone: the wall in sys/isolation.ts then keeps a test out of everything that is not its own, other runs
 * included. Everything is removed at the end.
 */
import { dlopen } from "bun:ffi";
import { afterAll } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

// Short, because sockets live below it and their paths may have 107 bytes.
// A parallel worker runs many files in one process, each with a fresh environment, while the C library remembers the
// first HOME it was asked for: the files of one worker share a world, below the directory of the whole run.
const world = process.env.OVERSEER_TEST_RUN
  ? join(realpathSync(process.env.OVERSEER_TEST_RUN), `w${process.pid}`)
  : realpathSync(mkdtempSync(join(tmpdir(), "ovt-")));
const home = join(world, "home");
mkdirSync(home, { mode: 0o700, recursive: true });

/** Whatever could lead to the person's own repositories, servers, settings or logins; npm names an editor by itself. */
const LEADS_OUT = /^(GIT_|OVERSEER_|XDG_|TMUX|CLAUDE|CODEX_|OPENCODE_|(EDITOR|VISUAL|PAGER|LESS)$)/;
const KEPT = new Set(["OVERSEER_TEST_SCALE", "OVERSEER_TEST_GOLDEN", "OVERSEER_TEST_RUN", "OVERSEER_TEST_SEED"]);
for (const name of Object.keys(process.env)) {
  if (LEADS_OUT.test(name) && !KEPT.has(name)) delete process.env[name];
}

Object.assign(process.env, {
  OVERSEER_TEST: "1",
  HOME: home,
  TMPDIR: world,
  TMUX_TMPDIR: world,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_AUTHOR_NAME: "Test Author",
  GIT_AUTHOR_EMAIL: "author@example.invalid",
  GIT_COMMITTER_NAME: "Test Committer",
  GIT_COMMITTER_EMAIL: "committer@example.invalid",
  TZ: "UTC",
  NO_COLOR: "1",
});

// os.homedir() asks the C library, which does not see what is assigned to process.env.
const libc = dlopen(process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6", {
  setenv: { args: ["ptr", "ptr", "i32"], returns: "i32" },
});
libc.symbols.setenv(Buffer.from("HOME\0"), Buffer.from(`${home}\0`), 1);
if (homedir() !== home) throw new Error(`Tests would see the home directory ${homedir()}; refusing to run them.`);

// Bun hands its children the environment it was started with unless told otherwise; from here on it is told.
const { spawn, spawnSync } = Bun;
Object.assign(Bun, { spawn: withThisEnvironment(spawn), spawnSync: withThisEnvironment(spawnSync) });

function withThisEnvironment(start: typeof spawn | typeof spawnSync) {
  return (first: string[] | { env?: unknown }, second?: { env?: unknown }) =>
    Array.isArray(first)
      ? Reflect.apply(start, Bun, [first, { env: process.env, ...second }])
      : Reflect.apply(start, Bun, [{ env: process.env, ...first }]);
}

// In a preload this runs once, after the last file; process.on("exit") never does under `bun test`. In a parallel run
// (scripts/test.sh) it would run after every file, so there the script removes everything at the end. On a busy disk
// that takes longer than a hook has by default.
if (!process.env.OVERSEER_TEST_RUN) afterAll(() => rmSync(world, { recursive: true, force: true }), 60_000);
