/** ISO-1: what a test, or anything a test starts, cannot reach. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { OverseerError } from "#errors.ts";
import { gitIn, tempDir, tempRepo } from "../../test/support/temp.ts";
import { systemExec } from "./exec.ts";
import { assertHomeAllowed, assertRootAllowed, assertTmuxSocketAllowed } from "./isolation.ts";
import { findRoot } from "./root.ts";

// Not a person's repository, but as far from the temp directory as one; build/ is ignored by git.
const outside = join(import.meta.dir, "../../build", `outside-${process.pid}`);
mkdirSync(outside, { recursive: true });
gitIn(outside, "init", "--quiet");
afterAll(() => rmSync(outside, { recursive: true, force: true }));

const inside = tempDir("inside-");
const codeOf = (attempt: () => void): string => {
  try {
    attempt();
    return "allowed";
  } catch (error) {
    return error instanceof OverseerError ? `${error.kind}/${error.code}` : String(error);
  }
};

describe("under test", () => {
  const linkOut = join(inside, "link-out");
  symlinkSync(outside, linkOut);
  const refused = "conflict/TEST_ISOLATION";

  const roots: [why: string, path: string, verdict: string][] = [
    ["a temp directory", inside, "allowed"],
    ["what is not there yet, in a temp directory", join(inside, "new/.overseer"), "allowed"],
    ["a directory elsewhere", outside, refused],
    ["what is not there yet, elsewhere", join(outside, "new/.overseer"), refused],
    ["a way out by ..", join(inside, "../../../..", outside), refused],
    ["a way out by symlink", linkOut, refused],
    ["a way out below a symlink", join(linkOut, ".overseer"), refused],
    ["a name that only begins like the temp directory", `${tmpdir()}-not`, refused],
    ["the temp directory itself", tmpdir(), refused],
    ["the top", "/", refused],
  ];
  test.each(roots)("ISO-1: a root, %s: %s → %s", (_why, path, verdict) => {
    expect(codeOf(() => assertRootAllowed(path))).toBe(verdict);
  });

  const homes: [why: string, path: string, verdict: string][] = [
    ["the one of this run", homedir(), "allowed"],
    ["another", "/root", refused],
    ["none", "", refused],
  ];
  test.each(homes)("ISO-1: a home, %s", (_why, path, verdict) => {
    expect(codeOf(() => assertHomeAllowed(path))).toBe(verdict);
  });

  const sockets: [why: string, path: string, verdict: string][] = [
    ["one of this test", join(inside, "tmux.sock"), "allowed"],
    ["the user's own", "/tmp/tmux-1000/default", refused],
    ["one like the user's own, though in temp", join(inside, "tmux-1000/default"), refused],
    ["elsewhere", "/run/user/1000/overseer/tmux", refused],
  ];
  test.each(sockets)("ISO-1: a tmux socket, %s", (_why, path, verdict) => {
    expect(codeOf(() => assertTmuxSocketAllowed(path))).toBe(verdict);
  });

  test("ISO-1: finding a root refuses one outside, however it is named", async () => {
    const codes = await Promise.all(
      [
        { cwd: outside, env: {} },
        { cwd: inside, flag: outside, env: {} },
        { cwd: inside, env: { OVERSEER_ROOT: outside } },
        { cwd: inside, env: { OVERSEER_ROOT: outside, OVERSEER_ATTEMPT: "1" } },
      ].map((query) =>
        findRoot(query).then(
          () => "allowed",
          (error: unknown) => (error instanceof OverseerError ? error.code : String(error)),
        ),
      ),
    );
    expect(codes).toEqual(Array(4).fill("TEST_ISOLATION"));
  });

  test("ISO-1: this run has neither the person's home nor their git, tmux or agent settings", () => {
    expect(homedir().startsWith(tmpdir())).toBe(true);
    expect(process.env.HOME).toBe(homedir());
    for (const name of [
      "OVERSEER_ROOT",
      "OVERSEER_ATTEMPT",
      "GIT_DIR",
      "TMUX",
      "CLAUDE_CONFIG_DIR",
      "XDG_RUNTIME_DIR",
    ]) {
      expect(process.env[name]).toBeUndefined();
    }
  });
});

describe("a child started by a test", () => {
  const rootModule = join(import.meta.dir, "root.ts");
  const code = `
    import { findRoot } from ${JSON.stringify(rootModule)};
    console.log(await findRoot({ cwd: process.cwd(), env: process.env }).then((root) => root.project, (error) => error.code));
  `;
  const ask = async (cwd: string, env?: Record<string, string>) =>
    (await systemExec().run([process.execPath, "-e", code], { cwd, env })).stdout.trim();

  test("ISO-1: cannot open a root outside, but one of the test's own", async () => {
    const repo = tempRepo();
    expect(await ask(outside)).toBe("TEST_ISOLATION");
    expect(await ask(repo.path)).toBe(repo.path);
  });

  test("ISO-1: nor when it is started past the port, with Bun's own inheritance", () => {
    const child = Bun.spawnSync([process.execPath, "-e", code], { cwd: outside });
    expect(child.stdout.toString().trim()).toBe("TEST_ISOLATION");
  });

  test("outside of tests nothing is refused", async () => {
    expect(await ask(outside, { PATH: process.env.PATH ?? "" })).toBe(outside);
  });
});
