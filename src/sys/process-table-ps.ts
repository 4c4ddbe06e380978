/**
 * The process table where there is no /proc (macOS), asked of `ps`. Start times have whole seconds there, which is
 * coarse but enough: a pid does not come round again within one. Slower than /proc by a process per question.
 */
import { OverseerError } from "#errors.ts";
import type { ProcessFacts, ProcessTable } from "./processes.ts";

const COLUMNS = "pid=,ppid=,pgid=,sess=,stat=,lstart=,command=";

export function psTable(): ProcessTable {
  return {
    find: (pid) => parseTable(ps(["-ww", "-o", COLUMNS, "-p", String(pid)]))[0],
    list: () => parseTable(ps(["-A", "-ww", "-o", COLUMNS])),
    // -E (BSD) appends the environment to the command; only blanks part one from the next, so values with blanks
    // cannot be found this way. What we look for (attempt marks) has none.
    environment: (pid) =>
      ps(["-E", "-ww", "-o", "command=", "-p", String(pid)])
        .trim()
        .split(" "),
  };
}

/** pid, parent, group, session, state, then five words of start time ("Mon Nov 16 00:10:21 2026"), then the command. */
const ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\d{4})\s?(.*)$/;

export function parseTable(text: string): ProcessFacts[] {
  return text
    .split("\n")
    .map(parseRow)
    .filter((row) => row !== undefined);
}

function parseRow(line: string): ProcessFacts | undefined {
  const match = ROW.exec(line);
  if (match === null) return undefined;
  const [, pid, parent, group, session, state = "", start = "", command = ""] = match;
  return {
    pid: Number(pid),
    start: start.replace(/\s+/g, " "),
    parent: Number(parent),
    group: Number(group),
    // macOS prints the address of the session, or 0; it is kept only where it is a number.
    session: Number(session) || 0,
    zombie: state.startsWith("Z"),
    command,
  };
}

function ps(args: readonly string[]): string {
  const done = Bun.spawnSync(["ps", ...args], { env: { ...process.env, LC_ALL: "C", TZ: "UTC" } });
  // Exit 1 with nothing printed is the answer "no such process".
  if (done.exitCode === 0 || done.exitCode === 1) return done.stdout.toString();
  const message = `ps ended with ${done.exitCode}: ${done.stderr.toString().trim()}`;
  throw new OverseerError("environment", "PS_FAILED", message, "Run `ps -A` by hand and see what is wrong with it.");
}
