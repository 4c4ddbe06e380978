/**
 * The program as people start it: bin/overseer, bundled, as its own process. What needs no process is shown beside the
 * code; here is what only a real start can show. The clone under test is a copy, so that bundling it disturbs nobody.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };

const project = join(import.meta.dir, "../..");
const world = realpathSync(mkdtempSync(join(tmpdir(), "ov-cli-")));
const clone = join(world, "a clone");
const overseer = join(clone, "bin/overseer");
const tools = join(world, "tools");

beforeAll(() => {
  for (const part of ["bin", "scripts", "src", "package.json"]) {
    cpSync(join(project, part), join(clone, part), { recursive: true });
  }
  symlinkSync(join(project, "node_modules"), join(clone, "node_modules"));
  const bundled = Bun.spawnSync(["sh", join(clone, "scripts/bundle.sh")], { stderr: "pipe" });
  expect(bundled.stderr.toString()).toBe("");
  // All that bin/overseer may ask of a machine.
  mkdirSync(tools);
  for (const tool of ["readlink"]) symlinkSync(Bun.which(tool) ?? "", join(tools, tool));
});

afterAll(() => rmSync(world, { recursive: true, force: true }));

interface Start {
  readonly as?: string;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

async function call(words: readonly string[], { as = overseer, cwd = world, env = {} }: Start = {}) {
  const child = Bun.spawn([as, ...words], { cwd, env: { PATH: tools, ...env }, stdin: "ignore", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

/** The same on a terminal, where both streams are one. */
async function callOnTerminal(words: readonly string[], { env = {} }: Start = {}) {
  let shown = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([overseer, ...words], {
    cwd: world,
    env: { PATH: tools, TERM: "xterm", ...env },
    terminal: {
      cols: 50,
      rows: 40,
      data(_terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true });
      },
    },
  });
  const code = await child.exited;
  child.terminal?.close();
  return { shown: shown.replaceAll("\r\n", "\n"), code };
}

describe("a clone works", () => {
  const answer = { stdout: `${version}\n`, stderr: "", code: 0 };

  test("from any directory, with nothing but readlink on PATH and no global Bun", async () => {
    expect(await call(["--version"])).toEqual(answer);
    expect(await call(["--version"], { cwd: "/" })).toEqual(answer);
    expect(await call(["--version"], { cwd: join(clone, "bin"), as: "./overseer" })).toEqual(answer);
  });

  test("through a chain of symlinks, absolute and relative", async () => {
    mkdirSync(join(world, "links"));
    symlinkSync(overseer, join(world, "links/first"));
    symlinkSync("first", join(world, "links/second"));
    symlinkSync("../links/second", join(world, "links/third"));
    expect(await call(["--version"], { as: join(world, "links/third"), cwd: "/" })).toEqual(answer);
  });

  test("found by its name on PATH", async () => {
    const env = { PATH: `${join(clone, "bin")}:${tools}` };
    const byName = Bun.spawn(["/bin/sh", "-c", "overseer --version"], { cwd: "/", env });
    expect(await byName.stdout.text()).toBe(`${version}\n`);
  });

  test("before it was bundled, from source", async () => {
    const fresh = join(world, "fresh");
    for (const part of ["bin", "src", "package.json"])
      cpSync(join(clone, part), join(fresh, part), { recursive: true });
    symlinkSync(join(project, "node_modules"), join(fresh, "node_modules"));
    expect(await call(["--version"], { as: join(fresh, "bin/overseer") })).toEqual(answer);
    expect((await call(["help"], { as: join(fresh, "bin/overseer") })).stdout).toContain("Usage: overseer <command>");
  });

  test("and says what is missing when npm ci was never run", async () => {
    const bare = join(world, "bare");
    cpSync(join(clone, "bin"), join(bare, "bin"), { recursive: true });
    const { code, stderr } = await call(["--version"], { as: join(bare, "bin/overseer") });
    expect(code).toBe(5);
    expect(stderr).toContain("npm ci");
  });
});

