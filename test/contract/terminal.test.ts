/**
 * Runs the terminal contract over tmux, detached and the fake, and shows what is particular to each: our tmux server
 * dying, hanging or standing beside the user's own, typing into a pane, people who look, and a detached child that
 * outlives whoever started it. Everything started here runs on sockets and in directories of its own and is ended by pid.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { systemClock } from "#sys/clock.ts";
import { type Exec, systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { type ProcessIdentity, systemProcesses } from "#sys/processes.ts";
import { chooseTerminal } from "#terminals/choose.ts";
import { makeDetachedTerminal } from "#terminals/detached.ts";
import { FakeTerminal } from "#terminals/fake.ts";
import type { OpenRequest, Terminal, TerminalHandle } from "#terminals/terminal.ts";
import { sessionName, type TerminalName } from "#terminals/terminal-name.ts";
import { makeTmuxTerminal } from "#terminals/tmux.ts";
import { anyText } from "../support/any-text.ts";
import { scaled } from "../support/scale.ts";
import { tempDir } from "../support/temp.ts";
import { codeOf, eventually, type TerminalWorld, terminalContract } from "./terminal.suite.ts";

const processes = systemProcesses();
const ports = { exec: systemExec(), files: systemFiles(), clock: systemClock(), processes };
const PATH = process.env.PATH ?? "/usr/bin:/bin";
const TMUX = Bun.which("tmux", { PATH }) ?? "tmux";

// ---- Worlds

interface RealWorld extends TerminalWorld {
  readonly directory: string;
}

/** A shell is the program here, which is something else than a shell between us and the program. */
const STAYING = `printf '%s\\n' "$SHOWN"; while [ ! -e "$GATE" ]; do sleep 0.05; done`;

function realWorld(directory: string, terminal: Terminal): RealWorld {
  opened.push(() => endAll(terminal));
  const gate = (name: TerminalName) => join(directory, `${name.replaceAll(/[^a-z0-9-]/g, "_")}.gate`);
  return {
    directory,
    terminal,
    processes,
    staying: (name, shown = "") => ({
      name,
      cwd: directory,
      argv: ["/bin/sh", "-c", STAYING],
      env: { PATH, SHOWN: shown, GATE: gate(name), LC_ALL: "C.UTF-8" },
    }),
    finish: (name) => writeFileSync(gate(name), ""),
    close: () => endAll(terminal),
  };
}

async function endAll(terminal: Terminal): Promise<void> {
  for (const { handle } of await terminal.list()) if (handle) await terminal.kill(handle, { graceMs: 0 });
}

interface TmuxWorld extends RealWorld {
  readonly socketPath: string;
  serverPid(): Promise<ProcessIdentity>;
}

const servers: string[] = [];
const opened: (() => Promise<void>)[] = [];

async function tmuxWorld(options: { readonly exec?: Exec; readonly timeoutMs?: number } = {}): Promise<TmuxWorld> {
  const directory = tempDir("tmux-test-");
  const socketPath = join(directory, "s");
  servers.push(socketPath);
  const terminal = makeTmuxTerminal({ ...ports, ...options, socketPath, tmux: "tmux", searchPath: PATH });
  const serverPid = async () => {
    const pid = processes.identify(Number(await rawTmux(socketPath, "display-message", "-p", "#{pid}")));
    if (pid === undefined) throw new Error("There is no tmux server.");
    return pid;
  };
  return { ...realWorld(directory, terminal), socketPath, serverPid };
}

async function rawTmux(socketPath: string, ...words: string[]): Promise<string> {
  const env = { PATH, TERM: "xterm-256color" };
  const result = await ports.exec.run([TMUX, "-S", socketPath, "-f", "/dev/null", ...words], { env, timeoutMs: 5_000 });
  return result.stdout.trim();
}

async function detachedWorld(): Promise<RealWorld> {
  const directory = tempDir("detached-");
  return realWorld(directory, makeDetachedTerminal({ ...ports, directory: join(directory, "terminals") }));
}

