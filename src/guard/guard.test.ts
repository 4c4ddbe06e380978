import { describe, expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runFiles } from "#sys/run-files.ts";
import { tempDir } from "../../test/support/temp.ts";
import { type Answers, LIMITS, VirtualGuard } from "../../test/support/virtual-guard.ts";

const MINUTE = 60_000;
const make = (answers: Answers = {}, limits: Partial<typeof LIMITS> = {}) =>
  new VirtualGuard(tempDir("guard-"), answers, limits);

describe("GUARD-1: the guard with a daemon that is well", () => {
  test("starts it, and leaves it alone for as long as it is well", async () => {
    const world = make();
    expect(await world.watch(10 * MINUTE)).toEqual({ kind: "left" });
    expect([world.count("up"), world.count("remediate"), world.processes.delivered]).toEqual([1, 0, []]);
    expect(world.file()).toMatchObject({ phase: "terminated", gaveUp: null });
  });

  test("watches the one that is there, and a registration of an earlier life is none", async () => {
    const world = make();
    world.startDaemon();
    await world.watch(MINUTE);
    expect(world.count("up")).toBe(0);
    world.endDaemon();
    await world.watch(MINUTE);
    expect(world.count("up")).toBe(1);
  });

  test("a registration that somebody took away is no death: the daemon puts it back", async () => {
    const world = make();
    world.startDaemon();
    world.after(MINUTE, () => rmSync(runFiles(world.state).registration));
    expect(await world.watch(5 * MINUTE)).toEqual({ kind: "left" });
    expect([world.count("up"), world.processes.delivered]).toEqual([0, []]);
  });
});

describe("GUARD-2: a daemon that has to end", () => {
  const signals = (world: VirtualGuard) => world.processes.delivered.map(({ to, signal }) => `${signal} ${to.pid}`);

  test("is asked, and ended when it does not", async () => {
    const world = make({ remediate: () => "fixed" });
    const stubborn = world.startDaemon(["SIGTERM"]);
    stubborn.beats = false;
    await world.watch(5 * MINUTE);
    expect(signals(world)).toEqual([`SIGTERM ${stubborn.pid}`, `SIGKILL ${stubborn.pid}`]);
    expect([world.count("remediate"), world.count("up"), world.processes.alive(stubborn)]).toEqual([1, 1, false]);
  });

  test("is ended also where somebody took its registration away", async () => {
    const world = make({ remediate: () => "fixed" });
    const hung = world.startDaemon();
    hung.beats = false;
    world.after(10_000, () => rmSync(runFiles(world.state).registration));
    await world.watch(5 * MINUTE);
    expect(signals(world)).toEqual([`SIGTERM ${hung.pid}`]);
  });

  test("is found and ended by the next guard too, when it hangs without a registration", async () => {
    const world = make({ remediate: () => "fixed" });
    const hung = world.startDaemon(["SIGTERM"]);
    await world.watch(MINUTE);
    hung.beats = false;
    rmSync(runFiles(world.state).registration);
    expect(await world.watch(10 * MINUTE)).toEqual({ kind: "left" });
    expect([world.processes.alive(hung), world.count("remediate"), world.daemons.length]).toEqual([false, 1, 2]);
  });

  test("nobody waits for ever for somebody who holds the lock and does not say who it is", async () => {
    const world = make({ refuseStart: () => "LOCK_TAKEN", remediate: () => "failed" });
    expect(await world.watch(60 * MINUTE)).toMatchObject({ kind: "gave-up", code: "GUARD_SPIRAL" });
    expect(world.count("remediate")).toBe(1);
  });

  test("a pid that belongs to somebody else by now is never signalled", async () => {
    const world = make({ remediate: () => "fixed" });
    const dead = world.startDaemon();
    world.after(MINUTE, () => {
      world.endDaemon();
      world.processes.spawn({ pid: dead.pid, command: "a stranger" });
    });
    world.after(3 * MINUTE, () => {
      const { daemon } = world;
      if (daemon) daemon.beats = false; // the next one has to be ended, and is
    });
    await world.watch(10 * MINUTE);
    const [next] = world.daemons.slice(1);
    expect(signals(world)).toEqual([`SIGTERM ${next?.pid}`]);
    expect(world.processes.identify(dead.pid)?.start).not.toBe(dead.start);
  });

  test("nor is a stranger that gets the pid while the daemon is asked to end", async () => {
    const world = make({ remediate: () => "fixed" });
    const hung = world.startDaemon(["SIGTERM"]);
    hung.beats = false;
    // It is asked at 35 s and has until 45 s.
    world.after(40_000, () => {
      world.processes.exit(hung.pid);
      world.processes.spawn({ pid: hung.pid, command: "a stranger" });
    });
    await world.watch(5 * MINUTE);
    expect(signals(world)).toEqual([`SIGTERM ${hung.pid}`]);
    expect(world.processes.identify(hung.pid)).toBeDefined();
  });
});

