/**
 * A process table without processes, for simulations: start, end, leave a zombie, hand a pid to a stranger. The rules
 * of identity are the real ones (processesOf); only the kernel underneath is played. Signals that would end a process
 * end it at once unless it ignores them, and every signal that arrived is kept.
 */
import {
  type Processes,
  type ProcessFacts,
  type ProcessIdentity,
  processesOf,
  type SignalName,
} from "#sys/processes.ts";

export interface VirtualSpawn {
  /** A pid that is free now, e.g. one that had another owner before; default: the next one. */
  readonly pid?: number;
  readonly parent?: number;
  /** Default: the parent's. Its own pid when it is to lead a group. */
  readonly group?: number | "own";
  readonly session?: number | "own";
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly ignores?: readonly SignalName[];
}

export interface VirtualProcesses extends Processes {
  spawn(options?: VirtualSpawn): ProcessIdentity;
  /** It ends; with `zombie`, its entry stays until `collect`. Its children go to pid 1. No error when nobody is there. */
  exit(pid: number, options?: { zombie?: boolean }): void;
  collect(pid: number): void;
  /** Every signal that reached somebody, in order. */
  readonly delivered: readonly { readonly to: ProcessIdentity; readonly signal: SignalName }[];
}

interface Entry extends ProcessFacts {
  readonly env: Readonly<Record<string, string>>;
  readonly ignores: readonly SignalName[];
}

const INIT: Entry = {
  pid: 1,
  start: "0",
  parent: 0,
  group: 1,
  session: 1,
  zombie: false,
  command: "init",
  env: {},
  ignores: [],
};
const HARMLESS: readonly SignalName[] = ["SIGSTOP", "SIGCONT"];

export function virtualProcesses(): VirtualProcesses {
  const entries = new Map<number, Entry>([[INIT.pid, INIT]]);
  const delivered: { to: ProcessIdentity; signal: SignalName }[] = [];
  let lastPid = 99;
  let starts = 0;

  const freePid = () => {
    do lastPid += 1;
    while (entries.has(lastPid));
    return lastPid;
  };

  const spawn = (options: VirtualSpawn = {}): ProcessIdentity => {
    const pid = options.pid ?? freePid();
    if (entries.has(pid)) throw new Error(`The virtual pid ${pid} is taken.`);
    const parent = entries.get(options.parent ?? selfPid) ?? INIT;
    const { group = parent.group, session = parent.session, command = "virtual", env = {}, ignores = [] } = options;
    starts += 1;
    const start = String(starts);
    entries.set(pid, {
      pid,
      start,
      parent: parent.pid,
      group: group === "own" ? pid : group,
      session: session === "own" ? pid : session,
      zombie: false,
      command,
      env,
      ignores,
    });
    return { pid, start };
  };

  const exit = (pid: number, { zombie = false } = {}): void => {
    const entry = entries.get(pid);
    if (entry === undefined) return;
    for (const child of entries.values())
      if (child.parent === pid) entries.set(child.pid, { ...child, parent: INIT.pid });
    if (zombie) entries.set(pid, { ...entry, zombie: true });
    else entries.delete(pid);
  };

  const send = (pid: number, signal: SignalName): boolean => {
    const entry = entries.get(pid);
    if (entry === undefined) return false;
    delivered.push({ to: { pid, start: entry.start }, signal });
    const survives = HARMLESS.includes(signal) || (signal !== "SIGKILL" && entry.ignores.includes(signal));
    if (!survives) exit(pid);
    return true;
  };

  const selfPid = freePid();
  spawn({ pid: selfPid, parent: INIT.pid, group: "own", session: "own", command: "overseer" });

  const processes = processesOf({
    selfPid,
    send,
    find: (pid) => factsOf(entries.get(pid)),
    list: () => [...entries.values()].map((entry) => factsOf(entry)).filter((facts) => facts !== undefined),
    environment: (pid) => {
      const entry = entries.get(pid);
      return entry && Object.entries(entry.env).map(([name, value]) => `${name}=${value}`);
    },
  });
  const collect = (pid: number) => {
    if (entries.get(pid)?.zombie) entries.delete(pid);
  };
  return { ...processes, spawn, exit, collect, delivered };
}

function factsOf(entry: Entry | undefined): ProcessFacts | undefined {
  if (entry === undefined) return undefined;
  const { env: _env, ignores: _ignores, ...facts } = entry;
  return facts;
}