async function fakeWorld(): Promise<TerminalWorld> {
  const exits = new Map<string, () => void>();
  const terminal = new FakeTerminal({
    clock: ports.clock,
    program: (side) => {
      side.print(`${side.request.env.SHOWN}\n`);
      exits.set(side.request.name, side.exit);
    },
  });
  return {
    terminal,
    processes: terminal.processes,
    staying: (name, shown = "") => ({ name, cwd: "/", argv: ["/bin/program"], env: { SHOWN: shown } }),
    finish: (name) => exits.get(name)?.(),
    close: () => endAll(terminal),
  };
}

terminalContract("tmux", tmuxWorld);
terminalContract("detached", detachedWorld);
terminalContract("fake", fakeWorld);

// Also after a test that failed half-way. By then a server may be gone, and so may be its directory.
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
  for (const socketPath of servers.splice(0)) await rawTmux(socketPath, "kill-server");
});

// ---- tmux alone

describe("tmux: the server", () => {
  let world: TmuxWorld;
  beforeEach(async () => {
    world = await tmuxWorld();
  });

  const open = (attempt: string | number) => world.terminal.open(world.staying(sessionName(attempt)));

  test("after a SIGKILL of the server the list is empty, open works again, and old handles reach nothing new", async () => {
    const old = await open(1);
    const server = await world.serverPid();
    processes.signal(server, "SIGKILL");
    await eventually(() => (processes.alive(server) ? undefined : true));
    expect(await world.terminal.list()).toEqual([]);
    expect(await world.terminal.capture(old, { lines: 5 })).toBeUndefined();
    expect(await world.terminal.sendText(old, "x")).toEqual({ sent: false, because: "gone" });
    await eventually(() => (processes.alive(old.pid) ? undefined : true));

    const next = await open(1);
    expect(next.sessionId).toBe(old.sessionId);
    expect(await world.terminal.sendText(old, "x")).toEqual({ sent: false, because: "gone" });
    expect(await world.terminal.kill(old)).toBe("already-gone");
    expect((await world.terminal.list()).map((facts) => facts.pid)).toEqual([next.pid.pid]);
  });

  test("PROC-1: a process that handles SIGHUP survives the SIGKILL of its server, and its handle still ends it", async () => {
    const script = join(world.directory, "survivor.ts");
    const ready = join(world.directory, "ready");
    writeFileSync(
      script,
      `process.on("SIGHUP", () => {}); await Bun.write(${JSON.stringify(ready)}, "1"); setInterval(() => {}, 1e6);`,
    );
    const request = { ...world.staying(sessionName(1)), argv: [process.execPath, script] };
    const handle = await world.terminal.open(request);
    await eventually(() => (existsSync(ready) ? true : undefined));
    // The hang-up has been delivered once it has ended a neighbour that does not handle it.
    const neighbour = await open(2);
    processes.signal(await world.serverPid(), "SIGKILL");
    await eventually(() => (processes.alive(neighbour.pid) ? undefined : true));
    expect(await world.terminal.list()).toEqual([]);
    expect(processes.alive(handle.pid)).toBe(true);
    expect(await world.terminal.kill(handle)).toBe("ended");
  });

  test("a server that hangs is an error, not an empty list, and does not keep a process from being killed", async () => {
    const hasty = await tmuxWorld({ timeoutMs: 300 });
    const handle = await hasty.terminal.open(hasty.staying(sessionName(1)));
    const server = await hasty.serverPid();
    processes.signal(server, "SIGSTOP");
    try {
      expect(await codeOf(hasty.terminal.list())).toBe("environment/TMUX_HUNG");
      expect(await hasty.terminal.kill(handle, { graceMs: 100 })).toBe("ended");
    } finally {
      processes.signal(server, "SIGCONT");
    }
    await eventually(async () => ((await hasty.terminal.list()).length === 0 ? true : undefined));
  });

  test("PROC-1: the user's own session of the same name on another server is untouched", async () => {
    const theirs = join(tempDir("theirs-"), "s");
    servers.push(theirs);
    const pid = await rawTmux(theirs, "new-session", "-d", "-s", "ov-1", "-P", "-F", "#{pane_pid}", "sleep", "600");
    const process = processes.identify(Number(pid));
    const handle = await open(1);
    await world.terminal.kill(handle);
    await endAll(world.terminal);
    expect(process && processes.alive(process)).toBe(true);
    expect(await rawTmux(theirs, "list-sessions", "-F", "#{session_name}")).toBe("ov-1");
    expect(await codeOf(world.terminal.kill({ ...handle, socket: theirs }))).toBe("conflict/TERMINAL_ELSEWHERE");
    expect(await codeOf(world.terminal.kill({ ...handle, sessionId: "" }))).toBe("internal/FOREIGN_HANDLE");
  });

  test("a session that a person made on our server is neither listed nor in the way", async () => {
    await open(1);
    await rawTmux(world.socketPath, "new-session", "-d", "-s", "mine", "sleep", "600");
    expect((await world.terminal.list()).map((facts) => facts.name as string)).toEqual(["ov-1"]);
    await rawTmux(world.socketPath, "kill-session", "-t", "=mine");
  });

  test("a dead pane that was asked to stay is listed as exited and takes no text", async () => {
    const handle = await open(1);
    await rawTmux(world.socketPath, "set-option", "-t", "=ov-1:", "remain-on-exit", "on");
    world.finish(handle.name);
    const facts = await eventually(async () => (await world.terminal.list()).find((each) => each.exited));
    // tmux may have missed the end of its child, and then has no status to show.
    expect([0, null]).toContain(facts.exited?.status ?? null);
    expect(facts).toMatchObject({ name: "ov-1", pid: handle.pid.pid });
    expect(facts.handle).toBeUndefined();
    expect(await world.terminal.sendText(handle, "x")).toEqual({ sent: false, because: "exited" });
    expect(await world.terminal.kill(handle)).toBe("already-gone");
    expect(await world.terminal.list()).toEqual([]);
  });

  test.each([false, true])(
    "a server that fails without a word is asked again (the session stands: %p)",
    async (stands) => {
      let failures = 0;
      const exec: Exec = {
        ...ports.exec,
        run: async (argv, options) => {
          const isOpening = failures === 0 && String(options?.stdin ?? "").includes("new-session");
          if (isOpening) failures += 1;
          if (!isOpening || stands) {
            const result = await ports.exec.run(argv, options);
            return isOpening ? { ...result, code: 1, stdout: "", stderr: "" } : result;
          }
          return { ...(await ports.exec.run([TMUX, "-V"], { env: { PATH } })), code: 1, stdout: "", stderr: "" };
        },
      };
      const shy = await tmuxWorld({ exec });
      const handle = await shy.terminal.open(shy.staying(sessionName(71)));
      expect(failures).toBe(1);
      expect(processes.alive(handle.pid)).toBe(true);
      expect((await shy.terminal.list()).map(({ name }) => name)).toEqual([handle.name]);
    },
  );

  test("ISO-1: under test a socket outside the temp directory is refused", async () => {
    const outside = { ...ports, socketPath: "/var/run/overseer-not-a-test", tmux: "tmux", searchPath: PATH };
    expect(() => makeTmuxTerminal(outside)).toThrow(expect.objectContaining({ code: "TEST_ISOLATION" }));
  });

  test("no tmux, an old tmux: said with the next step, and auto takes detached", async () => {
    const nowhere = { ...ports, socketPath: world.socketPath, searchPath: world.directory };
    const missing = makeTmuxTerminal({ ...nowhere, tmux: "tmux" });
    expect(await missing.available()).toMatchObject({ ok: false, hint: expect.stringContaining("terminal: detached") });
    expect(await codeOf(missing.open(world.staying(sessionName(1))))).toBe("environment/TMUX_MISSING");
    expect(await codeOf(missing.list())).toBe("environment/TMUX_MISSING");

    const oldTmux = join(world.directory, "old-tmux");
    writeFileSync(oldTmux, "#!/bin/sh\necho tmux 3.1c\n", { mode: 0o755 });
    const old = makeTmuxTerminal({ ...nowhere, tmux: oldTmux });
    expect(await old.available()).toMatchObject({ ok: false, reason: expect.stringContaining("too old") });

    const detached = (await detachedWorld()).terminal;
    expect((await chooseTerminal("auto", { tmux: missing, detached })).terminal).toBe(detached);
    expect((await chooseTerminal("auto", { tmux: world.terminal, detached })).terminal).toBe(world.terminal);
    expect((await chooseTerminal("detached", { tmux: world.terminal, detached })).terminal).toBe(detached);
    expect(await codeOf(chooseTerminal("tmux", { tmux: missing, detached }))).toBe("environment/TMUX_MISSING");
  });
});

