/** LOG-1: a daemon takes old logs away, and leaves alone whatever somebody still needs. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { bundled } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { hang, say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });
const LONG_AGO = new Date(Date.now() - 60 * 24 * 60 * 60_000);

test("LOG-1: what is older than a month goes; of a living agent, of open work and of the daemon nothing does", async () => {
  const fleet = await fleetOf();
  const open = await fleet.sling("a", [say("ready"), hang]);
  await fleet.said(open.attempt, "ready");
  await fleet.ok("stop", "a");
  const living = await fleet.sling("b", [say("ready"), hang]);
  await fleet.said(living.attempt, "ready");
  const logs = `${fleet.state}/logs`;
  for (const directory of ["checks", "models", "gone/20200101T000000Z-9"]) {
    mkdirSync(`${logs}/${directory}`, { recursive: true });
  }
  // So many new ones that being among the newest saves nobody.
  for (let index = 0; index < 60; index += 1) writeFileSync(`${logs}/models/Q_${index}.log`, "new");
  const old = ["checks/K_1-tests.log", "models/Q_old.log", "gone/20200101T000000Z-9/session.log"];
  for (const name of old) writeFileSync(`${logs}/${name}`, "old");
  const launch = `${fleet.state}/run/attempts/${open.attempt}/launch.json`;
  writeFileSync(launch, JSON.stringify({ env: { NPM_TOKEN: "from a version before" } }));
  const aged = [...old.map((name) => `${logs}/${name}`), `${logs}/gone/20200101T000000Z-9`, open.logDir, living.logDir];
  for (const path of [...aged, ...[open, living].flatMap(({ logDir }) => filesIn(logDir))]) {
    utimesSync(path, LONG_AGO, LONG_AGO);
  }
  await fleet.ok("up");
  await eventually(
    () => old.every((name) => !existsSync(`${logs}/${name}`)) && !existsSync(launch),
    () => `the old logs to go: ${old.filter((name) => existsSync(`${logs}/${name}`)).join(", ")}`,
  );
  expect([open, living].map(({ logDir }) => existsSync(`${logDir}/session.log`))).toEqual([true, true]);
  expect(readdirSync(`${logs}/models`)).toHaveLength(60);
  expect(existsSync(`${fleet.state}/run/attempts/${living.attempt}/launch.json`)).toBe(true);
  const told = await eventually(
    () => fleet.daemonLog().find(({ event }) => event === "logs.tidied"),
    () => "the daemon's log to tell of it",
  );
  expect(told.data).toEqual({ removed: 3 });
});

function filesIn(directory: string): string[] {
  return readdirSync(directory).map((name) => `${directory}/${name}`);
}