describe("GUARD-9: stalls", () => {
  const stall = (world: VirtualGuard) => {
    const { daemon } = world;
    if (daemon) Object.assign(daemon, { open: true, moves: false });
  };

  test("restarts a daemon under which nothing moves, so often, and then gives up", async () => {
    const world = make();
    for (let minute = 1; minute < 120; minute += 1) world.after(minute * MINUTE, () => stall(world));
    expect(await world.watch(120 * MINUTE)).toMatchObject({ kind: "gave-up", code: "GUARD_STALLED" });
    expect([world.count("up"), world.count("remediate")]).toEqual([1 + LIMITS.stallRestarts, 0]);
  });

  test("what moves only while a fresh daemon does not know better is no progress", async () => {
    const world = make();
    for (let minute = 1; minute < 120; minute += 1) {
      world.after(minute * MINUTE, () => {
        const { daemon } = world;
        if (daemon) Object.assign(daemon, { open: true, moves: world.time - daemon.upAt < 3 * MINUTE });
      });
    }
    expect(await world.watch(120 * MINUTE)).toMatchObject({ kind: "gave-up", code: "GUARD_STALLED" });
  });

  test("progress in between makes them forgotten", async () => {
    const world = make();
    for (let minute = 1; minute < 200; minute += 1) {
      world.after(minute * MINUTE, () => {
        const { daemon } = world;
        // The first minutes of each life move.
        if (daemon) Object.assign(daemon, { open: true, moves: world.time - daemon.upAt < 15 * MINUTE });
      });
    }
    expect(await world.watch(200 * MINUTE)).toEqual({ kind: "left" });
    expect(world.count("up")).toBeGreaterThan(1 + LIMITS.stallRestarts);
  });

  test("a guard that was started anew has not forgotten them", async () => {
    const world = make();
    for (let minute = 1; minute < 300; minute += 1) world.after(minute * MINUTE, () => stall(world));
    for (let round = 0; round < 8; round += 1) {
      const end = await world.watch(7 * MINUTE);
      if (end.kind === "gave-up") break;
    }
    expect(world.count("up")).toBeLessThanOrEqual(1 + LIMITS.stallRestarts);
  });
});

describe("FAIL-20, FAIL-1: what a daemon says on its way out is its own to say", () => {
  test.each([
    ["POOL_FAILED", "auto.failed", 1],
    ["STATE_CORRUPT", "auto.failed", 0],
  ])("%s", async (code, event, remediations) => {
    const world = make({ remediate: () => "fixed" });
    world.after(MINUTE, () => world.logFault(event, { code, problem: "It broke." }));
    world.after(MINUTE + 20_000, () => world.endDaemon({ failure: { code, problem: "It broke." } }));
    await world.watch(10 * MINUTE);
    expect(world.processes.delivered).toEqual([]);
    expect([world.count("remediate"), world.count("up")]).toEqual([remediations, 2]);
  });

  test("a store that the daemon repairs by itself is no failure of it", async () => {
    const world = make();
    world.after(MINUTE, () => world.logFault("store.damaged", { problem: "It is damaged." }));
    await world.watch(10 * MINUTE);
    expect([world.count("remediate"), world.count("up")]).toEqual([0, 1]);
  });

  test("a fault that is said before the guard's next look is heard", async () => {
    const world = make({ remediate: () => "fixed" });
    world.after(1_500, () => world.logFault("daemon.fault", { problem: "It broke." }));
    await world.watch(5 * MINUTE);
    expect([world.count("remediate"), world.count("up")]).toEqual([1, 2]);
  });
});

