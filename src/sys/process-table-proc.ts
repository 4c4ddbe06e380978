/**
 * The process table of Linux, read from /proc. Everything here may vanish between two reads, so a missing entry is
 * an answer and never a failure. It knows nothing of identity or signals; processes.ts builds those on top.
 */
import { systemCode } from "#errors.ts";
import type { FirstPage } from "./libc.ts";
import { openFirstPage } from "./libc.ts";
import type { ProcessEffort, ProcessFacts, ProcessFootprint, ProcessTable } from "./processes.ts";

export function procTable(): ProcessTable {
  return {
    find,
    list: () =>
      nodeFs()
        .readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map((name) => withCommand(find(Number(name))))
        .filter((found) => found !== undefined),
    environment: (pid) => readEntry(pid, "environ")?.split("\0"),
    place,
    effort,
  };
}

function effort(pid: number): ProcessEffort | undefined {
  const stat = readEntry(pid, "stat");
  const io = readEntry(pid, "io");
  if (stat === undefined || io === undefined) return undefined;
  // From the state on: fields 14 to 17 are its own time and that of children it has waited for, user and system each.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const processorTicks = fields.slice(14 - 3, 18 - 3).reduce((sum, ticks) => sum + Number(ticks), 0);
  const bytes = ["rchar", "wchar"].reduce((sum, name) => sum + Number(lineOf(io, name)), 0);
  return { processorTicks, bytes };
}

function lineOf(io: string, name: string): string {
  return new RegExp(`^${name}: (\\d+)$`, "m").exec(io)?.[1] ?? "0";
}

function place(pid: number): ProcessFootprint | undefined {
  const cwd = linkOf(`/proc/${pid}/cwd`);
  const stat = readEntry(pid, "stat");
  if (cwd === undefined || stat === undefined) return undefined;
  // state, parent, group, session, then the number of the terminal, 0 for none.
  const terminal = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4];
  const files = entriesOf(`/proc/${pid}/fd`)
    .map((name) => linkOf(`/proc/${pid}/fd/${name}`))
    .filter((path) => path?.startsWith("/"));
  return { cwd, files: files as string[], terminal: terminal !== "0" };
}

/** Where a link of /proc points, also when what it points at was removed. */
function linkOf(path: string): string | undefined {
  return tryRead(() => nodeFs().readlinkSync(path))?.replace(/ \(deleted\)$/, "");
}

function entriesOf(path: string): string[] {
  return tryRead(() => nodeFs().readdirSync(path)) ?? [];
}

/**
 * Asked by `status` for every agent, so it reads one line and loads nothing for it that costs as much as the rest: what
 * the C library cannot read (nobody has that pid, or there is no way to call it), is asked for the long way.
 */
function find(pid: number): ProcessFacts | undefined {
  const stat = firstPage()?.(`/proc/${pid}/stat`) ?? readEntry(pid, "stat");
  return stat === undefined ? undefined : parseStat(stat);
}

/** What it was called with. */
export function readArguments(pid: number): string[] {
  return readEntry(pid, "cmdline")?.split("\0") ?? [];
}

/** How it was called is read when somebody asks for it: a look for one process goes through all of them. */
function withCommand(facts: ProcessFacts | undefined): ProcessFacts | undefined {
  if (facts === undefined) return undefined;
  const { pid, start, parent, group, session, zombie, stopped } = facts;
  return {
    ...{ pid, start, parent, group, session, zombie, stopped },
    get command() {
      return readArguments(pid).join(" ").trim() || facts.command;
    },
  };
}

/**
 * `pid (comm) state ppid pgrp session …`, with the start time as field 22. The name of the program stands there as it
 * is, with blanks and parentheses, so the fields are counted from the last closing one.
 */
export function parseStat(stat: string): ProcessFacts | undefined {
  const opening = stat.indexOf("(");
  const closing = stat.lastIndexOf(")");
  const fields = stat.slice(closing + 2).split(" ");
  const [state, parent, group, session] = fields;
  const start = fields[22 - 3];
  if (opening < 0 || closing < opening || state === undefined || start === undefined) return undefined;
  return {
    pid: Number(stat.slice(0, opening)),
    start,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    zombie: state === "Z" || state === "X",
    stopped: state === "T" || state === "t",
    command: stat.slice(opening + 1, closing),
  };
}

function readEntry(pid: number, entry: string): string | undefined {
  return tryRead(() => nodeFs().readFileSync(`/proc/${pid}/${entry}`, "utf8"));
}

function tryRead<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    const code = systemCode(error);
    // ESRCH: it ended while we read. EACCES, EPERM: another user's.
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES" || code === "EPERM") return undefined;
    throw error;
  }
}

let opened: { readonly read: FirstPage | undefined } | undefined;

function firstPage(): FirstPage | undefined {
  opened ??= { read: openFirstPage() };
  return opened.read;
}

function nodeFs(): typeof import("node:fs") {
  return require("node:fs");
}