describe("tmux: launching", () => {
  test("the environment is the one given, and no process listing ever shows it", async () => {
    const said: string[] = [];
    const complaints: string[] = [];
    const exec: Exec = {
      run: async (argv, options) => {
        said.push(...argv);
        const result = await ports.exec.run(argv, options);
        complaints.push(result.stderr);
        return result;
      },
    };
    const world = await tmuxWorld({ exec });
    const out = join(world.directory, "environment");
    const script = join(world.directory, "print-environment.ts");
    writeFileSync(script, `await Bun.write(process.argv[2], JSON.stringify(process.env)); setInterval(() => {}, 1e6);`);
    const env = {
      PATH: `/nowhere:${PATH}`,
      SHELL: "/bin/bash",
      HOME: "/h",
      TOKEN: "s3cret;\n~$HOME \\\n'\"{é",
      EMPTY: "",
    };
    const argv = [process.execPath, script, out];
    await world.terminal.open({ name: sessionName(1), cwd: world.directory, argv, env });
    const text = await eventually(() => (existsSync(out) ? readFileSync(out, "utf8") || undefined : undefined));
    const { TERM, TERM_PROGRAM, TERM_PROGRAM_VERSION, TMUX: inTmux, TMUX_PANE, PWD, ...rest } = JSON.parse(text);
    expect(rest).toEqual(env);
    expect([TERM, TERM_PROGRAM, PWD]).toEqual(["screen-256color", "tmux", world.directory]);
    expect(said.join(" ")).not.toContain("s3cret");
    expect(complaints.join("")).toBe("");
  });

  test(
    "arguments arrive byte for byte, in an odd directory, and a single word meets no shell",
    async () => {
      const world = await tmuxWorld();
      const cwd = tempDir("odd #{pane_id} %d ~;'x-");
      const odd = [
        ";",
        "a;",
        "{",
        "}",
        "~",
        "~/x",
        "$HOME",
        "#{pane_id}",
        "%d",
        "",
        " ",
        "\\",
        "\\\n",
        "-t",
        "--",
        "é\t\r\n",
      ];
      await fc.assert(
        fc.asyncProperty(fc.array(anyText({ maxLength: 30 })), async (random) => {
          const wanted = [...odd, ...random.map((word) => word.toWellFormed().replaceAll("\0", ""))];
          const script = 'printf "%s\\0" "$PWD" "$@" > "$OUT.part"; mv "$OUT.part" "$OUT"; exec sleep 600';
          const out = join(tempDir("out-"), "arguments");
          const argv = ["/bin/sh", "-c", script, "sh", ...wanted];
          const handle = await world.terminal.open({ name: sessionName("a"), cwd, argv, env: { PATH, OUT: out } });
          await eventually(() => (existsSync(out) ? true : undefined));
          expect(readFileSync(out, "utf8").split("\0").slice(0, -1)).toEqual([cwd, ...wanted]);
          await world.terminal.kill(handle);
          await eventually(async () => ((await world.terminal.list()).length === 0 ? true : undefined));
        }),
        { numRuns: scaled(8) },
      );

      const lone = join(cwd, "lone program");
      writeFileSync(lone, "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
      const handle = await world.terminal.open({ name: sessionName("lone"), cwd, argv: [lone], env: { PATH } });
      expect(processes.alive(handle.pid)).toBe(true);
    },
    20_000 * scaled(1),
  );

  test("PROC-1: a search for an attempt's marker finds the process in the pane and never our tmux server", async () => {
    const world = await tmuxWorld();
    const request = world.staying(sessionName(1));
    const marker = `only-here-${process.pid}`;
    const handle = await world.terminal.open({ ...request, env: { ...request.env, OVERSEER_ATTEMPT: marker } });
    const server = await world.serverPid();
    // Between fork and exec a process shows no environment.
    const found = await eventually(() => {
      const marked = processes.withEnvironment("OVERSEER_ATTEMPT", marker).map((each) => each.pid);
      return marked.includes(handle.pid.pid) ? marked : undefined;
    });
    expect(found).not.toContain(server.pid);
  });

  test("80 KB of environment pass", async () => {
    const world = await tmuxWorld();
    const request = world.staying(sessionName(1));
    const handle = await world.terminal.open({ ...request, env: { ...request.env, BIG: "x".repeat(80_000) } });
    expect(processes.alive(handle.pid)).toBe(true);
  });
});

for (const [kind, makeWorld] of [
  ["tmux", tmuxWorld],
  ["detached", detachedWorld],
] as const) {
  test(`${kind}: a directory or a program that is missing is named, and nothing is opened`, async () => {
    const world = await makeWorld();
    const request = world.staying(sessionName(1));
    expect(await codeOf(world.terminal.open({ ...request, cwd: "/no/such/place" }))).toBe("environment/CWD_MISSING");
    const noProgram: OpenRequest = { ...request, argv: ["/no/such/program", "x"] };
    expect(await codeOf(world.terminal.open(noProgram))).toBe("environment/PROGRAM_MISSING");
    expect(await codeOf(world.terminal.open({ ...request, argv: ["/tmp"] }))).toBe("environment/PROGRAM_MISSING");
    expect(await world.terminal.list()).toEqual([]);
  });

  test(`${kind}: a process that ignores SIGTERM is ended after the grace`, async () => {
    const world = await makeWorld();
    const ready = join(world.directory, "ready");
    const script = `trap '' TERM HUP; : > "$READY"; while :; do sleep 0.05; done`;
    const request = world.staying(sessionName(1));
    const env = { ...request.env, READY: ready };
    const handle = await world.terminal.open({ ...request, argv: ["/bin/sh", "-c", script], env });
    await eventually(() => (existsSync(ready) ? true : undefined));
    expect(await world.terminal.kill(handle, { graceMs: 50 })).toBe("ended");
    expect(processes.alive(handle.pid)).toBe(false);
    await eventually(async () => ((await world.terminal.list()).length === 0 ? true : undefined));
  });
}

// ---- Typing

/** Writes every byte it reads to a file; `bracketed` asks the terminal to mark pastes. */
const RAW_READER = `
import { appendFileSync } from "node:fs";
const [, , out, bracketed] = process.argv;
process.stdin.setRawMode(true);
process.stdin.on("data", (bytes) => appendFileSync(out, bytes));
process.stdout.write((bracketed ? "\\u001b[?2004h" : "") + "reader ready");
`;

async function openReader(world: TmuxWorld, bracketed: boolean) {
  const script = join(world.directory, "reader.ts");
  const out = join(world.directory, "typed");
  writeFileSync(script, RAW_READER);
  writeFileSync(out, "");
  const argv = [process.execPath, script, out, ...(bracketed ? ["bracketed"] : [])];
  const handle = await world.terminal.open({ ...world.staying(sessionName("typed")), argv });
  await eventually(async () =>
    (await world.terminal.capture(handle, { lines: 50 }))?.includes("reader ready") ? true : undefined,
  );
  let taken = 0;
  const read = async (bytes: number) => {
    await eventually(() => (statSync(out).size >= taken + bytes ? true : undefined));
    const text = readFileSync(out).subarray(taken).toString("utf8");
    taken = statSync(out).size;
    return text;
  };
  return { handle, read };
}

describe("tmux: typing", () => {
  const tricky = [
    ...["done;", ";", "Escape", "Enter", "C-c", "-t", "--", "-l -- x", "'", '"', "`id`", "$HOME", "#{pane_id}"],
    ...["~", "\\", "\\;", "a\\\nb", "two\nlines\n", "\ttab", "\n", "  spaces  ", "{", "%1", "=ov-1:", "🚀é漢字"],
  ];

  test(
    "CTL-1: any printable text arrives byte for byte",
    async () => {
      const world = await tmuxWorld();
      const { handle, read } = await openReader(world, false);
      const arrives = async (text: string) => {
        expect(await world.terminal.sendText(handle, text)).toEqual({ sent: true });
        expect(await read(Buffer.byteLength(text))).toBe(text);
      };
      for (const text of tricky) await arrives(text);
      await arrives(`${"0123456789 äöü;\n".repeat(3_000)}end;`);
      const printable = fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 300 })
        .map((text) => text.toWellFormed().replaceAll(/\p{Cc}/gu, "\n"));
      const piece = fc.oneof(printable, fc.constantFrom(...tricky));
      const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(" "));
      await fc.assert(fc.asyncProperty(text, arrives), { numRuns: scaled(25) });
      expect(await rawTmux(world.socketPath, "list-buffers")).toBe("");
    },
    30_000 * scaled(1),
  );

  test("CTL-1: a paste is marked as one for programs that ask for it, and keys are pressed", async () => {
    const world = await tmuxWorld();
    const { handle, read } = await openReader(world, true);
    await world.terminal.sendText(handle, "one\ntwo;");
    expect(await read(8 + 12)).toBe("\u001b[200~one\ntwo;\u001b[201~");
    const keys = [
      ["Enter", "\r"],
      ["Escape", "\u001b"],
      ["Tab", "\t"],
      ["C-c", "\u0003"],
      ["C-d", "\u0004"],
      ["Up", "\u001b[A"],
      ["Down", "\u001b[B"],
    ] as const;
    for (const [key, bytes] of keys) {
      expect(await world.terminal.sendKey(handle, key)).toEqual({ sent: true });
      expect(await read(bytes.length)).toBe(bytes);
    }
    await rawTmux(world.socketPath, "copy-mode", "-t", handle.paneId ?? "");
    await world.terminal.sendKey(handle, "Enter");
    expect(await read(1)).toBe("\r");
  });

  test("CTL-1: a person who attaches is counted, and nobody types into their screen", async () => {
    const world = await tmuxWorld();
    const handle = await world.terminal.open(world.staying(sessionName(1)));
    // Another tmux is the person's terminal: a pane of it runs the command we would have them run.
    const persons = join(tempDir("person-"), "s");
    servers.push(persons);
    await rawTmux(persons, "new-session", "-d", "-s", "person", "--", ...world.terminal.attachCommand(handle));
    const attached = async (people: number) =>
      eventually(async () => ((await world.terminal.list())[0]?.attached === people ? true : undefined));
    await attached(1);
    expect(await world.terminal.sendText(handle, "hello")).toEqual({ sent: false, because: "attached" });
    expect(await world.terminal.sendKey(handle, "Enter")).toEqual({ sent: false, because: "attached" });
    expect(await rawTmux(world.socketPath, "list-buffers")).toBe("");
    await rawTmux(persons, "send-keys", "-t", "person", "C-b", "d");
    await attached(0);
    expect(await world.terminal.sendText(handle, "hello")).toEqual({ sent: true });
  });

  test("a person's slip on the prefix key neither renames nor kills the session", async () => {
    const world = await tmuxWorld();
    await world.terminal.open(world.staying(sessionName(1)));
    const keys = await rawTmux(world.socketPath, "list-keys", "-T", "prefix");
    const commands = keys.split("\n").map((line) => line.trim().split(/\s+/).slice(4).join(" "));
    expect(commands.sort()).toEqual(["copy-mode", "copy-mode -u", "detach-client", "send-prefix"]);
  });
});

