/**
 * What every terminal promises, asked of tmux and detached with real processes and of the fake in memory. A harness
 * brings a terminal and a program that prints a text and then stays until it is told to finish; whatever only one
 * kind can do (attaching, typing, losing its server) is tested beside it in terminal.test.ts.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { OverseerError } from "#errors.ts";
import type { Processes } from "#sys/processes.ts";
import type { OpenRequest, Terminal, TerminalHandle } from "#terminals/terminal.ts";
import { sessionName, type TerminalName } from "#terminals/terminal-name.ts";

export interface TerminalWorld {
  readonly terminal: Terminal;
  readonly processes: Processes;
  /** A request for a program that prints `shown` and stays until `finish`. */
  staying(name: TerminalName, shown?: string): OpenRequest;
  /** Lets the program of that terminal exit by itself. */
  finish(name: TerminalName): void;
  close(): Promise<void>;
}

export function terminalContract(kind: string, makeWorld: () => Promise<TerminalWorld>): void {
  describe(`terminal contract: ${kind}`, () => {
    let world: TerminalWorld;
    beforeEach(async () => {
      world = await makeWorld();
    });
    afterEach(() => world.close());

    const open = (attempt: string | number, shown?: string) =>
      world.terminal.open(world.staying(sessionName(attempt), shown));

    test("it is available, and lists nothing before anything was opened", async () => {
      expect(await world.terminal.available()).toEqual({ ok: true });
      expect(await world.terminal.list()).toEqual([]);
    });

    test("PROC-1: what is opened is listed with its pid and start time, unwatched", async () => {
      const handle = await open(47);
      const [facts, ...others] = await world.terminal.list();
      expect(others).toEqual([]);
      expect(facts).toMatchObject({ name: "ov-47", pid: handle.pid.pid, attached: 0, handle });
      expect(facts?.exited).toBeUndefined();
      expect(world.processes.alive(handle.pid)).toBe(true);
    });

    test("CTL-1: peek shows what was printed, unicode included, and only as many lines as asked for", async () => {
      const handle = await open(1, "first line\nzweite Zeile: äöü €\n三行目 🚀 ok");
      const shown = await eventually(async () => {
        const text = await world.terminal.capture(handle, { lines: 50 });
        return text?.includes("ok") ? text : undefined;
      });
      expect(shown).toBe("first line\nzweite Zeile: äöü €\n三行目 🚀 ok");
      expect(await world.terminal.capture(handle, { lines: 1 })).toBe("三行目 🚀 ok");
    });

    test("PROC-1: killing one ends its process and its place in the list; killing again finds it gone", async () => {
      const handle = await open(1);
      expect(await world.terminal.kill(handle)).toBe("ended");
      expect(world.processes.alive(handle.pid)).toBe(false);
      await eventually(async () => ((await world.terminal.list()).length === 0 ? true : undefined));
      expect(await world.terminal.kill(handle)).toBe("already-gone");
      expect(await world.terminal.capture(handle, { lines: 5 })).toBeUndefined();
      expect(await world.terminal.sendKey(handle, "Enter")).toEqual({ sent: false, because: "gone" });
    });

    test("PROC-1: a sibling b-2 is untouched when b is killed, and cannot be killed by b's handle afterwards", async () => {
      const b = await open("b");
      const sibling = await open("b-2", "sibling");
      await world.terminal.kill(b);
      await world.terminal.kill(b);
      await eventually(async () => ((await names()).includes("ov-b") ? undefined : true));
      expect(await names()).toEqual(["ov-b-2"]);
      expect(world.processes.alive(sibling.pid)).toBe(true);
    });

    test("PROC-1: a pid that belongs to another process by now is not signalled", async () => {
      const handle = await open(1);
      const stale: TerminalHandle = { ...handle, pid: { pid: handle.pid.pid, start: "another start" } };
      expect(await world.terminal.kill(stale)).toBe("already-gone");
      expect(await names()).toEqual(["ov-1"]);
      expect(world.processes.alive(handle.pid)).toBe(true);
    });

    test("an exit is noticed: the terminal is no longer listed", async () => {
      const handle = await open(1);
      world.finish(handle.name);
      await eventually(async () => ((await world.terminal.list()).length === 0 ? true : undefined));
      expect(await world.terminal.kill(handle)).toBe("already-gone");
    });

    test("a second terminal of a living name is refused and the first continues", async () => {
      const handle = await open(1);
      expect(await codeOf(open(1))).toBe("conflict/TERMINAL_EXISTS");
      expect(world.processes.alive(handle.pid)).toBe(true);
      expect(await names()).toEqual(["ov-1"]);
    });

    test("a name is free again once its terminal is gone, and the old handle does not reach the new one", async () => {
      const old = await open(1);
      await world.terminal.kill(old);
      await eventually(async () => ((await names()).length === 0 ? true : undefined));
      const next = await open(1);
      expect(await world.terminal.kill(old)).toBe("already-gone");
      expect(world.processes.alive(next.pid)).toBe(true);
      expect(await world.terminal.capture(old, { lines: 5 })).toBeUndefined();
    });

    test("several are opened at the same moment", async () => {
      const handles = await Promise.all(["1", "2", "3", "4", "5"].map((attempt) => open(attempt)));
      expect(new Set(handles.map((handle) => handle.pid.pid)).size).toBe(5);
      expect((await names()).sort()).toEqual(["ov-1", "ov-2", "ov-3", "ov-4", "ov-5"]);
    });

    test.each(["", "ov-", "b", "ov-a.b", "ov-a:b", "ov-a b", "ov-ä", "ov-$1", "ov-a\n", "=ov-1", "ov--x"])(
      "the name %j is refused and opens nothing",
      async (name) => {
        const unchecked = name as TerminalName;
        expect(await codeOf(world.terminal.open(world.staying(unchecked)))).toBe("usage/TERMINAL_NAME");
        expect(await names()).toEqual([]);
      },
    );

    test("a launch that can never work is refused in words and opens nothing", async () => {
      const good = world.staying(sessionName(1));
      const refusals: [Partial<OpenRequest>, string][] = [
        [{ argv: [] }, "usage/PROGRAM_NOT_ABSOLUTE"],
        [{ argv: ["sh", "-c", "true"] }, "usage/PROGRAM_NOT_ABSOLUTE"],
        [{ argv: ["/bin/sh", "a\0b"] }, "usage/NUL_CHARACTER"],
        [{ env: { "A B": "c" } }, "usage/VARIABLE_NAME"],
        [{ env: { A: "x".repeat(100_000) } }, "environment/LAUNCH_TOO_LARGE"],
        [{ size: { columns: 0, rows: 10 } }, "usage/TERMINAL_SIZE"],
      ];
      for (const [wrong, code] of refusals) expect(await codeOf(world.terminal.open({ ...good, ...wrong }))).toBe(code);
      expect(await names()).toEqual([]);
    });

    test("text with escape sequences in it is refused before anything is sent", async () => {
      const handle = await open(1);
      expect(await codeOf(world.terminal.sendText(handle, "a\u001b[201~b"))).toBe("usage/TEXT_CONTROL_CHARACTERS");
      expect(await codeOf(world.terminal.sendText(handle, ""))).toBe("usage/TEXT_EMPTY");
    });

    const names = async () => (await world.terminal.list()).map((facts) => facts.name as string);
  });
}

/** `kind/CODE` of the OverseerError it rejects with; anything else is passed on. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof OverseerError) return `${error.kind}/${error.code}`;
    throw error;
  }
  return "no error";
}

/** Polls until there is an answer; real processes need moments we cannot name. Fails after ten seconds. */
export async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let waited = 0; waited < 10_000; waited += 20) {
    const found = await look();
    if (found !== undefined) return found;
    await Bun.sleep(20);
  }
  throw new Error("It did not happen within ten seconds.");
}
