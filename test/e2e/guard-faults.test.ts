/**
 * What goes wrong with a daemon, made to happen to a real one under a real guard, each to its end: well again, or stopped with
 * a clear message. What an agent makes of a failure is played by a script. One of each kind in an ordinary run, all of them in
 * the long lane.
 */
import { Database } from "bun:sqlite";
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundled } from "../support/cli.ts";
import { endedGuards, GuardedFleet } from "../support/guarded-fleet.ts";
import { planGoal, waitFor, writeFiles } from "../support/planned-goal.ts";
import { isLongLane } from "../support/scale.ts";
import { cannotMount, SmallDisk } from "../support/small-disk.ts";
import { hang, say } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

const guardOf = endedGuards({ terminal: "tmux" });
const project = join(import.meta.dir, "../..");

/** Lets a daemon die under a guard that is held, gives its pid to somebody else, and says what became of that one. */
const REUSE = `set -eu
cd "$1"
"$2" guard > guard.out 2>&1 & guard=$!
up() { grep -c "is up" guard.out || true; }
until test "$(up)" = 1; do sleep 0.05; done
daemon=$(sed -n 's/.*is up (pid \\([0-9]*\\).*/\\1/p' guard.out)
kill -STOP $guard
kill -KILL $daemon
while test -e /proc/$daemon; do sleep 0.02; done
for _ in 1 2 3 4 5 6 7 8 9; do
  echo $((daemon - 1)) > /proc/sys/kernel/ns_last_pid
  sleep 1000 & stranger=$!
  test $stranger != $daemon || break
done
test $stranger = $daemon
kill -CONT $guard
until test "$(up)" = 2; do sleep 0.05; done
echo "restarted, $(cat /proc/$stranger/comm)"
kill -TERM $guard
wait $guard
echo "ended, $(cat /proc/$stranger/comm)"
`;

function cannotChoosePids(): string | undefined {
  if (Bun.which("unshare") === null) return "needs unshare";
  const script = "echo 500 > /proc/sys/kernel/ns_last_pid";
  const probe = ["unshare", "-p", "-f", "--mount-proc", "sh", "-c", script];
  const { exitCode } = Bun.spawnSync(probe, { stdout: "ignore", stderr: "ignore" });
  return exitCode === 0 ? undefined : "needs the right to make a pid namespace";
}

const lines = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);

/** Auto mode over a pool that is this script. */
const POOL = "auto: {taskPoolCommand: sh pool.sh, every: 200ms, taskPoolTimeout: 1s, concurrency: 2}\n";
const pool = ({ fleet }: GuardedFleet, script: string) => writeFileSync(join(fleet.repo.path, "pool.sh"), script);

test("FAIL-1, FAIL-25: a pool that exits 1 ends the daemon with its reason, is remediated at once, and a second time within the cooldown is a spiral with a clear message", async () => {
  const guarded = await guardOf({ more: POOL, remedy: "echo 'exit 4' > pool.sh; cp \"$1\" context.json" });
  const { fleet } = guarded;
  pool(guarded, "exit 1\n");
  guarded.start("--auto");
  await guarded.says("Remediation complete");
  const context = JSON.parse(readFileSync(join(fleet.repo.path, "context.json"), "utf8"));
  expect(context.failure).toMatchObject({ kind: "hard-failure", code: "POOL_FAILED" });
  await guarded.running();
  expect([guarded.remedied(), guarded.count("Ending the daemon")]).toEqual([1, 0]);

  pool(guarded, "echo no luck >&2; exit 1\n");
  expect(await guarded.ended()).toBe(5);
  expect([guarded.remedied(), guarded.count("Starting the daemon")]).toEqual([1, 2]);
  expect(guarded.file()?.gaveUp).toMatchObject({ code: "GUARD_SPIRAL", why: expect.stringContaining("no luck") });
  expect(await fleet.ok("status")).toContain("no luck");
});

