/**
 * Ports of a machine that dies: from some call on, every call fails, also those that clean up. What is on disk then is
 * what a kill at that moment leaves, and another process continues from it. Counting only calls that change something is
 * enough to see every such state: before a call that only looks, the disk is as after the last one that did not.
 */
export class MachineDied extends Error {}

const LOOKS: Readonly<Record<string, ReadonlySet<string>>> = {
  store: new Set(["read", "log", "dump", "changeMark", "identity", "standing", "close"]),
  // A directory more or less is nothing that anybody goes by.
  files: new Set(["read", "facts", "list", "realPath", "freeBytes", "makeDir"]),
};
/** Git commands that write nothing, not even an object. */
const LOOKING_GIT =
  "rev-parse ls-tree diff-tree diff-index status cat-file version merge-base for-each-ref rev-list log symbolic-ref config ls-files";
const LOOKING = new Set(LOOKING_GIT.split(" "));

export interface Mortality {
  /** The calls that counted, in order. */
  readonly calls: string[];
  wrap<T extends object>(port: string, real: T): T;
}

/** Dies at the n-th call that counts; never without one. */
export function mortal(at = Number.POSITIVE_INFINITY, count: "all" | "changes" = "changes"): Mortality {
  const calls: string[] = [];
  let dead = false;
  const wrap = <T extends object>(port: string, real: T): T =>
    new Proxy(real, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const name = nameOf(port, String(key), args);
          if (!dead && (count === "all" || changes(port, String(key), args))) calls.push(name);
          dead ||= calls.length >= at;
          if (dead) throw new MachineDied(`The machine died before ${name}.`);
          return Reflect.apply(value, target, args);
        };
      },
    });
  return { calls, wrap };
}

function changes(port: string, key: string, args: readonly unknown[]): boolean {
  // What lies in a directory that is thrown away is nothing that anybody goes by either.
  if (port === "files" && key !== "rename" && String(args[key === "copy" ? 1 : 0]).includes("/overseer/scratch/"))
    return false;
  if (port !== "exec") return LOOKS[port]?.has(key) !== true;
  const verb = gitVerb(args);
  return verb === undefined || !(LOOKING.has(verb) || verb === "worktree list" || verb === "merge-tree -h");
}

function nameOf(port: string, key: string, args: readonly unknown[]): string {
  return `${port}.${port === "exec" ? (gitVerb(args) ?? "run") : key}`;
}

/** The command of a git run, without the settings before it; `worktree` with what it does. */
function gitVerb([argv]: readonly unknown[]): string | undefined {
  if (!Array.isArray(argv) || argv[0] !== "git") return undefined;
  const words = argv.slice(1).map(String);
  const at = words.findIndex((word, index) => !word.startsWith("-") && words[index - 1] !== "-c");
  const [verb = "", next = ""] = words.slice(at);
  return verb === "worktree" || (verb === "merge-tree" && next === "-h") ? `${verb} ${next}` : verb;
}

/** Runs until it has ended or the machine dies. */
export async function untilDeath(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof MachineDied)) throw error;
  }
}
