/**
 * `up --guarded`, and who gives way when two versions meet, with real guards, a real daemon and an agent at work: the
 * guard begins or adopts the daemon, a second one of the same version is refused, an older guard leaves, an older daemon is
 * begun anew and its agents are adopted.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GuardFile, parseGuardFile } from "#domain/guard/guard-file.ts";
import type { Registration } from "#domain/health/daemon-life.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { readNow } from "#sys/read-now.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { isLongLane } from "../support/scale.ts";
import { say, wait } from "../support/steps.ts";

setDefaultTimeout(90_000);
beforeAll(bundled);

const QUICK = "guard: {checkEvery: 100ms}\n";
const HARNESS = join(import.meta.dir, "../support/guard-harness.ts");

const fleets: Fleet[] = [];
const started: ProcessIdentity[] = [];
afterEach(async () => {
  for (const fleet of fleets.splice(0)) {
    const guard = guardOf(fleet);
    for (const one of [...started.splice(0), ...(guard ? [guard] : [])]) await fleet.kill(one);
    await fleet.end();
  }
});

async function makeFleet(): Promise<Fleet> {
  const fleet = await Fleet.make({ terminal: "detached", more: QUICK });
  fleets.push(fleet);
  return fleet;
}

const guardOf = (fleet: Fleet) => parseGuardFile(readNow(`${fleet.state}/run/guard.json`));

/** Waits for a guard that is as wanted. */
function guarded(fleet: Fleet, look: (guard: GuardFile) => boolean): Promise<GuardFile> {
  return eventually(
    () => {
      const guard = guardOf(fleet);
      return guard !== undefined && look(guard) && guard;
    },
    () => JSON.stringify(guardOf(fleet)),
  );
}

const saidBy = (guard: GuardFile) => guard.words.map(({ text }) => text).join("\n");

/** A guard that goes by that version, and all that it says. */
function startGuard(fleet: Fleet, version: string) {
  const child = Bun.spawn([process.execPath, HARNESS, fleet.repo.path, version, OVERSEER], {
    ...{ stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  });
  const identity = fleet.processes.identify(child.pid);
  if (identity) started.push(identity);
  return child;
}

/** Neither the same version nor an older one takes over. */
async function expectRefusal(fleet: Fleet, version: string, watching: number): Promise<void> {
  const refused = startGuard(fleet, version);
  expect(await refused.exited).not.toBe(0);
  expect(await refused.stderr.text()).toContain(`A guard already watches this repository (pid ${watching},`);
}

test("GUARD-1 GUARD-6: up --guarded starts both and names them; a second is refused; stopped and begun again, it adopts the daemon", async () => {
  const fleet = await makeFleet();
  await fleet.ok("down"); // an earlier wish that is over
  const up = JSON.parse(await fleet.ok("up", "--guarded", "--no-supervision", "--json")) as {
    guard: { pid: number; flags: string[] };
    daemon: Registration;
    adopted: boolean;
  };
  expect(up.daemon).toMatchObject({ pid: fleet.theDaemon().pid, supervision: false });
  expect(up).toMatchObject({ adopted: false, guard: { flags: ["--no-supervision"] } });
  const again = await fleet.run("up", "--guarded");
  expect([again.code, again.stderr]).toEqual([
    4,
    expect.stringContaining(`already watches this repository (pid ${up.guard.pid}`),
  ]);
  await fleet.ok("guard", "stop");
  const { stdout } = await fleet.run("up", "--guarded");
  expect(stdout).toContain(`The daemon was up already (pid ${up.daemon.pid}) and is watched as it is.`);
  // Ended by nobody's wish, it comes back as it was begun, though this guard was told nothing.
  const guard = guardOf(fleet);
  await fleet.kill(fleet.theDaemon());
  await guarded(fleet, (now) => now.daemon !== null && now.daemon.instance !== up.daemon.instance);
  expect(guardOf(fleet)?.pid).toBe(guard?.pid ?? 0);
  expect(fleet.theDaemon()).toMatchObject({ supervision: false });
});

test("GUARD-1 ADOPT-1: an older guard leaves to a newer one and its daemon stays; an older daemon is begun anew, with its agents", async () => {
  const fleet = await makeFleet();
  await fleet.ok("up");
  const { attempt } = await fleet.sling("ada", [say("here"), wait]);
  await fleet.turns(attempt, 1);
  const runner = fleet.runner(attempt);
  const daemon = fleet.theDaemon();
  const older = startGuard(fleet, "0.0.9");
  await guarded(fleet, ({ pid, phase }) => pid === older.pid && phase === "running");
  if (isLongLane()) await expectRefusal(fleet, "0.0.9", older.pid);

  // The installed one is newer than that guard, and as old as the daemon.
  await fleet.ok("up", "--guarded");
  expect(await older.exited).toBe(0);
  const now = await guarded(fleet, ({ pid, phase }) => pid !== older.pid && phase === "running");
  expect(saidBy(now)).toContain(`Took over from the guard of version 0.0.9 (pid ${older.pid}), which has left.`);
  expect(fleet.theDaemon()).toEqual(daemon);

  if (isLongLane()) await expectRefusal(fleet, "0.0.1", now.pid);

  // A daemon that says it is older, as the one before an update does.
  const path = `${fleet.state}/run/daemon.json`;
  await fleet.ok("guard", "stop");
  writeFileSync(path, readFileSync(path, "utf8").replace(`"version":"${daemon.version}"`, '"version":"0.0.9"'));
  const up = await fleet.run("up");
  expect([up.code, up.stderr]).toEqual([
    4,
    expect.stringContaining("'overseer down', then 'overseer up' brings the new one"),
  ]);
  await fleet.ok("up", "--guarded");
  const renewed = fleet.theDaemon();
  expect([renewed.instance === daemon.instance, fleet.processes.alive(daemon)]).toEqual([false, false]);
  expect(saidBy(await guarded(fleet, () => true))).toContain("A daemon of version 0.0.9 was running;");
  expect(fleet.all("daemon.adopted").flatMap(({ data }) => data.agents)).toMatchObject([{ attempt, pid: runner.pid }]);
  expect(fleet.processes.alive(runner)).toBe(true);
});