if (isLongLane()) {
  test("FAIL-2, DEAD-1: a daemon that hangs is ended, remediated and started again, its agent adopted, nothing dispatched twice", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    await guarded.watching();
    const go = join(tempDir("go-"), "go");
    const { attempt } = await fleet.sling("ada", [waitFor(`test -f ${go}`)]);
    const agent = await fleet.process(attempt);
    const hung = fleet.theDaemon();
    await fleet.hang(hung);
    await guarded.running(hung.pid);
    expect(guarded.said()).toContain("Its heart has stood still");
    expect(guarded.said()).toContain("It did not end when asked, and is ended.");
    expect([fleet.processes.alive(hung), guarded.remedied()]).toEqual([false, 1]);
    expect([await fleet.process(attempt), fleet.all("agent.slung").length]).toEqual([agent, 1]);
  });

  test("FAIL-2: a pool that hangs is ended at its time, and that is remediated", async () => {
    const guarded = await guardOf({ more: POOL, remedy: "echo 'exit 4' > pool.sh" });
    pool(guarded, "sleep 60\n");
    guarded.start("--auto");
    await guarded.says("Remediation complete");
    expect(guarded.said()).toContain("had not ended after 1 s");
    await guarded.running();
  });

  test("FAIL-2, DEAD-1: a daemon that beats and does not tick is ended and remediated", async () => {
    const guarded = await guardOf({ tick: "500ms", remedy: "touch let-go; until test -f gone; do sleep 0.05; done" });
    const { fleet } = guarded;
    await guarded.watching();
    const wedged = fleet.theDaemon();
    await planGoal(guarded.fleet, "One", { T1: writeFiles({ "T1.txt": "1\n" }) });
    // Somebody holds the database, as a hung backup does.
    const db = new Database(`${fleet.state}/overseer.db`, { readwrite: true });
    db.run("pragma busy_timeout = 5000");
    db.run("begin immediate");
    try {
      await guarded.until(() => existsSync(join(fleet.repo.path, "let-go")), "a remediation");
    } finally {
      db.run("rollback");
      db.close();
      writeFileSync(join(fleet.repo.path, "gone"), "");
    }
    await guarded.running(wedged.pid);
    expect(guarded.said()).toMatch(/no tick has ended for|It says that it is broken \(loop\.failed\)/);
    expect(guarded.remedied()).toBe(1);
  });

  test("FAIL-17: killed twice within the cooldown, the guard stops with a clear message; after a healthy run it is the first time again", async () => {
    const guarded = await guardOf({ guard: { cooldown: "1500ms" } });
    const { fleet } = guarded;
    await guarded.watching();
    for (let round = 0; round < 2; round += 1) {
      const { pid, ...daemon } = await guarded.running();
      await guarded.until(() => Date.now() - daemon.since > 2_000, "a healthy run");
      await fleet.kill({ pid, start: daemon.start });
      await guarded.running(pid);
    }
    await fleet.kill(fleet.theDaemon());
    expect(await guarded.ended()).toBe(5);
    expect(guarded.file()?.gaveUp).toMatchObject({
      code: "GUARD_SPIRAL",
      why: expect.stringContaining("so the guard gives up"),
    });
    expect([guarded.remedied(), guarded.count("Starting the daemon")]).toEqual([0, 3]);
  });

  test("FAIL-20: a damaged database brings the daemon into safe mode, and the guard is calm", async () => {
    const guarded = await guardOf({ tick: "2s" });
    const { fleet } = guarded;
    await guarded.watching();
    const { pid } = fleet.theDaemon();
    writeFileSync(`${fleet.state}/overseer.db`, crypto.getRandomValues(new Uint8Array(40_000)));
    for (const part of ["-wal", "-shm"]) rmSync(`${fleet.state}/overseer.db${part}`, { force: true });
    const repaired = () => fleet.daemonLog().some(({ event }) => event === "store.repaired");
    await guarded.until(() => existsSync(`${fleet.state}/run/safe-mode.json`) && repaired(), "safe mode");
    await guarded.ticks(1);
    expect(guarded.said()).not.toContain("✗");
    expect([fleet.theDaemon().pid, guarded.remedied()]).toEqual([pid, 0]);
  });

  test("FAIL-20: in auto mode it ends with its reason and is started again in safe mode, once; only workers that the damage took are remediated", async () => {
    const guarded = await guardOf({ more: POOL, tick: "2s" });
    const { fleet } = guarded;
    pool(guarded, "exit 4\n");
    await guarded.watching("--auto");
    const { pid } = fleet.theDaemon();
    writeFileSync(`${fleet.state}/overseer.db`, crypto.getRandomValues(new Uint8Array(40_000)));
    for (const part of ["-wal", "-shm"]) rmSync(`${fleet.state}/overseer.db${part}`, { force: true });
    await guarded.running(pid);
    await guarded.ticks(1);
    // The pool may look at the store that was made anew before the tick does, and miss the workers that were lost with it.
    const lost = guarded.count("are gone from the state");
    expect([guarded.remedied(), guarded.count("Starting the daemon")], guarded.said()).toEqual([lost, 2]);
    expect(await fleet.ok("status")).toContain("SAFE MODE");
  });

  test("FAIL-21: a configuration that breaks while the daemon runs changes nothing; a start over it exits 6, is remediated, and comes back", async () => {
    const guarded = await guardOf({ tick: "500ms", remedy: "cp config.good .overseer/config.yaml" });
    const { fleet } = guarded;
    const path = join(fleet.userDir, "config.yaml");
    writeFileSync(join(fleet.repo.path, "config.good"), readFileSync(path));
    await guarded.watching();
    const first = fleet.theDaemon();
    appendFileSync(path, "agents: [nonsense\n");
    await guarded.until(
      () => fleet.daemonLog().some(({ event }) => event === "config.refused"),
      "a refused configuration",
    );
    await guarded.ticks(3);
    expect([fleet.theDaemon().pid, guarded.count("✗")]).toEqual([first.pid, 0]);
    await fleet.kill(first);
    await guarded.running(first.pid);
    expect([guarded.remedied(), guarded.count("Starting the daemon")]).toEqual([1, 3]);
    expect(guarded.said()).toContain("config.yaml:");
  });

  test("GUARD-7: a guard that begins over a broken configuration refuses with its place", async () => {
    const guarded = await guardOf();
    appendFileSync(join(guarded.fleet.userDir, "config.yaml"), "agents: [nonsense\n");
    guarded.start();
    expect([await guarded.ended(), guarded.remedied()]).toEqual([6, 0]);
    expect(guarded.said()).toContain("config.yaml:");
  });

  test("FAIL-22: a socket that was removed is made again by the daemon, and the guard is calm", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    await guarded.watching();
    const { socket, pid } = fleet.theDaemon();
    rmSync(socket);
    await guarded.until(() => existsSync(socket), "the socket");
    await guarded.ticks(2);
    expect([fleet.theDaemon().pid, guarded.count("✗")]).toEqual([pid, 0]);
  });

  test("FAIL-25: a remediation whose fix is none ends in a spiral", async () => {
    const guarded = await guardOf({ remedy: "echo 'also: [nonsense' > .overseer/config.yaml" });
    const { fleet } = guarded;
    await guarded.watching();
    fleet.processes.signal(fleet.theDaemon(), "SIGSTOP");
    expect(await guarded.ended()).toBe(5);
    expect(guarded.file()?.gaveUp).toMatchObject({
      code: "GUARD_SPIRAL",
      why: expect.stringContaining("config.yaml:"),
    });
    expect(guarded.remedied()).toBe(1);
  });

  test("FAIL-24, FAIL-25: a remediation that fails itself is told, and the daemon is started all the same", async () => {
    const guarded = await guardOf({ remedy: "exit 3" });
    const { fleet } = guarded;
    await guarded.watching();
    const hung = fleet.theDaemon();
    fleet.processes.signal(hung, "SIGSTOP");
    await guarded.running(hung.pid);
    expect(guarded.said()).toContain("Remediation issue: it ended with 3");
  });

  test("FAIL-26: a remediation that hangs is ended with everything it started, and the guard stops with a clear message", async () => {
    const guarded = await guardOf({
      guard: { remediationTimeout: "1s" },
      remedy: "sleep 61 & echo $! > pids; sleep 62",
    });
    const { fleet } = guarded;
    await guarded.watching();
    fleet.processes.signal(fleet.theDaemon(), "SIGSTOP");
    await guarded.until(() => existsSync(join(fleet.repo.path, "pids")), "a remediation");
    const child = fleet.processes.identify(Number(readFileSync(join(fleet.repo.path, "pids"), "utf8")));
    expect(child).toBeDefined();
    expect(await guarded.ended()).toBe(5);
    expect(guarded.file()?.gaveUp).toMatchObject({
      code: "REMEDIATION_HUNG",
      why: expect.stringContaining("after 1 s"),
    });
    expect(child && fleet.processes.alive(child)).toBe(false);
  });

  test("FAIL-27: a daemon that somebody starts behind the guard's back without a word is ended and remediated", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    const guard = await guarded.watching();
    const first = fleet.theDaemon();
    guard.kill("SIGSTOP"); // so that it cannot be faster
    await fleet.kill(first);
    const argv = [
      process.execPath,
      join(project, "dist/daemon.js"),
      "--root",
      fleet.repo.path,
      "--instance",
      "d_stranger",
    ];
    const stranger = Bun.spawn(argv, { cwd: fleet.repo.path, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
    await guarded.until(() => fleet.daemon()?.instance === "d_stranger", "the stranger");
    guard.kill("SIGCONT");
    await stranger.exited;
    const { instance } = await guarded.running(stranger.pid);
    expect([instance === "d_stranger", guarded.remedied()]).toEqual([false, 1]);
    expect(guarded.said()).toContain("is not the one that was started");
  });

  test("FAIL-27: one that a person starts in the guard's stead is adopted", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    const guard = await guarded.watching();
    const first = fleet.theDaemon();
    guard.kill("SIGSTOP");
    await fleet.kill(first);
    await fleet.ok("up");
    const second = fleet.theDaemon();
    guard.kill("SIGCONT");
    expect((await guarded.running(first.pid)).pid).toBe(second.pid);
    expect([guarded.remedied(), guarded.count("Starting the daemon")]).toEqual([0, 1]);
  });

  test("GUARD-9: a target that a failed post-accept check holds is no stall and no fault: a person is asked, and nothing is restarted", async () => {
    const more = `${POOL}landing: {mode: auto}\n`.replace("{task", "{postAcceptCommand: test -f fixed, task");
    const guarded = await guardOf({ more, guard: { stallAfter: "2s" } });
    const { fleet } = guarded;
    pool(guarded, "exit 4\n");
    await planGoal(fleet, "One", { T1: writeFiles({ "T1.txt": "1\n" }) });
    await guarded.watching("--auto");
    await guarded.until(() => fleet.all("question.asked").length > 0, "a question");
    await guarded.ticks(4);
    expect(guarded.said()).not.toContain("✗");
    expect([guarded.count("Starting the daemon"), guarded.remedied()]).toEqual([1, 0]);
  });

  test("FAIL-15: a git lock that nobody holds is the daemon's to remove, and the guard is calm", async () => {
    const guarded = await guardOf({ more: "repo: {staleLockAfter: 1s}\n" });
    const { fleet } = guarded;
    await guarded.watching();
    const lock = join(fleet.repo.path, ".git/index.lock");
    writeFileSync(lock, "");
    await guarded.until(() => !existsSync(lock), "the lock to be removed");
    expect([guarded.count("✗"), guarded.count("Starting the daemon")]).toEqual([0, 1]);
  });

  test("FAIL-29: workers that vanish from the state end auto mode with the reason, and that is remediated", async () => {
    const guarded = await guardOf({ more: POOL });
    const { fleet } = guarded;
    pool(guarded, "exit 4\n");
    await guarded.watching("--auto");
    const first = fleet.theDaemon();
    // What it expects to find it remembers from the turn before.
    const turns = () => lines(join(fleet.state, "logs/task_pool.log")).length;
    await guarded.until(() => turns() >= 3, "a pool that was asked again");
    const db = new Database(`${fleet.state}/overseer.db`, { readwrite: true });
    db.run("pragma busy_timeout = 5000");
    db.run("delete from conditions where kind = 'workers'");
    db.close();
    await guarded.running(first.pid);
    expect(guarded.remedied()).toBe(1);
    expect(guarded.said()).toMatch(/worker/);
  });

  test("GUARD-9: under a real stall the daemon is restarted so often as is allowed, its agent untouched, and then the guard gives up and says so", async () => {
    const recovery =
      "recovery: {silentAfter: 1s, judgedFromAge: 100ms, nextStepAfter: 1h, backoff: {base: 1h, max: 1h}}\n";
    const guarded = await guardOf({ more: recovery, tick: "300ms", guard: { stallAfter: "2s", stallRestarts: 1 } });
    const { fleet } = guarded;
    await planGoal(fleet, "One", { T1: [say("here"), hang] });
    await guarded.watching();
    expect(await guarded.ended()).toBe(5);
    expect(guarded.file()?.gaveUp).toMatchObject({
      code: "GUARD_STALLED",
      why: expect.stringContaining("restarted once because nothing moved"),
    });
    expect([guarded.remedied(), guarded.count("Starting the daemon")]).toEqual([0, 2]);
    expect(fleet.all("agent.slung")).toHaveLength(1);
  });

  test("GUARD-9, QUOTA-1: a fleet that waits for its quota is no stall", async () => {
    const guarded = await guardOf({ tick: "300ms", guard: { stallAfter: "1s" } });
    const { fleet } = guarded;
    const resetsAt = new Date(Date.now() + 3_600_000).toISOString();
    await planGoal(fleet, "One", {
      T1: [{ kind: "quota", attempts: 1, retryAfterMs: 10, givesUp: true, resetsAt, once: true }],
    });
    await guarded.watching();
    await guarded.until(() => fleet.all("quota.tripped").length > 0, "a quota that is used up");
    await guarded.ticks(8);
    expect(guarded.said()).not.toContain("✗");
  });

  const whyNoPids = cannotChoosePids();
  test.skipIf(whyNoPids !== undefined)(
    `GUARD-2: a stranger that has the pid of a daemon that died is never signalled, in a pid namespace of its own${whyNoPids === undefined ? "" : ` (${whyNoPids})`}`,
    async () => {
      const guarded = await guardOf({ terminal: "detached" });
      const argv = [
        "unshare",
        "-p",
        "-f",
        "--mount-proc",
        "sh",
        "-c",
        REUSE,
        "sh",
        guarded.fleet.repo.path,
        guarded.program,
      ];
      const done = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
      const [said, problem] = await Promise.all([done.stdout.text(), done.stderr.text(), done.exited]);
      expect([said, problem]).toEqual(["restarted, sleep\nended, sleep\n", ""]);
    },
  );

  const whyNoDisk = cannotMount();
  test.skipIf(whyNoDisk !== undefined)(
    `FAIL-16: on a full disk the guard waits for room, remediates nothing and knows no spiral${whyNoDisk === undefined ? "" : ` (${whyNoDisk})`}`,
    async () => {
      const disk = SmallDisk.make(160);
      try {
        const guarded = await GuardedFleet.make({ terminal: "tmux", more: POOL, at: join(disk.path, "repo") });
        try {
          pool(guarded, "exit 4\n");
          await guarded.watching("--auto");
          const { pid } = guarded.fleet.theDaemon();
          disk.fill(0);
          await guarded.says("The disk is full; the daemon is started again when there is room.");
          disk.free();
          await guarded.running(pid);
          expect([guarded.remedied(), guarded.file()?.gaveUp]).toEqual([0, null]);
        } finally {
          disk.free();
          await guarded.end();
        }
      } finally {
        await disk.end();
      }
    },
  );

  // Root may read and write everything: this one is told apart by what it cannot do.
  const isRoot = process.getuid?.() === 0;
  test.skipIf(isRoot)(
    `FAIL-23: a state directory that may not be read is said with its path, and the guard stops${isRoot ? " (needs a user who is not root)" : ""}`,
    async () => {
      const guarded = await guardOf();
      const { fleet } = guarded;
      await guarded.watching();
      chmodSync(fleet.state, 0o000);
      try {
        expect(await guarded.ended(), guarded.said()).toBe(5);
      } finally {
        chmodSync(fleet.state, 0o700);
      }
      expect(guarded.said()).toContain(fleet.state);
    },
  );
}
