/** Finding and ending everything an attempt started, on a played process table: who goes, who stays, what is left. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type VirtualProcesses, virtualProcesses } from "#sim/virtual-processes.ts";
import { scaled } from "../../test/support/scale.ts";
import { endTree, findTree, type TreeRoots } from "./process-tree.ts";
import type { ProcessIdentity } from "./processes.ts";
import { virtualClock } from "./virtual-clock.ts";

const MARK = { name: "OVERSEER_MARK", value: "7@/repo/.overseer" };
const marked = { [MARK.name]: MARK.value };
const APART = { name: "OVERSEER_RUNNER", value: MARK.value };

function tree(
  processes: VirtualProcesses,
  roots: readonly ProcessIdentity[],
  spare: readonly number[] = [],
): TreeRoots {
  return { roots, mark: MARK, apart: APART, spare: [processes.self().pid, ...spare] };
}
const pids = (found: readonly ProcessIdentity[]) => found.map(({ pid }) => pid).sort((a, b) => a - b);

describe("PROC-1: part of the attempt is", () => {
  type Row = [why: string, make: (world: VirtualProcesses, root: ProcessIdentity) => ProcessIdentity, yes: boolean];
  const rows: Row[] = [
    ["the root itself", (_, root) => root, true],
    ["its child", (world, root) => world.spawn({ parent: root.pid }), true],
    ["its grandchild in a session of its own", (world, root) => grandchild(world, root, {}), true],
    ["its group, also when reparented", (world, root) => orphaned(world, root, { group: root.pid }), true],
    ["who carries the mark, wherever it is", (world) => world.spawn({ parent: 1, group: "own", env: marked }), true],
    [
      "a child of one that carries the mark",
      (world) => world.spawn({ parent: world.spawn({ parent: 1, env: marked }).pid }),
      true,
    ],
    [
      "its own runner's child",
      (world, root) => world.spawn({ parent: root.pid, env: { [APART.name]: APART.value } }),
      true,
    ],
    [
      "not: the runner of an agent that it put to work",
      (world, root) => world.spawn({ parent: root.pid, group: "own", env: { [APART.name]: "9@/repo/.overseer" } }),
      false,
    ],
    [
      "not: what that one started",
      (world, root) => {
        const runner = world.spawn({ parent: root.pid, group: "own", env: { [APART.name]: "9@/repo/.overseer" } });
        return world.spawn({ parent: runner.pid, group: "own" });
      },
      false,
    ],
    [
      "not: another attempt's",
      (world) => world.spawn({ parent: 1, group: "own", env: { [MARK.name]: "8@/repo/.overseer" } }),
      false,
    ],
    [
      "not: the same number elsewhere",
      (world) => world.spawn({ parent: 1, group: "own", env: { [MARK.name]: "7@/other/.overseer" } }),
      false,
    ],
    ["not: a stranger", (world) => world.spawn({ parent: 1, group: "own" }), false],
    ["not: our own child, while we are no root", (world) => world.spawn({}), false],
  ];
  test.each(rows)("%s", (_why, make, yes) => {
    const world = virtualProcesses();
    const root = world.spawn({ group: "own", session: "own" });
    const one = make(world, root);
    expect(pids(findTree(world, tree(world, [root]))).includes(one.pid)).toBe(yes);
  });

  function grandchild(world: VirtualProcesses, root: ProcessIdentity, env: Record<string, string>): ProcessIdentity {
    const child = world.spawn({ parent: root.pid, group: "own", session: "own" });
    return world.spawn({ parent: child.pid, group: "own", session: "own", env });
  }
  function orphaned(world: VirtualProcesses, root: ProcessIdentity, options: { group: number }): ProcessIdentity {
    const middle = world.spawn({ parent: root.pid });
    const child = world.spawn({ parent: middle.pid, ...options });
    world.exit(middle.pid);
    return child;
  }
});

test("PROC-1: a spared root gives what it adopted, and nobody signals the root or its group", () => {
  const world = virtualProcesses();
  const runner = world.spawn({ group: "own", session: "own" });
  const neighbour = world.spawn({ parent: 1, group: runner.pid });
  const adopted = world.spawn({ parent: runner.pid, group: "own", session: "own" });
  expect(pids(findTree(world, tree(world, [runner], [runner.pid])))).toEqual([adopted.pid]);
  expect(world.alive(neighbour)).toBe(true);
});

test("PROC-1: a group is taken only when the root leads it", () => {
  const world = virtualProcesses();
  const shell = world.spawn({ group: "own" });
  const root = world.spawn({ parent: shell.pid });
  const neighbour = world.spawn({ parent: shell.pid });
  const found = pids(findTree(world, tree(world, [root])));
  expect(found).toEqual([root.pid]);
  expect(found).not.toContain(neighbour.pid);
});

test("PROC-1: a root whose pid was given to another is nobody", () => {
  const world = virtualProcesses();
  const root = world.spawn({ group: "own" });
  world.exit(root.pid);
  const stranger = world.spawn({ pid: root.pid, parent: 1, group: "own" });
  world.spawn({ parent: stranger.pid });
  expect(findTree(world, tree(world, [root]))).toEqual([]);
});

describe("endTree", () => {
  const end = async (world: VirtualProcesses, roots: TreeRoots, graceMs = 200) => {
    const clock = virtualClock();
    const done = endTree({ processes: world, clock }, roots, graceMs);
    let over = false;
    void done.then(() => {
      over = true;
    });
    for (let step = 0; step < 500 && !over; step += 1) {
      clock.advance(25);
      await Promise.resolve().then(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return done;
  };

  test("PROC-1: asks first and kills only who does not go", async () => {
    const world = virtualProcesses();
    const root = world.spawn({ group: "own" });
    const stubborn = world.spawn({ parent: root.pid, ignores: ["SIGTERM"], env: marked });
    expect(await end(world, tree(world, [root]))).toEqual({ left: [] });
    const to = (pid: number) => world.delivered.filter((one) => one.to.pid === pid).map((one) => one.signal);
    expect(to(root.pid)).toEqual(["SIGTERM"]);
    expect(to(stubborn.pid)).toEqual(["SIGTERM", "SIGKILL"]);
  });

  test("nothing there: nobody is signalled", async () => {
    const world = virtualProcesses();
    world.spawn({ parent: 1, group: "own" });
    expect(await end(world, tree(world, []))).toEqual({ left: [] });
    expect(world.delivered).toEqual([]);
  });

  test("PROC-1: what comes up while the others are ended is ended too", async () => {
    const world = virtualProcesses();
    const root = world.spawn({ group: "own", ignores: ["SIGTERM"], env: marked });
    let bred = 0;
    const signal = world.signal.bind(world);
    const breeding: VirtualProcesses = {
      ...world,
      signal: (who, name) => {
        if (name === "SIGKILL" && bred < 5) {
          bred += 1;
          world.spawn({ parent: 1, group: "own", env: marked, ignores: ["SIGTERM"] });
        }
        return signal(who, name);
      },
    };
    expect(await end(breeding, tree(world, [root]))).toEqual({ left: [] });
    expect(bred).toBe(5);
  });

  test("PROC-1: whatever the table looks like, only the attempt's own are signalled and afterwards none is left", async () => {
    const spawn = fc.record({
      parent: fc.nat(12),
      own: fc.boolean(),
      marked: fc.boolean(),
      stubborn: fc.boolean(),
      gone: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(spawn, { maxLength: 12 }), async (plan) => {
        const world = virtualProcesses();
        const made: ProcessIdentity[] = [world.spawn({ parent: 1, group: "own", session: "own" })];
        for (const one of plan) {
          const parent = made[one.parent % made.length];
          made.push(
            world.spawn({
              parent: parent?.pid ?? 1,
              ...(one.own ? { group: "own", session: "own" } : {}),
              ...(one.marked ? { env: marked } : {}),
              ...(one.stubborn ? { ignores: ["SIGTERM"] } : {}),
            }),
          );
        }
        plan.forEach((one, index) => {
          if (one.gone) world.exit(made[index + 1]?.pid ?? 0);
        });
        const bystander = world.spawn({ parent: 1, group: "own", session: "own" });
        const [root] = made;
        const roots = tree(world, root ? [root] : []);
        expect(await end(world, roots, 50)).toEqual({ left: [] });
        const signalled = new Set(world.delivered.map((one) => one.to.pid));
        expect(signalled.has(bystander.pid) || signalled.has(world.self().pid) || signalled.has(1)).toBe(false);
        expect(findTree(world, roots)).toEqual([]);
      }),
      { numRuns: scaled(40) },
    );
  });
});