describe("GUARD-5, FAIL-17: what is remembered", () => {
  test("a daemon that ran for days before this guard came is no spiral when it dies", async () => {
    const world = make();
    world.after(MINUTE, () => world.endDaemon()); // the first death; the guard remembers it
    await world.watch(MINUTE + 20_000);
    world.time += 1_000 * MINUTE;
    world.after(10_000, () => world.endDaemon());
    expect(await world.watch(5 * MINUTE)).toEqual({ kind: "left" });
    expect(world.count("up")).toBe(3);
  });

  test("killed twice within the cooldown is a spiral, also with another guard in between", async () => {
    const world = make();
    world.after(MINUTE, () => world.endDaemon());
    await world.watch(MINUTE + 20_000);
    world.after(10_000, () => world.endDaemon());
    expect(await world.watch(5 * MINUTE)).toMatchObject({ kind: "gave-up", code: "GUARD_SPIRAL" });
    expect(world.count("up")).toBe(2);
  });
});

describe("GUARD-6: people", () => {
  test("somebody says down, and it stands by until somebody says up", async () => {
    const world = make();
    world.after(MINUTE, () => {
      world.intend("down");
      world.endDaemon({ reason: "down" });
    });
    world.after(5 * MINUTE, () => expect(world.file()).toMatchObject({ phase: "standing-by", daemon: null }));
    world.after(6 * MINUTE, () => {
      world.startDaemon();
      world.intend("up");
    });
    world.after(8 * MINUTE, () => expect(world.file()).toMatchObject({ phase: "running" }));
    expect(await world.watch(10 * MINUTE)).toEqual({ kind: "left" });
    expect(world.count("up")).toBe(1);
  });

  test("whoever starts a guard after down wants a daemon", async () => {
    const world = make();
    const guard = world.guard();
    world.after(MINUTE, () => guard.stop("stop"));
    expect(await guard.run()).toEqual({ kind: "stopped" });
    expect(world.daemon).toBeUndefined();
    await world.watch(MINUTE);
    expect(world.count("up")).toBe(2);
  });

  test("a guard that stood by stands by again when it is killed and started anew", async () => {
    const world = make();
    world.after(MINUTE, () => {
      world.intend("down");
      world.endDaemon({ reason: "down" });
    });
    await world.watch(3 * MINUTE);
    await world.watch(3 * MINUTE);
    expect(world.count("up")).toBe(1);
  });

  test("somebody who starts it in the guard's stead, a moment before leaving word, is not taken for nobody", async () => {
    const world = make({}, { checkEvery: 500 });
    world.startDaemon();
    world.intend("up");
    world.after(MINUTE + 1, () => {
      world.endDaemon();
      world.startDaemon();
      world.after(2_500, () => world.intend("up"));
    });
    await world.watch(5 * MINUTE);
    expect([world.count("up"), world.count("remediate"), world.processes.delivered]).toEqual([0, 0, []]);
  });

  test("FAIL-27: one that comes without a word is ended, and remediated", async () => {
    const world = make({ remediate: () => "fixed" });
    world.startDaemon();
    world.intend("up");
    world.after(MINUTE, () => {
      world.endDaemon();
      world.startDaemon();
    });
    await world.watch(5 * MINUTE);
    expect([world.count("remediate"), world.count("up")]).toEqual([1, 1]);
    expect(world.processes.delivered.map(({ to }) => to.pid)).toEqual([world.daemons[1]?.pid ?? 0]);
  });
});

describe("GUARD-4, GUARD-8: a file by which only a person can help", () => {
  const path = (world: VirtualGuard) => join(world.userDir, "manual_intervention_needed_7.txt");

  test("stops it with its text, and refuses the next", async () => {
    const world = make();
    world.after(MINUTE, () => writeFileSync(path(world), "The token has expired.\n"));
    expect(await world.watch(5 * MINUTE)).toMatchObject({
      code: "MANUAL_INTERVENTION",
      why: expect.stringContaining("The token has expired."),
    });
    const refused = world.guard().run();
    expect(refused).rejects.toMatchObject({
      code: "MANUAL_INTERVENTION",
      hint: expect.stringContaining(`rm ${path(world)}`),
    });
    await refused.catch(() => undefined);
    rmSync(path(world));
    expect(await world.watch(MINUTE)).toEqual({ kind: "left" });
  });
});