// ---- detached alone

describe("detached", () => {
  test("the child has a session of its own, a private log, and outlives whoever started it", async () => {
    const world = await detachedWorld();
    const log = join(world.directory, "given.log");
    const request: OpenRequest = { ...world.staying(sessionName(1), "hello from the child"), log };
    const parent = join(world.directory, "parent.ts");
    const rooms = join(import.meta.dir, "../../src");
    writeFileSync(
      parent,
      `import { systemClock } from "${rooms}/sys/clock.ts";
import { systemFiles } from "${rooms}/sys/files.ts";
import { systemProcesses } from "${rooms}/sys/processes.ts";
import { makeDetachedTerminal } from "${rooms}/terminals/detached.ts";
const ports = { clock: systemClock(), files: systemFiles(), processes: systemProcesses() };
const terminal = makeDetachedTerminal({ ...ports, directory: process.argv[2] });
console.log(JSON.stringify(await terminal.open(JSON.parse(process.argv[3]))));`,
    );
    const directory = join(world.directory, "terminals");
    const result = await ports.exec.run([process.execPath, parent, directory, JSON.stringify(request)]);
    const handle: TerminalHandle = JSON.parse(result.stdout);
    expect(result.code).toBe(0);
    expect(processes.alive(handle.pid)).toBe(true);
    expect(processes.list().find((each) => each.pid === handle.pid.pid)?.session).toBe(handle.pid.pid);
    expect((await world.terminal.list()).map((facts) => facts.handle)).toEqual([handle]);
    await eventually(async () =>
      (await world.terminal.capture(handle, { lines: 5 })) === "hello from the child" ? true : undefined,
    );
    expect(statSync(log).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(await world.terminal.kill(handle)).toBe("ended");
  });

  test("a log that cannot be written and a script without its interpreter are named, and nothing is left", async () => {
    const world = await detachedWorld();
    const request = world.staying(sessionName(1));
    const link = join(world.directory, "link.log");
    symlinkSync(join(world.directory, "elsewhere"), link);
    for (const log of [link, "/no/such/place/x.log"]) {
      expect(await codeOf(world.terminal.open({ ...request, log }))).toBe("environment/LOG_UNWRITABLE");
    }
    const script = join(world.directory, "script");
    writeFileSync(script, "#!/no/such/interpreter\n", { mode: 0o755 });
    expect(await codeOf(world.terminal.open({ ...request, argv: [script] }))).toBe("environment/SPAWN_FAILED");
    expect(await world.terminal.list()).toEqual([]);
    expect(existsSync(join(world.directory, "elsewhere"))).toBe(false);
  });

  test("CTL-1: attach says that there is nothing to attach to, and what to do instead", async () => {
    const world = await detachedWorld();
    const handle = await world.terminal.open(world.staying(sessionName(1)));
    expect(() => world.terminal.attachCommand(handle)).toThrow(
      expect.objectContaining({
        kind: "conflict",
        code: "NO_TERMINAL",
        hint: expect.stringContaining("peek --follow"),
      }),
    );
    expect(await world.terminal.sendText(handle, "x")).toEqual({ sent: false, because: "no-input" });
  });

  test("a damaged record names nobody, and records of the gone are cleared by the next open", async () => {
    const world = await detachedWorld();
    const first = await world.terminal.open(world.staying(sessionName(1)));
    await world.terminal.kill(first);
    const directory = join(world.directory, "terminals");
    for (const damage of ["", "null", "{}", '{"pid":1}', '{"pid":{"pid":1,"start":1}}', "\u0000"]) {
      writeFileSync(join(directory, "ov-9.json"), damage);
      expect(await world.terminal.list()).toEqual([]);
    }
    await world.terminal.open(world.staying(sessionName(2)));
    expect(readdirSync(directory).filter((name) => name.endsWith(".json"))).toEqual(["ov-2.json"]);
  });
});

// ---- The fake alone

describe("fake", () => {
  test("PROC-1: with the pid given to another process, kill signals nobody", async () => {
    const terminal = new FakeTerminal({ clock: ports.clock, program: () => undefined });
    const request: OpenRequest = { name: sessionName(1), cwd: "/", argv: ["/bin/program"], env: {} };
    const handle = await terminal.open(request);
    terminal.processes.end(handle.pid);
    const stranger = terminal.processes.start({ command: "stranger", env: {}, pid: handle.pid.pid });
    expect(await terminal.kill(handle)).toBe("already-gone");
    expect(terminal.processes.signals).toEqual([]);
    expect(terminal.processes.alive(stranger)).toBe(true);
  });

  test("input reaches the program unless somebody looks, and a handled SIGHUP survives the loss of the server", async () => {
    const heard: string[] = [];
    const terminal = new FakeTerminal({
      clock: ports.clock,
      program: (side) => {
        side.onInput((text) => heard.push(text));
        side.onSignal((signal) => heard.push(signal));
      },
    });
    const handle = await terminal.open({ name: sessionName(1), cwd: "/", argv: ["/bin/program"], env: {} });
    terminal.watch(handle, 1);
    expect(await terminal.sendText(handle, "a")).toEqual({ sent: false, because: "attached" });
    terminal.watch(handle, 0);
    await terminal.sendText(handle, "b");
    await terminal.sendKey(handle, "Enter");
    terminal.loseServer();
    expect(heard).toEqual(["b", "\r", "SIGHUP"]);
    expect(await terminal.list()).toEqual([]);
    expect(terminal.processes.alive(handle.pid)).toBe(true);
    expect(await terminal.kill(handle)).toBe("ended");
    expect(terminal.processes.alive(handle.pid)).toBe(false);
  });
});
