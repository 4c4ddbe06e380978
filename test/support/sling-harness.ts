/**
 * Slings an agent through ports that count their calls and, at a chosen one, fail or kill this process.
 *
 * bun test/support/sling-harness.ts <repository> <name> <kill|kill-during> <n>     one sling, killed at call n
 * Without a mode it prints how many calls a whole sling makes. Tests import `faultyWorld` for failures that leave the
 * process alive.
 */
import { slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";
import { gitRunner } from "#git/git.ts";
import type { Store } from "#store/store.ts";
import type { Processes } from "#sys/processes.ts";
import { makeTmuxTerminal } from "#terminals/tmux.ts";
import { worldAt } from "./real-world.ts";

/** `throw`: that call fails. `throw-after`: it is done, and fails. `full`: it and every later one that writes fails. */
export type FaultMode = "throw" | "throw-after" | "full" | "kill" | "kill-during";

export interface Fault {
  readonly mode: FaultMode;
  readonly at: number;
}

export interface Counted {
  readonly world: World;
  /** Which calls were made, as `port.method`. */
  readonly calls: string[];
}

/** Looking is left out where the real thing cannot fail: the process table is only counted. */
const NEVER_FAILS = new Set(["processes"]);
const WRITES = /^(files\.(write|append|makeDir|rename)|exec\.run|store\.commit)$/;

export async function faultyWorld(repo: string, fault?: Fault): Promise<Counted> {
  const calls: string[] = [];
  const strike = (port: string, method: string, call: () => unknown): unknown => {
    calls.push(`${port}.${method}`);
    const now = calls.length;
    if (!fault || now < fault.at) return call();
    if (fault.mode === "full") {
      return WRITES.test(`${port}.${method}`) ? Promise.reject(failureOf(port, method)) : call();
    }
    if (now > fault.at) return call();
    if (fault.mode === "kill") die();
    if (fault.mode === "kill-during") {
      call();
      die();
    }
    if (NEVER_FAILS.has(port)) return call();
    if (fault.mode === "throw") return Promise.reject(failureOf(port, method));
    // A commit that fails has written nothing: the store promises it, and its own tests hold it to that.
    if (`${port}.${method}` === "store.commit") return call();
    return Promise.resolve(call()).then(() => Promise.reject(failureOf(port, method)));
  };
  const counted = <T extends object>(port: string, real: T): T =>
    new Proxy(real, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => strike(port, String(key), () => Reflect.apply(value, target, args));
      },
    });
  const world = await worldAt(repo, {
    changes(real) {
      const { clock, ids, env } = real;
      const [exec, files, processes] = [
        counted("exec", real.exec),
        counted("files", real.files),
        counted("processes", fault && !fault.mode.startsWith("kill") ? leaving(real.processes) : real.processes),
      ];
      const store = real.writer().then((opened): Store => counted("store", opened));
      return {
        exec,
        files,
        processes,
        git: { git: gitRunner({ exec, clock, env }), exec, files, clock, ids },
        writer: () => store,
        terminal: async () =>
          makeTmuxTerminal({
            exec,
            files,
            processes,
            clock,
            socketPath: `${await real.socketDir()}/tmux`,
            tmux: "tmux",
            searchPath: env.PATH ?? "",
          }),
      };
    },
  });
  return { world, calls };
}

/** Says of itself that it has ended, as a command has by the time the next one runs. */
function leaving(real: Processes): Processes {
  return { ...real, self: () => ({ pid: 2 ** 30, start: "0" }) };
}

function failureOf(port: string, method: string): Error {
  if (port === "files")
    return Object.assign(new Error(`ENOSPC: no space left on device, ${method}`), { code: "ENOSPC" });
  const code = port === "exec" ? "SPAWN_FAILED" : "STORE_FULL";
  return new OverseerError("environment", code, `A planted failure of ${port}.${method}.`, "None: it is a test.");
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("still alive");
}

/** A sling of an agent that says one word and then waits for more. */
export async function slingOne(world: World, name: string): Promise<void> {
  const prompt = `Say hello. @@SCRIPT[{"say":"hello"}]@@END`;
  const input = { prompt, name, capability: "builder", files: [], tags: [] };
  await slingAgent(world, { ...input, interactive: false, keep: false, dryRun: false });
}

if (import.meta.main) {
  const [repo = "", name = "", mode, at] = Bun.argv.slice(2);
  const fault = mode === "kill" || mode === "kill-during" ? { mode, at: Number(at) } : undefined;
  const { world, calls } = await faultyWorld(repo, fault as Fault | undefined);
  await slingOne(world, name);
  console.log(JSON.stringify(calls));
}