describe("FAIL-16: a full disk", () => {
  test("ends in no spiral: the daemon is started again when there is room", async () => {
    const world = make();
    world.after(MINUTE, () => {
      world.free = 0;
      world.endDaemon({ failure: { code: "DISK_FULL", problem: "The disk is full." } });
    });
    world.after(30 * MINUTE, () => {
      expect(world.count("up")).toBe(1);
      world.free = 1e12;
    });
    expect(await world.watch(60 * MINUTE)).toEqual({ kind: "left" });
    expect([world.count("up"), world.count("remediate")]).toEqual([2, 0]);
  });

  test("a start that fails on a full disk is none of the daemon's faults, whatever it says", async () => {
    const world = make({ refuseStart: () => (world.free < 1e9 ? "STORE_BROKEN" : undefined) });
    world.after(MINUTE, () => {
      world.free = 0;
      world.endDaemon();
    });
    world.after(30 * MINUTE, () => {
      world.free = 1e12;
    });
    expect(await world.watch(60 * MINUTE)).toEqual({ kind: "left" });
    expect([world.count("remediate"), world.daemons.length]).toEqual([0, 2]);
  });
});

describe("FAIL-23: what the daemon leaves cannot be read", () => {
  test("it is ended and remediated; where that does not help, the guard stops and says which file", async () => {
    const world = make({ remediate: () => "failed" });
    const daemon = world.startDaemon();
    const { ending } = runFiles(world.state);
    world.after(MINUTE, () => symlinkSync(ending, ending)); // for root, too, nothing that can be read
    const end = await world.watch(10 * MINUTE);
    expect(end).toMatchObject({ kind: "gave-up", code: "GUARD_SPIRAL", why: expect.stringContaining(ending) });
    expect([world.processes.alive(daemon), world.count("remediate")]).toEqual([false, 1]);
  });
});

describe("GUARD-1: once, for timers", () => {
  const once = (world: VirtualGuard) => world.guard({ once: true }).run();

  test("starts it, finds it well, restarts it, and knows a spiral when it makes one", async () => {
    const world = make();
    await once(world);
    expect([world.count("up"), world.file().daemon?.instance]).toEqual([1, "d_1"]);
    await once(world);
    expect(world.count("up")).toBe(1);
    world.time += 10 * MINUTE;
    world.endDaemon();
    await once(world);
    expect([world.count("up"), world.file().memory.vanished]).toEqual([2, 1]);
    world.endDaemon();
    expect(await once(world)).toMatchObject({ kind: "gave-up", code: "GUARD_SPIRAL" });
    // It stays so until a person starts the daemon or a guard.
    expect(await once(world)).toMatchObject({ kind: "gave-up", code: "GUARD_SPIRAL" });
    expect(world.count("up")).toBe(2);
    world.time += 1;
    world.startDaemon();
    world.intend("up");
    expect(await once(world)).toEqual({ kind: "left" });
  });

  test("sees a daemon whose heart stands still", async () => {
    const world = make({ remediate: () => "fixed" });
    await once(world);
    const hung = world.daemon;
    if (hung) hung.beats = false;
    world.time += 10 * MINUTE;
    await once(world);
    expect([world.count("remediate"), world.count("up")]).toEqual([1, 2]);
  });

  test("leaves a daemon alone that was only asleep with its machine", async () => {
    const world = make();
    await once(world);
    world.time += 600 * MINUTE;
    await once(world);
    expect([world.count("remediate"), world.count("up")]).toEqual([0, 1]);
  });

  test("does not start what somebody said down to", async () => {
    const world = make();
    await once(world);
    world.time += 1;
    world.intend("down");
    world.endDaemon({ reason: "down" });
    await once(world);
    await once(world);
    expect(world.count("up")).toBe(1);
  });
});

test("GUARD-4: the guard's log has every word, in order, the last one included", async () => {
  const world = make();
  world.after(MINUTE, () => world.endDaemon());
  world.after(MINUTE + 10_000, () => world.endDaemon());
  await world.watch(5 * MINUTE);
  const said = readFileSync(`${world.state}/logs/guard.log`, "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { text: string }).text);
  expect(said).toEqual(world.printed.map((line) => line.slice("00:00:00 ".length)));
  expect(said.at(-1)).toStartWith("✗ The guard stops");
});
