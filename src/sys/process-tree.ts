/**
 * Ending everything an attempt started (PROC-1): first its process group, then what descends from it, then whatever
 * carries its mark in the environment, because an agent's tools run in sessions of their own and survive the rest.
 * Every pid is taken with its start time, nothing else is ever signalled, and the answer says what is still there.
 */
import type { Clock } from "./clock.ts";
import type { Processes, ProcessIdentity, SignalName } from "./processes.ts";

export interface TreeRoots {
  /** Processes whose descendants belong to the attempt; may be gone already. A root that is spared gives its children. */
  readonly roots: readonly ProcessIdentity[];
  /** `NAME=value` that every process of the attempt inherited. */
  readonly mark: { readonly name: string; readonly value: string };
  /**
   * Who carries this with another value has a life of its own, with all that descends from it: the runner of an agent
   * that this attempt's agent put to work has become our own child.
   */
  readonly apart: { readonly name: string; readonly value: string };
  /** Never signalled, whatever they carry: ourselves and those who called us. */
  readonly spare: readonly number[];
}

/** Everything of that attempt that runs now. */
export function findTree(processes: Processes, tree: TreeRoots): ProcessIdentity[] {
  const all = processes.list().filter((one) => !one.zombie);
  const byPid = new Map(all.map((one) => [one.pid, one]));
  const wanted = new Map<number, ProcessIdentity>();
  const add = (identity: ProcessIdentity) => {
    if (!tree.spare.includes(identity.pid)) wanted.set(identity.pid, identity);
  };
  const alive = tree.roots.filter((root) => byPid.get(root.pid)?.start === root.start);
  const groups = new Set<number>();
  for (const root of alive) {
    add(root);
    const group = byPid.get(root.pid)?.group;
    // A group is taken only when the root leads it and is to go: in an interactive session it is shared with us.
    if (group === root.pid && !tree.spare.includes(root.pid)) groups.add(group);
  }
  for (const one of all) if (groups.has(one.group)) add(one);
  for (const one of all) if (processes.variable(one.pid, tree.mark.name) === tree.mark.value) add(one);
  const isApart = (pid: number) => {
    const value = processes.variable(pid, tree.apart.name);
    return value !== undefined && value !== tree.apart.value;
  };
  const adopters = new Set(alive.filter((root) => tree.spare.includes(root.pid)).map((root) => root.pid));
  for (let grew = true; grew; ) {
    grew = false;
    for (const one of all) {
      const ours = wanted.has(one.parent) || adopters.has(one.parent);
      if (ours && !wanted.has(one.pid) && !tree.spare.includes(one.pid) && !isApart(one.pid)) {
        wanted.set(one.pid, one);
        grew = true;
      }
    }
  }
  return [...wanted.values()].map(({ pid, start }) => ({ pid, start }));
}

/** Ends the tree: SIGTERM, up to `graceMs`, SIGKILL, and again until a look finds nothing or patience ends. */
export async function endTree(
  parts: { readonly processes: Processes; readonly clock: Clock },
  tree: TreeRoots,
  graceMs: number,
): Promise<{ readonly left: readonly ProcessIdentity[] }> {
  const { processes, clock } = parts;
  const send = (signal: SignalName) => {
    for (const identity of findTree(processes, tree)) processes.signal(identity, signal);
  };
  if (findTree(processes, tree).length === 0) return { left: [] };
  send("SIGTERM");
  for (let waited = 0; waited < graceMs; waited += 50) {
    await clock.sleep(50);
    if (findTree(processes, tree).length === 0) return { left: [] };
  }
  // A fork bomb may outrun one sweep; each of these rounds sees what the last one missed.
  for (let round = 0; round < 40; round += 1) {
    send("SIGKILL");
    await clock.sleep(25);
    if (findTree(processes, tree).length === 0) return { left: [] };
  }
  return { left: findTree(processes, tree) };
}