describe("what the shell sees", () => {
  test("no words at all show the menu", async () => {
    const { stdout, stderr, code } = await call([]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toContain("completions");
  });

  const mistakes: [words: string[], says: string][] = [
    [["completion"], "Did you mean: overseer completions"],
    [["completions", "bahs"], "Did you mean bash?"],
    [["completions", "bash", "--jsno"], "Did you mean --json?"],
    [["--hlep"], "Did you mean --help?"],
    [["completions"], "needs a <shell>"],
  ];
  test.each(mistakes)("%p leaves with exit code 2 and a next step", async (words, says) => {
    const { stdout, stderr, code } = await call(words);
    expect({ stdout, code }).toEqual({ stdout: "", code: 2 });
    expect(stderr).toContain(says);
  });

  test.each(mistakes)("%p with --json is one JSON error on stderr", async (words, _says) => {
    const { stdout, stderr, code } = await call(["--json", ...words]);
    expect({ stdout, code }).toEqual({ stdout: "", code: 2 });
    const { error } = JSON.parse(stderr);
    expect(Object.keys(error)).toEqual(["kind", "code", "message", "hint"]);
  });

  test("bash completes with what the program printed", async () => {
    const { stdout } = await call(["completions", "bash"]);
    const ask = "COMP_WORDS=(overseer completions z); COMP_CWORD=2; _overseer; echo $COMPREPLY";
    expect(Bun.spawnSync(["bash", "--norc", "-c", `${stdout}\n${ask}`]).stdout.toString()).toBe("zsh\n");
  });

  test("a pipe gets no colour, unless forced", async () => {
    const piped = await call(["help"]);
    expect(piped.stdout).toBe(Bun.stripANSI(piped.stdout));
    const forced = await call(["help"], { env: { FORCE_COLOR: "1" } });
    expect(Bun.stripANSI(forced.stdout)).toBe(piped.stdout);
    expect(forced.stdout).not.toBe(piped.stdout);
  });

  test("a terminal gets colour and text that fits it", async () => {
    const { shown, code } = await callOnTerminal(["help"]);
    expect(code).toBe(0);
    expect(shown).toContain("\u001b[1m");
    const prose = Bun.stripANSI(shown).split("\n").slice(1);
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(50);
  });

  test("a terminal gets no colour with NO_COLOR, or when it is dumb", async () => {
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }] as Record<string, string>[]) {
      expect((await callOnTerminal(["help"], { env })).shown).not.toContain("\u001b");
    }
  });

  test("JSON is one line for programs and indented for a person", async () => {
    expect((await call(["completions", "bash", "--json"])).stdout).toMatch(/^\{"shell":"bash",.*\}\n$/);
    expect((await callOnTerminal(["completions", "bash", "--json"])).shown).toStartWith('{\n  "shell": "bash",\n');
  });

  test("a reader that stops early is no error", async () => {
    const early = ["/bin/sh", "-c", `{ "$0" completions bash; echo "$?" >&2; } | :`, overseer];
    expect(Bun.spawnSync(early, { stderr: "pipe" }).stderr.toString()).toBe("0\n");
  });

  test("an answer without an end ends when its reader does", async () => {
    const endless = join(world, "endless.ts");
    writeFileSync(endless, ENDLESS.replaceAll("#cli", join(project, "src/cli")));
    const headed = ["/bin/sh", "-c", `{ "$0" "$1"; echo "$?" >&2; } | head -n 2`, process.execPath, endless];
    const { stdout, stderr } = Bun.spawnSync(headed, { stderr: "pipe" });
    expect([stdout.toString(), stderr.toString()]).toEqual(["1\n2\n", "0\n"]);
  });

  test("a long answer arrives whole through a slow pipe", async () => {
    const long = join(world, "long.ts");
    writeFileSync(long, LONG.replaceAll("#cli", join(project, "src/cli")));
    const slow = ["/bin/sh", "-c", `"$0" "$1" | { read -r first; wc -c; }`, process.execPath, long];
    expect(Bun.spawnSync(slow).stdout.toString().trim()).toBe("3000003");
  });
});

const ENDLESS = `
import { printer } from "#cli/print.ts";
import { runCli } from "#cli/run.ts";
const command = { name: "count", summary: "", async run(call) {
  call.out.live();
  for (let n = 1; ; n++) call.out.line(String(n));
} };
const menu = [{ name: "count", group: "", summary: "", load: async () => ({ default: command }) }];
process.exit(await runCli(["count"], { menu, parts: () => ({}), version: "", env: {}, out: printer({}) }));
`;

const LONG = `
import { printer } from "#cli/print.ts";
const out = printer({});
out.line("first");
out.json("x".repeat(3_000_000));
process.exit(0);
`;
