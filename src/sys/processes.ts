/**
 * Processes, known by pid and start time together: a pid alone is reused by the kernel, and signalling a stranger
 * is the one mistake that cannot be undone.
 */
import { systemCode } from "#errors.ts";
import { procTable } from "./process-table-proc.ts";
import { psTable } from "./process-table-ps.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** The kernel's own start stamp (clock ticks since boot on Linux); opaque, only compared. */
  readonly start: string;
}

export type SignalName = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP" | "SIGSTOP" | "SIGCONT" | "SIGUSR1";

export interface ProcessFacts extends ProcessIdentity {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Ended but not yet collected by its parent; it runs nothing any more. */
  readonly zombie: boolean;
  /** Held by a signal: it runs nothing until somebody lets it continue. Missing where that cannot be seen. */
  readonly stopped?: boolean;
  readonly command: string;
}

/** What a process and those it has collected have done so far; both only grow. */
export interface ProcessEffort {
  /** In the kernel's ticks, a hundred in a second. */
  readonly processorTicks: number;
  /** Bytes it read and wrote, wherever to. */
  readonly bytes: number;
}

export interface Processes {
  /** This process. */
  self(): ProcessIdentity;
  /** Who has that pid now; undefined when nobody does. */
  identify(pid: number): ProcessIdentity | undefined;
  /** True while that very process runs (a zombie does not). */
  alive(identity: ProcessIdentity): boolean;
  /** True while that very process is held by a signal; false where that cannot be seen. */
  isStopped(identity: ProcessIdentity): boolean;
  /** Signals that very process. False, with nothing sent, when it is gone or the pid belongs to another. */
  signal(identity: ProcessIdentity, signal: SignalName): boolean;
  /** Every process that can be seen now. */
  list(): ProcessFacts[];
  /** Processes whose environment at start held `NAME=value`. Only this user's can be read. */
  withEnvironment(name: string, value: string): ProcessIdentity[];
  /** Where it stands and what it holds; undefined when that cannot be seen: it is gone, another user's, or no Linux. */
  place(pid: number): ProcessFootprint | undefined;
  /** What it has done so far; undefined when that cannot be seen: it is gone, another user's, or no Linux. */
  effort(pid: number): ProcessEffort | undefined;
  /** The value a variable had when that process started; undefined when it had none, or cannot be read. */
  variable(pid: number, name: string): string | undefined;
}

export interface ProcessFootprint {
  /** Its working directory, also when that is gone. */
  readonly cwd: string;
  /** Files it has open, by path. */
  readonly files: readonly string[];
  /** Its session has a terminal. */
  readonly terminal: boolean;
}

/** What an operating system has to answer; the rules of identity above it are the same everywhere. */
export interface ProcessTable {
  /** The process with that pid, zombies included; its command may be the program's short name. */
  find(pid: number): ProcessFacts | undefined;
  list(): ProcessFacts[];
  /** The environment it was started with, as `NAME=value`; undefined when it is gone or belongs to another user. */
  environment(pid: number): readonly string[] | undefined;
  /** Undefined where it cannot be seen. */
  place?(pid: number): ProcessFootprint | undefined;
  effort?(pid: number): ProcessEffort | undefined;
}

/** The table together with who is asking and how a signal is sent. */
export interface ProcessWorld extends ProcessTable {
  readonly selfPid: number;
  /** False when nobody has that pid, or it belongs to another user. */
  send(pid: number, signal: SignalName): boolean;
}

export function systemProcesses(): Processes {
  const table = process.platform === "linux" ? procTable() : psTable();
  return processesOf({ ...table, selfPid: process.pid, send });
}

/** The rules of identity, over the real table or a virtual one. */
export function processesOf(table: ProcessWorld): Processes {
  const identify = (pid: number) => {
    const found = findProcess(table, pid);
    return found === undefined ? undefined : identityOf(found);
  };
  const alive = (identity: ProcessIdentity) => {
    const found = findProcess(table, identity.pid);
    return found !== undefined && found.start === identity.start && !found.zombie;
  };
  return {
    self: () => {
      const self = identify(table.selfPid);
      if (self === undefined) throw new Error(`This process (${table.selfPid}) is not in its own process table.`);
      return self;
    },
    identify,
    alive,
    isStopped: ({ pid, start }) => {
      const found = findProcess(table, pid);
      return found !== undefined && found.start === start && found.stopped === true;
    },
    signal: (identity, signal) => alive(identity) && table.send(identity.pid, signal),
    list: () => table.list(),
    place: (pid) => (Number.isSafeInteger(pid) && pid > 0 ? table.place?.(pid) : undefined),
    effort: (pid) => (Number.isSafeInteger(pid) && pid > 0 ? table.effort?.(pid) : undefined),
    variable: (pid, name) =>
      table
        .environment(pid)
        ?.find((pair) => pair.startsWith(`${name}=`))
        ?.slice(name.length + 1),
    withEnvironment: (name, value) => {
      const wanted = `${name}=${value}`;
      return table
        .list()
        .filter((each) => !each.zombie && (table.environment(each.pid)?.includes(wanted) ?? false))
        .map(identityOf)
        .filter(alive); // The pid may have changed hands between the list and the look at its environment.
    },
  };
}

/** Zero and negative numbers mean whole groups to the kernel; here they are nobody. */
function findProcess(table: ProcessTable, pid: number): ProcessFacts | undefined {
  return Number.isSafeInteger(pid) && pid > 0 ? table.find(pid) : undefined;
}

function identityOf({ pid, start }: ProcessIdentity): ProcessIdentity {
  return { pid, start };
}

/** Between the look and the signal lie microseconds; the kernel hands out every other pid before it reuses one. */
function send(pid: number, signal: SignalName): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    // EPERM: it runs as another user, so nothing was sent.
    if (systemCode(error) === "ESRCH" || systemCode(error) === "EPERM") return false;
    throw error;
  }
}
