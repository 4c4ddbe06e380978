/** What every process table promises, asked of the kernel (by /proc and by ps) and of the virtual one. */
import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import { parseStat } from "#sys/process-table-proc.ts";
import { parseTable, psTable } from "#sys/process-table-ps.ts";
import { type Processes, type ProcessIdentity, processesOf, type SignalName, systemProcesses } from "#sys/processes.ts";
import { tempDir } from "../support/temp.ts";

interface Subject {
  readonly name: string;
  readonly processes: Processes;
  /** Starts a process that lives until it is ended, as a child of this one, in a group of its own. */
  readonly start: (env: Record<string, string>) => ProcessIdentity;
  /** Whether the environment of processes can be asked for here. */
  readonly environments: boolean;
}

const children: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map((child) => child.exited));
});

function startReal(processes: Processes) {
  return (env: Record<string, string>): ProcessIdentity => {
    const child = Bun.spawn(["sleep", "600"], { env: { ...process.env, ...env }, detached: true });
    children.push(child);
    const identity = processes.identify(child.pid);
    if (identity === undefined) throw new Error("The child that was just started is not in the process table.");
    return identity;
  };
}

const system = systemProcesses();
const byPs = processesOf({
  ...psTable(),
  selfPid: process.pid,
  send: (pid: number, signal: SignalName) => process.kill(pid, signal),
});
const virtual = virtualProcesses();
const subjects: Subject[] = [
  { name: "system", processes: system, start: startReal(system), environments: true },
  { name: "ps", processes: byPs, start: startReal(byPs), environments: process.platform === "darwin" },
  {
    name: "virtual",
    processes: virtual,
    start: (env: Record<string, string>) => virtual.spawn({ env, group: "own" }),
    environments: true,
  },
].filter(({ name }) => name !== "ps" || Bun.which("ps") !== null);

/** The kernel needs a moment to carry out a signal; the virtual table does not. */
async function gone(processes: Processes, identity: ProcessIdentity): Promise<boolean> {
  for (let tries = 0; tries < 200 && processes.alive(identity); tries += 1) await Bun.sleep(10);
  return !processes.alive(identity);
}

describe.each(subjects)("processes: $name", ({ processes, start, environments }) => {
  test("this process is alive and finds itself in the list", () => {
    const self = processes.self();
    expect(processes.alive(self)).toBe(true);
    expect(processes.identify(self.pid)).toEqual(self);
    expect(processes.list()).toContainEqual(expect.objectContaining({ ...self, zombie: false }));
  });

  test("a child has its parent, its group and a command", () => {
    const child = start({});
    const facts = processes.list().find((each) => each.pid === child.pid);
    expect(facts).toMatchObject({ ...child, parent: processes.self().pid, group: child.pid, zombie: false });
    expect(facts?.command.length).toBeGreaterThan(0);
  });

  test("PROC-1: a signal ends that very process; afterwards it is neither alive nor signalled again", async () => {
    const child = start({});
    expect(processes.signal(child, "SIGTERM")).toBe(true);
    expect(await gone(processes, child)).toBe(true);
    expect(processes.signal(child, "SIGKILL")).toBe(false);
  });

  test("PROC-1: the same pid with another start time is a stranger, and is not signalled", () => {
    const child = start({});
    const stranger = { pid: child.pid, start: `${child.start}0` };
    expect(processes.alive(stranger)).toBe(false);
    expect(processes.signal(stranger, "SIGKILL")).toBe(false);
    expect(processes.alive(child)).toBe(true);
    processes.signal(child, "SIGKILL");
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 40])("PROC-1: %p is nobody's pid, and never a group's", (pid) => {
    expect(processes.identify(pid)).toBeUndefined();
    expect(processes.signal({ pid, start: "0" }, "SIGKILL")).toBe(false);
  });

  // ps shows environments on macOS only, and only there is it the table in use.
  const where = environments ? test : () => {};
  where("PROC-1: processes are found by a mark in their environment, matched whole", () => {
    const mark = `attempt-${crypto.randomUUID()}`;
    const marked = [start({ OVERSEER_MARK: mark }), start({ OVERSEER_MARK: mark })];
    const others = [start({ OVERSEER_MARK: `${mark}0` }), start({ NOT_OVERSEER_MARK: mark }), start({})];
    const found = processes.withEnvironment("OVERSEER_MARK", mark);
    expect(found.map((each) => each.pid).sort()).toEqual(marked.map((each) => each.pid).sort());
    for (const each of [...marked, ...others]) processes.signal(each, "SIGKILL");
  });
});

describe("zombies", () => {
  test("PROC-1: a real one keeps its pid but is not alive, and is not signalled", async () => {
    // The shell has become another program by the time its child ends, and that one never collects it.
    const parent = Bun.spawn(["sh", "-c", "sleep 1 & echo $!; exec sleep 600"], { stdout: "pipe" });
    children.push(parent);
    const { value } = await parent.stdout.getReader().read();
    const pid = Number(new TextDecoder().decode(value));
    const zombie = () => system.list().find((each) => each.pid === pid && each.zombie);
    for (let tries = 0; tries < 300 && zombie() === undefined; tries += 1) await Bun.sleep(10);
    const identity = system.identify(pid);
    expect(identity).toBeDefined();
    expect(identity && system.alive(identity)).toBe(false);
    expect(identity && system.signal(identity, "SIGKILL")).toBe(false);
  });

  test("PROC-1: a virtual one as well, until it is collected", () => {
    const table = virtualProcesses();
    const child = table.spawn();
    table.exit(child.pid, { zombie: true });
    expect([table.identify(child.pid), table.alive(child), table.signal(child, "SIGTERM")]).toEqual([
      child,
      false,
      false,
    ]);
    table.collect(child.pid);
    expect(table.identify(child.pid)).toBeUndefined();
  });
});

describe("the virtual table", () => {
  test("PROC-1: a pid that changed hands protects its new owner", () => {
    const table = virtualProcesses();
    const before = table.spawn({ command: "ours" });
    table.exit(before.pid);
    const after = table.spawn({ pid: before.pid, command: "a stranger" });
    expect(after.start).not.toBe(before.start);
    expect([table.alive(before), table.signal(before, "SIGKILL"), table.alive(after)]).toEqual([false, false, true]);
    expect(table.delivered).toEqual([]);
  });

  test("children of the dead go to pid 1, and those who ignore a signal stay until they are killed", () => {
    const table = virtualProcesses();
    const parent = table.spawn();
    const child = table.spawn({ parent: parent.pid, ignores: ["SIGTERM"] });
    table.signal(parent, "SIGTERM");
    table.signal(child, "SIGTERM");
    expect(table.list().find((each) => each.pid === child.pid)?.parent).toBe(1);
    table.signal(child, "SIGKILL");
    expect(table.alive(child)).toBe(false);
    expect(table.delivered.map(({ signal }) => signal)).toEqual(["SIGTERM", "SIGTERM", "SIGKILL"]);
  });
});

describe("reading the kernel's words", () => {
  const tail = "S 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 1000 10";
  test.each([
    ["a plain name", "sleep"],
    ["blanks", "tmux: server"],
    ["parentheses", "a) R 1 (b"],
    ["nothing", ""],
  ])("PROC-1: the start time is found behind a program name with %s", (_what, name) => {
    expect(parseStat(`42 (${name}) ${tail}`)).toEqual({
      pid: 42,
      start: "4711",
      parent: 7,
      group: 8,
      session: 9,
      zombie: false,
      stopped: false,
      command: name,
    });
  });

  test("half a line is nobody", () => {
    expect(parseStat("42 (sleep) S 1 2")).toBeUndefined();
    expect(parseStat("")).toBeUndefined();
  });

  test("rows of ps are read with their five words of start time", () => {
    const text =
      "    1     0     1      0 Ss   Mon Nov  2 09:05:07 2026 /sbin/launchd -x\n  42  1  42  0 Z    Tue Nov 10 19:05:07 2026 \n";
    expect(parseTable(text)).toEqual([
      {
        pid: 1,
        start: "Mon Nov 2 09:05:07 2026",
        parent: 0,
        group: 1,
        session: 0,
        zombie: false,
        command: "/sbin/launchd -x",
      },
      { pid: 42, start: "Tue Nov 10 19:05:07 2026", parent: 1, group: 42, session: 0, zombie: true, command: "" },
    ]);
  });
});

test.skipIf(process.platform !== "linux")(
  "PROC-1: a real program name with parentheses and blanks is no obstacle",
  () => {
    const program = `${tempDir("name-")}/a) S 1 (b`;
    writeFileSync(program, "#!/bin/sh\nread line\n", { mode: 0o755 });
    const child = Bun.spawn([program], { stdin: "pipe" });
    children.push(child);
    const mine = () => system.list().find((each) => each.pid === child.pid);
    expect(mine()).toMatchObject({ parent: process.pid, zombie: false });
    expect(Number(mine()?.start)).toBeGreaterThanOrEqual(Number(system.self().start));
  },
);
